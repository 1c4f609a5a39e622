//! Queries of TPC-H give the same over Lance as over Parquet.

use super::*;

#[tokio::test]
async fn results_are_those_over_parquet() {
    let folder = folder();
    tpch::write_tables(folder.path(), 0.01).await.unwrap();
    for partitions in [1, 3] {
        let (lance, parquet) = (session(partitions), session(partitions));
        tpch::register_tables(&lance, folder.path(), "lance").await.unwrap();
        tpch::register_tables(&parquet, folder.path(), "parquet").await.unwrap();
        for (name, query) in tpch::QUERIES {
            let expected = text(&parquet, query).await;
            assert!(expected.lines().count() > 4, "{name} finds nothing");
            assert_eq!(text(&lance, query).await, expected, "{name}, {partitions} partitions");
        }
    }
}
