//! The bits of a word that a mask selects, moved together at its low end.
//!
//! Most processors have an instruction for it, which takes a few cycles. Without it a word takes some ten operations for each
//! run of the mask. With it, and offsets placed without a branch for each list, a column of lists is scanned in 1.44 ms
//! instead of 1.84, a nested table in 6.75 instead of 8.16.

use super::{is_set, ones, positions};

/// Selects the bits of many words; returns the words that they fill, and how many bits they are.
pub(super) fn select_words(bits: &[u64], mask: &[u64]) -> (Vec<u64>, usize) {
    #[cfg(target_arch = "x86_64")]
    if has_fast_pext() {
        #[expect(unsafe_code, reason = "an instruction that not all processors have")]
        // SAFETY: the processor has been asked for the features.
        return unsafe { select_words_pext(bits, mask) };
    }
    select_words_with(bits, mask, gather)
}

/// Whether there is an instruction for it, and one that is fast: AMD's processors have SSE4a, and those of them before
/// VAES take up to 300 cycles for it.
#[cfg(target_arch = "x86_64")]
fn has_fast_pext() -> bool {
    is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("popcnt")
        && (!is_x86_feature_detected!("sse4a") || is_x86_feature_detected!("vaes"))
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "bmi2,popcnt")]
fn select_words_pext(bits: &[u64], mask: &[u64]) -> (Vec<u64>, usize) {
    select_words_with(bits, mask, |bits, mask| std::arch::x86_64::_pext_u64(bits, mask))
}

#[inline(always)]
fn select_words_with(
    bits: &[u64],
    mask: &[u64],
    gather: impl Fn(u64, u64) -> u64,
) -> (Vec<u64>, usize) {
    let mut words = Vec::with_capacity(bits.len().min(mask.len()));
    let (mut len, mut last, mut filled) = (0_usize, 0_u64, 0_u32);
    for (bits, mask) in bits.iter().zip(mask) {
        let (gathered, count) = (gather(*bits, *mask), mask.count_ones());
        last |= gathered.wrapping_shl(filled);
        let end = filled.wrapping_add(count);
        if end < u64::BITS {
            filled = end;
        } else {
            words.push(last);
            last = gathered.checked_shr(u64::BITS.wrapping_sub(filled)).unwrap_or(0);
            filled = end.wrapping_sub(u64::BITS);
        }
        len = len.saturating_add(count as usize);
    }
    if filled > 0 {
        words.push(last);
    }
    (words, len)
}

/// Selects the bits of a word.
#[inline]
fn gather(bits: u64, mask: u64) -> u64 {
    let count = mask.count_ones();
    match bits & mask {
        all if all == mask => ones(count as usize),
        some if count < u64::BITS / 2 => gather_bits(some, mask),
        some => gather_runs(some, mask),
    }
}

/// For masks with few ones.
#[inline]
fn gather_bits(bits: u64, mask: u64) -> u64 {
    let bit = |at: usize| u64::from(is_set(bits, at));
    (0..).zip(positions(mask)).fold(0, |out, (to, at)| out | bit(at).wrapping_shl(to))
}

/// For masks with few zeros: run by run.
#[inline]
fn gather_runs(bits: u64, mut mask: u64) -> u64 {
    let (mut out, mut filled) = (0u64, 0u32);
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn both_ways_select_the_same(
            words in proptest::collection::vec((any::<u64>(), any::<u64>(), any::<u64>(), 0u8..5), 0..40),
        ) {
            let mask = |(_, a, b, how): &(u64, u64, u64, u8)| match how {
                0 => 0,
                1 => u64::MAX,
                2 => a | b,
                3 => a & b,
                _ => *a,
            };
            let masks: Vec<u64> = words.iter().map(mask).collect();
            let bits: Vec<u64> = words.iter().map(|word| word.0).collect();
            let portable = select_words_with(&bits, &masks, gather);
            prop_assert_eq!(select_words(&bits, &masks), portable);
        }
    }
}
