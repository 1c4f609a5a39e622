//! Very many of something: what takes a moment here would take minutes if each of them were compared with
//! each of the others, or a stack if each were within the next.

use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow_array::{ArrayRef, BinaryArray, Int32Array, RecordBatch, StringArray};
use lancet::{Comparison, FileReader, FileWriter, Filter, ReadOptions, Version, WriteOptions};

use crate::mutate::file::Parts;
use crate::mutate::wire::{self, Kind, Value};
use crate::small;

fn written(batch: &RecordBatch, options: WriteOptions) -> Vec<u8> {
    let mut writer = FileWriter::new(Vec::new(), batch.schema(), options).unwrap();
    writer.write(batch).unwrap();
    writer.finish_into().unwrap().1
}

fn open(file: Vec<u8>) -> FileReader {
    FileReader::from_bytes(file, ReadOptions::default()).unwrap()
}

#[test]
fn fields_that_have_to_be_looked_at() {
    const FIELDS: usize = 20_000;
    let text: ArrayRef = Arc::new(StringArray::from(vec!["text"]));
    let columns = (0..FIELDS).map(|i| (format!("field {i}"), text.clone()));
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let options = WriteOptions::default().with_version(Version::V2_0).with_zone_maps(false);
    let mut parts = Parts::split(&written(&batch, options)).unwrap();
    // One column more than there are fields: any string might have two.
    parts.columns.push(parts.columns[0].clone());
    let reader = open(parts.join());
    let last = reader.scan().columns([format!("field {}", FIELDS - 1)]).build().unwrap();
    assert_eq!(last.map(|batch| batch.unwrap().num_rows()).sum::<usize>(), 1);
}

#[test]
fn checksums_that_are_all_wrong() {
    const COLUMNS: usize = 40_000;
    let numbers: ArrayRef = Arc::new(Int32Array::from(vec![7, 1_000_000]));
    let columns = (0..COLUMNS).map(|i| (format!("column {i}"), numbers.clone()));
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let options = WriteOptions::default().with_zone_maps(false);
    let mut file = written(&batch, options);
    let buffers = Parts::split(&file).unwrap().page_buffers();
    for (start, size) in buffers.into_iter().filter(|(_, size)| *size > 0) {
        file[start + size - 1] ^= 0x80;
    }
    let start = Instant::now();
    let problems = open(file).verify().unwrap().problems;
    assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
    assert!(problems.len() >= COLUMNS, "{}", problems.len());
    let last = problems.iter().rfind(|problem| problem.rule.contains("checksum")).unwrap();
    assert_eq!(last.column_name.as_deref(), Some("column 39999"), "{last}");
}

#[test]
fn pages_read_row_by_row() {
    const PAGES: u64 = 300_000;
    let (_, file) =
        small::files().into_iter().find(|(name, _)| name == "chunks_across_rows_v22").unwrap();
    let mut parts = Parts::split(&file).unwrap();
    let mut fields = wire::parse(&parts.columns[0]).unwrap();
    let at = fields.iter().position(|field| field.number == 2).unwrap();
    let page = vec![fields[at].clone(); PAGES as usize];
    fields.splice(at..=at, page);
    parts.columns[0] = wire::encode(&fields);
    let sites = wire::sites(&parts.descriptor);
    let rows = sites.into_iter().find(|site| site.kind == Kind::Number(6)).unwrap();
    parts.descriptor = wire::set_number(&parts.descriptor, &rows, 6 * PAGES).unwrap();
    let reader = open(parts.join());
    let last = reader.scan().select(6 * PAGES - 6_000..6 * PAGES).batch_rows(1).threads(1);
    assert_eq!(last.build().unwrap().map(|batch| batch.unwrap().num_rows()).sum::<usize>(), 6_000);
    let rows: Vec<u64> = (0..6 * PAGES).step_by(600).collect();
    assert_eq!(reader.take(&rows).unwrap().num_rows(), rows.len());
}

fn filtered(filter: Filter) -> lancet::Result<usize> {
    let rows: ArrayRef = Arc::new(Int32Array::from(vec![1, 2, 3]));
    let batch = RecordBatch::try_from_iter([("n", rows)]).unwrap();
    let reader = open(written(&batch, WriteOptions::default()));
    reader.prune(&filter)?;
    reader.scan().filter(filter).build()?.map(|batch| Ok(batch?.num_rows())).sum()
}

#[test]
fn conditions_one_after_the_other() {
    let differs = |i: i32| Filter::compare("n", Comparison::NotEq, &Int32Array::new_scalar(i));
    let all = (1..10_000).fold(differs(0), |all, i| differs(i % 3).and(all));
    assert_eq!(filtered(all).unwrap(), 1);
    let any = (1..10_000).fold(!differs(0), |any, i| (!differs(i % 3)).or(any));
    assert_eq!(filtered(any).unwrap(), 2);
    let negated = (0..100_001).fold(differs(2), |filter, _| !filter);
    assert_eq!(filtered(negated).unwrap(), 1);
}

#[test]
fn conditions_within_each_other() {
    let is = |i: i32| Filter::compare("n", Comparison::Eq, &Int32Array::new_scalar(i));
    let nested = |levels: i32| {
        (0..levels).fold(is(0), |filter, i| match i % 3 {
            0 => filter.or(is(i % 4)),
            1 => filter.and(is(2)),
            _ => !filter,
        })
    };
    assert_eq!(filtered(nested(100)).unwrap(), filtered(nested(100).clone()).unwrap());
    let deep = nested(100_000);
    assert_eq!(deep.columns().len(), 1);
    assert!(!format!("{deep:?}").is_empty());
    drop(deep.clone());
    let error = filtered(deep).unwrap_err().to_string();
    assert!(error.contains("the filter nests more than 128 deep"), "{error}");
}

#[test]
fn bytes_in_one_row() {
    const BYTES: usize = 2_000_000;
    // Bytes that do not compress.
    let word = |i: usize| (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    let words = (0..BYTES / 8).map(|i| word(i).wrapping_mul(0xbf58_476d_1ce4_e5b9) ^ word(i + 1));
    let row: Vec<u8> = words.flat_map(u64::to_le_bytes).collect();
    let row: ArrayRef = Arc::new(BinaryArray::from_iter_values([row]));
    let batch = RecordBatch::try_from_iter([("row", row)]).unwrap();
    for version in [Version::V2_1, Version::V2_2] {
        let options = WriteOptions::default().with_version(version);
        let mut writer = FileWriter::new(Vec::new(), batch.schema(), options).unwrap();
        (0..4).for_each(|_| writer.write(&batch).unwrap());
        let (summary, file) = writer.finish_into().unwrap();
        assert!(summary.columns[0].pages.iter().all(|page| page.layout != "constant"));
        // Each row is read, and nothing beside it is held.
        let options = ReadOptions::default().with_memory_limit(9 * BYTES as u64);
        let reader = FileReader::from_bytes(file, options).unwrap();
        assert_eq!(reader.take(&[0, 1, 2, 3]).unwrap().num_rows(), 4);
    }
}

#[test]
fn columns_that_do_not_parse() {
    let numbers: ArrayRef = Arc::new(Int32Array::from(vec![7; 100]));
    let columns = [("broken", numbers.clone()), ("sound", numbers)];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    for version in [Version::V2_0, Version::V2_1, Version::V2_2] {
        let file = written(&batch, WriteOptions::default().with_version(version));
        let mut parts = Parts::split(&file).unwrap();
        let mut fields = wire::parse(&parts.columns[0]).unwrap();
        for field in fields.iter_mut().filter(|field| field.number == 2) {
            field.value = Value::Bytes(vec![0xff; 3]);
        }
        parts.columns[0] = wire::encode(&fields);
        let options = ReadOptions::default().with_max_metadata_bytes(64 << 10);
        let reader = FileReader::from_bytes(parts.join(), options).unwrap();
        let read = |name: &str| {
            let mut batches = reader.scan().columns([name]).build()?;
            batches.next_batch().transpose()
        };
        // However often it is tried: what was not loaded is not held.
        let first = read("broken").unwrap_err().to_string();
        for _ in 0..2_000 {
            assert_eq!(read("broken").unwrap_err().to_string(), first, "{version}");
        }
        assert_eq!(read("sound").unwrap().unwrap().num_rows(), 100);
    }
}
