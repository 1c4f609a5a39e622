//! The different values of a dictionary column, all pages together.
//!
//! Every page has a dictionary of its own, so each of them can be written whatever the others hold.
//! But an Arrow array has one dictionary: a column with more values than its keys can number cannot
//! be read as a whole, by nobody.

use std::collections::HashSet;

use xxhash_rust::xxh3::xxh3_128;

use crate::codec::{KeyType, Values};
use crate::error::{Error, Result};

/// Wider keys are not watched: memory runs out before they do.
const MAX_BITS: u64 = 16;

/// The entries of a page. Values are told apart by their hashes, so long ones take no memory.
#[derive(Debug, Default)]
pub(super) struct PageEntries {
    hashes: Vec<u128>,
}

impl PageEntries {
    /// Adds the entries of a dictionary.
    pub(super) fn add(&mut self, items: &Values, keys: KeyType) -> Result<()> {
        if keys.bits > MAX_BITS {
            return Ok(());
        }
        for position in 0..items.len() {
            self.hashes.push(xxh3_128(&items.value_bytes(position)?));
        }
        Ok(())
    }
}

/// What the pages of a column have held so far.
#[derive(Debug, Default)]
pub(super) struct ColumnEntries {
    seen: HashSet<u128>,
}

impl ColumnEntries {
    /// Adds the entries of a page; refuses what `keys` cannot number.
    pub(super) fn add(&mut self, page: PageEntries, keys: KeyType, column: &str) -> Result<()> {
        self.seen.extend(page.hashes);
        if keys.bits > MAX_BITS || self.seen.len() as u64 <= keys.num_keys() {
            return Ok(());
        }
        let (most, bits) = (keys.num_keys(), keys.bits);
        let sign = if keys.signed { "" } else { "U" };
        Err(Error::invalid(format!(
            "column `{column}` has more than {most} different values, which is all that the \
             {sign}Int{bits} keys of its dictionaries can number: cast it to a dictionary with \
             wider keys (Int{}), or to the type of its values",
            bits.saturating_mul(2)
        )))
    }
}

#[cfg(test)]
#[path = "entries_tests.rs"]
mod tests;
