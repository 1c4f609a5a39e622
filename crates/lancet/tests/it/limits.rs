//! Every limit stops what it is for, with an error that names the option to raise.

use std::sync::Arc;

use arrow_array::{LargeStringArray, RecordBatch};
use lancet::{Error, FileReader, FileWriter, Filter, ReadOptions, Result, WriteOptions};

use crate::mutate::file::Parts;
use crate::mutate::wire::{self, Kind, Value};
use crate::small;

fn parts(name: &str) -> Parts {
    let (_, file) = small::files().into_iter().find(|(n, _)| n == name).unwrap();
    Parts::split(&file).unwrap()
}

fn open(parts: &Parts, set: impl FnOnce(ReadOptions) -> ReadOptions) -> Result<FileReader> {
    FileReader::from_bytes(parts.join(), set(ReadOptions::default()))
}

/// Reads all rows as one batch.
fn read_all(reader: &FileReader) -> Result<usize> {
    let rows = reader.scan().batch_rows(usize::MAX).batch_bytes(u64::MAX).build()?;
    rows.map(|batch| Ok(batch?.num_rows())).sum()
}

#[track_caller]
fn assert_limit<T: std::fmt::Debug>(result: Result<T>, expected: &str) {
    match result.unwrap_err() {
        error @ Error::Limit { option, .. } => {
            assert_eq!(option, expected);
            assert!(error.to_string().contains(&format!("raise `{expected}`")), "{error}");
        }
        other => panic!("{other}"),
    }
}

/// Writes `to` over the first number that is `from`.
fn renumber(message: &[u8], from: u64, to: u64) -> Vec<u8> {
    let site = wire::sites(message).into_iter().find(|site| site.kind == Kind::Number(from));
    wire::set_number(message, &site.unwrap(), to).unwrap()
}

/// The first field number `number` of a message, `times` times.
fn repeat(message: &[u8], number: u64, times: usize) -> Vec<u8> {
    let mut fields = wire::parse(message).unwrap();
    let at = fields.iter().position(|field| field.number == number).unwrap();
    let copies = vec![fields[at].clone(); times];
    fields.splice(at..=at, copies);
    wire::encode(&fields)
}

#[test]
fn offsets_of_lists_in_lists_are_counted() {
    use arrow_array::{Array, ArrayRef, Int8Array, LargeListArray, RecordBatch};
    use arrow_buffer::OffsetBuffer;
    use arrow_schema::Field;
    use std::sync::Arc;

    const ROWS: usize = 20_000;
    // A constant page, one of chunks, one of rows.
    for (factor, structure) in [(0, "miniblock"), (37_usize, "miniblock"), (37, "fullzip")] {
        let key = "lance-encoding:structural-encoding".to_owned();
        let values = (0..ROWS).map(|row| (row * factor % 101) as i8);
        let mut array: ArrayRef = Arc::new(values.collect::<Int8Array>());
        for _ in 0..12 {
            let item = Field::new("item", array.data_type().clone(), true);
            let item = Arc::new(item.with_metadata([(key.clone(), structure.to_owned())].into()));
            let offsets = OffsetBuffer::from_lengths(vec![1; ROWS]);
            array = Arc::new(LargeListArray::new(item, offsets, array, None));
        }
        let batch = RecordBatch::try_from_iter([("lists", array)]).unwrap();
        let options = WriteOptions::default();
        let mut writer = FileWriter::new(Vec::new(), batch.schema(), options).unwrap();
        writer.write(&batch).unwrap();
        let file = writer.finish_into().unwrap().1;
        let read = |memory_limit: u64| {
            let options = ReadOptions::default().with_memory_limit(memory_limit);
            read_all(&FileReader::from_bytes(file.clone(), options).unwrap())
        };
        // Twelve offsets of 8 bytes a row are nearly 2 MB.
        assert_limit(read(1_500_000), "memory_limit");
        assert_eq!(read(4_000_000).unwrap(), ROWS);
    }
}

#[test]
fn rows_that_no_byte_vouches_for() {
    let mut forged = parts("all_null_v22");
    forged.descriptor = renumber(&forged.descriptor, 4, 1 << 40);
    forged.columns[0] = renumber(&forged.columns[0], 4, 1 << 40);
    let reader = open(&forged, |options| options).unwrap();
    assert_limit(read_all(&reader), "memory_limit");
    // In parts they are fine.
    assert_eq!(reader.scan().build().unwrap().next().unwrap().unwrap().num_rows(), 8192);
    assert_eq!(reader.take(&[(1 << 40) - 1]).unwrap().num_rows(), 1);
    // A filter that leaves none of them gives its caller a turn now and then.
    let name = reader.schema().field(0).name().clone();
    let mut none = reader.scan().filter(Filter::is_not_null(name)).build().unwrap();
    assert_eq!(none.next().unwrap().unwrap().num_rows(), 0);
}

#[test]
fn rows_that_fit_once_but_not_twice() {
    // Strings that take a byte each in the file and a kilobyte in memory.
    let texts = (0..100).map(|i| format!("{i}").repeat(500)).collect::<Vec<_>>();
    let rows = LargeStringArray::from_iter_values((0..100_000).map(|i| &texts[i * 7 % 100]));
    let batch = RecordBatch::try_from_iter([("text", Arc::new(rows) as _)]).unwrap();
    let mut writer = FileWriter::new(Vec::new(), batch.schema(), WriteOptions::default()).unwrap();
    writer.write(&batch).unwrap();
    let file = writer.finish_into().unwrap().1;
    let options = ReadOptions::default().with_memory_limit(150 << 20);
    let reader = FileReader::from_bytes(file, options).unwrap();
    assert_eq!(reader.take(&(0..100_000).collect::<Vec<_>>()).unwrap(), batch);
}

#[test]
fn rows_that_are_asked_for_very_often() {
    use arrow_array::{ArrayRef, BinaryArray, FixedSizeListArray, Int64Array, ListArray};
    let text = |i: usize| format!("{i:02}").repeat(500);
    let bytes: ArrayRef = Arc::new(BinaryArray::from_iter_values((0..10).map(text)));
    let vectors = FixedSizeListArray::from_iter_primitive::<arrow_array::types::Int64Type, _, _>(
        (0..10).map(|i| Some((0..100).map(move |j| Some(i * j)))),
        100,
    );
    let lists = ListArray::from_iter_primitive::<arrow_array::types::Int64Type, _, _>(
        (0..10).map(|i| Some((0..100 + i).map(Some))),
    );
    let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(0..10));
    for (column, row_bytes) in
        [(bytes, 1_000), (Arc::new(vectors) as ArrayRef, 800), (Arc::new(lists), 800), (numbers, 8)]
    {
        let batch = RecordBatch::try_from_iter([("x", column)]).unwrap();
        let options = WriteOptions::default();
        let mut writer = FileWriter::new(Vec::new(), batch.schema(), options).unwrap();
        writer.write(&batch).unwrap();
        let file = writer.finish_into().unwrap().1;
        let options = ReadOptions::default().with_memory_limit(1 << 20);
        let reader = FileReader::from_bytes(file, options).unwrap();
        let fits = (1 << 19) / row_bytes;
        assert_eq!(reader.take(&vec![5; fits]).unwrap().num_rows(), fits);
        assert_limit(reader.take(&vec![5; fits * 4]), "memory_limit");
        assert_limit(reader.take(&[5, 6].repeat(fits * 2)), "memory_limit");
    }
}

#[test]
fn pages_that_share_their_bytes() {
    // 2,000 pages of 6 rows, all made of the same 3 KB.
    let mut forged = parts("chunks_across_rows_v22");
    forged.columns[0] = repeat(&forged.columns[0], 2, 2000);
    forged.descriptor = renumber(&forged.descriptor, 6, 12_000);
    let tight = open(&forged, |options| options.with_memory_limit(4 << 20)).unwrap();
    assert_limit(read_all(&tight), "memory_limit");
    let wide = open(&forged, |options| options).unwrap();
    assert_eq!(read_all(&wide).unwrap(), 12_000);
}

#[test]
fn decompressed_bytes() {
    for name in ["fullzip_zstd_v22", "zstd_strings_v21", "lz4_strings_v22", "rle_v22", "fsst_v22"] {
        let file = parts(name);
        let tight = open(&file, |options| options.with_memory_limit(4000)).unwrap();
        assert_limit(read_all(&tight), "memory_limit");
        assert!(read_all(&open(&file, |options| options).unwrap()).is_ok());
    }
}

#[test]
fn blobs() {
    let file = parts("blob_v22");
    let used = |limit| read_all(&open(&file, |options| options.with_memory_limit(limit)).unwrap());
    assert!(used(1000).is_ok());
    assert_limit(used(110), "memory_limit");
}

#[test]
fn a_global_buffer() {
    let file = parts("lancet 2.2");
    let tight = open(&file, |options| options.with_memory_limit(10)).unwrap();
    assert_limit(tight.global_buffer(1), "memory_limit");
}

#[test]
fn metadata_that_blows_up() {
    // An empty page takes 2 bytes in the file, an empty field as well.
    let mut pages = parts("all_null_v22");
    pages.columns[0].extend([0x12, 0].repeat(1_000_000));
    let reader = open(&pages, |options| options.with_max_metadata_bytes(16 << 20)).unwrap();
    assert_limit(read_all(&reader), "max_metadata_bytes");

    let mut fields = parts("all_null_v22");
    let mut descriptor = wire::parse(&fields.descriptor).unwrap();
    let Value::Bytes(schema) = &mut descriptor[0].value else { panic!() };
    schema.extend([0x0a, 0].repeat(1_000_000));
    fields.descriptor = wire::encode(&descriptor);
    let opened = open(&fields, |options| options.with_max_metadata_bytes(16 << 20));
    assert_limit(opened.map(|_| ()), "max_metadata_bytes");
}

#[test]
fn nesting() {
    let file = parts("nested_v22");
    assert!(open(&file, |options| options.with_max_nesting(4)).is_ok());
    assert_limit(open(&file, |options| options.with_max_nesting(3)).map(|_| ()), "max_nesting");
}
