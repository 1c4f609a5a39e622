//! Takes of many rows, in parts.
//!
//! A take reads at once all that its rows need. Where that is much, it is cut into parts: what one
//! part read is given back before the next one reads, so that the memory stays warm, and parts are
//! read and decoded on all threads. The rows of all parts are then put together, which costs a copy;
//! where rows are so long that the copy would cost more, the take stays whole. Many columns are taken
//! in groups, which costs nothing but their schema.

use std::sync::Arc;

use arrow_array::{Array, RecordBatch};
use arrow_data::ArrayData;
use arrow_select::concat::concat_batches;

use super::FileReader;
use super::projected::ProjectedColumns;
use super::read_request::{ReadRequest, Request, Wanted, check_rows, in_order, sort};
use super::source::Source;
use crate::error::{Error, Result};
use crate::parallel::in_parallel;
use crate::schema::leaves::LeafColumnType;

/// Bytes that a part reads, about.
const PART_BYTES: u64 = 2 << 20;
/// A column costs a part as much as these bytes.
const COLUMN_BYTES: u64 = 64 << 10;
/// Bytes that a row of a column reads at most, about: a chunk.
const CHUNK_BYTES: u64 = 4 << 10;
/// Fewer bytes are not worth another thread: they are read and decoded in some 100 us.
const SHARE_BYTES: u64 = 384 << 10;
/// Longer rows are not copied.
const LONG_ROW_BYTES: u64 = 16 << 10;
/// More bytes of rows are not copied either: they would be there twice.
const MAX_RESULT_BYTES: u64 = 64 << 20;

impl FileReader {
    pub(super) fn take_projected(
        &self,
        projection: &Arc<ProjectedColumns>,
        rows: &[u64],
    ) -> Result<RecordBatch> {
        let num_parts = self.num_parts(projection, rows.len() as u64)?;
        if num_parts > 1 {
            match self.take_in_parts(projection, rows, num_parts) {
                Ok(Some(batch)) => return Ok(batch),
                // Parts may each load what the whole take would load once.
                Ok(None) | Err(Error::Limit { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        if projection.groups(self.threads)?.is_empty() {
            return self.run_placing(self.request(projection, Wanted::Rows(rows.to_vec()))?);
        }
        self.take_in_groups(projection, rows)
    }

    /// Drives a read whose long values need no copy.
    fn run_placing(&self, mut request: ReadRequest) -> Result<RecordBatch> {
        let Some(disk) = &self.file.disk else { return self.run(request) };
        while !request.spans().is_empty() {
            request.place_values(disk)?;
            let bytes = disk.read(request.spans())?;
            request.supply(bytes)?;
        }
        request.finish()
    }

    /// The same reader for a part of a read: the parts are what its threads share.
    fn on_one_thread(&self) -> Self {
        Self { threads: 1, ..self.clone() }
    }

    /// The rows, some columns on one thread and some on another.
    fn take_in_groups(
        &self,
        projection: &Arc<ProjectedColumns>,
        rows: &[u64],
    ) -> Result<RecordBatch> {
        let num_rows = self.load_columns(projection)?;
        let budget = self.file.budget();
        let groups = projection.groups(self.threads)?.to_vec();
        let (reader, wanted) = (self.on_one_thread(), rows.to_vec());
        let parts: Vec<RecordBatch> = in_parallel(self.threads, groups, move |group| {
            group.num_rows.set(num_rows);
            let wanted = Wanted::Rows(wanted.clone());
            let request = ReadRequest::new(reader.clone(), group, wanted, budget.clone())?;
            reader.run_placing(request)
        })?;
        let columns = parts.iter().flat_map(RecordBatch::columns).cloned().collect();
        projection.batch(columns, rows.len() as u64)
    }

    /// The rows, unless they have more items than offsets can count: the whole take tells that best.
    fn take_in_parts(
        &self,
        projection: &Arc<ProjectedColumns>,
        rows: &[u64],
        num_parts: usize,
    ) -> Result<Option<RecordBatch>> {
        check_rows(rows, self.common_rows(projection)?)?;
        let mut rows = rows.to_vec();
        let order = (!rows.is_sorted_by(|a, b| a < b)).then(|| sort(&mut rows));
        let part_rows = rows.len().div_ceil(num_parts).max(1);
        let parts = rows.chunks(part_rows).map(<[u64]>::to_vec).collect();
        // It is one read, however many parts it has.
        let budget = self.file.budget();
        let (reader, columns, claims) = (self.on_one_thread(), projection.clone(), budget.clone());
        let parts: Vec<RecordBatch> = in_parallel(self.threads, parts, move |part| {
            let (columns, wanted) = (columns.clone(), Wanted::Rows(part));
            reader.run(ReadRequest::new(reader.clone(), columns, wanted, claims.clone())?)
        })?;
        let columns = parts.iter().flat_map(RecordBatch::columns);
        let lengths = columns.map(|column| longest(&column.to_data()));
        if i32::try_from(lengths.fold(0, usize::saturating_add)).is_err() {
            return Ok(None);
        }
        let sizes = parts.iter().map(RecordBatch::get_array_memory_size);
        budget.claim(sizes.fold(0, usize::saturating_add) as u64, "the rows of a take")?;
        in_order(concat_batches(&projection.schema, &parts)?, order).map(Some)
    }

    /// How many parts a take of this many rows has.
    fn num_parts(&self, projection: &Arc<ProjectedColumns>, num_wanted: u64) -> Result<usize> {
        let num_columns = projection.leaves.len() as u64;
        let chunks = num_wanted.saturating_mul(num_columns).saturating_mul(CHUNK_BYTES);
        // Each part would bring its own dictionary, and blobs are long.
        let is_plain = |leaf: &LeafColumnType| leaf.leaf.keys.is_none() && !leaf.leaf.blob;
        if chunks < SHARE_BYTES * 2 || !projection.leaves.iter().all(is_plain) {
            return Ok(1);
        }
        let num_rows = self.load_columns(projection)?;
        let row_bytes = self.row_bytes_of(projection);
        let result = num_wanted.saturating_mul(row_bytes);
        if row_bytes > LONG_ROW_BYTES || result > MAX_RESULT_BYTES {
            return Ok(1);
        }
        let read = chunks.min(num_rows.saturating_mul(row_bytes));
        let part = PART_BYTES.max(num_columns.saturating_mul(COLUMN_BYTES));
        let is_grouped = !projection.groups(self.threads)?.is_empty();
        let most = if is_grouped { 1 } else { self.threads as u64 };
        let stored = match self.file.arrays {
            Some(_) => read,
            None => self.file.stored_bytes(&projection.leaves).min(read),
        };
        let by_threads = (stored / SHARE_BYTES).min(most);
        let num_parts = read.checked_div(part).unwrap_or(1).max(by_threads);
        Ok(usize::try_from(num_parts).unwrap_or(usize::MAX))
    }
}

/// The length of the longest array in an array.
fn longest(data: &ArrayData) -> usize {
    data.child_data().iter().map(longest).fold(data.len(), usize::max)
}
