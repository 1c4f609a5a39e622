//! Tables by their paths and as external ones, at their versions, beside files.

use super::*;
use datafusion::arrow::array::{ArrayRef, AsArray, Int64Array};
use datafusion::arrow::datatypes::Int64Type;
use lancet::Version;
use made::Made;

fn numbers(rows: std::ops::Range<i64>) -> RecordBatch {
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(rows));
    RecordBatch::try_from_iter_with_nullable([("id", ids, true)]).unwrap()
}

/// Version 1 has 100 rows, version 2 200 with ten of them deleted.
fn make(path: &Path) -> Made {
    let mut made = Made::new(path, numbers(0..0).schema());
    made.fragment(&numbers(0..100), &[&["id"]], Version::V2_1, &[]);
    made.commit(1);
    let deleted: Vec<u32> = (0..10).collect();
    made.fragment(&numbers(100..200), &[&["id"]], Version::V2_1, &deleted);
    made.commit(2);
    made
}

async fn count(ctx: &SessionContext, from: &str) -> i64 {
    // Of a column, so that rows are read.
    let found = rows(ctx, &format!("SELECT sum(1 + id - id) FROM {from}")).await;
    found.column(0).as_primitive::<Int64Type>().value(0)
}

async fn error(ctx: &SessionContext, sql: &str) -> String {
    let run = async { ctx.sql(sql).await?.collect().await };
    run.await.map(|_| ()).expect_err(sql).to_string()
}

#[tokio::test]
async fn a_folder_with_versions_is_a_table() {
    let folder = folder();
    let path = folder.path().join("t.lance");
    make(&path);
    let ctx = session(2);
    let path = path.display();
    assert_eq!(count(&ctx, &format!("'{path}'")).await, 190);
    assert_eq!(count(&ctx, &format!("'{path}/'")).await, 190);
    assert_eq!(count(&ctx, &format!("'file://{path}'")).await, 190);
    assert_eq!(count(&ctx, &format!("'{path}@1'")).await, 100);
    assert_eq!(count(&ctx, &format!("'{path}@2' a JOIN '{path}@1' b USING (id)")).await, 100);
    let missing = error(&ctx, &format!("SELECT * FROM '{path}@9'")).await;
    assert!(missing.contains("there is no version 9; there are versions from 1 to 2"), "{missing}");
    let missing = error(&ctx, &format!("SELECT * FROM '{path}@night'")).await;
    assert!(missing.contains("there is no tag and no branch `night`"), "{missing}");
    let described = text(&ctx, &format!("DESCRIBE '{path}'")).await;
    assert!(described.contains("| id          | Int64"), "{described}");
}

#[tokio::test]
async fn tags_and_branches_have_names() {
    let kept = Path::new(env!("CARGO_MANIFEST_DIR"));
    let kept = kept.join("../lancet-table/tests/tables/branches_v22.tar");
    let place = folder();
    golden::archive::write_into(&golden::archive::unpack(&kept), place.path());
    let path = place.path().join("table");
    let ctx = session(2);
    let here = lancet_table::Table::open(&path).unwrap();
    let mut seen = 0;
    for tag in here.tags().unwrap() {
        let want = here.checkout(lancet_table::At::Tag(tag.name.clone())).unwrap();
        let sql = format!("SELECT k FROM '{}@{}'", path.display(), tag.name);
        assert_eq!(rows(&ctx, &sql).await.num_rows() as u64, want.num_rows().unwrap());
        seen += 1;
    }
    for branch in here.branches().unwrap() {
        let want = here.checkout(lancet_table::At::Branch(branch.name.clone())).unwrap();
        let sql = format!("SELECT k FROM '{}@{}'", path.display(), branch.name);
        assert_eq!(rows(&ctx, &sql).await.num_rows() as u64, want.num_rows().unwrap());
        let sql = format!("SELECT k FROM '{}@{}:{}'", path.display(), branch.name, want.version());
        assert_eq!(rows(&ctx, &sql).await.num_rows() as u64, want.num_rows().unwrap());
        run(&ctx, &format!(
            "CREATE EXTERNAL TABLE \"b{seen}\" STORED AS LANCE LOCATION '{}/' OPTIONS ('table.branch' '{}')",
            path.display(), branch.name
        )).await;
        let sql = format!("SELECT k FROM \"b{seen}\"");
        assert_eq!(rows(&ctx, &sql).await.num_rows() as u64, want.num_rows().unwrap());
        seen += 1;
    }
    assert!(seen > 2, "{seen}");
}

#[tokio::test]
async fn external_tables_follow_the_versions_unless_one_is_named() {
    let folder = folder();
    let path = folder.path().join("t.lance");
    let mut made = make(&path);
    let ctx = session(2);
    let create = |name: &str, options: &str| {
        format!(
            "CREATE EXTERNAL TABLE {name} STORED AS LANCE LOCATION '{}/' {options}",
            path.display()
        )
    };
    run(&ctx, &create("latest", "")).await;
    run(&ctx, &create("first", "OPTIONS ('table.version' '1')")).await;
    run(&ctx, &create("rows", "OPTIONS ('table.row_ids' 'true', 'table.row_versions' 'true')"))
        .await;
    assert_eq!((count(&ctx, "latest").await, count(&ctx, "first").await), (190, 100));
    let shown = rows(&ctx, "SELECT * FROM rows WHERE _rowid > 4294967310 LIMIT 1").await;
    assert_eq!(shown.num_columns(), 4);

    // A statement that is planned reads the version there was.
    let planned = ctx.sql("SELECT id FROM latest").await.unwrap();
    let twice = ctx.sql("SELECT a.id FROM latest a JOIN latest b USING (id)").await.unwrap();
    let planned = planned.create_physical_plan().await.unwrap();
    made.fragment(&numbers(200..210), &[&["id"]], Version::V2_1, &[]);
    made.commit(3);
    let found = collect(planned, ctx.task_ctx()).await.unwrap();
    assert_eq!(found.iter().map(RecordBatch::num_rows).sum::<usize>(), 190);
    assert_eq!((count(&ctx, "latest").await, count(&ctx, "first").await), (200, 100));
    assert_eq!(twice.count().await.unwrap(), 200);

    // Other columns are not those of the statement that made it.
    let other = RecordBatch::try_from_iter([("other", numbers(0..3).column(0).clone())]).unwrap();
    let mut made = Made::new(&path, other.schema());
    made.fragment(&other, &[&["other"]], Version::V2_1, &[]);
    made.commit(4);
    let changed = error(&ctx, "SELECT * FROM latest").await;
    assert!(changed.contains("version 4 has other columns"), "{changed}");
    assert_eq!(count(&ctx, "first").await, 100);
}

#[tokio::test]
async fn wrong_statements_are_told_what_is_wrong() {
    let folder = folder();
    let path = folder.path().join("t.lance");
    make(&path);
    let ctx = session(2);
    let create = |what: &str, options: &str| {
        format!(
            "CREATE EXTERNAL TABLE t {what} STORED AS LANCE LOCATION '{}/' {options}",
            path.display()
        )
    };
    for (what, options, expected) in [
        ("(id INT)", "", "knows its columns itself"),
        ("", "OPTIONS ('table.colour' 'red')", "no option 'table.colour'"),
        ("", "OPTIONS ('table.version' '7')", "there is no version 7"),
        ("", "OPTIONS ('table.tag' 'x')", "there is no tag `x`"),
        ("", "OPTIONS ('table.row_ids' 'x')", "true or false"),
    ] {
        let error = error(&ctx, &create(what, options)).await;
        assert!(error.contains(expected), "{error}");
    }
    write(&folder.path().join("f.lance"), &[numbers(0..3)]);
    let file = format!(
        "CREATE EXTERNAL TABLE f STORED AS LANCE LOCATION '{}' OPTIONS ('table.version' '1')",
        folder.path().join("f.lance").display()
    );
    let error = error(&ctx, &file).await;
    assert!(error.contains("is no Lance table"), "{error}");
}

/// What is read file by file would show rows that are deleted.
#[tokio::test]
async fn files_of_a_table_are_not_read_one_by_one() {
    let folder = folder();
    let path = folder.path().join("t.lance");
    make(&path);
    // Paths are tables here, but of Lance tables this session knows nothing.
    let ctx = SessionContext::new();
    lancet_datafusion::register(&ctx).unwrap();
    let ctx = ctx.enable_url_table();
    for name in ["t.lance/data/", "t.lance", "", "t.lance/data/00000001.lance"] {
        let sql = format!("SELECT count(id) FROM '{}'", folder.path().join(name).display());
        let error = error(&ctx, &sql).await;
        // Where the first file of a folder is none that DataFusion knows, it looks no further.
        let is_refused = error.contains("is a data file of a Lance table");
        let is_folder = name.is_empty() || name == "t.lance";
        assert!(is_refused || is_folder && error.contains("not found"), "{name}: {error}");
    }
    // A table without versions is no folder of files.
    for version in [1, 2] {
        std::fs::remove_file(path.join(format!("_versions/{version}.manifest"))).unwrap();
    }
    let error = error(&session(1), &format!("SELECT * FROM '{}'", path.display())).await;
    assert!(
        error.contains("the table has no versions") || error.contains("not a Lance table"),
        "{error}"
    );
}

#[tokio::test]
async fn folders_of_files_stay_what_they_are() {
    let folder = folder();
    let data = folder.path().join("data");
    std::fs::create_dir(&data).unwrap();
    for part in 0..3 {
        write(&data.join(format!("{part}.lance")), &[numbers(part * 10..part * 10 + 10)]);
    }
    let ctx = session(2);
    assert_eq!(count(&ctx, &format!("'{}/'", data.display())).await, 30);
    run(&ctx, &format!("CREATE EXTERNAL TABLE t STORED AS LANCE LOCATION '{}/'", data.display()))
        .await;
    assert_eq!(count(&ctx, "t").await, 30);
    assert_eq!(count(&ctx, &format!("'{}'", data.join("1.lance").display())).await, 10);
}

/// What is written to a table is written as a version of it.
#[tokio::test]
async fn nothing_is_written_beside_the_files_of_a_table() {
    let folder = folder();
    let path = folder.path().join("t.lance");
    make(&path);
    let ctx = session(2);
    for sql in [
        format!("COPY (SELECT 1 AS id) TO '{}/' STORED AS LANCE", path.display()),
        format!("COPY (SELECT 2 AS id) TO '{}'", path.display()),
    ] {
        run(&ctx, &sql).await;
        assert_eq!(count(&ctx, &format!("'{}'", path.display())).await, 1);
    }
    let below = std::fs::read_dir(&path).unwrap().map(|e| e.unwrap().file_name());
    let below: std::collections::BTreeSet<_> = below.map(|n| n.into_string().unwrap()).collect();
    assert!(below.iter().all(|name| name.starts_with('_') || name == "data"), "{below:?}");
    assert_eq!(count(&ctx, &format!("'{}@2'", path.display())).await, 190);
}
