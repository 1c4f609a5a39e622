//! Takes of many rows, in parts.
//!
//! A take reads at once all that its rows need. Where that is much, it is cut into parts: what one
//! part read is given back before the next one reads, so that the memory stays warm, and parts are
//! read and decoded on all threads. The rows of all parts are then put together, which costs a copy;
//! where rows are so long that the copy would cost more, the take stays whole.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_select::concat::concat_batches;

use super::FileReader;
use super::parallel::in_parallel;
use super::read_request::{Wanted, check_rows, in_order, sort};
use super::request::ProjectedColumns;
use crate::error::Result;

/// Bytes that a part reads, about.
const PART_BYTES: u64 = 2 << 20;
/// A column costs a part as much as these bytes.
const COLUMN_BYTES: u64 = 64 << 10;
/// Bytes that a row of a column reads at most, about: a chunk.
const CHUNK_BYTES: u64 = 4 << 10;
/// More bytes of rows are not copied.
const MAX_RESULT_BYTES: u64 = 4 << 20;

impl FileReader {
    pub(super) fn take_projected(
        &self,
        projection: &Arc<ProjectedColumns>,
        rows: &[u64],
    ) -> Result<RecordBatch> {
        let num_parts = self.num_parts(projection, rows.len() as u64)?;
        if num_parts < 2 {
            return self.run(self.request(projection, Wanted::Rows(rows.to_vec()))?);
        }
        check_rows(rows, self.common_rows(projection)?)?;
        let mut rows = rows.to_vec();
        let order = (!rows.is_sorted_by(|a, b| a < b)).then(|| sort(&mut rows));
        let part_rows = rows.len().div_ceil(num_parts);
        let parts = rows.chunks(part_rows.max(1)).map(<[u64]>::to_vec).collect();
        let read = |part| self.run(self.request(projection, Wanted::Rows(part))?);
        let parts: Vec<RecordBatch> = in_parallel(parts, read)?;
        in_order(concat_batches(&projection.schema, &parts)?, order)
    }

    /// How many parts a take of this many rows has.
    fn num_parts(&self, projection: &Arc<ProjectedColumns>, num_wanted: u64) -> Result<usize> {
        let num_columns = projection.leaves.len() as u64;
        let part = PART_BYTES.max(num_columns.saturating_mul(COLUMN_BYTES));
        let chunks = num_wanted.saturating_mul(num_columns).saturating_mul(CHUNK_BYTES);
        if chunks < part {
            return Ok(1);
        }
        let num_rows = self.load_columns(projection)?;
        let row_bytes = self.row_bytes_of(projection);
        if num_wanted.saturating_mul(row_bytes) > MAX_RESULT_BYTES {
            return Ok(1);
        }
        let read = chunks.min(num_rows.saturating_mul(row_bytes));
        Ok(usize::try_from(read.checked_div(part).unwrap_or(1)).unwrap_or(usize::MAX))
    }
}
