//! Blob pages: where each payload lies in the file, instead of the payload.
//!
//! One description a row, 16 bytes as a packed struct: `position: u64, size: u64`.
//!
//! | size | position | meaning |
//! |---|---|---|
//! | > 0 | any | bytes `position .. position + size` of the file |
//! | 0 | 0 | an empty value |
//! | 0 | p | null; `p >> 16` is the definition level |

use bytes::Bytes;

use super::PageTask;
use super::encode::{EncodedPage, PageLevels};
use super::layout::{BlobLayout, Layout};
use super::mini_block::encode::{ChunkSize, MiniBlockInput};
use super::mini_block::{self, MiniBlockIndex};
use super::rules::Rules;
use super::sink::{LeafSink, SinkValues};
use crate::codec::{Encoding, FixedValues, Scratch, ValueType, Values, VariableValues};
use crate::error::{Error, Result};
use crate::levels::{Layer, LayerKind, Numbering};
use crate::schema::leaves::LeafType;
use crate::span::Span;

/// The payloads of a batch, as spans of the file; null and empty values have empty spans.
#[derive(Debug, Default)]
pub(crate) struct Descriptions {
    pub(crate) spans: Vec<Span>,
}

impl Descriptions {
    /// Bytes of one description in memory.
    pub(crate) const ENTRY_BYTES: u64 = 16;

    pub(crate) fn push_default(&mut self, n: usize) -> Result<()> {
        self.spans.resize(self.spans.len().saturating_add(n), Span::default());
        Ok(())
    }

    /// The payloads, given those that have bytes.
    pub(crate) fn filled(&self, payloads: &mut dyn Iterator<Item = Bytes>) -> Result<Values> {
        let mut values = VariableValues::new(64);
        for span in &self.spans {
            if span.is_empty() {
                values.push(&[])?;
            } else {
                let payload = payloads.next();
                let payload = payload.ok_or_else(|| Error::corrupt("a blob was not read"))?;
                values.push(&payload)?;
            }
        }
        Ok(Values::Variable(values))
    }

    /// Positions and sizes, as structs of two numbers.
    pub(crate) fn as_values(&self) -> Values {
        let mut fields = [FixedValues::new(64), FixedValues::new(64)];
        for span in &self.spans {
            let pair = [span.start(), span.len()];
            for (field, value) in fields.iter_mut().zip(pair) {
                field.push_word(value);
            }
        }
        let children = fields.map(Values::Fixed).into_iter().collect();
        Values::Struct { len: self.spans.len(), children }
    }
}

/// The type of one description.
pub(crate) fn description_type() -> ValueType {
    ValueType::Struct(vec![ValueType::Fixed { bits: 64 }, ValueType::Fixed { bits: 64 }])
}

/// The leaf that descriptions would make up if they were a column.
pub(crate) fn description_leaf() -> LeafType {
    LeafType { values: description_type(), keys: None, blob: false, kinds: vec![LayerKind::Item] }
}

/// Appends the task's descriptions to the sink.
pub(super) fn decode(
    index: &MiniBlockIndex,
    layout: &BlobLayout,
    task: &PageTask,
    fetched: &[Bytes],
    sink: &mut LeafSink,
    scratch: &mut Scratch,
) -> Result<()> {
    let mut inner = LeafSink::new(&description_leaf())?;
    index.decode(&layout.inner, task, fetched, &mut inner, scratch)?;
    let SinkValues::Plain(Values::Struct { len, children }) = inner.values else {
        return Err(Error::corrupt("blob descriptions that are not structs"));
    };
    let [Values::Fixed(positions), Values::Fixed(sizes)] = children.as_slice() else {
        return Err(Error::corrupt("blob descriptions that are not positions and sizes"));
    };
    let max_def = Numbering::new(&layout.layers)?.max_def;
    let SinkValues::Blob(out) = &mut sink.values else {
        return Err(Error::corrupt("a blob page in a column that is not one"));
    };
    let pairs = positions.words::<u64>().iter();
    let pairs = pairs.zip(sizes.words::<u64>());
    for (position, size) in pairs {
        let (span, level) = match (*position, *size) {
            (_, 0) => (Span::default(), null_level(*position, max_def)?),
            (position, size) => {
                let rule = || Error::corrupt(format!("a blob of {size} bytes at {position}"));
                (Span::at(position, size).ok_or_else(rule)?, 0)
            }
        };
        out.spans.push(span);
        if max_def > 0 {
            sink.def.push(level);
        }
    }
    sink.close_page(&layout.layers, len, scratch)
}

fn null_level(position: u64, max_def: u16) -> Result<u16> {
    if position == 0 {
        return Ok(0);
    }
    let level = u16::try_from(position >> 16).ok().filter(|level| (1..=max_def).contains(level));
    match level {
        Some(level) if position & 0xffff == 0 => Ok(level),
        _ => Err(Error::corrupt(format!("a blob of 0 bytes at {position:#x}"))),
    }
}

/// Encodes a page of descriptions; null rows get their definition level as a position.
pub(crate) fn encode(
    levels: PageLevels<'_>,
    positions: &[u64],
    sizes: &[u64],
    rules: Rules,
) -> Result<EncodedPage> {
    if levels.rep.is_some() {
        return Err(Error::unsupported("blobs inside a list"));
    }
    let mut fields = [FixedValues::new(64), FixedValues::new(64)];
    for (i, (position, size)) in positions.iter().zip(sizes).enumerate() {
        let def = levels.def.and_then(|def| def.get(i)).copied().unwrap_or(0);
        let pair = if def > 0 { [u64::from(def) << 16, 0] } else { [*position, *size] };
        for (field, value) in fields.iter_mut().zip(pair) {
            field.push_word(value);
        }
    }
    let children = fields.map(Values::Fixed).into_iter().collect();
    let values = Values::Struct { len: positions.len(), children };
    let input = MiniBlockInput {
        levels: PageLevels { layers: &[Layer::AllValidItem], rep: None, def: None, ..levels },
        values: &values,
        encoding: Encoding::PackedStruct { field_bits: vec![64, 64] },
        dictionary: None,
        chunk_size: ChunkSize { target_bytes: 4096, max_values: 256 },
        level_compression: None,
    };
    let page = mini_block::encode::encode(&input, rules)?;
    match page {
        Some(EncodedPage { layout: Layout::MiniBlock(inner), buffers, num_rows }) => {
            let layout = Layout::Blob(BlobLayout { inner, layers: levels.layers.to_vec() });
            Ok(EncodedPage { layout, buffers, num_rows })
        }
        _ => Err(Error::invalid("blob descriptions do not fit a page")),
    }
}

#[cfg(test)]
#[path = "blob_tests.rs"]
mod tests;
