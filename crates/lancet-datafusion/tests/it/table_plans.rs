//! What of a table is planned and read: columns, filters, limits, statistics, parts, requests.

use super::*;
use datafusion::arrow::array::{ArrayRef, AsArray, Int64Array, StringArray, StructArray};
use datafusion::arrow::datatypes::{DataType, Field, Int64Type};
use datafusion::common::ScalarValue;
use datafusion::common::stats::Precision;
use datafusion::physical_plan::{StatisticsArgs, StatisticsContext, displayable};
use lancet::Version;
use made::Made;
use object_store::ObjectStoreExt as _;
use object_store::path::Path as Location;
use requests::Noted;

#[path = "../../../lancet-table/tests/support/requests.rs"]
mod requests;

fn some(start: i64, rows: i64) -> RecordBatch {
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(start..start + rows));
    let mut random = filters::Random(7 + start as u64);
    let mut name = || format!("{:016x}{:016x}", random.next(u64::MAX), random.next(u64::MAX));
    let names: ArrayRef = Arc::new(StringArray::from_iter_values((0..rows).map(|_| name())));
    let sparse: ArrayRef =
        Arc::new(Int64Array::from_iter((0..rows).map(|n| (n % 10 != 0).then_some(start + n))));
    let doc: ArrayRef = Arc::new(StructArray::from(vec![
        (Arc::new(Field::new("n", DataType::Int64, true)), ids.clone()),
        (Arc::new(Field::new("s", DataType::Utf8, true)), names.clone()),
    ]));
    RecordBatch::try_from_iter_with_nullable([
        ("id", ids, true),
        ("name", names, true),
        ("sparse", sparse, true),
        ("doc", doc, true),
    ])
    .unwrap()
}

const ALL: &[&[&str]] = &[&["id", "name", "sparse", "doc"]];

/// Four fragments of 20,000 rows; `deleted` rows of the third are.
fn make(path: &Path, deleted: &[u32]) {
    let mut made = Made::new(path, some(0, 0).schema());
    for part in 0..4 {
        let deleted = if part == 2 { deleted } else { &[] };
        made.fragment(&some(part * 20_000, 20_000), ALL, Version::V2_1, deleted);
    }
    made.commit(1);
}

async fn explained(ctx: &SessionContext, sql: &str) -> String {
    displayable(plan(ctx, sql).await.as_ref()).indent(false).to_string()
}

async fn ran(ctx: &SessionContext, sql: &str) -> (Arc<dyn ExecutionPlan>, usize) {
    let plan = plan(ctx, sql).await;
    let batches = collect(plan.clone(), ctx.task_ctx()).await.unwrap();
    (plan, batches.iter().map(RecordBatch::num_rows).sum())
}

#[tokio::test]
async fn plans_tell_what_is_read() {
    let folder = folder();
    let path = folder.path().join("t.lance");
    make(&path, &[5]);
    let ctx = session(2);
    let sql = format!("SELECT doc['n'] AS n FROM '{}' WHERE id > 70000", path.display());
    let plan = explained(&ctx, &sql).await;
    assert_eq!(plan.lines().count(), 1, "{plan}");
    for part in [
        "DataSourceExec: file_groups={2 groups: [[",
        "t.lance@1/fragment-0",
        "projection=[get_field(doc@3, n) as n]",
        "file_type=lance",
        "predicate=id@0 > 70000",
    ] {
        assert!(plan.contains(part), "{part} is missing in {plan}");
    }
    let limited = explained(&ctx, &format!("SELECT id FROM '{}' LIMIT 3", path.display())).await;
    assert!(limited.contains("limit=3"), "{limited}");
    let counted = explained(&ctx, &format!("SELECT count(*) FROM '{}'", path.display())).await;
    assert!(counted.contains("PlaceholderRowExec"), "the rows are counted by reading: {counted}");
}

#[tokio::test]
async fn only_what_is_needed_is_read() {
    let folder = folder();
    let path = folder.path().join("t.lance");
    make(&path, &(0..500).collect::<Vec<u32>>());
    let ctx = session(1);
    let bytes = async |sql: &str| {
        let sql = sql.replace(" t", &format!(" '{}'", path.display()));
        let (plan, found) = ran(&ctx, &sql).await;
        (metric(&plan, "bytes_scanned"), found, plan)
    };
    let (all, found, _) = bytes("SELECT * FROM t").await;
    assert_eq!(found, 79_500);
    let (ids, found, _) = bytes("SELECT id FROM t").await;
    assert!(ids * 4 < all && found == 79_500, "{ids} of {all}");
    let (nested, ..) = bytes("SELECT doc['n'] FROM t").await;
    assert!(nested * 3 < all, "{nested} of {all}");
    // Zone maps leave out all fragments but one, and most of that.
    let (few, found, plan) = bytes("SELECT name FROM t WHERE id = 65432").await;
    assert!(few * 10 < all && found == 1, "{few} of {all}");
    assert!(metric(&plan, "rows_pruned") > 70_000 && metric(&plan, "zones_pruned") >= 7, "{few}");
    // A filter that zone maps cannot decide: its column first, then the others for the rows that are left.
    let (late, found, plan) = bytes("SELECT name FROM t WHERE id % 40000 = 600").await;
    assert!(late < all / 3 && found == 2, "{late} of {all}");
    assert_eq!(metric(&plan, "rows_filtered"), 79_498);
    let (limited, found, _) = bytes("SELECT * FROM t LIMIT 9").await;
    assert!(limited * 3 < all && found == 9, "{limited} of {all}");
    // Rows that are deleted do not count, wherever they are.
    let (_, found, _) = bytes("SELECT * FROM t LIMIT 9 OFFSET 39998").await;
    assert_eq!(found, 9);
    let (none, found, _) = bytes("SELECT id FROM t WHERE id BETWEEN 40000 AND 40499").await;
    assert!(found == 0 && none < ids, "{none} of {ids}");
}

#[tokio::test]
async fn limits_are_met_in_every_place() {
    let folder = folder();
    let path = folder.path().join("t.lance");
    let deleted: Vec<u32> = (0..20_000).filter(|row| row % 3 != 0).collect();
    make(&path, &deleted);
    for partitions in [1, 3] {
        let ctx = session(partitions);
        for limit in [0, 1, 7, 19_999, 40_001, 66_666, 66_667, 66_668, 100_000] {
            let sql = format!("SELECT id FROM '{}' LIMIT {limit}", path.display());
            assert_eq!(ran(&ctx, &sql).await.1, limit.min(66_667), "{partitions}");
            let sql = format!("SELECT id FROM '{}' WHERE id % 2 = 0 LIMIT {limit}", path.display());
            assert_eq!(ran(&ctx, &sql).await.1, limit.min(33_334), "{partitions}");
        }
    }
}

#[tokio::test]
async fn each_row_comes_once_however_many_partitions() {
    let folder = folder();
    let path = folder.path().join("t.lance");
    make(&path, &(100..19_000).collect::<Vec<u32>>());
    let expected: Vec<i64> = (0..80_000).filter(|id| !(40_100..59_000).contains(id)).collect();
    for partitions in 1..9 {
        let ctx = session(partitions);
        let sql = format!("SELECT id FROM '{}'", path.display());
        let found = rows(&ctx, &sql).await;
        let mut ids = found.column(0).as_primitive::<Int64Type>().values().to_vec();
        if partitions > 1 {
            ids.sort_unstable();
        }
        assert_eq!(ids, expected, "{partitions} partitions");
        let plan = plan(&ctx, &sql).await;
        assert_eq!(plan.properties().partitioning.partition_count(), partitions);
    }
}

async fn statistics(path: &Path) -> (Precision<usize>, Vec<datafusion::common::ColumnStatistics>) {
    let ctx = session(2);
    let plan = plan(&ctx, &format!("SELECT id, sparse, name FROM '{}'", path.display())).await;
    let found = StatisticsContext::new().compute(plan.as_ref(), &StatisticsArgs::new()).unwrap();
    (found.num_rows, found.column_statistics.clone())
}

#[tokio::test]
async fn statistics_are_exact_where_they_can_be() {
    let folder = folder();
    let (whole, holes) = (folder.path().join("whole.lance"), folder.path().join("holes.lance"));
    make(&whole, &[]);
    make(&holes, &(0..20_000).step_by(2).collect::<Vec<u32>>());
    let int = |value: i64| ScalarValue::Int64(Some(value));
    let (num_rows, columns) = statistics(&whole).await;
    assert_eq!(num_rows, Precision::Exact(80_000));
    assert_eq!(columns[0].min_value, Precision::Exact(int(0)));
    assert_eq!(columns[0].max_value, Precision::Exact(int(79_999)));
    assert_eq!(columns[0].null_count, Precision::Exact(0));
    assert_eq!(columns[1].null_count, Precision::Exact(8_000));
    let (num_rows, columns) = statistics(&holes).await;
    assert_eq!(num_rows, Precision::Exact(70_000));
    assert_eq!(columns[0].min_value, Precision::Inexact(int(0)));
    assert_eq!(columns[0].max_value, Precision::Inexact(int(79_999)));
    assert_eq!(columns[1].null_count, Precision::Inexact(8_000));
    // What they say is what is there.
    for path in [&whole, &holes] {
        let ctx = session(2);
        let sql = "SELECT min(id), max(id), count(sparse), count(*) FROM t";
        let found = text(&ctx, &sql.replace(" t", &format!(" '{}'", path.display()))).await;
        let counts = if *path == whole {
            "72000               | 80000"
        } else {
            "64000               | 70000"
        };
        assert!(found.contains("| 0 ") && found.contains("| 79999 "), "{found}");
        assert!(counts.split('|').all(|count| found.contains(count.trim())), "{found}");
    }
    // A column that some fragments lack, and one that a map says nothing of.
    let path = folder.path().join("early.lance");
    let mut made = Made::new(&path, some(0, 0).schema());
    made.fragment(&some(0, 20_000), &[&["id", "doc"]], Version::V2_1, &[]);
    made.fragment(&some(20_000, 20_000), ALL, Version::V2_1, &[]);
    made.commit(1);
    let (num_rows, columns) = statistics(&path).await;
    assert_eq!(num_rows, Precision::Exact(40_000));
    assert_eq!(columns[0].max_value, Precision::Exact(int(39_999)));
    assert_eq!(columns[1].null_count, Precision::Exact(22_000));
    assert_eq!(columns[1].min_value, Precision::Exact(int(20_001)));
}

#[tokio::test]
async fn a_store_is_asked_for_little() {
    let folder = folder();
    let path = folder.path().join("t.lance");
    make(&path, &[1, 2, 3]);
    let store = Arc::new(Noted::default());
    for below in ["_versions", "data", "_deletions"] {
        for entry in std::fs::read_dir(path.join(below)).unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            let to = Location::from(format!("lake/t.lance/{below}/{name}"));
            store.put(&to, std::fs::read(entry.path()).unwrap().into()).await.unwrap();
        }
    }
    let ctx = session(1);
    let url = url::Url::parse("memory://store/").unwrap();
    ctx.register_object_store(&url, store.clone());
    let asked = async |sql: &str| {
        let sql = sql.replace(" t", " 'memory://store/lake/t.lance'");
        let (plan, found) = ran(&ctx, &sql).await;
        let asked = store.asked();
        let data = asked.iter().filter(|asked| asked.contains("/data/")).count();
        (asked, data, found, plan)
    };
    // To see that it is a table, to open it, to see that nothing newer is there when the query begins, and no more.
    let (count, ..) = asked("SELECT count(*) FROM t").await;
    assert_eq!(count.len(), 4, "{count:?}");
    assert_eq!(count.iter().filter(|asked| asked.starts_with("get")).count(), 1, "{count:?}");
    // One request opens a file, and for small ones brings all of it.
    let (all, data, found, plan) = asked("SELECT id FROM t").await;
    assert!(found == 79_997 && data <= 20, "{all:?}");
    assert_eq!(all.iter().filter(|asked| asked.contains("/_deletions/")).count(), 1, "{all:?}");
    assert!(metric(&plan, "requests") <= data + 1, "{all:?}");
    let (limited, data, found, _) = asked("SELECT name FROM t LIMIT 5").await;
    assert!(found == 5 && data <= 3, "{limited:?}");
}
