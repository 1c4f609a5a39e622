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
fn threads_that_cannot_be_started_are_told() {
    let dir = dir("sql-threads");
    let mut command = dir.command("sql");
    // Stacks that are too large for any thread but the first.
    command.env("RUST_MIN_STACK", (1_u64 << 50).to_string());
    let ran = command.arg("SELECT * FROM 'people.lance'").output().unwrap();
    let message = Ran::new("without threads", ran).failed();
    assert!(message.starts_with("cannot start the threads of the query"), "{message}");
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

/// Sorts put -0 before 0 and comparisons do not, so that rows were left out as it happened.
#[test]
fn zeros_are_the_same_in_every_run() {
    let dir = dir("sql-zeros");
    let zero = "0.0::DOUBLE";
    let copy = format!(
        "COPY (SELECT CASE value % 3 WHEN 0 THEN -{zero} ELSE {zero} END AS f, \
         CASE WHEN value < 180000 THEN {zero} ELSE -{zero} END::REAL AS r \
         FROM generate_series(1, 200000)) TO 'zeros.lance'"
    );
    sql(&dir, &copy, "").ok();
    for _ in 0..10 {
        for (column, order, first) in
            [("f", "", "-0.0"), ("r", "", "-0.0"), ("f", "DESC", "0.0"), ("r", "DESC", "0.0")]
        {
            let query =
                format!("SELECT {column} AS v FROM 'zeros.lance' ORDER BY v {order} LIMIT 2");
            let found = sql(&dir, &query, "--format csv --threads 4").ok();
            assert_eq!(found, format!("v\n{first}\n{first}\n"), "{query}");
        }
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
fn one_answer_is_one_table() {
    let dir = dir("sql-one-table");
    // Each branch is a batch of its own.
    let query = "SELECT 1 AS n, 'short' AS text UNION ALL SELECT 22222, 'a longer one'";
    let table = sql(&dir, &format!("{query} ORDER BY n"), "").ok();
    let expected = "\
╭───────┬──────────────╮
│     n ┆ text         │
╞═══════╪══════════════╡
│     1 ┆ short        │
│ 22222 ┆ a longer one │
╰───────┴──────────────╯
2 rows
";
    assert_eq!(table, expected);
    let table = sql(&dir, "SELECT * FROM generate_series(1, 20000)", "--limit 20000").ok();
    assert_eq!(table.matches(['╭', '╰', '╞']).count(), 3);
    assert!(table.ends_with("\n20,000 rows\n"));
    let table = sql(&dir, "FROM 'people.lance' UNION ALL FROM 'people.lance'", "").ok();
    assert_eq!((table.matches('╭').count(), table.matches("ada").count()), (1, 2), "{table}");
}

#[test]
fn a_table_alone_is_all_of_it() {
    let dir = dir("sql-from");
    let csv = |query: &str| sql(&dir, query, "--format csv").ok();
    assert_eq!(csv("FROM 'people.lance' LIMIT 2"), "id,name,city\n1,ada,1\n2,bob,2\n");
    assert_eq!(csv("FROM 'people.lance' WHERE id = 3"), "id,name,city\n3,cy,1\n");
    assert_eq!(csv("FROM 'people.lance' SELECT name LIMIT 1"), "name\nada\n");
    assert_eq!(csv("WITH t AS (FROM 'people.lance') SELECT max(id) AS n FROM (FROM t)"), "n\n3\n");
    csv("COPY (FROM 'people.lance') TO 'all.csv'");
    assert_eq!(dir.read("all.csv"), dir.read("people.csv"));
}

#[test]
fn columns_are_called_what_was_written() {
    let dir = dir("sql-names");
    let header = |query: &str| {
        let csv = sql(&dir, query, "--format csv").ok();
        csv.lines().next().unwrap().to_owned()
    };
    assert_eq!(
        header("SELECT sum(id), COUNT(*), max(p.Id) + 1, 'x', 1.5 FROM 'people.lance' p"),
        "sum(id),count(*),max(id) + 1,'x',1.5"
    );
    assert_eq!(header("SELECT city, sum(id) FROM 'people.lance' GROUP BY city"), "city,sum(id)");
    // They can be sorted, grouped and asked for by the expression, and by the name.
    assert_eq!(
        sql(
            &dir,
            "SELECT DISTINCT id % 2 FROM 'people.lance' GROUP BY id % 2 ORDER BY id % 2 DESC",
            "--format csv"
        )
        .ok(),
        "id % 2\n1\n0\n"
    );
    let nested = "SELECT \"sum(id)\" FROM (SELECT sum(id) FROM 'people.lance')";
    assert_eq!(sql(&dir, nested, "--format csv").ok(), "sum(id)\n6\n");
    // Only what would be the same name is told apart.
    let join = "FROM 'people.lance' p JOIN 'cities.parquet' c ON c.id = p.city";
    assert_eq!(header(&format!("SELECT p.name, c.id {join}")), "name,id");
    assert_eq!(header(&format!("SELECT p.id, c.id, city {join}")), "p.id,c.id,city");
    assert_eq!(header(&format!("SELECT sum(p.id), sum(c.id) {join}")), "sum(id),sum(c.id)");
    assert_eq!(
        header("SELECT id, id, id + 1, id + 1 FROM 'people.lance'"),
        "id,id_1,id + 1,id + 1_1"
    );
    assert_eq!(header("SELECT unnest(['a'])"), "UNNEST(make_array('a'))");
    dir.write("deep.jsonl", "{\"at\":{\"x\":1}}\n");
    assert_eq!(header("SELECT d.at['x'], at['x'] + 1 FROM 'deep.jsonl' d"), "at['x'],at['x'] + 1");
    assert_eq!(header("SELECT d.at.x FROM 'deep.jsonl' d"), "at[x]");
}

#[test]
fn expressions_without_a_name_can_be_written() {
    let dir = dir("sql-names-written");
    let csv = |file: &str| dir.lancet(&format!("cat {file} --format csv")).ok();
    sql(&dir, "COPY (SELECT id+1 FROM 'people.lance') TO 'o.lance'", "").ok();
    assert_eq!(csv("o.lance"), "id + 1\n2\n3\n4\n");
    sql(
        &dir,
        "SELECT count(*), id * 1.5 FROM 'people.lance' GROUP BY id ORDER BY id",
        "-o o.lance",
    )
    .ok();
    assert_eq!(csv("o.lance"), "count(*),id * 1_5\n1,1.5\n1,3.0\n1,4.5\n");
    let join = "SELECT * FROM 'people.lance' p JOIN 'cities.parquet' c ON c.id = p.city";
    let sorted = format!("{join} WHERE p.id = 2");
    sql(&dir, &sorted, "-o o.lance").ok();
    assert_eq!(csv("o.lance"), "p_id,p_name,city,c_id,c_name\n2,bob,2,2,Oslo\n");
    sql(&dir, &format!("COPY ({sorted}) TO 'o.parquet'"), "").ok();
    assert_eq!(csv("o.parquet"), "p.id,p.name,city,c.id,c.name\n2,bob,2,2,Oslo\n");
}

#[test]
fn every_answer_is_shown() {
    let dir = dir("sql-answers");
    let script =
        "SELECT 1 AS a; CREATE TABLE t AS FROM 'people.lance'; SELECT count(*) AS b FROM t;";
    assert_eq!(sql(&dir, script, "--format csv").ok(), "a\n1\nb\n3\n");
    let created = sql(&dir, "CREATE TABLE t AS SELECT 1", "").ok();
    assert_eq!(created, "");
    // The last one goes to the file.
    let shown = sql(&dir, script, "-o last.csv").ok();
    assert!(shown.contains(" a ") && !shown.contains(" b "), "{shown}");
    assert_eq!(dir.read("last.csv"), "b\n3\n");
    let error = sql(&dir, "CREATE TABLE t AS SELECT 1", "-o none.csv").failed();
    assert_eq!(error, "none.csv: the last statement gives no rows to write; end with a SELECT");
    // The first error ends it, and what is no SQL is found before anything runs.
    let ran = sql(&dir, "SELECT 1 AS a; SELECT nothing; SELECT 2 AS b", "--format csv");
    assert_eq!(ran.stdout, "a\n1\n");
    assert!(ran.failed().contains("nothing"));
    let ran = sql(&dir, "SELECT 1 AS a; SELEC 2", "--format csv");
    assert_eq!(ran.stdout, "");
    assert!(ran.failed().starts_with("line 1, column 16: "));
}

#[test]
fn scripts_from_files_and_pipes() {
    let dir = dir("sql-scripts");
    dir.write("script.sql", "-- two answers\nSELECT 1 AS a;\nSELECT 2 AS b\n");
    let expected = "a\n1\nb\n2\n";
    assert_eq!(dir.lancet("sql --file script.sql --format csv").ok(), expected);
    for args in ["sql --format csv", "sql - --format csv"] {
        let script = std::fs::File::open(dir.path("script.sql")).unwrap();
        let output = dir.command(args).stdin(script).output().unwrap();
        assert_eq!(Ran::new(args, output).ok(), expected);
    }
    assert_eq!(dir.lancet("sql --file none.sql").failed(), "none.sql: no such file");
    assert!(dir.lancet("sql").failed().starts_with("there is no query; try: "));
}

#[test]
fn memory_is_limited_and_the_rest_goes_to_disk() {
    let dir = dir("sql-memory");
    let query = "SELECT value * 7919 % 600011 AS id, repeat('x', 40) AS text \
                 FROM generate_series(1, 600000) ORDER BY id";
    let limit = "--memory-limit 32MB --threads 2";
    sql(&dir, query, &format!("-o sorted.csv {limit}")).ok();
    let sorted = dir.read("sorted.csv");
    let ids: Vec<u64> = sorted
        .lines()
        .skip(1)
        .map(|line| line.split_once(',').unwrap().0.parse().unwrap())
        .collect();
    assert!(ids.len() == 600_000 && ids.is_sorted());
    let plan = sql(&dir, &format!("EXPLAIN ANALYZE {query}"), limit).ok();
    let sort = plan.lines().find(|line| line.contains("SortExec: ")).unwrap();
    assert!(sort.contains("spill_count=") && !sort.contains("spill_count=0"), "{plan}");
    let error = sql(&dir, query, "--memory-limit 100kB").failed();
    assert!(error.contains("--memory-limit"), "{error}");
    let ran = sql(&dir, query, "--memory-limit lots");
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("`lots` is no size"), "{}", ran.stderr);
}

#[test]
fn zone_maps_can_be_left_out() {
    let dir = dir("sql-zones");
    let numbers = "SELECT value * 1000 + value * 7919 % 997 AS id FROM generate_series(1, 400000)";
    sql(&dir, &format!("COPY ({numbers}) TO 'n.lance'"), "").ok();
    for table in ["'n.lance'", "t"] {
        let query = format!(
            "CREATE EXTERNAL TABLE t STORED AS LANCE LOCATION 'n.lance'; \
             EXPLAIN ANALYZE SELECT id FROM {table} WHERE id = 1940"
        );
        let pruned = sql(&dir, &query, "").ok();
        assert!(!pruned.contains("zones_pruned=0"), "{pruned}");
        let whole = sql(&dir, &query, "--no-zone-maps").ok();
        assert!(whole.contains("zones_pruned=0"), "{whole}");
    }
    let found =
        sql(&dir, "SELECT id FROM 'n.lance' WHERE id = 1940", "--no-zone-maps --format csv");
    assert_eq!(found.ok(), "id\n1940\n");
}

#[test]
fn summaries_and_descriptions() {
    let dir = dir("sql-summaries");
    dir.write(
        "t.jsonl",
        "{\"n\":1,\"f\":0.5,\"s\":\"b\",\"l\":[1]}\n{\"n\":3,\"f\":null,\"s\":\"a\",\"l\":[2]}\n",
    );
    dir.lancet("convert t.jsonl t.lance").ok();
    let csv = |query: &str| sql(&dir, query, "--format csv").ok();
    let summary = csv("SUMMARIZE 't.lance'");
    let expected = "\
column_name,column_type,min,max,approx_unique,avg,count,null_percentage
n,Int64,1,3,2,2.0,2,0.0
f,Float64,0.5,0.5,1,0.5,2,50.0
s,Utf8,a,b,2,,2,0.0
l,List(Int64),,,,,2,0.0
";
    assert_eq!(summary, expected);
    let of_query = csv("SUMMARIZE SELECT n + 1 FROM 't.lance' WHERE n > 1");
    assert_eq!(of_query.lines().nth(1).unwrap(), "n + 1,Int64,4,4,1,4.0,1,0.0");
    let none = csv("SUMMARIZE SELECT n FROM 't.lance' WHERE n > 9");
    assert_eq!(none.lines().nth(1).unwrap(), "n,Int64,,,0,,0,0.0");
    let expected = "column_name,data_type,is_nullable\nn,Int64,YES\nf,Float64,YES\ns,Utf8,YES\n";
    assert!(csv("DESCRIBE 't.lance'").starts_with(expected), "{}", csv("DESCRIBE 't.lance'"));
    assert_eq!(
        csv("DESCRIBE SELECT sum(n) FROM 't.lance'"),
        "column_name,data_type,is_nullable\nsum(n),Int64,YES\n"
    );
}

#[test]
fn rows_come_in_the_order_of_the_files() {
    let dir = dir("sql-order");
    for (name, start) in [("b", 30_001), ("a", 1), ("c", 60_001)] {
        let numbers = format!("SELECT value AS id FROM generate_series({start}, {start} + 29999)");
        sql(&dir, &format!("COPY ({numbers}) TO 'n-{name}.lance'"), "").ok();
    }
    let ids = |query: &str| -> Vec<u64> {
        // Parts of files, however small.
        let cut = "SET datafusion.optimizer.repartition_file_min_size = 1";
        let csv = sql(&dir, &format!("{cut}; {query}"), "--format csv --threads 4").ok();
        csv.lines().skip(1).map(|line| line.parse().unwrap()).collect()
    };
    let plan = sql(
        &dir,
        "SET datafusion.optimizer.repartition_file_min_size = 1; EXPLAIN FROM 'n-*.lance'",
        "--threads 4",
    );
    assert!(plan.ok().contains("4 groups"));
    for _ in 0..5 {
        assert_eq!(ids("FROM 'n-*.lance' LIMIT 1"), [1]);
        assert!(ids("FROM 'n-*.lance' LIMIT 70000").into_iter().eq(1..=70_000));
        assert!(ids("FROM 'n-*.lance' LIMIT 10 OFFSET 45000").into_iter().eq(45_001..=45_010));
        assert_eq!(ids("FROM 'n-*.lance' WHERE id % 1000 = 0 LIMIT 3"), [1000, 2000, 3000]);
    }
    assert!(ids("FROM 'n-*.lance'").into_iter().eq(1..=90_000));
    assert!(
        ids("FROM 'n-b.lance' UNION ALL FROM 'n-c.lance'").into_iter().eq(30_001..=90_000),
        "one query after the other"
    );
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
    contains("SELECT * FROM 'set.lance'", "set.lance: it is not a Lance table");
    contains("SELECT * FROM 'x*.lance'", "x*.lance: no file");
    let is = |query: &str, message: &str| assert_eq!(failed(query), message, "{query}");
    is(
        "SELECT nam FROM 'people.lance'",
        "there is no column `nam`; did you mean `name`? There are: id, name, city",
    );
    is(
        "SELECT x.street FROM 'people.lance' x",
        "there is no column `x.street`; there are: id, name, city",
    );
    dir.write("upper.csv", "ID\n1\n");
    is(
        "SELECT id FROM 'upper.csv'",
        "there is no column `id`; write \"ID\" with double quotes, which keep capital letters; \
         there are: ID",
    );
    is(
        "SELECT id FROM 'people.lance' a, 'people.lance' b",
        "more than one table has a column `id`; write which one is meant, as in t.id",
    );
    is("SELEC 1", "line 1, column 1: expected an SQL statement, found SELEC");
    is(
        "SELECT 1\nFRM x y",
        "line 2, column 5: expected the end of the statement or a semicolon, found x",
    );
    is("SELECT (1", "expected ), found the end of the query");
    contains("", "there is no query");
    let error = sql(&dir, "SELECT 1", "-o out.txt").failed();
    assert!(error.contains("unknown ending"), "{error}");
    dir.write(
        "bad.lance",
        "not a Lance file at all, but long enough to have a footer of forty bytes",
    );
    contains("SELECT * FROM 'bad.lance'", "bad.lance");
    // No error shows how a query is represented inside.
    for query in [
        "SELECT name + 1 FROM 'people.lance'",
        "SELECT sum(name) FROM 'people.lance'",
        "SELECT nofunction(id) FROM 'people.lance'",
        "SELECT id FROM 'people.lance' WHERE name",
        "SELECT id FROM 'people.lance' WHERE id = DATE '2024-13-45'",
        "SELECT id, count(*) FROM 'people.lance'",
        "SELECT CAST(name AS INT) FROM 'people.lance'",
        "SELECT id FROM 'people.lance' LIMIT x",
        "SELECT id FROM 'people.lance' ORDER BY 7",
        "SELECT id FROM 'people.lance' HAVING id > 1",
        "SELECT 1 UNION ALL SELECT 1, 2",
        "INSERT INTO nowhere VALUES (1)",
        "MERGE INTO t USING s ON t.a = s.a WHEN MATCHED THEN DELETE",
        "SELECT * FROM 'people.lance' PIVOT (sum(id) FOR name IN ('a'))",
        "SELECT id[1] FROM 'people.lance'",
        "SELECT DATE 'x'",
        "SELECT 1 / 0",
        "GRANT ALL ON x TO y",
        "SELECT id FROM 'people.lance' GROUP BY ROLLUP(x)",
        "UPDATE t SET a = 1",
    ] {
        let error = failed(query);
        let tree = [" { ", "Span(", "Ident", "Some(", "Token", "Schema error", "DataFusionError"];
        assert!(!tree.iter().any(|part| error.contains(part)), "{query}: {error}");
    }
    is(
        "SELECT name + 1 FROM 'people.lance'",
        "Cannot coerce arithmetic expression Utf8 + Int64 to valid types",
    );
    is(
        "SELECT sum(name) FROM 'people.lance'",
        "there is no function sum(Utf8); CAST(… AS …) changes the type of an argument",
    );
    is(
        "SELECT name, count(*) FROM 'people.lance' p",
        "column p.name has to be in GROUP BY, or inside of a function such as max or count",
    );
}
