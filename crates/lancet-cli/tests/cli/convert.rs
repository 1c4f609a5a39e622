//! Round trips through every format.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int32Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use lancet::{FileReader, FileWriter, Version, WriteOptions};

use crate::lancet::Dir;

const CSV: &str = "\
id,name,price,on,at
1,ada,1.5,true,2024-05-01T10:00:00
2,\"bob, jr\",,false,2024-05-02T11:30:00
-3,\"say \"\"hi\"\"\",0.25,,
";

const JSON_LINES: &str = "\
{\"id\":1,\"tags\":[\"a\",null],\"where\":{\"city\":\"Bern\",\"zip\":3000},\"ok\":true}
{\"id\":2,\"tags\":[],\"where\":{\"city\":null,\"zip\":null},\"ok\":null}
{\"id\":null,\"tags\":null,\"where\":null,\"ok\":false}
";

#[test]
fn options_may_stand_anywhere() {
    let dir = Dir::new("convert_options_between");
    dir.write("t.csv", "a\n1\n");
    for line in
        ["--profile small t.csv o.lance", "t.csv --profile small o.lance", "t.csv o.lance --json"]
    {
        dir.lancet(&format!("convert {line}")).ok();
        std::fs::remove_file(dir.path("o.lance")).unwrap();
    }
    let ran = dir.lancet("convert t.csv");
    assert_eq!((ran.code, ran.stderr.contains("say what to write")), (2, true), "{}", ran.stderr);
}

#[test]
fn csv_through_lance() {
    let dir = Dir::new("csv-lance");
    dir.write("a.csv", CSV);
    for version in ["2.0", "2.1", "2.2"] {
        let convert = format!("convert a.csv b.lance --format-version {version}");
        dir.lancet(&convert).ok();
        dir.lancet("convert b.lance c.csv").ok();
        assert_eq!(dir.read("c.csv"), CSV);
        let schema = dir.lancet("schema b.lance").ok();
        assert!(schema.starts_with(&format!("b.lance: Lance {version}, 3 rows\n")), "{schema}");
    }
}

#[test]
fn json_lines_through_lance() {
    let dir = Dir::new("jsonl-lance");
    dir.write("a.jsonl", JSON_LINES);
    dir.lancet("convert a.jsonl b.lance").ok();
    dir.lancet("convert b.lance c.ndjson").ok();
    assert_eq!(dir.read("c.ndjson"), JSON_LINES);
}

#[test]
fn every_binary_format_and_back() {
    let dir = Dir::new("binary-formats");
    dir.write("a.jsonl", JSON_LINES);
    for ending in ["parquet", "pq", "arrow", "feather", "arrows"] {
        dir.lancet(&format!("convert a.jsonl b.{ending}")).ok();
        dir.lancet(&format!("convert b.{ending} c.jsonl")).ok();
        assert_eq!(dir.read("c.jsonl"), JSON_LINES, "{ending}");
    }
}

#[test]
fn every_binary_format_through_lance() {
    let dir = Dir::new("formats-lance");
    dir.write("a.jsonl", JSON_LINES);
    for ending in ["parquet", "arrow", "arrows", "lance"] {
        dir.lancet(&format!("convert a.jsonl b.{ending}")).ok();
        dir.lancet(&format!("convert b.{ending} c.lance")).ok();
        dir.lancet(&format!("convert c.lance d.{ending}")).ok();
        dir.lancet(&format!("convert d.{ending} e.jsonl")).ok();
        assert_eq!(dir.read("e.jsonl"), JSON_LINES, "{ending}");
    }
}

#[test]
fn arrow_is_told_by_its_content() {
    let dir = Dir::new("arrow-content");
    dir.write("a.csv", CSV);
    dir.lancet("convert a.csv file.arrow").ok();
    dir.lancet("convert a.csv stream.arrows").ok();
    std::fs::rename(dir.path("file.arrow"), dir.path("swapped.arrows")).unwrap();
    std::fs::rename(dir.path("stream.arrows"), dir.path("swapped.arrow")).unwrap();
    for file in ["swapped.arrow", "swapped.arrows"] {
        dir.lancet(&format!("convert {file} b.csv")).ok();
        assert_eq!(dir.read("b.csv"), CSV, "{file}");
    }
}

#[test]
fn empty_tables_keep_their_columns() {
    let dir = Dir::new("empty-tables");
    dir.write("a.csv", "id,name\n");
    for ending in ["parquet", "arrow", "lance"] {
        dir.lancet(&format!("convert a.csv b.{ending}")).ok();
        dir.lancet(&format!("convert b.{ending} c.csv")).ok();
        assert_eq!(dir.read("c.csv"), "id,name\n", "{ending}");
    }
}

#[test]
fn a_byte_order_mark_is_no_part_of_a_name() {
    let dir = Dir::new("byte-order-mark");
    dir.write("a.csv", "\u{feff}id\n1\n");
    assert_eq!(dir.lancet("cat a.csv --columns id --format jsonl").ok(), "{\"id\":1}\n");
}

#[test]
fn the_summary_is_one_line() {
    let dir = Dir::new("summary");
    dir.write("a.csv", CSV);
    let ran = dir.lancet("convert a.csv b.jsonl");
    assert_eq!(ran.stdout, "");
    assert_eq!(ran.stderr.lines().count(), 1);
    assert!(ran.stderr.starts_with("3 rows: 117 B in, "), "{}", ran.stderr);
    let ran = dir.lancet("--quiet convert a.csv b.jsonl");
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
}

#[test]
fn upgrades_keep_metadata_and_global_buffers() {
    let dir = Dir::new("upgrade");
    let field =
        Field::new("n", DataType::Int32, true).with_metadata([("unit".into(), "m".into())].into());
    let schema = Schema::new_with_metadata(vec![field], [("made by".into(), "test".into())].into());
    let numbers: ArrayRef = Arc::new(Int32Array::from(vec![Some(1), None, Some(3)]));
    let batch = RecordBatch::try_new(Arc::new(schema), vec![numbers]).unwrap();
    let options = WriteOptions::default().with_version(Version::V2_0);
    let old = dir.path("old.lance");
    let mut writer = FileWriter::create(&old, batch.schema(), options).unwrap();
    writer.add_global_buffer(b"a global buffer").unwrap();
    writer.write(&batch).unwrap();
    writer.add_global_buffer(b"").unwrap();
    writer.finish().unwrap();
    let explained = dir.lancet("inspect old.lance --pages").ok();
    assert!(explained.contains("nullable flat 32-bit"), "{explained}");
    for version in ["2.0", "2.1", "2.2"] {
        dir.lancet(&format!("convert old.lance new.lance --format-version {version}")).ok();
        dir.lancet("verify new.lance").ok();
        let new = FileReader::open(dir.path("new.lance")).unwrap();
        assert_eq!(new.version().to_string(), version);
        assert_eq!(new.schema(), batch.schema());
        assert_eq!(new.user_buffers().unwrap(), ["a global buffer", ""]);
        assert_eq!(new.take(&[0, 1, 2]).unwrap(), batch);
    }
}

#[test]
fn several_files_go_into_a_folder() {
    let dir = Dir::new("convert-many");
    dir.write("a.csv", CSV);
    dir.write("b.jsonl", JSON_LINES);
    dir.write("part-1.csv", "id\n1\n");
    dir.write("part-2.csv", "id\n2\n");
    let ran = dir.lancet("convert a.csv b.jsonl part-*.csv out/");
    assert!(ran.stderr.starts_with("4 files, 8 rows: "), "{}", ran.stderr);
    ran.ok();
    let lances = ["out/a.lance", "out/b.lance", "out/part-1.lance", "out/part-2.lance"];
    for file in lances {
        dir.lancet(&format!("verify {file}")).ok();
    }
    // The folder is there now, and needs no slash.
    dir.lancet("convert out/part-*.lance out --to jsonl").ok();
    assert_eq!(dir.read("out/part-2.jsonl"), "{\"id\":2}\n");
    std::fs::create_dir_all(dir.path("deep/er")).unwrap();
    std::fs::rename(dir.path("part-1.csv"), dir.path("deep/er/part-1.csv")).unwrap();
    dir.lancet("convert deep/**/*.csv new/ --to parquet").ok();
    assert_eq!(dir.lancet("cat new/part-1.parquet --format csv").ok(), "id\n1\n");
}

#[test]
fn what_cannot_be_meant_is_refused_before_anything_is_written() {
    let dir = Dir::new("convert-refused");
    dir.write("a.csv", "id\n1\n");
    std::fs::create_dir(dir.path("other")).unwrap();
    dir.write("other/a.csv", "id\n2\n");
    dir.write("other/a.jsonl", "{\"id\":2}\n");
    let ran = dir.lancet("convert a.csv other/a.csv b.lance");
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("2 files need a folder to go to"), "{}", ran.stderr);
    assert_eq!(
        dir.lancet("convert a.csv other/a.csv out/").failed(),
        "a.csv and other/a.csv would both become a.lance; convert them into different folders"
    );
    assert_eq!(dir.lancet("convert x*.csv out/").failed(), "x*.csv: no file matches");
    let message = dir.lancet("convert other/a.jsonl other/ --to jsonl").failed();
    assert!(message.contains("input and output are the same file"), "{message}");
    assert_eq!(dir.read("other/a.jsonl"), "{\"id\":2}\n");
    assert_eq!(dir.files(), ["a.csv", "other"]);
}

#[test]
fn one_bad_file_does_not_stop_the_others() {
    let dir = Dir::new("convert-bad");
    dir.write("a.csv", "id\n1\n");
    dir.write("b.jsonl", "{\"a\":1}\n".repeat(10_001) + "{\"a\":\"x\"}\n");
    dir.write("c.csv", "id\n3\n");
    std::fs::create_dir(dir.path("out")).unwrap();
    dir.write("out/b.lance", "old");
    let ran = dir.lancet("convert a.csv b.jsonl c.csv out");
    assert_eq!(ran.code, 1);
    let lines: Vec<&str> = ran.stderr.lines().collect();
    assert!(lines[0].starts_with("error: b.jsonl: "), "{lines:#?}");
    assert!(lines[1].starts_with("2 files, 2 rows: "), "{lines:#?}");
    assert!(lines[1].ends_with("; failed on b.jsonl"), "{lines:#?}");
    assert_eq!(lines[2..], ["error: 1 of 3 files failed"]);
    assert_eq!(dir.lancet("cat out/a.lance out/c.lance --format csv").ok(), "id\n1\n3\n");
    assert_eq!(dir.read("out/b.lance"), "old");
    let left: Vec<_> = std::fs::read_dir(dir.path("out")).unwrap().collect();
    assert_eq!(left.len(), 3, "{left:?}");
}

#[test]
fn files_that_exist_are_replaced_skipped_or_kept() {
    let dir = Dir::new("convert-existing");
    dir.write("a.csv", "id\n1\n");
    dir.write("b.csv", "id\n2\n");
    dir.write("a.jsonl", "old");
    let ran = dir.lancet("convert a.csv b.csv . --to jsonl --skip-existing");
    assert!(ran.stderr.ends_with("; skipped ./a.jsonl\n"), "{}", ran.stderr);
    ran.ok();
    assert_eq!((dir.read("a.jsonl"), dir.read("b.jsonl")), ("old".into(), "{\"id\":2}\n".into()));
    let message = dir.lancet("convert a.csv a.jsonl --no-clobber").failed();
    assert_eq!(message, "a.jsonl: exists already, and --no-clobber keeps it");
    assert_eq!(dir.read("a.jsonl"), "old");
    let ran = dir.lancet("convert a.csv a.jsonl");
    assert!(ran.stderr.ends_with("; replaced a.jsonl\n"), "{}", ran.stderr);
    assert_eq!(ran.stderr.lines().count(), 1);
    assert_eq!(dir.read("a.jsonl"), "{\"id\":1}\n");
    dir.lancet("convert a.csv new.jsonl --no-clobber").ok();
}

#[test]
fn the_summary_as_json() {
    let dir = Dir::new("convert-json");
    dir.write("a.csv", "id\n1\n2\n");
    dir.write("out.jsonl", "old");
    let json = dir.lancet("convert a.csv out.jsonl --json").ok();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["files"], &json["rows"]), (&1.into(), &2.into()));
    assert_eq!((&json["bytes_in"], &json["bytes_out"]), (&7.into(), &18.into()));
    assert_eq!(json["replaced"], serde_json::json!(["out.jsonl"]));
    assert_eq!(
        (&json["skipped"], &json["failed"]),
        (&serde_json::json!([]), &serde_json::json!([]))
    );
    assert!(json["seconds"].as_f64().unwrap() > 0.0);

    let ran = dir.lancet("convert missing.csv out.jsonl --json");
    assert_eq!((ran.code, ran.stderr.as_str()), (1, "error: missing.csv: no such file\n"));
    let json: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(json["failed"][0]["file"], "missing.csv");
    let json = dir.lancet("convert a.csv out.jsonl --json --skip-existing").ok();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["files"], &json["skipped"][0]), (&0.into(), &"out.jsonl".into()));
}

#[test]
fn a_device_is_not_replaced_by_a_file() {
    let dir = Dir::new("convert-device");
    dir.write("a.csv", "id\n1\n");
    if cfg!(unix) {
        dir.lancet("convert a.csv /dev/null --to csv").ok();
        assert!(!std::fs::metadata("/dev/null").unwrap().is_file());
        // Which stands for a file here.
        let file = std::fs::File::create(dir.path("b.csv")).unwrap();
        let mut command = dir.command("-q convert a.csv /dev/stdout --to csv");
        assert!(command.stdout(file).status().unwrap().success());
        assert_eq!(dir.read("b.csv"), "id\n1\n");
        assert!(std::fs::symlink_metadata("/dev/stdout").unwrap().is_symlink());
    }
}
