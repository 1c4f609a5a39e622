//! Takes of random rows from open files, all columns; all files must return the same.

use std::time::{Duration, Instant};

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;

use super::orders::{FIRST_ORDER, Random};
use super::parquet::ParquetReader;
use super::write::{Files, Written};
use super::{SEED, message};
use crate::error::{Error, Result};

/// Rows of a take.
pub const SIZES: [u64; 2] = [1, 100];
/// Takes of each size …
const MOST_TAKES: usize = 101;
/// … or as many as this time allows, but some.
const TIME: Duration = Duration::from_millis(250);
const LEAST_TAKES: usize = 3;

/// The takes of a size from a file.
pub struct Taken {
    /// The file, by its place among all.
    pub file: usize,
    pub rows: u64,
    pub takes: usize,
    pub median: Duration,
}

/// Takes rows of all files.
pub fn measure(files: &Files) -> Result<Vec<Taken>> {
    let lance = files.lance().open()?;
    let right = |rows: &[u64]| lance.take(rows).map_err(message);
    let mut taken = Vec::new();
    for (file, written) in files.all.iter().enumerate() {
        let mut take = opened(written)?;
        for rows in SIZES {
            let check = |wanted: &[u64], batch: &RecordBatch| {
                check_orders(batch, wanted)?;
                if file > 0 && right(wanted)?.columns() != batch.columns() {
                    return Err(Error::new(
                        "a take returned other values than one from the first file",
                    ));
                }
                Ok(())
            };
            let (takes, median) = typical_take(files.rows, rows, &mut take, check)
                .map_err(|error| error.about(&written.path))?;
            taken.push(Taken { file, rows, takes, median });
        }
    }
    Ok(taken)
}

type Take = Box<dyn FnMut(&[u64]) -> Result<RecordBatch>>;

fn opened(written: &Written) -> Result<Take> {
    if written.flavour.is_some() {
        let reader = ParquetReader::open(&written.path)?;
        return Ok(Box::new(move |rows| reader.take(rows)));
    }
    let reader = written.open()?;
    Ok(Box::new(move |rows| reader.take(rows).map_err(message)))
}

/// The number of takes and their median, after one that fills the caches.
fn typical_take(
    file_rows: u64,
    rows: u64,
    take: &mut Take,
    check: impl Fn(&[u64], &RecordBatch) -> Result<()>,
) -> Result<(usize, Duration)> {
    let mut random = Random::new(SEED + rows);
    let mut wanted = || {
        let mut wanted: Vec<u64> = (0..rows).map(|_| random.below(file_rows)).collect();
        wanted.sort_unstable();
        wanted.dedup();
        wanted
    };
    take(&wanted())?;
    let mut times = Vec::with_capacity(MOST_TAKES);
    let mut all = Duration::ZERO;
    while times.len() < LEAST_TAKES || times.len() < MOST_TAKES && all < TIME {
        let wanted = wanted();
        let start = Instant::now();
        let batch = take(&wanted)?;
        let time = start.elapsed();
        times.push(time);
        all += time;
        check(&wanted, &batch)?;
    }
    times.sort_unstable();
    Ok((times.len(), times.get(times.len() / 2).copied().unwrap_or_default()))
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
