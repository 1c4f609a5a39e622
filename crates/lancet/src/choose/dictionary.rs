//! Dictionaries: each different value once, and an index for each value.
//!
//! Entries are sorted: neighbours are alike, so they compress well, and indices keep the order of
//! the values. Indices are as narrow as the number of entries allows.

use super::cost::{COPY_NS, Cost, GATHER_NS};
use super::numbers::number_forms;
use super::{Considered, MiniBlockForm, best, general};
use crate::codec::{Encoding, FixedValues, Values, VariableValues, block};
use crate::error::{Error, Result};
use crate::measure::{has_more_distinct, hash_bytes, measure_numbers};
use crate::options::{Compression, Profile, Settings};
use crate::page::rules::Rules;

/// Fewer values are not worth a dictionary.
const MIN_VALUES: usize = 16;
/// Most bytes of entries, unless told.
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
        Values::Fixed(fixed) if plain => matches!(fixed.bits, 64 | 128),
        Values::Fixed(fixed) => matches!(fixed.bits, 16 | 32 | 64 | 128),
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
    let mut out = FixedValues::new(32);
    if let Values::Fixed(fixed) = indices {
        match fixed.bits {
            8 => out.data.to_mut().extend(fixed.data.as_slice().iter().map(|i| u32::from(*i))),
            16 => out
                .data
                .to_mut()
                .extend(fixed.data.typed_data::<u16>().iter().map(|i| u32::from(*i))),
            _ => out.data.to_mut().extend_from_slice(fixed.data.as_slice()),
        }
        out.len = fixed.len;
    }
    Values::Fixed(out)
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
        Values::Fixed(fixed) => Encoding::Flat { bits: fixed.bits },
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
    if !matches!(fixed.bits, 16 | 32 | 64) {
        return None;
    }
    let all = (0..fixed.len).filter_map(|i| fixed.unsigned(i)).fold(0, |all, value| all | value);
    let packed_bits = u64::from(64 - all.leading_zeros());
    Some(match fixed.len {
        0..=1024 => Encoding::InlineBitpacking { bits: fixed.bits },
        _ if packed_bits < fixed.bits => {
            Encoding::OutOfLineBitpacking { bits: fixed.bits, packed_bits }
        }
        _ => return None,
    })
}

/// Sorted entries, and for each value its index among them.
#[derive(Debug)]
struct Built {
    items: Values,
    indices: Values,
}

impl Built {
    /// `None` if there are more than `cap` different values. Null slots repeat the index before.
    fn new(values: &Values, valid: Option<&[bool]>, cap: usize) -> Result<Option<Self>> {
        match values {
            Values::Fixed(fixed) => match fixed.bits {
                16 => Self::of_words(fixed.data.typed_data::<u16>(), cap),
                32 => Self::of_words(fixed.data.typed_data::<u32>(), cap),
                64 => Self::of_words(fixed.data.typed_data::<u64>(), cap),
                _ => {
                    let words = fixed.data.as_slice().as_chunks::<16>().0;
                    let words: Vec<u128> = words.iter().map(|w| u128::from_le_bytes(*w)).collect();
                    Self::of_words(&words, cap)
                }
            },
            Values::Variable(variable) => Self::of_strings(variable, valid, cap),
            _ => Ok(None),
        }
    }

    fn of_words<T: Word>(values: &[T], cap: usize) -> Result<Option<Self>> {
        let mut table = Table::new(cap);
        let mut entries: Vec<T> = Vec::new();
        let mut indices = Vec::with_capacity(values.len());
        let mut last: Option<(T, u32)> = None;
        for value in values {
            let index = match last {
                Some((before, index)) if before == *value => index,
                _ => {
                    let is_entry = |i: u32| entries.get(i as usize) == Some(value);
                    let Some(index) = table.find(value.hash(), is_entry) else { return Ok(None) };
                    if index as usize == entries.len() {
                        entries.push(*value);
                    }
                    index
                }
            };
            last = Some((*value, index));
            indices.push(index);
        }
        let order = sorted(entries.len(), |a, b| entries.get(a).cmp(&entries.get(b)));
        let mut items = FixedValues::new(size_of::<T>() as u64 * 8);
        let in_order = order.iter().filter_map(|i| entries.get(*i as usize));
        in_order.for_each(|value| value.append(&mut items));
        Ok(Some(Self::numbered(Values::Fixed(items), &indices, &order)))
    }

    fn of_strings(
        values: &VariableValues,
        valid: Option<&[bool]>,
        cap: usize,
    ) -> Result<Option<Self>> {
        let mut table = Table::new(cap);
        let mut entries: Vec<&[u8]> = Vec::new();
        let mut indices = Vec::with_capacity(values.len());
        let mut last = 0;
        for i in 0..values.len() {
            if valid.is_none_or(|valid| valid.get(i).copied().unwrap_or(false)) {
                let value = values.value(i)?;
                let is_entry = |i: u32| entries.get(i as usize) == Some(&value);
                let Some(index) = table.find(hash_bytes(value), is_entry) else { return Ok(None) };
                if index as usize == entries.len() {
                    entries.push(value);
                }
                last = index;
            }
            indices.push(last);
        }
        let order = sorted(entries.len(), |a, b| entries.get(a).cmp(&entries.get(b)));
        let mut items = VariableValues::new(values.offsets.bits());
        for entry in order.iter().filter_map(|i| entries.get(*i as usize)) {
            items.push(entry)?;
        }
        Ok(Some(Self::numbered(Values::Variable(items), &indices, &order)))
    }

    /// Indices by the order of the entries, in the narrowest width.
    fn numbered(items: Values, indices: &[u32], order: &[u32]) -> Self {
        let mut rank = vec![0_u32; order.len()];
        for (position, entry) in order.iter().enumerate() {
            if let Some(rank) = rank.get_mut(*entry as usize) {
                *rank = position as u32;
            }
        }
        let ranks = indices.iter().map(|i| rank.get(*i as usize).copied().unwrap_or(0));
        let mut out = FixedValues::new(match order.len() {
            0..=0x100 => 8,
            0x101..=0x1_0000 => 16,
            _ => 32,
        });
        match out.bits {
            8 => out.data.to_mut().extend(ranks.map(|rank| rank as u8)),
            16 => out.data.to_mut().extend(ranks.map(|rank| rank as u16)),
            _ => out.data.to_mut().extend(ranks),
        }
        out.len = indices.len();
        Self { items, indices: Values::Fixed(out) }
    }
}

fn sorted(len: usize, compare: impl Fn(usize, usize) -> std::cmp::Ordering) -> Vec<u32> {
    let mut order: Vec<u32> = (0..len as u32).collect();
    order.sort_unstable_by(|a, b| compare(*a as usize, *b as usize));
    order
}

/// A value that fits a register or two.
trait Word: Copy + Ord {
    fn hash(self) -> u64;
    fn append(self, out: &mut FixedValues);
}

macro_rules! word {
    ($($word:ty),*) => {$(
        impl Word for $word {
            fn hash(self) -> u64 {
                const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
                let folded = (self as u128 as u64) ^ ((self as u128 >> 64) as u64).rotate_left(29);
                // Once is not enough where only the upper bits of the values differ.
                let mixed = (folded ^ (folded >> 32)).wrapping_mul(ODD);
                (mixed ^ (mixed >> 32)).wrapping_mul(ODD)
            }

            fn append(self, out: &mut FixedValues) {
                out.data.to_mut().extend_from_slice(&self.to_le_bytes());
                out.len += 1;
            }
        }
    )*};
}
word!(u16, u32, u64, u128);

/// Entry numbers by hash: open addressing that grows with the entries.
#[derive(Debug)]
struct Table {
    /// Entry number + 1 and the upper half of the hash, which says where to look; 0 is free.
    slots: Vec<(u32, u32)>,
    num_entries: usize,
    cap: usize,
    /// Steps that may still be wasted on collisions, which chosen values could pile up. New entries
    /// earn none, so that a page of different values ends the search early.
    patience: usize,
}

impl Table {
    fn new(cap: usize) -> Self {
        let cap = cap.min(u32::MAX as usize - 1);
        Self { slots: vec![(0, 0); 1024], num_entries: 0, cap, patience: 1 << 16 }
    }

    /// The entry that `is_entry` knows, or the number of a new one. `None` when the table is full.
    fn find(&mut self, hash: u64, is_entry: impl Fn(u32) -> bool) -> Option<u32> {
        let mask = self.slots.len() - 1;
        let tag = (hash >> 32) as u32;
        let mut slot = tag as usize & mask;
        loop {
            let (entry, known) = self.slots.get(slot).copied()?;
            if entry == 0 {
                return self.insert(slot, tag);
            }
            if known == tag && is_entry(entry - 1) {
                self.patience = (self.patience + 4).min(1 << 20);
                return Some(entry - 1);
            }
            self.patience = self.patience.checked_sub(1)?;
            slot = (slot + 1) & mask;
        }
    }

    fn insert(&mut self, slot: usize, tag: u32) -> Option<u32> {
        if self.num_entries == self.cap {
            return None;
        }
        self.num_entries += 1;
        let number = u32::try_from(self.num_entries).ok()?;
        *self.slots.get_mut(slot)? = (number, tag);
        if self.num_entries * 2 > self.slots.len() {
            self.grow();
        }
        Some(number - 1)
    }

    fn grow(&mut self) {
        let len = self.slots.len() * 4;
        let old = std::mem::replace(&mut self.slots, vec![(0, 0); len]);
        for (entry, tag) in old.into_iter().filter(|(entry, _)| *entry != 0) {
            let mut slot = tag as usize & (len - 1);
            while self.slots.get(slot).is_some_and(|(entry, _)| *entry != 0) {
                slot = (slot + 1) & (len - 1);
            }
            if let Some(free) = self.slots.get_mut(slot) {
                *free = (entry, tag);
            }
        }
    }
}

#[cfg(test)]
#[path = "dictionary_tests.rs"]
mod tests;
