//! Level streams 64 entries at a time, and bitmaps built from them.
//!
//! A comparison of 64 levels with a limit becomes one 64-bit mask (bit `i` stands for entry `i`), so that
//! the work of a stream without surprises is done by the word instead of by the entry.

use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer};

/// Levels in a block.
pub(crate) const BLOCK: usize = 64;

/// The blocks of a level stream; the last one may be short.
pub(crate) fn blocks(levels: &[u16]) -> Blocks<'_> {
    Blocks { rest: levels }
}

/// See [`blocks`].
pub(crate) struct Blocks<'a> {
    rest: &'a [u16],
}

impl Iterator for Blocks<'_> {
    /// The levels, filled up with zeros, and how many are real.
    type Item = ([u16; BLOCK], usize);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if let Some((block, rest)) = self.rest.split_first_chunk::<BLOCK>() {
            self.rest = rest;
            return Some((*block, BLOCK));
        }
        let tail = std::mem::take(&mut self.rest);
        if tail.is_empty() {
            return None;
        }
        let mut block = [0; BLOCK];
        for (to, from) in block.iter_mut().zip(tail) {
            *to = *from;
        }
        Some((block, tail.len()))
    }
}

/// The lowest `count` bits; all of them from 64 on.
#[inline]
pub(crate) fn ones(count: usize) -> u64 {
    u32::try_from(count)
        .ok()
        .and_then(|count| 1u64.checked_shl(count))
        .map_or(u64::MAX, |bit| bit.wrapping_sub(1))
}

/// Which of the levels are at most `limit`.
#[inline]
pub(crate) fn at_most(levels: &[u16; BLOCK], limit: u16) -> u64 {
    let mut flags = [0u8; BLOCK];
    for (flag, level) in flags.iter_mut().zip(levels) {
        *flag = u8::from(*level <= limit);
    }
    let mut mask = [0u8; 8];
    for (byte, eight) in mask.iter_mut().zip(flags.as_chunks::<8>().0) {
        // The product moves the lowest bit of byte `j` to bit `j` of the top byte; no two terms meet.
        let product = u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080);
        let [.., top] = product.to_le_bytes();
        *byte = top;
    }
    u64::from_le_bytes(mask)
}

/// How many levels are counted; sums up parts whose sum fits 16 bits, so that the sum is as narrow as the levels.
pub(crate) fn count(levels: &[u16], is_counted: impl Fn(u16) -> bool) -> usize {
    let part_sum = |part: &[u16]| {
        part.iter().fold(0u16, |sum, level| sum.wrapping_add(u16::from(is_counted(*level))))
    };
    levels.chunks(1 << 15).map(|part| usize::from(part_sum(part))).sum()
}

/// The positions of the one bits, lowest first.
#[inline]
pub(crate) fn positions(mut mask: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        if mask == 0 {
            return None;
        }
        let position = mask.trailing_zeros() as usize;
        mask &= mask.wrapping_sub(1);
        Some(position)
    })
}

/// The bits that `mask` selects, moved together at the low end.
#[inline]
pub(crate) fn compress(bits: u64, mut mask: u64) -> u64 {
    let (mut out, mut filled) = (0u64, 0u32);
    // Run by run: masks are mostly long runs of ones with a hole here and there.
    while mask != 0 {
        let start = mask.trailing_zeros();
        let run = mask.wrapping_shr(start).trailing_ones();
        let run_ones = ones(run as usize);
        out |= (bits.wrapping_shr(start) & run_ones).wrapping_shl(filled);
        filled = filled.wrapping_add(run);
        mask &= !run_ones.wrapping_shl(start);
    }
    out
}

/// Which of the entries that own a slot of the leaf are valid; `None` if all are.
pub(crate) fn leaf_validity(def: &[u16], max_visible: u16) -> Option<NullBuffer> {
    let mut validity = Validity::default();
    for (block, count) in blocks(def) {
        let visible = at_most(&block, max_visible) & ones(count);
        validity.push(compress(at_most(&block, 0), visible), visible.count_ones() as usize);
    }
    validity.finish()
}

/// Validity of the slots of a layer. Holds no bitmap until the first null.
#[derive(Debug, Default)]
pub(crate) struct Validity {
    len: usize,
    /// `ceil(len / 64)` words, bits from `len` on are zero.
    words: Option<Vec<u64>>,
}

impl Validity {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Appends `count` valid slots.
    pub(crate) fn push_valid(&mut self, mut count: usize) {
        if self.words.is_none() {
            self.len = self.len.saturating_add(count);
            return;
        }
        while count > 0 {
            let part = count.min(BLOCK);
            self.push(ones(part), part);
            count = count.wrapping_sub(part);
        }
    }

    /// Appends `count` null slots.
    pub(crate) fn push_null(&mut self, mut count: usize) {
        while count > 0 {
            let part = count.min(BLOCK);
            self.push(0, part);
            count = count.wrapping_sub(part);
        }
    }

    /// Appends `count <= 64` slots, one bit each; the bits above must be zero.
    #[inline]
    pub(crate) fn push(&mut self, bits: u64, count: usize) {
        if self.words.is_none() && bits == ones(count) {
            self.len = self.len.saturating_add(count);
            return;
        }
        let len = self.len;
        let words = self.words.get_or_insert_with(|| all_valid(len));
        let used = len % BLOCK;
        let shift = u32::try_from(used).unwrap_or(0);
        match words.last_mut() {
            Some(last) if used > 0 => {
                *last |= bits.wrapping_shl(shift);
                if used.wrapping_add(count) > BLOCK {
                    words.push(bits.wrapping_shr(64u32.wrapping_sub(shift)));
                }
            }
            _ if count > 0 => words.push(bits),
            _ => {}
        }
        self.len = len.saturating_add(count);
    }

    pub(crate) fn finish(self) -> Option<NullBuffer> {
        let bits = Buffer::from_vec(self.words?);
        Some(NullBuffer::new(BooleanBuffer::new(bits, 0, self.len)))
    }
}

fn all_valid(len: usize) -> Vec<u64> {
    let mut words = vec![u64::MAX; len.div_ceil(BLOCK)];
    if let Some(last) = words.last_mut()
        && !len.is_multiple_of(BLOCK)
    {
        *last = ones(len % BLOCK);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn masks_and_compression_agree_with_single_bits(
            levels in proptest::collection::vec(0u16..5, 0..200), limit in 0u16..6, keep in any::<u64>(),
        ) {
            let mut seen = 0;
            for (block, count) in blocks(&levels) {
                let mask = at_most(&block, limit) & ones(count);
                let expected: Vec<usize> =
                    (0..count).filter(|i| levels[seen + i] <= limit).collect();
                prop_assert_eq!(positions(mask).collect::<Vec<_>>(), expected);
                let mut packed = 0u64;
                for (to, from) in positions(keep).enumerate() {
                    packed |= (mask >> from & 1) << to;
                }
                prop_assert_eq!(compress(mask, keep), packed);
                seen += count;
            }
            prop_assert_eq!(seen, levels.len());
        }

        #[test]
        fn validity_is_what_was_pushed(parts in proptest::collection::vec((any::<u64>(), 0usize..65, 0u8..4), 0..20)) {
            let (mut validity, mut expected) = (Validity::default(), Vec::new());
            for (bits, count, how) in parts {
                match how {
                    0 => { validity.push_valid(3 * count); expected.extend(vec![true; 3 * count]); }
                    1 => { validity.push_null(2 * count); expected.extend(vec![false; 2 * count]); }
                    _ => {
                        validity.push(bits & ones(count), count);
                        expected.extend((0..count).map(|i| bits >> i & 1 == 1));
                    }
                }
            }
            prop_assert_eq!(validity.len(), expected.len());
            let all = expected.iter().all(|v| *v);
            let nulls = validity.finish();
            prop_assert_eq!(nulls.is_none(), all);
            if let Some(nulls) = nulls {
                prop_assert_eq!(nulls.iter().collect::<Vec<_>>(), expected);
            }
        }
    }
}
