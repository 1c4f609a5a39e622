//! What the optimizer and the user are told.

use super::*;
use datafusion::arrow::array::{Int64Array, StringArray};
use datafusion::common::stats::Precision;
use datafusion::physical_plan::{StatisticsArgs, StatisticsContext, displayable};

fn table(rows: i64) -> RecordBatch {
    let ids = Arc::new(Int64Array::from_iter_values(0..rows));
    let names = Arc::new(StringArray::from_iter(
        (0..rows).map(|id| (id % 10 != 0).then(|| format!("name {id}"))),
    ));
    RecordBatch::try_from_iter([("id", ids as _), ("name", names as _)]).unwrap()
}

#[tokio::test]
async fn the_number_of_rows_is_known_without_a_scan() {
    let folder = folder();
    let path = folder.path().join("t.lance");
    write(&path, &[table(12_345)]);
    let ctx = session(2);
    let scan = plan(&ctx, &format!("SELECT * FROM '{}'", path.display())).await;
    let statistics =
        StatisticsContext::new().compute(scan.as_ref(), &StatisticsArgs::new()).unwrap();
    assert_eq!(statistics.num_rows, Precision::Exact(12_345));
    let count = plan(&ctx, &format!("SELECT count(*) FROM '{}'", path.display())).await;
    let shown = displayable(count.as_ref()).indent(false).to_string();
    assert!(!shown.contains("DataSourceExec: file_groups"), "{shown}");
}

#[tokio::test]
async fn bounds_and_nulls_are_known_without_a_scan() {
    let folder = folder();
    let path = folder.path().join("t.lance");
    // Short files have no zone maps.
    write(&path, &[table(100_000)]);
    let ctx = session(2);
    let scan = plan(&ctx, &format!("SELECT * FROM '{}'", path.display())).await;
    let statistics =
        StatisticsContext::new().compute(scan.as_ref(), &StatisticsArgs::new()).unwrap();
    let [id, name] = statistics.column_statistics.as_slice() else { panic!("two columns") };
    assert_eq!(id.null_count, Precision::Exact(0));
    assert_eq!(id.min_value, Precision::Exact(0_i64.into()));
    assert_eq!(id.max_value, Precision::Exact(99_999_i64.into()));
    assert_eq!(name.null_count, Precision::Exact(10_000));
    let extremes = plan(&ctx, &format!("SELECT min(id), max(id) FROM '{}'", path.display())).await;
    let shown = displayable(extremes.as_ref()).indent(false).to_string();
    assert!(!shown.contains("DataSourceExec: file_groups"), "{shown}");
    let text = text(&ctx, &format!("SELECT min(id), max(id) FROM '{}'", path.display())).await;
    assert!(text.contains("| 0 ") && text.contains("| 99999 "), "{text}");
}

#[tokio::test]
async fn plans_show_the_filter_and_what_it_did() {
    let folder = folder();
    let path = folder.path().join("t.lance");
    write(&path, &[table(50_000)]);
    let ctx = session(2);
    let sql = format!("SELECT name FROM '{}' WHERE id % 1000 = 1", path.display());
    let plan = text(&ctx, &format!("EXPLAIN {sql}")).await;
    assert!(plan.contains("file_type=lance, predicate=id"), "{plan}");
    assert!(!plan.contains("FilterExec"), "{plan}");
    let analyzed = text(&ctx, &format!("EXPLAIN ANALYZE {sql}")).await;
    for metric in
        ["bytes_scanned=", "requests=", "rows_filtered=49.95 K", "zones_pruned=", "rows_pruned="]
    {
        assert!(analyzed.contains(metric), "{metric} in {analyzed}");
    }
}
