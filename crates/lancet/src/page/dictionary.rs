//! Dictionary pages: indices into the page's dictionary, to values or to Arrow dictionaries.
//!
//! Plain columns gather the entries. Dictionary columns keep keys; since every page has a
//! dictionary of its own, the entries of all pages of a batch are merged into one.

use std::collections::HashMap;

use super::sink::SinkValues;
use crate::codec::{Dictionary, FixedValues, KeyType, Scratch, Values, is_set};
use crate::error::{Error, Result};

/// What an entry costs beside its bytes: where it went, and its place in the table of positions.
const ENTRY_BYTES: u64 = 80;

/// The values of a dictionary column: keys into one dictionary, whatever pages they came from.
#[derive(Debug)]
pub(crate) struct DictionaryValues {
    pub(crate) keys: FixedValues,
    pub(crate) dictionary: Values,
    /// How many entries the keys can number.
    num_keys: u64,
    /// Where the entries of the page at hand went in `dictionary`.
    moved: Vec<Option<u64>>,
    /// Positions by the bytes of the entry; filled when entries may come twice.
    positions: HashMap<Vec<u8>, u64>,
    /// Whether entries are looked up before they are added. One page has each entry once, as a
    /// rule; where it has more than the keys can number, some of them have to be equal.
    merging: bool,
    num_pages: usize,
}

impl DictionaryValues {
    pub(crate) fn new(keys: KeyType, dictionary: Values) -> Self {
        let (moved, positions) = (Vec::new(), HashMap::new());
        let (num_keys, keys) = (keys.num_keys(), FixedValues::new(keys.bits));
        Self { keys, dictionary, num_keys, moved, positions, merging: false, num_pages: 0 }
    }

    /// Appends null keys.
    pub(crate) fn push_null(&mut self, n: usize) -> Result<()> {
        self.keys.push_zeros(n)
    }

    /// Starts a page with a dictionary of its own.
    fn open_page(&mut self, dictionary: &Values, scratch: &mut Scratch) -> Result<()> {
        let bytes = to_u64(dictionary.len()).saturating_mul(ENTRY_BYTES);
        scratch.claim(bytes, "the entries of a dictionary")?;
        self.moved.clear();
        self.moved.resize(dictionary.len(), None);
        let repeats = self.num_pages > 0 || to_u64(dictionary.len()) > self.num_keys;
        if repeats && !self.merging {
            self.merging = true;
            for position in 0..self.dictionary.len() {
                let bytes = self.dictionary.value_bytes(position)?;
                self.positions.insert(bytes, to_u64(position));
            }
        }
        self.num_pages = self.num_pages.saturating_add(1);
        Ok(())
    }

    /// The key of an entry of the page's dictionary.
    fn key(&mut self, page: &Values, index: usize) -> Result<u64> {
        if let Some(key) = self.moved.get(index).copied().flatten() {
            return Ok(key);
        }
        let next = to_u64(self.dictionary.len());
        let key = if self.merging {
            *self.positions.entry(page.value_bytes(index)?).or_insert(next)
        } else {
            next
        };
        if key == next {
            self.dictionary.append_range(page, index..index.saturating_add(1))?;
        }
        if let Some(moved) = self.moved.get_mut(index) {
            *moved = Some(key);
        }
        Ok(key)
    }

    fn push_key(&mut self, key: u64) -> Result<()> {
        if key >= self.num_keys {
            return Err(Error::invalid(format!(
                "the pages of this batch have more distinct values than {}-bit keys can number; \
                 ask for fewer rows at a time",
                self.keys.bits()
            )));
        }
        let width = self.keys.width_bytes().unwrap_or(0);
        self.keys.push(key.to_le_bytes().get(..width).unwrap_or_default());
        Ok(())
    }
}

/// Announces a page's dictionary to the sink.
pub(crate) fn open_page(
    dictionary: &Values,
    sink: &mut SinkValues,
    scratch: &mut Scratch,
) -> Result<()> {
    match sink {
        SinkValues::Dictionary(values) => values.open_page(dictionary, scratch),
        SinkValues::Plain(_) | SinkValues::Blob(_) => Ok(()),
    }
}

/// Appends the entries that the indices name. `validity` has a bit for each index, if some are null;
/// the index of a null slot means nothing.
pub(crate) fn append(
    dictionary: &Dictionary,
    indices: &FixedValues,
    validity: Option<&[u8]>,
    sink: &mut SinkValues,
    scratch: &mut Scratch,
) -> Result<()> {
    match sink {
        SinkValues::Plain(values) => values.gather(dictionary, indices, validity, scratch),
        SinkValues::Dictionary(values) => {
            for slot in 0..indices.len() {
                let valid = validity.is_none_or(|bits| is_set(bits, slot));
                let key = match indices.unsigned(slot) {
                    Some(index) if valid => {
                        let found = usize::try_from(index).ok().filter(|i| *i < dictionary.len());
                        let Some(index) = found else {
                            let len = dictionary.len();
                            let rule = format!("index {index} into a dictionary of {len} items");
                            return Err(Error::corrupt(rule));
                        };
                        values.key(&dictionary.items, index)?
                    }
                    _ => 0,
                };
                values.push_key(key)?;
            }
            Ok(())
        }
        SinkValues::Blob(_) => Err(Error::corrupt("a dictionary in a blob column")),
    }
}

fn to_u64(n: usize) -> u64 {
    u64::try_from(n).unwrap_or(u64::MAX)
}

#[cfg(test)]
#[path = "dictionary_tests.rs"]
mod tests;
