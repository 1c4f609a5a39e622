//! Rows by their numbers, ids and addresses.

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use lancet::Rows;

use crate::columns::{TableColumns, TableProjection};
use crate::error::{Error, Result};
use crate::flags::Flags;
use crate::gather::gather;
use crate::read::Reads;
use crate::snapshot::find_row;
use crate::table::Table;

/// Fewer fragments than this are read on the calling thread: to wake another one takes longer than a few rows.
const PARALLEL_FRAGMENTS: usize = 8;

/// A row that is wanted: the place of its fragment, and its offset there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Wanted {
    place: usize,
    offset: u64,
}

impl Table {
    /// Columns of the rows with these numbers, in the order asked for; duplicates are allowed. Numbers count the rows of a
    /// scan from 0.
    pub fn take(&self, rows: &[u64], columns: impl Into<TableColumns>) -> Result<RecordBatch> {
        let columns = self.project(columns)?;
        let starts = self.reads.starts()?;
        let mut wanted = Vec::with_capacity(rows.len());
        for row in rows {
            let Some((place, number)) = find_row(starts, *row) else {
                let num_rows = starts.last().copied().unwrap_or(0);
                return Err(Error::invalid(format!(
                    "row {row} is out of range: there are {num_rows} rows, counted from 0"
                )));
            };
            let offset = self.reads.deletions(place)?.nth_live(number);
            wanted.push(Wanted { place, offset });
        }
        self.take_wanted(&wanted, &columns)
    }

    /// Columns of the rows with these ids, in the order asked for; ids that no live row has are left out. Ask for the
    /// column `_rowid` to see which. Ids are stable where the table says so; else they are addresses.
    pub fn take_row_ids(
        &self,
        ids: &[u64],
        columns: impl Into<TableColumns>,
    ) -> Result<RecordBatch> {
        if !self.manifest().reader_flags.contains(Flags::STABLE_ROW_IDS) {
            return self.take_addresses(ids, columns);
        }
        let index = self.reads.row_index()?;
        let addresses: Vec<u64> =
            index.get_many(ids.iter().copied()).into_iter().flatten().collect();
        self.take_addresses(&addresses, columns)
    }

    /// Columns of the rows with these addresses, in the order asked for; addresses where no live row is are left out. An
    /// address is `fragment << 32 | offset`, deleted rows counted.
    pub fn take_addresses(
        &self,
        addresses: &[u64],
        columns: impl Into<TableColumns>,
    ) -> Result<RecordBatch> {
        let columns = self.project(columns)?;
        let mut wanted = Vec::with_capacity(addresses.len());
        for address in addresses {
            let (fragment, offset) = (*address >> 32, *address & u64::from(u32::MAX));
            let fragment = u32::try_from(fragment).unwrap_or(u32::MAX);
            let Some(place) = self.reads.snapshot.place(fragment) else { continue };
            let is_there = offset < self.reads.physical_rows(place)?;
            if is_there && !self.reads.deletions(place)?.contains(offset) {
                wanted.push(Wanted { place, offset });
            }
        }
        self.take_wanted(&wanted, &columns)
    }

    fn take_wanted(&self, wanted: &[Wanted], columns: &TableProjection) -> Result<RecordBatch> {
        match wanted {
            [] => return Ok(RecordBatch::new_empty(columns.schema())),
            [first, rest @ ..] if rest.iter().all(|row| row.place == first.place) => {
                let rows = wanted.iter().map(|row| row.offset).collect();
                return self.reads.read(first.place, columns, &Rows::List(rows));
            }
            _ => {}
        }
        // Rows of one fragment are read together, in the order asked for, and stand so behind each other.
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
        let batches = self.reads.read_groups(groups, columns)?;
        in_order(&batches, &positions, columns)
    }
}

/// Rows of one fragment.
struct Group {
    place: usize,
    offsets: Vec<u64>,
}

impl Reads {
    fn read_groups(
        &self,
        groups: Vec<Group>,
        columns: &TableProjection,
    ) -> Result<Vec<RecordBatch>> {
        let threads = if groups.len() < PARALLEL_FRAGMENTS { 1 } else { self.threads };
        let (reads, columns) = (self.clone(), columns.clone());
        let read =
            move |group: Group| Ok(reads.read(group.place, &columns, &Rows::List(group.offsets)));
        lancet::in_parallel(threads, groups, read)?.into_iter().collect()
    }
}

/// The rows of several batches in the order asked for; `positions` are those of the batch, and in it.
fn in_order(
    batches: &[RecordBatch],
    positions: &[(usize, usize)],
    columns: &TableProjection,
) -> Result<RecordBatch> {
    let schema = columns.schema();
    let mut arrays: Vec<ArrayRef> = Vec::with_capacity(schema.fields().len());
    for column in 0..schema.fields().len() {
        let parts: Vec<ArrayRef> =
            batches.iter().filter_map(|batch| batch.columns().get(column).cloned()).collect();
        arrays.push(gather(&parts, positions)?);
    }
    let options = RecordBatchOptions::new().with_row_count(Some(positions.len()));
    Ok(RecordBatch::try_new_with_options(schema, arrays, &options)?)
}
