//! What of a file is read.

use super::*;
use datafusion::arrow::array::{
    ArrayRef, AsArray, Float64Array, Int32Array, Int64Array, StringArray, StructArray,
};
use datafusion::arrow::datatypes::Int64Type;

/// `id` counts up, `name` is long, `doc` has two children.
fn table(rows: i64) -> RecordBatch {
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(0..rows));
    let name = |id| format!("{id:>20}{:x}", id * 7_919 % 1_000_003);
    let names: ArrayRef = Arc::new(StringArray::from_iter_values((0..rows).map(name)));
    let numbers: ArrayRef = Arc::new(Int32Array::from_iter(
        (0..rows).map(|id| (id % 5 != 0).then_some((id % 100) as i32)),
    ));
    let prices: ArrayRef =
        Arc::new(Float64Array::from_iter_values((0..rows).map(|id| (id * id % 10_007) as f64)));
    let doc: ArrayRef = Arc::new(
        StructArray::try_from(vec![("number", numbers), ("title", names.clone())]).unwrap(),
    );
    RecordBatch::try_from_iter([("id", ids), ("name", names), ("price", prices), ("doc", doc)])
        .unwrap()
}

#[tokio::test]
async fn each_row_comes_once_however_many_partitions() {
    let folder = folder();
    let path = folder.path().join("t.lance");
    write(&path, &[table(50_000)]);
    for partitions in 1..9 {
        let ctx = session(partitions);
        let ids = rows(&ctx, &format!("SELECT id FROM '{}'", path.display())).await;
        let mut ids = ids.column(0).as_primitive::<Int64Type>().values().to_vec();
        ids.sort_unstable();
        assert!(ids.iter().copied().eq(0..50_000), "{partitions} partitions");
        // And each partition has its share.
        let plan = plan(&ctx, &format!("SELECT id FROM '{}'", path.display())).await;
        assert_eq!(plan.properties().partitioning.partition_count(), partitions);
    }
}

#[tokio::test]
async fn only_the_columns_asked_for_are_read() {
    let folder = folder();
    let path = folder.path().join("t.lance");
    write(&path, &[table(100_000)]);
    let ctx = session(1);
    let bytes = async |columns: &str| {
        let plan = plan(&ctx, &format!("SELECT {columns} FROM '{}'", path.display())).await;
        collect(plan.clone(), ctx.task_ctx()).await.unwrap();
        metric(&plan, "bytes_scanned")
    };
    let (all, id, name) = (bytes("*").await, bytes("id").await, bytes("name").await);
    let (number, title) = (bytes("doc['number']").await, bytes("doc['title']").await);
    assert!(id * 5 < all, "{id} of {all}");
    assert!(number * 5 < title, "{number}, {title}");
    assert!(name < all / 2 && title < all / 2, "{name}, {title} of {all}");
}

#[tokio::test]
async fn a_limit_stops_the_scan() {
    let folder = folder();
    let path = folder.path().join("t.lance");
    write(&path, &[table(200_000)]);
    let ctx = session(1);
    let all = std::fs::metadata(&path).unwrap().len() as usize;
    for (sql, found) in [
        ("SELECT * FROM t LIMIT 10", 10),
        ("SELECT * FROM t LIMIT 10 OFFSET 20000", 10),
        ("SELECT * FROM t WHERE price < 50 LIMIT 3", 3),
    ] {
        let sql = sql.replace(" t ", &format!(" '{}' ", path.display()));
        let plan = plan(&ctx, &sql).await;
        let batches = collect(plan.clone(), ctx.task_ctx()).await.unwrap();
        assert_eq!(batches.iter().map(RecordBatch::num_rows).sum::<usize>(), found, "{sql}");
        let read = metric(&plan, "bytes_scanned");
        assert!(read < all / 3, "{sql} reads {read} of {all} bytes");
    }
}

#[tokio::test]
async fn a_selective_filter_reads_little_of_the_other_columns() {
    let folder = folder();
    let path = folder.path().join("t.lance");
    write(&path, &[table(200_000)]);
    let ctx = session(1);
    let sql = format!("SELECT name, doc FROM '{}' WHERE price = 4", path.display());
    let plan = plan(&ctx, &sql).await;
    let batches = collect(plan.clone(), ctx.task_ctx()).await.unwrap();
    let found: usize = batches.iter().map(RecordBatch::num_rows).sum();
    assert!(found > 10);
    assert_eq!(metric(&plan, "rows_filtered") + found, 200_000);
    let all = std::fs::metadata(&path).unwrap().len() as usize;
    let read = metric(&plan, "bytes_scanned");
    assert!(read < all / 2, "{read} of {all}");
}

#[tokio::test]
async fn a_filter_on_a_sorted_column_reads_hardly_anything() {
    let folder = folder();
    let path = folder.path().join("t.lance");
    write(&path, &[table(1_000_000)]);
    let all = std::fs::metadata(&path).unwrap().len() as usize;
    for partitions in [1, 4] {
        let ctx = session(partitions);
        for (filter, found) in [
            ("id = 777777", 1),
            ("id BETWEEN 500000 AND 500099", 100),
            ("id IN (3, 400000)", 2),
            ("id > 999990", 9),
            ("id < 0 OR id IS NULL", 0),
        ] {
            let sql = format!("SELECT * FROM '{}' WHERE {filter}", path.display());
            let plan = plan(&ctx, &sql).await;
            let batches = collect(plan.clone(), ctx.task_ctx()).await.unwrap();
            assert_eq!(batches.iter().map(RecordBatch::num_rows).sum::<usize>(), found);
            let read = metric(&plan, "bytes_scanned");
            assert!(read * 50 < all, "{filter}, {partitions} partitions: {read} of {all} bytes");
        }
    }
}

#[tokio::test]
async fn nested_fields_in_filters_and_projections() {
    let folder = folder();
    let path = folder.path().join("t.lance");
    write(&path, &[table(10_000)]);
    let ctx = session(2);
    let memory = SessionContext::new();
    memory.register_batch("t", table(10_000)).unwrap();
    run(&ctx, &format!("CREATE EXTERNAL TABLE t STORED AS LANCE LOCATION '{}'", path.display()))
        .await;
    for sql in [
        "SELECT id, doc['title'] FROM t WHERE doc['number'] = 7 ORDER BY id",
        "SELECT id, doc FROM t WHERE doc['number'] = 7 ORDER BY id",
        "SELECT id, doc['number'] FROM t WHERE doc['number'] < 3 AND doc['title'] LIKE '%7' ORDER BY id",
        "SELECT count(*) FROM t WHERE doc['number'] IS NULL",
        "SELECT doc['number'] + 1 AS n, count(*) FROM t GROUP BY n ORDER BY n NULLS FIRST",
        "SELECT 1 AS one, id % 2 FROM t WHERE id < 5 ORDER BY id",
        "SELECT 1 AS one FROM t WHERE price > 9000",
    ] {
        assert_eq!(text(&ctx, sql).await, text(&memory, sql).await, "{sql}");
    }
}

#[tokio::test]
async fn folders_with_partition_columns() {
    let folder = folder();
    for (year, rows) in [(2023, 100), (2024, 200), (2025, 300)] {
        let part = folder.path().join(format!("year={year}"));
        std::fs::create_dir(&part).unwrap();
        write(&part.join("a.lance"), &[table(rows)]);
        write(&part.join("b.lance"), &[table(10)]);
    }
    let ctx = session(4);
    let create = format!(
        "CREATE EXTERNAL TABLE t STORED AS LANCE PARTITIONED BY (year) LOCATION '{}/'",
        folder.path().display()
    );
    run(&ctx, &create).await;
    let counts = text(&ctx, "SELECT year, count(id) FROM t GROUP BY year ORDER BY year").await;
    for line in ["| 2023 | 110         |", "| 2024 | 210         |", "| 2025 | 310         |"] {
        assert!(counts.contains(line), "{counts}");
    }
    let sql = "SELECT year, id FROM t WHERE year = '2024' AND id >= 199";
    assert_eq!(rows(&ctx, sql).await.num_rows(), 1);
    let plan = plan(&ctx, sql).await;
    let shown = datafusion::physical_plan::displayable(plan.as_ref()).indent(false).to_string();
    assert!(shown.contains("year=2024") && !shown.contains("year=2023"), "{shown}");
    // A filter over both kinds of columns cannot leave out files beforehand.
    let sql = "SELECT id FROM t WHERE year = '2024' OR id = 299";
    assert_eq!(rows(&ctx, sql).await.num_rows(), 211);
}

#[tokio::test]
async fn files_that_lack_columns_give_nulls() {
    let folder = folder();
    write(&folder.path().join("a.lance"), &[table(10)]);
    write(&folder.path().join("b.lance"), &[table(20).project(&[2, 0]).unwrap()]);
    let ctx = session(2);
    run(
        &ctx,
        &format!("CREATE EXTERNAL TABLE t STORED AS LANCE LOCATION '{}/'", folder.path().display()),
    )
    .await;
    let counts = text(&ctx, "SELECT count(*) AS a, count(id) AS b, count(name) AS c FROM t").await;
    assert!(counts.contains("| 30 | 30 | 10 |"), "{counts}");
    assert_eq!(rows(&ctx, "SELECT id FROM t WHERE name IS NULL AND id > 5").await.num_rows(), 14);
    assert_eq!(rows(&ctx, "SELECT id FROM t WHERE name > 'z'").await.num_rows(), 0);
}
