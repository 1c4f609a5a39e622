//! 64 numbers of 16 bits to 16 words of 64 bits.

use super::WORD;

/// Bits of a number.
pub(crate) const NUMBER_BITS: usize = 16;

/// Word `b` of the result has bit `b` of every number, that of the first one lowest.
///
/// Four numbers stand in a word at first, numbers 16 apart, so that the upper two bits of a number's
/// position are those of its place in the word already. The lower four are the number of the word, and
/// the place in a number are the lower four bits of the place in the word: each round exchanges one
/// pair of them.
pub(crate) fn transpose(numbers: &[u16; WORD]) -> [u64; NUMBER_BITS] {
    let mut words = [0; NUMBER_BITS];
    for (quarter, shift) in numbers.as_chunks::<NUMBER_BITS>().0.iter().zip([0, 16, 32, 48]) {
        for (word, number) in words.iter_mut().zip(quarter) {
            *word |= u64::from(*number).wrapping_shl(shift);
        }
    }
    exchange::<8>(&mut words, 0x00ff_00ff_00ff_00ff);
    exchange::<4>(&mut words, 0x0f0f_0f0f_0f0f_0f0f);
    exchange::<2>(&mut words, 0x3333_3333_3333_3333);
    exchange::<1>(&mut words, 0x5555_5555_5555_5555);
    words
}

/// Exchanges the upper halves of a word's groups with the lower halves of the word `DISTANCE` behind.
#[inline]
fn exchange<const DISTANCE: usize>(words: &mut [u64; NUMBER_BITS], lower: u64) {
    let shift = u32::try_from(DISTANCE).unwrap_or(0);
    for pair in words.chunks_exact_mut(DISTANCE.wrapping_mul(2)) {
        let (first, second) = pair.split_at_mut_checked(DISTANCE).unwrap_or_default();
        for (first, second) in first.iter_mut().zip(second) {
            let differ = (first.wrapping_shr(shift) ^ *second) & lower;
            *first ^= differ.wrapping_shl(shift);
            *second ^= differ;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bit_finds_its_place() {
        for (number, bit) in (0..WORD).flat_map(|n| (0..NUMBER_BITS).map(move |b| (n, b))) {
            let mut numbers = [0; WORD];
            numbers[number] = 1 << bit;
            let mut expected = [0; NUMBER_BITS];
            expected[bit] = 1 << number;
            assert_eq!(transpose(&numbers), expected, "bit {bit} of number {number}");
        }
    }
}
