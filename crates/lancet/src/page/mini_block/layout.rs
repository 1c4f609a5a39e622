//! What the description of a mini-block page says, checked.

use crate::codec::{self, Encoding, ValueType};
use crate::error::{Error, Result, ensure};
use crate::levels::{Layer, Numbering};
use crate::page::encodings::{parse, to_message};
use crate::page::layout::{layer_numbers, parse_layers, parse_levels};
use crate::page::rules::Rules;
use crate::proto::encodings21 as pb;
use crate::schema::leaves::LeafType;

/// Chunks of values, each decoded as a whole.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct MiniBlockLayout {
    pub(crate) rep: Option<Encoding>,
    pub(crate) def: Option<Encoding>,
    /// The values, or the indices when there is a dictionary.
    pub(crate) values: Encoding,
    pub(crate) dictionary: Option<DictionaryLayout>,
    pub(crate) layers: Vec<Layer>,
    /// Visible items of the page.
    pub(crate) num_values: u64,
    pub(crate) large_chunks: bool,
}

/// The dictionary of a mini-block page.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DictionaryLayout {
    pub(crate) encoding: Encoding,
    pub(crate) num_items: u64,
    /// A block of strings starts with their number, not with the bits of an offset (early 2.1).
    pub(crate) counted: bool,
}

impl MiniBlockLayout {
    pub(crate) fn parse(
        m: &pb::MiniBlockLayout,
        leaf: &LeafType,
        rules: Rules,
        num_rows: u64,
    ) -> Result<Self> {
        let layers = parse_layers(&m.layers, leaf)?;
        let numbering = Numbering::new(&layers)?;
        let has_lists = numbering.max_rep > 0;
        if rules.large_chunks && !m.has_large_chunk {
            return Err(Error::unsupported(
                "a page of 2.2 as the releases 0.35 to 1.0.4 wrote it, before that format was \
                 settled; have such a release read the file, and write it as 2.1",
            ));
        }
        ensure!(
            m.has_large_chunk == rules.large_chunks,
            "the chunk width is not the one of the file's version"
        );
        ensure!(
            m.rep_compression.is_some() == has_lists,
            "repetition levels are present exactly when there is a list"
        );
        ensure!(
            m.def_compression.is_some() == (numbering.max_def > 0),
            "definition levels are present exactly when something can be null or empty"
        );
        ensure!(
            m.repetition_index_depth == u32::from(has_lists),
            "repetition index depth {} is wrong here",
            m.repetition_index_depth
        );
        ensure!(
            has_lists || m.num_items == num_rows,
            "{} items in a page of {num_rows} rows",
            m.num_items
        );
        let values = parse(m.value_compression.as_ref(), "values")?;
        let dictionary = match &m.dictionary {
            None => {
                ensure!(leaf.keys.is_none(), "a dictionary column with a page without one");
                codec::mini_block::check(&values, &leaf.values)?;
                None
            }
            Some(_) => {
                let encoding = parse(m.dictionary.as_ref(), "dictionary")?;
                codec::block::check(&encoding, &leaf.values)?;
                let bits = index_bits(&values)?;
                codec::mini_block::check(&values, &ValueType::Fixed { bits })?;
                let num_items = m.num_dictionary_items;
                Some(DictionaryLayout { encoding, num_items, counted: false })
            }
        };
        ensure!(
            usize::try_from(m.num_buffers) == Ok(values.num_buffers()),
            "{} value buffers a chunk, where the encoding has {}",
            m.num_buffers,
            values.num_buffers()
        );
        Ok(Self {
            rep: parse_levels(m.rep_compression.as_ref(), "repetition levels")?,
            def: parse_levels(m.def_compression.as_ref(), "definition levels")?,
            values,
            dictionary,
            layers,
            num_values: m.num_items,
            large_chunks: m.has_large_chunk,
        })
    }

    pub(crate) fn to_message(&self) -> pb::MiniBlockLayout {
        pb::MiniBlockLayout {
            rep_compression: self.rep.as_ref().map(to_message),
            def_compression: self.def.as_ref().map(to_message),
            value_compression: Some(to_message(&self.values)),
            dictionary: self.dictionary.as_ref().map(|d| to_message(&d.encoding)),
            num_dictionary_items: self.dictionary.as_ref().map_or(0, |d| d.num_items),
            layers: layer_numbers(&self.layers),
            num_buffers: u64::try_from(self.values.num_buffers()).unwrap_or(u64::MAX),
            repetition_index_depth: u32::from(self.rep.is_some()),
            num_items: self.num_values,
            has_large_chunk: self.large_chunks,
        }
    }

    pub(crate) fn num_buffers(&self) -> usize {
        2_usize
            .saturating_add(usize::from(self.dictionary.is_some()))
            .saturating_add(usize::from(self.rep.is_some()))
    }

    /// The buffers that the page index is made of: all but the chunks.
    pub(crate) fn index_buffers(&self) -> Vec<usize> {
        (0..self.num_buffers()).filter(|&buffer| buffer != 1).collect()
    }
}

/// Bits of the dictionary indices that an encoding yields.
pub(crate) fn index_bits(encoding: &Encoding) -> Result<u64> {
    match encoding {
        Encoding::Flat { bits }
        | Encoding::InlineBitpacking { bits }
        | Encoding::Rle { bits }
        | Encoding::ByteStreamSplit { bits } => Ok(*bits),
        Encoding::General { values, .. } => index_bits(values),
        _ => Err(Error::corrupt("dictionary indices that are not integers")),
    }
    .and_then(|bits| {
        ensure!(matches!(bits, 8 | 16 | 32 | 64), "dictionary indices of {bits} bits");
        Ok(bits)
    })
}

#[cfg(test)]
#[path = "layout_tests.rs"]
mod tests;
