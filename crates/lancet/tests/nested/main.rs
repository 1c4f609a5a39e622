//! Nested tables, written by lancet and read again in every way.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../support/mod.rs"]
mod support;
mod tables;

use std::sync::Arc;

use arrow_array::builder::{Int32Builder, ListBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::Int8Type;
use arrow_array::{
    Array, ArrayRef, BooleanArray, DictionaryArray, FixedSizeListArray, Int32Array, ListArray,
    RecordBatch, StringArray, StructArray,
};
use arrow_buffer::{NullBufferBuilder, OffsetBuffer};
use arrow_schema::{DataType, Field, Fields, Schema};
use lancet::{Error, FileReader, FileWriter, ReadOptions, Version, WriteOptions};
use proptest::prelude::*;
use support::{Random, compare, reading};
use tables::pick;

const VERSIONS: [Version; 2] = [Version::V2_1, Version::V2_2];

fn options(version: Version, page_bytes: u64) -> WriteOptions {
    WriteOptions::default().with_version(version).with_page_bytes(page_bytes)
}

fn write(batches: &[RecordBatch], options: WriteOptions) -> lancet::Result<Vec<u8>> {
    let mut file = Vec::new();
    let mut writer = FileWriter::new(&mut file, batches[0].schema(), options)?;
    for batch in batches {
        writer.write(batch)?;
    }
    writer.finish_into()?;
    Ok(file)
}

fn open(file: Vec<u8>) -> FileReader {
    FileReader::from_bytes(file, ReadOptions::default()).unwrap()
}

/// Cuts the table at random rows.
fn batches(table: &RecordBatch, random: &mut Random) -> Vec<RecordBatch> {
    let rows = table.num_rows();
    let most = pick(random, &[5, 5, 200]);
    let num_cuts = random.below(most);
    let mut cuts: Vec<usize> =
        (0..num_cuts).map(|_| random.below(rows as u64 + 1) as usize).collect();
    cuts.extend([0, rows]);
    cuts.sort_unstable();
    cuts.windows(2).map(|cut| table.slice(cut[0], cut[1] - cut[0])).collect()
}

/// A file of the reference: one row, a null list of structs whose only field is a dictionary.
#[test]
fn slots_of_a_dictionary_below_a_null_list() {
    let file = include_bytes!("../data/null_list_of_dictionary.lance");
    let table = open(file.to_vec()).take(&[0]).unwrap();
    let lists = table.column(0).as_fixed_size_list();
    assert_eq!((lists.len(), lists.null_count(), lists.values().len()), (1, 1, 1));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn random_tables_come_back(seed in any::<u64>()) {
        let random = &mut Random::seeded(&seed.to_string());
        let version = pick(random, &VERSIONS);
        let table = tables::table(random, version);
        let page_bytes = pick(random, &[1, 200, 5_000, 100_000, 8 << 20]);
        let limit = pick(random, &[0, 1 << 10, 1 << 14, 1 << 17, 1 << 20, 256 << 20]);
        let options = options(version, page_bytes).with_memory_limit(limit);
        let file = write(&batches(&table, random), options.clone()).unwrap();
        let read = reading::everything(&seed.to_string(), &open(file), &table);
        let read = read.map_err(|failure| failure.to_string());
        prop_assert_eq!(read, Ok(()), "{:?}, {:?}", options, table.schema());
    }
}

/// One row of `num_lists` lists, of which only two have items: the first three of them at the
/// start, the last one near the end.
fn long_row(items: ArrayRef, mark: Option<&str>, num_lists: usize) -> RecordBatch {
    let mut item = Field::new("item", items.data_type().clone(), true);
    if let Some(mark) = mark {
        item = item.with_metadata([(mark.to_owned(), "true".to_owned())].into());
    }
    let lengths = (0..num_lists).map(|i| match i {
        5 => 3,
        i if i == num_lists - 9 => 1,
        _ => 0,
    });
    let offsets = OffsetBuffer::<i32>::from_lengths(lengths);
    let mut nulls = NullBufferBuilder::new(num_lists);
    (0..num_lists).for_each(|i| nulls.append(i % 1_000 != 7));
    let inner = ListArray::new(Arc::new(item), offsets, items, nulls.finish());
    let item = Arc::new(Field::new("item", inner.data_type().clone(), true));
    let outer =
        ListArray::new(item, OffsetBuffer::from_lengths([num_lists]), Arc::new(inner), None);
    let field = Field::new("c", outer.data_type().clone(), true);
    RecordBatch::try_new(Arc::new(Schema::new(vec![field])), vec![Arc::new(outer)]).unwrap()
}

fn numbers() -> ArrayRef {
    Arc::new(Int32Array::from(vec![Some(1), None, Some(3), Some(4)]))
}

fn vector(items: ArrayRef, size: i32) -> ArrayRef {
    let item = Arc::new(Field::new("item", items.data_type().clone(), true));
    Arc::new(FixedSizeListArray::new(item, size, items, None))
}

fn pairs() -> ArrayRef {
    let x: ArrayRef = Arc::new(Int32Array::from(vec![1, 2, 3, 4]));
    let fields = Fields::from(vec![Field::new("x", DataType::Int32, false)]);
    Arc::new(StructArray::new(fields, vec![x], None))
}

fn layouts(reader: &FileReader) -> Vec<String> {
    let columns = reader.inspect().unwrap().columns;
    columns.into_iter().flat_map(|c| c.pages).map(|page| page.layout).collect()
}

#[test]
fn a_row_with_more_levels_than_a_chunk_counts_is_zipped() {
    let eight = |n| Arc::new(BooleanArray::from(vec![true; n]));
    for (items, mark, since) in [
        (numbers(), None, 0),
        (Arc::new(BooleanArray::from(vec![true, false, false, true])) as ArrayRef, None, 0),
        (Arc::new(StringArray::from(vec!["a", "", "ccc", "d"])), None, 0),
        (
            vector(Arc::new(Int32Array::from_iter((0..8).map(|i| (i != 3).then_some(i)))), 2),
            None,
            0,
        ),
        (vector(eight(32), 8), None, 0),
        (pairs(), Some("lance-encoding:packed"), 1),
    ] {
        for version in &VERSIONS[since..] {
            let table = long_row(items.clone(), mark, 70_000);
            let reader =
                open(write(std::slice::from_ref(&table), options(*version, 1 << 20)).unwrap());
            assert_eq!(layouts(&reader), ["full-zip"]);
            compare::batches(&reader.take(&[0]).unwrap(), &table).unwrap();
        }
    }
}

#[test]
fn a_long_row_that_cannot_be_zipped_is_refused_with_the_reason() {
    let words = Arc::new(StringArray::from(vec!["a", "b"]));
    let keys = vec![0_i8, 1, 0, 1];
    let dictionary: ArrayRef = Arc::new(DictionaryArray::<Int8Type>::new(keys.into(), words));
    let bits = Arc::new(BooleanArray::from(vec![true; 8]));
    for (items, mark, version, why) in [
        (dictionary, None, Version::V2_2, "cast the column"),
        (vector(bits, 2), None, Version::V2_2, "no whole bytes"),
        (pairs(), Some("lance-encoding:packed"), Version::V2_1, "write 2.2"),
    ] {
        let table = long_row(items, mark, 70_000);
        let error = write(&[table], options(version, 1 << 20)).unwrap_err();
        let Error::Unsupported(text) = &error else { panic!("{error}") };
        assert!(text.contains("70002 levels around 4 values") && text.contains(why), "{text}");
    }
}

#[test]
fn rows_before_and_after_a_long_one_stay_in_chunks() {
    let short = long_row(numbers(), None, 20);
    let long = long_row(numbers(), None, 70_000);
    let parts = [short.clone(), short.clone(), short.clone(), long, short];
    let table = arrow_select::concat::concat_batches(&parts[0].schema(), &parts).unwrap();
    for version in VERSIONS {
        let reader = open(write(std::slice::from_ref(&table), options(version, 64 << 20)).unwrap());
        let layouts = layouts(&reader);
        assert_eq!(layouts.iter().filter(|layout| *layout == "full-zip").count(), 1, "{layouts:?}");
        reading::everything("long", &reader, &table).unwrap();
    }
}

#[test]
fn sparse_lists_are_cut_into_pages_that_can_count_them() {
    let mut lists = ListBuilder::new(Int32Builder::new());
    for row in 0..300_000 {
        match row % 140_001 {
            0 => lists.append_value([Some(row), None]),
            1 => lists.append_null(),
            _ => lists.append_value([]),
        }
    }
    let lists = lists.finish();
    let field = Field::new("c", lists.data_type().clone(), true);
    let schema = Arc::new(Schema::new(vec![field]));
    let table = RecordBatch::try_new(schema, vec![Arc::new(lists)]).unwrap();
    for version in VERSIONS {
        let reader = open(write(std::slice::from_ref(&table), options(version, 64 << 20)).unwrap());
        assert!(layouts(&reader).len() > 2);
        let batches: Vec<_> = reader.scan().build().unwrap().map(Result::unwrap).collect();
        let whole = arrow_select::concat::concat_batches(&table.schema(), &batches).unwrap();
        compare::batches(&whole, &table).unwrap();
        let rows = [299_999, 0, 140_001, 140_002, 65_535, 65_536];
        let taken = reader.take(&rows).unwrap();
        compare::batches(&taken, &support::select::take(&table, &rows)).unwrap();
    }
}

/// A file of the reference, from `tests/data`.
fn data(name: &str) -> RecordBatch {
    let path = format!("{}/tests/data/{name}.lance", env!("CARGO_MANIFEST_DIR"));
    let reader = FileReader::open(path).unwrap();
    let rows: Vec<u64> = (0..reader.num_rows()).collect();
    let taken = reader.take(&rows).unwrap();
    let scanned = reader.scan().build().unwrap().next().unwrap().unwrap();
    compare::batches(&taken, &scanned).unwrap();
    taken
}

/// Where all inner lists are null, the file holds only bitmaps.
#[test]
fn vectors_of_null_vectors_are_read() {
    let batch = data("null_inner_vectors_v21");
    let rows = batch.column(0).as_fixed_size_list();
    assert_eq!((rows.len(), rows.is_valid(0), rows.is_valid(1)), (2, true, false));
    let inner = rows.value(0);
    assert_eq!((inner.len(), inner.null_count()), (3, 3));
    let inner = inner.as_fixed_size_list();
    assert_eq!((inner.value_length(), inner.value_type()), (2, DataType::Int16));

    let batch = data("null_items_v22");
    let rows = batch.column(0).as_fixed_size_list();
    assert_eq!((rows.len(), rows.null_count(), rows.value_type()), (2, 0, DataType::Null));
}

/// A struct without fields inside another one stores nothing about the nesting around it.
#[test]
fn structs_without_fields_inside_structs_are_read() {
    let batch = data("inner_empty_struct_v22");
    let rows = batch.column(0).as_struct();
    assert_eq!((rows.len(), rows.null_count()), (3, 0));
    assert_eq!(rows.column(0).as_struct().num_columns(), 0);
    let x = Int32Array::from(vec![Some(1), None, Some(3)]);
    assert_eq!(rows.column(1).as_ref(), &x);
}
