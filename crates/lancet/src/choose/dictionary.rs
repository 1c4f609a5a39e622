//! Dictionaries: each different value once, and an index for each value.
//!
//! Entries are sorted: neighbours are alike, so they compress well, and indices keep the order of
//! the values. Indices are as narrow as the number of entries allows.

use super::cost::{COPY_NS, Cost, GATHER_NS};
use super::entries::Built;
use super::numbers::number_forms;
use super::{Considered, MiniBlockForm, best, general};
use crate::codec::{Encoding, FixedValues, Values, block};
use crate::error::{Error, Result};
use crate::measure::{has_more_distinct, measure_numbers};
use crate::options::{Compression, Profile, Settings};
use crate::page::rules::Rules;

/// Fewer values are not worth a dictionary.
const MIN_VALUES: usize = 16;
/// Most bytes of entries by default.
const MAX_BYTES: u64 = 8 << 20;

/// A dictionary page that costs less than `to_beat`, if there is one. `distinct` guesses how many
/// different values there are.
pub(super) fn dictionary_form(
    values: &Values,
    valid: Option<&[bool]>,
    settings: &Settings,
    rules: Rules,
    distinct: impl FnOnce() -> usize,
    to_beat: f64,
) -> Result<Option<(MiniBlockForm, Cost)>> {
    let options = &settings.options;
    let (len, raw) = (values.len(), values.size_bytes());
    // Who wants no compression gets dictionaries where the reference has them, too.
    let plain = options.compression == Some(Compression::None);
    let possible = match values {
        Values::Fixed(fixed) if plain => matches!(fixed.bits(), 64 | 128),
        Values::Fixed(fixed) => matches!(fixed.bits(), 16 | 32 | 64 | 128),
        Values::Variable(_) => true,
        _ => false,
    };
    if !possible || len < MIN_VALUES {
        return Ok(None);
    }
    let entry_bytes = raw as f64 / len as f64;
    let to_beat = to_beat.min(raw as f64 * options.dict_size_ratio.unwrap_or(1.0));
    let divisor = usize::try_from(options.dict_divisor.unwrap_or(2)).unwrap_or(usize::MAX);
    let most_bytes = options.dict_max_size.unwrap_or(MAX_BYTES) as f64;
    // However well the indices compress, the entries must not cost more than the other form.
    let most_by_size = to_beat.min(most_bytes) / entry_bytes;
    let cap = (len / divisor).min(most_by_size as usize);
    if cap == 0 || has_more_distinct(values, distinct(), cap) {
        return Ok(None);
    }
    let Some(built) = Built::new(values, valid, cap)? else { return Ok(None) };
    let Built { items, indices } = built;
    if items.size_bytes() as f64 > most_bytes {
        return Ok(None);
    }
    let (items_encoding, items_bytes) = items_form(&items, settings)?;
    let (mut indices, mut chosen) = (indices, None);
    if settings.profile == Profile::Small {
        // The bytes of wide indices can be split, and then the upper ones compress.
        let wide = widened(&indices);
        let narrow = indices_form(&indices, raw, settings, rules)?;
        let split = indices_form(&wide, raw, settings, rules)?;
        if settings.score(split.1) < settings.score(narrow.1) {
            (indices, chosen) = (wide, Some(split));
        } else {
            chosen = Some(narrow);
        }
    }
    let (indices_form, cost) = match chosen {
        Some(chosen) => chosen,
        None => indices_form(&indices, raw, settings, rules)?,
    };
    let cost = cost.plus(Cost { bytes: items_bytes as f64, ..Cost::default() });
    let form = MiniBlockForm {
        encoding: indices_form.encoding,
        chunk_size: indices_form.chunk_size,
        values: Some(indices),
        dictionary: Some((items_encoding, items)),
    };
    let fits = options.dict_size_ratio.is_none_or(|ratio| cost.bytes < raw as f64 * ratio);
    Ok(fits.then_some((form, cost)))
}

/// Indices of 32 bits.
fn widened(indices: &Values) -> Values {
    let Values::Fixed(fixed) = indices else { return Values::Fixed(FixedValues::new(32)) };
    Values::Fixed(match fixed.bits() {
        8 => FixedValues::from_words(fixed.data().iter().map(|i| u32::from(*i))),
        16 => FixedValues::from_words(fixed.words::<u16>().iter().map(|i| u32::from(*i))),
        _ => FixedValues::from_words(fixed.words::<u32>().iter().copied()),
    })
}

/// The form of indices, and the cost of looking them up; values have `raw` bytes.
pub(super) fn indices_form(
    indices: &Values,
    raw: usize,
    settings: &Settings,
    rules: Rules,
) -> Result<(Considered, Cost)> {
    let measures = match indices {
        Values::Fixed(fixed) => measure_numbers(fixed),
        _ => None,
    };
    let forms = number_forms(indices, measures, settings, rules)?;
    let form = best(forms, settings)?;
    let cost = form.cost.plus(lookup_cost(indices.len(), raw));
    Ok((form, cost))
}

/// What it costs to look `len` indices up, where the values have `raw` bytes.
pub(super) fn lookup_cost(len: usize, raw: usize) -> Cost {
    let scan_ns = raw as f64 * COPY_NS + len as f64 * GATHER_NS;
    Cost { scan_ns, ..Cost::default() }
}

/// The cheapest form of the entries, and its bytes. They are decoded once for a page, but before its
/// first value, so that time weighs more than in a scan.
pub(super) fn items_form(items: &Values, settings: &Settings) -> Result<(Encoding, usize)> {
    let plain = match items {
        Values::Fixed(fixed) => Encoding::Flat { bits: fixed.bits() },
        Values::Variable(items) => Encoding::Variable { offset_bits: items.offsets.bits() },
        _ => return Err(Error::unsupported("dictionaries of nested values")),
    };
    let level = settings.options.dict_values_level;
    let schemes = match settings.options.dict_values_compression {
        Some(Compression::None | Compression::Fsst) => Vec::new(),
        Some(Compression::Lz4) => vec![(crate::codec::Scheme::Lz4, None)],
        Some(Compression::Zstd) => vec![(crate::codec::Scheme::Zstd, level)],
        None => settings.entry_schemes(),
    };
    let mut forms = vec![plain.clone()];
    forms.extend(packed_items(items));
    forms.extend(schemes.into_iter().map(|scheme| general(scheme, &plain)));
    let mut cheapest: Option<(f64, Encoding, usize)> = None;
    for encoding in forms {
        let bytes = block::encode_block(&encoding, items)?.len();
        let score = settings.score_entries(&encoding, bytes, items.size_bytes());
        // A few bytes are not worth another step in decoding.
        if cheapest.as_ref().is_none_or(|(before, ..)| score * 1.06 < *before) {
            cheapest = Some((score, encoding, bytes));
        }
    }
    let cheapest = cheapest.map(|(_, encoding, bytes)| (encoding, bytes));
    cheapest.ok_or_else(|| Error::invalid("a dictionary without a form"))
}

/// Entries packed to the width of the largest.
fn packed_items(items: &Values) -> Option<Encoding> {
    let Values::Fixed(fixed) = items else { return None };
    if !matches!(fixed.bits(), 16 | 32 | 64) {
        return None;
    }
    let all = (0..fixed.len()).filter_map(|i| fixed.unsigned(i)).fold(0, |all, value| all | value);
    let packed_bits = u64::from(64 - all.leading_zeros());
    Some(match fixed.len() {
        0..=1024 => Encoding::InlineBitpacking { bits: fixed.bits() },
        _ if packed_bits < fixed.bits() => {
            Encoding::OutOfLineBitpacking { bits: fixed.bits(), packed_bits }
        }
        _ => return None,
    })
}

#[cfg(test)]
#[path = "dictionary_tests.rs"]
pub(super) mod tests;
