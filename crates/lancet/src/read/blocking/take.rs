//! Takes of many rows, in parts.
//!
//! A take reads at once all that its rows need. Where that is much, it is cut into parts: what one
//! part read is given back before the next one reads, so that the memory stays warm, and parts are
//! read and decoded on all threads. The rows of all parts are then put together, which costs a copy;
//! where rows are so long that the copy would cost more, the take stays whole. Many columns are taken
//! in groups, which costs nothing but their schema, and short columns of which nearly all is read one by one.

use arrow_array::{Array, RecordBatch};
use arrow_data::ArrayData;

use super::FileReader;
use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::parallel::in_parallel;
use crate::read::order::{claim_repeated, put_together, sort};
use crate::read::projection::Projection;
use crate::read::request::Machine;
use crate::read::rows_read::{RowsRead, check_rows};
use crate::rows::Rows;
use crate::schema::leaves::LeafColumnType;
use crate::span::Span;

/// Bytes that a part reads, about.
const PART_BYTES: u64 = 2 << 20;
/// Columns of which no more is read are read one by one.
const SHORT_BYTES: u64 = 16 << 20;
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
/// How much more than its bytes in the file a page index may take in memory, about.
const INDEX_GROWTH: u64 = 16;
/// How much more than the bytes of the rows the parts may hold, about.
const ROWS_GROWTH: u64 = 4;

impl FileReader {
    pub(super) fn take_projected(&self, columns: &Projection, rows: &[u64]) -> Result<RecordBatch> {
        let num_parts = self.num_parts(columns, rows.len() as u64)?;
        let groups = columns.groups(self.threads)?;
        if num_parts > 1
            && groups.is_empty()
            && self.are_columns_short(columns, rows.len() as u64)?
        {
            return self.take_by_columns(columns, rows);
        }
        if num_parts > 1
            && let Some(batch) = self.take_in_parts(columns, rows, num_parts)?
        {
            return Ok(batch);
        }
        if groups.is_empty() {
            return self.read_projected(columns, Rows::List(rows.to_vec()));
        }
        self.take_in_groups(columns, &groups, rows, &self.file.budget())
    }

    /// Some rows in one read.
    pub(super) fn read_projected(&self, columns: &Projection, rows: Rows) -> Result<RecordBatch> {
        self.run_rows(self.rows_read(columns, rows, self.file.budget(), self.threads)?)
    }

    fn rows_read(
        &self,
        columns: &Projection,
        rows: Rows,
        budget: Budget,
        threads: usize,
    ) -> Result<RowsRead> {
        RowsRead::new(self.file.clone(), columns.clone(), rows, budget, threads)
    }

    /// The rows, some columns on one thread and some on another.
    fn take_in_groups(
        &self,
        columns: &Projection,
        groups: &[Projection],
        rows: &[u64],
        budget: &Budget,
    ) -> Result<RecordBatch> {
        let num_rows = self.load_columns(columns)?;
        groups.iter().for_each(|group| group.set_num_rows(num_rows));
        let (reader, wanted, budget) = (self.clone(), rows.to_vec(), budget.clone());
        // Other threads read those between a group and the one that is announced with it.
        let next = groups.iter().skip(self.threads.max(1)).cloned().map(Some);
        let items: Vec<_> =
            groups.iter().cloned().zip(next.chain(std::iter::repeat(None))).collect();
        let parts: Vec<RecordBatch> = in_parallel(self.threads, items, move |(group, next)| {
            let read = reader.rows_read(&group, Rows::List(wanted.clone()), budget.clone(), 1)?;
            reader.run_rows_then(read, |before| {
                next.iter().for_each(|next| reader.announce_rows(next, &wanted, before));
            })
        })?;
        let arrays = parts.iter().flat_map(RecordBatch::columns).cloned().collect();
        columns.batch(arrays, rows.len() as u64)
    }

    /// The rows, each column by itself: less is done again for each than for each part, and a device reads what is one
    /// after the other. Rows in any order are sorted once for all columns.
    fn take_by_columns(&self, columns: &Projection, rows: &[u64]) -> Result<RecordBatch> {
        let (fields, budget) = (columns.fields()?, self.file.budget());
        if rows.is_sorted_by(|a, b| a < b) {
            return self.take_in_groups(columns, &fields, rows, &budget);
        }
        check_rows(rows, self.load_columns(columns)?)?;
        let mut sorted = rows.to_vec();
        let order = Some(sort(&mut sorted));
        let parts = [self.take_in_groups(columns, &fields, &sorted, &budget)?];
        claim_repeated(&parts, order.as_ref(), &budget)?;
        put_together(&columns.schema(), &parts, order, &self.file.pool)
    }

    /// Whether rows need nearly all of every column, and columns are so short that each may be there at once. All threads are
    /// to have one.
    fn are_columns_short(&self, columns: &Projection, num_wanted: u64) -> Result<bool> {
        if columns.nodes().len() < self.threads.max(2) {
            return Ok(false);
        }
        let fields = columns.fields()?;
        let num_rows = self.load_columns(columns)?;
        let stored = |field: &Projection| {
            let decoded = || num_rows.saturating_mul(self.file.row_bytes(field));
            self.file.stored_bytes(field).unwrap_or_else(decoded)
        };
        let most = num_wanted.saturating_mul(CHUNK_BYTES).min(SHORT_BYTES);
        Ok(fields.iter().all(|field| stored(field) <= most))
    }

    /// The rows; none if they have more items than offsets can count, which the whole take tells best, or
    /// if parts and the rows put together do not fit into the memory limit, where the whole take may.
    fn take_in_parts(
        &self,
        columns: &Projection,
        rows: &[u64],
        num_parts: usize,
    ) -> Result<Option<RecordBatch>> {
        check_rows(rows, self.load_columns(columns)?)?;
        let mut rows = rows.to_vec();
        let order = (!rows.is_sorted_by(|a, b| a < b)).then(|| sort(&mut rows));
        let part_rows = rows.len().div_ceil(num_parts).max(1);
        // It is one read, however many parts it has.
        let budget = self.file.budget();
        let (reader, projection, claims) = (self.clone(), columns.clone(), budget.clone());
        let numbers = (0..rows.len().div_ceil(part_rows)).collect();
        let parts = in_parallel(self.threads, numbers, move |number: usize| {
            let part = |number: usize| rows.chunks(part_rows).nth(number).unwrap_or_default();
            let wanted = Rows::List(part(number).to_vec());
            let read = reader.rows_read(&projection, wanted, claims.clone(), 1)?;
            // Other threads read those in between.
            let next = part(number.saturating_add(reader.threads.max(1)));
            reader.run_rows_then(read, |before| reader.announce_rows(&projection, next, before))
        });
        let parts: Vec<RecordBatch> = match parts {
            Err(Error::Limit { .. }) => return Ok(None),
            parts => parts?,
        };
        let arrays = parts.iter().flat_map(RecordBatch::columns);
        let lengths = arrays.map(|array| longest(&array.to_data()));
        if i32::try_from(lengths.fold(0, usize::saturating_add)).is_err() {
            return Ok(None);
        }
        let sizes = parts.iter().map(RecordBatch::get_array_memory_size);
        if sizes.fold(0, usize::saturating_add) as u64 > budget.left() {
            return Ok(None);
        }
        claim_repeated(&parts, order.as_ref(), &budget)?;
        put_together(&columns.schema(), &parts, order, &self.file.pool).map(Some)
    }

    /// Announces rows that are going to be read after these spans. What is wrong with them is told then.
    fn announce_rows(&self, columns: &Projection, rows: &[u64], before: &[Span]) {
        if rows.is_empty() {
            return;
        }
        let rows = Rows::List(rows.to_vec());
        if let Ok(read) = self.rows_read(columns, rows, self.file.budget(), 1) {
            self.source.announce(read.spans(), before);
        }
    }

    /// Loads the metadata of the columns and returns their common number of rows.
    fn load_columns(&self, columns: &Projection) -> Result<u64> {
        match columns.num_rows() {
            Some(num_rows) => Ok(num_rows),
            None => self.run(self.file.prepare(columns)),
        }
    }

    /// How many parts a take of this many rows has.
    fn num_parts(&self, columns: &Projection, num_wanted: u64) -> Result<usize> {
        let num_columns = columns.leaves().len() as u64;
        let chunks = num_wanted.saturating_mul(num_columns).saturating_mul(CHUNK_BYTES);
        // Each part would bring its own dictionary, and blobs are long.
        let is_plain = |leaf: &LeafColumnType| leaf.leaf.keys.is_none() && !leaf.leaf.blob;
        if chunks < SHARE_BYTES * 2 || !columns.leaves().iter().all(is_plain) {
            return Ok(1);
        }
        let num_rows = self.load_columns(columns)?;
        let row_bytes = self.file.row_bytes(columns);
        let result = num_wanted.saturating_mul(row_bytes);
        if row_bytes > LONG_ROW_BYTES || result > MAX_RESULT_BYTES {
            return Ok(1);
        }
        let read = chunks.min(num_rows.saturating_mul(row_bytes));
        let part = PART_BYTES.max(num_columns.saturating_mul(COLUMN_BYTES));
        let is_grouped = !columns.groups(self.threads)?.is_empty();
        let most = if is_grouped { 1 } else { self.threads as u64 };
        let stored = self.file.stored_bytes(columns).map_or(read, |stored| stored.min(read));
        let by_threads = (stored / SHARE_BYTES).min(most);
        let num_parts = read.checked_div(part).unwrap_or(1).max(by_threads);
        // Each part may load what the whole take would load once.
        let indexes = self.file.index_bytes(columns).saturating_mul(INDEX_GROWTH);
        let rows = read.saturating_add(result).saturating_mul(ROWS_GROWTH);
        let needed = indexes.saturating_mul(num_parts).saturating_add(rows);
        if needed > self.file.budget().left() {
            return Ok(1);
        }
        Ok(usize::try_from(num_parts).unwrap_or(usize::MAX))
    }
}

/// The length of the longest array in an array.
fn longest(data: &ArrayData) -> usize {
    data.child_data().iter().map(longest).fold(data.len(), usize::max)
}
