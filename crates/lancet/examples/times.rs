//! Times of writing and scanning one table:
//! `times TABLE.arrow FILE.lance VERSION PROFILE RUNS [THREADS]`.
//!
//! Writes the table into memory and scans the file, each several times, and prints the least
//! seconds of both.

use std::error::Error;
use std::fs::File;
use std::time::Instant;

use arrow_array::RecordBatch;
use lancet::{FileReader, FileWriter, ReadOptions, WriteOptions};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [table, file, version, profile, runs, threads @ ..] = arguments.as_slice() else {
        return Err("usage: times TABLE.arrow FILE.lance VERSION PROFILE RUNS [THREADS]".into());
    };
    let reader = arrow_ipc::reader::FileReader::try_new(File::open(table)?, None)?;
    let batches = reader.collect::<Result<Vec<RecordBatch>, _>>()?;
    let mut read = ReadOptions::default();
    let mut options =
        WriteOptions::default().with_version(version.parse()?).with_profile(profile.parse()?);
    if let Some(threads) = threads.first() {
        read = read.with_threads(threads.parse()?);
        options = options.with_threads(threads.parse()?);
    }
    let (mut write, mut scan) = (f64::MAX, f64::MAX);
    for _ in 0..runs.parse()? {
        write = write.min(seconds(|| write_all(&batches, &options))?);
        scan = scan.min(seconds(|| scan_all(file, &read))?);
    }
    println!("write {write:.6} scan {scan:.6}");
    Ok(())
}

fn seconds(work: impl FnOnce() -> lancet::Result<()>) -> lancet::Result<f64> {
    let start = Instant::now();
    work()?;
    Ok(start.elapsed().as_secs_f64())
}

fn write_all(batches: &[RecordBatch], options: &WriteOptions) -> lancet::Result<()> {
    let Some(first) = batches.first() else { return Ok(()) };
    let mut writer = FileWriter::new(Vec::new(), first.schema(), options.clone())?;
    batches.iter().try_for_each(|batch| writer.write(batch))?;
    writer.finish_into().map(drop)
}

fn scan_all(file: &str, options: &ReadOptions) -> lancet::Result<()> {
    let reader = FileReader::open_with(file, options.clone())?;
    Ok(reader.scan().build()?.try_for_each(|batch| batch.map(drop))?)
}
