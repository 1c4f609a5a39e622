//! Errors: one line with the file's name, code 1, and nothing left behind.

use std::io::Read;
use std::process::Stdio;

use crate::lancet::Dir;

const TABLE: &str = "id,name\n1,ada\n2,bob\n3,cy\n";

fn with_table(name: &str) -> Dir {
    let dir = Dir::new(name);
    dir.write("t.csv", TABLE);
    dir
}

fn with_lance(name: &str) -> Dir {
    let dir = with_table(name);
    dir.lancet("convert t.csv t.lance").ok();
    dir
}

#[test]
fn missing_files() {
    let dir = Dir::new("missing");
    for args in ["cat a.lance", "take a.lance --rows 1", "schema a.lance", "inspect a.lance"] {
        assert_eq!(dir.lancet(args).failed(), "a.lance: no such file", "{args}");
    }
    assert_eq!(dir.lancet("convert a.csv b.lance").failed(), "a.csv: no such file");
    assert!(dir.files().is_empty());
}

#[test]
fn directories() {
    let dir = with_table("directories");
    std::fs::create_dir(dir.path("d.lance")).unwrap();
    let message = dir.lancet("cat d.lance").failed();
    assert!(message.starts_with("d.lance: is a directory, not a file"), "{message}");
    dir.lancet("convert t.csv d.lance").ok(); // as `cp` does
    dir.lancet("verify d.lance/t.lance").ok();
    std::fs::create_dir(dir.path("e.csv")).unwrap();
    std::fs::create_dir(dir.path("e.csv/t.lance")).unwrap();
    assert_eq!(dir.lancet("convert t.csv e.csv").failed(), "e.csv/t.lance: is a directory");
}

#[test]
fn tables_without_versions() {
    let dir = with_table("tables");
    std::fs::create_dir_all(dir.path("t.lance/_versions")).unwrap();
    std::fs::create_dir_all(dir.path("t.lance/data")).unwrap();
    for command in [
        "cat t.lance",
        "take t.lance --rows 1",
        "schema t.lance",
        "inspect t.lance",
        "stats t.lance",
        "verify t.lance",
        "verify t.lance --all-versions",
        "analyze t.lance",
        "versions t.lance",
        "convert t.lance t.csv",
    ] {
        let message = dir.lancet(command).failed();
        assert_eq!(message, "t.lance: the table has no versions", "{command}");
    }
    assert_eq!(
        dir.lancet("convert t.csv t.lance").failed(),
        "t.lance: is a Lance table; a file put into its folder would not belong to it"
    );
}

#[test]
fn unknown_endings() {
    let dir = with_table("endings");
    let message = dir.lancet("convert t.csv t.xlsx").failed();
    assert!(message.starts_with("t.xlsx: unknown ending; lancet knows .lance, "), "{message}");
    dir.write("t.txt", TABLE);
    assert!(dir.lancet("cat t.txt").failed().starts_with("t.txt: unknown ending"));
}

#[test]
fn not_a_lance_file() {
    let dir = with_table("not-lance");
    dir.write("fake.lance", TABLE.repeat(100));
    dir.write("empty.lance", "");
    for file in ["fake.lance", "empty.lance"] {
        for command in ["cat", "schema", "inspect", "take --rows 1"] {
            let message = dir.lancet(&format!("{command} {file}")).failed();
            assert!(message.contains(file), "{message}");
            assert!(!message.contains("not supported"), "{message}");
        }
    }
    assert_eq!(
        dir.lancet("inspect t.csv").failed(),
        "t.csv: `lancet inspect` reads Lance files, not CSV; convert it first: lancet convert \
         t.csv t.lance"
    );
}

#[test]
fn a_file_is_not_converted_onto_itself() {
    let dir = with_table("itself");
    let message = dir.lancet("convert t.csv ./t.csv").failed();
    assert!(message.contains("input and output are the same file"), "{message}");
    assert_eq!(dir.read("t.csv"), TABLE);
}

#[test]
fn a_failed_conversion_leaves_the_old_file() {
    let dir = Dir::new("leaves-nothing");
    dir.write("bad.jsonl", "{\"a\":1}\n".repeat(10_001) + "{\"a\":\"x\"}\n");
    dir.write("out.csv", "old\n");
    let message = dir.lancet("convert bad.jsonl out.csv").failed();
    assert!(message.starts_with("bad.jsonl: "), "{message}");
    assert!(message.contains("the schema comes from the first 10000 records"), "{message}");
    assert_eq!(dir.read("out.csv"), "old\n");
    assert_eq!(dir.files(), ["bad.jsonl", "out.csv"]);
}

#[test]
fn csv_names_the_column_it_cannot_hold() {
    let dir = Dir::new("nested-csv");
    dir.write("t.jsonl", "{\"id\":1,\"where\":{\"city\":\"Bern\"}}\n");
    let message = dir.lancet("convert t.jsonl t.csv").failed();
    assert!(message.starts_with("t.csv: CSV cannot hold the nested column `where`"), "{message}");
    let message = dir.lancet("cat t.jsonl --format csv").failed();
    assert!(message.starts_with("CSV cannot hold the nested column `where`"), "{message}");
    assert_eq!(dir.files(), ["t.jsonl"]);
}

#[test]
fn unknown_columns() {
    let dir = with_lance("unknown-columns");
    for command in ["cat", "inspect", "take --rows 0"] {
        let message = dir.lancet(&format!("{command} t.lance --columns id,nope")).failed();
        assert!(message.starts_with("t.lance: "), "{message}");
        assert!(message.contains("nope"), "{message}");
    }
    assert_eq!(
        dir.lancet("cat t.csv --columns nope").failed(),
        "t.csv: no column `nope`; there are: id, name"
    );
}

#[test]
fn rows_that_do_not_exist() {
    let dir = with_lance("no-such-rows");
    assert_eq!(
        dir.lancet("take t.lance --rows 0,3").failed(),
        "t.lance: row 3 does not exist; the file has 3 rows"
    );
    assert_eq!(
        dir.lancet("take t.lance --rows 0..18446744073709551615").failed(),
        "t.lance: row 3 does not exist; the file has 3 rows"
    );
    assert_eq!(
        dir.lancet("cat t.lance --rows 4..9").failed(),
        "t.lance: the rows start at 4, but the file has 3 rows"
    );
}

#[test]
fn a_closed_pipe_is_no_error() {
    let dir = Dir::new("closed-pipe");
    dir.write("t.csv", "id\n".to_owned() + &"1234567\n".repeat(200_000));
    let mut child = dir
        .command("cat t.csv --format csv")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut few = [0; 10];
    child.stdout.take().unwrap().read_exact(&mut few).unwrap(); // and close
    let mut complaints = String::new();
    child.stderr.take().unwrap().read_to_string(&mut complaints).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(complaints, "");
}
