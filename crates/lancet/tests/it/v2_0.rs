//! Format 2.0: what the golden files do not show.

use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::{Int8Builder, StringDictionaryBuilder};
use arrow_array::types::Int8Type;
use arrow_array::{
    Array, ArrayRef, Int32Array, ListArray, RecordBatch, StringArray, StructArray, UInt64Array,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{DataType, Field, Fields};
use lancet::{Error, FileReader, FileWriter, ReadOptions, Version, WriteOptions};

use crate::support::{Failure, reading};

fn options(page_bytes: u64) -> WriteOptions {
    WriteOptions::default().with_version(Version::V2_0).with_page_bytes(page_bytes)
}

fn batch(name: &str, array: ArrayRef) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable([(name, array, true)]).unwrap()
}

fn written(batches: &[RecordBatch], page_bytes: u64) -> FileReader {
    let mut file = Vec::new();
    let mut writer = FileWriter::new(&mut file, batches[0].schema(), options(page_bytes)).unwrap();
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.finish_into().unwrap();
    FileReader::from_bytes(file, ReadOptions::default()).unwrap()
}

fn read_again(name: &str, table: &RecordBatch, page_bytes: u64) -> FileReader {
    let reader = written(std::slice::from_ref(table), page_bytes);
    if let Err(Failure::Wrong(what) | Failure::Unsupported(what)) =
        reading::everything(name, &reader, table)
    {
        panic!("{name}: {what}");
    }
    assert!(reader.verify().unwrap().problems.is_empty());
    reader
}

fn small(name: &str) -> FileReader {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/small");
    FileReader::open(folder.join(format!("{name}_v20.lance"))).unwrap()
}

fn structs(nulls: Option<NullBuffer>) -> ArrayRef {
    let fields = Fields::from(vec![Field::new("x", DataType::Int32, true)]);
    let x: ArrayRef = Arc::new(Int32Array::from(vec![Some(1), None, Some(3)]));
    Arc::new(StructArray::new(fields, vec![x], nulls))
}

#[test]
fn null_structs_are_refused_and_leave_no_file() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("null-structs.lance");
    let nulls = NullBuffer::from(vec![true, false, true]);
    let table = batch("s", structs(Some(nulls.clone())));
    let mut writer = FileWriter::create(&path, table.schema(), options(8 << 20)).unwrap();
    match writer.write(&table) {
        Err(Error::Unsupported(what)) => assert!(what.contains("write 2.1 or 2.2"), "{what}"),
        other => panic!("{other:?}"),
    }
    drop(writer);
    assert!(!path.exists());
    read_again("structs", &batch("s", structs(None)), 8 << 20);

    // Under a null list nobody sees them.
    let item = Arc::new(Field::new("item", structs(None).data_type().clone(), true));
    let lists = |offsets: Vec<i32>, valid: Vec<bool>| {
        let offsets = OffsetBuffer::new(offsets.into());
        let items = structs(Some(nulls.clone()));
        let nulls = Some(NullBuffer::from(valid));
        let lists: ArrayRef = Arc::new(ListArray::new(item.clone(), offsets, items, nulls));
        batch("l", lists)
    };
    read_again("hidden", &lists(vec![0, 1, 2, 3], vec![true, false, true]), 8 << 20);
    let seen = lists(vec![0, 1, 2, 3], vec![true, true, false]);
    let mut writer = FileWriter::new(Vec::new(), seen.schema(), options(8 << 20)).unwrap();
    assert!(matches!(writer.write(&seen), Err(Error::Unsupported(_))));
}

#[test]
fn dictionaries_are_cut_where_keys_end() {
    // 128 words are all that 8-bit keys can number, and a null needs one too.
    let mut words = StringDictionaryBuilder::<Int8Type>::new();
    for i in 0..128 {
        words.append_value(format!("word {i}"));
    }
    words.append_null();
    let reader = read_again("words", &batch("d", Arc::new(words.finish())), 8 << 20);
    let pages = &reader.inspect().unwrap().columns[0].pages;
    assert_eq!(pages.len(), 2);
    assert!(pages[0].encoding.starts_with("dictionary of 65 items"), "{}", pages[0].encoding);
}

#[test]
fn pages_of_lists_and_items_need_not_agree() {
    let rows = 900_i32;
    let offsets: Vec<i32> = (0..=rows)
        .scan(0, |end, i| {
            Some({
                *end += i % 4;
                *end
            })
        })
        .collect();
    let mut items = Int8Builder::new();
    (0..*offsets.last().unwrap())
        .for_each(|i| items.append_option((i % 5 != 0).then_some(i as i8)));
    let field = Arc::new(Field::new("item", DataType::Int8, true));
    let offsets = OffsetBuffer::new(offsets.into());
    let first = offsets[0];
    let offsets = OffsetBuffer::new(offsets.iter().map(|o| o - first).collect::<Vec<_>>().into());
    let nulls = NullBuffer::from_iter((0..rows).map(|i| i % 7 != 3));
    let items: ArrayRef = Arc::new(items.finish());
    let lists: ArrayRef = Arc::new(ListArray::new(field, offsets, items, Some(nulls)));
    let table = batch("l", lists);
    let batches: Vec<RecordBatch> = (0..9).map(|i| table.slice(i * 100, 100)).collect();
    let reader = written(&batches, 300);
    let columns = reader.inspect().unwrap().columns;
    assert!(columns[0].pages.len() > 3 && columns[0].pages.len() != columns[1].pages.len());
    if let Err(Failure::Wrong(what) | Failure::Unsupported(what)) =
        reading::everything("pages of lists", &reader, &table)
    {
        panic!("{what}");
    }
}

#[test]
fn few_words_are_shared_and_strings_compressed() {
    let words: StringArray =
        (0..500).map(|i| (i % 9 != 4).then(|| format!("w{}", i % 9))).collect();
    let table = batch("s", Arc::new(words));
    let reader = read_again("few words", &table, 8 << 20);
    let page = &reader.inspect().unwrap().columns[0].pages[0];
    assert_eq!(page.encoding, "dictionary of 8 items (binary), flat 8-bit");
    let holds: Vec<&str> = page.buffers.iter().map(|buffer| buffer.holds.as_str()).collect();
    assert_eq!(holds, ["indices", "ends of strings", "bytes"]);

    let texts: StringArray = (0..500).map(|i| Some(format!("some text and {i}"))).collect();
    let table = batch("s", Arc::new(texts));
    let mut options = options(8 << 20);
    options.column("s").set("compression", "zstd").unwrap();
    let mut file = Vec::new();
    let mut writer = FileWriter::new(&mut file, table.schema(), options).unwrap();
    writer.write(&table).unwrap();
    let (summary, _) = writer.finish_into().unwrap();
    assert_eq!(summary.columns[0].pages[0].encoding, "binary, bytes in zstd");
    let reader = FileReader::from_bytes(file, ReadOptions::default()).unwrap();
    assert_eq!(reader.take(&[499, 3]).unwrap().num_rows(), 2);
    let scanned: Vec<_> = reader.scan().build().unwrap().map(|batch| batch.unwrap()).collect();
    assert_eq!(scanned[0], table);
}

#[test]
fn blobs_are_read_by_the_byte() {
    let reader = small("blob");
    let blobs = reader.blobs("x").unwrap();
    let sizes: Vec<_> = (0..4).map(|row| blobs.len(row).unwrap()).collect();
    assert_eq!(sizes, [Some(5), None, Some(0), Some(7)]);
    assert_eq!(blobs.read(3, 1..5).unwrap(), "orld");
    assert_eq!(blobs.read(2, ..).unwrap(), "");
    let mut described = reader.scan().blobs_as_descriptions().build().unwrap();
    let batch = described.next().unwrap().unwrap();
    let column = batch.column(0).as_any().downcast_ref::<StructArray>().unwrap();
    let sizes = column.column(1).as_any().downcast_ref::<UInt64Array>().unwrap();
    assert_eq!((sizes.values()[..].to_vec(), column.null_count()), (vec![5, 0, 0, 7], 1));
}

#[test]
fn structs_and_lists_are_explained() {
    let report = small("nested").inspect().unwrap();
    let seen: Vec<(String, String, String)> = report
        .columns
        .iter()
        .map(|c| (c.name.clone(), c.pages[0].layout.clone(), c.pages[0].encoding.clone()))
        .collect();
    let expected = [
        ("x", "list", "ends of lists of 4 items, flat 64-bit"),
        ("x.item", "struct", "no values"),
        ("x.item.a", "array", "nullable flat 32-bit"),
        ("x.item.l", "list", "ends of lists of 3 items, flat 64-bit"),
        ("x.item.l.item", "array", "nullable flat 16-bit"),
    ];
    let expected = expected.map(|(a, b, c)| (a.to_string(), b.to_string(), c.to_string()));
    assert_eq!(seen, expected);
}
