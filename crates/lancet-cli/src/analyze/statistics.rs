//! What is known of a column before anything is encoded.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use arrow_array::{Array, ArrayRef};

use super::memory::value_bytes;
use crate::keys::Keys;

/// Statistics of the rows that were looked at.
#[derive(Debug, Default, PartialEq)]
pub struct Statistics {
    pub rows: u64,
    pub nulls: u64,
    /// Bytes of the values in memory.
    pub bytes: u64,
    /// Different values in the whole column, estimated from the sample; none for types whose values
    /// are not compared.
    pub distinct: Option<u64>,
    /// Rows of equal value in a row, on average.
    pub run_length: Option<f64>,
    /// Bits that hold every number, as the file packs them.
    pub bit_width: Option<u32>,
}

impl Statistics {
    /// Measures a column of which `file_rows` rows exist.
    pub fn of(array: &ArrayRef, file_rows: u64) -> Self {
        let rows = array.len() as u64;
        let mut statistics = Self {
            rows,
            nulls: array.logical_nulls().map_or(0, |nulls| nulls.null_count() as u64),
            bytes: value_bytes(array),
            bit_width: bit_width(array),
            ..Self::default()
        };
        let Ok(keys) = Keys::new(array.as_ref()) else { return statistics };
        let (counts, runs) = count(&keys, array.len());
        if runs > 0 {
            statistics.run_length = Some(rows as f64 / runs as f64);
        }
        statistics.distinct = Some(estimate_distinct(&counts, rows, file_rows));
        statistics
    }
}

/// How often each value occurs, by its hash, and how many runs there are.
fn count(keys: &Keys<'_>, rows: usize) -> (HashMap<u64, u32>, u64) {
    let state = RandomState::new();
    let mut counts = HashMap::new();
    let (mut runs, mut last) = (0, None);
    let mut key = Vec::new();
    for row in 0..rows {
        key.clear();
        keys.write(row, &mut key);
        let hash = state.hash_one(&key);
        *counts.entry(hash).or_insert(0_u32) += 1;
        runs += u64::from(last != Some(hash));
        last = Some(hash);
    }
    (counts, runs)
}

/// Values that occur once in the sample stand for as many as the sample is short of; the others
/// are taken to be all there are. (The guaranteed-error estimator of Charikar and others.)
fn estimate_distinct(counts: &HashMap<u64, u32>, rows: u64, file_rows: u64) -> u64 {
    let once = counts.values().filter(|count| **count == 1).count() as f64;
    let more = counts.len() as f64 - once;
    let scale = (file_rows as f64 / rows.max(1) as f64).max(1.0).sqrt();
    ((once * scale + more).round() as u64).min(file_rows.max(rows))
}

fn bit_width(array: &ArrayRef) -> Option<u32> {
    let width = array.data_type().primitive_width().filter(|width| *width <= 8)?;
    if array.data_type().is_floating() {
        return None;
    }
    let data = array.to_data();
    let values = data.buffers().first()?.as_slice().chunks_exact(width).skip(data.offset());
    let mut all = 0_u64;
    for (index, value) in values.take(data.len()).enumerate() {
        if data.is_valid(index) {
            let word = value.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
            all |= word;
        }
    }
    Some(u64::BITS - all.leading_zeros())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{Int16Array, Int32Array, StringArray};

    use super::*;

    #[test]
    fn numbers() {
        let array: ArrayRef = Arc::new(Int32Array::from(vec![Some(1), Some(1), None, Some(6)]));
        let found = Statistics::of(&array, 4);
        assert_eq!((found.rows, found.nulls, found.distinct), (4, 1, Some(3)));
        assert_eq!((found.run_length, found.bit_width), (Some(4.0 / 3.0), Some(3)));
        let negative: ArrayRef = Arc::new(Int16Array::from(vec![-1, 5]).slice(0, 1));
        assert_eq!(bit_width(&negative), Some(16));
    }

    #[test]
    fn distinct_values_grow_with_those_seen_once() {
        let text = |i: usize| format!("{}", i.min(50));
        let array: ArrayRef = Arc::new((0..100).map(|i| Some(text(i))).collect::<StringArray>());
        assert_eq!(Statistics::of(&array, 100).distinct, Some(51));
        // 50 values occur once: four times the rows, twice as many of them.
        assert_eq!(Statistics::of(&array, 400).distinct, Some(101));
    }
}
