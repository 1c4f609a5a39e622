//! The numbers of an array and the ids of a sequence, from both ends.

use std::iter::FusedIterator;
use std::slice;

use crate::array::plus;
use crate::index;
use crate::segment::{Segment, SegmentIter};

/// The ids of a [`RowIdSequence`](crate::RowIdSequence). Allocates nothing; skipping jumps over whole
/// segments, and inside of one to the place.
#[derive(Debug, Clone)]
pub struct Iter<'a> {
    front: SegmentIter<'a>,
    /// Segments that neither end has reached.
    segments: slice::Iter<'a, Segment>,
    back: SegmentIter<'a>,
    left: usize,
}

impl<'a> Iter<'a> {
    pub(crate) fn new(segments: &'a [Segment], left: usize) -> Self {
        let (front, back) = (SegmentIter::empty(), SegmentIter::empty());
        Self { front, segments: segments.iter(), back, left }
    }
}

impl Iterator for Iter<'_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let Some(id) = self.front.next() else { return self.nth(0) };
        self.left = self.left.saturating_sub(1);
        Some(id)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }

    fn nth(&mut self, n: usize) -> Option<u64> {
        let mut skip = n;
        self.left = self.left.saturating_sub(n.saturating_add(1));
        loop {
            let here = self.front.len();
            if skip < here {
                return self.front.nth(skip);
            }
            skip = skip.wrapping_sub(here);
            match self.segments.next() {
                Some(segment) if index(segment.len()) <= skip => {
                    skip = skip.wrapping_sub(index(segment.len()));
                    self.front = SegmentIter::empty();
                }
                Some(segment) => self.front = segment.iter(),
                None => {
                    self.front = SegmentIter::empty();
                    return self.back.nth(skip);
                }
            }
        }
    }

    fn fold<B, F: FnMut(B, u64) -> B>(self, init: B, mut f: F) -> B {
        let front = self.front.fold(init, &mut f);
        let middle = self.segments.fold(front, |acc, segment| segment.iter().fold(acc, &mut f));
        self.back.fold(middle, f)
    }
}

impl DoubleEndedIterator for Iter<'_> {
    fn next_back(&mut self) -> Option<u64> {
        let Some(id) = self.back.next_back() else { return self.nth_back(0) };
        self.left = self.left.saturating_sub(1);
        Some(id)
    }

    fn nth_back(&mut self, n: usize) -> Option<u64> {
        let mut skip = n;
        self.left = self.left.saturating_sub(n.saturating_add(1));
        loop {
            let here = self.back.len();
            if skip < here {
                return self.back.nth_back(skip);
            }
            skip = skip.wrapping_sub(here);
            match self.segments.next_back() {
                Some(segment) if index(segment.len()) <= skip => {
                    skip = skip.wrapping_sub(index(segment.len()));
                    self.back = SegmentIter::empty();
                }
                Some(segment) => self.back = segment.iter(),
                None => {
                    self.back = SegmentIter::empty();
                    return self.front.nth_back(skip);
                }
            }
        }
    }
}

impl ExactSizeIterator for Iter<'_> {}
impl FusedIterator for Iter<'_> {}

/// The numbers of an [`EncodedArray`](crate::EncodedArray), from both ends.
#[derive(Debug, Clone)]
pub struct ArrayIter<'a> {
    base: u64,
    offsets: OffsetIter<'a>,
}

#[derive(Debug, Clone)]
pub(crate) enum OffsetIter<'a> {
    U16(slice::Iter<'a, u16>),
    U32(slice::Iter<'a, u32>),
    U64(slice::Iter<'a, u64>),
}

impl<'a> ArrayIter<'a> {
    pub(crate) fn new(base: u64, offsets: OffsetIter<'a>) -> Self {
        Self { base, offsets }
    }
}

macro_rules! each {
    ($iter:expr, $offsets:ident => $result:expr) => {
        match $iter {
            OffsetIter::U16($offsets) => $result,
            OffsetIter::U32($offsets) => $result,
            OffsetIter::U64($offsets) => $result,
        }
    };
}

impl Iterator for ArrayIter<'_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let base = self.base;
        each!(&mut self.offsets, o => o.next().map(|&v| plus(base, v)))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        each!(&self.offsets, o => o.size_hint())
    }

    fn nth(&mut self, n: usize) -> Option<u64> {
        let base = self.base;
        each!(&mut self.offsets, o => o.nth(n).map(|&v| plus(base, v)))
    }

    fn fold<B, F: FnMut(B, u64) -> B>(self, init: B, mut f: F) -> B {
        let base = self.base;
        each!(self.offsets, o => o.fold(init, |b, &v| f(b, plus(base, v))))
    }
}

impl DoubleEndedIterator for ArrayIter<'_> {
    fn next_back(&mut self) -> Option<u64> {
        let base = self.base;
        each!(&mut self.offsets, o => o.next_back().map(|&v| plus(base, v)))
    }

    fn nth_back(&mut self, n: usize) -> Option<u64> {
        let base = self.base;
        each!(&mut self.offsets, o => o.nth_back(n).map(|&v| plus(base, v)))
    }
}

impl ExactSizeIterator for ArrayIter<'_> {}
impl FusedIterator for ArrayIter<'_> {}
