//! Forms of fixed-width values in chunks: flat, packed, runs, split, and compressed over these.

use super::cost::{Cost, decode_ns};
use super::sample::{MAX_CHUNK_VALUES, best_chunk_size, with_overhead};
use super::{Considered, general};
use crate::codec::{Encoding, FixedValues, Values};
use crate::error::Result;
use crate::measure::NumberMeasures;
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
    let mut compressed = Vec::new();
    let targets = settings.general_chunk_bytes();
    for scheme in settings.schemes() {
        for inner in &forms {
            let encoding = general(scheme, &inner.encoding);
            let (chunk_size, bytes) = match inner.encoding {
                // A packed chunk has 1,024 values: too few to compress well.
                Encoding::InlineBitpacking { .. } => continue,
                Encoding::Rle { .. } => {
                    let target = inner.chunk_size.max_values * fixed.width_bytes().unwrap_or(1);
                    best_chunk_size(&encoding, values, &[target], rules)?
                }
                _ => best_chunk_size(&encoding, values, &targets, rules)?,
            };
            let decode_ns = decode_ns(&encoding, fixed.data.len() as f64, inner.cost.bytes);
            compressed.push(Considered { encoding, chunk_size, cost: Cost { bytes, decode_ns } });
        }
    }
    forms.append(&mut compressed);
    Ok(forms)
}

fn flat_form(values: &FixedValues, settings: &Settings) -> Considered {
    let raw = values.data.len();
    let encoding = Encoding::Flat { bits: values.bits };
    let target_bytes = settings.plain_chunk_bytes();
    let chunk_size = ChunkSize { target_bytes, max_values: 4096 };
    let decode_ns = decode_ns(&encoding, raw as f64, 0.0);
    let bytes = with_overhead(raw, raw.div_ceil(target_bytes));
    Considered { encoding, chunk_size, cost: Cost { bytes, decode_ns } }
}

/// Bytes sorted by their place: shrinks only under a compressor.
fn split_form(values: &FixedValues, settings: &Settings) -> Option<Considered> {
    if !matches!(values.bits, 32 | 64) {
        return None;
    }
    let flat = flat_form(values, settings);
    let encoding = Encoding::ByteStreamSplit { bits: values.bits };
    let decode_ns = decode_ns(&encoding, values.data.len() as f64, 0.0);
    Some(Considered { encoding, cost: Cost { decode_ns, ..flat.cost }, ..flat })
}

fn packed_form(values: &FixedValues, measures: NumberMeasures) -> Option<Considered> {
    let raw = values.data.len();
    let encoding = Encoding::InlineBitpacking { bits: values.bits };
    let chunk_size = ChunkSize { target_bytes: usize::MAX, max_values: 1024 };
    let bytes = with_overhead(measures.packed_bytes, values.len.div_ceil(1024));
    let decode_ns = decode_ns(&encoding, raw as f64, 0.0);
    (measures.packed_bytes < raw).then_some(Considered {
        encoding,
        chunk_size,
        cost: Cost { bytes, decode_ns },
    })
}

fn run_form(
    values: &FixedValues,
    measures: NumberMeasures,
    settings: &Settings,
) -> Option<Considered> {
    let (len, raw) = (values.len, values.data.len());
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
    let encoding = Encoding::Rle { bits: values.bits };
    let decode_ns = decode_ns(&encoding, raw as f64, 0.0);
    let bytes = with_overhead(stored + num_chunks * (word + 8), num_chunks);
    (stored < raw).then_some(Considered {
        encoding,
        chunk_size: ChunkSize { target_bytes: usize::MAX, max_values },
        cost: Cost { bytes, decode_ns },
    })
}
