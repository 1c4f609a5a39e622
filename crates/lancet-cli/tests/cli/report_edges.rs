//! `report` of files at the edges: very many columns, names that come twice, columns that do not open; and how the columns of
//! tables changed.

use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{
    ArrayRef, BooleanArray, Int32Array, Int64Array, RecordBatch, RecordBatchIterator, StringArray,
    StructArray,
};
use arrow_schema::{DataType, Field};
use lancet::FileReader;
use lancet_table::{Table, TableWriteOptions};
use serde_json::{Value, json};

use crate::lancet::Dir;
use crate::page::Page;
use crate::report::{numbers, report, run_probe, write};

/// The page of a file or table, however long it is.
fn page_of(path: &Path, args: &[&str]) -> Page {
    let args = [&[path.to_str().unwrap(), "--no-analyze"], args].concat();
    Page::parse(&report(&args).unwrap())
}

/// Names that come twice: which is which is told by the number of the column.
#[test]
fn columns_of_the_same_name_are_not_mixed_up() {
    let dir = Dir::new("report-same-names");
    let path = dir.path("t.lance");
    let scattered = |row: i64| row.wrapping_mul(0x1e37_79b9_7f4a_7c15).unsigned_abs() as i64 >> 30;
    let column = |value: &dyn Fn(i64) -> i64| {
        Arc::new(Int64Array::from_iter_values((0..40_000).map(value))) as ArrayRef
    };
    let sorted = column(&|row| row * 1_000_000 + scattered(row) % 1_000_000);
    let mixed = column(&|row| scattered(row) % 1_000);
    write(&path, vec![("name_a".into(), sorted), ("name_b".into(), mixed)]);
    // The writer refuses this, others do not.
    let mut bytes = std::fs::read(&path).unwrap();
    let found: Vec<usize> =
        (0..bytes.len()).filter(|at| bytes[*at..].starts_with(b"name_b")).collect();
    found.iter().for_each(|at| bytes[at + 5] = b'a');
    std::fs::write(&path, &bytes).unwrap();
    let page = page_of(&path, &["--no-verify"]);
    let columns = &page.data["columns"];
    assert_eq!(columns[0][8]["o"], "sorted, ascending");
    assert_eq!(columns[1][8]["o"], "in no order");
    let distinct = |column: usize| columns[column][4].as_u64().unwrap();
    assert!(distinct(0) == 40_000 && distinct(1) < 2_000, "{} {}", distinct(0), distinct(1));
    assert_eq!((&columns[0][0], &columns[1][0]), (&json!("name_a"), &json!("name_a")));
    let first = (scattered(1) % 1_000_000 + 1_000_000, scattered(1) % 1_000);
    assert!(page.has_text(&format!("1 {} {}", first.0, first.1)), "rows: {}", page.text);
}

/// Many small columns, and a large one behind all of them.
fn wide(columns: usize) -> RecordBatch {
    let small = (0..columns - 1).map(|number| (format!("small_{number:04}"), numbers(3)));
    let long = StringArray::from_iter_values((0..3).map(|row| format!("{row}").repeat(5_000)));
    let large = ("large".to_owned(), Arc::new(long) as ArrayRef);
    RecordBatch::try_from_iter(small.chain([large])).unwrap()
}

fn check_wide(page: &Page, all_bytes: u64) {
    let columns = page.data["columns"].as_array().unwrap();
    assert_eq!((columns.len(), &columns[1_999][0]), (2_000, &json!("large")));
    let listed: u64 = columns.iter().map(|column| column[2].as_u64().unwrap()).sum();
    assert_eq!(page.data["more"][0], 100);
    assert_eq!(listed + page.data["more"][1].as_u64().unwrap(), all_bytes);
    assert!(page.has_text("100 smaller columns not listed, with "), "it says what it leaves out");
    assert!(page.has_text("Columns 2,100"), "it says how many there are");
    // What is drawn has something to draw.
    let cells = page.elements.iter().filter_map(|(_, attributes)| {
        let number =
            attributes.iter().find(|(key, _)| key == "data-c")?.1.parse::<usize>().unwrap();
        let class = &attributes.iter().find(|(key, _)| key == "class")?.1;
        Some((class == "pages", number))
    });
    let cells: Vec<(bool, usize)> = cells.collect();
    assert!(cells.len() >= 30);
    for (is_pages, number) in cells {
        let drawn = if is_pages { &columns[number][7] } else { &columns[number][8]["b"] };
        assert!(!drawn.as_array().unwrap().is_empty(), "column {number}");
    }
}

#[test]
fn of_too_many_columns_the_largest_are_listed() {
    let dir = Dir::new("report-too-wide");
    let path = dir.path("t.lance");
    let batch = wide(2_100);
    let schema = batch.schema();
    let columns = schema.fields().iter().map(|field| field.name().clone());
    write(&path, columns.zip(batch.columns().iter().cloned()).collect());
    let report_of = FileReader::open(&path).unwrap().inspect().unwrap();
    let page = page_of(&path, &[]);
    check_wide(&page, report_of.columns.iter().map(|column| column.bytes).sum());

    let path = path.to_str().unwrap();
    let both = Page::parse(&report(&[path, path]).unwrap());
    assert!(both.has_text("large"), "the largest column is compared");
    assert!(both.has_text("100 smaller columns not listed: "), "{}", both.text.len());

    let batches = RecordBatchIterator::new([Ok(batch.clone())], batch.schema());
    Table::create_with(dir.path("table"), batches, &TableWriteOptions::default()).unwrap();
    let page = page_of(&dir.path("table"), &[]);
    let table = dir.lancet("inspect table --json").ok();
    let table: Value = serde_json::from_str(&table).unwrap();
    let columns = table["columns"].as_array().unwrap();
    check_wide(&page, columns.iter().map(|column| column["bytes"].as_u64().unwrap()).sum());
}

/// Every part of the map can be reached, however many there are.
#[test]
fn all_parts_can_be_opened() {
    let dir = Dir::new("report-zoom");
    let path = dir.path("t.lance");
    let columns = (0..600).map(|number| (format!("column_{number:03}"), numbers(3_000)));
    write(&path, columns.collect());
    let page = page_of(&path, &[]);
    let strip = page.data["strip"].as_array().unwrap();
    assert!(strip.len() <= 900, "{}", strip.len());
    let mut reached = std::collections::BTreeSet::new();
    for part in strip {
        let Some(inside) = part.get(5) else {
            reached.extend(part[1].as_u64());
            continue;
        };
        let inside = inside.as_array().unwrap();
        assert_eq!((part[4].as_u64().unwrap(), &part[1]), (inside.len() as u64, &json!(-1)));
        let bytes: u64 = inside.iter().map(|part| part[0].as_u64().unwrap()).sum();
        assert_eq!(bytes, part[0].as_u64().unwrap());
        reached.extend(inside.iter().filter_map(|part| part[1].as_u64()));
    }
    assert_eq!(reached.len(), 600, "all columns");
    let text = report(&[path.to_str().unwrap(), "--no-analyze"]).unwrap();
    run_probe(&dir, &text, include_str!("../support/probe_wide.js"));
}

/// What was not asked for is not done, also where the columns do not open.
#[test]
fn columns_that_do_not_open() {
    let dir = Dir::new("report-columns-damaged");
    let path = dir.path("t.lance");
    write(&path, vec![("id".into(), numbers(5_000)), ("n".into(), numbers(5_000))]);
    let found = FileReader::open(&path).unwrap().inspect().unwrap();
    let metadata = found.parts.iter().find(|part| part.holds == "metadata of column 1").unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    let start = metadata.position as usize;
    bytes[start..start + metadata.bytes as usize].fill(0xff);
    std::fs::write(&path, &bytes).unwrap();
    let unasked = page_of(&path, &["--no-verify"]);
    assert!(
        unasked.has_text("There is damage. Its columns do not open; nothing else was checked.")
    );
    assert!(!unasked.has_text("checked, "), "{}", unasked.text);
    let asked = page_of(&path, &[]);
    assert!(asked.has_text("There is damage.") && !asked.has_text("nothing else was checked"));
}

/// Of true, false and null there are two values.
#[test]
fn nulls_are_no_values() {
    let dir = Dir::new("report-nulls");
    let path = dir.path("t.lance");
    let flags = (0..900).map(|row| [Some(true), Some(false), None][row % 3]);
    let flags: ArrayRef = Arc::new(flags.collect::<BooleanArray>());
    write(&path, vec![("flag".into(), flags)]);
    let page = page_of(&path, &[]);
    assert_eq!(
        (&page.data["columns"][0][3], &page.data["columns"][0][4]),
        (&json!(300), &json!(2))
    );
}

/// The rows of a damaged column are not there; those of the others are.
#[test]
fn damaged_columns_hide_no_others() {
    let dir = Dir::new("report-rows-damaged");
    let path = dir.path("t.lance");
    write(&path, vec![("id".into(), numbers(5_000)), ("n".into(), numbers(5_000))]);
    let found = FileReader::open(&path).unwrap().inspect().unwrap();
    let chunks = &found.columns[1].pages[0].buffers[0];
    let mut bytes = std::fs::read(&path).unwrap();
    let start = chunks.position as usize;
    bytes[start..start + chunks.bytes as usize].fill(0xff);
    std::fs::write(&path, &bytes).unwrap();
    let page = page_of(&path, &[]);
    assert!(page.has_text("3 3 cannot be read"), "{}", page.text);
}

/// Comparing tries nothing and checks nothing, and says so.
#[test]
fn comparing_takes_no_options_of_one_file() {
    let dir = Dir::new("report-compare-options");
    write(&dir.path("a.lance"), vec![("id".into(), numbers(9))]);
    for option in ["--analyze", "--verify"] {
        let ran = dir.lancet(&format!("report a.lance a.lance {option} -o -"));
        assert_eq!(ran.code, 2, "{}", ran.stderr);
        assert!(ran.stderr.contains(&format!("{option} is for the report of one file")));
    }
    dir.lancet("-q report a.lance a.lance --no-verify --no-analyze -o -").ok();
}

/// Rows with blobs show what these begin with, not where they lie.
#[test]
fn blobs_of_tables_are_shown() {
    let dir = crate::tables::with_table("report-blobs", "blob_v21");
    let page = page_of(&dir.path("table"), &[]);
    assert!(page.has_text("The first rows") && !page.has_text("position"), "{}", page.text);
}

/// What each version did to the columns: nested ones with their paths, types and nulls, too.
#[test]
fn how_columns_changed_is_told() {
    let dir = Dir::new("report-schema-history");
    let field = |name: &str| Arc::new(Field::new(name, DataType::Int64, true));
    let place = StructArray::from(vec![(field("x"), numbers(3)), (field("y"), numbers(3))]);
    let batch = RecordBatch::try_from_iter([
        ("id", numbers(3)),
        ("zip", numbers(3)),
        ("place", Arc::new(place) as ArrayRef),
    ]);
    let batch = batch.unwrap();
    let batches = RecordBatchIterator::new([Ok(batch.clone())], batch.schema());
    Table::create_with(dir.path("table"), batches, &TableWriteOptions::default()).unwrap();
    dir.lancet("table add-column table --name n --value 7 --type int32").ok();
    dir.lancet("table rename-column table zip code").ok();
    dir.lancet("table drop-column table place.y n").ok();
    let mut table = Table::open(dir.path("table")).unwrap();
    let options = TableWriteOptions::default();
    table.set_nullable("id", false, &options).unwrap();
    let short = |values: &ArrayRef| {
        let values = values.as_primitive::<Int64Type>().iter();
        Ok(Arc::new(values.map(|n| n.map(|n| n as i32)).collect::<Int32Array>()) as ArrayRef)
    };
    table.retype_column("code", &DataType::Int32, short, &options).unwrap();
    table.set_nullable("id", true, &options).unwrap();
    let page = page_of(&dir.path("table"), &[]);
    for (version, text) in [(2, "2 n (int32"), (3, "3 zip → code"), (4, "4 place.y; n")] {
        assert!(page.has_text(text), "version {version}: {}", page.text);
    }
    assert!(page.has_text("1 column renamed") && page.has_text("2 columns dropped"));
}
