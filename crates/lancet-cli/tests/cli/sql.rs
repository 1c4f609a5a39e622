//! Queries over files.

use crate::lancet::{Dir, Ran};

fn dir(name: &str) -> Dir {
    let dir = Dir::new(name);
    dir.write("people.csv", "id,name,city\n1,ada,1\n2,bob,2\n3,cy,1\n");
    dir.write("cities.csv", "id,name\n1,Rome\n2,Oslo\n");
    dir.lancet("convert people.csv people.lance").ok();
    dir.lancet("convert cities.csv cities.parquet").ok();
    dir
}

fn sql(dir: &Dir, query: &str, options: &str) -> Ran {
    let output = dir.command("sql").arg(query).args(options.split_whitespace()).output().unwrap();
    Ran::new(query, output)
}

#[test]
fn lance_beside_parquet_in_all_formats() {
    let dir = dir("sql-formats");
    let query = "SELECT p.name, c.name AS city FROM 'people.lance' p \
                 JOIN 'cities.parquet' c ON c.id = p.city WHERE p.id <> 2 ORDER BY p.name";
    assert_eq!(sql(&dir, query, "--format csv").ok(), "name,city\nada,Rome\ncy,Rome\n");
    let jsonl = "{\"name\":\"ada\",\"city\":\"Rome\"}\n{\"name\":\"cy\",\"city\":\"Rome\"}\n";
    assert_eq!(sql(&dir, query, "--format jsonl").ok(), jsonl);
    let table = sql(&dir, query, "").ok();
    assert!(table.contains("ada") && table.ends_with("\n2 rows\n"), "{table}");
    for out in ["out.lance", "out.parquet", "out.arrow", "out.csv", "out.jsonl"] {
        assert_eq!(sql(&dir, query, &format!("-o {out}")).ok(), "");
        let back = dir.lancet(&format!("cat {out} --format csv")).ok();
        assert_eq!(back, "name,city\nada,Rome\ncy,Rome\n", "{out}");
        // And what was written can be asked again.
        let count = sql(&dir, &format!("SELECT count(*) AS n FROM '{out}'"), "--format csv").ok();
        assert_eq!(count, "n\n2\n", "{out}");
    }
}

#[test]
fn patterns_folders_and_partitions() {
    let dir = dir("sql-patterns");
    for year in [2024, 2025] {
        std::fs::create_dir_all(dir.path(&format!("data/year={year}"))).unwrap();
        dir.lancet(&format!("convert people.csv data/year={year}/a.lance")).ok();
    }
    dir.lancet("convert people.csv people-2.lance").ok();
    let count =
        |table: &str| sql(&dir, &format!("SELECT count(*) AS n FROM {table}"), "--format csv").ok();
    assert_eq!(count("'people*.lance'"), "n\n6\n");
    assert_eq!(count("'data/' WHERE year = '2025'"), "n\n3\n");
    assert_eq!(
        count("(SELECT * FROM 'people.csv' UNION ALL SELECT * FROM 'people.lance')"),
        "n\n6\n"
    );
}

#[test]
fn statements_limits_and_plans() {
    let dir = dir("sql-statements");
    let statements = "CREATE TABLE t AS SELECT * FROM 'people.lance' WHERE id > 1; \
                      SELECT count(*) AS n FROM t";
    assert_eq!(sql(&dir, statements, "--format csv").ok(), "n\n2\n");
    let ran = sql(&dir, "SELECT * FROM generate_series(1, 500)", "");
    assert!(ran.stderr.contains("there are more than 100 rows; see --limit"), "{}", ran.stderr);
    assert!(ran.ok().ends_with("\n100 rows\n"));
    let ran = sql(&dir, "SELECT * FROM generate_series(1, 500)", "--limit 200");
    assert_eq!(ran.stderr, "");
    assert!(ran.ok().ends_with("\n200 rows\n"));
    let none = sql(&dir, "SELECT id FROM 'people.lance' WHERE id > 7", "").ok();
    assert!(none.contains("id") && none.ends_with("\n0 rows\n"), "{none}");
    let plan = sql(&dir, "EXPLAIN ANALYZE SELECT id FROM 'people.lance' WHERE id = 2", "").ok();
    assert!(plan.contains("file_type=lance") && plan.contains("bytes_scanned="), "{plan}");
    sql(&dir, "COPY (SELECT id FROM 'people.lance') TO 'copied.lance'", "").ok();
    assert_eq!(dir.lancet("cat copied.lance --format csv").ok(), "id\n1\n2\n3\n");
}

#[test]
fn errors_say_what_to_do() {
    let dir = dir("sql-errors");
    dir.write("note.txt", "hello");
    std::fs::create_dir_all(dir.path("set.lance/_versions")).unwrap();
    let failed = |query: &str| sql(&dir, query, "").failed();
    let contains = |query: &str, part: &str| {
        let error = failed(query);
        assert!(error.contains(part), "{query}: {error}");
    };
    contains("SELECT * FROM 'nobody.lance'", "nobody.lance: no such file");
    contains("SELECT * FROM people", "FROM 'data.lance'");
    contains("SELECT * FROM people.lance", "FROM 'data.lance'");
    contains("SELECT * FROM 'note.txt'", "unknown ending");
    contains("SELECT * FROM 'set.lance'", "set.lance/data/");
    contains("SELECT * FROM 'x*.lance'", "x*.lance: no file");
    contains("SELECT nam FROM 'people.lance'", "name");
    contains("SELEC 1", "SELEC");
    contains("", "there is no query");
    let error = sql(&dir, "SELECT 1", "-o out.txt").failed();
    assert!(error.contains("unknown ending"), "{error}");
    dir.write(
        "bad.lance",
        "not a Lance file at all, but long enough to have a footer of forty bytes",
    );
    contains("SELECT * FROM 'bad.lance'", "bad.lance");
}
