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
fn checksums_can_be_required() {
    let dir = with_lance("verify_required");
    assert!(dir.lancet("verify t.lance --require-checksums").ok().contains("sound"));
    // Written by the reference, which knows of none.
    let old = concat!(env!("CARGO_MANIFEST_DIR"), "/../lancet/tests/small/all_null_v22.lance");
    dir.write("old.lance", std::fs::read(old).unwrap());
    assert!(dir.lancet("verify old.lance").ok().contains("no checksums in the file"));
    let ran = dir.lancet("verify old.lance --require-checksums");
    assert_eq!((ran.code, ran.stdout.contains("has no checksums")), (1, true), "{}", ran.stdout);
    // The count of global buffers, without which the checksums are not found.
    let mut bytes = std::fs::read(dir.path("t.lance")).unwrap();
    let count = bytes.len() - 16;
    assert_eq!(bytes[count], 2);
    bytes[count] = 1;
    dir.write("t.lance", &bytes);
    let ran = dir.lancet("verify t.lance");
    assert_eq!((ran.code, ran.stdout.contains("checksums")), (1, true), "{}", ran.stdout);
}

#[test]
fn a_damaged_file() {
    let dir = with_lance("verify_damaged");
    let mut bytes = std::fs::read(dir.path("t.lance")).unwrap();
    bytes[64 + 10] ^= 1;
    dir.write("t.lance", &bytes);
    let ran = dir.lancet("verify t.lance");
    assert_eq!(ran.code, 1);
    let place = "`id`, column 0, page 0, buffer 1: the bytes 64..";
    assert!(ran.stdout.contains(place), "{}", ran.stdout);
    assert!(ran.stderr.ends_with("problem\n") || ran.stderr.ends_with("problems\n"));
    let json = dir.lancet("verify t.lance --json");
    assert_eq!(json.code, 1);
    let json: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!((&json["sound"], &json["problems"][0]["buffer"]), (&false.into(), &1.into()));
    assert_eq!(json["problems"][0]["column_name"], "id");
}

/// A file whose column `name` is damaged so that no rows can be read.
fn damaged(dir: &Dir) {
    let mut bytes = std::fs::read(dir.path("t.lance")).unwrap();
    let json = dir.lancet("inspect t.lance --pages --json").ok();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let buffers = json["columns"][1]["pages"][0]["buffers"].as_array().unwrap();
    let chunks = buffers.iter().find(|buffer| buffer["holds"] == "chunks").unwrap();
    let start = chunks["position"].as_u64().unwrap() as usize;
    bytes[start..start + chunks["bytes"].as_u64().unwrap() as usize].fill(0xff);
    dir.write("damaged.lance", &bytes);
}

#[test]
fn every_command_names_the_damaged_column() {
    let dir = with_lance("damaged_names");
    damaged(&dir);
    for args in [
        "cat damaged.lance",
        "take damaged.lance --rows 0",
        "convert damaged.lance a.csv",
        "convert damaged.lance a.lance",
    ] {
        let message = dir.lancet(args).failed();
        let start = "damaged.lance: corrupt file: `name`, column 1, page 0";
        assert!(message.starts_with(start), "lancet {args}: {message}");
    }
    assert_eq!(dir.files(), ["damaged.lance", "t.csv", "t.lance"]);
}

#[test]
fn names_from_a_file_cannot_write_to_the_terminal() {
    let dir = Dir::new("verify_escapes");
    let row = |text: &str| format!("{{\"id\":1,\"\\u001b[31mred\\n\":\"{text}\"}}\n");
    dir.write("t.jsonl", row("one") + &row("two") + &row("three"));
    dir.lancet("convert t.jsonl t.lance").ok();
    damaged(&dir);
    let ran = dir.lancet("verify damaged.lance");
    assert!(ran.stdout.contains("`\\u{1b}[31mred\\n`, column 1"), "{}", ran.stdout);
    assert!(!ran.stdout.contains('\u{1b}'), "{}", ran.stdout);
}

#[test]
fn one_bad_file_does_not_hide_the_others() {
    let dir = with_lance("verify_many");
    damaged(&dir);
    dir.lancet("convert t.csv z.lance").ok();
    let ran = dir.lancet("verify missing.lance *.lance");
    assert_eq!(ran.code, 1);
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert!(lines[0].starts_with("damaged.lance: corrupt file: `name`, column 1"), "{lines:#?}");
    assert!(lines.contains(&"t.lance: sound (2 pages, 4 checksums)"), "{lines:#?}");
    assert!(lines.contains(&"z.lance: sound (2 pages, 4 checksums)"), "{lines:#?}");
    assert_eq!(ran.stderr, "error: missing.lance: no such file\nerror: 2 of 4 files not sound\n");
    let ran = dir.lancet("verify missing.lance *.lance --json");
    assert_eq!(ran.code, 1);
    let json: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let sound: Vec<_> = json.as_array().unwrap().iter().map(|file| &file["sound"]).collect();
    assert_eq!(sound, [false, false, true, true]);
    assert_eq!(json[0]["error"], "missing.lance: no such file");

    std::fs::remove_file(dir.path("damaged.lance")).unwrap();
    let all = dir.lancet("verify *.lance").ok();
    assert_eq!(all.lines().count(), 2);
    let json = dir.lancet("verify t*.lance --json").ok();
    assert!(json.starts_with('['), "a pattern may match more tomorrow: {json}");
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
