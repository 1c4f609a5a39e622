//! How few bytes a coder of single bytes could make of values: what a compressor can hope for where
//! values do not repeat.

use std::ops::Range;

use crate::codec::FixedValues;

/// Values looked at, and values of one stretch of them.
const SAMPLE: usize = 2048;
const STRETCH: usize = 256;

/// About how many bytes all values take when each of their bytes is coded by how often it occurs at
/// its place, or by how often it differs so much from the byte before, whichever is less. The first
/// serves exponents and codes, the second counters and clocks.
pub(crate) fn entropy_bytes(values: &FixedValues) -> Option<f64> {
    let width = values.width_bytes().filter(|width| (1..=16).contains(width))?;
    let data = values.data();
    let stretches = stretches(values.len());
    let mut bits = 0.0;
    let mut seen = 0;
    for place in 0..width {
        let (mut plain, mut steps) = ([0_u32; 256], [0_u32; 256]);
        seen = 0;
        for stretch in &stretches {
            let part = data.get(stretch.start * width..stretch.end * width).unwrap_or_default();
            let mut before = None;
            for byte in part.iter().skip(place).step_by(width).copied() {
                plain[usize::from(byte)] += 1;
                steps[usize::from(byte.wrapping_sub(before.unwrap_or(byte)))] += 1;
                before = Some(byte);
                seen += 1;
            }
        }
        bits += entropy_bits(&plain).min(entropy_bits(&steps));
    }
    (seen > 0).then(|| bits / 8.0 * values.len() as f64 / f64::from(seen))
}

/// Parts of the page, spread evenly.
fn stretches(len: usize) -> Vec<Range<usize>> {
    if len <= SAMPLE {
        return vec![0..len];
    }
    let count = SAMPLE / STRETCH;
    (0..count).map(|i| i * (len - STRETCH) / (count - 1)).map(|at| at..at + STRETCH).collect()
}

/// Bits of all counted bytes.
fn entropy_bits(counts: &[u32; 256]) -> f64 {
    let total = f64::from(counts.iter().sum::<u32>());
    let counted = counts.iter().filter(|count| **count > 0).map(|count| f64::from(*count));
    counted.map(|count| count * (total / count).log2()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes_per_value(numbers: impl Iterator<Item = u64>) -> f64 {
        let mut values = FixedValues::new(64);
        for number in numbers {
            values.append_flat(&number.to_le_bytes(), 0..1).unwrap();
        }
        entropy_bytes(&values).unwrap() / values.len() as f64
    }

    #[test]
    fn what_repeats_or_counts_takes_next_to_nothing() {
        assert_eq!(bytes_per_value([7; 100].into_iter()), 0.0);
        assert!(bytes_per_value(0..100_000) < 0.1);
        assert!(bytes_per_value((0..10_000).map(|i| i * 3 + (1 << 40))) < 0.2);
    }

    #[test]
    fn noise_takes_its_bits() {
        let noise = |bits: u32| {
            let mut state = 1_u64;
            (0..50_000).map(move |_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                state >> (64 - bits)
            })
        };
        for bits in [4, 10, 20, 60] {
            let bytes = bytes_per_value(noise(bits));
            let expected = f64::from(bits) / 8.0;
            assert!((bytes / expected - 1.0).abs() < 0.08, "{bytes} for {expected}");
        }
    }

    #[test]
    fn nothing_has_no_entropy() {
        assert_eq!(entropy_bytes(&FixedValues::new(64)), None);
        let mut bits = FixedValues::new(1);
        bits.append_bits(&[1], 0..8).unwrap();
        assert_eq!(entropy_bytes(&bits), None);
    }
}
