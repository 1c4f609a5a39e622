//! The verbs of `lancet table`, from the first file to the last cleanup.

use std::io::Write;
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};

use crate::lancet::{Dir, Ran};

/// A folder with a table of three rows, in two files.
fn with_table(name: &str) -> Dir {
    let dir = Dir::new(name);
    dir.write("t.csv", "id,name,price\n1,one,1.5\n2,two,2.5\n3,three,\n");
    let made = report(&dir, "create t t.csv --max-rows-per-file 2");
    assert_eq!((&made["version"], &made["rows_inserted"]), (&json!(1), &json!(3)));
    dir
}

/// What a verb says of itself as JSON.
#[track_caller]
fn report(dir: &Dir, args: &str) -> Value {
    serde_json::from_str(&dir.lancet(&format!("table {args} --json")).ok()).unwrap()
}

/// Words that hold spaces.
fn words(dir: &Dir, words: &[&str]) -> Ran {
    let mut command = dir.command("table");
    Ran::new(&words.join(" "), command.args(words).output().unwrap())
}

/// The rows of a table, sorted: a change moves them.
#[track_caller]
fn rows(dir: &Dir, what: &str) -> Vec<String> {
    let text = dir.lancet(&format!("cat {what} --format csv")).ok();
    let mut lines: Vec<String> = text.lines().skip(1).map(Into::into).collect();
    lines.sort();
    lines
}

#[track_caller]
fn versions(dir: &Dir) -> Vec<u64> {
    let history: Value = serde_json::from_str(&dir.lancet("versions t --json").ok()).unwrap();
    let versions = history["versions"].as_array().unwrap().iter();
    versions.map(|version| version["version"].as_u64().unwrap()).collect()
}

/// The change that was refused left the table as it was, and it is sound.
#[track_caller]
fn assert_untouched(dir: &Dir, before: &[String]) {
    assert_eq!(rows(dir, "t"), before);
    assert_eq!(versions(dir), [1]);
    dir.lancet("verify t").ok();
}

const THREE: [&str; 3] = ["1,one,1.5", "2,two,2.5", "3,three,"];

#[test]
fn table_verbs_create_from_files() {
    let dir = with_table("tv-create");
    assert_eq!(rows(&dir, "t"), THREE);
    assert_eq!(
        dir.lancet("inspect t --json").ok().matches("\"physical_rows\"").count(),
        2,
        "files of two rows"
    );
    dir.lancet("verify t").ok();

    // Several files by a pattern, in another format and version, with stable row ids.
    dir.lancet("-q convert t.csv part-1.parquet").ok();
    dir.lancet("-q convert t.csv part-2.parquet").ok();
    let ran = words(
        &dir,
        &[
            "create",
            "s",
            "part-*.parquet",
            "--stable-row-ids",
            "--storage-version",
            "2.1",
            "-m",
            "two parts",
        ],
    );
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{}", ran.stderr);
    assert_eq!(ran.stderr, "s: version 1: 6 rows added\n");
    assert_eq!(rows(&dir, "s").len(), 6);
    let inspected = dir.lancet("inspect s --json").ok();
    assert!(inspected.contains("2.1") && !inspected.contains("2.2"), "{inspected}");
    assert_eq!(dir.lancet("cat s -c _rowid --format csv").ok(), "_rowid\n0\n1\n2\n3\n4\n5\n");

    // From a pipe.
    let piped = dir.piped("table create p - --from csv -q", "a\n7\n");
    assert!(piped.status.success() && piped.stderr.is_empty(), "{piped:?}");
    assert_eq!(rows(&dir, "p"), ["7"]);
}

#[test]
fn table_verbs_create_refuses() {
    let dir = with_table("tv-create-refused");
    let there = dir.lancet("table create t t.csv").failed();
    assert!(
        there.starts_with("t: there is a table already; add rows with `lancet table append`"),
        "{there}"
    );
    assert_untouched(&dir, &THREE.map(String::from));
    let file = dir.lancet("table create t.csv t.csv").failed();
    assert!(file.starts_with("t.csv: a table is a folder: "), "{file}");
    let missing = dir.lancet("table create n none.csv").failed();
    assert!(missing.contains("none.csv") && !dir.path("n").exists(), "{missing}");
    // Rows that end with an error leave no version.
    dir.write("bad.csv", "a,b\n1,2\n3\n");
    let bad = dir.lancet("table create n bad.csv").failed();
    assert!(bad.starts_with("bad.csv: "), "{bad}");
    assert!(!dir.path("n/_versions").exists());
    let usage = dir.lancet("table create n t.csv --storage-version 3.0");
    assert_eq!(usage.code, 2, "{}", usage.stderr);
    let url = dir.lancet("table create s3://bucket/t t.csv").failed();
    assert!(url.contains("tables in stores"), "{url}");
}

#[test]
fn table_verbs_append() {
    let dir = with_table("tv-append");
    // Columns in another order, one missing, and values that a file alone would read otherwise.
    dir.write("more.csv", "name,id\n007,4\n,5\n");
    let done = report(&dir, "append t more.csv -m more");
    assert_eq!(
        done,
        json!({"table": "t", "verb": "append", "version": 2, "rows_inserted": 2, "rows_updated": 0, "rows_deleted": 0})
    );
    assert_eq!(rows(&dir, "t"), ["1,one,1.5", "2,two,2.5", "3,three,", "4,007,", "5,,"]);
    assert_eq!(rows(&dir, "t --version 1"), THREE);
    dir.write("more.jsonl", "{\"id\":6,\"price\":1}\n");
    assert_eq!(report(&dir, "append t more.jsonl")["version"], 3);
    assert_eq!(rows(&dir, "t").last().unwrap(), "6,,1.0");
    // A table is a source as well.
    assert_eq!(report(&dir, "append t t")["rows_inserted"], 6);
    assert_eq!(rows(&dir, "t").len(), 12);
    dir.lancet("verify t").ok();
}

#[test]
fn table_verbs_append_refuses() {
    let dir = with_table("tv-append-refused");
    let before = THREE.map(String::from);
    let missing = dir.lancet("table append none t.csv").failed();
    assert!(missing.starts_with("none: "), "{missing}");
    dir.write("other.csv", "id,nmae\n1,x\n");
    let unknown = dir.lancet("table append t other.csv").failed();
    assert!(unknown.contains("nmae"), "{unknown}");
    dir.write("text.csv", "id\nx\n");
    let text = dir.lancet("table append t text.csv").failed();
    assert!(
        text.starts_with("text.csv: ") && text.contains("column `id`: `x` is no int64"),
        "{text}"
    );
    dir.lancet("-q convert t.csv t.arrow --types id=string").ok();
    let typed = dir.lancet("table append t t.arrow").failed();
    assert!(typed.contains("`id`") && typed.contains("Int64") && typed.contains("Utf8"), "{typed}");
    assert_untouched(&dir, &before);
}

#[test]
fn table_verbs_overwrite_and_restore() {
    let dir = with_table("tv-overwrite");
    dir.write("new.csv", "k\nx\n");
    let done = report(&dir, "overwrite t new.csv");
    assert_eq!(
        (&done["version"], &done["rows_inserted"], &done["rows_deleted"]),
        (&json!(2), &json!(1), &json!(3))
    );
    assert_eq!(rows(&dir, "t"), ["x"]);
    let none = dir.lancet("table restore t");
    assert!(none.code == 2 && none.stderr.contains("--version 3 or --tag NAME"), "{}", none.stderr);
    let missing = dir.lancet("table restore t --version 9").failed();
    assert!(missing.contains('9'), "{missing}");
    let done = report(&dir, "restore t --version 1");
    assert_eq!((&done["version"], &done["restored"]), (&json!(3), &json!(1)));
    assert_eq!(rows(&dir, "t"), THREE);
    assert_eq!(versions(&dir), [1, 2, 3]);
    let missing = dir.lancet("table overwrite none new.csv").failed();
    assert!(missing.starts_with("none: "), "{missing}");
}

#[test]
fn table_verbs_delete() {
    let dir = with_table("tv-delete");
    let ran = words(&dir, &["delete", "t", "--where", "price IS NULL OR name = 'one'", "--json"]);
    let done: Value = serde_json::from_str(&ran.ok()).unwrap();
    assert_eq!((&done["rows_deleted"], &done["version"]), (&json!(2), &json!(2)));
    assert_eq!(rows(&dir, "t"), ["2,two,2.5"]);
    assert_eq!(rows(&dir, "t --version 1"), THREE);
    // Nothing to do makes no version.
    let ran = words(&dir, &["delete", "t", "--where", "id NOT IN (2)"]);
    assert_eq!(ran.stderr, "t: version 2: no rows changed\n");
    assert_eq!(versions(&dir), [1, 2]);

    report(&dir, "restore t --version 1");
    assert_eq!(report(&dir, "delete t --rows 0,2")["rows_deleted"], 2);
    assert_eq!(rows(&dir, "t"), ["2,two,2.5"]);
    let ids = dir.lancet("cat t -c _rowid --format csv").ok();
    let id = ids.lines().nth(1).unwrap();
    assert_eq!(report(&dir, &format!("delete t --row-ids {id},99"))["rows_deleted"], 1);
    assert_eq!(rows(&dir, "t"), [""; 0]);
    dir.lancet("verify t").ok();
}

#[test]
fn table_verbs_delete_refuses() {
    let dir = with_table("tv-delete-refused");
    let unknown = words(&dir, &["delete", "t", "--where", "prize > 1"]).failed();
    assert_eq!(unknown, "t: there is no column `prize`; there are id, name, price");
    let range = dir.lancet("table delete t --rows 3").failed();
    assert_eq!(range, "t: row 3 does not exist; the file has 3 rows");
    for usage in [
        &["delete", "t"][..],
        &["delete", "t", "--where", "price >"],
        &["delete", "t", "--where", "id = 1", "--rows", "0"],
    ] {
        let ran = words(&dir, usage);
        assert_eq!(ran.code, 2, "{usage:?}: {}", ran.stderr);
    }
    assert_untouched(&dir, &THREE.map(String::from));
}

/// Without SQL it is said how to get it, in one line.
#[cfg(not(feature = "sql"))]
#[test]
fn table_verbs_say_how_to_get_sql() {
    let dir = with_table("tv-no-sql");
    for needs_sql in [
        &["delete", "t", "--where", "length(name) > 3"][..],
        &["update", "t", "--set", "price = price + 1", "--all"],
        &["update", "t", "--set", "price=1", "--where", "id + 1 = 2"],
        &["add-column", "t", "--name", "x", "--expr", "id + 1"],
    ] {
        let ran = words(&dir, needs_sql);
        assert_eq!(ran.code, 2, "{needs_sql:?}");
        let said = ran.stderr.lines().filter(|line| line.contains("--features sql")).count();
        assert_eq!(said, 1, "{}", ran.stderr);
    }
    assert_untouched(&dir, &THREE.map(String::from));
}

#[cfg(feature = "sql")]
#[test]
fn table_verbs_with_any_sql() {
    let dir = with_table("tv-sql");
    let done = |args: &[&str]| {
        let ran = words(&dir, &[args, &["--json"]].concat());
        serde_json::from_str::<Value>(&ran.ok()).unwrap()
    };
    // Conditions that are null hold for no row.
    let change = done(&["delete", "t", "--where", "length(name) > 3 OR price * 2 > 100"]);
    assert_eq!((&change["rows_deleted"], &change["version"]), (&json!(1), &json!(2)));
    let change = done(&["delete", "t", "--where", "NOT (price * 2 < 100 AND id % 2 = 1)"]);
    assert_eq!(change["rows_deleted"], 1);
    assert_eq!(rows(&dir, "t"), ["1,one,1.5"]);
    done(&["restore", "t", "--version", "1"]);
    assert_eq!(
        done(&["delete", "t", "--where", "price * 2 < 100 AND price <> NULL"])["version"],
        4
    );

    // All values are those from before, and cast to what the column is.
    let change = done(&[
        "update",
        "t",
        "--set",
        "id = id * 10",
        "--set",
        "name = upper(name) || id",
        "--set",
        "price = id + 1",
        "--where",
        "lower(name) LIKE 't%'",
    ]);
    assert_eq!(change["rows_updated"], 2);
    assert_eq!(rows(&dir, "t"), ["1,one,1.5", "20,TWO2,3.0", "30,THREE3,4.0"]);
    let change = done(&["update", "t", "--set", "name='x'", "--set", "price = price / 2", "--all"]);
    assert_eq!(change["rows_updated"], 3);
    assert_eq!(rows(&dir, "t"), ["1,x,0.75", "20,x,1.5", "30,x,2.0"]);
    assert_eq!(done(&["update", "t", "--set", "price = 1", "--where", "id + 1 = 0"])["version"], 6);

    done(&["add-column", "t", "--name", "half", "--expr", "id / 2.0"]);
    done(&[
        "add-column",
        "t",
        "--name",
        "tag",
        "--expr",
        "concat(name, '-', id)",
        "--type",
        "string",
    ]);
    done(&["add-column", "t", "--name", "one", "--expr", "1", "--type", "int8"]);
    assert_eq!(
        rows(&dir, "t"),
        ["1,x,0.75,0.5,x-1,1", "20,x,1.5,10.0,x-20,1", "30,x,2.0,15.0,x-30,1"]
    );
    dir.lancet("verify t").ok();
    let before = rows(&dir, "t");
    for (args, part) in [
        (&["update", "t", "--set", "one = id * 100", "--all"][..], "column `one`: "),
        (&["update", "t", "--set", "id = nobody + 1", "--all"], "there is no column `nobody`"),
        (&["update", "t", "--set", "id = make_array(1)", "--all"], "column `id`: "),
        (&["update", "t", "--set", "price=price +", "--all"], "expected"),
        (&["delete", "t", "--where", "id + nobody > 1"], "there is no column `nobody`"),
        (&["delete", "t", "--where", "id + 1"], "neither true nor false"),
        (&["delete", "t", "--where", "id IN (SELECT 1)"], ""),
        (&["delete", "t", "--where", "sum(id) > 1"], ""),
        (&["delete", "t", "--where", "id = 1; DROP TABLE t"], ""),
        (&["add-column", "t", "--name", "x", "--expr", "NULL"], "--type"),
        (&["add-column", "t", "--name", "x", "--expr", "nobody"], "there is no column `nobody`"),
        (&["add-column", "t", "--name", "id", "--expr", "1"], "id"),
    ] {
        let ran = words(&dir, args);
        assert!(ran.code > 0 && ran.stderr.contains(part), "{args:?}: {}", ran.stderr);
        // The line, and what clap adds to usage errors.
        assert!(ran.stderr.lines().next().unwrap().len() < 400, "{}", ran.stderr);
    }
    assert_eq!(rows(&dir, "t"), before);
}

/// Functions that DataFusion has only before it optimizes.
#[cfg(feature = "sql")]
#[test]
fn table_verbs_know_all_functions() {
    let dir = Dir::new("tv-functions");
    dir.write("t.csv", "id,n,at\n1,,2020-01-01T00:00:00\n2,5,2999-01-01T00:00:00\n");
    dir.lancet("-q table create t t.csv").ok();
    let done = |args: &[&str]| {
        let ran = words(&dir, &[args, &["--json"]].concat());
        serde_json::from_str::<Value>(&ran.ok()).unwrap()
    };
    done(&["add-column", "t", "--name", "m", "--expr", "nvl(n, id)"]);
    done(&["add-column", "t", "--name", "some", "--expr", "coalesce(n, 7)"]);
    done(&["add-column", "t", "--name", "past", "--expr", "at < now()"]);
    done(&["add-column", "t", "--name", "ago", "--expr", "current_date > at"]);
    let short = "arrow_cast(ifnull(n, 1), 'Int16')";
    done(&["add-column", "t", "--name", "short", "--expr", short]);
    assert_eq!(
        rows(&dir, "t -c id,n,m,some,past,ago,short"),
        ["1,,1,7,true,true,1", "2,5,5,5,false,false,5"]
    );
    done(&["update", "t", "--set", "n = coalesce(n, 0)", "--set", "m = nvl2(n, m, 9)", "--all"]);
    assert_eq!(rows(&dir, "t -c id,n,m"), ["1,0,9", "2,5,5"]);
    done(&["update", "t", "--set", "at = now()", "--where", "coalesce(n, 1) = 5"]);
    let deleted = done(&["delete", "t", "--where", "at < now() - INTERVAL '30 days'"]);
    assert_eq!(deleted["rows_deleted"], 1);
    assert_eq!(done(&["delete", "t", "--where", "coalesce(n, id) = 5"])["rows_deleted"], 1);
}

/// Columns that are dictionaries, fields of structs, and types that have no name in `--types`.
#[cfg(feature = "sql")]
#[test]
fn table_verbs_give_values_the_types_of_the_table() {
    let dir = Dir::new("tv-types");
    dir.write("t.jsonl", "{\"id\":1,\"city\":\"Bern\",\"a\":{\"n\":1,\"city\":\"Bern\"}}\n");
    let make = "COPY (SELECT id, arrow_cast(city, 'Dictionary(Int8, Utf8)') AS city, \
                named_struct('n', arrow_cast(a['n'], 'Int32'), \
                             'city', arrow_cast(a['city'], 'Dictionary(Int32, Utf8)')) AS a, \
                arrow_cast(city, 'Binary') AS b, arrow_cast(id, 'Duration(Second)') AS d, \
                arrow_cast(id, 'Float16') AS h \
                FROM 't.jsonl') TO 't.lance' OPTIONS (table true)";
    let ran = dir.command("-q sql").arg(make).output().unwrap();
    Ran::new(make, ran).ok();

    dir.write("more.csv", "id,city\n2,Basel\n3,\n4,Basel\n");
    dir.lancet("-q table append t.lance more.csv").ok();
    dir.write("more.jsonl", "{\"id\":5,\"city\":\"Chur\",\"a\":{\"n\":7,\"city\":\"Chur\"}}\n");
    dir.lancet("-q table append t.lance more.jsonl").ok();
    dir.lancet("-q convert more.csv more.parquet").ok();
    dir.lancet("-q table append t.lance more.parquet").ok();
    dir.lancet("-q table merge t.lance more.parquet --on id").ok();
    let cities = rows(&dir, "t.lance -c id,city");
    assert_eq!(
        cities,
        ["1,Bern", "2,Basel", "2,Basel", "3,", "3,", "4,Basel", "4,Basel", "5,Chur"]
    );
    let nested = "SELECT city, a['n'] + 1 AS n, a['city'] AS c FROM 't.lance' WHERE id = 5";
    let ran = dir.command("sql --format csv").arg(nested).output().unwrap();
    assert_eq!(Ran::new(nested, ran).ok(), "city,n,c\nChur,8,Chur\n");
    for set in ["city='Chur'", "b='xy'", "d=90", "h=1.5"] {
        words(&dir, &["update", "t.lance", "--set", set, "--where", "id = 1"]).ok();
    }
    let one = "SELECT city, arrow_cast(b, 'Utf8') AS b, arrow_cast(d, 'Int64') AS d, h FROM 't.lance' WHERE id = 1";
    let ran = dir.command("sql --format csv").arg(one).output().unwrap();
    assert_eq!(Ran::new(one, ran).ok(), "city,b,d,h\nChur,xy,90,1.5\n");
    let refused = words(&dir, &["update", "t.lance", "--set", "d='90'", "--all"]).failed();
    assert!(refused.contains("write the number of its units"), "{refused}");
    dir.lancet("verify t.lance --all-versions").ok();
}

/// Rows of files that are no Lance files, by fields of structs.
#[test]
fn table_verbs_merge_on_fields_of_structs() {
    let dir = Dir::new("tv-merge-nested");
    dir.write(
        "t.jsonl",
        "{\"a\":{\"x\":0,\"id\":1},\"n\":1}\n{\"a\":{\"x\":0,\"id\":2},\"n\":2}\n",
    );
    dir.lancet("-q table create t t.jsonl").ok();
    dir.write(
        "new.jsonl",
        "{\"a\":{\"x\":9,\"id\":2},\"n\":7}\n{\"a\":{\"x\":9,\"id\":3},\"n\":8}\n",
    );
    dir.lancet("-q convert new.jsonl new.parquet").ok();
    let merged = report(&dir, "merge t new.parquet --on a.id");
    assert_eq!((&merged["rows_updated"], &merged["rows_inserted"]), (&json!(1), &json!(1)));
    let merged = report(&dir, "merge t new.jsonl --on a.id,a.x");
    assert_eq!((&merged["rows_updated"], &merged["rows_inserted"]), (&json!(2), &json!(0)));
    // What a Lance file gives, others give too.
    for columns in ["a.id", "n,a.id", "a.id,n,a.x", "a.x,a.id", "a.id,a", "a,a.id"] {
        dir.lancet("-q convert new.jsonl new.lance").ok();
        let of = |file: &str| dir.lancet(&format!("cat {file} -c {columns} --format jsonl")).ok();
        let want = of("new.lance");
        for file in ["new.jsonl", "new.parquet"] {
            assert_eq!(of(file), want, "{file}, {columns}");
        }
    }
    let unknown = dir.lancet("cat new.parquet -c a.y").failed();
    assert_eq!(unknown, "new.parquet: no column `a.y`; there are: a, n");
}

/// What the small part of SQL says it says in SQL too: the same conditions, as filters and as queries.
#[cfg(feature = "sql")]
#[test]
fn table_verbs_mean_what_sql_means() {
    let dir = Dir::new("tv-one-meaning");
    dir.write(
        "t.csv",
        "k,n,f,s,b,day,at\n\
         0,1,0.1,a,true,2024-01-01,2024-01-01T10:00:00\n\
         1,,0.5,b,,2024-02-01,\n\
         2,3,,,false,,2024-03-01T00:00:00\n\
         3,9007199254740993,-7.25,it's,true,1999-12-31,1999-12-31T23:59:59.5\n\
         4,-5,1e300,,,2024-01-01,2024-01-01T10:00:01\n\
         5,0,0.7,zz,false,,\n",
    );
    dir.lancet("-q table create t t.csv").ok();
    dir.lancet("-q table add-column t --name g --expr f --type float32").ok();
    for condition in [
        "n > 2.5",
        "NOT n > 2.5",
        "n = 9007199254740993",
        "n IN (1, 3)",
        "n NOT IN (1, 3)",
        "NOT (n = 1 OR s = 'b')",
        "n IS NULL OR b",
        "NOT b",
        "b = false",
        "b IS NOT NULL AND f <= 0.5",
        "f = 0.1",
        "f <> 0.1",
        "f > 1e10 OR f < -7",
        "s = 'it''s'",
        "s != 'a' AND NOT s = 'b'",
        "s >= 'b'",
        "day = '2024-01-01'",
        "day < '2024-01-01' OR day IS NULL",
        "at >= '2024-01-01T10:00:01'",
        "at = '2024-03-01'",
        "NOT at < '2024-01-01 10:00:00'",
        "n < 99999999999999999999",
        "g = 0.1",
        "g <> 0.1",
        "NOT g = 0.7",
        "g > 0.1",
        "g <= 0.1",
        "NOT g < 0.7",
        "g >= 0.7",
        "g = 0.5 OR g = -7.25",
        "g IN (0.1, 0.5)",
        "g NOT IN (0.7, 0.5)",
    ] {
        let left = |ran: Ran| {
            assert_eq!(ran.code, 0, "{condition}: {}", ran.stderr);
            let left = rows(&dir, "t -c k");
            dir.lancet("-q table restore t --version 2").ok();
            left
        };
        let small = left(words(&dir, &["delete", "t", "--where", condition]));
        let sql = format!("DELETE FROM 't' WHERE {condition}").replace("'t'", "'./t'");
        let sql = left(Ran::new(&sql, dir.command("-q sql").arg(&sql).output().unwrap()));
        assert_eq!(small, sql, "{condition}");
        // The verb's own SQL, which a part that is always true leads to.
        let long = format!("({condition}) AND k + 1 > 0");
        assert_eq!(small, left(words(&dir, &["delete", "t", "--where", &long])), "{condition}");
    }
}

#[test]
fn table_verbs_update() {
    let dir = with_table("tv-update");
    let ran = words(
        &dir,
        &[
            "update",
            "t",
            "--set",
            "name='it''s'",
            "--set",
            "price=null",
            "--where",
            "price < 2",
            "--json",
        ],
    );
    let done: Value = serde_json::from_str(&ran.ok()).unwrap();
    assert_eq!((&done["rows_updated"], &done["version"]), (&json!(1), &json!(2)));
    assert_eq!(rows(&dir, "t"), ["1,it's,", "2,two,2.5", "3,three,"]);
    assert_eq!(report(&dir, "update t --set price=7 --all")["rows_updated"], 3);
    assert_eq!(rows(&dir, "t"), ["1,it's,7.0", "2,two,7.0", "3,three,7.0"]);
    dir.lancet("verify t").ok();
    for (set, expected) in [
        ("prize=1", "there is no column `prize`"),
        ("name=1", "column `name`: `1` is no text; write texts in single quotes"),
        ("id=1.5", "column `id`: `1.5` is no int64"),
    ] {
        let message = words(&dir, &["update", "t", "--set", set, "--all"]).failed();
        assert!(message.contains(expected), "{message}");
    }
    assert_eq!(dir.lancet("table update t --set price=1").code, 2);
    assert_eq!(dir.lancet("table update t --set price= --all").code, 2);
    assert_eq!(versions(&dir), [1, 2, 3]);
}

#[test]
fn table_verbs_merge() {
    let dir = with_table("tv-merge");
    dir.write("m.csv", "price,id,name\n9,2,zwei\n8,4,vier\n7,,\n");
    let done = report(&dir, "merge t m.csv --on id");
    assert_eq!(
        (&done["rows_updated"], &done["rows_inserted"], &done["version"]),
        (&json!(1), &json!(2), &json!(2))
    );
    assert_eq!(rows(&dir, "t"), [",,7.0", "1,one,1.5", "2,zwei,9.0", "3,three,", "4,vier,8.0"]);
    // Two columns as the key; some columns are given only.
    report(&dir, "restore t --version 1");
    dir.write("p.csv", "name,id,price\ntwo,2,5\ntwo,3,6\n");
    let done = report(&dir, "merge t p.csv --on id,name --no-insert");
    assert_eq!((&done["rows_updated"], &done["rows_inserted"]), (&json!(1), &json!(0)));
    dir.write("q.csv", "id,price\n3,1\n9,1\n");
    assert_eq!(report(&dir, "merge t q.csv --on id --no-insert")["rows_updated"], 1);
    assert_eq!(rows(&dir, "t"), ["1,one,1.5", "2,two,5.0", "3,three,1.0"]);
    let done = report(&dir, "merge t q.csv --on id --no-update");
    assert_eq!((&done["rows_updated"], &done["rows_inserted"]), (&json!(0), &json!(1)));
    // A key that the table has twice.
    dir.lancet("-q table append t q.csv").ok();
    dir.write("r.csv", "id,name\n9,neun\n");
    assert_eq!(report(&dir, "merge t r.csv --on id")["rows_updated"], 2);
    assert_eq!(rows(&dir, "t").iter().filter(|row| *row == "9,neun,1.0").count(), 2);
    dir.lancet("verify t").ok();
}

#[test]
fn table_verbs_merge_refuses() {
    let dir = with_table("tv-merge-refused");
    dir.write("twice.csv", "id\n1\n2\n1\n");
    let twice = dir.lancet("table merge t twice.csv --on id").failed();
    assert_eq!(twice, "twice.csv: rows 0 and 2, counted from 0, have the same key (id)");
    let unknown = dir.lancet("table merge t t.csv --on key").failed();
    assert!(unknown.contains("there is no column `key`; there are id, name, price"), "{unknown}");
    dir.lancet("-q convert t.csv t.arrow --types id=string").ok();
    let typed = dir.lancet("table merge t t.arrow --on id").failed();
    assert_eq!(typed, "t.arrow: column `id` is Utf8 here, but Int64 in the table");
    assert_untouched(&dir, &THREE.map(String::from));
}

/// Keys of many rows, against a count by hand.
#[test]
fn table_verbs_merge_many() {
    let dir = Dir::new("tv-merge-many");
    let csv = |rows: &mut dyn Iterator<Item = u64>, value: &str| {
        rows.fold("id,v\n".to_owned(), |text, id| format!("{text}{id},{value}\n"))
    };
    dir.write("a.csv", csv(&mut (0..20_000), "old"));
    dir.write("b.csv", csv(&mut (0..30_000).rev().step_by(3), "new"));
    report(&dir, "create t a.csv --max-rows-per-file 3000 --stable-row-ids");
    let done = report(&dir, "merge t b.csv --on id");
    let touched: Vec<u64> = (0..30_000).rev().step_by(3).collect();
    let updated = touched.iter().filter(|id| **id < 20_000).count();
    assert_eq!(done["rows_updated"], updated);
    assert_eq!(done["rows_inserted"], touched.len() - updated);
    let expected = (0..30_000_u64).filter_map(|id| match touched.binary_search_by(|t| id.cmp(t)) {
        Ok(_) => Some(format!("{id},new")),
        Err(_) => (id < 20_000).then(|| format!("{id},old")),
    });
    let mut expected: Vec<String> = expected.collect();
    expected.sort();
    assert_eq!(rows(&dir, "t"), expected);
}

#[test]
fn table_verbs_columns() {
    let dir = with_table("tv-columns");
    assert_eq!(
        report(&dir, "add-column t --name zip --value 3000 --type string")["columns"],
        json!(["zip"])
    );
    report(&dir, "add-column t --name n --value -1");
    report(&dir, "add-column t --name mayor --null --type string");
    dir.write("v.csv", "x\n10\n20\n30\n");
    report(&dir, "add-column t --values v.csv");
    assert_eq!(rows(&dir, "t")[1], "2,two,2.5,3000,-1,,20");
    let schema = dir.lancet("schema t --json").ok();
    assert!(schema.contains("\"zip\"") && schema.contains("\"mayor\""), "{schema}");
    report(&dir, "rename-column t zip code");
    let done = report(&dir, "drop-column t mayor n price");
    assert_eq!((&done["version"], &done["columns"]), (&json!(7), &json!(["mayor", "n", "price"])));
    assert_eq!(dir.lancet("cat t --format csv").ok().lines().next(), Some("id,name,code,x"));
    assert_eq!(rows(&dir, "t --version 1"), THREE);
    dir.lancet("verify t").ok();

    for (args, expected) in [
        ("drop-column t mayor", "mayor"),
        ("rename-column t mayor m", "mayor"),
        ("rename-column t id name", "name"),
        ("add-column t --name id --value 1", "id"),
        ("add-column t --values t.csv", "id"),
    ] {
        let message = dir.lancet(&format!("table {args}")).failed();
        assert!(message.contains(expected), "{args}: {message}");
    }
    dir.write("short.csv", "y\n1\n");
    dir.lancet("table add-column t --values short.csv").failed();
    assert_eq!(dir.lancet("table add-column t --name y --value x --type int8").code, 2);
    assert_eq!(dir.lancet("table add-column t --name y --null").code, 2);
    assert_eq!(versions(&dir).len(), 7);
}

#[test]
fn table_verbs_compact_and_cleanup() {
    let dir = with_table("tv-compact");
    report(&dir, "append t t.csv");
    report(&dir, "delete t --rows 0");
    let before = rows(&dir, "t");
    let done = report(&dir, "compact t");
    assert_eq!(
        (
            &done["fragments_removed"],
            &done["fragments_added"],
            &done["deleted_rows"],
            &done["rows"]
        ),
        (&json!(3), &json!(1), &json!(1), &json!(5))
    );
    assert_eq!(rows(&dir, "t"), before);
    assert_eq!(dir.lancet("table compact t").stderr, "t: version 4: nothing to do\n");
    report(&dir, "tag t first --version 1");

    // A week is the default, so that nothing goes.
    assert_eq!(report(&dir, "cleanup t")["versions"], json!([]));
    let all = versions(&dir);
    let dry = report(&dir, "cleanup t --older-than 0s --dry-run");
    assert_eq!((&dry["versions"], &dry["dry_run"]), (&json!([2, 3]), &json!(true)));
    assert!(dry["bytes"].as_u64().unwrap() > 0 && !dry["files"].as_array().unwrap().is_empty());
    assert_eq!(versions(&dir), all);
    let listed = dir.lancet("table cleanup t --older-than 0s --dry-run").ok();
    assert!(listed.starts_with("version 2\nversion 3\n") && listed.contains("data/"), "{listed}");
    let done = report(&dir, "cleanup t --older-than 0s");
    assert_eq!((&done["files"], &done["bytes"]), (&dry["files"], &dry["bytes"]));
    assert_eq!(versions(&dir), [1, 4]);
    assert_eq!(rows(&dir, "t"), before);
    assert_eq!(rows(&dir, "t --tag first"), THREE);
    dir.lancet("verify t").ok();
    let age = dir.lancet("table cleanup t --older-than 7");
    assert!(
        age.code == 2 && age.stderr.contains("write it as 30s, 90m, 12h, 7d or 4w"),
        "{}",
        age.stderr
    );
}

#[test]
fn table_verbs_tags_and_branches() {
    let dir = with_table("tv-names");
    assert_eq!(
        report(&dir, "tag t a"),
        json!({"table": "t", "verb": "tag", "version": 1, "tag": "a"})
    );
    report(&dir, "delete t --rows 0");
    let taken = dir.lancet("table tag t a").failed();
    assert!(taken.contains("--move moves it here"), "{taken}");
    assert_eq!(rows(&dir, "t --tag a"), THREE);
    assert_eq!(report(&dir, "tag t a --move")["version"], 2);
    assert_eq!(rows(&dir, "t --tag a").len(), 2);
    report(&dir, "untag t a");
    dir.lancet("cat t --tag a").failed();
    let gone = dir.lancet("table untag t a").failed();
    assert!(gone.contains("`a`"), "{gone}");
    assert!(dir.lancet("table tag t a/b").failed().contains("a/b"));

    report(&dir, "branch t dev --version 1");
    assert_eq!(report(&dir, "append t t.csv --branch dev")["rows_inserted"], 3);
    assert_eq!((rows(&dir, "t").len(), rows(&dir, "t --branch dev").len()), (2, 6));
    dir.lancet("table branch t dev").failed();
    assert_eq!(report(&dir, "branch t dev --delete")["deleted"], true);
    dir.lancet("cat t --branch dev").failed();
    assert_eq!(rows(&dir, "t").len(), 2);
}

/// Writers at the same time: each row comes once, whatever order they commit in.
#[test]
fn table_verbs_by_several_writers() {
    let dir = with_table("tv-writers");
    let mut writers = Vec::new();
    for writer in 0..4 {
        dir.write(&format!("w{writer}.csv"), format!("id,name\n{},w\n", 100 + writer));
        writers.push(dir.command(&format!("-q table append t w{writer}.csv")).spawn().unwrap());
    }
    let mut command = dir.command("-q table update t --set name='u' --where");
    writers.push(command.arg("id <= 3").spawn().unwrap());
    for mut writer in writers {
        assert!(writer.wait().unwrap().success());
    }
    let expected: Vec<String> =
        ["1,u,1.5", "100,w,", "101,w,", "102,w,", "103,w,", "2,u,2.5", "3,u,"]
            .map(Into::into)
            .into();
    assert_eq!(rows(&dir, "t"), expected);
    assert_eq!(versions(&dir), [1, 2, 3, 4, 5, 6]);
}

/// A change that does not go together with a newer one is refused, and says which one that was.
#[test]
fn table_verbs_conflict() {
    let dir = with_table("tv-conflict");
    std::fs::create_dir(dir.path("temp")).unwrap();
    let mut command = dir.command("table add-column t --values - --from csv");
    command.env("TMPDIR", dir.path("temp")).stdin(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // The table is open when the values are waited for.
    while std::fs::read_dir(dir.path("temp")).unwrap().count() == 0 {
        assert!(child.try_wait().unwrap().is_none(), "it ended");
        std::thread::sleep(Duration::from_millis(5));
    }
    report(&dir, "append t t.csv");
    child.stdin.take().unwrap().write_all(b"x\n1\n2\n3\n").unwrap();
    let refused = Ran::new("add-column", child.wait_with_output().unwrap()).failed();
    assert!(refused.contains("version 2 (append) came first"), "{refused}");
    assert_eq!(rows(&dir, "t").len(), 6);
    assert_eq!(versions(&dir), [1, 2]);
}

#[cfg(unix)]
#[test]
fn table_verbs_interrupted_leave_no_version() {
    use std::os::unix::process::ExitStatusExt;

    use nix::sys::signal::{SigHandler, Signal, kill};
    use nix::unistd::Pid;

    let dir = crate::endless::dir("tv-signals");
    for signal in [Signal::SIGINT, Signal::SIGTERM] {
        // SAFETY: no handler is set that could run.
        unsafe { nix::sys::signal::signal(signal, SigHandler::SigDfl) }.unwrap();
        let mut child = dir
            .command("table create t endless.lance --any-rows")
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        while std::fs::read_dir(dir.path("t/data")).map_or(0, Iterator::count) == 0 {
            assert!(child.try_wait().unwrap().is_none(), "it ended");
            std::thread::sleep(Duration::from_millis(5));
        }
        kill(Pid::from_raw(child.id().try_into().unwrap()), signal).unwrap();
        let ended = child.wait_with_output().unwrap();
        let told = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(ended.status.signal(), Some(signal as i32), "{told}");
        assert_eq!(told, "error: t: cancelled; the table is as it was\n");
        assert!(!dir.path("t").exists(), "rubbish");
    }
}

#[test]
fn versions_tell_what_made_them() {
    let dir = with_table("tv-made-by");
    for verb in [
        "append t t.csv",
        "delete t --rows 0",
        "compact t",
        "overwrite t t.csv",
        "restore t --version 1",
    ] {
        dir.lancet(&format!("table {verb}")).ok();
    }
    let history: Value = serde_json::from_str(&dir.lancet("versions t --json").ok()).unwrap();
    let versions = history["versions"].as_array().unwrap().iter();
    let changes: Vec<&str> = versions.map(|version| version["change"].as_str().unwrap()).collect();
    assert_eq!(changes, ["create", "append", "delete", "compact", "overwrite", "restore"]);
    assert!(dir.lancet("versions t").ok().contains(" 3   delete      "));
}

#[test]
fn table_verbs_help() {
    let dir = Dir::new("tv-help");
    let help = dir.lancet("table --help").ok();
    let verbs = help.split_once("Commands:\n").unwrap().1.split_once("\n\n").unwrap().0;
    let verbs: Vec<&str> =
        verbs.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(verbs.len(), 16, "{verbs:?}");
    for verb in verbs.into_iter().filter(|verb| *verb != "help") {
        let help = dir.lancet(&format!("table {verb} --help")).ok();
        assert!(help.contains(&format!("Examples:\n  lancet table {verb} ")), "{help}");
        assert!(help.contains("--json"), "{help}");
    }
}

#[test]
fn nothing_is_left_of_a_table_that_was_not_made() {
    let dir = Dir::new("verbs-not-made");
    dir.write("twice.csv", "a,a\n1,2\n");
    dir.write("late.csv", format!("a\n{}x\n", "1\n".repeat(20_000)));
    for file in ["twice.csv", "late.csv"] {
        dir.lancet(&format!("table create new/deep/t {file}")).failed();
        assert_eq!(dir.files(), ["late.csv", "twice.csv"], "{file}");
        std::fs::create_dir(dir.path("t")).unwrap();
        dir.write("t/mine.txt", "");
        dir.lancet(&format!("table create t {file}")).failed();
        let left: Vec<_> = std::fs::read_dir(dir.path("t")).unwrap().collect();
        assert_eq!(left.len(), 1, "{file}: {left:?}");
        std::fs::remove_dir_all(dir.path("t")).unwrap();
    }
}

#[test]
fn files_are_no_tables_and_say_what_they_are() {
    let dir = Dir::new("verbs-files");
    dir.write("t.csv", "a\n1\n");
    dir.lancet("convert t.csv t.lance").ok();
    for args in ["versions t.lance", "table compact t.lance", "table delete t.lance --rows 0"] {
        let message = dir.lancet(args).failed();
        assert!(
            message.starts_with("t.lance: is a single file (Lance), not the folder"),
            "{message}"
        );
        assert!(message.contains("lancet table create FOLDER t.lance"), "{message}");
    }
    for args in ["cat t.csv --version 3", "take t.lance --rows 0 --version 2"] {
        let ran = dir.lancet(args);
        assert_eq!(ran.code, 2, "{args}");
        assert!(ran.stderr.contains("is a single file ("), "{}", ran.stderr);
        assert!(ran.stderr.contains("lancet table create FOLDER t."), "{}", ran.stderr);
    }
}
