//! What a form takes, learned from encoding a few chunks.

use std::ops::Range;

use super::Considered;
use super::cost::{Cost, Work};
use crate::codec::{Encoding, Values, mini_block};
use crate::error::{Error, Result};
use crate::options::{Profile, Settings};
use crate::page::mini_block::encode::ChunkSize;
use crate::page::rules::Rules;

/// Chunks that are tried, at first and at most, and bytes of values that suffice before.
const PROBE_CHUNKS: usize = 3;
const CHUNKS: usize = 6;
const ENOUGH_BYTES: usize = 256 << 10;
/// The most values of a chunk that the format allows.
pub(super) const MAX_CHUNK_VALUES: usize = 1 << 15;
/// Header, padding and chunk word.
const CHUNK_OVERHEAD: usize = 16;
/// Chunks of another size make no form better by more than this.
const NEAR: f64 = 1.25;

/// A form under a general compressor, before its chunks have a size.
#[derive(Debug)]
pub(super) struct Compressed {
    pub(super) encoding: Encoding,
    /// Bytes of the page before they are compressed.
    pub(super) unpacked: f64,
    /// Chunk sizes to try.
    pub(super) targets: Vec<usize>,
}

/// Compressed forms with their costs. All are tried in chunks of one size; what then is cheapest,
/// and not far behind the `plain` forms, is tried in all sizes. Where size is all that counts, all are.
pub(super) fn compressed_forms(
    forms: Vec<Compressed>,
    values: &Values,
    plain: &[Cost],
    settings: &Settings,
    rules: Rules,
) -> Result<Vec<Considered>> {
    let to_beat = plain.iter().map(|cost| settings.score(*cost)).fold(f64::MAX, f64::min);
    let smallest = plain.iter().map(|cost| cost.bytes).fold(f64::MAX, f64::min);
    let trial = Trial { values, settings, rules, at_most: settings.compressed_at_most(smallest) };
    if settings.profile == Profile::Small {
        return forms.iter().map(|form| trial.in_best_chunks(form)).collect();
    }
    let probe = |form: &Compressed| {
        let middle = form.targets.get(form.targets.len() / 2).copied();
        trial.in_chunks(form, middle.unwrap_or(4096), PROBE_CHUNKS).map(|(form, _)| form)
    };
    let mut probed = forms.iter().map(probe).collect::<Result<Vec<_>>>()?;
    let scores = probed.iter().map(|form| settings.score(form.cost)).enumerate();
    if let Some((cheapest, score)) = scores.min_by(|a, b| a.1.total_cmp(&b.1))
        && score < to_beat * NEAR
        && let Some((form, place)) = forms.get(cheapest).zip(probed.get_mut(cheapest))
    {
        *place = trial.in_best_chunks(form)?;
    }
    Ok(probed)
}

/// What is tried, and by which rules.
struct Trial<'a> {
    values: &'a Values,
    settings: &'a Settings,
    rules: Rules,
    /// Bytes of a form that may be taken.
    at_most: f64,
}

impl Trial<'_> {
    /// A form in the cheapest of several chunk sizes.
    fn in_best_chunks(&self, form: &Compressed) -> Result<Considered> {
        let mut cheapest: Option<(f64, Considered)> = None;
        for target_bytes in &form.targets {
            let (considered, fits) = self.in_chunks(form, *target_bytes, CHUNKS)?;
            let score = self.settings.score(considered.cost);
            if cheapest.as_ref().is_none_or(|(before, _)| fits && score < *before) {
                cheapest = Some((score, considered));
            }
        }
        let cheapest = cheapest.map(|(_, considered)| considered);
        cheapest.ok_or_else(|| Error::invalid("no chunk size to choose from"))
    }

    /// A form in chunks of one size, and whether they fit.
    fn in_chunks(
        &self,
        form: &Compressed,
        target_bytes: usize,
        max_chunks: usize,
    ) -> Result<(Considered, bool)> {
        let Compressed { encoding, unpacked, .. } = form;
        let chunk_size = ChunkSize { target_bytes, max_values: MAX_CHUNK_VALUES };
        let ranges = sample_ranges(self.values, chunk_size, max_chunks);
        let bytes = sampled_bytes(encoding, self.values, &ranges)?;
        let chunk_values = ranges.first().map_or(1, Range::len).max(1);
        let num_units = self.values.len() as f64 / chunk_values as f64;
        // Chunks that turn out too large are encoded again in halves.
        let fits = bytes / num_units.max(1.0) < 0.8 * self.rules.max_chunk_bytes as f64;
        let raw = self.values.size_bytes() as f64;
        let work = Work { raw, unpacked: *unpacked, num_units };
        let is_refused = bytes > self.at_most;
        let cost = Cost { is_refused, ..Cost::of(encoding, bytes, work) };
        Ok((Considered { encoding: encoding.clone(), chunk_size, cost }, fits))
    }
}

/// Parts of the page, as large as chunks will be, spread evenly. All of it if that is not much more.
fn sample_ranges(values: &Values, chunk_size: ChunkSize, max_chunks: usize) -> Vec<Range<usize>> {
    let len = values.len();
    let mean = (values.size_bytes() / len.max(1)).max(1);
    let count = (chunk_size.target_bytes / mean).clamp(2, chunk_size.max_values);
    let count = if count.is_power_of_two() { count } else { count.next_power_of_two() / 2 };
    let all = len.div_ceil(count);
    let tried = (ENOUGH_BYTES / (count * mean)).clamp(PROBE_CHUNKS, max_chunks);
    let step = if all <= tried { 1.0 } else { (all - 1) as f64 / (tried - 1) as f64 };
    let starts = (0..all.min(tried)).map(|i| (i as f64 * step) as usize * count);
    starts.map(|start| start..(start + count).min(len)).collect()
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
        Values::Fixed(FixedValues::from_words(0..n as u32))
    }

    #[test]
    fn samples_reach_both_ends() {
        let size = ChunkSize { target_bytes: 4096, max_values: 4096 };
        let ranges = sample_ranges(&numbers(100_000), size, CHUNKS);
        assert_eq!(ranges.len(), CHUNKS);
        assert_eq!((ranges[0].clone(), ranges[CHUNKS - 1].end), (0..1024, 100_000));
        assert_eq!(sample_ranges(&numbers(1500), size, CHUNKS), [0..1024, 1024..1500]);
        assert_eq!(sample_ranges(&numbers(0), size, CHUNKS), []);
    }

    #[test]
    fn the_sample_is_scaled() {
        let values = numbers(102_400);
        let size = ChunkSize { target_bytes: 4096, max_values: 4096 };
        let flat = Encoding::Flat { bits: 32 };
        let bytes = sampled_bytes(&flat, &values, &sample_ranges(&values, size, CHUNKS)).unwrap();
        assert_eq!(bytes, with_overhead(409_600, 100));
    }
}
