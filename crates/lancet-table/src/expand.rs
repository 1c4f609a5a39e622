//! Values for live rows to values for all physical rows of a fragment.
//!
//! A data file has a value for every physical row, also for those that are deleted. What it has there counts for nothing:
//! they repeat the row before them, which no type forbids and which takes the fewest bytes.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::{RecordBatch, UInt64Array};
use arrow_select::take::take_record_batch;

use crate::deletions::Deletions;
use crate::error::Result;

/// Rows of a batch, at most: a few live rows may stand for very many deleted ones.
const BATCH_ROWS: u64 = 8192;

/// Where in a fragment the next live row is expected.
#[derive(Debug)]
pub(crate) struct Expansion {
    deletions: Arc<Deletions>,
    physical_rows: u64,
    at: u64,
}

/// A batch of live rows, and the physical rows that it stands for.
#[derive(Debug)]
pub(crate) struct Expanded {
    batch: RecordBatch,
    /// The offsets of its rows.
    live: Vec<Range<u64>>,
    physical: Range<u64>,
}

impl Expansion {
    pub(crate) fn new(deletions: Arc<Deletions>, physical_rows: u64) -> Self {
        Self { deletions, physical_rows, at: 0 }
    }

    /// The next live rows, with the deleted ones between, before and behind them. The batch has at least one row, and not
    /// more than there are.
    pub(crate) fn next(&mut self, batch: RecordBatch) -> Expanded {
        let count = batch.num_rows() as u64;
        let (live, _) = self.deletions.live(self.at..self.physical_rows, count);
        let (rest, _) = self.deletions.live(live.end()..self.physical_rows, 1);
        let end = if rest.is_empty() { self.physical_rows } else { live.end() };
        let physical = self.at..end;
        self.at = end;
        Expanded { batch, live: live.ranges().to_vec(), physical }
    }
}

impl Expanded {
    /// The values of the physical rows, batch by batch.
    pub(crate) fn batches(self) -> impl Iterator<Item = Result<RecordBatch>> {
        let mut at = self.physical.start;
        std::iter::from_fn(move || {
            let rows = at..self.physical.end.min(at.saturating_add(BATCH_ROWS));
            at = rows.end;
            (!rows.is_empty()).then(|| self.part(rows))
        })
    }

    fn part(&self, rows: Range<u64>) -> Result<RecordBatch> {
        if self.live == [self.physical.clone()] {
            let first = rows.start.saturating_sub(self.physical.start);
            let (first, len) = (index(first), index(rows.end.saturating_sub(rows.start)));
            return Ok(self.batch.slice(first, len));
        }
        // How many live rows stand before each range of them.
        let mut before = 0_u64;
        let ranges: Vec<(u64, Range<u64>)> = self
            .live
            .iter()
            .map(|range| {
                let start = before;
                before = before.saturating_add(range.end.saturating_sub(range.start));
                (start, range.clone())
            })
            .collect();
        let indices = rows.map(|row| {
            let place = ranges.partition_point(|(_, range)| range.start <= row);
            let found = place.checked_sub(1).and_then(|place| ranges.get(place));
            // The last live row up to here, or the first one of all.
            found.map_or(0, |(before, range)| {
                let last = row.min(range.end.saturating_sub(1));
                before.saturating_add(last.saturating_sub(range.start))
            })
        });
        Ok(take_record_batch(&self.batch, &UInt64Array::from_iter_values(indices))?)
    }
}

fn index(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use arrow_array::cast::AsArray;
    use arrow_array::types::UInt64Type;
    use arrow_array::{Array, ArrayRef};

    use super::*;
    use crate::deletion::DeletionKind;

    fn batch(values: &[u64]) -> RecordBatch {
        let array: ArrayRef = Arc::new(UInt64Array::from(values.to_vec()));
        RecordBatch::try_from_iter([("n", array)]).unwrap()
    }

    fn expand(deleted: &[u32], physical_rows: u64, sizes: usize) -> Vec<u64> {
        let mut bytes = Vec::new();
        roaring::RoaringBitmap::from_iter(deleted).serialize_into(&mut bytes).unwrap();
        let deletions = Deletions::parse("d", DeletionKind::Roaring, &bytes, physical_rows);
        let deletions = Arc::new(deletions.unwrap());
        let live: Vec<u64> = (0..physical_rows).filter(|row| !deletions.contains(*row)).collect();
        let mut expansion = Expansion::new(deletions, physical_rows);
        let mut found = Vec::new();
        for rows in live.chunks(sizes) {
            for part in expansion.next(batch(rows)).batches() {
                let part = part.unwrap();
                assert!(part.num_rows() as u64 <= BATCH_ROWS && part.num_rows() > 0);
                found.extend(part.column(0).as_primitive::<UInt64Type>().values());
            }
        }
        found
    }

    #[test]
    fn live_rows_are_where_they_were() {
        // All sets of deleted rows among eight, in batches of all sizes.
        for bits in 0..255_u32 {
            let deleted: Vec<u32> = (0..8).filter(|at| bits >> at & 1 == 1).collect();
            for sizes in 1..9 {
                let found = expand(&deleted, 8, sizes);
                assert_eq!(found.len(), 8, "{deleted:?}");
                for row in (0..8).filter(|row| !deleted.contains(row)) {
                    assert_eq!(found[row as usize], u64::from(row), "{deleted:?}, {sizes}");
                }
            }
        }
    }

    #[test]
    fn many_deleted_rows_are_many_batches() {
        let deleted: Vec<u32> = (0..30_000).filter(|row| *row != 20_000).collect();
        let found = expand(&deleted, 30_000, 4);
        assert_eq!((found.len(), found[20_000]), (30_000, 20_000));
        assert_eq!(expand(&[], 20_000, 20_000), (0..20_000).collect::<Vec<_>>());
        let first = Expansion::new(Arc::default(), 3).next(batch(&[0, 1, 2])).batches().next();
        assert_eq!(first.unwrap().unwrap().column(0).len(), 3);
    }
}
