//! Forms of strings and bytes: plain, coded with symbols, compressed in chunks or one by one.

use std::ops::Range;
use std::sync::Arc;

use super::cost::{Cost, Work};
use super::sample::{Compressed, compressed_forms, with_overhead};
use super::{Considered, Draft, general};
use crate::codec::fsst::{TABLE_BYTES, Trained};
use crate::codec::{Encoding, Scheme, Values, VariableValues, per_value};
use crate::error::Result;
use crate::options::{Compression, Profile, Settings};
use crate::page::mini_block::encode::ChunkSize;
use crate::page::rules::Rules;

/// Fewer bytes of strings are not worth a symbol table, which takes 2 KiB.
const SYMBOLS_FROM_BYTES: usize = 8 << 10;
/// Symbol tables that are trained for a large page, each on other values; the best is taken.
const ATTEMPTS: usize = 5;
/// Codes that are not shorter than this part of the values do not pay.
const NOISE: f64 = 0.95;
/// Pieces of values for training and for trying, and bytes of one.
const TRAIN_PIECES: usize = 2048;
const TEST_PIECES: usize = 1024;
const PIECE_BYTES: usize = 128;
/// Most values of a chunk.
const MAX_VALUES: usize = 4096;
/// Shorter values do not compress one by one.
const PER_VALUE_FROM_BYTES: usize = 256;
/// Values that are tried one by one, and how much of each: the start of a longer one tells enough, and
/// takes no copy of the whole.
const PER_VALUE_SAMPLE: usize = 64;
const PER_VALUE_BYTES: usize = 1 << 20;

/// Time to step from a row to the next.
const ROW_NS: f64 = 10.0;

/// A symbol table and what it makes of the values.
#[derive(Debug)]
pub(super) struct Symbols {
    trained: Trained,
    /// Coded bytes for a byte of values.
    pub(super) ratio: f64,
}

impl Symbols {
    /// Trains a table and tries it on a part of the values; `None` where it is not wanted or does
    /// not pay.
    pub(super) fn train(values: &VariableValues, settings: &Settings) -> Result<Option<Self>> {
        let asked = settings.options.compression == Some(Compression::Fsst);
        let allowed = asked || settings.options.compression.is_none();
        let bytes = values.bytes.len();
        if !allowed || bytes == 0 || (bytes < SYMBOLS_FROM_BYTES && !asked) {
            return Ok(None);
        }
        let test = Self::pieces(values, TEST_PIECES, 1);
        let before: usize = test.iter().map(|piece| piece.len()).sum();
        let mut best: Option<Self> = None;
        // One sample shows all there is of a small page.
        let attempts = if bytes <= TRAIN_PIECES * PIECE_BYTES { 1 } else { ATTEMPTS };
        for attempt in 0..attempts {
            let trained = Trained::train(Self::pieces(values, TRAIN_PIECES, attempt).into_iter());
            let (mut coded, mut ends) = (Vec::new(), Vec::new());
            trained.encode_values(&test, &mut coded, &mut ends);
            let ratio = coded.len() as f64 / before.max(1) as f64;
            if best.as_ref().is_none_or(|best| ratio < best.ratio) {
                best = Some(Self { trained, ratio });
            }
            // Other values of the same noise make no better symbols.
            if ratio >= NOISE {
                break;
            }
        }
        Ok(best.filter(|best| asked || best.ratio < NOISE))
    }

    /// At most `count` pieces of values, spread evenly over the bytes, so that nulls and empty values
    /// are no matter; each attempt has others. Long values are cut: many short pieces show more of
    /// the values than a few long ones.
    fn pieces(values: &VariableValues, count: usize, attempt: usize) -> Vec<&[u8]> {
        let total = values.bytes.len();
        let step = total.div_ceil(count).max(1);
        let mut pieces = Vec::with_capacity(count);
        let mut at = attempt * step / ATTEMPTS;
        while let Some(span) = values.span_at(at) {
            let start = at - (at - span.start) % PIECE_BYTES;
            let end = span.end.min(start + PIECE_BYTES);
            pieces.extend(values.bytes.get(start..end));
            at = end.max(at + step);
        }
        pieces
    }

    /// All values, coded.
    pub(super) fn encode(&self, values: &VariableValues) -> Result<VariableValues> {
        let all = (0..values.len()).map(|i| values.value(i)).collect::<Result<Vec<_>>>()?;
        let (mut bytes, mut ends) = (Vec::new(), Vec::new());
        self.trained.encode_values(&all, &mut bytes, &mut ends);
        // There was room for twice the bytes of the values.
        bytes.shrink_to_fit();
        VariableValues::from_ends(bytes, &ends, values.offsets.bits())
    }

    pub(super) fn encoding(&self, plain: &Encoding) -> Encoding {
        let table = Arc::new(self.trained.table.clone());
        Encoding::Fsst { table, values: Box::new(plain.clone()) }
    }
}

/// Strings as they are, in chunks.
pub(super) fn plain_form(values: &VariableValues, settings: &Settings) -> (Draft, Cost) {
    let raw = values.size_bytes();
    let plain = Encoding::Variable { offset_bits: values.offsets.bits() };
    in_plain_chunks(plain, raw, raw, settings)
}

/// A form without a compressor, which stores `raw` bytes of values in `stored` bytes.
fn in_plain_chunks(
    encoding: Encoding,
    raw: usize,
    stored: usize,
    settings: &Settings,
) -> (Draft, Cost) {
    let target_bytes = settings.plain_chunk_bytes();
    let num_chunks = stored.div_ceil(target_bytes * 3 / 4);
    let work = Work { raw: raw as f64, unpacked: 0.0, num_units: num_chunks as f64 };
    let cost = Cost::of(&encoding, with_overhead(stored, num_chunks), work);
    let chunk_size = ChunkSize { target_bytes, max_values: MAX_VALUES };
    (Draft::Chunks { encoding, chunk_size }, cost)
}

/// Forms in chunks, with their costs.
pub(super) fn chunk_forms(
    values: &Values,
    symbols: Option<&Symbols>,
    settings: &Settings,
    rules: Rules,
) -> Result<Vec<(Draft, Cost)>> {
    let Values::Variable(variable) = values else { return Ok(Vec::new()) };
    let plain = Encoding::Variable { offset_bits: variable.offsets.bits() };
    let raw = values.size_bytes();
    let mut forms = Vec::new();
    if settings.options.compression != Some(Compression::Fsst) || symbols.is_none() {
        forms.push(plain_form(variable, settings));
    }
    if let Some(symbols) = symbols {
        let coded = variable.bytes.len() as f64 * symbols.ratio;
        let stored = coded as usize + raw - variable.bytes.len();
        let mut form = in_plain_chunks(symbols.encoding(&plain), raw, stored, settings);
        form.1.bytes += TABLE_BYTES as f64;
        forms.push(form);
    }
    let compressed = settings.schemes().into_iter().map(|scheme| Compressed {
        encoding: general(scheme, &plain),
        unpacked: raw as f64,
        targets: settings.general_chunk_bytes(),
    });
    let costs: Vec<Cost> = forms.iter().map(|(_, cost)| *cost).collect();
    let compressed = compressed_forms(compressed.collect(), values, &costs, settings, rules)?;
    forms.extend(compressed.into_iter().map(|form| {
        let Considered { encoding, chunk_size, cost } = form;
        (Draft::Chunks { encoding, chunk_size }, cost)
    }));
    Ok(forms)
}

/// Forms in rows of their own, with their costs; `num_nulls` are null rows.
pub(super) fn row_forms(
    values: &VariableValues,
    symbols: Option<&Symbols>,
    has_nulls: bool,
    settings: &Settings,
) -> Result<Vec<(Draft, Cost)>> {
    let plain = Encoding::Variable { offset_bits: values.offsets.bits() };
    let raw = values.bytes.len() as f64;
    // A length, a control word and an offset in the index.
    let overhead = values.len() as f64 * (values.offsets.bits() as f64 / 8.0 + 5.0);
    let mut forms = Vec::new();
    let num_units = values.len() as f64;
    let mut add = |encoding: Encoding, stored: f64| {
        let work = Work { raw, unpacked: raw, num_units };
        let mut cost = Cost::of(&encoding, stored + overhead, work);
        cost.scan_ns += num_units * ROW_NS;
        forms.push((Draft::Rows(encoding), cost));
    };
    if settings.options.compression != Some(Compression::Fsst) || symbols.is_none() {
        add(plain.clone(), raw);
    }
    if let Some(symbols) = symbols {
        add(symbols.encoding(&plain), raw * symbols.ratio + TABLE_BYTES as f64);
    }
    let mean = values.bytes.len() / values.len().max(1);
    for (scheme, level) in settings.schemes() {
        // The reference cannot read LZ4 where rows are null.
        let legal = scheme == Scheme::Zstd || !has_nulls;
        if legal && (mean >= PER_VALUE_FROM_BYTES || settings.options.compression.is_some()) {
            let encoding = general((scheme, level), &plain);
            let ratio = per_value_ratio(&encoding, values)?;
            add(encoding, raw * ratio);
        }
    }
    Ok(forms)
}

/// Compressed bytes for a byte of values, learned from some of them.
fn per_value_ratio(encoding: &Encoding, values: &VariableValues) -> Result<f64> {
    let len = values.len();
    let step = len.div_ceil(PER_VALUE_SAMPLE).max(1);
    let mut sample = VariableValues::new(values.offsets.bits());
    let indices: Vec<usize> = (0..len).step_by(step).collect();
    for index in &indices {
        let value = values.value(*index)?;
        sample.push(value.get(..PER_VALUE_BYTES).unwrap_or(value))?;
    }
    let before = sample.bytes.len();
    let sample = Values::Variable(sample);
    let mut out = Vec::new();
    let tried: Range<usize> = 0..indices.len();
    tried.into_iter().try_for_each(|i| per_value::encode_row(encoding, &sample, i, &mut out))?;
    Ok(out.len() as f64 / before.max(1) as f64)
}

/// Whether long values may still be put into chunks: two of them must fit, and a row should not
/// cost too many others.
pub(super) fn may_chunk(values: &VariableValues, longest: usize, settings: &Settings) -> bool {
    let mean = values.bytes.len() / values.len().max(1);
    match settings.profile {
        Profile::Fast => false,
        Profile::Balanced => longest <= 4 << 10 && mean <= 512,
        Profile::Small => longest <= 12 << 10 && mean <= 8 << 10,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_do_not_fall_between_the_values() {
        // Every fourth value has bytes, and a fourth of the pieces is a multiple of four.
        let mut values = VariableValues::new(32);
        for i in 0..TRAIN_PIECES * 8 {
            let text = if i % 4 == 3 { format!("order {i} of many") } else { String::new() };
            values.push(text.as_bytes()).unwrap();
        }
        for attempt in 0..ATTEMPTS {
            let pieces = Symbols::pieces(&values, TRAIN_PIECES, attempt);
            assert!((TRAIN_PIECES / 2..=TRAIN_PIECES).contains(&pieces.len()), "{}", pieces.len());
            assert!(pieces.iter().all(|piece| piece.starts_with(b"order")));
        }
        let symbols = Symbols::train(&values, &Settings::default()).unwrap().unwrap();
        let coded = symbols.encode(&values).unwrap().bytes.len() as f64;
        let told = values.bytes.len() as f64 * symbols.ratio;
        assert!((coded / told - 1.0).abs() < 0.1, "{coded} instead of {told}");
    }

    #[test]
    fn long_values_are_cut_at_their_own_pieces() {
        let mut values = VariableValues::new(64);
        values.push(b"short").unwrap();
        values.push(&[7; 300]).unwrap();
        let lengths: Vec<usize> =
            Symbols::pieces(&values, 1000, 0).iter().map(|piece| piece.len()).collect();
        assert_eq!(lengths, [5, 128, 128, 44]);
    }
}
