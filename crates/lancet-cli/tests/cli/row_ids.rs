//! `row-ids` on tables, version files and serialized sequences.

use std::path::Path;

use crate::lancet::{Dir, assert_snapshot};

/// A range, a range with holes, a bitmap, a sorted array and an array.
const ALL_KINDS: &[u8] = b"\
    \x0a\x06\x0a\x04\x08\x1e\x10\x23\
    \x0a\x12\x12\x10\x08\x32\x10\x3c\x1a\x0a\x0a\x08\x08\x35\x12\x04\0\0\x01\0\
    \x0a\x0a\x1a\x08\x08\x64\x10\x6e\x1a\x02\xfb\x03\
    \x0a\x10\x22\x0e\x12\x0c\x08\x01\x12\x08\0\0\0\0\xff\xff\xff\xff\
    \x0a\x0a\x2a\x08\x0a\x06\x12\x04\x01\0\0\0";

/// The latest version of `stable`.
const LATEST: &str = "18446744073709551609.manifest";

fn with_sequence(name: &str) -> Dir {
    let dir = Dir::new(name);
    dir.write("ids.bin", ALL_KINDS);
    dir
}

/// The tables of `tests/tables/`: their version files.
fn with_tables(name: &str) -> Dir {
    let dir = Dir::new(name);
    for table in ["stable", "addresses", "spilled"] {
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tables").join(table);
        std::fs::create_dir_all(dir.path(table).join("_versions")).unwrap();
        for entry in std::fs::read_dir(from.join("_versions")).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let file = format!("{table}/_versions/{name}");
            dir.write(&file, std::fs::read(from.join("_versions").join(&name)).unwrap());
        }
    }
    dir
}

#[test]
fn segments_as_a_table_and_as_json() {
    let dir = with_sequence("row-ids");
    assert_snapshot("row-ids", &dir.lancet("row-ids ids.bin").ok());
    assert_snapshot("row-ids-json", &dir.lancet("row-ids ids.bin --json").ok());
}

#[test]
fn ids_on_lines() {
    let dir = with_sequence("row-ids-lines");
    let lines = dir.lancet("row-ids ids.bin --ids").ok();
    let ids: Vec<u64> = lines.lines().map(|line| line.parse().unwrap()).collect();
    let holes = (50..53).chain(55..60);
    let expected = (30..35).chain(holes).chain(100..102).chain(103..110).chain([1, 1 << 32, 1, 0]);
    assert_eq!(ids, expected.collect::<Vec<_>>());
}

#[test]
fn no_ids() {
    let dir = Dir::new("row-ids-none");
    dir.write("none.bin", "");
    assert_eq!(dir.lancet("row-ids none.bin").ok(), "none.bin: 0 row ids in 0 segments, 0 B\n");
    assert_eq!(dir.lancet("row-ids none.bin --ids").ok(), "");
}

#[test]
fn bad_files() {
    let dir = with_sequence("row-ids-bad");
    assert_eq!(dir.lancet("row-ids a.bin").failed(), "a.bin: no such file");
    dir.write("bad.bin", &ALL_KINDS[..20]);
    let message = dir.lancet("row-ids bad.bin").failed();
    assert!(message.starts_with("bad.bin: corrupt file: "), "{message}");
    assert_eq!(dir.lancet("row-ids ids.bin --ids --json").code, 2);
    dir.write("data.lance", b"....\x02\0\x01\0LANC");
    let message = dir.lancet("row-ids data.lance").failed();
    assert!(message.contains("give the folder above `data/`"), "{message}");
    for option in ["--version 1", "--fragment 0"] {
        let message = dir.lancet(&format!("row-ids ids.bin {option}")).failed();
        assert!(message.contains("of a table, but this is"), "{message}");
    }
}

#[test]
fn fragments_of_tables() {
    let dir = with_tables("row-ids-tables");
    let mut all = String::new();
    for args in [
        "stable",
        "stable --version 1",
        "stable --fragment 3",
        "addresses",
        "spilled",
        "stable/_versions/18446744073709551614.manifest",
    ] {
        let shown = dir.lancet(&format!("row-ids {args}")).ok();
        all.push_str(&format!("$ lancet row-ids {args}\n{shown}\n"));
    }
    assert_snapshot("row-ids-table", &all);
}

#[test]
fn fragments_as_json() {
    let dir = with_tables("row-ids-tables-json");
    let mut all = String::new();
    for args in ["stable --fragment 3", "addresses", "spilled"] {
        let shown = dir.lancet(&format!("row-ids {args} --json")).ok();
        serde_json::from_str::<serde_json::Value>(&shown).unwrap();
        all.push_str(&format!("$ lancet row-ids {args} --json\n{shown}\n"));
    }
    assert_snapshot("row-ids-table-json", &all);
}

#[test]
fn ids_of_tables() {
    let dir = with_tables("row-ids-tables-ids");
    let ids = |args: &str| -> Vec<u64> {
        let lines = dir.lancet(&format!("row-ids {args} --ids")).ok();
        lines.lines().map(|line| line.parse().unwrap()).collect()
    };
    assert_eq!(ids("stable --version 1"), (0..30).collect::<Vec<_>>());
    let all: Vec<u64> = (0..60).chain(ids("stable --fragment 2")).collect();
    assert_eq!(ids("stable")[..66], all);
    // Without stable row ids a row is known by its address.
    let addresses = ids("addresses");
    assert_eq!(addresses[..2], [0, 1]);
    assert_eq!(addresses.last().map(|address| address >> 32), Some(1));
    let message = dir.lancet("row-ids spilled --ids").failed();
    assert!(message.contains("show them with `lancet cat data/"), "{message}");
}

#[test]
fn detached_versions_are_opened_by_number() {
    let dir = with_tables("row-ids-detached");
    let latest = dir.lancet("row-ids addresses").ok();
    assert!(latest.starts_with("addresses: version 2, "), "{latest}");
    let detached = dir.lancet("row-ids addresses --version 9227420062263459665").ok();
    assert!(detached.starts_with("addresses: version 9227420062263459665, "), "{detached}");
}

#[test]
fn bad_tables() {
    let dir = with_tables("row-ids-tables-bad");
    std::fs::create_dir_all(dir.path("empty/_versions")).unwrap();
    std::fs::create_dir_all(dir.path("other")).unwrap();
    let failed = |args: &str| dir.lancet(&format!("row-ids {args}")).failed();
    assert_eq!(
        failed("other"),
        "other: is a folder without `_versions/`, so it is not a Lance table"
    );
    assert_eq!(failed("empty"), "empty: the table has no versions");
    assert_eq!(failed("stable --version 99"), "stable: has no version 99; the latest is 6");
    let message = failed("stable --fragment 99");
    assert!(message.starts_with("stable: version 6 has no fragment 99; its ids are"), "{message}");

    let sound = std::fs::read(dir.path("stable/_versions").join(LATEST)).unwrap();
    dir.write("stable/_versions/18446744073709551608.manifest", &sound);
    let message = failed("stable");
    let expected = "551608.manifest: corrupt file: it holds version 6, but its name is that of 7";
    assert!(message.ends_with(expected), "{message}");
    dir.write("stable/_versions/18446744073709551608.manifest", &sound[..sound.len() - 1]);
    let message = failed("stable");
    assert!(message.ends_with("a manifest ends with `LANC`, this file does not"), "{message}");
    dir.write("stable/_versions/7.manifest", sound);
    let message = failed("stable");
    assert!(message.contains("the version files have names of two kinds"), "{message}");
}
