//! Times of writing and opening: `time_writes FOLDER COMMITS GIGABYTES`.
//!
//! An append beside the file writer, of vectors with text and of numbers; then commits on a table of as many fragments, and
//! opening it. Processor time is that of all threads, where the system tells it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow_array::types::Float32Type;
use arrow_array::*;
use lancet::{FileWriter, WriteOptions};
use lancet_table::*;

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

/// A vector of 768 floats, an id and 200 bytes of text.
fn vectors(rows: usize) -> RecordBatch {
    let mut random = Random(7);
    let vector = (0..rows).map(|_| {
        let values = (0..768).map(|_| Some((random.next() % 2_000_003) as f32 / 1e6 - 1.0));
        Some(values.collect::<Vec<_>>())
    });
    let vector = FixedSizeListArray::from_iter_primitive::<Float32Type, _, _>(vector, 768);
    let mut random = Random(9);
    let text = (0..rows).map(|_| {
        let words = (0..25).map(|_| format!("{:07} ", random.next() % 50_000));
        words.collect::<String>()
    });
    let text = StringArray::from_iter_values(text);
    let id = Int64Array::from_iter_values(0..rows as i64);
    let columns: [(&str, ArrayRef); 3] =
        [("id", Arc::new(id)), ("vector", Arc::new(vector)), ("text", Arc::new(text))];
    RecordBatch::try_from_iter(columns).unwrap()
}

/// Twenty columns of numbers of many sizes.
fn numbers(rows: usize) -> RecordBatch {
    let mut random = Random(11);
    let columns = (0..20_u32).map(|column| {
        let array: ArrayRef = match column % 2 {
            0 => Arc::new(Int64Array::from_iter_values(
                (0..rows).map(|_| (random.next() % 10_u64.pow(2 + column / 2)) as i64),
            )),
            _ => Arc::new(Float64Array::from_iter_values(
                (0..rows).map(|_| (random.next() % 1_000_000_007) as f64 / 997.0),
            )),
        };
        (format!("n{column}"), array)
    });
    RecordBatch::try_from_iter(columns).unwrap()
}

/// Of all threads of this process.
fn processor_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks = after_name.split_whitespace().skip(11).take(2);
    let ticks: u64 = ticks.filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks * 10)
}

fn timed(what: &str, work: impl FnOnce()) {
    let (wall, processor) = (Instant::now(), processor_time());
    work();
    println!("  {what}: {:.2?}, processor {:.2?}", wall.elapsed(), processor_time() - processor);
}

fn appends(folder: &Path, what: &str, batch: &RecordBatch, gigabytes: f64) {
    let count = (gigabytes * 1e9 / batch.get_array_memory_size() as f64).ceil() as usize;
    println!("{what}: {count} batches of {} rows", batch.num_rows());
    for _ in 0..3 {
        let path = folder.join("file.lance");
        timed("file", || {
            let options = WriteOptions::default();
            let mut writer = FileWriter::create(&path, batch.schema(), options).unwrap();
            (0..count).for_each(|_| writer.write(batch).unwrap());
            writer.finish().unwrap();
        });
        std::fs::remove_file(&path).unwrap();
        let root = folder.join("table.lance");
        let rows = |count| {
            let batch = batch.clone();
            let schema = batch.schema();
            RecordBatchIterator::new((0..count).map(move |_| Ok(batch.clone())), schema)
        };
        let options = TableWriteOptions::default().with_max_rows_per_fragment(u64::MAX);
        let mut table = Table::create(&root, rows(0)).unwrap();
        timed("table", || _ = table.append_with(rows(count), &options).unwrap());
        std::fs::remove_dir_all(&root).unwrap();
    }
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn commits(folder: &Path, commits: usize) {
    let root = folder.join("many.lance");
    let one = numbers(10);
    let rows = || RecordBatchIterator::new([Ok(one.clone())], one.schema());
    let mut table = Table::create(&root, rows()).unwrap();
    let time = |work: &mut dyn FnMut()| {
        let start = Instant::now();
        work();
        start.elapsed()
    };
    let mut times: Vec<_> =
        (0..commits).map(|_| time(&mut || _ = table.append(rows()).unwrap())).collect();
    let fragments = table.manifest().fragments.len();
    let last = times.len().saturating_sub(20);
    println!("append of 10 rows at {fragments} fragments: {:.3?}", median(&mut times[last..]));
    let mut times: Vec<_> =
        (0..20).map(|row| time(&mut || _ = table.delete(row..row + 1).unwrap())).collect();
    println!("delete of a row: {:.3?}", median(&mut times));
    let many: Vec<u64> = (0..100.min(fragments as u64)).map(|n| 100 + n * 9).collect();
    let start = Instant::now();
    table.delete(many).unwrap();
    println!("delete of a row in each of up to 100 fragments: {:.3?}", start.elapsed());
    let mut times: Vec<_> =
        (0..100).map(|_| time(&mut || drop(Table::open(&root).unwrap()))).collect();
    println!("open: {:.3?}", median(&mut times));
    std::fs::remove_dir_all(&root).unwrap();
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let folder = Path::new(&args[1]);
    commits(folder, args[2].parse().unwrap());
    let gigabytes: f64 = args[3].parse().unwrap();
    if gigabytes > 0.0 {
        appends(folder, "vectors and text", &vectors(8_192), gigabytes);
        appends(folder, "20 columns of numbers", &numbers(65_536), gigabytes);
    }
}
