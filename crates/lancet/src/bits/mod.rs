//! Bitmaps, 64 bits to a word, and small numbers cut into bitmaps.
//!
//! Levels are numbers of one to three bits, and what is asked of them is asked of all at once: which are
//! above a limit, how many, where is the n-th. A word answers for 64 of them.

#![cfg_attr(
    not(test),
    deny(
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects,
        clippy::cast_possible_truncation
    )
)]

mod planes;
mod select;
mod transpose;

use std::ops::Range;

use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer};

pub(crate) use planes::Planes;
pub(crate) use transpose::{NUMBER_BITS, transpose};

/// Bits of a word.
pub(crate) const WORD: usize = 64;

/// A bitmap: the first bit is the lowest of the first word, and behind the last one all are zero.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Bits {
    words: Vec<u64>,
    len: usize,
}

impl Bits {
    pub(crate) fn ones(len: usize) -> Self {
        let mut bits = Self::default();
        bits.push_run(true, len);
        bits
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn words(&self) -> &[u64] {
        &self.words
    }

    pub(crate) fn clear(&mut self) {
        self.words.clear();
        self.len = 0;
    }

    pub(crate) fn get(&self, position: usize) -> bool {
        let word = self.words.get(position / WORD).copied().unwrap_or(0);
        is_set(word, position % WORD)
    }

    /// How many bits are set.
    pub(crate) fn count(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// How many bits of a range are set.
    pub(crate) fn count_in(&self, range: Range<usize>) -> usize {
        let mut num_left = range.len();
        if num_left <= WORD {
            return (self.part(range.start) & ones(num_left)).count_ones() as usize;
        }
        let count = |word: u64| {
            let live = ones(num_left);
            num_left = num_left.saturating_sub(WORD);
            (word & live).count_ones() as usize
        };
        self.parts(range).map(count).sum()
    }

    pub(crate) fn is_all_set(&self) -> bool {
        let (full, rest) = self.words.split_at_checked(self.len / WORD).unwrap_or_default();
        full.iter().all(|word| *word == u64::MAX)
            && rest.iter().all(|word| *word == ones(self.len % WORD))
    }

    /// The position of the `n`-th bit that is set, counted from 0, of those at `from` or behind it.
    pub(crate) fn nth(&self, from: usize, mut n: usize) -> Option<usize> {
        let first = from / WORD;
        let words = self.words.get(first..).unwrap_or_default();
        let mut hidden = ones(from % WORD);
        for (number, word) in (first..).zip(words) {
            let word = word & !hidden;
            hidden = 0;
            // Mostly it is the next one or the one after it, and nothing has to be counted first.
            if (n < 2 || n < word.count_ones() as usize)
                && let Some(position) = positions(word).nth(n)
            {
                return number.checked_mul(WORD)?.checked_add(position);
            }
            n = n.saturating_sub(word.count_ones() as usize);
        }
        None
    }

    /// Where bits are set.
    pub(crate) fn positions(&self) -> impl Iterator<Item = usize> {
        let words = (0_usize..).step_by(WORD).zip(&self.words);
        words.flat_map(|(start, word)| positions(*word).map(move |at| start.saturating_add(at)))
    }

    /// 64 bits from a position on.
    #[inline]
    fn part(&self, start: usize) -> u64 {
        let word = |number: usize| self.words.get(number).copied().unwrap_or(0);
        let (number, shift) = (start / WORD, u32::try_from(start % WORD).unwrap_or(0));
        // Two shifts to the left, because both together may be a whole word.
        let next = word(number.wrapping_add(1)).wrapping_shl(1);
        word(number).wrapping_shr(shift) | next.wrapping_shl(63_u32.wrapping_sub(shift))
    }

    /// The bits of a range, 64 at a time. Behind the last one stands what is there.
    fn parts(&self, range: Range<usize>) -> impl Iterator<Item = u64> {
        range.step_by(WORD).map(|start| self.part(start))
    }

    /// Appends `count <= 64` bits; those above must be zero.
    #[inline]
    pub(crate) fn push(&mut self, bits: u64, count: usize) {
        let used = self.len % WORD;
        let shift = u32::try_from(used).unwrap_or(0);
        match self.words.last_mut() {
            Some(last) if used > 0 => {
                *last |= bits.wrapping_shl(shift);
                if used.wrapping_add(count) > WORD {
                    self.words.push(bits.wrapping_shr(64_u32.wrapping_sub(shift)));
                }
            }
            _ if count > 0 => self.words.push(bits),
            _ => {}
        }
        self.len = self.len.saturating_add(count);
    }

    /// Appends `count` equal bits.
    pub(crate) fn push_run(&mut self, bit: bool, count: usize) {
        let word = if bit { u64::MAX } else { 0 };
        // Up to the end of the last word, whole words, and what is left.
        let head = count.min(self.len.next_multiple_of(WORD).saturating_sub(self.len));
        self.push(word & ones(head), head);
        let rest = count.saturating_sub(head);
        let num_words = rest / WORD;
        self.words.resize(self.words.len().saturating_add(num_words), word);
        self.len = self.len.saturating_add(num_words.saturating_mul(WORD));
        self.push(word & ones(rest % WORD), rest % WORD);
    }

    /// Appends a range of other bits.
    pub(crate) fn extend(&mut self, other: &Self, range: Range<usize>) {
        let range = range.start..range.end.min(other.len);
        if range.len() <= WORD {
            // Single rows come this way, by the thousand.
            return self.push(other.part(range.start) & ones(range.len()), range.len());
        }
        if range.start.is_multiple_of(WORD) {
            // Whole chunks: words as they are.
            let words = other.words.get(range.start / WORD..).unwrap_or_default();
            let num_words = range.len().div_ceil(WORD);
            return self.push_words(words.iter().copied().take(num_words), range.len());
        }
        self.push_words(other.parts(range.clone()), range.len());
    }

    /// Appends the first `count` bits of some words.
    pub(crate) fn push_words(&mut self, words: impl Iterator<Item = u64>, count: usize) {
        let shift = u32::try_from(self.len % WORD).unwrap_or(0);
        self.len = self.len.saturating_add(count);
        if shift == 0 {
            self.words.extend(words);
        } else {
            let mut carried = self.words.pop().unwrap_or(0);
            self.words.extend(words.map(|word| {
                let full = word.wrapping_shl(shift) | carried;
                carried = word.wrapping_shr(64_u32.wrapping_sub(shift));
                full
            }));
            self.words.push(carried);
        }
        self.words.truncate(self.len.div_ceil(WORD));
        self.clear_rest();
    }

    /// Turns every bit over.
    pub(crate) fn invert(&mut self) {
        self.words.iter_mut().for_each(|word| *word = !*word);
        self.clear_rest();
    }

    /// Behind the last bit all are zero.
    fn clear_rest(&mut self) {
        if let Some(last) = self.words.last_mut()
            && !self.len.is_multiple_of(WORD)
        {
            *last &= ones(self.len % WORD);
        }
    }

    /// The bits that `mask` selects.
    pub(crate) fn select(&self, mask: &Self) -> Self {
        let (words, len) = select::select_words(&self.words, &mask.words);
        Self { words, len }
    }

    /// Both bitmaps word by word; `join` must turn zeros into zeros.
    pub(crate) fn join(&self, other: &Self, join: impl Fn(u64, u64) -> u64) -> Self {
        let words = self.words.iter().zip(&other.words).map(|(a, b)| join(*a, *b)).collect();
        Self { words, len: self.len.min(other.len) }
    }

    /// As Arrow's validity; `None` if all are set.
    pub(crate) fn into_validity(self) -> Option<NullBuffer> {
        let is_all_set = self.is_all_set();
        let bits = BooleanBuffer::new(Buffer::from_vec(self.words), 0, self.len);
        (!is_all_set).then(|| NullBuffer::new(bits))
    }
}

/// Whether a bit of a word is set.
#[inline]
pub(crate) fn is_set(word: u64, position: usize) -> bool {
    word.wrapping_shr(u32::try_from(position).unwrap_or(0)) & 1 == 1
}

/// The lowest `count` bits; all of them from 64 on.
#[inline]
pub(crate) fn ones(count: usize) -> u64 {
    u32::try_from(count)
        .ok()
        .and_then(|count| 1u64.checked_shl(count))
        .map_or(u64::MAX, |bit| bit.wrapping_sub(1))
}

/// The positions of the one bits, lowest first.
#[inline]
pub(crate) fn positions(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        if word == 0 {
            return None;
        }
        let position = word.trailing_zeros() as usize;
        word &= word.wrapping_sub(1);
        Some(position)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bits_of(bools: &[bool]) -> Bits {
        let mut bits = Bits::default();
        bools.iter().for_each(|bit| bits.push(u64::from(*bit), 1));
        bits
    }

    proptest! {
        #[test]
        fn bits_are_what_was_pushed(
            parts in proptest::collection::vec((any::<u64>(), 0usize..65, 0u8..4), 0..20),
            from in 0usize..500, len in 0usize..500,
        ) {
            let (mut bits, mut expected) = (Bits::default(), Vec::new());
            for (word, count, how) in parts {
                match how {
                    0 | 1 => {
                        bits.push_run(how == 1, 3 * count);
                        expected.extend(vec![how == 1; 3 * count]);
                    }
                    _ => {
                        bits.push(word & ones(count), count);
                        expected.extend((0..count).map(|i| word >> i & 1 == 1));
                    }
                }
            }
            prop_assert_eq!(&bits, &bits_of(&expected));
            prop_assert_eq!(bits.is_all_set(), expected.iter().all(|bit| *bit));
            prop_assert_eq!(bits.count(), expected.iter().filter(|bit| **bit).count());
            let set: Vec<usize> = (0..expected.len()).filter(|i| expected[*i]).collect();
            prop_assert!(set.iter().all(|i| bits.get(*i)));
            prop_assert_eq!(bits.positions().collect::<Vec<_>>(), set.clone());
            let (from, to) = (from.min(expected.len()), (from + len).min(expected.len()));
            let inside: Vec<usize> = set.iter().copied().filter(|i| *i >= from).collect();
            for n in [0, 1, 40, inside.len().saturating_sub(1), inside.len()] {
                prop_assert_eq!(bits.nth(from, n), inside.get(n).copied());
            }
            prop_assert_eq!(bits.count_in(from..to), inside.iter().filter(|i| **i < to).count());
            let mut copied = bits_of(&[true, false, true]);
            copied.extend(&bits, from..to);
            prop_assert_eq!(copied, bits_of(&[&[true, false, true], &expected[from..to]].concat()));
            let validity = bits.into_validity();
            prop_assert_eq!(validity.is_none(), expected.iter().all(|bit| *bit));
            if let Some(validity) = validity {
                prop_assert_eq!(validity.iter().collect::<Vec<_>>(), expected);
            }
        }

        #[test]
        fn selected_bits_move_together(
            pairs in proptest::collection::vec((any::<bool>(), any::<bool>()), 0..300), dense in any::<bool>(),
        ) {
            let (bits, mask): (Vec<bool>, Vec<bool>) =
                pairs.iter().enumerate().map(|(i, (b, m))| (*b, *m || dense && i % 7 > 0)).unzip();
            let kept = bits.iter().zip(&mask).filter(|(_, m)| **m).map(|(b, _)| *b);
            let expected = bits_of(&kept.collect::<Vec<_>>());
            prop_assert_eq!(bits_of(&bits).select(&bits_of(&mask)), expected);
        }
    }
}
