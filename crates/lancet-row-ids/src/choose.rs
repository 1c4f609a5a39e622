//! The choice of a segment's form, and building it.
//!
//! With `n` ids, `slots` from the lowest to the highest and `h` slots without an id:
//!
//! | form | when |
//! |---|---|
//! | range `0..0` | no ids |
//! | array | the ids do not increase |
//! | sorted array | the highest id is 2^64-1, which has no exclusive end |
//! | range | `h = 0` |
//! | range with holes, with bitmap, sorted array | the smallest of `4·h`, `ceil(slots / 8)`, `2·n`; the earlier on a tie |
//!
//! These are estimates, not the sizes in bytes; what counts is that every writer chooses alike.

use crate::array::EncodedArray;
use crate::bitmap::RangeWithBitmap;
use crate::holes::RangeWithHoles;
use crate::run::Run;
use crate::{Segment, SegmentKind, index};

/// What the choice looks at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) count: u64,
    pub(crate) low: u64,
    pub(crate) high: u64,
    pub(crate) increasing: bool,
    /// The first and the last slot without an id, when the ids increase.
    holes: Run,
}

impl Shape {
    /// One pass over runs, which need not be maximal. `None` when there are none.
    pub(crate) fn of(mut runs: impl Iterator<Item = Run>) -> Option<Self> {
        let first = runs.next()?;
        let mut shape = Self {
            count: first.len(),
            low: first.first,
            high: first.last,
            increasing: true,
            holes: Run { first: u64::MAX, last: 0 },
        };
        for run in runs {
            let next = shape.high.wrapping_add(1);
            if run.first > next {
                shape.holes.first = shape.holes.first.min(next);
                shape.holes.last = run.first.wrapping_sub(1);
            }
            shape.increasing &= run.first > shape.high;
            shape.count = shape.count.wrapping_add(run.len());
            shape.low = shape.low.min(run.first);
            shape.high = shape.high.max(run.last);
        }
        Some(shape)
    }

    /// Of increasing ids, for the choice only.
    pub(crate) fn increasing(count: u64, bounds: Run) -> Self {
        let Run { first: low, last: high } = bounds;
        Self { count, low, high, increasing: true, holes: bounds }
    }

    /// The rule in the head of this file.
    pub(crate) fn choose(&self) -> SegmentKind {
        if !self.increasing {
            SegmentKind::Array
        } else if self.high == u64::MAX {
            SegmentKind::SortedArray
        } else if self.num_holes() == 0 {
            SegmentKind::Range
        } else {
            let candidates = [
                SegmentKind::RangeWithHoles,
                SegmentKind::RangeWithBitmap,
                SegmentKind::SortedArray,
            ];
            let smallest = candidates.into_iter().min_by_key(|&kind| self.estimate(kind));
            smallest.unwrap_or(SegmentKind::SortedArray)
        }
    }

    /// The estimate that is compared, without what all forms have.
    pub(crate) fn estimate(&self, kind: SegmentKind) -> u128 {
        match kind {
            SegmentKind::Range => 0,
            SegmentKind::RangeWithHoles => u128::from(self.num_holes()).saturating_mul(4),
            SegmentKind::RangeWithBitmap => u128::from(self.slots()).div_ceil(8),
            SegmentKind::SortedArray | SegmentKind::Array => {
                u128::from(self.count).saturating_mul(2)
            }
        }
    }

    /// Only when the highest id is not 2^64-1.
    fn slots(&self) -> u64 {
        self.high.wrapping_sub(self.low).wrapping_add(1)
    }

    fn num_holes(&self) -> u64 {
        self.slots().wrapping_sub(self.count)
    }
}

/// The segment of these ids, chosen by the rule.
pub(crate) fn encode<I: Iterator<Item = Run> + Clone>(runs: I) -> Segment {
    match Shape::of(runs.clone()) {
        None => Segment::Range(0..0),
        Some(shape) => encode_as(shape.choose(), &shape, runs),
    }
}

/// The segment of these ids in the form of an array without order.
pub(crate) fn encode_array<I: Iterator<Item = Run> + Clone>(runs: I) -> Segment {
    match Shape::of(runs.clone()) {
        None => Segment::Range(0..0),
        Some(shape) => encode_as(SegmentKind::Array, &shape, runs),
    }
}

/// The segment of these ids in a form that can hold them.
pub(crate) fn encode_as(
    kind: SegmentKind,
    shape: &Shape,
    runs: impl Iterator<Item = Run>,
) -> Segment {
    let range = shape.low..shape.high.saturating_add(1);
    match kind {
        SegmentKind::Range => Segment::Range(range),
        SegmentKind::RangeWithHoles => Segment::RangeWithHoles(Box::new(RangeWithHoles::collect(
            range,
            shape.holes,
            shape.num_holes(),
            runs,
        ))),
        SegmentKind::RangeWithBitmap => {
            Segment::RangeWithBitmap(Box::new(RangeWithBitmap::collect(range, runs)))
        }
        SegmentKind::SortedArray => Segment::SortedArray(array(shape, runs)),
        SegmentKind::Array => Segment::Array(array(shape, runs)),
    }
}

fn array(shape: &Shape, runs: impl Iterator<Item = Run>) -> Box<EncodedArray> {
    let ids = runs.flat_map(Run::ids);
    Box::new(EncodedArray::collect(shape.low, shape.high, index(shape.count), ids))
}
