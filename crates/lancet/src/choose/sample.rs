//! What a form takes, learned from encoding a few chunks.

use std::ops::Range;

use super::Considered;
use super::cost::{Cost, Work};
use crate::codec::{Encoding, Values, mini_block};
use crate::error::{Error, Result};
use crate::options::Settings;
use crate::page::mini_block::encode::ChunkSize;
use crate::page::rules::Rules;

/// Chunks that are tried, and bytes of values that suffice before.
const CHUNKS: usize = 6;
const ENOUGH_BYTES: usize = 256 << 10;
/// The most values of a chunk that the format allows.
pub(super) const MAX_CHUNK_VALUES: usize = 1 << 15;
/// Header, padding and chunk word.
const CHUNK_OVERHEAD: usize = 16;

/// Parts of the page, as large as chunks will be, spread evenly. All of it if that is not much more.
fn sample_ranges(values: &Values, chunk_size: ChunkSize) -> Vec<Range<usize>> {
    let len = values.len();
    let mean = (values.size_bytes() / len.max(1)).max(1);
    let count = (chunk_size.target_bytes / mean).clamp(2, chunk_size.max_values);
    let count = if count.is_power_of_two() { count } else { count.next_power_of_two() / 2 };
    let all = len.div_ceil(count);
    let tried = (ENOUGH_BYTES / (count * mean)).clamp(3, CHUNKS);
    let step = if all <= tried { 1.0 } else { (all - 1) as f64 / (tried - 1) as f64 };
    let starts = (0..all.min(tried)).map(|i| (i as f64 * step) as usize * count);
    starts.map(|start| start..(start + count).min(len)).collect()
}

/// A compressed form in the cheapest of several chunk sizes; `unpacked` are the bytes of the page
/// before they are compressed.
pub(super) fn in_best_chunks(
    encoding: Encoding,
    values: &Values,
    unpacked: f64,
    target_bytes: &[usize],
    settings: &Settings,
    rules: Rules,
) -> Result<Considered> {
    let mut cheapest: Option<(f64, ChunkSize, Cost)> = None;
    for &target_bytes in target_bytes {
        let chunk_size = ChunkSize { target_bytes, max_values: MAX_CHUNK_VALUES };
        let ranges = sample_ranges(values, chunk_size);
        let bytes = sampled_bytes(&encoding, values, &ranges)?;
        let chunk_values = ranges.first().map_or(1, Range::len).max(1);
        let num_units = values.len() as f64 / chunk_values as f64;
        // Chunks that turn out too large are encoded again in halves.
        let fits = bytes / num_units.max(1.0) < 0.8 * rules.max_chunk_bytes as f64;
        let work = Work { raw: values.size_bytes() as f64, unpacked, num_units };
        let cost = Cost::of(&encoding, bytes, work);
        let score = settings.score(cost);
        if cheapest.as_ref().is_none_or(|(before, ..)| fits && score < *before) {
            cheapest = Some((score, chunk_size, cost));
        }
    }
    let (_, chunk_size, cost) =
        cheapest.ok_or_else(|| Error::invalid("no chunk size to choose from"))?;
    Ok(Considered { encoding, chunk_size, cost })
}

/// Bytes of all chunks of the page, were they like those in `ranges`.
fn sampled_bytes(encoding: &Encoding, values: &Values, ranges: &[Range<usize>]) -> Result<f64> {
    let (mut bytes, mut seen, mut buffers) = (0, 0, Vec::new());
    for range in ranges {
        mini_block::encode_chunk(encoding, values, range.clone(), &mut buffers)?;
        bytes += CHUNK_OVERHEAD + buffers.iter().map(Vec::len).sum::<usize>();
        seen += range.len();
    }
    Ok(bytes as f64 * values.len() as f64 / seen.max(1) as f64)
}

/// Bytes of `stored` bytes in chunks, with what each chunk costs besides.
pub(super) fn with_overhead(stored: usize, num_chunks: usize) -> f64 {
    (stored + num_chunks * CHUNK_OVERHEAD) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::FixedValues;

    fn numbers(n: usize) -> Values {
        let mut out = FixedValues::new(32);
        out.data.to_mut().extend((0..n as u32).collect::<Vec<_>>());
        out.len = n;
        Values::Fixed(out)
    }

    #[test]
    fn samples_reach_both_ends() {
        let size = ChunkSize { target_bytes: 4096, max_values: 4096 };
        let ranges = sample_ranges(&numbers(100_000), size);
        assert_eq!(ranges.len(), CHUNKS);
        assert_eq!((ranges[0].clone(), ranges[CHUNKS - 1].end), (0..1024, 100_000));
        assert_eq!(sample_ranges(&numbers(1500), size), [0..1024, 1024..1500]);
        assert_eq!(sample_ranges(&numbers(0), size), []);
    }

    #[test]
    fn the_sample_is_scaled() {
        let values = numbers(102_400);
        let size = ChunkSize { target_bytes: 4096, max_values: 4096 };
        let flat = Encoding::Flat { bits: 32 };
        let bytes = sampled_bytes(&flat, &values, &sample_ranges(&values, size)).unwrap();
        assert_eq!(bytes, with_overhead(409_600, 100));
    }
}
