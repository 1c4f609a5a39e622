//! One version of a table: what is known of it, and what was found out about its rows. It reads nothing.
//!
//! A row has three names. Its *number* counts the live rows of the table in the order of a scan. Its *address* is its
//! fragment and its offset there, deleted rows counted. Its *id* is the address, or with stable row ids a number
//! that stays when the row moves.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use lancet::RowRanges;
use lancet_row_ids::{RowIdIndex, RowVersionSequence};

use crate::deletions::Deletions;
use crate::error::{Error, Problem, Result};
use crate::fragment::Fragment;
use crate::manifest::Manifest;
use crate::row_ids::RowIds;
use crate::schema::TableSchema;

/// One version of a table.
#[derive(Debug)]
pub(crate) struct Snapshot {
    pub(crate) manifest: Arc<Manifest>,
    pub(crate) schema: TableSchema,
    /// The places of the fragments, by their ids; none if they are sorted by them, as writers have it.
    places: Option<HashMap<u32, usize>>,
    /// What was found out about each fragment; made when the first one is asked for: many only ask for the schema.
    fragments: OnceLock<Box<[Known]>>,
    /// The number of the first row of each fragment, and behind them that of all rows.
    starts: OnceLock<Vec<u64>>,
    /// Addresses by row ids.
    pub(crate) row_index: OnceLock<Arc<RowIdIndex>>,
}

/// What was found out about a fragment. Values are made first and set then, so that no thread waits for another.
#[derive(Debug, Default)]
struct Known {
    deletions: OnceLock<Arc<Deletions>>,
    physical_rows: OnceLock<u64>,
    row_ids: OnceLock<Arc<RowIds>>,
    created: OnceLock<Arc<RowVersionSequence>>,
    last_updated: OnceLock<Arc<RowVersionSequence>>,
}

impl Snapshot {
    pub(crate) fn new(manifest: Arc<Manifest>) -> Result<Self> {
        let schema =
            TableSchema::new(&manifest).map_err(|problem| problem.in_file(&manifest.file))?;
        let is_sorted = manifest.fragments.is_sorted_by_key(|fragment| fragment.id);
        let ids = manifest.fragments.iter().map(|fragment| fragment.id);
        let places = (!is_sorted).then(|| ids.zip(0..).collect());
        let (fragments, starts, row_index) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        Ok(Self { manifest, schema, places, fragments, starts, row_index })
    }

    /// The fragment at a place.
    pub(crate) fn fragment(&self, place: usize) -> Result<&Fragment> {
        let found = self.manifest.fragments.get(place).map(Arc::as_ref);
        found.ok_or_else(|| Error::invalid(format!("there is no fragment at place {place}")))
    }

    /// Where the fragment with this id stands.
    pub(crate) fn place(&self, fragment: u32) -> Option<usize> {
        match &self.places {
            Some(places) => places.get(&fragment).copied(),
            None => self.manifest.fragments.binary_search_by_key(&fragment, |known| known.id).ok(),
        }
    }

    fn known(&self, place: usize) -> Result<&Known> {
        if self.fragments.get().is_none() {
            let known = self.manifest.fragments.iter().map(|_| Known::default()).collect();
            let _ = self.fragments.set(known);
        }
        let found = self.fragments.get().and_then(|known| known.get(place));
        found.ok_or_else(|| Error::invalid(format!("there is no fragment at place {place}")))
    }

    /// An error about a fragment.
    pub(crate) fn problem(&self, fragment: &Fragment, problem: Problem) -> Error {
        problem.within(&format!("fragment {}", fragment.id)).in_file(&self.manifest.file)
    }

    /// The rows of a fragment, deleted ones included, if the manifest or a file has told them.
    pub(crate) fn physical_rows(&self, place: usize) -> Result<Option<u64>> {
        let known = self.known(place)?.physical_rows.get().copied();
        Ok(self.fragment(place)?.physical_rows.or(known))
    }

    /// A file has told the rows of a fragment.
    pub(crate) fn set_physical_rows(&self, place: usize, rows: u64) -> Result<()> {
        let fragment = self.fragment(place)?;
        if rows > u64::from(u32::MAX) {
            let rule = format!("it has {rows} rows; fragments have fewer than 2^32");
            return Err(self.problem(fragment, Problem::Corrupt(rule)));
        }
        let _ = self.known(place)?.physical_rows.set(rows);
        Ok(())
    }

    /// The deleted rows of a fragment, if they are known.
    pub(crate) fn deletions(&self, place: usize) -> Result<Option<Arc<Deletions>>> {
        if self.fragment(place)?.deletion_file.is_none() {
            return Ok(Some(Arc::default()));
        }
        Ok(self.known(place)?.deletions.get().cloned())
    }

    /// A deletion file has told the deleted rows of a fragment.
    pub(crate) fn set_deletions(&self, place: usize, found: Deletions) -> Result<Arc<Deletions>> {
        let found = Arc::new(found);
        let _ = self.known(place)?.deletions.set(found.clone());
        Ok(found)
    }

    /// The number of the first row of each fragment and of all rows, if it is known.
    pub(crate) fn starts(&self) -> Option<&[u64]> {
        self.starts.get().map(Vec::as_slice)
    }

    /// The rows of each fragment are known.
    pub(crate) fn set_starts(&self, rows: impl IntoIterator<Item = u64>) {
        let mut end = 0_u64;
        // At most 2^32 fragments of fewer than 2^32 rows.
        let ends = rows.into_iter().map(|rows| {
            end = end.saturating_add(rows);
            end
        });
        let starts = std::iter::once(0).chain(ends).collect();
        let _ = self.starts.set(starts);
    }

    /// The row ids of a fragment.
    pub(crate) fn row_ids(&self, place: usize) -> Result<Arc<RowIds>> {
        let known = self.known(place)?;
        if let Some(found) = known.row_ids.get() {
            return Ok(found.clone());
        }
        let found = Arc::new(self.manifest.row_ids(self.fragment(place)?)?);
        let _ = known.row_ids.set(found.clone());
        Ok(found)
    }

    /// The versions in which the rows of a fragment were made; decoded once.
    pub(crate) fn created(&self, place: usize, bytes: &[u8]) -> Result<Arc<RowVersionSequence>> {
        self.versions(place, bytes, &self.known(place)?.created)
    }

    /// The versions in which the rows of a fragment were last changed; decoded once.
    pub(crate) fn last_updated(
        &self,
        place: usize,
        bytes: &[u8],
    ) -> Result<Arc<RowVersionSequence>> {
        self.versions(place, bytes, &self.known(place)?.last_updated)
    }

    fn versions(
        &self,
        place: usize,
        bytes: &[u8],
        known: &OnceLock<Arc<RowVersionSequence>>,
    ) -> Result<Arc<RowVersionSequence>> {
        if let Some(found) = known.get() {
            return Ok(found.clone());
        }
        let fragment = self.fragment(place)?;
        let decode = || -> Result<_, Problem> {
            let sequence = RowVersionSequence::decode(bytes)?;
            if let Some(rows) = fragment.physical_rows {
                sequence.check_len(rows)?;
            }
            Ok(Arc::new(sequence))
        };
        let found = decode().map_err(|problem| self.problem(fragment, problem))?;
        let _ = known.set(found.clone());
        Ok(found)
    }
}

/// The fragment that holds a row, by its number, and the number of the row there.
pub(crate) fn find_row(starts: &[u64], row: u64) -> Option<(usize, u64)> {
    let num_rows = *starts.last()?;
    if row >= num_rows {
        return None;
    }
    // Fragments without live rows start where the next one does: the last of them has the row.
    let place = starts.partition_point(|start| *start <= row).checked_sub(1)?;
    Some((place, row.checked_sub(*starts.get(place)?)?))
}

/// The numbers of the rows of a fragment that are among some rows of the table, counted in the fragment.
pub(crate) fn rows_within(rows: &RowRanges, fragment: Range<u64>) -> RowRanges {
    let below = |row: u64| row.saturating_sub(fragment.start);
    let within = rows.intersection(&RowRanges::from(fragment.clone()));
    within.iter().map(|range| below(range.start)..below(range.end)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_found_in_their_fragments() {
        let starts = [0, 3, 3, 7];
        assert_eq!(find_row(&starts, 0), Some((0, 0)));
        assert_eq!(find_row(&starts, 2), Some((0, 2)));
        assert_eq!(find_row(&starts, 3), Some((2, 0)));
        assert_eq!(find_row(&starts, 6), Some((2, 3)));
        assert_eq!(find_row(&starts, 7), None);
        assert_eq!(find_row(&[0], 0), None);
        assert_eq!(find_row(&[], 0), None);
    }

    #[test]
    fn rows_of_the_table_are_those_of_fragments() {
        let rows = RowRanges::from_iter([1..4, 6..20]);
        assert_eq!(rows_within(&rows, 3..10).ranges(), [0..1, 3..7]);
        assert_eq!(rows_within(&rows, 4..6).ranges(), []);
    }
}
