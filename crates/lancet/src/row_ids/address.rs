//! From a row id to the address of the row, over all fragments of a table.
//!
//! An address is `fragment << 32 | position`. The index is a sorted list of pieces, each a run of ids
//! whose rows lie one after the other; an id is found by binary search. A range without deletions is
//! one piece, however long.
//!
//! An update copies a row to a new fragment, with its id, and deletes the old one. So an id may be in
//! several fragments, but only one of them may have it alive.

use super::edit;
use super::run::{Masked, Run};
use super::sequence::RowIdSequence;
use crate::error::{Result, ensure};

/// The row ids of one fragment.
#[derive(Debug, Clone, Copy)]
pub struct FragmentRowIds<'a> {
    /// The number of the fragment.
    pub fragment: u32,
    /// The id of each physical row.
    pub row_ids: &'a RowIdSequence,
    /// Positions of deleted rows, increasing.
    pub deleted: &'a [u32],
}

/// Finds the live row that has an id.
///
/// ```
/// use lancet::row_ids::{FragmentRowIds, RowIdIndex, RowIdSequence};
///
/// # fn main() -> lancet::Result<()> {
/// let (old, updated) = (RowIdSequence::from(0..100), RowIdSequence::from_ids(&[7, 3])?);
/// let index = RowIdIndex::new([
///     FragmentRowIds { fragment: 0, row_ids: &old, deleted: &[3, 7, 9] },
///     FragmentRowIds { fragment: 1, row_ids: &updated, deleted: &[] },
/// ])?;
/// assert_eq!(index.get(5), Some(5));
/// assert_eq!(index.get(3), Some(1 << 32 | 1));
/// assert_eq!(index.get(9), None);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default)]
pub struct RowIdIndex {
    /// The first id of each piece, increasing. Apart from the rest, so that the search stays in few
    /// cache lines.
    firsts: Vec<u64>,
    rows: Vec<Rows>,
}

/// The rows of a piece.
#[derive(Debug, Clone, Copy)]
#[repr(C, packed(4))]
struct Rows {
    /// Of the first id.
    address: u64,
    /// How many ids follow the first.
    more: u32,
}

#[derive(Debug, Clone, Copy)]
struct Piece {
    ids: Run,
    address: u64,
}

impl RowIdIndex {
    /// Reads all sequences. Refuses a table in which two live rows have the same id.
    pub fn new<'a>(fragments: impl IntoIterator<Item = FragmentRowIds<'a>>) -> Result<Self> {
        let mut pieces = Vec::new();
        for fragment in fragments {
            add_pieces(&fragment, &mut pieces)?;
        }
        // Stable, because it merges the sorted lists that fragments usually give.
        pieces.sort_by_key(|piece| piece.ids.first);
        let mut index = Self::default();
        let mut last: Option<Piece> = None;
        for piece in pieces {
            if let Some(last) = last {
                ensure!(
                    last.ids.last < piece.ids.first,
                    "row id {} has two live rows, in fragments {} and {}",
                    piece.ids.first,
                    last.address >> 32,
                    piece.address >> 32
                );
            }
            last = Some(match last.and_then(|last| joined(&last, &piece)) {
                Some(joined) => joined,
                None => {
                    last.into_iter().for_each(|piece| index.add(&piece));
                    piece
                }
            });
        }
        last.into_iter().for_each(|piece| index.add(&piece));
        Ok(index)
    }

    fn add(&mut self, piece: &Piece) {
        // Fits: a piece lies in one fragment, whose rows have 32-bit positions.
        let more = u32::try_from(piece.ids.last.saturating_sub(piece.ids.first));
        self.firsts.push(piece.ids.first);
        self.rows.push(Rows { address: piece.address, more: more.unwrap_or(u32::MAX) });
    }

    /// The address of the live row with this id.
    pub fn get(&self, id: u64) -> Option<u64> {
        let after = self.firsts.partition_point(|&first| first <= id);
        self.row(after.checked_sub(1)?, id)
    }

    fn row(&self, piece: usize, id: u64) -> Option<u64> {
        let offset = id.checked_sub(*self.firsts.get(piece)?)?;
        let rows = self.rows.get(piece)?;
        (offset <= rows.more.into()).then(|| rows.address.wrapping_add(offset))
    }

    /// The address for each of these ids. Increasing ids are found in one walk; sort them first if
    /// there are many.
    pub fn get_many(&self, ids: impl IntoIterator<Item = u64>) -> Vec<Option<u64>> {
        let mut at = 0_usize;
        let find = |id| {
            at = self.seek(at, id);
            self.row(at.checked_sub(1)?, id)
        };
        ids.into_iter().map(find).collect()
    }

    /// How many pieces begin at or below `id`; doubling steps from `at`, or all below it.
    fn seek(&self, at: usize, id: u64) -> usize {
        let begins = |first: &u64| *first <= id;
        let passed = at.checked_sub(1).and_then(|last| self.firsts.get(last));
        if passed.is_some_and(|first| !begins(first)) {
            return self.firsts.get(..at).unwrap_or_default().partition_point(begins);
        }
        let rest = self.firsts.get(at..).unwrap_or_default();
        let mut bound = 1_usize;
        while rest.get(bound).is_some_and(begins) {
            bound = bound.saturating_mul(2);
        }
        let known = bound >> 1;
        let window = rest.get(known..bound.min(rest.len())).unwrap_or_default();
        at.saturating_add(known).saturating_add(window.partition_point(begins))
    }
}

fn add_pieces(fragment: &FragmentRowIds<'_>, pieces: &mut Vec<Piece>) -> Result<()> {
    let len = fragment.row_ids.len();
    ensure!(
        len <= u32::MAX.into(),
        "fragment {} has {len} row ids; positions have 32 bits",
        fragment.fragment
    );
    edit::check_positions(fragment.deleted, len)?;
    let base = u64::from(fragment.fragment) << 32;
    let runs = fragment.row_ids.segments().iter().flat_map(|segment| segment.all_runs());
    let live = Masked::new(runs, 0, fragment.deleted);
    pieces.extend(live.map(|(position, ids)| Piece { ids, address: base | position }));
    Ok(())
}

/// Both pieces as one, where ids and rows go on.
fn joined(left: &Piece, right: &Piece) -> Option<Piece> {
    let len = left.ids.len();
    let goes_on = left.ids.last.checked_add(1) == Some(right.ids.first)
        && left.address.checked_add(len) == Some(right.address)
        && left.address >> 32 == right.address >> 32;
    goes_on.then_some(Piece {
        ids: Run { first: left.ids.first, last: right.ids.last },
        address: left.address,
    })
}
