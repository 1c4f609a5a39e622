//! Queries over Lance tables.

use std::path::Path;

use crate::archives;
use crate::lancet::{Dir, Ran};

/// A table of the reference in a folder, with what each of its versions holds.
fn unpacked(dir: &Dir, name: &str) {
    let tables = Path::new(env!("CARGO_MANIFEST_DIR")).join("../lancet-table/tests/tables");
    let files = archives::unpack(&tables.join(format!("{name}.tar")));
    archives::write_into(&files, &dir.path(""));
    std::fs::rename(dir.path("table"), dir.path("t.lance")).unwrap();
}

fn sql(dir: &Dir, query: &str, options: &str) -> Ran {
    let output = dir.command("sql").arg(query).args(options.split_whitespace()).output().unwrap();
    Ran::new(query, output)
}

#[test]
fn every_version_is_read_without_its_deleted_rows() {
    let index =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../lancet-table/tests/tables/index.json");
    let mut seen = 0;
    let index: serde_json::Value = serde_json::from_slice(&std::fs::read(index).unwrap()).unwrap();
    for entry in index["tables"].as_array().unwrap() {
        let name = entry["name"].as_str().unwrap();
        if name.starts_with("shallow") {
            continue; // reads files of another table
        }
        let dir = Dir::new(&format!("sql-table-{name}"));
        unpacked(&dir, name);
        let columns = "k,_rowid,_rowaddr";
        let options = "--format csv --with-row-id --with-row-address";
        for version in entry["versions"].as_array().unwrap() {
            let (number, file) = (&version["version"], version["expect"].as_str().unwrap());
            let want =
                dir.lancet(&format!("cat expect/{file} --columns {columns} --format csv")).ok();
            let query = format!("SELECT {columns} FROM 't.lance@{number}'");
            assert_eq!(sql(&dir, &query, options).ok(), want, "{name}, version {number}");
            seen += 1;
        }
        for (branch, expected) in entry["branches"].as_object().unwrap() {
            for version in expected["versions"].as_array().unwrap() {
                let (number, file) = (&version["version"], version["expect"].as_str().unwrap());
                let want =
                    dir.lancet(&format!("cat expect/{file} --columns {columns} --format csv")).ok();
                let query = format!("SELECT {columns} FROM 't.lance@{branch}:{number}'");
                assert_eq!(sql(&dir, &query, options).ok(), want, "{name}, {branch}:{number}");
                seen += 1;
            }
        }
    }
    assert!(seen > 10, "{seen}");
}

#[test]
fn tables_are_described_and_summarized() {
    let dir = Dir::new("sql-table-shown");
    unpacked(&dir, "rebased_v20");
    let count = sql(&dir, "SELECT count(*) AS n FROM 't.lance'", "--format csv").ok();
    let keys = sql(&dir, "SELECT count(k) AS n FROM 't.lance'", "--format csv").ok();
    assert_eq!(count, keys);
    let described = sql(&dir, "DESCRIBE 't.lance'", "--format csv").ok();
    assert!(
        described.starts_with("column_name,data_type,is_nullable\nk,Int64,YES\n"),
        "{described}"
    );
    let summary = sql(&dir, "SUMMARIZE 't.lance'", "--format csv").ok();
    let rows = count.lines().nth(1).unwrap();
    let of_keys = summary.lines().nth(1).unwrap();
    assert!(of_keys.starts_with("k,Int64,") && of_keys.contains(&format!(",{rows},")), "{summary}");
    let first = sql(&dir, "FROM 't.lance' LIMIT 1", "--format jsonl --with-row-versions").ok();
    assert_eq!(first.lines().count(), 1);
    assert!(first.contains("\"_row_last_updated_at_version\":"), "{first}");
    let plan = sql(&dir, "EXPLAIN SELECT k FROM 't.lance' WHERE k > 3", "").ok();
    assert!(plan.contains("fragment-") && plan.contains("predicate=k@0 > 3"), "{plan}");
    // Into other formats, and joined with other versions of itself.
    sql(&dir, "SELECT * FROM 't.lance'", "-o out.lance").ok();
    let back = sql(&dir, "SELECT count(*) AS n FROM 'out.lance'", "--format csv").ok();
    assert_eq!(back, count);
    let both = "SELECT count(*) AS n FROM 't.lance' a JOIN 't.lance@1' b USING (k)";
    assert!(sql(&dir, both, "--format csv").ok().starts_with("n\n"));
    let create = "CREATE EXTERNAL TABLE t STORED AS LANCE LOCATION 't.lance/' OPTIONS ('table.version' '1'); \
                  SELECT count(*) AS n FROM t";
    let first = sql(&dir, "SELECT count(k) AS n FROM 't.lance@1'", "--format csv").ok();
    assert_eq!(sql(&dir, create, "--format csv").ok(), first);
}

#[test]
fn errors_say_what_to_do() {
    let dir = Dir::new("sql-table-errors");
    unpacked(&dir, "rebased_v20");
    std::fs::create_dir_all(dir.path("empty.lance/_versions")).unwrap();
    let failed = |query: &str, part: &str| {
        let error = sql(&dir, query, "").failed();
        assert!(error.contains(part), "{query}: {error}");
    };
    failed("SELECT * FROM 't.lance@99'", "there is no version 99; there are versions from 1 to ");
    failed("SELECT * FROM 't.lance@night'", "t.lance: there is no tag and no branch `night`");
    failed("SELECT * FROM 'nobody.lance@3'", "nobody.lance@3: no such file");
    failed("SELECT * FROM 'empty.lance'", "empty.lance: it is not a Lance table");
    failed("SELECT _rowid FROM 't.lance'", "there is no column `_rowid`");
    // Files of a table are not read one by one, however they are named.
    for name in ["t.lance/data/", "t.lance/data/*.lance"] {
        failed(&format!("SELECT count(k) FROM '{name}'"), "is a data file of a Lance table");
    }
    failed("SELECT count(k) FROM '.'", "no file is called so");
    std::fs::remove_dir_all(dir.path("t.lance")).unwrap();
    unpacked(&dir, "broken_data_file_cut");
    failed("SELECT * FROM 't.lance'", "t.lance/data/");
}

/// The rows of a table, sorted: a change moves them.
fn lines(dir: &Dir, table: &str) -> Vec<String> {
    let text = dir.lancet(&format!("cat {table} --format csv")).ok();
    let mut lines: Vec<String> = text.lines().skip(1).map(Into::into).collect();
    lines.sort();
    lines
}

#[test]
fn statements_change_tables() {
    let dir = Dir::new("sql-table-changes");
    dir.write("t.csv", "id,name\n1,a\n2,\n3,c\n");
    dir.write("gone.csv", "id\n3\n7\n");
    // A file, unless a table is asked for.
    let copied = sql(&dir, "COPY (FROM 't.csv') TO 't.lance' OPTIONS (table true)", "--format csv");
    assert_eq!(copied.ok(), "count\n3\n");
    sql(&dir, "COPY (FROM 't.csv') TO 'f.lance'", "").ok();
    assert!(dir.path("f.lance").is_file() && dir.path("t.lance/_versions").is_dir());

    let done = |query: &str, count: u64, told: &str| {
        let ran = sql(&dir, query, "--format csv");
        assert_eq!(ran.stdout, format!("count\n{count}\n"), "{query}: {}", ran.stderr);
        assert_eq!(ran.stderr, format!("{told}\n"), "{query}");
    };
    done("INSERT INTO 't.lance' VALUES (4, 'd')", 1, "t.lance: version 2: 1 row added");
    done("INSERT INTO 't.lance' FROM 't.csv' WHERE id = 1", 1, "t.lance: version 3: 1 row added");
    done(
        "UPDATE 't.lance' SET id = id * 10, name = coalesce(name, 'none') WHERE id > 1",
        3,
        "t.lance: version 4: 3 rows updated",
    );
    assert_eq!(lines(&dir, "t.lance"), ["1,a", "1,a", "20,none", "30,c", "40,d"]);
    done(
        "DELETE FROM 't.lance' WHERE id IN (SELECT id * 10 FROM 'gone.csv')",
        1,
        "t.lance: version 5: 1 row deleted",
    );
    done("DELETE FROM 't.lance' WHERE false", 0, "t.lance: version 5: no rows changed");
    assert_eq!(lines(&dir, "t.lance"), ["1,a", "1,a", "20,none", "40,d"]);
    assert_eq!(lines(&dir, "t.lance --version 1"), ["1,a", "2,", "3,c"]);
    done(
        "INSERT OVERWRITE 't.lance' SELECT id, 'z' FROM 't.lance@1'",
        3,
        "t.lance: version 6: 3 rows added, 4 rows deleted",
    );
    // A script goes on with what it has changed.
    let script = "DELETE FROM 't.lance' WHERE id = 1; INSERT INTO 't.lance' VALUES (9, 'y'); \
                  SELECT sum(id) AS n FROM 't.lance'";
    let ran = sql(&dir, script, "--format csv -q");
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("count\n1\ncount\n1\nn\n14\n", ""));
    let external = "CREATE EXTERNAL TABLE x STORED AS LANCE LOCATION 't.lance/'; \
                    DELETE FROM x WHERE id = 9; SELECT count(*) AS n FROM x";
    let ran = sql(&dir, external, "--format csv");
    assert_eq!(ran.stdout, "count\n1\nn\n2\n", "{}", ran.stderr);
    assert_eq!(ran.stderr, "x: version 9: 1 row deleted\n");
    dir.lancet("verify t.lance --all-versions").ok();

    let before = lines(&dir, "t.lance");
    for (query, part) in [
        (
            "DELETE FROM 't.lance@1' WHERE id = 1",
            "only the newest version of a table can be changed",
        ),
        ("UPDATE 't.lance' SET id = 1 / (id - 2)", "no new value for `id`"),
        ("UPDATE 't.lance' SET nobody = 1", "there is no column `nobody`"),
        ("INSERT INTO 't.lance' SELECT 1", "Column count"),
        (
            "DELETE FROM 'f.lance' WHERE id = 1",
            "f.lance: is a file; make a table of it: lancet table create",
        ),
        ("INSERT INTO 'f.lance' VALUES (1, 'a')", "f.lance: is a file; make a table of it"),
        ("UPDATE 't.csv' SET id = 1", "t.csv: is a file; make a table of it"),
    ] {
        let error = sql(&dir, query, "").failed();
        assert!(error.contains(part), "{query}: {error}");
    }
    assert_eq!(lines(&dir, "t.lance"), before);
}

#[test]
fn tables_in_memory_are_not_changed_row_by_row() {
    let dir = Dir::new("sql-table-memory");
    dir.write("t.csv", "id,name\n1,a\n2,\n3,c\n");
    let with_table = |then: &str| {
        let create = "CREATE TABLE m AS SELECT * FROM 't.csv'; CREATE VIEW v AS SELECT * FROM m";
        sql(&dir, &format!("{create}; {then}"), "--format csv -q")
    };
    for statement in [
        "DELETE FROM m WHERE id IN (SELECT id FROM m WHERE name IS NULL)",
        "DELETE FROM m WHERE false",
        "DELETE FROM m",
        "UPDATE m SET id = 7 WHERE id IN (SELECT max(id) FROM m)",
        "TRUNCATE TABLE m",
        "EXPLAIN DELETE FROM m WHERE id = 1",
        "EXPLAIN ANALYZE DELETE FROM m WHERE id = 1",
        "PREPARE d AS DELETE FROM m WHERE false",
    ] {
        let error = with_table(statement).failed();
        let told = "m: tables in memory are replaced, not changed: CREATE OR REPLACE TABLE m AS ";
        assert!(error.starts_with(told), "{statement}: {error}");
    }
    let error = with_table("DELETE FROM v WHERE id = 1").failed();
    assert_eq!(error, "v: is no table whose rows can be changed");
    let replaced = "INSERT INTO m VALUES (4, 'd'); \
                    CREATE OR REPLACE TABLE m AS SELECT * FROM m WHERE NOT id = 1; \
                    SELECT count(*) AS n FROM m";
    assert_eq!(with_table(replaced).ok(), "count\n1\nn\n3\n");
}

#[test]
fn updates_set_what_they_name() {
    let dir = Dir::new("sql-table-targets");
    dir.write("t.jsonl", "{\"zip\":1,\"address\":{\"zip\":2}}\n");
    dir.lancet("-q table create t.lance t.jsonl").ok();
    for (query, expected) in [
        (
            "UPDATE 't.lance' SET address.zip = 9",
            "column `address.zip`: fields of a struct cannot be set alone; set the whole of `address`",
        ),
        ("EXPLAIN UPDATE 't.lance' SET address.zip = 9", "fields of a struct cannot be set alone"),
        ("PREPARE p AS UPDATE 't.lance' SET address.zip = 9", "cannot be set alone"),
        ("UPDATE 't.lance' SET zip = 3, zip = 4", "column `zip` is set twice"),
    ] {
        let error = sql(&dir, query, "").failed();
        assert!(error.contains(expected), "{query}: {error}");
    }
    let rows = || dir.lancet("cat t.lance --format jsonl").ok();
    assert_eq!(rows(), "{\"zip\":1,\"address\":{\"zip\":2}}\n");
    sql(&dir, "UPDATE 't.lance' AS t SET t.zip = 3", "").ok();
    sql(&dir, "UPDATE 't.lance' SET 't.lance'.zip = zip + 4", "").ok();
    assert_eq!(rows(), "{\"zip\":7,\"address\":{\"zip\":2}}\n");
}

#[test]
fn views_and_prepared_statements_read_the_newest_version() {
    let dir = Dir::new("sql-table-views");
    dir.write("t.csv", "id\n1\n2\n3\n4\n");
    dir.lancet("-q table create t.lance t.csv").ok();
    let script = "CREATE VIEW v AS SELECT id FROM 't.lance' WHERE id > 1; \
                  PREPARE p AS SELECT count(*) AS n FROM 't.lance'; \
                  DELETE FROM 't.lance' WHERE id = 2; \
                  SELECT id FROM v ORDER BY id; EXECUTE p; \
                  INSERT INTO 't.lance' VALUES (5); \
                  DELETE FROM 't.lance' WHERE id IN (SELECT max(id) FROM v); \
                  SELECT id FROM v ORDER BY id";
    let told = "count\n1\nid\n3\n4\nn\n3\ncount\n1\ncount\n1\nid\n3\n4\n";
    assert_eq!(sql(&dir, script, "--format csv -q").ok(), told);
    assert_eq!(lines(&dir, "t.lance"), ["1", "3", "4"]);
}

#[test]
fn updates_that_change_nothing_say_so_once() {
    let dir = Dir::new("sql-table-same");
    dir.write("t.csv", "id\n1\n2\n3\n");
    dir.lancet("-q table create t.lance t.csv").ok();
    let script = "CREATE EXTERNAL TABLE x STORED AS LANCE LOCATION 't.lance/'; \
                  DELETE FROM x WHERE id = 1; UPDATE x SET id = id; UPDATE 't.lance' SET id = id";
    let ran = sql(&dir, script, "--format csv");
    assert_eq!(ran.stdout, "count\n1\ncount\n2\ncount\n2\n", "{}", ran.stderr);
    let told = "x: version 2: 1 row deleted\nx: version 2: no rows changed\n\
                t.lance: version 2: no rows changed\n";
    assert_eq!(ran.stderr, told);
}

#[test]
fn refusals_name_the_cause() {
    let dir = Dir::new("sql-table-causes");
    dir.write("t.csv", "id,n\n1,1\n2,2\n");
    dir.write("s.csv", "id,n\n1,7\n1,8\n");
    dir.lancet("-q table create t.lance t.csv").ok();
    let merge = "MERGE INTO 't.lance' t USING 's.csv' s ON t.id = s.id \
                 WHEN MATCHED THEN UPDATE SET n = s.n";
    let error = sql(&dir, merge, "").failed();
    assert!(error.contains("several rows of the source match that one row"), "{error}");
    let error = sql(&dir, "FROM 's3://b/a.lance'", "").failed();
    assert!(error.starts_with("s3://b/a.lance: queries read files on disk"), "{error}");
    for other in [
        "COPY (SELECT 1 AS n) TO 's3://b/a.lance'",
        "CREATE EXTERNAL TABLE t STORED AS LANCE LOCATION 's3://b/a.lance'",
    ] {
        let error = sql(&dir, other, "").failed();
        assert_eq!(error, "s3://b/a.lance: queries read and write files on disk");
    }
    let url = format!("FROM 'file://{}'", dir.path("t.csv").display());
    assert_eq!(sql(&dir, &url, "--format csv").ok(), "id,n\n1,1\n2,2\n");
}
