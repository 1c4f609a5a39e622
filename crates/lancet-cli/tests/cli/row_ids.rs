//! `row-ids` on serialized sequences.

use crate::lancet::{Dir, assert_snapshot};

/// A range, a range with holes, a bitmap, a sorted array and an array.
const ALL_KINDS: &[u8] = b"\
    \x0a\x06\x0a\x04\x08\x1e\x10\x23\
    \x0a\x12\x12\x10\x08\x32\x10\x3c\x1a\x0a\x0a\x08\x08\x35\x12\x04\0\0\x01\0\
    \x0a\x0a\x1a\x08\x08\x64\x10\x6e\x1a\x02\xfb\x03\
    \x0a\x10\x22\x0e\x12\x0c\x08\x01\x12\x08\0\0\0\0\xff\xff\xff\xff\
    \x0a\x0a\x2a\x08\x0a\x06\x12\x04\x01\0\0\0";

fn with_sequence(name: &str) -> Dir {
    let dir = Dir::new(name);
    dir.write("ids.bin", ALL_KINDS);
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
}
