//! `PageLayout` messages to checked [`Layout`]s and back.
//!
//! | layout | buffers |
//! |---|---|
//! | mini-block | chunk words, chunks, [dictionary], [repetition index] |
//! | full-zip | zipped rows, [repetition index] |
//! | constant | none; or rep, def; or value; or value, rep, def |
//! | blob | those of the inner mini-block layout |

use super::blob;
use super::encodings::{parse, to_message};
use super::full_zip::FullZipLayout;
use super::mini_block::MiniBlockLayout;
use super::rules::Rules;
use crate::codec::{self, Encoding, ValueType};
use crate::error::{Error, Result, ensure};
use crate::levels::{Layer, check_kinds};
use crate::proto::encodings21 as pb;
use crate::schema::leaves::LeafType;

/// What the buffers of a page hold.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Layout {
    MiniBlock(MiniBlockLayout),
    FullZip(FullZipLayout),
    Constant(ConstantLayout),
    Blob(BlobLayout),
}

/// One value, or null, for all items.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ConstantLayout {
    pub(crate) layers: Vec<Layer>,
    pub(crate) value: ConstantValue,
    pub(crate) rep: Option<Encoding>,
    pub(crate) def: Option<Encoding>,
    pub(crate) num_rep: u64,
    pub(crate) num_def: u64,
    /// Whether the last two buffers are levels.
    pub(crate) has_levels: bool,
}

/// Where a constant page keeps its value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ConstantValue {
    /// There is none: all visible items are null.
    Null,
    /// In the description.
    Inline(Vec<u8>),
    /// In buffer 0.
    Buffer,
}

/// Positions and sizes of payloads that lie outside the pages.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct BlobLayout {
    pub(crate) inner: MiniBlockLayout,
    pub(crate) layers: Vec<Layer>,
}

impl Layout {
    /// Checks a message against the leaf it describes and the number of buffers there are.
    pub(crate) fn parse(
        message: &pb::PageLayout,
        leaf: &LeafType,
        rules: Rules,
        num_rows: u64,
        num_buffers: usize,
    ) -> Result<Self> {
        use pb::page_layout::Layout as Message;
        let layout = match message.layout.as_ref() {
            Some(Message::MiniBlockLayout(m)) => {
                ensure!(!leaf.blob, "a blob column with a mini-block page");
                Self::MiniBlock(MiniBlockLayout::parse(m, leaf, rules, num_rows)?)
            }
            Some(Message::FullZipLayout(m)) => {
                ensure!(!leaf.blob, "a blob column with a full-zip page");
                Self::FullZip(FullZipLayout::parse(m, leaf, rules)?)
            }
            Some(Message::ConstantLayout(m)) => {
                Self::Constant(ConstantLayout::parse(m, leaf, rules, num_buffers)?)
            }
            Some(Message::BlobLayout(m)) => {
                Self::Blob(BlobLayout::parse(m, leaf, rules, num_rows)?)
            }
            None => return Err(Error::corrupt("the page layout is missing or unknown")),
        };
        let needed = layout.num_buffers();
        ensure!(
            num_buffers >= needed,
            "the layout needs {needed} buffers, but the page has {num_buffers}"
        );
        Ok(layout)
    }

    /// The same layout in a file of early 2.1.
    pub(crate) fn early(mut self) -> Self {
        if let Self::MiniBlock(MiniBlockLayout { dictionary: Some(dictionary), .. }) = &mut self {
            dictionary.counted = true;
        }
        self
    }

    fn num_buffers(&self) -> usize {
        match self {
            Self::MiniBlock(layout) => layout.num_buffers(),
            Self::Blob(layout) => layout.inner.num_buffers(),
            Self::FullZip(layout) => 1_usize.saturating_add(usize::from(layout.has_index())),
            Self::Constant(layout) => {
                let levels = if layout.has_levels { 2 } else { 0_usize };
                levels.saturating_add(usize::from(layout.value == ConstantValue::Buffer))
            }
        }
    }

    /// The message of a layout.
    pub(crate) fn to_message(&self) -> pb::PageLayout {
        use pb::page_layout::Layout as Message;
        let layout = match self {
            Self::MiniBlock(layout) => Message::MiniBlockLayout(layout.to_message()),
            Self::FullZip(layout) => Message::FullZipLayout(layout.to_message()),
            Self::Constant(layout) => Message::ConstantLayout(layout.to_message()),
            Self::Blob(layout) => {
                let inner = Message::MiniBlockLayout(layout.inner.to_message());
                Message::BlobLayout(Box::new(pb::BlobLayout {
                    inner_layout: Some(Box::new(pb::PageLayout { layout: Some(inner) })),
                    layers: layer_numbers(&layout.layers),
                }))
            }
        };
        pb::PageLayout { layout: Some(layout) }
    }
}

impl ConstantLayout {
    fn parse(
        m: &pb::ConstantLayout,
        leaf: &LeafType,
        rules: Rules,
        num_buffers: usize,
    ) -> Result<Self> {
        let layers = parse_layers(&m.layers, leaf)?;
        let simple = layers == [Layer::NullableItem];
        let (value, has_levels) = match (&m.inline_value, num_buffers) {
            (None, 0) => (ConstantValue::Null, false),
            (None, 2) => (ConstantValue::Null, true),
            (Some(value), 0) => (ConstantValue::Inline(value.clone()), false),
            (Some(value), 2) => (ConstantValue::Inline(value.clone()), true),
            (None, 1) => (ConstantValue::Buffer, false),
            (None, 3) => (ConstantValue::Buffer, true),
            _ => return Err(Error::corrupt(format!("a constant page with {num_buffers} buffers"))),
        };
        let null = value == ConstantValue::Null;
        ensure!(rules.scalar_constants || null, "a constant value in a version that has none");
        ensure!(!null || has_levels || simple, "an all-null page without the levels it needs");
        ensure!(
            null || has_levels || layers.iter().all(|l| *l == Layer::AllValidItem),
            "a constant page without the levels it needs"
        );
        let rep = parse_levels(m.rep_compression.as_ref(), "repetition levels")?;
        let def = parse_levels(m.def_compression.as_ref(), "definition levels")?;
        ensure!(
            rules.scalar_constants || (rep.is_none() && def.is_none()),
            "compressed levels of a constant page in a version that has none"
        );
        Ok(Self {
            layers,
            value,
            rep,
            def,
            num_rep: m.num_rep_values,
            num_def: m.num_def_values,
            has_levels,
        })
    }

    fn to_message(&self) -> pb::ConstantLayout {
        pb::ConstantLayout {
            layers: layer_numbers(&self.layers),
            inline_value: match &self.value {
                ConstantValue::Inline(value) => Some(value.clone()),
                ConstantValue::Null | ConstantValue::Buffer => None,
            },
            rep_compression: self.rep.as_ref().map(to_message),
            def_compression: self.def.as_ref().map(to_message),
            num_rep_values: self.num_rep,
            num_def_values: self.num_def,
        }
    }
}

impl BlobLayout {
    fn parse(m: &pb::BlobLayout, leaf: &LeafType, rules: Rules, num_rows: u64) -> Result<Self> {
        use pb::page_layout::Layout as Message;
        ensure!(leaf.blob, "a blob page in a column that is not one");
        let layers = parse_layers(&m.layers, leaf)?;
        ensure!(layers.iter().all(|layer| !layer.is_list()), "blobs inside a list");
        let inner = match m.inner_layout.as_deref().and_then(|m| m.layout.as_ref()) {
            Some(Message::MiniBlockLayout(inner)) => {
                MiniBlockLayout::parse(inner, &blob::description_leaf(), rules, num_rows)?
            }
            _ => return Err(Error::corrupt("blob descriptions that are not a mini-block page")),
        };
        ensure!(inner.layers == [Layer::AllValidItem], "blob descriptions with nulls");
        Ok(Self { inner, layers })
    }
}

pub(super) fn parse_layers(numbers: &[i32], leaf: &LeafType) -> Result<Vec<Layer>> {
    let layers = numbers.iter().map(|n| Layer::from_number(*n)).collect::<Result<Vec<_>>>()?;
    check_kinds(&layers, &leaf.kinds)?;
    Ok(layers)
}

pub(super) fn parse_levels(
    m: Option<&pb::CompressiveEncoding>,
    what: &str,
) -> Result<Option<Encoding>> {
    let Some(_) = m else { return Ok(None) };
    let encoding = parse(m, what)?;
    codec::block::check(&encoding, &ValueType::Fixed { bits: 16 })?;
    Ok(Some(encoding))
}

pub(super) fn layer_numbers(layers: &[Layer]) -> Vec<i32> {
    layers.iter().map(|layer| layer.number()).collect()
}

#[cfg(test)]
#[path = "layout_tests.rs"]
mod tests;
