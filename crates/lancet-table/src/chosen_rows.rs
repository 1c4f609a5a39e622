//! Which rows of a table a change means, and where they lie.

use std::collections::BTreeMap;
use std::ops::Range;

use lancet::RowRanges;
use roaring::RoaringBitmap;

use crate::error::{Error, Result};
use crate::opening::Opened;
use crate::snapshot::rows_within;
use crate::storage::Storage;
use crate::take::Wanted;

/// Which rows of a table are meant.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum TableRows {
    /// By their numbers, which count the rows of a scan from 0.
    Numbers(Vec<u64>),
    /// By ranges of their numbers.
    Ranges(RowRanges),
    /// By their addresses. Rows that are gone are left out.
    Addresses(Vec<u64>),
    /// By their ids, which are stable where the table says so. Rows that are gone are left out.
    Ids(Vec<u64>),
}

impl From<&[u64]> for TableRows {
    fn from(numbers: &[u64]) -> Self {
        Self::Numbers(numbers.to_vec())
    }
}

impl From<Vec<u64>> for TableRows {
    fn from(numbers: Vec<u64>) -> Self {
        Self::Numbers(numbers)
    }
}

impl From<RowRanges> for TableRows {
    fn from(ranges: RowRanges) -> Self {
        Self::Ranges(ranges)
    }
}

impl From<Range<u64>> for TableRows {
    fn from(range: Range<u64>) -> Self {
        Self::Ranges(range.into())
    }
}

impl<S: Storage> Opened<S> {
    /// The rows that are meant, in their order.
    pub(crate) async fn find_rows(&self, rows: &TableRows) -> Result<Vec<Wanted>> {
        match rows {
            TableRows::Numbers(numbers) => self.reads.rows_by_number(numbers).await,
            TableRows::Ranges(ranges) => {
                self.check_ranges(ranges).await?;
                let numbers: Vec<u64> = ranges.iter().cloned().flatten().collect();
                self.reads.rows_by_number(&numbers).await
            }
            TableRows::Addresses(addresses) => self.reads.rows_by_address(addresses).await,
            TableRows::Ids(ids) => self.reads.rows_by_id(ids).await,
        }
    }

    /// An error if a range goes beyond the rows. The number of the first row of each fragment, and of all rows.
    async fn check_ranges(&self, ranges: &RowRanges) -> Result<&[u64]> {
        let starts = self.reads.starts().await?;
        let num_rows = starts.last().copied().unwrap_or(0);
        if let Some(range) = ranges.iter().find(|range| range.end > num_rows) {
            let row = range.end.saturating_sub(1);
            return Err(Error::invalid(format!(
                "row {row} is out of range: there are {num_rows} rows, counted from 0"
            )));
        }
        Ok(starts)
    }

    /// The offsets of the rows that are meant, by the places of their fragments. Ranges stay ranges: they may be long.
    pub(crate) async fn find_offsets(
        &self,
        rows: &TableRows,
    ) -> Result<BTreeMap<usize, RoaringBitmap>> {
        let TableRows::Ranges(ranges) = rows else {
            return offsets_of(&self.find_rows(rows).await?);
        };
        let starts = self.check_ranges(ranges).await?;
        let mut offsets = BTreeMap::new();
        for (place, (first, end)) in starts.iter().zip(starts.iter().skip(1)).enumerate() {
            let within = rows_within(ranges, *first..*end);
            if within.count() == 0 {
                continue;
            }
            let mut found = RoaringBitmap::new();
            for range in self.reads.live_rows(place, &within).await?.iter() {
                let bound = |offset| u32::try_from(offset).map_err(|_| too_many_rows());
                found.insert_range(bound(range.start)?..bound(range.end)?);
            }
            offsets.insert(place, found);
        }
        Ok(offsets)
    }
}

/// The offsets of rows, by the places of their fragments.
pub(crate) fn offsets_of<'a>(
    wanted: impl IntoIterator<Item = &'a Wanted>,
) -> Result<BTreeMap<usize, RoaringBitmap>> {
    let mut offsets: BTreeMap<usize, RoaringBitmap> = BTreeMap::new();
    for row in wanted {
        let offset = u32::try_from(row.offset).map_err(|_| too_many_rows())?;
        offsets.entry(row.place).or_default().insert(offset);
    }
    Ok(offsets)
}

fn too_many_rows() -> Error {
    Error::invalid("fragments have fewer than 2^32 rows")
}
