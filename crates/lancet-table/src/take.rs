//! Rows by their numbers, ids and addresses.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions};
use lancet::Rows;

use crate::columns::{TableColumns, TableProjection};
use crate::error::{Error, Result};
use crate::gather::gather;
use crate::read::Reads;
use crate::snapshot::find_row;
use crate::storage::{Storage, ready};
use crate::table::Table;

/// Fewer fragments than this are read on the calling thread: to wake another one takes longer than a few rows.
const PARALLEL_FRAGMENTS: usize = 8;

/// So many fragments are told to the device together, at most: their files are open meanwhile.
const TOGETHER: usize = 128;

/// A row that is wanted: the place of its fragment, and its offset there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub(crate) place: usize,
    pub(crate) offset: u64,
}

impl Table {
    /// Columns of the rows with these numbers, in the order asked for; duplicates are allowed. Numbers count the rows of a
    /// scan from 0.
    pub fn take(&self, rows: &[u64], columns: impl Into<TableColumns>) -> Result<RecordBatch> {
        let columns = self.project(columns)?;
        self.take_wanted(ready(self.at.reads.rows_by_number(rows))?, &columns)
    }

    /// Columns of the rows with these ids, in the order asked for; ids that no live row has are left out. Ask for the
    /// column `_rowid` to see which. Ids are stable where the table says so; else they are addresses.
    pub fn take_row_ids(
        &self,
        ids: &[u64],
        columns: impl Into<TableColumns>,
    ) -> Result<RecordBatch> {
        let columns = self.project(columns)?;
        self.take_wanted(ready(self.at.reads.rows_by_id(ids))?, &columns)
    }

    /// Columns of the rows with these addresses, in the order asked for; addresses where no live row is are left out. An
    /// address is `fragment << 32 | offset`, deleted rows counted.
    pub fn take_addresses(
        &self,
        addresses: &[u64],
        columns: impl Into<TableColumns>,
    ) -> Result<RecordBatch> {
        let columns = self.project(columns)?;
        self.take_wanted(ready(self.at.reads.rows_by_address(addresses))?, &columns)
    }

    fn take_wanted(&self, wanted: Vec<Wanted>, columns: &TableProjection) -> Result<RecordBatch> {
        let (groups, positions) = grouped(&wanted);
        let mut batches = Vec::with_capacity(groups.len());
        let mut groups = groups.into_iter();
        let held = Arc::new(Held::by_take(&self.at.reads));
        loop {
            let some: Vec<Group> = groups.by_ref().take(TOGETHER).collect();
            if some.is_empty() {
                return in_order(batches, &positions, columns);
            }
            if some.len() > 1 {
                self.at.reads.announce(some.iter().map(|group| group.place), columns)?;
                self.at.reads.announce_rows(&some, columns);
            }
            let threads = if some.len() < PARALLEL_FRAGMENTS { 1 } else { self.at.reads.threads };
            let (reads, wanted, held) = (self.at.reads.clone(), columns.clone(), held.clone());
            let read = move |group: Group| {
                let batch = ready(reads.read(group.place, &wanted, &Rows::List(group.offsets)));
                Ok(batch.and_then(|batch| held.add(batch)))
            };
            for batch in lancet::in_parallel(threads, some, read)? {
                batches.push(batch?);
            }
        }
    }
}

/// Where rows are.
impl<S: Storage> Reads<S> {
    pub(crate) async fn rows_by_number(&self, rows: &[u64]) -> Result<Vec<Wanted>> {
        let starts = self.starts().await?;
        let places = rows.iter().filter_map(|row| find_row(starts, *row)).map(|(place, _)| place);
        self.load_deletions(places).await?;
        let mut wanted = Vec::with_capacity(rows.len());
        for row in rows {
            let Some((place, number)) = find_row(starts, *row) else {
                let num_rows = starts.last().copied().unwrap_or(0);
                return Err(Error::invalid(format!(
                    "row {row} is out of range: there are {num_rows} rows, counted from 0"
                )));
            };
            let offset = self.deletions(place).await?.nth_live(number);
            wanted.push(Wanted { place, offset });
        }
        Ok(wanted)
    }

    pub(crate) async fn rows_by_id(&self, ids: &[u64]) -> Result<Vec<Wanted>> {
        if !self.snapshot.manifest.has_stable_row_ids() {
            return self.rows_by_address(ids).await;
        }
        let index = self.row_index().await?;
        let found = index.get_many(ids.iter().copied()).into_iter().flatten();
        self.rows_by_address(&found.collect::<Vec<_>>()).await
    }

    pub(crate) async fn rows_by_address(&self, addresses: &[u64]) -> Result<Vec<Wanted>> {
        let place = |address: &u64| self.snapshot.place(u32::try_from(*address >> 32).ok()?);
        self.load_deletions(addresses.iter().filter_map(place)).await?;
        let mut wanted = Vec::with_capacity(addresses.len());
        for address in addresses {
            let offset = *address & u64::from(u32::MAX);
            let Some(place) = place(address) else { continue };
            let is_there = offset < self.physical_rows(place).await?;
            if is_there && !self.deletions(place).await?.contains(offset) {
                wanted.push(Wanted { place, offset });
            }
        }
        Ok(wanted)
    }
}

/// The memory that a take holds: that of all fragments together.
pub(crate) struct Held {
    file: String,
    limit: u64,
    bytes: AtomicU64,
}

impl Held {
    pub(crate) fn by_take<S: Storage>(reads: &Reads<S>) -> Self {
        let file = reads.snapshot.manifest.file.clone();
        Self { file, limit: reads.memory_limit, bytes: AtomicU64::new(0) }
    }

    /// Counts rows that were read.
    pub(crate) fn add(&self, batch: RecordBatch) -> Result<RecordBatch> {
        let sizes = batch.columns().iter().map(|column| column.to_data().get_slice_memory_size());
        let bytes = sizes.map(|size| size.unwrap_or(0) as u64).fold(0, u64::saturating_add);
        let needed = self.bytes.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        if needed > self.limit {
            let (file, limit) = (self.file.clone(), self.limit);
            return Err(Error::Limit { file, needed, limit, option: "memory_limit" });
        }
        Ok(batch)
    }
}

/// Rows of one fragment.
pub(crate) struct Group {
    pub(crate) place: usize,
    pub(crate) offsets: Vec<u64>,
}

/// The rows of each fragment together, in the order asked for; and for each row its group and its place there.
pub(crate) fn grouped(wanted: &[Wanted]) -> (Vec<Group>, Vec<(usize, usize)>) {
    let mut order: Vec<(usize, usize)> =
        wanted.iter().enumerate().map(|(position, row)| (row.place, position)).collect();
    order.sort_unstable();
    let mut groups: Vec<Group> = Vec::new();
    let mut positions = vec![(0, 0); wanted.len()];
    for (place, position) in order {
        let offset = wanted.get(position).map_or(0, |row| row.offset);
        if groups.last().is_none_or(|group| group.place != place) {
            groups.push(Group { place, offsets: Vec::new() });
        }
        let group = groups.len().saturating_sub(1);
        if let (Some(last), Some(went_to)) = (groups.last_mut(), positions.get_mut(position)) {
            *went_to = (group, last.offsets.len());
            last.offsets.push(offset);
        }
    }
    (groups, positions)
}

/// The rows of several batches in the order asked for; `positions` are those of the batch, and in it.
pub(crate) fn in_order(
    mut batches: Vec<RecordBatch>,
    positions: &[(usize, usize)],
    columns: &TableProjection,
) -> Result<RecordBatch> {
    let schema = columns.schema();
    match batches.len() {
        0 => return Ok(RecordBatch::new_empty(schema)),
        // Rows of one fragment stand as they were asked for.
        1 => return Ok(batches.swap_remove(0)),
        _ => {}
    }
    let mut arrays: Vec<ArrayRef> = Vec::with_capacity(schema.fields().len());
    for column in 0..schema.fields().len() {
        let parts: Vec<ArrayRef> =
            batches.iter().filter_map(|batch| batch.columns().get(column).cloned()).collect();
        arrays.push(gather(&parts, positions)?);
    }
    let options = RecordBatchOptions::new().with_row_count(Some(positions.len()));
    Ok(RecordBatch::try_new_with_options(schema, arrays, &options)?)
}
