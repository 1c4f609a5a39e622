//! What a writer holds. One test: the allocator counts for the whole process.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "support/held.rs"]
mod held;

use std::io;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BinaryArray, Int64Array, RecordBatch, StringArray};
use held::{held, peak_of};
use lancet::{FileWriter, Version, WriteOptions};

const VERSIONS: [Version; 2] = [Version::V2_0, Version::V2_2];
const MIB: u64 = 1 << 20;

fn mixed(seed: u64) -> u64 {
    let seed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (seed ^ (seed >> 31)).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

/// Writes batches; the most that the writer held beside the batch at hand, less what it holds for the
/// end of the file.
fn most_held(options: &WriteOptions, num_batches: u64, batch: impl Fn(u64) -> RecordBatch) -> u64 {
    let before = held();
    let mut writer = FileWriter::new(io::sink(), batch(0).schema(), options.clone()).unwrap();
    let mut most = 0;
    for i in 0..num_batches {
        let batch = batch(i);
        let held_before = held() - before - batch.get_array_memory_size();
        let ((), peak) = peak_of(|| writer.write(&batch).unwrap());
        most = most.max(held_before + peak);
    }
    let held_before = held() - before;
    let ((summary, _), peak) = peak_of(|| writer.finish_into().unwrap());
    let most = most.max(held_before + peak) as u64;
    most.saturating_sub((summary.num_pages + summary.columns.len() as u64) * 1024)
}

fn numbers(columns: u64, rows: u64, i: u64) -> RecordBatch {
    let column = |column: u64| {
        let numbers = (0..rows).map(|row| mixed((i * rows + row) * columns + column) as i64);
        let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(numbers));
        (format!("column {column}"), numbers)
    };
    RecordBatch::try_from_iter((0..columns).map(column)).unwrap()
}

fn texts(columns: u64, rows: u64, i: u64) -> RecordBatch {
    let column = |column: u64| {
        let text = |row| format!("{:x}", mixed((i * rows + row) * columns + column)).repeat(8);
        let mut texts = StringArray::from_iter_values((0..rows).map(text));
        texts.shrink_to_fit();
        (format!("column {column}"), Arc::new(texts) as ArrayRef)
    };
    RecordBatch::try_from_iter((0..columns).map(column)).unwrap()
}

/// One row of random letters.
fn long_row(bytes: u64, seed: u64, is_text: bool) -> RecordBatch {
    let letters = (0..bytes / 8).flat_map(|at| mixed(seed + at).to_le_bytes());
    let row: Vec<u8> = letters.map(|byte| b'a' + byte % 26).collect();
    let rows: ArrayRef = match is_text {
        true => Arc::new(StringArray::from_iter_values([str::from_utf8(&row).unwrap()])),
        false => Arc::new(BinaryArray::from_iter_values([&row])),
    };
    RecordBatch::try_from_iter([("row", rows)]).unwrap()
}

#[test]
fn a_writer_holds_what_its_limit_allows() {
    let mut beyond = Vec::new();
    for version in VERSIONS {
        let options = WriteOptions::default().with_version(version).with_threads(4);
        let limited = |limit| options.clone().with_memory_limit(limit);
        let mut check = |what: &str, limit: u64, most: u64| {
            if most > limit {
                beyond.push(format!("{version}, {what}: {most} bytes where {limit} are allowed"));
            }
        };
        // Many columns, in large batches and small ones.
        let most = most_held(&limited(16 * MIB), 10, |i| numbers(1000, 500, i));
        check("wide", 16 * MIB, most);
        let most = most_held(&limited(16 * MIB), 300, |i| numbers(1000, 2, i));
        check("small batches", 16 * MIB, most);
        // Columns with pages that do not fit all at once.
        let most = most_held(&limited(64 * MIB), 40, |i| numbers(12, 40_000, i));
        check("numbers", 64 * MIB, most);
        let most = most_held(&limited(64 * MIB), 10, |i| texts(6, 10_000, i));
        check("texts", 64 * MIB, most);
        // All rows in one batch.
        let most = most_held(&limited(16 * MIB), 1, |i| numbers(4, 1_000_000, i));
        check("one batch", 16 * MIB, most);
        // Rows that are larger than the limit.
        for is_text in [true, false] {
            let most = most_held(&limited(MIB), 3, |i| long_row(16 * MIB, i, is_text));
            check("long rows", MIB + 4 * 16 * MIB, most);
        }
    }
    assert!(beyond.is_empty(), "{}", beyond.join("\n"));
}
