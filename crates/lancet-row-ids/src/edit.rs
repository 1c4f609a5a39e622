//! Edits of whole sequences. What is touched is encoded anew, what is not stays as it is.

use std::ops::Range;

use crate::choose::{self, Shape};
use crate::error::{Error, Result};
use crate::ranges::IdRanges;
use crate::run::{Filter, Masked, Rule, Run};
use crate::segment::Segment;
use crate::sequence::{RowIdSequence, too_many};

impl RowIdSequence {
    /// The ids at some positions. Positions past the end have none.
    pub fn slice(&self, positions: Range<u64>) -> Self {
        let mut sliced = Self::new();
        let mut offset = 0_u64;
        for segment in self.segments() {
            let start = positions.start.saturating_sub(offset);
            let end = positions.end.saturating_sub(offset).min(segment.len());
            offset = offset.saturating_add(segment.len());
            if start < end {
                // A part of a sequence has no more ids than it.
                _ = sliced.append(segment.slice(start..end));
            }
        }
        sliced
    }

    /// Adds the ids of another sequence behind these. On an error nothing has changed.
    pub fn extend(&mut self, other: &Self) -> Result<()> {
        if self.len().checked_add(other.len()).is_none() {
            return Err(too_many());
        }
        other.segments().iter().try_for_each(|segment| self.append(segment.clone()))
    }

    /// Adds a segment; a range that goes on where a range ended makes it longer.
    pub(crate) fn append(&mut self, segment: Segment) -> Result<()> {
        match (self.segments().last(), &segment) {
            (Some(Segment::Range(left)), Segment::Range(right)) if left.end == right.start => {
                let fused = Segment::Range(left.start..right.end);
                self.take_last();
                self.add(fused)
            }
            _ => self.add(segment),
        }
    }

    /// Removes ids wherever they are. Ids that are not here are ignored.
    pub fn delete(&mut self, ids: &[u64]) {
        let set = IdRanges::from_ids(ids);
        for segment in self.segments_mut() {
            let removed = segment.bounds().map_or(&[][..], |bounds| set.within(bounds));
            if segment.meets(removed) {
                let kept = Filter::new(segment.all_runs(), removed, Rule::Remove);
                *segment = choose::encode(kept);
            }
        }
        self.place_anew();
    }

    /// Removes the ids at some positions, which must increase and be here.
    pub fn mask(&mut self, positions: &[u32]) -> Result<()> {
        check_positions(positions, self.len())?;
        let mut rest = positions;
        let mut offset = 0;
        for segment in self.segments_mut() {
            mask_segment(segment, &mut offset, &mut rest);
        }
        self.segments_mut().retain(|segment| !segment.is_empty());
        self.place_anew();
        Ok(())
    }

    /// The ids that are in a set, in the order they have here.
    pub fn intersection(&self, ids: &IdRanges) -> Self {
        let mut kept = Self::new();
        for segment in self.segments() {
            let wanted = segment.bounds().map_or(&[][..], |bounds| ids.within(bounds));
            let runs = Filter::new(segment.all_runs(), wanted, Rule::Keep);
            // A part of a sequence has no more ids than it.
            for_each_segment(runs, |segment| _ = kept.append(segment));
        }
        kept
    }

    /// The ids of all sequences one after the other, cut into pieces of the given sizes.
    ///
    /// There must be as many ids as the sizes add up to. With `allow_short` there may be fewer: the
    /// last pieces are then shorter, or empty.
    pub fn rechunk<'a>(
        sequences: impl IntoIterator<Item = &'a Self>,
        sizes: impl IntoIterator<Item = u64>,
        allow_short: bool,
    ) -> Result<Vec<Self>> {
        let segments = sequences.into_iter().flat_map(|sequence| sequence.segments());
        let sequence = |chunk: Vec<(Segment, ())>| {
            let mut sequence = Self::new();
            chunk.into_iter().try_for_each(|(segment, ())| sequence.append(segment))?;
            Ok(sequence)
        };
        let chunks = cut(segments.map(|segment| (segment, ())), sizes, allow_short)?;
        chunks.into_iter().map(sequence).collect()
    }

    /// Replaces bitmaps by one range for each run of ids, where the bitmap is large and the runs are
    /// few. Tables may ask for it (`lance.row_ids.range_segments`); readers need not know.
    pub fn with_range_segments(&self) -> Self {
        let mut ranges = Self::new();
        for segment in self.segments() {
            let runs = segment.all_runs();
            if is_better_as_ranges(segment) {
                runs.for_each(|run| _ = ranges.add(Segment::Range(range(run))));
            } else {
                _ = ranges.add(segment.clone());
            }
        }
        ranges
    }

    /// Looks at all segments again.
    fn place_anew(&mut self) {
        let segments = std::mem::take(self.segments_mut());
        *self = Self::of_segments(segments);
    }
}

fn range(run: Run) -> Range<u64> {
    run.first..run.last.saturating_add(1)
}

/// The rule of the format: `16 · (runs of holes + 1)` against the bytes of the bitmap.
fn is_better_as_ranges(segment: &Segment) -> bool {
    let Segment::RangeWithBitmap(bitmap) = segment else { return false };
    let range = bitmap.range();
    let mut end = range.start;
    let mut hole_runs = 0_u64;
    for run in segment.all_runs() {
        hole_runs = hole_runs.saturating_add(u64::from(run.first > end));
        end = run.last.saturating_add(1);
    }
    hole_runs = hole_runs.saturating_add(u64::from(end < range.end));
    let bitmap_bytes = range.end.saturating_sub(range.start).div_ceil(8);
    hole_runs.saturating_add(1).saturating_mul(16) < bitmap_bytes
}

/// One segment, or one range for each run where those are smaller. A set of ranges can cut a few
/// forged bytes into parts whose bitmap would be huge; the parts are never more than the set has.
fn for_each_segment(runs: impl Iterator<Item = Run> + Clone, mut add: impl FnMut(Segment)) {
    let Some(shape) = Shape::of(runs.clone()) else { return };
    let kind = shape.choose();
    let num_runs = runs.clone().count() as u128;
    if shape.increasing && num_runs.saturating_mul(16) < shape.estimate(kind) {
        runs.for_each(|run| add(choose::encode([run].into_iter())));
    } else {
        add(choose::encode_as(kind, &shape, runs));
    }
}

/// Refuses positions that do not increase or are past the end.
pub(crate) fn check_positions(positions: &[u32], len: u64) -> Result<()> {
    let increase = positions.is_sorted_by(|a, b| a < b);
    let last = positions.last().map(|&last| u64::from(last));
    match last {
        _ if !increase => Err(Error::invalid("positions to mask must increase")),
        Some(last) if last >= len => {
            Err(Error::invalid(format!("there is no row {last} among {len} rows")))
        }
        _ => Ok(()),
    }
}

/// Removes from a segment at `offset` those of the positions that lie in it, and moves on.
/// An array stays an array, even if what is left increases.
pub(crate) fn mask_segment(segment: &mut Segment, offset: &mut u64, positions: &mut &[u32]) {
    let start = *offset;
    *offset = offset.saturating_add(segment.len());
    let inside = positions.partition_point(|&position| u64::from(position) < *offset);
    let Some((masked, rest)) = positions.split_at_checked(inside) else { return };
    *positions = rest;
    if !masked.is_empty() {
        let kept = Masked::new(segment.all_runs(), start, masked).map(|(_, run)| run);
        *segment = match segment {
            Segment::Array(_) => choose::encode_array(kept),
            _ => choose::encode(kept),
        };
    }
}

/// Cuts segments, each with something that belongs to it, into chunks of the given sizes.
pub(crate) fn cut<'a, T: Copy>(
    segments: impl Iterator<Item = (&'a Segment, T)>,
    sizes: impl IntoIterator<Item = u64>,
    allow_short: bool,
) -> Result<Vec<Vec<(Segment, T)>>> {
    let segments = segments.filter(|(segment, _)| !segment.is_empty());
    let mut parts = segments.map(|(segment, tag)| (segment, tag, 0_u64));
    let mut current = parts.next();
    let mut chunks = Vec::new();
    for size in sizes {
        let mut chunk = Vec::new();
        let mut missing = size;
        while missing > 0 {
            let Some((segment, tag, from)) = current else { break };
            let to = from.saturating_add(missing).min(segment.len());
            chunk.push((segment.slice(from..to), tag));
            missing = missing.saturating_sub(to.saturating_sub(from));
            current = if to < segment.len() { Some((segment, tag, to)) } else { parts.next() };
        }
        if missing > 0 && !allow_short {
            return Err(Error::invalid(format!("a chunk of {size} rows lacks {missing}")));
        }
        chunks.push(chunk);
    }
    match current {
        Some(_) => Err(Error::invalid("the chunks do not take all rows")),
        None => Ok(chunks),
    }
}
