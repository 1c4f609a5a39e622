//! The rows that are looked at: all of a file, or batches spread evenly over it.

use std::path::Path;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use lancet::RowRanges;

use super::memory::batch_bytes;
use crate::copy::parts;
use crate::error::Result;
use crate::format::Format;
use crate::input::{self, Input, Selection, TextOptions};
use crate::places::{InTable, InputTable};
use crate::{claims, progress};

/// Bytes of Arrow data that a sample stays under.
const SAMPLE_BYTES: u64 = 256 << 20;

/// Runs of rows that a sample of a Lance file is made of.
const RUNS: u64 = 64;

/// Some rows of a file.
#[derive(Debug)]
pub struct Sample {
    pub schema: SchemaRef,
    /// Rows of the whole file.
    pub file_rows: u64,
    /// The rows that were kept, in order.
    pub batches: Vec<RecordBatch>,
}

impl Sample {
    /// Rows that were kept.
    pub fn rows(&self) -> u64 {
        self.batches.iter().map(|batch| batch.num_rows() as u64).sum()
    }

    /// Reads a file; keeps every n-th batch, with the n that leaves at most `most` rows. Without
    /// `most` every row is kept.
    pub fn read(
        path: &Path,
        text: &TextOptions,
        selection: &Selection,
        most: Option<usize>,
        quiet: bool,
    ) -> Result<Self> {
        let input = match (Format::from_path(path)?, most) {
            // There rows can be had without those between them.
            (Format::Lance, Some(most)) => {
                text.check(Format::Lance)?;
                input::lance_sample(path, &selection.columns, |rows| spread(rows, most as u64))?
            }
            _ => input::open_selection(path, None, text, selection, quiet)?,
        };
        let bytes = path.metadata().map_or(0, |found| found.len());
        Self::keep(input, bytes, most, quiet)
    }

    /// The same of a table.
    pub fn of_table(
        name: &Path,
        table: &InputTable,
        selection: &Selection,
        most: Option<usize>,
        quiet: bool,
    ) -> Result<Self> {
        let num_rows = table.table.num_rows().in_table(name)?;
        let rows = most.map_or_else(|| (0..num_rows).into(), |most| spread(num_rows, most as u64));
        let input = table.scan(name, &selection.columns, rows)?;
        Self::keep(input, table.size_bytes(), most, quiet)
    }

    /// What is kept of the rows of a file of so many bytes.
    fn keep(input: Input, bytes: u64, most: Option<usize>, quiet: bool) -> Result<Self> {
        let advice = match most {
            Some(_) => "analyze a part of it: `lancet cat --limit 1000 -o OUT`",
            None => "leave out --full",
        };
        claims::check(input.rows, bytes, advice)?;
        let bar = progress::bar(input.rows, quiet);
        let mut kept = Kept { most, ..Kept::default() };
        let mut read_rows = 0;
        for batch in input.batches {
            // An Arrow file may be one huge batch.
            for part in parts(&batch?) {
                read_rows += part.num_rows() as u64;
                bar.inc(part.num_rows() as u64);
                kept.push(part);
            }
        }
        bar.finish_and_clear();
        let file_rows = input.file_rows.unwrap_or(read_rows);
        Ok(Self { schema: input.schema, file_rows, batches: kept.batches })
    }
}

/// At most so many rows, in runs that are spread evenly.
pub fn spread(rows: u64, most: u64) -> RowRanges {
    if rows <= most {
        return (0..rows).into();
    }
    let runs = RUNS.min(most).max(1);
    (0..runs).map(|run| (rows / runs) * run).map(|start| start..start + most / runs).collect()
}

/// Every `2^thinned`-th batch of those that came.
#[derive(Debug, Default)]
struct Kept {
    most: Option<usize>,
    thinned: u32,
    seen: usize,
    batches: Vec<RecordBatch>,
}

impl Kept {
    fn push(&mut self, batch: RecordBatch) {
        if self.seen.is_multiple_of(1 << self.thinned) {
            self.batches.push(batch);
            while self.batches.len() > 1 && self.is_too_much() {
                let mut position = 0;
                self.batches.retain(|_| {
                    position += 1;
                    position % 2 == 1
                });
                self.thinned += 1;
            }
        }
        self.seen += 1;
    }

    fn is_too_much(&self) -> bool {
        let Some(most) = self.most else { return false };
        let rows: usize = self.batches.iter().map(RecordBatch::num_rows).sum();
        let bytes: u64 = self.batches.iter().map(batch_bytes).sum();
        rows > most || bytes > SAMPLE_BYTES
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{Int64Array, cast::AsArray, types::Int64Type};

    use super::*;

    fn numbers(start: i64, len: i64) -> RecordBatch {
        let numbers = Int64Array::from_iter_values(start..start + len);
        RecordBatch::try_from_iter([("n", Arc::new(numbers) as _)]).unwrap()
    }

    #[test]
    fn runs_are_spread_evenly() {
        assert_eq!(spread(100, 100).ranges(), [0..100]);
        assert_eq!(spread(100, 2).ranges(), [0..1, 50..51]);
        let huge = spread(u64::MAX, 1 << 20);
        assert_eq!((huge.ranges().len(), huge.count()), (64, 1 << 20));
        assert!(huge.end() > u64::MAX / 64 * 63 && spread(0, 5).is_empty());
    }

    #[test]
    fn batches_are_spread_evenly() {
        let len = 1000;
        let mut kept = Kept { most: Some(8 * len as usize), ..Kept::default() };
        (0..100).for_each(|i| kept.push(numbers(i * len, len)));
        let first =
            |batch: &RecordBatch| batch.column(0).as_primitive::<Int64Type>().value(0) / len;
        let starts: Vec<i64> = kept.batches.iter().map(first).collect();
        assert_eq!(starts, [0, 16, 32, 48, 64, 80, 96]);

        let mut all = Kept::default();
        (0..100).for_each(|i| all.push(numbers(i * len, len)));
        assert_eq!(all.batches.len(), 100);
    }
}
