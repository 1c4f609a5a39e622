//! Forms of fixed-width values in chunks: flat, packed, runs, split, and compressed over these.

use super::cost::{Cost, Work};
use super::sample::{Compressed, MAX_CHUNK_VALUES, compressed_forms, with_overhead};
use super::{Considered, general};
use crate::codec::{Encoding, FixedValues, Values};
use crate::error::Result;
use crate::measure::{NumberMeasures, entropy_bytes};
use crate::options::{ByteStreamSplit, Compression, Settings};
use crate::page::mini_block::encode::ChunkSize;
use crate::page::rules::Rules;

/// All forms that the values may take under the settings, with their costs.
pub(super) fn number_forms(
    values: &Values,
    measures: Option<NumberMeasures>,
    settings: &Settings,
    rules: Rules,
) -> Result<Vec<Considered>> {
    let Values::Fixed(fixed) = values else { return Ok(Vec::new()) };
    let options = &settings.options;
    let flat = flat_form(fixed, settings);
    if options.compression == Some(Compression::None) {
        return Ok(vec![flat]);
    }
    let split = split_form(fixed, settings);
    let mut forms = match (options.bss, split) {
        (Some(ByteStreamSplit::On), Some(split)) => vec![split],
        (Some(ByteStreamSplit::Off), _) | (_, None) => vec![flat],
        (_, Some(split)) => vec![flat, split],
    };
    if let Some(measures) = measures.filter(|_| options.bss != Some(ByteStreamSplit::On)) {
        forms.extend(packed_form(fixed, measures));
        forms.extend(run_form(fixed, measures, settings));
    }
    let smallest = forms.iter().map(|form| form.cost.bytes).fold(f64::MAX, f64::min);
    if settings.schemes().is_empty() || !may_compress(fixed, smallest, settings) {
        return Ok(forms);
    }
    let mut compressed = Vec::new();
    for scheme in settings.schemes() {
        for inner in &forms {
            let targets = match inner.encoding {
                // A packed chunk has 1,024 values: too few to compress well.
                Encoding::InlineBitpacking { .. } => continue,
                Encoding::Rle { .. } => {
                    vec![inner.chunk_size.max_values * fixed.width_bytes().unwrap_or(1)]
                }
                _ => settings.general_chunk_bytes(),
            };
            let encoding = general(scheme, &inner.encoding);
            compressed.push(Compressed { encoding, unpacked: inner.cost.bytes, targets });
        }
    }
    let plain: Vec<Cost> = forms.iter().map(|form| form.cost).collect();
    forms.extend(compressed_forms(compressed, values, &plain, settings, rules)?);
    Ok(forms)
}

/// Whether a compressor may make so little of the values that it pays beside the `smallest` form
/// without one. Where their bytes are noise it is not tried: repeated values are a dictionary's
/// business.
fn may_compress(values: &FixedValues, smallest: f64, settings: &Settings) -> bool {
    let at_most = settings.compressed_at_most(smallest);
    settings.is_by_size() || entropy_bytes(values).is_none_or(|bytes| bytes < at_most)
}

fn flat_form(values: &FixedValues, settings: &Settings) -> Considered {
    let raw = values.data().len();
    let encoding = Encoding::Flat { bits: values.bits() };
    let target_bytes = settings.plain_chunk_bytes();
    let chunk_size = ChunkSize { target_bytes, max_values: 4096 };
    let num_chunks = raw.div_ceil(target_bytes);
    let cost = Cost::of(&encoding, with_overhead(raw, num_chunks), work(raw, num_chunks));
    Considered { encoding, chunk_size, cost }
}

/// Bytes sorted by their place: shrinks only under a compressor.
fn split_form(values: &FixedValues, settings: &Settings) -> Option<Considered> {
    if !matches!(values.bits(), 32 | 64) {
        return None;
    }
    let flat = flat_form(values, settings);
    let encoding = Encoding::ByteStreamSplit { bits: values.bits() };
    let raw = values.data().len();
    let work = work(raw, raw.div_ceil(settings.plain_chunk_bytes()));
    Some(Considered { cost: Cost::of(&encoding, flat.cost.bytes, work), encoding, ..flat })
}

fn packed_form(values: &FixedValues, measures: NumberMeasures) -> Option<Considered> {
    let raw = values.data().len();
    let encoding = Encoding::InlineBitpacking { bits: values.bits() };
    let chunk_size = ChunkSize { target_bytes: usize::MAX, max_values: 1024 };
    let num_chunks = values.len().div_ceil(1024);
    let bytes = with_overhead(measures.packed_bytes, num_chunks);
    let cost = Cost::of(&encoding, bytes, work(raw, num_chunks));
    (measures.packed_bytes < raw).then_some(Considered { encoding, chunk_size, cost })
}

fn run_form(
    values: &FixedValues,
    measures: NumberMeasures,
    settings: &Settings,
) -> Option<Considered> {
    let (len, raw) = (values.len(), values.data().len());
    let allowed = settings.options.rle_threshold.unwrap_or(1.0) * len as f64;
    if len == 0 || measures.runs as f64 >= allowed {
        return None;
    }
    let word = values.width_bytes().unwrap_or(0) + 1;
    // Runs are cut after 255 values and at the ends of chunks.
    let pieces = measures.runs + if len / measures.runs.max(1) > 64 { len / 255 } else { 0 };
    let stored = pieces * word;
    let values_per_chunk = len.saturating_mul(settings.plain_chunk_bytes()) / stored.max(1);
    let max_values = values_per_chunk.clamp(4096, MAX_CHUNK_VALUES);
    let max_values = 1 << max_values.ilog2();
    let num_chunks = len.div_ceil(max_values);
    let encoding = Encoding::Rle { bits: values.bits() };
    let bytes = with_overhead(stored + num_chunks * (word + 8), num_chunks);
    let cost = Cost::of(&encoding, bytes, work(raw, num_chunks));
    let chunk_size = ChunkSize { target_bytes: usize::MAX, max_values };
    (stored < raw).then_some(Considered { encoding, chunk_size, cost })
}

/// What decoding chunks without a compressor has to do.
fn work(raw: usize, num_chunks: usize) -> Work {
    Work { raw: raw as f64, unpacked: 0.0, num_units: num_chunks as f64 }
}
