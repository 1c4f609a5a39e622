//! What a form takes, learned from encoding a few chunks.

use std::ops::Range;

use crate::codec::{Encoding, Values, mini_block};
use crate::error::Result;
use crate::page::mini_block::encode::ChunkSize;

/// Chunks that are tried.
const CHUNKS: usize = 6;
/// Header, padding and chunk word.
const CHUNK_OVERHEAD: usize = 16;

/// Parts of the page, as large as chunks will be, spread evenly. All of it if that is not much more.
pub(super) fn sample_ranges(values: &Values, chunk_size: ChunkSize) -> Vec<Range<usize>> {
    let len = values.len();
    let mean = (values.size_bytes() / len.max(1)).max(1);
    let count = (chunk_size.target_bytes / mean).clamp(2, chunk_size.max_values);
    let count = if count.is_power_of_two() { count } else { count.next_power_of_two() / 2 };
    let all = len.div_ceil(count);
    let step = if all <= CHUNKS { 1.0 } else { (all - 1) as f64 / (CHUNKS - 1) as f64 };
    let starts = (0..all.min(CHUNKS)).map(|i| (i as f64 * step) as usize * count);
    starts.map(|start| start..(start + count).min(len)).collect()
}

/// Bytes of all chunks of the page, were they like those in `ranges`.
pub(super) fn sampled_bytes(
    encoding: &Encoding,
    values: &Values,
    ranges: &[Range<usize>],
) -> Result<f64> {
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
