//! A range with one bit for each id, in words of 64.
//!
//! The id `start + k` is bit `k % 64` of word `k / 64`, lowest bit first; in bytes that is bit
//! `k % 8` of byte `k / 8`. Bits past the range are 0.
//!
//! A directory holds the number of set bits before every block of 32 words (256 bytes), so that
//! rank and select look at one block.

use std::iter::FusedIterator;
use std::ops::Range;

use super::index;
use super::run::Run;
use crate::error::{Result, ensure};

/// Words between two entries of the directory.
const BLOCK: usize = 32;

/// The ids of a range whose bit is set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RangeWithBitmap {
    start: u64,
    end: u64,
    words: Vec<u64>,
    /// Set bits before each block.
    before: Vec<u64>,
    ones: u64,
}

impl RangeWithBitmap {
    fn new(range: Range<u64>, words: Vec<u64>) -> Self {
        let mut ones = 0_u64;
        let before = words.chunks(BLOCK).map(|block| {
            let before = ones;
            ones = ones.wrapping_add(count_ones(block));
            before
        });
        let before = before.collect();
        Self { start: range.start, end: range.end, words, before, ones }
    }

    /// Reads the stored bytes. Their number is compared before anything is allocated.
    pub(super) fn read(range: Range<u64>, bytes: &[u8]) -> Result<Self> {
        let slots = range.end.saturating_sub(range.start);
        ensure!(
            slots.div_ceil(8) == bytes.len() as u64,
            "a bitmap over {slots} ids has {} bytes",
            bytes.len()
        );
        let used = slots % 8;
        let last = bytes.last().copied().map_or(0, u64::from);
        ensure!(used == 0 || last >> used == 0, "a bitmap has set bits past its {slots} ids");
        let (chunks, rest) = bytes.as_chunks();
        let mut words: Vec<u64> = chunks.iter().map(|chunk| u64::from_le_bytes(*chunk)).collect();
        if !rest.is_empty() {
            words.push(rest.iter().rev().fold(0, |word, &byte| (word << 8) | u64::from(byte)));
        }
        Ok(Self::new(range, words))
    }

    /// The bytes as they are stored.
    pub(super) fn write(&self) -> Vec<u8> {
        let mut bytes: Vec<u8> = self.words.iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes.truncate(index(self.slots().div_ceil(8)));
        bytes
    }

    /// Sets the bits of increasing runs inside the range.
    pub(super) fn collect(range: Range<u64>, runs: impl Iterator<Item = Run>) -> Self {
        let slots = range.end.saturating_sub(range.start);
        let mut words = vec![0_u64; index(slots.div_ceil(64))];
        for run in runs {
            let first = run.first.wrapping_sub(range.start);
            set_bits(&mut words, first, run.last.wrapping_sub(range.start));
        }
        Self::new(range, words)
    }

    /// The ids that have a bit.
    pub fn range(&self) -> Range<u64> {
        self.start..self.end
    }

    fn slots(&self) -> u64 {
        self.end.saturating_sub(self.start)
    }

    /// How many bits are set.
    pub fn len(&self) -> u64 {
        self.ones
    }

    /// Whether no bit is set.
    pub fn is_empty(&self) -> bool {
        self.ones == 0
    }

    fn word(&self, index: usize) -> u64 {
        self.words.get(index).copied().unwrap_or(0)
    }

    pub(super) fn contains(&self, id: u64) -> bool {
        let bit = id.wrapping_sub(self.start);
        id >= self.start && id < self.end && (self.word(index(bit / 64)) >> (bit % 64)) & 1 == 1
    }

    /// How many ids are below `id`.
    pub(super) fn rank(&self, id: u64) -> u64 {
        if id >= self.end {
            return self.ones;
        }
        let bit = id.saturating_sub(self.start);
        let word = index(bit / 64);
        let block = word / BLOCK;
        let words = self.words.get(block.saturating_mul(BLOCK)..word).unwrap_or_default();
        let below = self.word(word) & low_bits(bit % 64);
        let before = self.before.get(block).copied().unwrap_or(0);
        before.wrapping_add(count_ones(words)).wrapping_add(u64::from(below.count_ones()))
    }

    /// The id at `position`.
    pub(super) fn get(&self, position: u64) -> Option<u64> {
        if position >= self.ones {
            return None;
        }
        let block = self.before.partition_point(|&before| before <= position).saturating_sub(1);
        let mut left = position.wrapping_sub(self.before.get(block).copied()?);
        let first = block.saturating_mul(BLOCK);
        for (at, &word) in self.words.iter().enumerate().skip(first) {
            let ones = u64::from(word.count_ones());
            if left < ones {
                let bit = (at as u64).wrapping_mul(64).wrapping_add(select_bit(word, left));
                return Some(self.start.wrapping_add(bit));
            }
            left = left.wrapping_sub(ones);
        }
        None
    }

    /// The first bit from `from` on that is set, or not set; the number of bits when there is none.
    fn next_bit(&self, from: u64, set: bool) -> u64 {
        let flip = if set { 0 } else { u64::MAX };
        let mut at = index(from / 64);
        let mut mask = !low_bits(from % 64);
        while let Some(&word) = self.words.get(at) {
            let found = (word ^ flip) & mask;
            if found != 0 {
                let bit = (at as u64).wrapping_mul(64);
                return bit.wrapping_add(found.trailing_zeros().into()).min(self.slots());
            }
            at = at.wrapping_add(1);
            mask = u64::MAX;
        }
        self.slots()
    }

    /// Takes `id`, larger than every other, into the range.
    pub(super) fn push(&mut self, id: u64) {
        let bit = id.wrapping_sub(self.start);
        let word = index(bit / 64);
        while self.words.len() <= word {
            if self.words.len().is_multiple_of(BLOCK) {
                self.before.push(self.ones);
            }
            self.words.push(0);
        }
        set_bits(&mut self.words, bit, bit);
        self.ones = self.ones.wrapping_add(1);
        self.end = id.saturating_add(1);
    }

    pub(super) fn iter(&self) -> BitmapIter<'_> {
        BitmapIter {
            bitmap: self,
            position: 0,
            left: self.ones,
            front: (0, self.word(0)),
            back: {
                let last = self.words.len().saturating_sub(1);
                (last, self.word(last))
            },
        }
    }

    /// The runs of ids in `first..=last`.
    pub(super) fn runs(&self, first: u64, last: u64) -> BitmapRuns<'_> {
        let bit = first.wrapping_sub(self.start);
        let end = last.wrapping_sub(self.start).saturating_add(1);
        BitmapRuns { bitmap: self, bit, end }
    }
}

/// The runs of set bits between two bits.
#[derive(Debug, Clone)]
pub(super) struct BitmapRuns<'a> {
    bitmap: &'a RangeWithBitmap,
    bit: u64,
    end: u64,
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
        let start = self.bitmap.start;
        Some(Run {
            first: start.wrapping_add(first),
            last: start.wrapping_add(end.wrapping_sub(1)),
        })
    }
}

/// The ids of a bitmap from both ends. Each end has its own copy of the word it stands in; `left`
/// keeps them apart.
#[derive(Debug, Clone)]
pub(super) struct BitmapIter<'a> {
    bitmap: &'a RangeWithBitmap,
    /// Of the next id at the front.
    position: u64,
    left: u64,
    /// Index of a word, and those of its bits that are not used up.
    front: (usize, u64),
    back: (usize, u64),
}

impl BitmapIter<'_> {
    fn id(&self, word: usize, bit: u32) -> u64 {
        let bit = (word as u64).wrapping_mul(64).wrapping_add(bit.into());
        self.bitmap.start.wrapping_add(bit)
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
        let bit = id.wrapping_sub(self.bitmap.start);
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
            bits = *self.bitmap.words.get(word)?;
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
        let (mut word, mut bits) = self.front;
        let (mut acc, mut left) = (init, self.left);
        while left > 0 {
            let first = self.id(word, 0);
            while bits != 0 && left > 0 {
                acc = f(acc, first.wrapping_add(bits.trailing_zeros().into()));
                bits &= bits.wrapping_sub(1);
                left = left.wrapping_sub(1);
            }
            word = word.wrapping_add(1);
            bits = self.bitmap.word(word);
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
            bits = *self.bitmap.words.get(word)?;
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

fn count_ones(words: &[u64]) -> u64 {
    words.iter().fold(0, |ones, word| ones.wrapping_add(word.count_ones().into()))
}

/// A word whose lowest `bits` bits are set.
fn low_bits(bits: u64) -> u64 {
    if bits >= 64 { u64::MAX } else { !(u64::MAX << bits) }
}

/// The place of the set bit with `before` set bits below it: halves the word by their counts.
fn select_bit(mut word: u64, mut before: u64) -> u64 {
    let mut bit = 0_u64;
    for width in [32, 16, 8, 4, 2, 1] {
        let low = u64::from((word & low_bits(width)).count_ones());
        if before >= low {
            before = before.wrapping_sub(low);
            bit = bit.wrapping_add(width);
            word >>= width;
        }
    }
    bit
}

/// Sets the bits `first..=last`, whole words at once.
fn set_bits(words: &mut [u64], first: u64, last: u64) {
    let (from, to) = (index(first / 64), index(last / 64));
    let (head, tail) = (!low_bits(first % 64), low_bits((last % 64).wrapping_add(1)));
    let Some(words) = words.get_mut(from..=to) else { return };
    match words {
        [] => {}
        [one] => *one |= head & tail,
        [first, middle @ .., last] => {
            *first |= head;
            middle.fill(u64::MAX);
            *last |= tail;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selects_every_bit_of_a_word() {
        for word in [1_u64, u64::MAX, 0x8000_0000_0000_0001, 0x1234_5678_9abc_def0] {
            let bits: Vec<u64> = (0..64).filter(|bit| (word >> bit) & 1 == 1).collect();
            for (before, &bit) in bits.iter().enumerate() {
                assert_eq!(select_bit(word, before as u64), bit, "{word:x} {before}");
            }
        }
    }

    #[test]
    fn pushed_bits_keep_the_directory() {
        let mut pushed = RangeWithBitmap::collect(7..8, [Run::one(7)].into_iter());
        let ids: Vec<u64> = (0..9_000).map(|n| 7 + n * 3).collect();
        ids.iter().skip(1).for_each(|&id| pushed.push(id));
        let whole = RangeWithBitmap::collect(7..27_005, ids.iter().map(|&id| Run::one(id)));
        assert_eq!(pushed, whole);
    }
}
