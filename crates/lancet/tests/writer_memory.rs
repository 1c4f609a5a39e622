//! What a writer holds. One test: the allocator counts for the whole process.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "support/held.rs"]
mod held;

use std::io;
use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::types::{Float32Type, Int32Type, Int64Type};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, DictionaryArray, FixedSizeListArray, Int32Array,
    Int64Array, ListArray, RecordBatch, StringArray, StructArray,
};
use held::{held, peak_of};
use lancet::{FileWriter, Version, WriteOptions};

const VERSIONS: [Version; 2] = [Version::V2_0, Version::V2_2];
const MIB: u64 = 1 << 20;
/// What a thread holds to find out how strings compress.
const TABLE_BYTES: u64 = 7 << 19;

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

/// Texts of up to so many letters; each twice, so that some columns have dictionaries.
fn random_texts(rows: u64, seed: u64, most: u64) -> StringArray {
    let text = |row: u64| {
        let number = mixed(seed + row / 2);
        let len = (number >> 40) % (most + 1);
        (!row.is_multiple_of(9)).then(|| format!("{number:x}").repeat(len as usize / 16 + 1))
    };
    let mut texts: StringArray = (0..rows).map(text).collect();
    texts.shrink_to_fit();
    texts
}

/// A column of one of some types.
fn random_column(kind: u64, rows: u64, seed: u64) -> ArrayRef {
    let number = |row: u64| mixed(seed + row) as i64;
    let few = |row: u64| mixed(seed + row) >> 62;
    let numbers = || Int64Array::from_iter_values((0..rows).map(number));
    let mut array: ArrayRef = match kind {
        0 => Arc::new(numbers()),
        1 => Arc::new(Int32Array::from_iter(
            (0..rows).map(|row| (!row.is_multiple_of(5)).then_some(7)),
        )),
        2 => Arc::new(BooleanArray::from_iter((0..rows).map(|row| Some(number(row) > 0)))),
        3 => Arc::new(random_texts(rows, seed, 100)),
        4 => {
            let long =
                |row: u64| if mixed(row ^ seed).is_multiple_of(50) { 20_000 } else { few(row) };
            let bytes = |row: u64| vec![number(row) as u8; long(row) as usize];
            Arc::new(BinaryArray::from_iter_values((0..rows).map(bytes)))
        }
        5 => {
            let list = |row: u64| (0..few(row)).map(|i| Some(number(row + i))).collect::<Vec<_>>();
            let lists = (0..rows).map(|row| (!row.is_multiple_of(4)).then(|| list(row)));
            Arc::new(ListArray::from_iter_primitive::<Int64Type, _, _>(lists))
        }
        6 => {
            let vector = |row: u64| (0..16).map(|i| Some((number(row) + i) as f32)).collect();
            let vectors = (0..rows).map(|row| Some::<Vec<_>>(vector(row)));
            Arc::new(FixedSizeListArray::from_iter_primitive::<Float32Type, _, _>(vectors, 16))
        }
        7 => {
            let texts: ArrayRef = Arc::new(random_texts(rows, seed, 40));
            Arc::new(
                StructArray::try_from(vec![("n", Arc::new(numbers()) as ArrayRef), ("t", texts)])
                    .unwrap(),
            )
        }
        8 => {
            let entries = ["one", "two", "three", "four"];
            let texts = (0..rows).map(|row| entries[few(row) as usize]);
            Arc::new(texts.collect::<DictionaryArray<Int32Type>>())
        }
        _ => {
            let mut lists = ListBuilder::new(StringBuilder::new());
            for row in 0..rows {
                (0..few(row)).for_each(|i| lists.values().append_value(format!("{}", row ^ i)));
                lists.append(!row.is_multiple_of(6));
            }
            Arc::new(lists.finish())
        }
    };
    Arc::get_mut(&mut array).unwrap().shrink_to_fit();
    array
}

/// Writes a random table; what its writer may hold, and what it held.
fn random_table(seed: u64, options: &WriteOptions) -> (String, u64, u64) {
    let mut seeds = (0..).map(|i| mixed(seed * 1_000 + i) >> 7);
    let mut below = |end: u64| seeds.next().unwrap() % end;
    let limit = [4 * MIB, 12 * MIB, 24 * MIB][below(3) as usize];
    let kinds: Vec<u64> = (0..[1, 2, 5, 30][below(4) as usize]).map(|_| below(10)).collect();
    let rows = [10, 300, 4_000, 30_000][below(4) as usize] / (kinds.len() as u64).min(10);
    let batch = |i: u64| {
        let columns = kinds.iter().enumerate().map(|(at, kind)| {
            let seed = (seed + 1) << 40 | (at as u64) << 32 | (i * rows);
            (format!("column {at}"), random_column(*kind, rows, seed), true)
        });
        RecordBatch::try_from_iter_with_nullable(columns).unwrap()
    };
    // Several times what may be held, unless that are very many batches.
    let bytes = batch(0).get_array_memory_size() as u64;
    let num_batches = (3 * limit / bytes).clamp(2, 400);
    let threads = 1 + below(3);
    let options = options.clone().with_memory_limit(limit).with_threads(threads as usize);
    let what = format!("seed {seed}, {rows} rows of {kinds:?}, {num_batches} times");
    (what, limit + threads * TABLE_BYTES, most_held(&options, num_batches, batch))
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
        for seed in (0..20).filter(|seed| (seed % 2 == 0) == (version == Version::V2_2)) {
            let (what, limit, most) = random_table(seed, &options);
            check(&what, limit, most);
        }
    }
    assert!(beyond.is_empty(), "{}", beyond.join("\n"));
}
