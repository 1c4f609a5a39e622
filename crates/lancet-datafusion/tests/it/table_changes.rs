//! Statements that change tables: what they do to the rows, what they refuse, and what is left when they fail.

use super::*;
use std::collections::BTreeSet;

use datafusion::arrow::array::{AsArray, Int32Array, Int64Array, RecordBatchIterator, StringArray};
use datafusion::arrow::datatypes::{DataType, Field, Int64Type, Schema, UInt64Type};
use datafusion::catalog::TableProvider;
use datafusion::datasource::listing::ListingTableUrl;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::prelude::{col, lit};
use lancet_datafusion::{At, LanceTable, LanceTableOptions};
use lancet_table::{Operation, RowStream, StoreTable, Table, TableWriteOptions};
use object_store::memory::InMemory;

/// Keys that are never null, numbers and names that may be.
pub(super) fn some() -> RecordBatch {
    let schema = Schema::new(vec![
        Field::new("k", DataType::Int64, false),
        Field::new("n", DataType::Int32, true),
        Field::new("s", DataType::Utf8, true),
    ]);
    let numbers = Int32Array::from(vec![Some(1), None, Some(3), Some(4), None, Some(6)]);
    let names = StringArray::from(vec![Some("a"), Some("b"), None, Some("d"), None, Some("f")]);
    RecordBatch::try_new(
        Arc::new(schema),
        vec![Arc::new(Int64Array::from_iter_values(0..6)), Arc::new(numbers), Arc::new(names)],
    )
    .unwrap()
}

/// A table with these rows, two in a fragment, and a session in which it is `t`.
pub(super) async fn made(rows: &RecordBatch) -> (TempDir, PathBuf, SessionContext) {
    let folder = folder();
    let path = folder.path().join("t.lance");
    let options = TableWriteOptions::default()
        .with_max_rows_per_fragment(2.max(rows.num_rows() as u64 / 5))
        .with_stable_row_ids(true);
    let rows = RecordBatchIterator::new([Ok(rows.clone())], rows.schema());
    Table::create_with(&path, rows, &options).unwrap();
    let ctx = session(3);
    run(&ctx, &external("t", &path)).await;
    (folder, path, ctx)
}

fn external(name: &str, path: &Path) -> String {
    format!("CREATE EXTERNAL TABLE {name} STORED AS LANCE LOCATION '{}/'", path.display())
}

/// How many rows a statement has changed.
pub(super) async fn count(ctx: &SessionContext, sql: &str) -> u64 {
    let answer = rows(ctx, sql).await;
    assert_eq!((answer.num_rows(), answer.num_columns()), (1, 1));
    answer["count"].as_primitive::<UInt64Type>().value(0)
}

async fn error(ctx: &SessionContext, sql: &str) -> String {
    let run = async { ctx.sql(sql).await?.collect().await };
    run.await.map(|_| ()).expect_err(sql).to_string()
}

async fn keys(ctx: &SessionContext, which: &str) -> Vec<i64> {
    let found = rows(ctx, &format!("SELECT k FROM t WHERE {which} ORDER BY k")).await;
    found["k"].as_primitive::<Int64Type>().values().to_vec()
}

fn files(folder: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(files(&path)),
            false => _ = found.insert(path),
        }
    }
    found
}

/// A condition that is null is not true, whatever stands around it.
#[tokio::test]
async fn rows_for_which_a_condition_is_null_stay() {
    for (condition, left) in [
        ("n > 3", &[0, 1, 2, 4][..]),
        ("NOT (n > 3)", &[1, 3, 4, 5]),
        ("n > 3 OR s = 'b'", &[0, 2, 4]),
        ("NOT (n > 3 AND s <> 'f')", &[1, 3, 4]),
        ("n <> NULL", &[0, 1, 2, 3, 4, 5]),
        ("NULL", &[0, 1, 2, 3, 4, 5]),
        ("n IN (1, NULL)", &[1, 2, 3, 4, 5]),
        ("n NOT IN (1, NULL)", &[0, 1, 2, 3, 4, 5]),
        ("n IS NULL", &[0, 2, 3, 5]),
        ("s IS DISTINCT FROM 'a'", &[0]),
        ("false", &[0, 1, 2, 3, 4, 5]),
        ("1 = 2 AND k = 3", &[0, 1, 2, 3, 4, 5]),
        ("true", &[]),
    ] {
        let (_folder, _, ctx) = made(&some()).await;
        let gone = count(&ctx, &format!("DELETE FROM t WHERE {condition}")).await;
        assert_eq!(keys(&ctx, "true").await, left, "{condition}");
        assert_eq!(gone, 6 - left.len() as u64, "{condition}");
        let (_folder, _, ctx) = made(&some()).await;
        let sql = format!("UPDATE t SET s = 'new' WHERE {condition}");
        assert_eq!(count(&ctx, &sql).await, gone, "{condition}");
        assert_eq!(keys(&ctx, "s IS DISTINCT FROM 'new'").await, left, "{condition}");
    }
}

/// DataFusion loses these on their way to a table.
#[tokio::test]
async fn conditions_may_have_queries_and_limits() {
    let other = RecordBatch::try_from_iter([(
        "x",
        Arc::new(Int64Array::from(vec![Some(1), Some(4), None])) as _,
    )])
    .unwrap();
    for (statement, left) in [
        ("DELETE FROM t WHERE k IN (SELECT x FROM o)", &[0, 2, 3, 5][..]),
        ("DELETE FROM t WHERE k < 3 AND k IN (SELECT x FROM o)", &[0, 2, 3, 4, 5]),
        ("DELETE FROM t WHERE k NOT IN (SELECT x FROM o)", &[0, 1, 2, 3, 4, 5]),
        ("DELETE FROM t WHERE k NOT IN (SELECT x FROM o WHERE x IS NOT NULL)", &[1, 4]),
        ("DELETE FROM t WHERE EXISTS (SELECT 1 FROM o WHERE x = k)", &[0, 2, 3, 5]),
        ("DELETE FROM t WHERE NOT EXISTS (SELECT 1 FROM o WHERE x = t.k)", &[1, 4]),
        ("DELETE FROM t WHERE k > (SELECT avg(k) FROM t)", &[0, 1, 2]),
        ("DELETE FROM t WHERE k = (SELECT max(k) FROM t)", &[0, 1, 2, 3, 4]),
        ("DELETE FROM t WHERE k = (SELECT x FROM o WHERE x > 100)", &[0, 1, 2, 3, 4, 5]),
        ("TRUNCATE TABLE t", &[]),
        ("DELETE FROM t", &[]),
    ] {
        let (_folder, _, ctx) = made(&some()).await;
        ctx.register_batch("o", other.clone()).unwrap();
        assert_eq!(count(&ctx, statement).await, 6 - left.len() as u64, "{statement}");
        assert_eq!(keys(&ctx, "true").await, left, "{statement}");
    }
    let (_folder, _, ctx) = made(&some()).await;
    assert_eq!(count(&ctx, "DELETE FROM t WHERE k > 1 LIMIT 2").await, 2);
    assert_eq!(keys(&ctx, "k < 2").await, [0, 1]);
    assert_eq!(keys(&ctx, "true").await.len(), 4);
}

#[tokio::test]
async fn values_are_worked_out_and_cast() {
    let (_folder, _, ctx) = made(&some()).await;
    // Each column sees the values from before, and so does the condition.
    let sql = "UPDATE t SET n = k * 10, s = n, k = k + 100 WHERE k >= 3";
    assert_eq!(count(&ctx, sql).await, 3);
    let expected = [
        "| 0   | 1  | a |",
        "| 1   |    | b |",
        "| 2   | 3  |   |",
        "| 103 | 30 | 4 |",
        "| 104 | 40 |   |",
        "| 105 | 50 | 6 |",
    ];
    let shown = text(&ctx, "SELECT * FROM t ORDER BY k").await;
    for line in expected {
        assert!(shown.contains(line), "{line} is not in\n{shown}");
    }
    // The same expression twice, which the optimizer works out once.
    assert_eq!(count(&ctx, "UPDATE t SET n = (k + 7) * 2, k = (k + 7) * 3").await, 6);
    assert_eq!(keys(&ctx, "n * 3 = k * 2").await.len(), 6);
    // Aliases, queries as values, and what stays what it is.
    assert_eq!(
        count(&ctx, "UPDATE t AS u SET s = (SELECT max(k) FROM t) WHERE u.n > 100").await,
        3
    );
    assert_eq!(keys(&ctx, "s = '336'").await.len(), 3);
    assert_eq!(count(&ctx, "UPDATE t SET n = n WHERE k > 30").await, 3);
    for (sql, part) in [
        ("UPDATE t SET n = k * 100000000", "no new value for `n`"),
        ("UPDATE t SET n = s || 'x', s = 'y' WHERE s IS NOT NULL", "no new value for `n`, `s`"),
        ("UPDATE t SET k = NULL", "`k` must not be null"),
        ("UPDATE t SET x = 1", "x"),
        ("UPDATE t SET n = make_array(1)", "List"),
    ] {
        let before = text(&ctx, "SELECT * FROM t ORDER BY k").await;
        let error = error(&ctx, sql).await;
        assert!(error.contains(part), "{sql}: {error}");
        assert_eq!(text(&ctx, "SELECT * FROM t ORDER BY k").await, before);
    }
}

#[tokio::test]
async fn rows_are_added_and_replaced() {
    let (_folder, path, ctx) = made(&some()).await;
    assert_eq!(count(&ctx, "INSERT INTO t VALUES (10, 1, 'x'), (11, NULL, 'y')").await, 2);
    assert_eq!(count(&ctx, "INSERT INTO t (s, k) SELECT s, k + 20 FROM t WHERE k > 9").await, 2);
    assert_eq!(keys(&ctx, "k > 9 AND (k < 30 OR n IS NULL)").await, [10, 11, 30, 31]);
    // Nothing to add makes no version.
    assert_eq!(count(&ctx, "INSERT INTO t SELECT * FROM t WHERE false").await, 0);
    assert_eq!(Table::open(&path).unwrap().version(), 3);
    let before = Table::open(&path).unwrap();
    assert_eq!(count(&ctx, "INSERT OVERWRITE t SELECT k, n, s FROM t WHERE k < 2").await, 2);
    let table = Table::open(&path).unwrap();
    assert_eq!((table.version(), table.num_rows().unwrap()), (4, 2));
    assert_eq!(table.schema(), before.schema(), "what is null and what is not stays");
    assert_eq!(before.num_rows().unwrap(), 10);
    let known = files(&path);
    for (sql, part) in [
        ("INSERT INTO t SELECT NULL, 1, 'x'", "`k` must not be null"),
        ("INSERT INTO t (n) VALUES (1)", "`k` must not be null"),
        ("INSERT OVERWRITE t (n) VALUES (1)", "`k` must not be null"),
        ("INSERT INTO t SELECT 1, 2", "Column count"),
        ("INSERT INTO t SELECT k, 10 / (k - 1), s FROM t", "zero"),
        ("REPLACE INTO t VALUES (1, 2, 'x')", "no keys"),
    ] {
        let error = error(&ctx, sql).await;
        assert!(error.contains(part), "{sql}: {error}");
    }
    assert_eq!(files(&path), known, "what fails leaves nothing");
    assert!(Table::open(&path).unwrap().verify(|_| ()).unwrap().problems.is_empty());
}

/// What a plan alone says must not happen.
#[tokio::test]
async fn explained_statements_change_nothing() {
    let (_folder, path, ctx) = made(&some()).await;
    for (sql, part) in [
        ("EXPLAIN DELETE FROM t WHERE k > 2", "LanceTable(delete, table="),
        ("EXPLAIN UPDATE t SET n = 1 WHERE k > 2", "LanceTable(update, table="),
        ("EXPLAIN INSERT INTO t SELECT * FROM t", "LanceTable(append, table="),
    ] {
        let plan = text(&ctx, sql).await;
        assert!(plan.contains(part), "{plan}");
        // Filters go where those of queries go.
        assert!(!plan.contains("k > 2") || plan.contains("predicate=k@0 > 2"), "{plan}");
    }
    assert_eq!(Table::open(&path).unwrap().version(), 1);
    run(&ctx, "EXPLAIN ANALYZE DELETE FROM t WHERE k > 2").await;
    assert_eq!(Table::open(&path).unwrap().num_rows().unwrap(), 3);
}

#[tokio::test]
async fn only_the_newest_version_is_changed() {
    let (_folder, path, ctx) = made(&some()).await;
    let mut table = Table::open(&path).unwrap();
    table.create_tag("first").unwrap();
    table.create_branch("test").unwrap();
    table.delete(0..1).unwrap();
    let shown = path.display();
    for (version, part) in [
        ("1", "version 1 was asked for"),
        ("2", "version 2 was asked for"),
        ("first", "`first` names"),
        ("test:1", "version 1 of `test`"),
    ] {
        for sql in [
            format!("INSERT INTO '{shown}@{version}' VALUES (1, 2, 'x')"),
            format!("DELETE FROM '{shown}@{version}' WHERE k = 1"),
            format!("UPDATE '{shown}@{version}' SET n = 1"),
        ] {
            let error = error(&ctx, &sql).await;
            assert!(error.contains("only the newest version") && error.contains(part), "{error}");
        }
    }
    assert_eq!(table.checkout(At::Latest).unwrap().version(), 2);
    // The newest version of a branch is one.
    assert_eq!(count(&ctx, &format!("DELETE FROM '{shown}@test' WHERE k < 2")).await, 2);
    let all = format!("INSERT INTO '{shown}@test' SELECT k + 100, n, s FROM '{shown}@test'");
    assert_eq!(count(&ctx, &all).await, 4);
    let branch = table.checkout(At::Branch("test".into())).unwrap();
    assert_eq!(branch.num_rows().unwrap(), 8);
    assert_eq!(table.checkout(At::Latest).unwrap().num_rows().unwrap(), 5);
    // Columns that the table makes can be asked for, and not be written.
    let rows_too = external("r", &path) + " OPTIONS ('table.row_ids' 'true')";
    run(&ctx, &rows_too).await;
    let refused = error(&ctx, "INSERT INTO r VALUES (1, 2, 'x', 3)").await;
    assert!(refused.contains("_rowid are made by the table"), "{refused}");
    let refused = error(&ctx, "UPDATE r SET _rowid = 3").await;
    assert!(refused.contains("`_rowid` is made by the table"), "{refused}");
    assert_eq!(count(&ctx, "DELETE FROM r WHERE _rowid IN (1, 2, 99)").await, 2);
    assert_eq!(keys(&ctx, "true").await, [3, 4, 5]);
}

#[tokio::test]
async fn changes_of_others_are_kept() {
    let (_folder, path, ctx) = made(&some()).await;
    let url = ListingTableUrl::parse(path.to_str().unwrap()).unwrap();
    let opened = || async {
        let options = LanceTableOptions::default()
            .with_write_options(TableWriteOptions::default().with_message("by SQL"));
        let table = LanceTable::open(&ctx.runtime_env(), &url, options).await.unwrap();
        ctx.deregister_table("mine").unwrap();
        ctx.register_table("mine", Arc::new(table.clone())).unwrap();
        table
    };
    // Open at version 1, while somebody else makes version 2.
    let table = opened().await;
    run(&ctx, "UPDATE t SET n = 100 WHERE k = 0").await;
    let conflict = error(&ctx, "UPDATE mine SET n = 200 WHERE k = 0").await;
    assert!(conflict.contains("version 2") && conflict.contains("do it again"), "{conflict}");
    let conflict = error(&ctx, "DELETE FROM mine WHERE k = 0").await;
    assert!(conflict.contains("version 2"), "{conflict}");
    assert_eq!(table.last_change(), None);
    // Other rows, in the same fragment and in others, and new ones go together with it.
    assert_eq!(count(&ctx, "DELETE FROM mine WHERE k = 1 OR k = 4").await, 2);
    assert_eq!(table.last_change().unwrap().version, 3);
    assert_eq!(keys(&ctx, "n = 100 OR n IS NULL").await, [0]);
    // From now on it is that version, so that the same row can be changed.
    assert_eq!(count(&ctx, "UPDATE mine SET n = 200 WHERE k = 0").await, 1);
    assert_eq!(count(&ctx, "INSERT INTO mine VALUES (7, 7, 'g')").await, 1);
    assert_eq!(keys(&ctx, "n IN (7, 200)").await, [0, 7]);
    let change = table.last_change().unwrap();
    assert_eq!((change.version, change.rows_inserted), (5, 1));
    // The history tells what was done.
    let third = Table::open(&path).unwrap().checkout(At::Version(3)).unwrap();
    let made = third.transaction().unwrap().unwrap();
    let Operation::Delete(delete) = made.operation else { panic!("{:?}", made.operation) };
    assert_eq!(delete.predicate, "k = 1 OR k = 4");
    assert!(made.properties.values().any(|value| value == "by SQL"), "{:?}", made.properties);

    // Many at the same time: each is there once.
    let sessions = (0..4).map(|writer| {
        let (ctx, path) = (session(1), path.clone());
        tokio::spawn(async move {
            for n in 0..3 {
                let key = 1000 + writer * 10 + n;
                let sql = format!("INSERT INTO '{}' VALUES ({key}, 0, 'w')", path.display());
                assert_eq!(count(&ctx, &sql).await, 1);
            }
        })
    });
    for writer in sessions.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    assert_eq!(keys(&ctx, "s = 'w'").await.len(), 12);
}

/// Without the rewriting of statements conditions would be lost, so nothing is done.
#[tokio::test]
async fn sessions_that_do_not_know_tables_are_refused() {
    let (_folder, path, known) = made(&some()).await;
    let ctx = SessionContext::new();
    let url = ListingTableUrl::parse(path.to_str().unwrap()).unwrap();
    let options = LanceTableOptions::default();
    let table = Arc::new(LanceTable::open(&ctx.runtime_env(), &url, options).await.unwrap());
    ctx.register_table("t", table.clone()).unwrap();
    for sql in ["DELETE FROM t WHERE false", "UPDATE t SET n = 1", "TRUNCATE TABLE t"] {
        let error = error(&ctx, sql).await;
        assert!(error.contains("call lancet_datafusion::register first"), "{error}");
    }
    assert_eq!(count(&ctx, "INSERT INTO t VALUES (6, 6, 'g')").await, 1);
    // Rust code has all its conditions.
    let state = known.state();
    let plan = table.delete_from(&state, vec![col("k").gt(lit(1)), col("n").gt(lit(3))]).await;
    collect(plan.unwrap(), known.task_ctx()).await.unwrap();
    assert_eq!(keys(&known, "true").await, [0, 1, 2, 4]);
    let set = vec![("n".into(), col("k") + lit(1)), ("s".into(), lit(7))];
    let plan = table.update(&state, set, vec![col("n").is_null()]).await.unwrap();
    collect(plan, known.task_ctx()).await.unwrap();
    assert_eq!(keys(&known, "n = k + 1 AND s = '7'").await, [1, 4]);
    let wrong = table.update(&state, vec![("x".into(), lit(1))], Vec::new()).await;
    assert!(wrong.unwrap_err().to_string().contains("no column `x`"));
}

#[tokio::test]
async fn copies_make_tables_and_new_versions_of_them() {
    let (folder, path, ctx) = made(&some()).await;
    let new = folder.path().join("new.lance");
    let (from, to) = (path.display(), new.display());
    let copy = format!("COPY (SELECT k, s FROM '{from}' WHERE k > 1) TO '{to}'");
    let made = format!("{copy} OPTIONS (table true, version '2.1')");
    assert_eq!(count(&ctx, &made).await, 4);
    let table = Table::open(&new).unwrap();
    assert_eq!((table.version(), table.num_rows().unwrap()), (1, 4));
    assert_eq!(table.schema().fields().len(), 2);
    let format = &table.manifest().fragments[0].files[0].version;
    assert_eq!(format.to_string(), "2.1");
    // What is a table is written as one.
    let again = format!("COPY (SELECT k AS other FROM '{to}' WHERE k > 3) TO '{to}'");
    assert_eq!(count(&ctx, &again).await, 2);
    let table = table.checkout(At::Latest).unwrap();
    assert_eq!((table.version(), table.num_rows().unwrap()), (2, 2));
    assert_eq!(table.schema().field(0).name(), "other");
    assert_eq!(table.checkout(At::Version(1)).unwrap().num_rows().unwrap(), 4);
    let cut = error(&ctx, &format!("{copy} PARTITIONED BY (s)")).await;
    assert!(cut.contains("leave out PARTITIONED BY"), "{cut}");
    // And what is not stays a file.
    let file = folder.path().join("file.lance");
    let sql = format!("COPY (SELECT 1 AS a) TO '{}' OPTIONS (table false)", file.display());
    assert_eq!(count(&ctx, &sql).await, 1);
    assert!(file.is_file());
    let bad = folder.path().join("bad.lance");
    let sql = format!(
        "COPY (SELECT 10 / (k - 2) AS x FROM '{from}') TO '{}' OPTIONS (table true)",
        bad.display()
    );
    assert!(error(&ctx, &sql).await.contains("zero"));
    assert!(!bad.exists() || files(&bad).is_empty());
}

#[tokio::test]
async fn tables_in_stores_are_changed_too() {
    let ctx = session(2);
    let store = Arc::new(InMemory::new());
    let url = url::Url::parse("memory://lake").unwrap();
    ctx.register_object_store(&url, store.clone());
    let batch = some();
    let rows = futures::stream::iter([Ok::<_, lancet_table::Error>(batch.clone())]);
    let options = TableWriteOptions::default().with_max_rows_per_fragment(2);
    StoreTable::create(
        store.clone(),
        "a/t.lance".into(),
        RowStream::new(batch.schema(), rows),
        &options,
    )
    .await
    .unwrap();
    run(&ctx, "CREATE EXTERNAL TABLE t STORED AS LANCE LOCATION 'memory://lake/a/t.lance/'").await;
    assert_eq!(count(&ctx, "INSERT INTO t SELECT k + 10, n, s FROM t").await, 6);
    assert_eq!(count(&ctx, "DELETE FROM t WHERE n IS NULL").await, 4);
    assert_eq!(count(&ctx, "UPDATE t SET n = n * 10, s = k WHERE k > 10").await, 3);
    let shown = text(&ctx, "SELECT * FROM t WHERE k > 10 ORDER BY k").await;
    assert!(shown.contains("| 12 | 30 | 12 |") && shown.contains("| 15 | 60 | 15 |"), "{shown}");
    assert!(error(&ctx, "INSERT INTO t SELECT k, 1 / (k - 2), s FROM t").await.contains("zero"));
    let copy = "COPY (SELECT k FROM t) TO 'memory://lake/b/new.lance' OPTIONS (table true)";
    assert_eq!(count(&ctx, copy).await, 8);
    assert_eq!(count(&ctx, "COPY (SELECT 1 AS x) TO 'memory://lake/b/new.lance'").await, 1);
    let new = StoreTable::open(store.clone(), "b/new.lance".into()).await.unwrap();
    assert_eq!((new.version(), new.num_rows().await.unwrap()), (2, 1));
    let table = StoreTable::open(store, "a/t.lance".into()).await.unwrap();
    assert_eq!((table.version(), table.num_rows().await.unwrap()), (4, 8));
}

/// What is held of rows that go is counted as memory of the query.
#[tokio::test]
async fn memory_is_asked_for() {
    let (_folder, path, _) = made(&filters::table(30_000)).await;
    let runtime = RuntimeEnvBuilder::new().with_memory_limit(400_000, 1.0).build_arc().unwrap();
    let config = SessionConfig::new().with_target_partitions(1);
    let ctx = SessionContext::new_with_config_rt(config, runtime).enable_url_table();
    lancet_datafusion::register(&ctx).unwrap();
    let shown = path.display();
    for sql in [format!("DELETE FROM '{shown}'"), format!("UPDATE '{shown}' SET i = 1")] {
        let error = error(&ctx, &sql).await;
        assert!(error.contains("Resources exhausted"), "{error}");
    }
    assert_eq!(Table::open(&path).unwrap().version(), 1);
    // Rows that come are not held.
    assert_eq!(
        count(&ctx, &format!("INSERT INTO '{shown}' SELECT * FROM '{shown}'")).await,
        30_000
    );
    assert_eq!(count(&ctx, &format!("DELETE FROM '{shown}' WHERE id < 1000")).await, 2_000);
}

#[tokio::test]
async fn tables_are_merged() {
    let source = RecordBatch::try_from_iter([
        ("id", Arc::new(Int64Array::from(vec![Some(1), Some(3), Some(20), None])) as _),
        ("x", Arc::new(Int64Array::from(vec![Some(100), None, Some(300), Some(400)])) as _),
    ])
    .unwrap();
    let upsert = "MERGE INTO t USING o ON t.k = o.id \
                  WHEN MATCHED AND x IS NULL THEN DELETE \
                  WHEN MATCHED THEN UPDATE SET n = x + 1 \
                  WHEN NOT MATCHED AND o.id IS NOT NULL THEN INSERT (k, s) VALUES (o.id, o.x) \
                  WHEN NOT MATCHED BY SOURCE AND t.k > 4 THEN UPDATE SET s = 'alone', n = n * 2";
    for (statement, changed, expected) in [
        (upsert, 4, &["0,1,a", "1,101,b", "2,3,-", "4,-,-", "5,12,alone", "20,-,300"][..]),
        (
            "MERGE INTO t AS u USING o ON u.k = o.id WHEN NOT MATCHED BY TARGET AND id > 0 THEN \
             INSERT VALUES (id, x, 'new')",
            1,
            &["0,1,a", "1,-,b", "2,3,-", "3,4,d", "4,-,-", "5,6,f", "20,300,new"],
        ),
        (
            "MERGE INTO t USING (SELECT * FROM o WHERE id < 10) AS o ON k = id AND n IS NULL \
             WHEN MATCHED THEN DELETE",
            1,
            &["0,1,a", "2,3,-", "3,4,d", "4,-,-", "5,6,f"],
        ),
        (
            "MERGE INTO t USING o ON k = id WHEN NOT MATCHED BY SOURCE THEN DELETE",
            4,
            &["1,-,b", "3,4,d"],
        ),
        (
            "MERGE INTO t USING o ON k = id AND false WHEN MATCHED THEN UPDATE SET n = 1",
            0,
            &["0,1,a", "1,-,b", "2,3,-", "3,4,d", "4,-,-", "5,6,f"],
        ),
    ] {
        let (_folder, path, ctx) = made(&some()).await;
        ctx.register_batch("o", source.clone()).unwrap();
        assert_eq!(count(&ctx, statement).await, changed, "{statement}");
        let shown = rows(
            &ctx,
            "SELECT concat_ws(',', k, coalesce(CAST(n AS varchar), '-'), coalesce(s, '-')) AS row \
             FROM t ORDER BY k",
        )
        .await;
        let shown = datafusion::arrow::compute::cast(&shown["row"], &DataType::Utf8).unwrap();
        let shown: Vec<_> = shown.as_string::<i32>().iter().flatten().collect();
        assert_eq!(shown, expected, "{statement}");
        let table = Table::open(&path).unwrap();
        assert_eq!(table.version(), 1 + u64::from(changed > 0), "one version: {statement}");
        assert!(table.verify(|_| ()).unwrap().problems.is_empty());
    }
    let (_folder, path, ctx) = made(&some()).await;
    ctx.register_batch("o", source).unwrap();
    let known = files(&path);
    for (statement, part) in [
        // Two rows of the source for one of the table.
        ("MERGE INTO t USING o ON k < 1 AND id < 20 WHEN MATCHED THEN UPDATE SET n = 1", "twice"),
        (
            "MERGE INTO t USING o ON k = id WHEN NOT MATCHED THEN INSERT (n) VALUES (1)",
            "`k` must not be null",
        ),
        ("MERGE INTO t USING o ON k = id WHEN MATCHED THEN UPDATE SET k = NULL", "`k`"),
    ] {
        let error = error(&ctx, statement).await;
        assert!(error.contains(part), "{statement}: {error}");
    }
    assert_eq!(files(&path), known);
}

/// What asks a path again sees what was written meanwhile.
#[tokio::test]
async fn views_over_paths_read_the_newest_version() {
    let (_folder, path, _) = made(&some()).await;
    let (ctx, path) = (session(2), path.display());
    run(&ctx, &format!("CREATE VIEW v AS SELECT k FROM '{path}' WHERE k > 1")).await;
    run(&ctx, &format!("PREPARE p AS SELECT k FROM '{path}'")).await;
    assert_eq!(count(&ctx, &format!("DELETE FROM '{path}' WHERE k = 2")).await, 1);
    assert_eq!(rows(&ctx, "SELECT * FROM v").await.num_rows(), 3);
    assert_eq!(rows(&ctx, "EXECUTE p").await.num_rows(), 5);
    let last = format!("DELETE FROM '{path}' WHERE k IN (SELECT max(k) FROM v)");
    assert_eq!((count(&ctx, &last).await, count(&ctx, &last).await), (1, 1));
    assert_eq!(rows(&ctx, "SELECT * FROM v").await.num_rows(), 1);
}

/// A change that changes nothing is the last one all the same.
#[tokio::test]
async fn updates_that_change_nothing_are_noted() {
    let (_folder, path, _) = made(&some()).await;
    let ctx = session(2);
    let url = ListingTableUrl::parse(path.display().to_string()).unwrap();
    let options = LanceTableOptions::default();
    let table = LanceTable::open(&ctx.runtime_env(), &url, options).await.unwrap();
    ctx.register_table("x", Arc::new(table.clone())).unwrap();
    assert_eq!(count(&ctx, "DELETE FROM x WHERE k = 2").await, 1);
    assert_eq!(count(&ctx, "UPDATE x SET k = k").await, 5);
    let change = table.last_change().unwrap();
    assert_eq!((change.version, change.rows_deleted, change.rows_updated), (2, 0, 0));
}
