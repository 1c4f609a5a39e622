//! `verify`: sound files, damaged ones, exit codes.

use crate::lancet::Dir;

fn with_lance(name: &str) -> Dir {
    let dir = Dir::new(name);
    dir.write("t.csv", "id,name\n1,one\n2,two\n3,three\n");
    dir.lancet("convert t.csv t.lance").ok();
    dir
}

#[test]
fn a_sound_file() {
    let dir = with_lance("verify_sound");
    let told = dir.lancet("verify t.lance").ok();
    assert_eq!(told, "t.lance: sound (2 pages, 4 checksums)\n");
    let json: serde_json::Value =
        serde_json::from_str(&dir.lancet("verify t.lance --json").ok()).unwrap();
    assert_eq!((&json["sound"], &json["pages"]), (&true.into(), &2.into()));
}

#[test]
fn a_damaged_file() {
    let dir = with_lance("verify_damaged");
    let mut bytes = std::fs::read(dir.path("t.lance")).unwrap();
    bytes[64 + 10] ^= 1;
    dir.write("t.lance", &bytes);
    let ran = dir.lancet("verify t.lance");
    assert_eq!(ran.code, 1);
    assert!(ran.stdout.contains("column 0, page 0, buffer 1: the bytes 64.."), "{}", ran.stdout);
    assert!(ran.stderr.ends_with("problem\n") || ran.stderr.ends_with("problems\n"));
    let json = dir.lancet("verify t.lance --json");
    assert_eq!(json.code, 1);
    let json: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!((&json["sound"], &json["problems"][0]["buffer"]), (&false.into(), &1.into()));
}

#[test]
fn a_file_that_does_not_open() {
    let dir = with_lance("verify_cut");
    let bytes = std::fs::read(dir.path("t.lance")).unwrap();
    dir.write("t.lance", &bytes[..bytes.len() - 3]);
    let ran = dir.lancet("verify t.lance");
    assert_eq!(ran.code, 1);
    assert!(ran.stdout.contains("not a Lance file"), "{}", ran.stdout);
}
