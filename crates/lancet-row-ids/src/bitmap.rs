//! A range with one bit for each id, in words of 64.
//!
//! The id `start + k` is bit `k % 64` of word `k / 64`, lowest bit first; in bytes that is bit
//! `k % 8` of byte `k / 8`. Bits past the range are 0.
//!
//! A directory holds the number of set bits before every block of 32 words (256 bytes), so that
//! rank and select look at one block.

use std::ops::Range;

use crate::bitmap_iter::{BitmapIter, BitmapRuns};
use crate::bits::{BLOCK, count_ones, low_bits, select_bit, set_bits};
use crate::error::{Result, ensure};
use crate::index;
use crate::run::Run;

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
    pub(crate) fn read(range: Range<u64>, bytes: &[u8]) -> Result<Self> {
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
    pub(crate) fn write(&self) -> Vec<u8> {
        let mut bytes: Vec<u8> = self.words.iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes.truncate(index(self.slots().div_ceil(8)));
        bytes
    }

    /// Sets the bits of increasing runs inside the range.
    pub(crate) fn collect(range: Range<u64>, runs: impl Iterator<Item = Run>) -> Self {
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

    pub(crate) fn words(&self) -> &[u64] {
        &self.words
    }

    /// A word; 0 behind the last.
    pub(crate) fn word(&self, index: usize) -> u64 {
        self.words.get(index).copied().unwrap_or(0)
    }

    pub(crate) fn contains(&self, id: u64) -> bool {
        let bit = id.wrapping_sub(self.start);
        id >= self.start && id < self.end && (self.word(index(bit / 64)) >> (bit % 64)) & 1 == 1
    }

    /// How many ids are below `id`.
    pub(crate) fn rank(&self, id: u64) -> u64 {
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
    pub(crate) fn get(&self, position: u64) -> Option<u64> {
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
    pub(crate) fn next_bit(&self, from: u64, set: bool) -> u64 {
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
    pub(crate) fn push(&mut self, id: u64) {
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

    pub(crate) fn iter(&self) -> BitmapIter<'_> {
        BitmapIter::new(self)
    }

    /// The runs of ids in `first..=last`.
    pub(crate) fn runs(&self, first: u64, last: u64) -> BitmapRuns<'_> {
        let bit = first.wrapping_sub(self.start);
        let end = last.wrapping_sub(self.start).saturating_add(1);
        BitmapRuns::new(self, bit..end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pushed_bits_keep_the_directory() {
        let mut pushed = RangeWithBitmap::collect(7..8, [Run::one(7)].into_iter());
        let ids: Vec<u64> = (0..9_000).map(|n| 7 + n * 3).collect();
        ids.iter().skip(1).for_each(|&id| pushed.push(id));
        let whole = RangeWithBitmap::collect(7..27_005, ids.iter().map(|&id| Run::one(id)));
        assert_eq!(pushed, whole);
    }
}
