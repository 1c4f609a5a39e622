//! Times of writing and scanning one table: `times TABLE.arrow FILE.lance VERSION PROFILE RUNS`.
//!
//! Writes the table into memory and scans the file, each several times, and prints the least
//! seconds of both. Run it with `RAYON_NUM_THREADS=1` to see one core.

use std::error::Error;
use std::fs::File;
use std::time::Instant;

use arrow_array::RecordBatch;
use lancet::{FileReader, FileWriter, WriteOptions};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [table, file, version, profile, runs] = arguments.as_slice() else {
        return Err("usage: times TABLE.arrow FILE.lance VERSION PROFILE RUNS".into());
    };
    let reader = arrow_ipc::reader::FileReader::try_new(File::open(table)?, None)?;
    let batches = reader.collect::<Result<Vec<RecordBatch>, _>>()?;
    let options =
        WriteOptions::default().with_version(version.parse()?).with_profile(profile.parse()?);
    let (mut write, mut scan) = (f64::MAX, f64::MAX);
    for _ in 0..runs.parse()? {
        write = write.min(seconds(|| write_all(&batches, &options))?);
        scan = scan.min(seconds(|| scan_all(file))?);
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

fn scan_all(file: &str) -> lancet::Result<()> {
    let reader = FileReader::open(file)?;
    reader.scan().build()?.try_for_each(|batch| batch.map(drop))
}
