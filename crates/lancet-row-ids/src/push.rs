//! Adding one id that is larger than all others.
//!
//! The id joins the last segment while that stays about as small as a segment of its own would be.
//! A segment may change its form on the way, but only from range to holes to bitmap to sorted array,
//! so that many pushes encode it anew a few times at most.

use crate::choose::{self, Shape};
use crate::error::{Error, Result};
use crate::run::Run;
use crate::segment::{Segment, SegmentKind};
use crate::sequence::{RowIdSequence, too_many};

/// What a segment of its own takes in memory, about.
const SEGMENT_BYTES: u128 = 64;

impl RowIdSequence {
    /// Adds an id that is larger than all that are here.
    pub fn push(&mut self, id: u64) -> Result<()> {
        if let Some(max) = self.max().filter(|max| id <= *max) {
            return Err(Error::invalid(format!("row id {id} is not above the largest, {max}")));
        }
        if self.len() == u64::MAX {
            return Err(too_many());
        }
        let Some(last) = self.take_last() else { return self.add(single(id)) };
        match join(last, id) {
            Ok(joined) => self.add(joined),
            Err(last) => {
                self.add(last)?;
                self.add(single(id))
            }
        }
    }
}

fn single(id: u64) -> Segment {
    choose::encode([Run::one(id)].into_iter())
}

/// The segment with the id, or the segment as it was.
fn join(segment: Segment, id: u64) -> Result<Segment, Segment> {
    let Some(bounds) = segment.bounds() else { return Err(segment) };
    let kind = segment.kind();
    let before = Shape::increasing(segment.len(), bounds);
    let after =
        Shape::increasing(segment.len().saturating_add(1), Run { first: bounds.first, last: id });
    let wanted = after.choose().max(kind);
    if after.estimate(wanted) > before.estimate(kind).saturating_add(SEGMENT_BYTES) {
        return Err(segment);
    }
    // A foreign range may end behind its last id.
    let is_tight =
        segment.range().is_none_or(|range| range.end.checked_sub(1) == Some(bounds.last));
    if wanted == kind && is_tight {
        return Ok(push_in_place(segment, id));
    }
    let runs = segment.all_runs().chain([Run::one(id)]);
    Ok(match (wanted, Shape::of(runs.clone())) {
        (SegmentKind::Array, _) | (_, None) => choose::encode_array(runs),
        (_, Some(shape)) => choose::encode_as(wanted, &shape, runs),
    })
}

fn push_in_place(mut segment: Segment, id: u64) -> Segment {
    match &mut segment {
        Segment::Range(range) => range.end = id.saturating_add(1),
        Segment::RangeWithHoles(holes) => holes.push(id),
        Segment::RangeWithBitmap(bitmap) => bitmap.push(id),
        Segment::SortedArray(array) | Segment::Array(array) => array.push(id),
    }
    segment
}
