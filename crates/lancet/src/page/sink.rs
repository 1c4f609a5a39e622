//! Where pages append what they decode: the values of one leaf and the nesting above them.

use std::sync::Arc;

use crate::bits::Planes;
use crate::codec::{Scratch, Values, size_u64};
use crate::error::Result;
use crate::levels::{Assembler, Layer};
use crate::pool::{MIN_BYTES, Pool};
use crate::schema::leaves::LeafType;

use super::blob::Descriptions;
use super::dictionary::DictionaryValues;

/// What a list takes: its offset, and its validity.
const LIST_BYTES: u64 = 9;

/// Receives the rows of one leaf, page after page.
#[derive(Debug)]
pub(crate) struct LeafSink {
    pub(crate) values: SinkValues,
    pub(crate) assembler: Assembler,
    /// Levels of the page at hand; pushed to the assembler when the page is done.
    pub(crate) rep: Planes,
    pub(crate) def: Planes,
    /// Where the bytes of strings came from.
    pub(crate) pool: Option<Arc<Pool>>,
}

/// The values of a leaf in the form the column asks for.
#[derive(Debug)]
pub(crate) enum SinkValues {
    Plain(Values),
    Dictionary(DictionaryValues),
    Blob(Descriptions),
}

impl SinkValues {
    /// Appends placeholders for values that are null.
    pub(crate) fn push_default(&mut self, n: usize, scratch: &mut Scratch) -> Result<()> {
        let count = size_u64(n);
        let bytes = match self {
            Self::Plain(values) => values.default_bytes(count),
            Self::Dictionary(values) => count.saturating_mul(values.keys.bits()).div_ceil(8),
            Self::Blob(_) => count.saturating_mul(Descriptions::ENTRY_BYTES),
        };
        scratch.claim(bytes.saturating_add(count.div_ceil(8)), "a column of nulls")?;
        match self {
            Self::Plain(values) => values.push_default(n),
            Self::Dictionary(values) => values.push_null(n),
            Self::Blob(values) => values.push_default(n),
        }
    }
}

impl LeafSink {
    pub(crate) fn new(leaf: &LeafType) -> Result<Self> {
        let values = if leaf.blob {
            SinkValues::Blob(Descriptions::default())
        } else if let Some(keys) = leaf.keys {
            SinkValues::Dictionary(DictionaryValues::new(keys, Values::new(&leaf.values)))
        } else {
            SinkValues::Plain(Values::new(&leaf.values))
        };
        let assembler = Assembler::new(&leaf.kinds)?;
        Ok(Self { values, assembler, rep: Planes::default(), def: Planes::default(), pool: None })
    }

    /// Makes room for values that come from `stored` bytes, of at most `most` bytes; returns how many.
    pub(crate) fn reserve(
        &mut self,
        num_values: u64,
        stored: usize,
        most: usize,
        pool: &Arc<Pool>,
    ) -> usize {
        // A bit-packed value may take one bit of 64; anything that shrinks more is grown as it comes.
        let max_bytes = stored.saturating_mul(64).max(1 << 16).min(most);
        let num_values = usize::try_from(num_values).unwrap_or(usize::MAX);
        let SinkValues::Plain(values) = &mut self.values else { return 0 };
        let mut reserved = values.reserve(num_values, max_bytes);
        if let Values::Variable(variable) = values
            && variable.bytes.is_empty()
        {
            // Strings are at least as long as what is stored of them, or nearly so.
            let strings = stored.min(most.saturating_sub(reserved));
            variable.bytes = pool.take(strings);
            reserved = reserved.saturating_add(strings);
            // What the pool would not lend again it should not get.
            self.pool = (variable.bytes.capacity() >= MIN_BYTES).then(|| pool.clone());
        }
        reserved
    }

    /// Gives the sink the bytes of all its values before their lengths are known.
    pub(crate) fn place(&mut self, bytes: Vec<u8>, pool: &Arc<Pool>) {
        if let SinkValues::Plain(Values::Variable(values)) = &mut self.values {
            self.pool = (bytes.capacity() >= MIN_BYTES).then(|| pool.clone());
            values.bytes = bytes;
        }
    }

    /// Hands the levels of a finished page to the assembler.
    pub(crate) fn close_page(
        &mut self,
        layers: &[Layer],
        num_entries: usize,
        scratch: &mut Scratch,
    ) -> Result<()> {
        // An entry may begin a list in every layer.
        let num_lists = layers.iter().filter(|layer| layer.is_list()).count();
        let entry_bytes = size_u64(num_lists).saturating_mul(LIST_BYTES);
        scratch.claim(size_u64(num_entries).saturating_mul(entry_bytes), "the lists of a page")?;
        let has_rep = num_lists > 0;
        let has_def = layers.iter().any(|layer| layer.num_def_levels() > 0);
        let rep = has_rep.then_some(&self.rep);
        let def = has_def.then_some(&self.def);
        self.assembler.push(layers, rep, def, num_entries)?;
        self.rep.clear();
        self.def.clear();
        Ok(())
    }
}

#[cfg(test)]
#[path = "sink_tests.rs"]
mod tests;
