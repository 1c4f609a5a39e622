//! `cat`, `take`, `schema`, `inspect` on Lance files.

use crate::lancet::{Dir, assert_snapshot};

fn with_lance(name: &str, rows: u64) -> Dir {
    let dir = Dir::new(name);
    let row = |n| {
        format!("{{\"id\":{n},\"name\":\"n{}\",\"at\":{{\"x\":{},\"y\":null}}}}\n", n % 7, n * 2)
    };
    dir.write("t.jsonl", (0..rows).map(row).collect::<String>());
    dir.lancet("convert t.jsonl t.lance").ok();
    dir
}

#[test]
fn cat_shows_the_head_as_a_table() {
    let dir = with_lance("cat-table", 100);
    assert_snapshot("cat-table", &dir.lancet("cat t.lance").ok());
    let table = dir.lancet("cat t.lance --limit 30").ok();
    assert!(table.ends_with("30 of 100 rows\n"), "{table}");
    let table = dir.lancet("cat t.lance --rows 50..").ok();
    assert!(table.ends_with("50 of 100 rows\n"), "{table}");
}

#[test]
fn cat_prints_everything_as_text() {
    let dir = with_lance("cat-text", 100);
    assert_eq!(dir.lancet("cat t.lance --format jsonl").ok(), dir.read("t.jsonl"));
    let csv = dir.lancet("cat t.lance --columns id --format csv").ok();
    assert_eq!(csv.lines().count(), 101);
}

#[test]
fn cat_selects_rows_and_columns() {
    let dir = with_lance("cat-selects", 100);
    let cat = |args: &str| dir.lancet(&format!("cat t.lance --format jsonl {args}")).ok();
    assert_eq!(cat("--columns id --rows 98.."), "{\"id\":98}\n{\"id\":99}\n");
    assert_eq!(cat("--columns id --rows ..2"), "{\"id\":0}\n{\"id\":1}\n");
    assert_eq!(cat("--columns id --rows 10..20 --limit 1"), "{\"id\":10}\n");
    assert_eq!(cat("--columns at.x --rows 3..4"), "{\"at\":{\"x\":6}}\n");
    assert_eq!(cat("--columns id --rows 100.."), "");
    dir.lancet("cat t.lance --columns id --rows 5..7 -o five.csv").ok();
    assert_eq!(dir.read("five.csv"), "id\n5\n6\n");
}

#[test]
fn take_keeps_the_order() {
    let dir = with_lance("take", 100);
    let take = dir.lancet("take t.lance --rows 5,99,2..4,5 --columns id --format csv").ok();
    assert_eq!(take, "id\n5\n99\n2\n3\n5\n");
    assert_snapshot("take-table", &dir.lancet("take t.lance --rows 5,9,2").ok());
    dir.lancet("take t.lance --rows 7 -o seven.jsonl").ok();
    assert_eq!(
        dir.read("seven.jsonl"),
        "{\"id\":7,\"name\":\"n0\",\"at\":{\"x\":14,\"y\":null}}\n"
    );
}

#[test]
fn schema_as_a_tree_and_as_json() {
    let dir = with_lance("schema", 100);
    assert_snapshot("schema", &dir.lancet("schema t.lance").ok());
    assert_snapshot("schema-json", &dir.lancet("schema t.lance --json").ok());
}

#[test]
fn inspect_tells_columns_and_pages() {
    let dir = with_lance("inspect", 100);
    let report = dir.lancet("inspect t.lance").ok();
    for part in ["version   2.2", "rows      100", "\n id ", "\n at.x ", "encodings"] {
        assert!(report.contains(part), "{part}\n{report}");
    }
    let pages = dir.lancet("inspect t.lance --pages --columns at").ok();
    assert!(pages.contains("\nat.y (column ") && !pages.contains("\nid (column "), "{pages}");

    let json = dir.lancet("inspect t.lance --json --pages").ok();
    let report: serde_json::Value = serde_json::from_str(&json).unwrap();
    let size = dir.path("t.lance").metadata().unwrap().len();
    assert_eq!(report["file_bytes"], size);
    assert_eq!(report["rows"], 100);
    assert_eq!(report["columns"].as_array().unwrap().len(), 4);
    let sum = |values: &serde_json::Value| {
        values.as_array().unwrap().iter().map(|v| v["bytes"].as_u64().unwrap()).sum::<u64>()
    };
    for column in report["columns"].as_array().unwrap() {
        assert_eq!(column["bytes"], sum(&column["pages"]), "{column}");
        for page in column["pages"].as_array().unwrap() {
            assert_eq!(page["bytes"], sum(&page["buffers"]), "{page}");
        }
    }
    assert_eq!(report["data_bytes"], sum(&report["columns"]));
}
