//! A sequence of row ids: segments one after the other, and where each begins.

use std::ops::Range;

use crate::error::{Error, Result, ensure};
use crate::iter::Iter;
use crate::ranges::IdRanges;
use crate::run::Run;
use crate::segment::{Segment, SegmentIter};
use crate::{choose, index};

/// The row ids of a fragment, in row order.
///
/// Two sequences are equal when their segments are; the same ids can be cut in different ways.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RowIdSequence {
    segments: Vec<Segment>,
    /// One for each segment that has ids, in order.
    places: Vec<Place>,
    /// Where stretches of places begin. In a stretch ids increase from segment to segment, so that a
    /// binary search finds the only segment that may have an id. Most sequences are one stretch.
    stretches: Vec<usize>,
    len: u64,
    /// The largest id.
    high: Option<u64>,
}

/// What is known of a segment without looking into it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    /// Which segment.
    pub(crate) segment: usize,
    /// Position of its first id.
    pub(crate) offset: u64,
    /// Its smallest and its largest id.
    pub(crate) bounds: Run,
}

impl RowIdSequence {
    /// Without ids.
    pub fn new() -> Self {
        Self::default()
    }

    /// One segment in the form that suits the ids. They must be distinct.
    pub fn from_ids(ids: &[u64]) -> Result<Self> {
        if let Some(twice) = repeated(ids) {
            return Err(Error::invalid(format!("row id {twice} is there twice")));
        }
        let segment = choose::encode(ids.iter().map(|&id| Run::one(id)));
        Ok(Self::of_segments([segment].into_iter().filter(|segment| !segment.is_empty())))
    }

    /// What all segments together may hold is the caller's to know.
    pub(crate) fn of_segments(segments: impl IntoIterator<Item = Segment>) -> Self {
        let mut sequence = Self::new();
        segments.into_iter().for_each(|segment| _ = sequence.add(segment));
        sequence
    }

    /// Adds a segment. Refuses one with which there would be more than 2^64-1 ids.
    pub(crate) fn add(&mut self, segment: Segment) -> Result<()> {
        let Some(len) = self.len.checked_add(segment.len()) else {
            return Err(too_many());
        };
        if let Some(bounds) = segment.bounds() {
            let ascends = self.places.last().is_some_and(|last| last.bounds.last < bounds.first);
            if !ascends {
                self.stretches.push(self.places.len());
            }
            let place = Place { segment: self.segments.len(), offset: self.len, bounds };
            self.places.push(place);
            self.high = self.high.max(Some(bounds.last));
        }
        self.segments.push(segment);
        self.len = len;
        Ok(())
    }

    /// Takes the last segment off. `high` stays: whoever takes puts back something as high.
    pub(crate) fn take_last(&mut self) -> Option<Segment> {
        let segment = self.segments.pop()?;
        self.len = self.len.saturating_sub(segment.len());
        self.places.pop_if(|place| place.segment >= self.segments.len());
        self.stretches.pop_if(|first| *first >= self.places.len());
        Some(segment)
    }

    /// The segments.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    pub(crate) fn segments_mut(&mut self) -> &mut Vec<Segment> {
        &mut self.segments
    }

    /// How many ids there are.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The largest id.
    pub fn max(&self) -> Option<u64> {
        self.high
    }

    /// The id at `position`.
    pub fn get(&self, position: u64) -> Option<u64> {
        let (place, segment) = self.place_at(position)?;
        segment.get(position.wrapping_sub(place.offset))
    }

    /// The place and the segment that hold `position`; the last ones for a position past the end.
    fn place_at(&self, position: u64) -> Option<(&Place, &Segment)> {
        let after = self.places.partition_point(|place| place.offset <= position);
        let place = self.places.get(after.checked_sub(1)?)?;
        Some((place, self.segments.get(place.segment)?))
    }

    /// The position of `id`; the first where it is repeated.
    ///
    /// An array without order is searched from its front. For many lookups make a
    /// [`RowIdIndex`](crate::RowIdIndex).
    pub fn position(&self, id: u64) -> Option<u64> {
        if let [segment] = self.segments.as_slice() {
            return segment.position(id);
        }
        self.candidates(id).find_map(|(place, segment)| {
            segment.position(id).map(|position| place.offset.wrapping_add(position))
        })
    }

    /// Whether `id` is here.
    pub fn contains(&self, id: u64) -> bool {
        if let [segment] = self.segments.as_slice() {
            return segment.contains(id);
        }
        self.candidates(id).any(|(_, segment)| segment.contains(id))
    }

    /// The segments whose bounds hold `id`: at most one of each stretch.
    fn candidates(&self, id: u64) -> impl Iterator<Item = (&Place, &Segment)> {
        let ends = self.stretches.iter().skip(1).copied().chain([self.places.len()]);
        self.stretches.iter().zip(ends).filter_map(move |(&first, end)| {
            let stretch = self.places.get(first..end)?;
            let at = match stretch {
                [_] => 0,
                _ => stretch.partition_point(|place| place.bounds.last < id),
            };
            let place = stretch.get(at)?;
            let inside = place.bounds.first <= id && id <= place.bounds.last;
            inside.then_some(())?;
            Some((place, self.segments.get(place.segment)?))
        })
    }

    /// The ids in order, from both ends. Skipping (`nth`) does not walk.
    pub fn iter(&self) -> Iter<'_> {
        Iter::new(&self.segments, index(self.len))
    }

    /// The ids at some positions, in any order. Increasing positions are found in one walk.
    pub fn select(&self, positions: impl IntoIterator<Item = u64>) -> Result<Vec<u64>> {
        let positions = positions.into_iter();
        let mut ids = Vec::with_capacity(positions.size_hint().0);
        // The positions of one segment, and its ids from position `next` on.
        let (mut held, mut next, mut rest) = (0..0, 0, SegmentIter::empty());
        for position in positions {
            if position < next || !held.contains(&position) {
                let Some((place, segment)) = self.place_at(position) else {
                    return Err(self.past_end(position));
                };
                held = place.offset..place.offset.wrapping_add(segment.len());
                (next, rest) = (place.offset, segment.iter());
            }
            let id = rest.nth(index(position.wrapping_sub(next)));
            ids.push(id.ok_or_else(|| self.past_end(position))?);
            next = position.wrapping_add(1);
        }
        Ok(ids)
    }

    fn past_end(&self, position: u64) -> Error {
        Error::invalid(format!("there is no row {position} among {} rows", self.len))
    }

    /// The positions of the ids that are in a set, as ranges that increase and do not touch.
    pub fn positions_in(&self, ids: &IdRanges) -> Vec<Range<u64>> {
        let mut found: Vec<Range<u64>> = Vec::new();
        let mut add = |positions: Range<u64>| match found.last_mut() {
            Some(last) if last.end == positions.start => last.end = positions.end,
            _ => found.push(positions),
        };
        for place in &self.places {
            let wanted = ids.within(place.bounds);
            let Some(segment) = self.segments.get(place.segment).filter(|_| !wanted.is_empty())
            else {
                continue;
            };
            if matches!(segment, Segment::Array(_)) {
                for (position, id) in (place.offset..).zip(segment.iter()) {
                    if ids.contains(id) {
                        add(position..position.wrapping_add(1));
                    }
                }
                continue;
            }
            let mut hint = 0;
            let mut rank = |id| segment.rank(&mut hint, id).unwrap_or(0);
            for run in wanted {
                let start = rank(run.first);
                let end = run.last.checked_add(1).map_or(segment.len(), &mut rank);
                if start < end {
                    add(place.offset.wrapping_add(start)..place.offset.wrapping_add(end));
                }
            }
        }
        found
    }

    /// Checks that there is an id for each physical row of a fragment.
    pub fn check_len(&self, physical_rows: u64) -> Result<()> {
        ensure!(
            self.len == physical_rows,
            "a fragment of {physical_rows} rows has {} row ids",
            self.len
        );
        Ok(())
    }

    /// Checks that no id is repeated. Decoding does not: it would cost more than reading.
    pub fn check_unique(&self) -> Result<()> {
        let sorted = |segment: &Segment| !matches!(segment, Segment::Array(_));
        if self.stretches.len() <= 1 && self.segments.iter().all(sorted) {
            return Ok(());
        }
        let mut runs: Vec<Run> = self.segments.iter().flat_map(|s| s.all_runs()).collect();
        runs.sort_by_key(|run| run.first);
        let twice = runs.iter().zip(runs.iter().skip(1)).find(|(a, b)| b.first <= a.last);
        ensure!(twice.is_none(), "row id {} is there twice", twice.map_or(0, |(_, b)| b.first));
        Ok(())
    }
}

impl From<Range<u64>> for RowIdSequence {
    fn from(range: Range<u64>) -> Self {
        let segment = (!range.is_empty()).then_some(Segment::Range(range));
        Self::of_segments(segment)
    }
}

impl<'a> IntoIterator for &'a RowIdSequence {
    type Item = u64;
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

/// More rows than can be counted, and more ids than there are.
pub(crate) fn too_many() -> Error {
    Error::invalid("a sequence cannot have more than 2^64-1 rows")
}

/// An id that is there twice. Increasing ids need one look each; others are marked in a bitmap where
/// they lie close together, and sorted where they do not.
fn repeated(ids: &[u64]) -> Option<u64> {
    if ids.is_sorted_by(|a, b| a < b) {
        return None;
    }
    let (low, high) = (ids.iter().min().copied()?, ids.iter().max().copied()?);
    let slots = high.wrapping_sub(low);
    if slots / 64 < ids.len() as u64 {
        let mut seen = vec![0_u64; index(slots / 64).saturating_add(1)];
        return ids.iter().copied().find(|id| {
            let bit = id.wrapping_sub(low);
            let Some(word) = seen.get_mut(index(bit / 64)) else { return false };
            let mark = 1 << (bit % 64);
            std::mem::replace(word, *word | mark) & mark != 0
        });
    }
    let mut sorted = ids.to_vec();
    sorted.sort_unstable();
    sorted.iter().zip(sorted.iter().skip(1)).find(|(a, b)| a == b).map(|(a, _)| *a)
}
