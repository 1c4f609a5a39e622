//! Takes of long values from disk are what they are from memory, errors included.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use arrow_array::{
    Array, ArrayRef, BinaryArray, LargeBinaryArray, LargeStringArray, RecordBatch, StringArray,
    StructArray, UInt64Array,
};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, Field};
use arrow_select::concat::concat_batches;
use arrow_select::take::take_record_batch;

use crate::error::{Error, Result};
use crate::options::{ColumnOptions, Compression};
use crate::read::request::Machine;
use crate::read::{FileReader, ReadOptions};
use crate::rows::Rows;
use crate::write::{FileWriter, WriteOptions};

const NUM_ROWS: usize = 120;

/// A file on disk, for as long as this lives.
struct Disk(PathBuf);

impl Disk {
    fn new(bytes: &[u8]) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("lancet-place-{}-{number}.lance", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, bytes).unwrap();
        Self(path)
    }

    fn open(&self) -> FileReader {
        FileReader::open(&self.0).unwrap()
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Whether a take reads all its values to their places.
fn is_placed(reader: &FileReader, rows: &[u64]) -> bool {
    // Brings the indexes.
    let _ = reader.take(rows);
    let everything = reader.file.everything();
    let mut read = reader.file.read_rows(everything, Rows::from(rows)).unwrap();
    super::read_long_values(reader.disk.as_ref().unwrap(), &mut read).unwrap();
    read.spans().is_empty()
}

/// Letters that repeat late; every 7th value is null, every 11th empty.
fn value(row: usize, long: usize) -> Option<String> {
    let len = if row % 11 == 3 { 0 } else { long + row * 97 % 1000 };
    let letter = |i: usize| char::from(b'a' + (i * i / 7 + i * row + row) as u8 % 26);
    (row % 7 != 2).then(|| (0..len).map(letter).collect())
}

fn values(long: usize) -> Vec<Option<String>> {
    (0..NUM_ROWS).map(|row| value(row, long)).collect()
}

fn as_bytes(values: &[Option<String>]) -> impl Iterator<Item = Option<&[u8]>> {
    values.iter().map(|value| value.as_ref().map(String::as_bytes))
}

fn binary(long: usize) -> ArrayRef {
    Arc::new(BinaryArray::from_iter(as_bytes(&values(long))))
}

fn write(column: ArrayRef) -> (RecordBatch, Vec<u8>) {
    let batch = RecordBatch::try_from_iter([("v", column)]).unwrap();
    let options = WriteOptions::default()
        .with_page_bytes(300 << 10)
        .with_column("v", ColumnOptions::default().with_compression(Compression::None));
    let mut writer = FileWriter::new(Vec::new(), batch.schema(), options).unwrap();
    for start in (0..NUM_ROWS).step_by(10) {
        writer.write(&batch.slice(start, 10)).unwrap();
    }
    (batch, writer.finish_into().unwrap().1)
}

/// Rows far apart, neighbours, in any order, twice, all.
fn takes() -> Vec<Vec<u64>> {
    let n = NUM_ROWS as u64;
    vec![
        (0..n).step_by(5).collect(),
        (20..60).collect(),
        (0..n).rev().step_by(3).collect(),
        (0..n).map(|i| i * 37 % 50).collect(),
        (0..n).collect(),
    ]
}

#[test]
fn rows_are_those_of_a_scan() {
    let text = values(9_000);
    let nested = StructArray::new(
        vec![Field::new("v", DataType::Utf8, true)].into(),
        vec![Arc::new(StringArray::from(text.clone()))],
        Some(NullBuffer::from_iter((0..NUM_ROWS).map(|row| row % 5 != 1))),
    );
    let full: Vec<String> = text.iter().map(|value| value.clone().unwrap_or_default()).collect();
    let columns: [ArrayRef; 6] = [
        binary(30_000),
        Arc::new(LargeBinaryArray::from_iter(as_bytes(&text))),
        Arc::new(StringArray::from(text.clone())),
        Arc::new(LargeStringArray::from(text)),
        Arc::new(StringArray::from(full)),
        Arc::new(nested),
    ];
    for column in columns {
        let name = column.data_type().to_string();
        let (batch, bytes) = write(column);
        let disk = Disk::new(&bytes);
        let scan = disk.open().scan().build().unwrap().collect::<Result<Vec<_>, _>>().unwrap();
        assert_eq!(concat_batches(&batch.schema(), &scan).unwrap(), batch, "{name}");
        for rows in takes() {
            let reader = disk.open();
            let wanted = take_record_batch(&batch, &UInt64Array::from(rows.clone())).unwrap();
            assert_eq!(reader.take(&rows).unwrap(), wanted, "{name} {rows:?}, indexes unknown");
            assert!(is_placed(&reader, &rows), "{name} {rows:?}");
            assert_eq!(reader.take(&rows).unwrap(), wanted, "{name} {rows:?}");
        }
    }
}

#[test]
fn what_is_not_long_is_read_together() {
    let disk = Disk::new(&write(binary(30_000)).1);
    assert!(!is_placed(&disk.open(), &[0]), "few bytes");
    assert!(is_placed(&disk.open(), &[0, 1, 4]));
    let disk = Disk::new(&write(binary(3_000)).1);
    let all: Vec<u64> = (0..NUM_ROWS as u64).collect();
    assert!(!is_placed(&disk.open(), &all), "short values");
}

/// Changes the bytes of a file and looks whether takes from disk say what takes from memory do.
fn compare(bytes: &[u8], what: &str) -> usize {
    let (disk, memory) =
        (Disk::new(bytes), FileReader::from_bytes(bytes.to_vec(), ReadOptions::default()));
    let mut num_errors = 0;
    for rows in takes() {
        let here = disk.open().take(&rows).map_err(|error| error.to_string());
        let there = memory.as_ref().unwrap().take(&rows).map_err(|error| error.to_string());
        assert!(here == there, "{what}: {:?} and {:?}", here.err(), there.err());
        num_errors += usize::from(here.is_err());
    }
    num_errors
}

#[test]
fn heads_that_lie_are_found_as_ever() {
    let (_, bytes) = write(binary(9_000));
    assert_eq!(compare(&bytes, "sound"), 0);
    // A control word, a length and a value.
    for row in [0, 20, 60, 64] {
        let stored = value(row, 9_000).unwrap();
        let at = find(&bytes, stored.as_bytes());
        let len = stored.len() as u32;
        for lie in [0, 1, len - 1, len + 1, len + 5, u32::MAX] {
            let mut broken = bytes.clone();
            broken[at - 4..at].copy_from_slice(&lie.to_le_bytes());
            assert!(compare(&broken, &format!("row {row} has {lie} bytes")) > 0);
        }
        for def in [1, 2, 255] {
            let mut broken = bytes.clone();
            assert_eq!(std::mem::replace(&mut broken[at - 5], def), 0);
            assert!(compare(&broken, &format!("row {row} has definition {def}")) > 0);
        }
    }
    // The null before a value.
    let at = find(&bytes, value(10, 9_000).unwrap().as_bytes()) - 6;
    let mut broken = bytes.clone();
    assert_eq!(std::mem::replace(&mut broken[at], 0), 1);
    assert!(compare(&broken, "a null that is none") > 0);
}

/// An empty value that says it is null, and a null that says it is empty, together have the bytes
/// they had: the value between them moves.
#[test]
fn heads_that_agree_only_in_sum_are_found() {
    let text = |row: usize| match row {
        20 => Some(String::new()),
        22 => None,
        row => Some(value(row * 7, 9_000).unwrap_or_default() + &"x".repeat(10_000)),
    };
    let column: StringArray = (0..NUM_ROWS).map(text).collect();
    let (_, bytes) = write(Arc::new(column));
    let between = text(21).unwrap();
    let at = find(&bytes, between.as_bytes());
    let entry = [&[0; 6][..], &(between.len() as u32).to_le_bytes()].concat();
    assert_eq!(bytes[at - 10..at], entry);
    assert_eq!(bytes[at + between.len()], 1);
    let mut broken = bytes.clone();
    broken[at - 10] = 1;
    assert!(compare(&broken, "a null with the bytes of an empty value") > 0);
    let head = [&[0][..], &(between.len() as u32).to_le_bytes()].concat();
    broken[at - 9..at - 4].copy_from_slice(&head);
    broken[at - 4 + between.len()..at + 1 + between.len()].fill(0);
    // Rows that are read together do not need the index to be found.
    let num_errors = compare(&broken, "a value that begins elsewhere");
    assert!((1..takes().len()).contains(&num_errors), "{num_errors}");
}

fn find(bytes: &[u8], part: &[u8]) -> usize {
    bytes.windows(part.len()).position(|window| window == part).unwrap()
}

#[test]
fn an_index_that_lies_is_found_as_ever() {
    let (_, bytes) = write(binary(9_000));
    let report = FileReader::from_bytes(bytes.clone(), ReadOptions::default()).unwrap();
    let report = report.inspect().unwrap();
    let page = &report.columns[0].pages[1];
    assert_eq!(page.layout, "full-zip");
    let index = page.buffers[1].position as usize;
    let width = page.buffers[1].bytes as usize / (page.num_rows as usize + 1);
    for row in [1, 2, 5, 9] {
        for change in [-5, -4, -1, 1, 4, 5, 100, 1 << 20] {
            let mut broken = bytes.clone();
            let place = &mut broken[index + row * width..][..width];
            let mut word = [0; 8];
            word[..width].copy_from_slice(place);
            let word = (i64::from_le_bytes(word) + change).to_le_bytes();
            place.copy_from_slice(&word[..width]);
            compare(&broken, &format!("entry {row} of the index changed by {change}"));
        }
    }
}

#[test]
fn any_damage_is_found_as_ever() {
    let (_, bytes) = write(binary(9_000));
    let reader = FileReader::from_bytes(bytes.clone(), ReadOptions::default()).unwrap();
    let pages = reader.inspect().unwrap().columns.remove(0).pages;
    // The indexes, and the heads of the rows that have values.
    let indexes = pages.iter().map(|page| &page.buffers[1]);
    let mut places: Vec<usize> =
        indexes.flat_map(|b| b.position as usize..(b.position + b.bytes) as usize).collect();
    for row in (0..NUM_ROWS).filter(|row| row % 11 != 3) {
        let Some(stored) = value(row, 9_000) else { continue };
        let at = find(&bytes, stored.as_bytes());
        places.extend(at - 5..at);
    }
    let mut random = 7_usize;
    let mut next = || {
        random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        random >> 33
    };
    let mut num_errors = 0;
    for _ in 0..150 {
        let mut broken = bytes.clone();
        for _ in 0..1 + next() % 3 {
            broken[places[next() % places.len()]] = next() as u8 % 16;
        }
        num_errors += compare(&broken, "damaged");
    }
    assert!(num_errors > 150, "{num_errors}");
}

#[test]
fn the_limit_of_memory_holds() {
    let (batch, bytes) = write(binary(30_000));
    let disk = Disk::new(&bytes);
    let rows: Vec<u64> = (0..NUM_ROWS as u64).step_by(5).collect();
    let wanted = take_record_batch(&batch, &UInt64Array::from(rows.clone())).unwrap();
    let size = wanted.column(0).to_data().get_slice_memory_size().unwrap() as u64;
    let take = |limit: u64, memory: bool| {
        let options = ReadOptions { memory_limit: limit, ..ReadOptions::default() };
        let reader = match memory {
            true => FileReader::from_bytes(bytes.clone(), options).unwrap(),
            false => FileReader::open_with(&disk.0, options).unwrap(),
        };
        reader.take(&rows).map_err(|error| error.to_string())
    };
    assert_eq!(take(size + 10_000, false), Ok(wanted));
    let refused = take(size - 10_000, false);
    assert!(refused.as_ref().is_err_and(|error| error.contains("memory_limit")), "{refused:?}");
    assert_eq!(refused, take(size - 10_000, true));
}

#[test]
fn checksums_are_looked_at() {
    let (_, bytes) = write(binary(9_000));
    let at = find(&bytes, value(20, 9_000).unwrap().as_bytes());
    let mut broken = bytes.clone();
    broken[at + 1_000] ^= 1;
    let options = ReadOptions { verify_checksums: true, ..ReadOptions::default() };
    let disk = Disk::new(&broken);
    let all: Vec<u64> = (0..NUM_ROWS as u64).collect();
    let reader = FileReader::open_with(&disk.0, options).unwrap();
    // Brings the indexes, after which data is read by itself. Not the broken row, nor one beside it.
    reader.take(&(5..NUM_ROWS as u64).step_by(10).collect::<Vec<_>>()).unwrap();
    let error = reader.take(&all).unwrap_err();
    assert!(error.to_string().contains("checksum"), "{error}");
    assert!(disk.open().take(&all).is_ok());
}

#[test]
fn text_is_still_text() {
    let (_, mut bytes) = write(Arc::new(StringArray::from(values(9_000))));
    let at = find(&bytes, value(20, 9_000).unwrap().as_bytes());
    bytes[at + 1_000] = 0xff;
    assert_eq!(compare(&bytes, "not UTF-8"), takes().len());
}

#[test]
fn a_file_that_was_cut_is_an_error() {
    let (_, bytes) = write(binary(30_000));
    let disk = Disk::new(&bytes);
    let reader = disk.open();
    let rows: Vec<u64> = (0..NUM_ROWS as u64).step_by(5).collect();
    reader.take(&rows).unwrap();
    let file = std::fs::OpenOptions::new().write(true).open(&disk.0).unwrap();
    file.set_len(100_000).unwrap();
    assert!(matches!(reader.take(&rows), Err(Error::Io { .. })));
}
