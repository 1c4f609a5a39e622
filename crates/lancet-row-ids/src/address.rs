//! From a row id to the address of the row, over all fragments of a table.
//!
//! An address is `fragment << 32 | position`. Segments whose ids increase and whose bounds no other
//! segment reaches into are asked themselves: the index keeps only their bounds, whatever they hold.
//! All others are read into a sorted list of pieces, each a run of ids whose rows lie one after the
//! other. Both are found by binary search.
//!
//! An update copies a row to a new fragment, with its id, and deletes the old one. So an id may be in
//! several fragments, but only one of them may have it alive.

use std::sync::Arc;

use crate::edit;
use crate::error::{Result, ensure};
use crate::run::{Masked, Run};
use crate::segment::Segment;
use crate::sequence::RowIdSequence;

/// The row ids of one fragment.
#[derive(Debug, Clone)]
pub struct FragmentRowIds {
    /// The number of the fragment.
    pub fragment: u32,
    /// The id of each physical row.
    pub row_ids: Arc<RowIdSequence>,
    /// Positions of deleted rows, increasing.
    pub deleted: Arc<[u32]>,
}

/// Finds the live row that has an id.
///
/// ```
/// use std::sync::Arc;
/// use lancet_row_ids::{FragmentRowIds, RowIdIndex, RowIdSequence};
///
/// # fn main() -> lancet_row_ids::Result<()> {
/// let old = Arc::new(RowIdSequence::from(0..100));
/// let updated = Arc::new(RowIdSequence::from_ids(&[7, 3])?);
/// let index = RowIdIndex::new([
///     FragmentRowIds { fragment: 0, row_ids: old, deleted: [3, 7, 9].into() },
///     FragmentRowIds { fragment: 1, row_ids: updated, deleted: [].into() },
/// ])?;
/// assert_eq!(index.get(5), Some(5));
/// assert_eq!(index.get(3), Some(1 << 32 | 1));
/// assert_eq!(index.get(9), None);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default)]
pub struct RowIdIndex {
    fragments: Vec<FragmentRowIds>,
    /// Segments that are asked themselves, by their first id.
    lone: Vec<Place>,
    /// The first id of each piece, increasing. Apart from the rest, so that the search stays in few
    /// cache lines.
    firsts: Vec<u64>,
    rows: Vec<Rows>,
}

/// A segment among those of all fragments.
#[derive(Debug, Clone, Copy)]
struct Place {
    bounds: Run,
    /// Which of the fragments, and which of its segments.
    fragment: usize,
    segment: usize,
    /// The position of its first row.
    offset: u64,
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
    /// Reads the sequences, as far as their bounds do not tell. Refuses a table in which two live rows
    /// have the same id.
    pub fn new(fragments: impl IntoIterator<Item = FragmentRowIds>) -> Result<Self> {
        let mut index = Self { fragments: fragments.into_iter().collect(), ..Self::default() };
        let mut places = Vec::new();
        for (number, fragment) in index.fragments.iter().enumerate() {
            add_places(fragment, number, &mut places)?;
        }
        places.sort_by_key(|place| place.bounds.first);
        let (lone, others) = split(&places, |place| index.segment(place));
        // Segments that overlap are sorted together, and lie behind all that came before.
        let mut pieces = Vec::new();
        let mut group = 0_usize;
        let mut reached = 0;
        for place in &others {
            if place.bounds.first > reached {
                sort_from(group, &mut pieces);
                group = pieces.len();
            }
            reached = reached.max(place.bounds.last);
            index.add_pieces(place, &mut pieces);
        }
        sort_from(group, &mut pieces);
        index.lone = lone;
        index.add_all(&pieces)?;
        Ok(index)
    }

    /// Adds pieces that are sorted, those that go on as one.
    fn add_all(&mut self, pieces: &[Piece]) -> Result<()> {
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
            last = Some(match last.and_then(|last| joined(&last, piece)) {
                Some(joined) => joined,
                None => {
                    last.into_iter().for_each(|piece| self.add(&piece));
                    *piece
                }
            });
        }
        last.into_iter().for_each(|piece| self.add(&piece));
        Ok(())
    }

    fn add(&mut self, piece: &Piece) {
        // Fits: a piece lies in one fragment, whose rows have 32-bit positions.
        let more = u32::try_from(piece.ids.last.saturating_sub(piece.ids.first));
        self.firsts.push(piece.ids.first);
        self.rows.push(Rows { address: piece.address, more: more.unwrap_or(u32::MAX) });
    }

    fn segment(&self, place: &Place) -> Option<&Segment> {
        self.fragments.get(place.fragment)?.row_ids.segments().get(place.segment)
    }

    /// The address of the live row with this id.
    pub fn get(&self, id: u64) -> Option<u64> {
        self.find(id, &mut Reached::default())
    }

    /// `reached` is where the lookup before ended.
    fn find(&self, id: u64, reached: &mut Reached) -> Option<u64> {
        reached.lone = seek(&self.lone, reached.lone, |place| place.bounds.first <= id);
        let place = reached.lone.checked_sub(1).and_then(|at| self.lone.get(at));
        if let Some(place) = place.filter(|place| id <= place.bounds.last) {
            return self.ask(place, id);
        }
        reached.pieces = seek(&self.firsts, reached.pieces, |first| *first <= id);
        self.row(reached.pieces.checked_sub(1)?, id)
    }

    /// Looks for an id in its segment.
    fn ask(&self, place: &Place, id: u64) -> Option<u64> {
        let fragment = self.fragments.get(place.fragment)?;
        let position = place.offset.checked_add(self.segment(place)?.position(id)?)?;
        let deleted =
            u32::try_from(position).is_ok_and(|at| fragment.deleted.binary_search(&at).is_ok());
        (!deleted).then_some(u64::from(fragment.fragment) << 32 | position)
    }

    /// The live rows of a segment.
    fn add_pieces(&self, place: &Place, pieces: &mut Vec<Piece>) {
        let Some(fragment) = self.fragments.get(place.fragment) else { return };
        let Some(segment) = self.segment(place) else { return };
        let base = u64::from(fragment.fragment) << 32;
        let first = fragment.deleted.partition_point(|at| u64::from(*at) < place.offset);
        let deleted = fragment.deleted.get(first..).unwrap_or_default();
        let live = Masked::new([segment.all_runs()].into_iter().flatten(), place.offset, deleted);
        pieces.extend(live.map(|(position, ids)| Piece { ids, address: base | position }));
    }

    fn row(&self, piece: usize, id: u64) -> Option<u64> {
        let offset = id.checked_sub(*self.firsts.get(piece)?)?;
        let rows = self.rows.get(piece)?;
        (offset <= rows.more.into()).then(|| rows.address.wrapping_add(offset))
    }

    /// The address for each of these ids. Increasing ids are found in one walk; sort them first if
    /// there are many.
    pub fn get_many(&self, ids: impl IntoIterator<Item = u64>) -> Vec<Option<u64>> {
        let mut reached = Reached::default();
        ids.into_iter().map(|id| self.find(id, &mut reached)).collect()
    }
}

/// How many segments and pieces begin at or below the id that was looked up last.
#[derive(Debug, Default)]
struct Reached {
    lone: usize,
    pieces: usize,
}

/// How many of a sorted list begin at or below something: in doubling steps from `at`, or among those
/// before it.
fn seek<T>(list: &[T], at: usize, begins: impl Fn(&T) -> bool) -> usize {
    let passed = at.checked_sub(1).and_then(|last| list.get(last));
    if passed.is_some_and(|last| !begins(last)) {
        return list.get(..at).unwrap_or_default().partition_point(begins);
    }
    let rest = list.get(at..).unwrap_or_default();
    let mut bound = 1_usize;
    while rest.get(bound).is_some_and(&begins) {
        bound = bound.saturating_mul(2);
    }
    let known = bound >> 1;
    let window = rest.get(known..bound.min(rest.len())).unwrap_or_default();
    at.saturating_add(known).saturating_add(window.partition_point(begins))
}

/// Adds the segments of a fragment that have ids.
fn add_places(fragment: &FragmentRowIds, number: usize, places: &mut Vec<Place>) -> Result<()> {
    let len = fragment.row_ids.len();
    ensure!(
        len <= u32::MAX.into(),
        "fragment {} has {len} row ids; positions have 32 bits",
        fragment.fragment
    );
    edit::check_positions(&fragment.deleted, len)?;
    let mut offset = 0;
    for (position, segment) in fragment.row_ids.segments().iter().enumerate() {
        let place = |bounds| Place { bounds, fragment: number, segment: position, offset };
        places.extend(segment.bounds().map(place));
        offset = offset.saturating_add(segment.len());
    }
    Ok(())
}

/// Parts sorted segments into those that stand alone and increase, and the others.
fn split<'a>(
    places: &[Place],
    segment: impl Fn(&Place) -> Option<&'a Segment>,
) -> (Vec<Place>, Vec<Place>) {
    let (mut lone, mut others) = (Vec::new(), Vec::new());
    let mut reached: Option<u64> = None;
    for (position, place) in places.iter().enumerate() {
        let meets_earlier = reached.is_some_and(|last| place.bounds.first <= last);
        let next = places.get(position.saturating_add(1));
        let meets_later = next.is_some_and(|next| next.bounds.first <= place.bounds.last);
        let increases = segment(place).is_some_and(|found| !matches!(found, Segment::Array(_)));
        reached = reached.max(Some(place.bounds.last));
        let to = if increases && !meets_earlier && !meets_later { &mut lone } else { &mut others };
        to.push(*place);
    }
    (lone, others)
}

fn sort_from(start: usize, pieces: &mut [Piece]) {
    let group = pieces.get_mut(start..).unwrap_or_default();
    group.sort_unstable_by_key(|piece| piece.ids.first);
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
