//! What statements write appears when they have ended well, and not otherwise.

use crate::lancet::{Dir, Ran};

/// A query that fails after it has given rows.
const FAILS: &str = "SELECT value AS a, value % 2 AS part, \
    1 / (CASE WHEN value = 190000 THEN 0 ELSE 1 END) AS q FROM generate_series(1, 200000)";

const ENDINGS: [&str; 5] = ["lance", "parquet", "csv", "json", "arrow"];

fn sql(dir: &Dir, query: &str, options: &str) -> Ran {
    let output = dir.command("sql").arg(query).args(options.split_whitespace()).output().unwrap();
    Ran::new(query, output)
}

#[test]
fn a_statement_that_fails_leaves_what_was_there() {
    for ending in ENDINGS {
        for threads in [1, 3] {
            let dir = Dir::new(&format!("sql-fails-{ending}-{threads}"));
            let out = format!("out.{ending}");
            dir.write(&out, "old");
            let options = format!("--threads {threads}");
            let error = sql(&dir, &format!("COPY ({FAILS}) TO '{out}'"), &options).failed();
            assert!(error.contains("Divide by zero"), "{error}");
            assert_eq!((dir.read(&out).as_str(), dir.files()), ("old", vec![out]));
            // Neither files nor the folders that they would be in.
            let copy =
                format!("COPY ({FAILS}) TO 'new/t/' STORED AS {ending} PARTITIONED BY (part)");
            sql(&dir, &copy, &options).failed();
            assert_eq!(dir.files().len(), 1, "{ending}: {:?}", dir.files());
        }
    }
}

#[test]
fn what_was_written_before_a_failure_stays() {
    let dir = Dir::new("sql-fails-later");
    let script = format!(
        "COPY (SELECT 1 AS a) TO 'one.csv'; COPY (SELECT a + 1 AS a FROM 'one.csv') TO 'two.csv'; \
         COPY ({FAILS}) TO 'one.csv'; COPY (SELECT 4 AS a) TO 'four.csv'"
    );
    sql(&dir, &script, "").failed();
    assert_eq!(dir.files(), ["one.csv", "two.csv"]);
    assert_eq!((dir.read("one.csv").as_str(), dir.read("two.csv").as_str()), ("a\n1\n", "a\n2\n"));
}

#[test]
fn a_statement_that_ends_well_replaces_what_was_there() {
    let dir = Dir::new("sql-replaces");
    for ending in ENDINGS {
        let out = format!("out.{ending}");
        dir.write(&out, "old");
        let numbers = "SELECT value AS a, value % 2 AS part FROM generate_series(1, 100000)";
        let told = sql(&dir, &format!("COPY ({numbers}) TO '{out}'"), "--format csv").ok();
        assert_eq!(told, "count\n100000\n", "{ending}");
        let sum = format!("SELECT sum(a) AS n FROM '{out}'");
        if ending != "json" {
            assert_eq!(sql(&dir, &sum, "--format csv").ok(), "n\n5000050000\n", "{ending}");
        }
        let copy =
            format!("COPY ({numbers}) TO 'new/{ending}/' STORED AS {ending} PARTITIONED BY (part)");
        sql(&dir, &copy, "").ok();
        for part in ["part=0", "part=1"] {
            let folder = std::fs::read_dir(dir.path(&format!("new/{ending}/{part}"))).unwrap();
            assert!(folder.count() > 0, "{ending}");
        }
    }
    // Of what it reads itself, too.
    sql(&dir, "COPY (SELECT a + 1 AS a FROM 'out.parquet') TO 'out.parquet'", "").ok();
    let sum = sql(&dir, "SELECT sum(a) AS n FROM 'out.parquet'", "--format csv").ok();
    assert_eq!(sum, "n\n5000150000\n");
    // And what is only explained is written, where that means to run it.
    sql(&dir, "EXPLAIN COPY (SELECT 1 AS a) TO 'plan.csv'", "").ok();
    assert!(!dir.path("plan.csv").exists());
    sql(&dir, "EXPLAIN ANALYZE COPY (SELECT 1 AS a) TO 'run.csv'", "").ok();
    assert_eq!(dir.read("run.csv"), "a\n1\n");
    assert!(dir.files().iter().all(|name| !name.starts_with('.')), "{:?}", dir.files());
}

#[test]
fn rows_are_added_when_all_of_them_are_there() {
    let dir = Dir::new("sql-insert");
    sql(&dir, "COPY (SELECT 1 AS a, 0 AS part, 0 AS q) TO 't/one.parquet'", "").ok();
    let table = "CREATE EXTERNAL TABLE t STORED AS PARQUET LOCATION 't/'";
    sql(&dir, &format!("{table}; INSERT INTO t {FAILS}"), "").failed();
    assert_eq!(std::fs::read_dir(dir.path("t")).unwrap().count(), 1);
    let insert = format!("{table}; INSERT INTO t VALUES (2, 0, 0); SELECT sum(a) AS n FROM t");
    assert!(sql(&dir, &insert, "--format csv").ok().ends_with("n\n3\n"));
    assert_eq!(std::fs::read_dir(dir.path("t")).unwrap().count(), 2);
}

#[cfg(unix)]
#[test]
fn devices_and_folders_are_not_replaced() {
    let dir = Dir::new("sql-devices");
    std::fs::create_dir(dir.path("folder.csv")).unwrap();
    for name in ["null.csv", "null.lance"] {
        std::os::unix::fs::symlink("/dev/null", dir.path(name)).unwrap();
    }
    for name in ["null.csv", "null.lance"] {
        let error = sql(&dir, &format!("COPY (SELECT 1 AS a) TO '{name}'"), "").failed();
        assert!(error.ends_with(&format!("{name}: it is not a file")), "{error}");
    }
    // Files are put into folders.
    sql(&dir, "COPY (SELECT 1 AS a) TO 'folder.csv'", "").ok();
    assert!(dir.path("folder.csv").is_dir());
    let there = std::fs::symlink_metadata(dir.path("null.csv")).unwrap();
    assert!(there.is_symlink());
}
