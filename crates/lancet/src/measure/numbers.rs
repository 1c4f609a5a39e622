//! Widths and runs of numbers, in one pass over each block of 1,024.

use crate::codec::FixedValues;

/// Values of one packed block.
const BLOCK: usize = 1024;

/// What is known about fixed-width values of 8, 16, 32 or 64 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NumberMeasures {
    /// Bytes when each block of 1,024 is bit-packed to its own width.
    pub(crate) packed_bytes: usize,
    /// Runs of equal values.
    pub(crate) runs: usize,
}

/// Measures numbers; `None` for other widths.
pub(crate) fn measure_numbers(values: &FixedValues) -> Option<NumberMeasures> {
    match values.bits() {
        8 => Some(measure_words(values.data(), 1)),
        16 => Some(measure_words(values.words::<u16>(), 2)),
        32 => Some(measure_words(values.words::<u32>(), 4)),
        64 => Some(measure_words(values.words::<u64>(), 8)),
        _ => None,
    }
}

fn measure_words<T>(values: &[T], word_bytes: usize) -> NumberMeasures
where
    T: Copy + PartialEq + Into<u64> + std::ops::BitOr<Output = T> + Default,
{
    let mut packed_bytes = 0;
    let mut runs = usize::from(!values.is_empty());
    let mut last = values.first().copied().unwrap_or_default();
    for block in values.chunks(BLOCK) {
        let all = block.iter().fold(T::default(), |all, value| all | *value);
        packed_bytes += word_bytes + 128 * (64 - all.into().leading_zeros()) as usize;
        runs += usize::from(block.first().is_some_and(|first| *first != last));
        // Two slices instead of pairs: the compiler makes vectors of it.
        let changed = block.iter().zip(block.get(1..).unwrap_or_default());
        runs += changed.map(|(a, b)| u32::from(a != b)).sum::<u32>() as usize;
        last = block.last().copied().unwrap_or(last);
    }
    NumberMeasures { packed_bytes, runs }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words<T: arrow_buffer::ArrowNativeType>(values: &[T]) -> FixedValues {
        FixedValues::from_words(values.iter().copied())
    }

    #[test]
    fn runs_go_over_blocks() {
        let values: Vec<u32> = (0..5000).map(|i| i / 700).collect();
        let measured = measure_numbers(&words(&values)).unwrap();
        assert_eq!(measured.runs, 8);
        // Widths of the blocks: values up to 1, 2, 4, 5 and 7.
        assert_eq!(measured.packed_bytes, 5 * 4 + 128 * (1 + 2 + 3 + 3 + 3));
        assert_eq!(measure_numbers(&words::<u64>(&[])).unwrap().runs, 0);
        assert_eq!(measure_numbers(&words(&[7_u8])).unwrap().runs, 1);
        assert_eq!(measure_numbers(&words(&[1_i128, 2])), None);
    }

    #[test]
    fn a_changed_value_at_the_edge_of_a_block_starts_a_run() {
        let values: Vec<u16> = (0..2048).map(|i| u16::from(i >= 1024)).collect();
        assert_eq!(measure_numbers(&words(&values)).unwrap().runs, 2);
    }
}
