//! Deleted rows of a fragment: offsets among its physical rows, read from a deletion file.

mod arrow_file;
mod flatbuffer;

use std::ops::Range;

use lancet::RowRanges;
use roaring::RoaringBitmap;

use crate::deletion::{DeletionFile, DeletionKind};
use crate::error::{Error, Problem, ensure};

/// The deleted rows of a fragment.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Deletions {
    offsets: RoaringBitmap,
}

/// The bytes of a Roaring file before its containers: a cookie and a number.
const ROARING_HEAD: usize = 8;
const ROARING_COOKIE: u32 = 12346;
/// Deleted rows in a row that are stepped over one by one.
const MAX_STEPS: usize = 64;

impl Deletions {
    /// No row is deleted.
    pub fn none() -> Self {
        Self::default()
    }

    /// The rows that the bytes of a deletion file name. They must be among the `physical_rows` of the fragment. `file` is
    /// its name or path: errors begin with it.
    pub fn parse(
        file: &str,
        kind: DeletionKind,
        bytes: &[u8],
        physical_rows: u64,
    ) -> Result<Self, Error> {
        Self::parse_inner(kind, bytes, physical_rows).map_err(|problem| problem.in_file(file))
    }

    fn parse_inner(kind: DeletionKind, bytes: &[u8], physical_rows: u64) -> Result<Self, Problem> {
        let offsets = match kind {
            DeletionKind::Arrow => arrow_file::parse(bytes, physical_rows)?,
            DeletionKind::Roaring => roaring_file(bytes)?,
        };
        if let Some(last) = offsets.max() {
            ensure!(
                u64::from(last) < physical_rows,
                "it deletes row {last} of a fragment of {physical_rows} rows"
            );
        }
        Ok(Self { offsets })
    }

    /// The same for the file of a fragment: its rows must be as many as the manifest says.
    pub(crate) fn of_file(
        file: &DeletionFile,
        bytes: &[u8],
        physical_rows: u64,
    ) -> Result<Self, Problem> {
        let found = Self::parse_inner(file.kind, bytes, physical_rows)?;
        if let Some(expected) = file.num_deleted_rows {
            let found = found.len();
            ensure!(found == expected, "it deletes {found} rows, but the manifest says {expected}");
        }
        Ok(found)
    }

    /// Whether none of these offsets is deleted.
    pub(crate) fn is_disjoint(&self, offsets: &RoaringBitmap) -> bool {
        self.offsets.is_disjoint(offsets)
    }

    /// These and others.
    #[must_use]
    pub(crate) fn with(&self, offsets: &RoaringBitmap) -> Self {
        Self { offsets: &self.offsets | offsets }
    }

    /// The bytes of a deletion file of the kind Roaring, which every reader knows for any number of rows.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.offsets.serialized_size());
        // Writing to memory does not fail.
        let _ = self.offsets.serialize_into(&mut bytes);
        bytes
    }

    /// How many rows are deleted.
    pub fn len(&self) -> u64 {
        self.offsets.len()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.offsets.is_empty()
    }

    /// Whether the row at this offset is deleted.
    pub fn contains(&self, offset: u64) -> bool {
        u32::try_from(offset).is_ok_and(|offset| self.offsets.contains(offset))
    }

    /// How many rows at offsets of a range are deleted.
    pub fn count_within(&self, within: Range<u64>) -> u64 {
        let below = |end: u64| match end.checked_sub(1) {
            Some(last) => self.offsets.rank(u32::try_from(last).unwrap_or(u32::MAX)),
            None => 0,
        };
        below(within.end).saturating_sub(below(within.start))
    }

    /// The offsets, from first to last.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.offsets.iter()
    }

    /// The offset of the live row with this number, counted from 0; there may be fewer rows.
    pub(crate) fn nth_live(&self, number: u64) -> u64 {
        // Before the `j`-th deleted row there are `offset - j` live ones, which never gets less with `j`.
        let (mut low, mut high) = (0_u64, self.offsets.len());
        while low < high {
            let middle = low.midpoint(high);
            let deleted = u32::try_from(middle).ok().and_then(|at| self.offsets.select(at));
            let live_before = u64::from(deleted.unwrap_or(u32::MAX)).saturating_sub(middle);
            if live_before > number {
                high = middle;
            } else {
                low = middle.saturating_add(1);
            }
        }
        number.saturating_add(low)
    }

    /// The first live row at an offset or behind it.
    fn next_live(&self, offset: u64) -> u64 {
        let below = offset.checked_sub(1).and_then(|last| u32::try_from(last).ok());
        let deleted = below.map_or(0, |last| self.offsets.rank(last));
        self.nth_live(offset.saturating_sub(deleted))
    }

    /// The first `most` live rows among the offsets of a range, and where the search for more goes on.
    pub(crate) fn live(&self, within: Range<u64>, most: u64) -> (RowRanges, u64) {
        let mut ranges = Vec::new();
        let (mut at, mut room) = (within.start, most);
        let first = u32::try_from(within.start).unwrap_or(u32::MAX);
        let mut deleted = self.offsets.range(first..).map(u64::from as fn(u32) -> u64).peekable();
        let mut steps = 0_usize;
        while at < within.end && room > 0 {
            // Deleted rows that come one after the other are stepped over, or jumped over if they are many.
            if deleted.next_if_eq(&at).is_some() {
                at = at.saturating_add(1);
                steps = steps.saturating_add(1);
                if steps > MAX_STEPS {
                    at = self.next_live(at);
                    let first = u32::try_from(at).unwrap_or(u32::MAX);
                    deleted =
                        self.offsets.range(first..).map(u64::from as fn(u32) -> u64).peekable();
                }
                continue;
            }
            steps = 0;
            let next = deleted.peek().copied().unwrap_or(u64::MAX);
            let end = next.min(within.end).min(at.saturating_add(room));
            room = room.saturating_sub(end.saturating_sub(at));
            ranges.push(at..end);
            at = end;
        }
        (ranges.into_iter().collect(), at)
    }
}

pub(crate) fn roaring_file(bytes: &[u8]) -> Result<RoaringBitmap, Problem> {
    let Some((head, _)) = bytes.split_first_chunk::<ROARING_HEAD>() else {
        let len = bytes.len();
        return Err(Problem::corrupt(format!("it has {len} bytes, too few for a Roaring bitmap")));
    };
    let [a, b, c, d, count @ ..] = *head;
    let cookie = u32::from_le_bytes([a, b, c, d]);
    // The library makes room for as many containers as the file claims, so they are compared with its length.
    let containers = if cookie == ROARING_COOKIE {
        u32::from_le_bytes(count)
    } else {
        (cookie >> 16).saturating_add(1)
    };
    let needed = u64::from(containers).saturating_mul(4);
    ensure!(
        needed <= bytes.len() as u64,
        "it has {} bytes, too few for the {containers} containers of a Roaring bitmap",
        bytes.len()
    );
    let mut rest = bytes;
    let offsets = RoaringBitmap::deserialize_from(&mut rest)
        .map_err(|error| Problem::corrupt(format!("it is not a sound Roaring bitmap: {error}")))?;
    ensure!(rest.is_empty(), "{} bytes lie behind its Roaring bitmap", rest.len());
    Ok(offsets)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deletions(offsets: &[u32]) -> Deletions {
        Deletions { offsets: offsets.iter().copied().collect() }
    }

    #[test]
    fn live_rows_are_those_that_are_left() {
        // All sets of deleted rows among eight.
        for bits in 0..256_u32 {
            let deleted: Vec<u32> = (0..8).filter(|at| bits >> at & 1 == 1).collect();
            let live: Vec<u64> = (0..8).filter(|at| bits >> at & 1 == 0).collect();
            let deletions = deletions(&deleted);
            for (number, offset) in live.iter().enumerate() {
                assert_eq!(deletions.nth_live(number as u64), *offset, "{deleted:?}");
            }
            for (start, end) in [(0, 8), (3, 7), (5, 5)] {
                for most in 0..9_usize {
                    let (rows, after) = deletions.live(start..end, most as u64);
                    let rows: Vec<u64> = rows.iter().cloned().flatten().collect();
                    let within: Vec<u64> =
                        live.iter().copied().filter(|at| (start..end).contains(at)).collect();
                    assert_eq!(rows, within[..most.min(within.len())], "{deleted:?}");
                    let (rest, _) = deletions.live(after..end, 9);
                    assert_eq!(rows.len() as u64 + rest.count(), within.len() as u64);
                }
            }
        }
    }

    #[test]
    fn long_stretches_are_jumped_over() {
        let mut offsets: RoaringBitmap = RoaringBitmap::new();
        offsets.insert_range(10..4_000_000_000);
        offsets.insert(4_000_000_001);
        let deletions = Deletions { offsets };
        let (rows, after) = deletions.live(5..u64::from(u32::MAX), 7);
        assert_eq!(
            rows.ranges(),
            [5..10, 4_000_000_000..4_000_000_001, 4_000_000_002..4_000_000_003]
        );
        assert_eq!(after, 4_000_000_003);
    }

    #[test]
    fn roaring_bitmaps_are_whole_files() {
        let sound = |offsets: &RoaringBitmap| {
            let mut bytes = Vec::new();
            offsets.serialize_into(&mut bytes).unwrap();
            bytes
        };
        let mut runs: RoaringBitmap = (5..100_000).collect();
        runs.optimize();
        for offsets in [RoaringBitmap::new(), (0..9_000).step_by(3).collect(), runs] {
            let bytes = sound(&offsets);
            assert_eq!(roaring_file(&bytes).unwrap(), offsets);
            for len in 0..bytes.len() {
                assert!(roaring_file(&bytes[..len]).is_err(), "{len}");
            }
            assert!(roaring_file(&[bytes, vec![0]].concat()).is_err());
        }
        let claims = [0x3a, 0x30, 0, 0, 0, 0, 1, 0];
        let error = format!("{:?}", roaring_file(&claims).unwrap_err());
        assert!(error.contains("too few for the 65536 containers"), "{error}");
    }
}
