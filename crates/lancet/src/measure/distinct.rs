//! How many different values there are, from those that a sample meets twice.

use std::ops::Range;

use crate::codec::Values;

/// Values looked at: enough to tell 100,000 different values from a million.
const SAMPLE: usize = 4096;
/// Values of one stretch of the sample; neighbours often are alike.
const STRETCH: usize = 64;

/// Bytes by which long values are told apart, together with their length.
const PREFIX: usize = 256;

/// About how many different values there are, assuming that they are equally frequent. Repeats
/// close together make the guess too small, never too large by much.
pub(crate) fn estimate_distinct(values: &Values) -> usize {
    let len = values.len();
    let hashes = sample_hashes(values);
    let (seen, distinct) = (hashes.len(), count_distinct(&hashes));
    if seen == len {
        return distinct;
    }
    let (seen, repeated) = (seen as f64, (seen - distinct) as f64);
    // Of n values drawn from d, about n - n² / 2d are different; exact enough while few repeat.
    if repeated * 4.0 < seen {
        let estimate = seen * seen / (2.0 * repeated.max(0.5));
        return (estimate as usize).min(len);
    }
    solve(seen, distinct as f64).min(len)
}

/// Whether there surely are more than `cap` different values where about `estimate` are guessed.
pub(crate) fn has_more_distinct(values: &Values, estimate: usize, cap: usize) -> bool {
    // All values of a small page are looked at; of others the estimate may be off.
    let slack = if values.len() <= SAMPLE { 1 } else { 4 };
    estimate / slack > cap
}

/// How many of some numbers are different, by a table in which every other place stays free.
fn count_distinct(hashes: &[u64]) -> usize {
    let places = (2 * hashes.len()).next_power_of_two();
    let mut table = vec![0_u64; places];
    let mut distinct = 0;
    for hash in hashes {
        // Zero is the mark of a free place.
        let hash = (*hash).max(1);
        let mut place = hash as usize & (places - 1);
        while table[place] != 0 && table[place] != hash {
            place = (place + 1) & (places - 1);
        }
        distinct += usize::from(table[place] == 0);
        table[place] = hash;
    }
    distinct
}

/// The `d` with `distinct = d (1 - exp(-seen / d))`, by halving.
fn solve(seen: f64, distinct: f64) -> usize {
    let (mut low, mut high) = (distinct, seen * seen);
    for _ in 0..40 {
        let middle = (low + high) / 2.0;
        let expected = middle * (1.0 - (-seen / middle).exp());
        if expected < distinct { low = middle } else { high = middle }
    }
    // Halving ends a little above the solution: where all values were met, that is their number.
    high.round() as usize
}

/// Hashes of a sample of the values.
fn sample_hashes(values: &Values) -> Vec<u64> {
    let mut hashes = Vec::with_capacity(values.len().min(SAMPLE));
    for stretch in stretches(values.len()) {
        match values {
            Values::Fixed(fixed) => {
                let bytes = fixed.bytes(stretch).unwrap_or_default();
                let width = fixed.width_bytes().unwrap_or(0).max(1);
                hashes.extend(bytes.chunks_exact(width).map(hash_bytes));
            }
            Values::Variable(variable) => {
                hashes.extend(stretch.filter_map(|i| variable.value(i).ok()).map(|value| {
                    let start = value.get(..PREFIX).unwrap_or(value);
                    hash_bytes(start) ^ value.len() as u64
                }));
            }
            _ => {}
        }
    }
    hashes
}

/// Parts of the values, spread evenly.
fn stretches(len: usize) -> impl Iterator<Item = Range<usize>> {
    let count = if len <= SAMPLE { 1 } else { SAMPLE / STRETCH };
    let stretch = if len <= SAMPLE { len } else { STRETCH };
    (0..count).map(move |i| {
        let start = i * (len - stretch) / (count - 1).max(1);
        start..start + stretch
    })
}

/// A quick hash. Not safe against chosen collisions: who uses it limits what they cost.
pub(crate) fn hash_bytes(bytes: &[u8]) -> u64 {
    const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;
    let (words, rest) = bytes.as_chunks::<8>();
    let mut hash = bytes.len() as u64;
    for word in words {
        hash = (hash.rotate_left(23) ^ u64::from_le_bytes(*word)).wrapping_mul(MULTIPLIER);
    }
    let mut last = [0; 8];
    last.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
    hash = hash.rotate_left(23) ^ u64::from_le_bytes(last);
    (hash ^ (hash >> 32)).wrapping_mul(MULTIPLIER)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::FixedValues;

    fn numbers(values: impl Iterator<Item = u64>) -> Values {
        Values::Fixed(FixedValues::from_words(values))
    }

    fn scattered(n: u64, distinct: u64) -> Values {
        numbers((0..n).map(|i| hash_bytes(&i.to_le_bytes()) % distinct))
    }

    #[test]
    fn estimates_are_near() {
        for distinct in [3, 100, 3000, 20_000, 100_000] {
            let estimate = estimate_distinct(&scattered(1 << 19, distinct)) as f64;
            let ratio = estimate / distinct as f64;
            assert!((0.6..1.7).contains(&ratio), "{estimate} for {distinct}");
        }
        assert!(estimate_distinct(&numbers(0..1 << 19)) > 1 << 18);
    }

    #[test]
    fn values_that_were_all_met_are_counted() {
        for distinct in [1, 2, 4, 16, 256] {
            assert_eq!(estimate_distinct(&scattered(1 << 19, distinct)) as u64, distinct);
        }
    }

    #[test]
    fn few_values_are_counted() {
        assert_eq!(estimate_distinct(&scattered(4000, 100)), 100);
        assert_eq!(count_distinct(&[0, 1 << 60, 5, 5 + 64, 5 + 128, 5, 69, 1 << 60]), 5);
        assert_eq!(estimate_distinct(&numbers([].into_iter())), 0);
        assert_eq!(estimate_distinct(&numbers([7].into_iter())), 1);
    }
}
