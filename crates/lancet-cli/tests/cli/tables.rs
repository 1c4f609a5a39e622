//! Tables of the reference, where files are accepted.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::lancet::Dir;

/// A folder with a table in `table` and the rows of its versions in `expect`.
fn with_table(name: &str, table: &str) -> Dir {
    let dir = Dir::new(name);
    let tables = Path::new(env!("CARGO_MANIFEST_DIR")).join("../lancet-table/tests/tables");
    let tar = tables.join(table).with_extension("tar");
    let unpacked = Command::new("tar").arg("xf").arg(tar).current_dir(dir.path("")).status();
    assert!(unpacked.unwrap().success());
    dir
}

fn lines(dir: &Dir, what: &str) -> String {
    dir.lancet(&format!("cat {what} --format jsonl")).ok()
}

#[test]
fn every_version_reads_as_what_was_written() {
    let dir = with_table("table-versions", "rebased_v20");
    for version in 1..=7 {
        let expected = lines(&dir, &format!("expect/v{version}.arrow"));
        assert_eq!(lines(&dir, &format!("table --version {version}")), expected, "{version}");
        dir.lancet(&format!("-q convert table v.lance --version {version}")).ok();
        assert_eq!(lines(&dir, "v.lance"), expected, "{version}");
        let rows = expected.lines().count();
        let ends = format!("take table --version {version} --rows {},0 --format jsonl", rows - 1);
        let (first, last) = (expected.lines().next().unwrap(), expected.lines().next_back());
        assert_eq!(dir.lancet(&ends).ok(), format!("{}\n{first}\n", last.unwrap()));
    }
    assert_eq!(lines(&dir, "table"), lines(&dir, "expect/v7.arrow"));
    assert_eq!(lines(&dir, "table --rows 40.."), lines(&dir, "expect/v7.arrow --rows 40.."));
    let missing = dir.lancet("cat table --version 99").failed();
    assert!(missing.contains("99"), "{missing}");
}

#[test]
fn branches_and_tags_are_versions() {
    let dir = with_table("table-branches", "branches_v22");
    for (at, expected) in [
        ("--branch deep", "deep.v6"),
        ("--branch dev/one", "dev%2Fone.v5"),
        ("--branch dev/one --version 3", "dev%2Fone.v3"),
        ("--tag on_branch", "dev%2Fone.v4"),
        ("--tag on_main", "v2"),
    ] {
        let expected = lines(&dir, &format!("expect/{expected}.arrow"));
        assert_eq!(lines(&dir, &format!("table {at}")), expected, "{at}");
    }
    let history: Value = serde_json::from_str(&dir.lancet("versions table --json").ok()).unwrap();
    assert_eq!(history["versions"][1]["tags"], Value::from(vec!["on_main"]));
    assert_eq!(history["branches"][0]["name"], "deep");
    let text = dir.lancet("versions table --branch deep").ok();
    assert!(text.starts_with("table: 2 versions\n"), "{text}");
}

#[test]
fn rows_have_ids_and_addresses() {
    let dir = with_table("table-ids", "rebased_v20");
    let shown = dir.lancet("cat table -c k --with-row-id --with-row-address --format csv").ok();
    let last = shown.lines().next_back().unwrap();
    let [key, id, address] = last.split(',').collect::<Vec<_>>()[..] else { panic!("{last}") };
    assert_eq!(shown.lines().next(), Some("k,_rowid,_rowaddr"));
    assert_eq!(id, address, "without stable ids");
    let taken = dir.lancet(&format!("take table -c k --row-ids {id} --format csv")).ok();
    assert_eq!(taken, format!("k\n{key}\n"));
    let schema: Value =
        serde_json::from_str(&dir.lancet("schema table --json --with-row-id").ok()).unwrap();
    assert_eq!((&schema["format"], &schema["rows"]), (&"Lance table".into(), &48.into()));
    assert_eq!(schema["fields"].as_array().unwrap().last().unwrap()["name"], "_rowid");
    let text = dir.lancet("schema table --version 3").ok();
    assert!(text.starts_with("table: Lance table, version 3, 49 rows\n"), "{text}");
}

#[test]
fn versions_are_listed() {
    let dir = with_table("table-history", "rebased_v20");
    let history: Value = serde_json::from_str(&dir.lancet("versions table --json").ok()).unwrap();
    let rows: Vec<_> = history["versions"].as_array().unwrap().iter().map(|v| &v["rows"]).collect();
    assert_eq!(rows, [25, 50, 49, 47, 47, 53, 48]);
    let text = dir.lancet("versions table").ok();
    assert!(text.starts_with("table: 7 versions\n") && text.contains(" UTC"), "{text}");
}

#[test]
fn options_for_tables_are_for_tables() {
    let dir = Dir::new("table-options");
    dir.write("t.csv", "a\n1\n");
    dir.lancet("-q convert t.csv t.lance").ok();
    for command in [
        "cat t.lance --version 1",
        "schema t.csv --tag a",
        "take t.lance --rows 0 --with-row-id",
        "take t.lance --row-ids 0",
    ] {
        let ran = dir.lancet(command);
        assert_eq!(ran.code, 2, "{command}: {}", ran.stderr);
        assert!(ran.stderr.contains("table"), "{command}: {}", ran.stderr);
    }
}
