//! `lancet demo`: writes a made-up table, reads it back in several ways, says what each cost.

mod orders;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use lancet::{FileReader, FileWriter, WriteOptions};

use crate::error::{Error, InFile, Result};
use crate::table::Grid;
use crate::{inspect, progress, units};
use orders::{FIRST_ORDER, Orders, Random};

const SEED: u64 = 42;
const FILE_NAME: &str = "orders.lance";
/// The column that is also scanned alone.
const ONE_COLUMN: &str = "price";
/// Rows made at once.
const BATCH_ROWS: u64 = 8_192;
/// Takes of each size; the median is reported.
const TAKES: usize = 101;

const EXAMPLES: &str = "\
Examples:
  lancet demo
  lancet demo --rows 3000000
  lancet demo --dir .            keep the file as ./orders.lance";

/// How large the demo is.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Rows of the table
    #[arg(long, default_value_t = 300_000, value_parser = clap::value_parser!(u64).range(1..))]
    rows: u64,
    /// Directory in which to keep the file
    #[arg(long)]
    dir: Option<PathBuf>,
}

/// Runs the command.
pub fn run(args: &Args, quiet: bool, out: &mut dyn Write) -> Result<()> {
    let temporary;
    let dir = match &args.dir {
        Some(dir) => dir.as_path(),
        None => {
            temporary = TemporaryDir::create()?;
            &temporary.0
        }
    };
    std::fs::create_dir_all(dir).in_file(dir)?;
    let path = dir.join(FILE_NAME);
    let mut costs = Grid::new(&["step", ">rows", ">time", ">speed", "note"]);
    let array_bytes = write_table(&path, args.rows, quiet, &mut costs)?;
    let reader = FileReader::open(&path).in_file(&path)?;
    let report = reader.inspect().in_file(&path)?;
    costs.push(scan_all(&reader, array_bytes).map_err(|e| e.about(&path))?);
    costs.push(scan_column(&reader, ONE_COLUMN).map_err(|e| e.about(&path))?);
    for rows in [1, 100] {
        costs.push(take(&reader, rows).map_err(|e| e.about(&path))?);
    }

    writeln!(out, "A made-up table of {} in {}", units::rows(args.rows), path.display())?;
    inspect::write_summary(&report, out)?;
    writeln!(out, "  in memory {}", units::bytes(array_bytes))?;
    writeln!(out, "\n{}", inspect::column_table(&report))?;
    writeln!(out, "\n{}\n", costs.plain())?;
    write_next_steps(args.dir.as_deref(), &path, out)
}

fn write_next_steps(kept: Option<&Path>, path: &Path, out: &mut dyn Write) -> Result<()> {
    if kept.is_none() {
        writeln!(out, "The file is gone again. Keep one to play with:\n  lancet demo --dir .")?;
        return Ok(());
    }
    let file = path.display();
    let parquet = path.with_extension("parquet");
    writeln!(out, "Try:")?;
    writeln!(out, "  lancet cat {file} --columns order_id,address.city,price --rows 1000..1010")?;
    writeln!(out, "  lancet take {file} --rows 5,9,2")?;
    writeln!(out, "  lancet inspect {file} --pages --columns {ONE_COLUMN}")?;
    writeln!(out, "  lancet convert {file} {}", parquet.display())?;
    Ok(())
}

/// Writes the table. Returns the bytes its arrays take in memory.
fn write_table(path: &Path, rows: u64, quiet: bool, costs: &mut Grid) -> Result<u64> {
    let mut orders = Orders::new(SEED);
    let bar = progress::bar(Some(rows), quiet);
    let mut array_bytes = 0;
    let (mut making, mut writing) = (Duration::ZERO, Duration::ZERO);
    let start = Instant::now();
    let mut writer =
        FileWriter::create(path, orders.schema(), WriteOptions::default()).in_file(path)?;
    writing += start.elapsed();
    let mut left = rows;
    while left > 0 {
        let len = left.min(BATCH_ROWS);
        left -= len;
        let start = Instant::now();
        let batch = orders.batch(len as usize).in_file(path)?;
        making += start.elapsed();
        array_bytes += value_bytes(&batch);
        let start = Instant::now();
        writer.write(&batch).in_file(path)?;
        writing += start.elapsed();
        bar.inc(len);
    }
    let start = Instant::now();
    let summary = writer.finish().in_file(path)?;
    writing += start.elapsed();
    bar.finish_and_clear();

    costs.push(cost("make the rows", rows, making, array_bytes, ""));
    let pages = format!(
        "{} file, {}",
        units::bytes(summary.file_bytes),
        units::counted(summary.num_pages, "page")
    );
    costs.push(cost("write the file", rows, writing, array_bytes, &pages));
    Ok(array_bytes)
}

/// Scans everything; `bytes` is what the rows take in memory.
fn scan_all(reader: &FileReader, bytes: u64) -> Result<Cost> {
    let start = Instant::now();
    let mut rows = 0;
    for batch in reader.scan().build().map_err(message)? {
        rows += batch.map_err(message)?.num_rows() as u64;
    }
    let time = start.elapsed();
    check_rows(rows, reader)?;
    Ok(cost("scan everything", rows, time, bytes, ""))
}

/// Scans one column.
fn scan_column(reader: &FileReader, column: &str) -> Result<Cost> {
    let start = Instant::now();
    let (mut rows, mut bytes) = (0, 0);
    for batch in reader.scan().columns([column]).build().map_err(message)? {
        let batch = batch.map_err(message)?;
        rows += batch.num_rows() as u64;
        bytes += value_bytes(&batch);
    }
    let time = start.elapsed();
    check_rows(rows, reader)?;
    Ok(cost(&format!("scan `{column}`"), rows, time, bytes, ""))
}

fn check_rows(scanned: u64, reader: &FileReader) -> Result<()> {
    if scanned == reader.num_rows() {
        return Ok(());
    }
    Err(Error::new(format!("a scan returned {scanned} of {} rows", reader.num_rows())))
}

fn message(error: lancet::Error) -> Error {
    Error::new(error.to_string())
}

/// Takes `rows` random rows again and again, and checks that they are the right ones.
fn take(reader: &FileReader, rows: u64) -> Result<Cost> {
    let mut random = Random::new(SEED + rows);
    let mut times = Vec::with_capacity(TAKES);
    for _ in 0..TAKES {
        let wanted: Vec<u64> = (0..rows).map(|_| random.below(reader.num_rows())).collect();
        let start = Instant::now();
        let batch = reader.take(&wanted).map_err(message)?;
        times.push(start.elapsed());
        check_orders(&batch, &wanted)?;
    }
    times.sort_unstable();
    let median = times.get(TAKES / 2).copied().unwrap_or_default();
    let per_row = format!("{} per row", units::time(median.div_f64(rows as f64)));
    Ok([
        format!("take {}", units::counted(rows, "random row")),
        units::count(rows),
        units::time(median),
        per_row,
        format!("median of {TAKES}, all columns"),
    ])
}

/// Order numbers count up, so they tell whether a row is the one asked for.
fn check_orders(batch: &RecordBatch, wanted: &[u64]) -> Result<()> {
    let ids = batch
        .column_by_name("order_id")
        .and_then(|column| column.as_primitive_opt::<Int64Type>())
        .ok_or_else(|| Error::new("the column `order_id` did not come back"))?;
    let right = wanted.iter().map(|row| FIRST_ORDER.saturating_add_unsigned(*row));
    if ids.values().iter().copied().eq(right) {
        Ok(())
    } else {
        Err(Error::new("a take returned other rows than it was asked for"))
    }
}

/// One line of the report: step, rows, time, speed, note.
type Cost = [String; 5];

fn cost(step: &str, rows: u64, time: Duration, bytes: u64, note: &str) -> Cost {
    [step.into(), units::count(rows), units::time(time), units::speed(bytes, time), note.into()]
}

/// Bytes of the values themselves, whatever the buffers around them have in reserve.
fn value_bytes(batch: &RecordBatch) -> u64 {
    let bytes = |column: &arrow_array::ArrayRef| {
        column.to_data().get_slice_memory_size().unwrap_or(0) as u64
    };
    batch.columns().iter().map(bytes).sum()
}

/// A directory that goes away with the demo.
struct TemporaryDir(PathBuf);

impl TemporaryDir {
    fn create() -> Result<Self> {
        let dir = std::env::temp_dir().join(format!("lancet-demo-{}", std::process::id()));
        std::fs::create_dir(&dir).in_file(&dir)?;
        Ok(Self(dir))
    }
}

impl Drop for TemporaryDir {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
