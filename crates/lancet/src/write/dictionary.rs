//! Arrow dictionaries of several batches merged into the dictionary of one page.

use std::collections::HashMap;
use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::{AnyDictionaryArray, Array, ArrayRef};

use crate::codec::{FixedValues, KeyType, ValueType, Values};
use crate::error::{Error, Result};
use crate::levels::LeafPiece;
use crate::schema::from_arrow;
use crate::schema::value_type::key_type;

/// The keys and the entries of a dictionary page.
#[derive(Debug)]
pub(super) struct PageDictionary {
    pub(super) keys: Values,
    pub(super) items: Values,
}

impl PageDictionary {
    /// Keys in the column's width into entries in the order of their first use. Null slots get
    /// key 0.
    pub(super) fn build(
        pieces: &[LeafPiece],
        slots: &[(usize, Range<usize>)],
        valid: Option<&[bool]>,
        value_type: &ValueType,
        key_type: KeyType,
    ) -> Result<Self> {
        let mut items = Values::new(value_type);
        let mut positions: HashMap<Vec<u8>, u64> = HashMap::new();
        let mut keys: Vec<u64> = Vec::new();
        // A piece may have many ranges, lists that are null between them; its entries are looked at
        // once.
        for slots in slots.chunk_by(|(before, _), (piece, _)| before == piece) {
            let Some(piece) = slots.first().and_then(|(piece, _)| pieces.get(*piece)) else {
                continue;
            };
            let array = dictionary_of(&piece.values)?;
            let entries = entry_values(array, value_type)?;
            let mut moved: Vec<Option<u64>> = vec![None; entries.len()];
            // Where nothing has a value, there may be no entries at all.
            let normalized = match entries.len() {
                0 => vec![0; array.keys().len()],
                _ => array.normalized_keys(),
            };
            for key in slots.iter().flat_map(|(_, range)| normalized.get(range.clone())).flatten() {
                if valid.is_some_and(|valid| !valid.get(keys.len()).copied().unwrap_or(false)) {
                    keys.push(0);
                    continue;
                }
                let position = match moved.get(*key).copied().flatten() {
                    Some(position) => position,
                    None => {
                        let next = items.len() as u64;
                        let position = *positions.entry(entries.value_bytes(*key)?).or_insert(next);
                        if position == next {
                            items.append_range(&entries, *key..*key + 1)?;
                        }
                        if let Some(moved) = moved.get_mut(*key) {
                            *moved = Some(position);
                        }
                        position
                    }
                };
                keys.push(position);
            }
        }
        Ok(Self { keys: Values::Fixed(narrow(&keys, key_type.bits)), items })
    }
}

fn narrow(keys: &[u64], bits: u64) -> FixedValues {
    let mut out = FixedValues::new(bits);
    let width = out.width_bytes().unwrap_or(8);
    for key in keys {
        out.push(key.to_le_bytes().split_at(width).0);
    }
    out
}

/// Where groups of pieces end so that the entries of each can be numbered by the column's keys.
pub(super) fn ends_of_groups(pieces: &[LeafPiece]) -> Result<Vec<usize>> {
    let mut ends = Vec::new();
    let (mut start, mut entries) = (0, 0_u64);
    for (i, piece) in pieces.iter().enumerate() {
        let more = dictionary_of(&piece.values)?.values().len() as u64;
        let same = i > start && shares_entries(pieces.get(i - 1), piece)?;
        let total = if same { entries } else { entries.saturating_add(more) };
        if i > start
            && key_type(piece.values.data_type()).is_some_and(|keys| total > keys.num_keys())
        {
            ends.push(i);
            (start, entries) = (i, more);
        } else {
            entries = total;
        }
    }
    if start < pieces.len() {
        ends.push(pieces.len());
    }
    Ok(ends)
}

fn shares_entries(before: Option<&LeafPiece>, piece: &LeafPiece) -> Result<bool> {
    let Some(before) = before else { return Ok(false) };
    let (a, b) = (dictionary_of(&before.values)?.values(), dictionary_of(&piece.values)?.values());
    Ok(a.to_data().ptr_eq(&b.to_data()))
}

/// About the bytes that an array is in a page: of a dictionary no more entries than there are rows.
/// Counted as a whole, a dictionary larger than a page would give every row a page of its own.
pub(super) fn page_bytes(array: &ArrayRef) -> u64 {
    let Some(dictionary) = array.as_any_dictionary_opt() else { return slice_bytes(array) };
    let entries = dictionary.values();
    let used = entries.len().min(array.len()) as u128;
    let bytes = u128::from(slice_bytes(entries)) * used / entries.len().max(1) as u128;
    slice_bytes(dictionary.keys()) + u64::try_from(bytes).unwrap_or(u64::MAX)
}

/// The dictionary that a column was given last. Batches often share one: it is counted once.
#[derive(Debug, Default)]
pub(super) struct LastDictionary {
    entries: Option<ArrayRef>,
    bytes: u64,
}

impl LastDictionary {
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Looks at the next array: the bytes of its dictionary if that is another one, and of the one before.
    pub(super) fn replace(&mut self, array: &ArrayRef) -> Option<(u64, u64)> {
        let entries = array.as_any_dictionary_opt()?.values();
        let is_same = |known: &ArrayRef| known.to_data().ptr_eq(&entries.to_data());
        if self.entries.as_ref().is_some_and(is_same) {
            return None;
        }
        self.entries = Some(entries.clone());
        let bytes = slice_bytes(entries);
        Some((bytes, std::mem::replace(&mut self.bytes, bytes)))
    }
}

fn slice_bytes(array: &dyn Array) -> u64 {
    array.to_data().get_slice_memory_size().unwrap_or(0) as u64
}

fn dictionary_of(array: &ArrayRef) -> Result<&dyn AnyDictionaryArray> {
    array
        .as_any_dictionary_opt()
        .ok_or_else(|| Error::invalid(format!("{} is not a dictionary", array.data_type())))
}

fn entry_values(array: &dyn AnyDictionaryArray, value_type: &ValueType) -> Result<Values> {
    let mut values = Values::new(value_type);
    from_arrow::append(&mut values, array.values(), 0..array.values().len())?;
    Ok(values)
}

#[cfg(test)]
#[path = "dictionary_tests.rs"]
mod tests;
