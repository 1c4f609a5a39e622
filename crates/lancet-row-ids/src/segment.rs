//! One segment: some ids in one of five forms.
//!
//! Four of the forms hold increasing ids and answer by rank; an array holds any order and is
//! searched from the front.

use std::iter::FusedIterator;
use std::ops::Range;

use crate::array::EncodedArray;
use crate::bitmap::RangeWithBitmap;
use crate::bitmap_iter::{BitmapIter, BitmapRuns};
use crate::choose;
use crate::holes::{HolesIter, HolesRuns, RangeWithHoles};
use crate::index;
use crate::iter::ArrayIter;
use crate::run::{Filter, Joined, Rule, Run};

/// Some ids, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Segment {
    /// All ids of a range.
    Range(Range<u64>),
    /// All but some ids of a range.
    RangeWithHoles(Box<RangeWithHoles>),
    /// The ids of a range whose bit is set.
    RangeWithBitmap(Box<RangeWithBitmap>),
    /// Increasing ids.
    SortedArray(Box<EncodedArray>),
    /// Ids in any order.
    Array(Box<EncodedArray>),
}

/// The form of a [`Segment`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SegmentKind {
    /// All ids of a range.
    Range,
    /// All but some ids of a range.
    RangeWithHoles,
    /// The ids of a range whose bit is set.
    RangeWithBitmap,
    /// Increasing ids.
    SortedArray,
    /// Ids in any order.
    Array,
}

impl SegmentKind {
    /// The name that the format gives it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Range => "range",
            Self::RangeWithHoles => "range_with_holes",
            Self::RangeWithBitmap => "range_with_bitmap",
            Self::SortedArray => "sorted_array",
            Self::Array => "array",
        }
    }
}

impl Segment {
    /// The form of this segment.
    pub fn kind(&self) -> SegmentKind {
        match self {
            Self::Range(_) => SegmentKind::Range,
            Self::RangeWithHoles(_) => SegmentKind::RangeWithHoles,
            Self::RangeWithBitmap(_) => SegmentKind::RangeWithBitmap,
            Self::SortedArray(_) => SegmentKind::SortedArray,
            Self::Array(_) => SegmentKind::Array,
        }
    }

    /// The stored range, of the forms that have one.
    pub fn range(&self) -> Option<Range<u64>> {
        match self {
            Self::Range(range) => Some(range.clone()),
            Self::RangeWithHoles(holes) => Some(holes.range()),
            Self::RangeWithBitmap(bitmap) => Some(bitmap.range()),
            Self::SortedArray(_) | Self::Array(_) => None,
        }
    }

    /// The stored array: the ids, or the holes.
    pub fn array(&self) -> Option<&EncodedArray> {
        match self {
            Self::Range(_) | Self::RangeWithBitmap(_) => None,
            Self::RangeWithHoles(holes) => Some(holes.holes()),
            Self::SortedArray(array) | Self::Array(array) => Some(array),
        }
    }

    /// How many ids there are.
    pub fn len(&self) -> u64 {
        match self {
            Self::Range(range) => range.end.saturating_sub(range.start),
            Self::RangeWithHoles(holes) => holes.len(),
            Self::RangeWithBitmap(bitmap) => bitmap.len(),
            Self::SortedArray(array) | Self::Array(array) => array.len() as u64,
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The id at `position`.
    pub fn get(&self, position: u64) -> Option<u64> {
        match self {
            Self::Range(range) => range.start.checked_add(position).filter(|id| *id < range.end),
            Self::RangeWithHoles(holes) => holes.get(position),
            Self::RangeWithBitmap(bitmap) => bitmap.get(position),
            Self::SortedArray(array) | Self::Array(array) => array.get(index(position)),
        }
    }

    /// Whether `id` is here.
    pub fn contains(&self, id: u64) -> bool {
        match self {
            Self::Range(range) => range.contains(&id),
            Self::RangeWithHoles(holes) => holes.contains(id),
            Self::RangeWithBitmap(bitmap) => bitmap.contains(id),
            Self::SortedArray(array) => array.get(array.rank(id)) == Some(id),
            Self::Array(array) => array.find(id).is_some(),
        }
    }

    /// The position of `id`; the first where an array repeats it.
    pub fn position(&self, id: u64) -> Option<u64> {
        match self {
            Self::Array(array) => array.find(id).map(|at| at as u64),
            Self::SortedArray(array) => {
                let at = array.rank(id);
                (array.get(at) == Some(id)).then_some(at as u64)
            }
            Self::RangeWithHoles(holes) => holes.position(id),
            sorted => sorted.contains(id).then(|| sorted.rank(&mut 0, id)).flatten(),
        }
    }

    /// The ids in order.
    pub fn iter(&self) -> SegmentIter<'_> {
        SegmentIter(match self {
            Self::Range(range) => Ids::Range(range.clone()),
            Self::RangeWithHoles(holes) => Ids::Holes(holes.iter()),
            Self::RangeWithBitmap(bitmap) => Ids::Bitmap(bitmap.iter()),
            Self::SortedArray(array) | Self::Array(array) => Ids::Array(array.iter()),
        })
    }

    /// How many ids are below `id`; `None` for an array, which has no order. `hint` is what the call
    /// before left there, for an `id` that was not larger; 0 at first.
    pub(crate) fn rank(&self, hint: &mut usize, id: u64) -> Option<u64> {
        match self {
            Self::Range(range) => {
                Some(id.clamp(range.start, range.end.max(range.start)).wrapping_sub(range.start))
            }
            Self::RangeWithHoles(holes) => Some(holes.rank(hint, id)),
            Self::RangeWithBitmap(bitmap) => Some(bitmap.rank(id)),
            Self::SortedArray(array) => {
                *hint = array.rank_from(*hint, id);
                Some(*hint as u64)
            }
            Self::Array(_) => None,
        }
    }

    /// Whether an id is in increasing runs.
    pub(crate) fn meets(&self, runs: &[Run]) -> bool {
        if let Self::Array(_) = self {
            return Filter::new(self.all_runs(), runs, Rule::Keep).next().is_some();
        }
        let mut hint = 0;
        let mut rank = |id| self.rank(&mut hint, id).unwrap_or(0);
        runs.iter().any(|run| {
            let below = rank(run.first);
            below < run.last.checked_add(1).map_or(self.len(), &mut rank)
        })
    }

    /// The smallest and the largest id.
    pub(crate) fn bounds(&self) -> Option<Run> {
        let (first, last) = match self {
            Self::SortedArray(array) | Self::Array(array) => array.bounds()?,
            sorted => (sorted.get(0)?, sorted.get(sorted.len().checked_sub(1)?)?),
        };
        Some(Run { first, last })
    }

    /// The ids at some positions as runs, in order.
    pub(crate) fn runs(&self, positions: Range<u64>) -> Runs<'_> {
        self.try_runs(positions).unwrap_or(Runs::Range(None))
    }

    fn try_runs(&self, positions: Range<u64>) -> Option<Runs<'_>> {
        let end = positions.end.min(self.len());
        if positions.start >= end {
            return None;
        }
        if let Self::SortedArray(array) | Self::Array(array) = self {
            let ids = array.iter_in(index(positions.start), index(end));
            return Some(Runs::Array(Joined::new(ids)));
        }
        let (first, last) = (self.get(positions.start)?, self.get(end.wrapping_sub(1))?);
        Some(match self {
            Self::RangeWithHoles(holes) => Runs::Holes(holes.runs(first, last)),
            Self::RangeWithBitmap(bitmap) => Runs::Bitmap(bitmap.runs(first, last)),
            _ => Runs::Range(Some(Run { first, last })),
        })
    }

    /// All ids as runs, in order.
    pub(crate) fn all_runs(&self) -> Runs<'_> {
        self.runs(0..self.len())
    }

    /// The ids at some positions, in the form that suits them.
    pub(crate) fn slice(&self, positions: Range<u64>) -> Self {
        choose::encode(self.runs(positions))
    }
}

/// The runs of a segment.
#[derive(Debug, Clone)]
pub(crate) enum Runs<'a> {
    Range(Option<Run>),
    Holes(HolesRuns<'a>),
    Bitmap(BitmapRuns<'a>),
    Array(Joined<ArrayIter<'a>>),
}

impl Iterator for Runs<'_> {
    type Item = Run;

    fn next(&mut self) -> Option<Run> {
        match self {
            Self::Range(run) => run.take(),
            Self::Holes(runs) => runs.next(),
            Self::Bitmap(runs) => runs.next(),
            Self::Array(runs) => runs.next(),
        }
    }
}

/// The ids of a [`Segment`], from both ends.
#[derive(Debug, Clone)]
pub struct SegmentIter<'a>(Ids<'a>);

#[derive(Debug, Clone)]
enum Ids<'a> {
    Range(Range<u64>),
    Holes(HolesIter<'a>),
    Bitmap(BitmapIter<'a>),
    Array(ArrayIter<'a>),
}

impl SegmentIter<'_> {
    /// Without ids.
    pub(crate) fn empty() -> Self {
        Self(Ids::Range(0..0))
    }
}

macro_rules! each {
    ($ids:expr, $iter:ident => $result:expr) => {
        match $ids {
            Ids::Range($iter) => $result,
            Ids::Holes($iter) => $result,
            Ids::Bitmap($iter) => $result,
            Ids::Array($iter) => $result,
        }
    };
}

impl Iterator for SegmentIter<'_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        each!(&mut self.0, ids => ids.next())
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        each!(&self.0, ids => ids.size_hint())
    }

    fn nth(&mut self, n: usize) -> Option<u64> {
        each!(&mut self.0, ids => ids.nth(n))
    }

    fn fold<B, F: FnMut(B, u64) -> B>(self, init: B, f: F) -> B {
        each!(self.0, ids => ids.fold(init, f))
    }
}

impl DoubleEndedIterator for SegmentIter<'_> {
    fn next_back(&mut self) -> Option<u64> {
        each!(&mut self.0, ids => ids.next_back())
    }

    fn nth_back(&mut self, n: usize) -> Option<u64> {
        each!(&mut self.0, ids => ids.nth_back(n))
    }
}

impl ExactSizeIterator for SegmentIter<'_> {}
impl FusedIterator for SegmentIter<'_> {}
