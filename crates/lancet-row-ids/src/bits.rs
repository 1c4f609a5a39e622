//! Bits in words, lowest first.

use crate::index;

/// Words between two entries of a bitmap's directory.
pub(crate) const BLOCK: usize = 32;

pub(crate) fn count_ones(words: &[u64]) -> u64 {
    words.iter().fold(0, |ones, word| ones.wrapping_add(word.count_ones().into()))
}

/// A word whose lowest `bits` bits are set.
pub(crate) fn low_bits(bits: u64) -> u64 {
    if bits >= 64 { u64::MAX } else { !(u64::MAX << bits) }
}

/// The place of the set bit with `before` set bits below it: halves the word by their counts.
pub(crate) fn select_bit(mut word: u64, mut before: u64) -> u64 {
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
pub(crate) fn set_bits(words: &mut [u64], first: u64, last: u64) {
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
}
