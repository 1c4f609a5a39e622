//! The ids of a bitmap from both ends, and its runs.

use std::iter::FusedIterator;
use std::ops::Range;

use crate::bitmap::RangeWithBitmap;
use crate::bits::{BLOCK, low_bits, select_bit};
use crate::index;
use crate::run::Run;

/// The runs of set bits between two bits.
#[derive(Debug, Clone)]
pub(crate) struct BitmapRuns<'a> {
    bitmap: &'a RangeWithBitmap,
    bit: u64,
    end: u64,
}

impl<'a> BitmapRuns<'a> {
    pub(crate) fn new(bitmap: &'a RangeWithBitmap, bits: Range<u64>) -> Self {
        Self { bitmap, bit: bits.start, end: bits.end }
    }
}

impl Iterator for BitmapRuns<'_> {
    type Item = Run;

    fn next(&mut self) -> Option<Run> {
        let first = self.bitmap.next_bit(self.bit, true);
        if first >= self.end {
            return None;
        }
        let end = self.bitmap.next_bit(first, false).min(self.end);
        self.bit = end;
        let start = self.bitmap.range().start;
        Some(Run {
            first: start.wrapping_add(first),
            last: start.wrapping_add(end.wrapping_sub(1)),
        })
    }
}

/// The ids of a bitmap from both ends. Each end has its own copy of the word it stands in; `left`
/// keeps them apart.
#[derive(Debug, Clone)]
pub(crate) struct BitmapIter<'a> {
    bitmap: &'a RangeWithBitmap,
    /// Of the next id at the front.
    position: u64,
    left: u64,
    /// Index of a word, and those of its bits that are not used up.
    front: (usize, u64),
    back: (usize, u64),
}

impl<'a> BitmapIter<'a> {
    pub(crate) fn new(bitmap: &'a RangeWithBitmap) -> Self {
        let last = bitmap.words().len().saturating_sub(1);
        let (front, back) = ((0, bitmap.word(0)), (last, bitmap.word(last)));
        Self { bitmap, position: 0, left: bitmap.len(), front, back }
    }

    fn id(&self, word: usize, bit: u32) -> u64 {
        let bit = (word as u64).wrapping_mul(64).wrapping_add(bit.into());
        self.bitmap.range().start.wrapping_add(bit)
    }

    /// The front after `n` bits, when it is so near that the directory would not help.
    fn skip_near(&self, n: u64) -> Option<(usize, u64)> {
        let (mut word, mut bits) = self.front;
        let mut left = n;
        for _ in 0..BLOCK / 2 {
            let ones = u64::from(bits.count_ones());
            if left < ones {
                return Some((word, bits & !low_bits(select_bit(bits, left))));
            }
            left = left.wrapping_sub(ones);
            word = word.wrapping_add(1);
            bits = self.bitmap.word(word);
        }
        None
    }

    /// Word and bit of an id.
    fn place(&self, id: u64) -> (usize, u64) {
        let bit = id.wrapping_sub(self.bitmap.range().start);
        (index(bit / 64), bit % 64)
    }
}

impl Iterator for BitmapIter<'_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        self.left = self.left.checked_sub(1)?;
        self.position = self.position.wrapping_add(1);
        let (mut word, mut bits) = self.front;
        while bits == 0 {
            word = word.wrapping_add(1);
            bits = *self.bitmap.words().get(word)?;
        }
        self.front = (word, bits & bits.wrapping_sub(1));
        Some(self.id(word, bits.trailing_zeros()))
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
        let near = self.skip_near(n);
        if let Some(front) = near {
            self.front = front;
        } else {
            let (word, bit) = self.place(self.bitmap.get(self.position)?);
            self.front = (word, self.bitmap.word(word) & !low_bits(bit));
        }
        self.next()
    }

    fn fold<B, F: FnMut(B, u64) -> B>(self, init: B, mut f: F) -> B {
        let (first, bits) = self.front;
        let behind = self.bitmap.words().iter().skip(first).skip(1).copied();
        let (mut acc, mut left) = (init, self.left);
        for (word, mut bits) in (first..).zip(std::iter::once(bits).chain(behind)) {
            let id = self.id(word, 0);
            while bits != 0 && left > 0 {
                acc = f(acc, id.wrapping_add(bits.trailing_zeros().into()));
                bits &= bits.wrapping_sub(1);
                left = left.wrapping_sub(1);
            }
            if left == 0 {
                break;
            }
        }
        acc
    }
}

impl DoubleEndedIterator for BitmapIter<'_> {
    fn next_back(&mut self) -> Option<u64> {
        self.left = self.left.checked_sub(1)?;
        let (mut word, mut bits) = self.back;
        while bits == 0 {
            word = word.checked_sub(1)?;
            bits = *self.bitmap.words().get(word)?;
        }
        let bit = bits.ilog2();
        self.back = (word, bits ^ (1 << bit));
        Some(self.id(word, bit))
    }

    fn nth_back(&mut self, n: usize) -> Option<u64> {
        let n = n as u64;
        if n >= self.left {
            self.left = 0;
            return None;
        }
        self.left = self.left.wrapping_sub(n);
        let last = self.position.wrapping_add(self.left).wrapping_sub(1);
        let (word, bit) = self.place(self.bitmap.get(last)?);
        self.back = (word, self.bitmap.word(word) & low_bits(bit.wrapping_add(1)));
        self.next_back()
    }
}

impl FusedIterator for BitmapIter<'_> {}
