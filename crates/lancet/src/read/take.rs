//! Takes: rows by number, in any order.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchOptions, UInt64Array};
use arrow_select::take::take as take_rows;

use super::FileReader;
use super::request::ProjectedColumns;
use crate::error::{Error, Result};

/// Reads each wanted row once, in file order, then puts them into the order asked for.
pub(super) fn take(
    reader: &FileReader,
    projection: &Arc<ProjectedColumns>,
    rows: &[u64],
) -> Result<RecordBatch> {
    let num_rows = reader.load_columns(projection)?;
    if let Some(row) = rows.iter().find(|row| **row >= num_rows) {
        return Err(Error::invalid(format!(
            "row {row} is out of range: there are {num_rows} rows, counted from 0"
        )));
    }
    let mut sorted = rows.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    let batch = reader.read(projection, to_ranges(&sorted))?;
    if sorted == rows {
        return Ok(batch);
    }
    let position = |row: &u64| sorted.binary_search(row).unwrap_or_default() as u64;
    let order = UInt64Array::from_iter_values(rows.iter().map(position));
    let columns = batch.columns().iter().map(|column| take_rows(column, &order, None));
    let columns = columns.collect::<std::result::Result<_, _>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
    Ok(RecordBatch::try_new_with_options(batch.schema(), columns, &options)?)
}

fn to_ranges(sorted: &[u64]) -> Vec<Range<u64>> {
    let mut ranges: Vec<Range<u64>> = Vec::new();
    for &row in sorted {
        match ranges.last_mut() {
            Some(range) if range.end == row => range.end = row.saturating_add(1),
            _ => ranges.push(row..row.saturating_add(1)),
        }
    }
    ranges
}
