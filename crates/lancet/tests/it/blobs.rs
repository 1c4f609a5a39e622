//! Blobs: read by the byte, described, and scanned.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{Array, ArrayRef, Int32Array, LargeBinaryArray, RecordBatch, StructArray};
use arrow_schema::{DataType, Field, Fields, Schema};
use lancet::{Comparison, Error, FileReader, FileWriter, Filter, Span, Version, WriteOptions};

use crate::counted::Counted;

const ROWS: usize = 1_000;

fn payload(row: usize) -> Option<Vec<u8>> {
    match row % 10 {
        3 => None,
        4 => Some(Vec::new()),
        _ => Some((0..row * 11).map(|i| (i * 7 + row) as u8).collect()),
    }
}

fn blob_field(name: &str) -> Field {
    Field::new(name, DataType::LargeBinary, true)
        .with_metadata([("lance-encoding:blob".into(), "true".into())].into())
}

/// A blob column `b`, and one in a struct, `s.b`, which is null in every seventh row.
fn file(version: Version) -> Counted {
    let blobs: ArrayRef = Arc::new(LargeBinaryArray::from_iter((0..ROWS).map(payload)));
    let ids: ArrayRef = Arc::new(Int32Array::from_iter_values(0..ROWS as i32));
    let fields = Fields::from(vec![Field::new("i", DataType::Int32, true), blob_field("b")]);
    let nulls = (0..ROWS).map(|row| row % 7 != 0).collect();
    let inner = StructArray::new(fields, vec![ids, blobs.clone()], Some(nulls));
    let outer = Field::new("s", inner.data_type().clone(), true);
    let schema = Arc::new(Schema::new(vec![blob_field("b"), outer]));
    let batch = RecordBatch::try_new(schema.clone(), vec![blobs, Arc::new(inner)]).unwrap();
    let options = WriteOptions::default().with_version(version);
    let mut file = Vec::new();
    let mut writer = FileWriter::new(&mut file, schema, options).unwrap();
    writer.write(&batch.slice(0, 600)).unwrap();
    writer.write(&batch.slice(600, 400)).unwrap();
    writer.finish_into().unwrap();
    Counted::new(file)
}

#[test]
fn blobs_are_read_by_the_byte() {
    for version in [Version::V2_1, Version::V2_2] {
        let reader = file(version).open();
        for (column, hidden) in [("b", usize::MAX), ("s.b", 7)] {
            let blobs = reader.blobs(column).unwrap();
            assert_eq!(blobs.num_rows(), ROWS as u64);
            for row in 0..ROWS {
                let want = payload(row).filter(|_| row % hidden != 0 || hidden == usize::MAX);
                let length = blobs.len(row as u64).unwrap();
                assert_eq!(length, want.as_ref().map(|bytes| bytes.len() as u64), "row {row}");
                let Some(want) = want else { continue };
                assert_eq!(blobs.read(row as u64, ..).unwrap(), want);
                let end = want.len();
                let (a, b) = (end / 3, end / 2);
                assert_eq!(blobs.read(row as u64, a as u64..b as u64).unwrap(), want[a..b]);
                assert_eq!(blobs.read(row as u64, a as u64..).unwrap(), want[a..]);
            }
        }
    }
}

#[test]
fn a_read_costs_the_description_and_the_bytes() {
    let source = file(Version::V2_2);
    let reader = source.open();
    let blobs = reader.blobs("b").unwrap();
    let described = blobs.descriptions(&[999]).unwrap()[0].unwrap();
    source.rounds();
    blobs.read(999, 100..150).unwrap();
    let rounds = source.rounds();
    let [descriptions, bytes] = rounds.as_slice() else { panic!("{rounds:?}") };
    let [chunk] = descriptions.as_slice() else { panic!("{descriptions:?}") };
    assert!(chunk.len() <= 4_200, "{chunk:?}");
    assert_eq!(*bytes, [Span::at(described.position + 100, 50).unwrap()]);

    assert_eq!(blobs.len(998).unwrap(), Some(998 * 11));
    assert_eq!(source.rounds().len(), 1, "a length needs no payload");
    blobs.read(994, ..).unwrap();
    assert_eq!(source.rounds().len(), 1, "an empty blob has nothing to read");
}

#[test]
fn ranges_of_many_blobs_are_read_together() {
    let source = file(Version::V2_2);
    let reader = source.open();
    let blobs = reader.blobs("b").unwrap();
    blobs.len(0).unwrap();
    source.rounds();
    let ranges = [(999, 100..150), (4, 0..0), (12, 0..132), (999, 7..8), (12, 5..5)];
    let found = blobs.read_ranges(&ranges).unwrap();
    assert_eq!(source.rounds().len(), 2, "one for where they are, one for the bytes");
    for ((row, range), found) in ranges.iter().zip(&found) {
        assert_eq!(found, &blobs.read(*row, range.clone()).unwrap());
    }
    assert_eq!(found.len(), ranges.len());
    assert!(blobs.read_ranges(&[]).unwrap().is_empty());
    for wrong in [(3, 0..0), (12, 0..133), (1_000, 0..0)] {
        assert!(blobs.read_ranges(&[(999, 0..1), wrong]).is_err());
    }
}

#[test]
fn descriptions_come_in_the_order_asked_for() {
    let source = file(Version::V2_1);
    let reader = source.open();
    let found = reader.blobs("b").unwrap().descriptions(&[12, 3, 4, 11, 12]).unwrap();
    let sizes: Vec<_> = found.iter().map(|blob| blob.map(|blob| blob.size)).collect();
    assert_eq!(sizes, [Some(132), None, Some(0), Some(121), Some(132)]);
    let blob = found[0].unwrap();
    let at = blob.position as usize;
    assert_eq!((blob.kind, &source.bytes()[at..at + 132]), (0, &payload(12).unwrap()[..]));
    assert_eq!(at % 64, 0);
}

#[test]
fn a_scan_may_describe_blobs_instead_of_reading_them() {
    let source = file(Version::V2_2);
    let reader = source.open();
    let scan = reader.scan().blobs_as_descriptions().rows(5..20).build().unwrap();
    let schema = scan.schema();
    let batches: Vec<RecordBatch> = scan.map(Result::unwrap).collect();
    assert_eq!(batches[0].schema(), schema);
    let blobs = batches[0].column(0).as_struct();
    assert!(!schema.field(0).metadata().contains_key("lance-encoding:blob"));
    let sizes = blobs.column_by_name("size").unwrap().as_primitive::<UInt64Type>();
    for row in 5..20 {
        let want = payload(row);
        assert_eq!(blobs.is_valid(row - 5), want.is_some());
        assert_eq!(sizes.value(row - 5), want.map_or(0, |bytes| bytes.len() as u64));
    }
    let inner = batches[0].column(1).as_struct();
    assert!(inner.is_null(2) && inner.is_valid(3));
    assert_eq!(inner.column_by_name("b").unwrap().as_struct().num_columns(), 2);
    let largest = source.rounds().concat().iter().map(Span::len).max();
    assert!(largest <= Some(16 << 10), "no payloads: {largest:?}");
}

#[test]
fn what_makes_no_sense_is_refused() {
    let reader = file(Version::V2_2).open();
    for name in ["s", "s.i", "s.b.x", "none"] {
        assert!(matches!(reader.blobs(name), Err(Error::Invalid(_))), "{name}");
    }
    let blobs = reader.blobs("b").unwrap();
    let invalid = |result: lancet::Result<bytes::Bytes>| matches!(result, Err(Error::Invalid(_)));
    assert!(invalid(blobs.read(ROWS as u64, ..)));
    assert!(invalid(blobs.read(3, ..)), "a null");
    assert!(invalid(blobs.read(1, 0..12)), "beyond the end");
    assert!(blobs.read(1, 11..11).unwrap().is_empty());
}

/// Written by the reference as part of a table: `a: int64`, and `b` with 5 bytes, a null, no bytes,
/// 7 bytes and 200 bytes, all in the file.
#[test]
fn blobs_of_the_second_kind() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/blob_v2.lance");
    let reader = FileReader::open(path).unwrap();
    let batch = reader.take(&[0, 1]).unwrap();
    let descriptors = batch.column_by_name("b").unwrap().as_struct();
    let names = ["kind", "position", "size", "blob_id", "blob_uri"];
    assert_eq!(descriptors.column_names(), names);
    assert!(descriptors.is_valid(0) && descriptors.is_null(1));
    let blobs = reader.blobs("b").unwrap();
    let sizes: Vec<_> = (0..5).map(|row| blobs.len(row).unwrap()).collect();
    assert_eq!(sizes, [Some(5), None, Some(0), Some(7), Some(200)]);
    assert_eq!(blobs.read(0, ..).unwrap(), "hello");
    assert_eq!(blobs.read(3, 2..5).unwrap(), "rld");
    assert!(matches!(reader.blobs("a"), Err(Error::Invalid(_))));
}

#[test]
fn whether_blobs_are_null_is_seen_without_them() {
    for version in [Version::V2_1, Version::V2_2] {
        let source = file(version);
        let reader = source.open();
        for (column, hidden) in [("b", usize::MAX), ("s.b", 7)] {
            let is_null = |row: &usize| row % 10 == 3 || row.is_multiple_of(hidden) && hidden == 7;
            let nulls = (0..ROWS).filter(is_null).count();
            source.rounds();
            let scan = reader.scan().columns(["s.i"]).filter(Filter::is_null(column));
            let rows: usize = scan.build().unwrap().map(|batch| batch.unwrap().num_rows()).sum();
            assert_eq!(rows, nulls, "{version} {column}");
            let read: u64 = source.rounds().iter().flatten().map(|span| span.len()).sum();
            assert!(read < 100_000, "{version} {column}: {read} bytes");
        }
        // Where it is wanted, too, it is read for the rows that are left.
        let scan = reader.scan().columns(["b"]).filter(!Filter::is_null("b"));
        let batches: Vec<_> = scan.build().unwrap().map(|batch| batch.unwrap()).collect();
        let rows = batches.iter().flat_map(|batch| batch.column(0).as_binary::<i64>().iter());
        let expected: Vec<_> = (0..ROWS).filter_map(payload).collect();
        assert!(rows.eq(expected.iter().map(|bytes| Some(bytes.as_slice()))));
        // And where its bytes count, it is read as before.
        let value = LargeBinaryArray::from_iter_values([payload(1).unwrap()]);
        let value = arrow_array::Scalar::new(value);
        let first = Filter::compare("b", Comparison::Eq, &value).and(!Filter::is_null("b"));
        let batches = reader.scan().columns(["s.i"]).filter(first).build().unwrap();
        assert_eq!(batches.map(|batch| batch.unwrap().num_rows()).sum::<usize>(), 1);
    }
}
