//! What threads gain and cost: takes, scans and writes, on an idle machine and on a busy one.
//!
//! `threads THREADS BUSY` reads and writes on so many threads while others do nothing but keep the
//! processor busy. Prints the median and the 90th percentile of each, in microseconds.

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use lancet::{FileReader, FileWriter, ReadOptions, WriteOptions};

const NUM_ROWS: u64 = 1_000_000;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let threads: usize = arguments.next().unwrap_or_default().parse()?;
    let busy: usize = arguments.next().unwrap_or_default().parse()?;
    let path = std::env::temp_dir().join(format!("threads-{}.lance", std::process::id()));
    let table = table()?;
    write(FileWriter::create(&path, table.schema(), write_options(threads))?, &table)?.finish()?;
    for _ in 0..busy {
        std::thread::spawn(|| {
            loop {
                std::hint::spin_loop();
            }
        });
    }
    let reader = FileReader::open_with(&path, read_options(threads))?;
    for num_rows in [1, 32, 256, 1_024, 4_096] {
        let mut seed = 1;
        print(&format!("take {num_rows}"), 300, || {
            let rows: Vec<u64> = (0..num_rows).map(|_| random(&mut seed) % NUM_ROWS).collect();
            reader.take(&rows).map(drop)
        })?;
    }
    print("scan", 20, || Ok(reader.scan().build()?.try_for_each(|batch| batch.map(drop))?))?;
    let three = table.slice(0, 3);
    print("write 3 rows", 100, || {
        let writer = FileWriter::new(Vec::new(), three.schema(), write_options(threads))?;
        write(writer, &three)?.finish_into().map(drop)
    })?;
    print("write", 5, || {
        let writer = FileWriter::new(Vec::new(), table.schema(), write_options(threads))?;
        write(writer, &table)?.finish_into().map(drop)
    })?;
    std::fs::remove_file(path)?;
    Ok(())
}

fn read_options(threads: usize) -> ReadOptions {
    ReadOptions::default().with_threads(threads)
}

fn write_options(threads: usize) -> WriteOptions {
    WriteOptions::default().with_threads(threads)
}

fn print(
    what: &str,
    runs: usize,
    mut work: impl FnMut() -> lancet::Result<()>,
) -> lancet::Result<()> {
    work()?;
    let mut times = Vec::new();
    for _ in 0..runs {
        let start = Instant::now();
        work()?;
        times.push(start.elapsed());
    }
    times.sort();
    let at = |percent: usize| times.get(runs * percent / 100).map_or(0, Duration::as_micros);
    println!("{what:<14} median {:>8}   90 % {:>8}", at(50), at(90));
    Ok(())
}

fn write<W: std::io::Write>(
    mut writer: FileWriter<W>,
    table: &RecordBatch,
) -> lancet::Result<FileWriter<W>> {
    let step = 65_536;
    for start in (0..table.num_rows()).step_by(step) {
        writer.write(&table.slice(start, step.min(table.num_rows() - start)))?;
    }
    Ok(writer)
}

/// Numbers that hardly compress, and strings.
fn table() -> Result<RecordBatch, Box<dyn Error>> {
    let mut seed = 7;
    let mut columns: Vec<(String, ArrayRef)> = Vec::new();
    for column in 0..2 {
        let numbers = (0..NUM_ROWS).map(|_| random(&mut seed) as i64);
        columns.push((format!("n{column}"), Arc::new(Int64Array::from_iter_values(numbers))));
        let floats = (0..NUM_ROWS).map(|_| random(&mut seed) as f64 / 3.0);
        columns.push((format!("f{column}"), Arc::new(Float64Array::from_iter_values(floats))));
        let texts = (0..NUM_ROWS).map(|_| format!("text {:x}", random(&mut seed) >> 20));
        columns.push((format!("s{column}"), Arc::new(StringArray::from_iter_values(texts))));
    }
    Ok(RecordBatch::try_from_iter(columns)?)
}

fn random(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    let mixed = (*seed ^ (*seed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed ^ (mixed >> 32)
}
