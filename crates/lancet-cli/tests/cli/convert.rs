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
