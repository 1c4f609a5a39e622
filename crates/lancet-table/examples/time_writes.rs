//! Times of writing, beside the file writer.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
use arrow_array::*;
use lancet::{FileWriter, WriteOptions};
use lancet_table::*;
use std::sync::Arc;
use std::time::Instant;

fn batch(rows: usize, seed: u64) -> RecordBatch {
    let mut x = seed | 1;
    let mut next = || {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        x
    };
    let a = Int64Array::from_iter_values((0..rows).map(|i| i as i64));
    let b = Float64Array::from_iter_values((0..rows).map(|_| next() as f64));
    let s = StringArray::from_iter_values(
        (0..rows).map(|_| format!("name {} of {}", next() % 100_000, next() % 1000)),
    );
    RecordBatch::try_from_iter([
        ("a", Arc::new(a) as ArrayRef),
        ("b", Arc::new(b) as _),
        ("s", Arc::new(s) as _),
    ])
    .unwrap()
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let folder = &args[1];
    let commits: usize = args[2].parse().unwrap();
    let gb: f64 = args[3].parse().unwrap();
    let b = batch(65_536, 7);
    let bytes = b.get_array_memory_size();
    let n = (gb * 1e9 / bytes as f64) as usize;
    for round in 0..3 {
        let path = format!("{folder}/file-{round}.lance");
        let t = Instant::now();
        let mut w = FileWriter::create(&path, b.schema(), WriteOptions::default()).unwrap();
        for _ in 0..n {
            w.write(&b).unwrap();
        }
        let size = w.finish().unwrap().file_bytes;
        let file = t.elapsed();
        std::fs::remove_file(&path).unwrap();
        let root = format!("{folder}/table-{round}.lance");
        let mut table =
            Table::create(&root, RecordBatchIterator::new([Ok(b.slice(0, 1))], b.schema()))
                .unwrap();
        let t = Instant::now();
        table.append(RecordBatchIterator::new((0..n).map(|_| Ok(b.clone())), b.schema())).unwrap();
        println!(
            "{} rows, {} MB: file {:.2?}, table {:.2?}",
            n * 65536,
            size / 1_000_000,
            file,
            t.elapsed()
        );
        std::fs::remove_dir_all(&root).unwrap();
    }
    let root = format!("{folder}/many.lance");
    let one = b.slice(0, 10);
    let mut table =
        Table::create(&root, RecordBatchIterator::new([Ok(one.clone())], b.schema())).unwrap();
    let mut times = Vec::new();
    for _ in 0..commits {
        let t = Instant::now();
        table.append(RecordBatchIterator::new([Ok(one.clone())], b.schema())).unwrap();
        times.push(t.elapsed());
    }
    let mut last: Vec<_> = times[times.len() - 20..].to_vec();
    last.sort();
    println!(
        "append of 10 rows at {} fragments: median {:.2?}",
        table.manifest().fragments.len(),
        last[10]
    );
    let mut times = Vec::new();
    for _ in 0..20 {
        let t = Instant::now();
        table.delete(0..1).unwrap();
        times.push(t.elapsed());
    }
    times.sort();
    println!(
        "delete of a row at {} fragments: median {:.2?}",
        table.manifest().fragments.len(),
        times[10]
    );
}
