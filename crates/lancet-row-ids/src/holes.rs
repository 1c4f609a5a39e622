//! A range and the ids that are missing from it.
//!
//! Invariant, checked on the way in: the holes increase and lie inside the range.

use std::iter::FusedIterator;
use std::ops::Range;

use crate::array::EncodedArray;
use crate::error::{Result, ensure};
use crate::index;
use crate::iter::ArrayIter;
use crate::run::Run;

/// The ids of a range, leaving out the holes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RangeWithHoles {
    start: u64,
    end: u64,
    holes: EncodedArray,
}

impl RangeWithHoles {
    /// Checks the holes with one pass over them.
    pub(crate) fn read(range: Range<u64>, holes: EncodedArray) -> Result<Self> {
        ensure!(holes.is_increasing(), "the holes of a range do not increase");
        let inside =
            holes.bounds().is_none_or(|(low, high)| range.start <= low && high < range.end);
        ensure!(inside, "a hole is outside of its range {}..{}", range.start, range.end);
        Ok(Self { start: range.start, end: range.end, holes })
    }

    /// The gaps between increasing runs in the range. `holes` are the first and the last of them.
    pub(crate) fn collect(
        range: Range<u64>,
        holes: Run,
        count: u64,
        runs: impl Iterator<Item = Run>,
    ) -> Self {
        let gaps = runs.scan(range.start, |end, run| {
            let gap = *end..run.first;
            *end = run.last.wrapping_add(1);
            Some(gap)
        });
        let holes = EncodedArray::collect(holes.first, holes.last, index(count), gaps.flatten());
        Self { start: range.start, end: range.end, holes }
    }

    /// The range, holes included.
    pub fn range(&self) -> Range<u64> {
        self.start..self.end
    }

    /// The missing ids, in order.
    pub fn holes(&self) -> &EncodedArray {
        &self.holes
    }

    /// How many ids there are.
    pub fn len(&self) -> u64 {
        self.end.saturating_sub(self.start).saturating_sub(self.holes.len() as u64)
    }

    /// Whether the holes leave nothing.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn contains(&self, id: u64) -> bool {
        id >= self.start && id < self.end && self.holes.get(self.holes.rank(id)) != Some(id)
    }

    pub(crate) fn position(&self, id: u64) -> Option<u64> {
        let at = id.checked_sub(self.start).filter(|_| id < self.end)?;
        let below = self.holes.rank(id);
        (self.holes.get(below) != Some(id)).then(|| at.wrapping_sub(below as u64))
    }

    /// How many ids are below `id`. `hint` is a number of holes known to be below it.
    pub(crate) fn rank(&self, hint: &mut usize, id: u64) -> u64 {
        let id = id.clamp(self.start, self.end);
        *hint = self.holes.rank_from(*hint, id);
        id.wrapping_sub(self.start).wrapping_sub(*hint as u64)
    }

    /// The id at `position`: past every hole that has at most that many ids below it.
    pub(crate) fn get(&self, position: u64) -> Option<u64> {
        (position < self.len()).then(|| {
            let id = self.start.wrapping_add(position);
            let holes = self.holes.count_while(0, |j, hole| hole.wrapping_sub(j as u64) <= id);
            id.wrapping_add(holes as u64)
        })
    }

    /// Takes `id`, larger than every other, into the range.
    pub(crate) fn push(&mut self, id: u64) {
        (self.end..id).for_each(|hole| self.holes.push(hole));
        self.end = id.saturating_add(1);
    }

    /// How many holes are below the id at `position`.
    fn holes_below(&self, position: u64, id: u64) -> usize {
        index(id.wrapping_sub(self.start).wrapping_sub(position))
    }

    pub(crate) fn iter(&self) -> HolesIter<'_> {
        let mut iter = HolesIter {
            segment: self,
            position: 0,
            left: self.len(),
            front: self.start,
            back: self.end,
            front_hole: (0, 0),
            back_hole: (0, 0),
        };
        iter.seek_front(0);
        iter.seek_back(self.holes.len());
        iter
    }

    /// The runs of ids in `first..=last`, both of which are present.
    pub(crate) fn runs(&self, first: u64, last: u64) -> HolesRuns<'_> {
        let holes = self.holes.iter_in(self.holes.rank(first), self.holes.rank(last));
        HolesRuns { holes, rest: Some(Run { first, last }) }
    }
}

/// The runs between holes.
#[derive(Debug, Clone)]
pub(crate) struct HolesRuns<'a> {
    holes: ArrayIter<'a>,
    rest: Option<Run>,
}

impl Iterator for HolesRuns<'_> {
    type Item = Run;

    fn next(&mut self) -> Option<Run> {
        let rest = self.rest?;
        let mut first = rest.first;
        for hole in self.holes.by_ref() {
            let after = hole.wrapping_add(1);
            if first < hole {
                self.rest = Some(Run { first: after, last: rest.last });
                return Some(Run { first, last: hole.wrapping_sub(1) });
            }
            first = after;
        }
        self.rest = None;
        Some(Run { first, last: rest.last })
    }
}

/// No id: holes lie below the end of a range, which is at most this.
const NONE: u64 = u64::MAX;

/// The ids of a range with holes from both ends.
#[derive(Debug, Clone)]
pub(crate) struct HolesIter<'a> {
    segment: &'a RangeWithHoles,
    /// Of the next id at the front.
    position: u64,
    left: u64,
    /// The next id at the front, if it is no hole; one more than the next id at the back.
    front: u64,
    back: u64,
    /// Number and value of the first hole not below `front`, and of the last one below `back`; the
    /// number at the back counts from 1.
    front_hole: (usize, u64),
    back_hole: (usize, u64),
}

impl HolesIter<'_> {
    fn seek_front(&mut self, number: usize) {
        self.front_hole = (number, self.segment.holes.get(number).unwrap_or(NONE));
    }

    fn seek_back(&mut self, number: usize) {
        let hole = number.checked_sub(1).and_then(|last| self.segment.holes.get(last));
        self.back_hole = (number, hole.unwrap_or(NONE));
    }
}

impl Iterator for HolesIter<'_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        self.left = self.left.checked_sub(1)?;
        while self.front == self.front_hole.1 {
            self.front = self.front.wrapping_add(1);
            self.seek_front(self.front_hole.0.wrapping_add(1));
        }
        let id = self.front;
        self.front = id.wrapping_add(1);
        self.position = self.position.wrapping_add(1);
        Some(id)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (index(self.left), Some(index(self.left)))
    }

    fn nth(&mut self, n: usize) -> Option<u64> {
        let n = n as u64;
        if n >= self.left {
            self.left = 0;
            return None;
        }
        self.position = self.position.wrapping_add(n);
        self.left = self.left.wrapping_sub(n);
        if self.front_hole.1.saturating_sub(self.front) > n {
            self.front = self.front.wrapping_add(n);
        } else {
            self.front = self.segment.get(self.position)?;
            self.seek_front(self.segment.holes_below(self.position, self.front));
        }
        self.next()
    }

    fn fold<B, F: FnMut(B, u64) -> B>(mut self, init: B, mut f: F) -> B {
        let mut acc = init;
        while self.left > 0 {
            let run = self.front_hole.1.saturating_sub(self.front).min(self.left);
            let end = self.front.wrapping_add(run);
            acc = (self.front..end).fold(acc, &mut f);
            self.left = self.left.wrapping_sub(run);
            self.front = end.wrapping_add(1);
            self.seek_front(self.front_hole.0.wrapping_add(1));
        }
        acc
    }
}

impl DoubleEndedIterator for HolesIter<'_> {
    fn next_back(&mut self) -> Option<u64> {
        self.left = self.left.checked_sub(1)?;
        self.back = self.back.wrapping_sub(1);
        while self.back == self.back_hole.1 {
            self.back = self.back.wrapping_sub(1);
            self.seek_back(self.back_hole.0.saturating_sub(1));
        }
        Some(self.back)
    }

    fn nth_back(&mut self, n: usize) -> Option<u64> {
        let n = n as u64;
        if n >= self.left {
            self.left = 0;
            return None;
        }
        self.left = self.left.wrapping_sub(n);
        let last = self.position.wrapping_add(self.left).wrapping_sub(1);
        let id = self.segment.get(last)?;
        self.seek_back(self.segment.holes_below(last, id));
        self.back = id.wrapping_add(1);
        self.next_back()
    }
}

impl FusedIterator for HolesIter<'_> {}
