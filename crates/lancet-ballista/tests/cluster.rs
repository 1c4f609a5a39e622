//! Queries on a scheduler and two executors give what they give in one process.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../examples/cluster/mod.rs"]
mod cluster;

use std::path::Path;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::prelude::SessionContext;

/// Two folders: orders by year, in two files each, and customers.
fn write_tables(folder: &Path) {
    for year in [2024, 2025] {
        let orders = folder.join(format!("orders/year={year}"));
        std::fs::create_dir_all(&orders).unwrap();
        for part in 0..2 {
            let ids = (part * 10_000)..(part * 10_000 + 10_000);
            let columns: [(&str, ArrayRef); 3] = [
                ("id", Arc::new(Int64Array::from_iter_values(ids.clone()))),
                (
                    "customer",
                    Arc::new(Int64Array::from_iter_values(ids.clone().map(|id| id % 100))),
                ),
                ("price", Arc::new(Int64Array::from_iter_values(ids.map(|id| id * year % 997)))),
            ];
            write(&orders.join(format!("{part}.lance")), &columns);
        }
    }
    std::fs::create_dir_all(folder.join("customers")).unwrap();
    let names = (0..100).map(|id| format!("customer {id}"));
    let columns: [(&str, ArrayRef); 2] = [
        ("id", Arc::new(Int64Array::from_iter_values(0..100))),
        ("name", Arc::new(StringArray::from_iter_values(names))),
    ];
    write(&folder.join("customers/all.lance"), &columns);
}

fn write(path: &Path, columns: &[(&str, ArrayRef)]) {
    let batch = RecordBatch::try_from_iter(columns.iter().cloned()).unwrap();
    let options = lancet::WriteOptions::default();
    let mut writer = lancet::FileWriter::create(path, batch.schema(), options).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
}

async fn create_tables(ctx: &SessionContext, folder: &Path) {
    let folder = folder.display();
    for create in [
        // Without a type the year is a dictionary, which Ballista's shuffles turn into plain text.
        format!(
            "CREATE EXTERNAL TABLE orders (id BIGINT, customer BIGINT, price BIGINT, year INT) \
             STORED AS LANCE PARTITIONED BY (year) LOCATION '{folder}/orders/'"
        ),
        format!("CREATE EXTERNAL TABLE customers STORED AS LANCE LOCATION '{folder}/customers/'"),
    ] {
        ctx.sql(&create).await.unwrap().collect().await.unwrap();
    }
}

async fn text(ctx: &SessionContext, sql: &str) -> String {
    let frame = ctx.sql(sql).await.unwrap_or_else(|e| panic!("{sql}: {e}"));
    let batches = frame.collect().await.unwrap_or_else(|e| panic!("{sql}: {e}"));
    pretty_format_batches(&batches).unwrap().to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn results_are_those_of_one_process() {
    let folder = tempfile::tempdir().unwrap();
    write_tables(folder.path());
    let cluster = cluster::start(2).await.unwrap();
    create_tables(&cluster, folder.path()).await;
    let alone = SessionContext::new();
    lancet_datafusion::register(&alone).unwrap();
    create_tables(&alone, folder.path()).await;
    for sql in [
        "SELECT year, customer % 7 AS c, count(*), sum(price) FROM orders \
         GROUP BY year, c ORDER BY year, c",
        "SELECT name, sum(price) AS total FROM orders JOIN customers ON customer = customers.id \
         WHERE price > 500 AND year = 2025 GROUP BY name ORDER BY total DESC, name LIMIT 10",
        "SELECT id, price FROM orders WHERE id BETWEEN 9990 AND 10009 ORDER BY id, price",
    ] {
        let expected = text(&alone, sql).await;
        assert!(expected.lines().count() > 10, "{expected}");
        assert_eq!(text(&cluster, sql).await, expected, "{sql}");
    }
}
