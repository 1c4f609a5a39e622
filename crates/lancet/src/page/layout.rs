//! `PageLayout` messages to checked [`Layout`]s and back.
//!
//! | layout | buffers |
//! |---|---|
//! | mini-block | chunk words, chunks, [dictionary], [repetition index] |
//! | full-zip | zipped rows, [repetition index] |
//! | constant | none; or rep, def; or value; or value, rep, def |
//! | blob | those of the inner mini-block layout |

use super::encodings::{parse, to_message};
use super::rules::Rules;
use super::{LeafType, blob};
use crate::codec::{self, Encoding, ValueType};
use crate::error::{Error, Result, ensure};
use crate::levels::{Layer, Numbering, check_kinds};
use crate::proto::encodings21 as pb;

/// What the buffers of a page hold.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Layout {
    MiniBlock(MiniBlockLayout),
    FullZip(FullZipLayout),
    Constant(ConstantLayout),
    Blob(BlobLayout),
}

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

/// Rows back to back, each with its own levels.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FullZipLayout {
    pub(crate) bits_rep: u32,
    pub(crate) bits_def: u32,
    pub(crate) width: ZipWidth,
    pub(crate) num_entries: u64,
    pub(crate) num_values: u64,
    pub(crate) values: Encoding,
    pub(crate) layers: Vec<Layer>,
}

/// How a zipped value finds its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ZipWidth {
    /// Every value has this many bytes.
    Value { bytes: usize },
    /// A length of this many bytes stands before the value.
    Length { bytes: usize },
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

impl MiniBlockLayout {
    fn parse(
        m: &pb::MiniBlockLayout,
        leaf: &LeafType,
        rules: Rules,
        num_rows: u64,
    ) -> Result<Self> {
        let layers = parse_layers(&m.layers, leaf)?;
        let numbering = Numbering::new(&layers)?;
        let has_lists = numbering.max_rep > 0;
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
                ensure!(leaf.key_bits.is_none(), "a dictionary column with a page without one");
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

    fn to_message(&self) -> pb::MiniBlockLayout {
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

    fn num_buffers(&self) -> usize {
        2_usize
            .saturating_add(usize::from(self.dictionary.is_some()))
            .saturating_add(usize::from(self.rep.is_some()))
    }

    /// The buffers that the page index is made of: all but the chunks.
    pub(crate) fn index_buffers(&self) -> Vec<usize> {
        (0..self.num_buffers()).filter(|&buffer| buffer != 1).collect()
    }
}

impl FullZipLayout {
    fn parse(m: &pb::FullZipLayout, leaf: &LeafType, rules: Rules) -> Result<Self> {
        let layers = parse_layers(&m.layers, leaf)?;
        let numbering = Numbering::new(&layers)?;
        ensure!(leaf.key_bits.is_none(), "a dictionary column with a full-zip page");
        ensure!(m.bits_rep <= 16 && m.bits_def <= 16, "levels of more than 16 bits");
        ensure!(
            (m.bits_rep > 0) == (numbering.max_rep > 0)
                && u64::from(numbering.max_rep) < 1 << m.bits_rep,
            "repetition levels of {} bits cannot hold {}",
            m.bits_rep,
            numbering.max_rep
        );
        let values = parse(m.value_compression.as_ref(), "values")?;
        ensure!(
            rules.variable_packed_structs
                || !matches!(values, Encoding::VariablePackedStruct { .. }),
            "a packed struct of variable width in a version that has none"
        );
        codec::per_value::check(&values, &leaf.values)?;
        let width = match m.details {
            Some(pb::full_zip_layout::Details::BitsPerValue(bits)) => {
                let bytes = codec::per_value::fixed_width_bytes(&values)?;
                // Where every item of every list is null, older writers stored no bytes at all.
                let nothing = bits == 0 && is_all_null(&values);
                let bytes = if nothing { 0 } else { bytes };
                ensure!(
                    u64::from(bits) == u64::try_from(bytes).unwrap_or(u64::MAX).saturating_mul(8),
                    "values of {bits} bits, where the encoding has {bytes} bytes"
                );
                ZipWidth::Value { bytes }
            }
            Some(pb::full_zip_layout::Details::BitsPerOffset(bits)) => {
                ensure!(matches!(bits, 32 | 64), "value lengths of {bits} bits");
                ensure!(
                    codec::per_value::is_variable(&values),
                    "value lengths before values of a fixed width"
                );
                ZipWidth::Length { bytes: if bits == 64 { 8 } else { 4 } }
            }
            None => return Err(Error::corrupt("the width of zipped values is missing")),
        };
        Ok(Self {
            bits_rep: m.bits_rep,
            bits_def: m.bits_def,
            width,
            num_entries: u64::from(m.num_items),
            num_values: u64::from(m.num_visible_items),
            values,
            layers,
        })
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "the format keeps the low 32 bits of both counts"
    )]
    fn to_message(&self) -> pb::FullZipLayout {
        use pb::full_zip_layout::Details;
        let bits = |bytes: usize| u32::try_from(bytes.saturating_mul(8)).unwrap_or(u32::MAX);
        pb::FullZipLayout {
            bits_rep: self.bits_rep,
            bits_def: self.bits_def,
            details: Some(match self.width {
                ZipWidth::Value { bytes } => Details::BitsPerValue(bits(bytes)),
                ZipWidth::Length { bytes } => Details::BitsPerOffset(bits(bytes)),
            }),
            num_items: self.num_entries as u32,
            num_visible_items: self.num_values as u32,
            value_compression: Some(to_message(&self.values)),
            layers: layer_numbers(&self.layers),
        }
    }

    /// Whether rows must be found through a repetition index.
    pub(crate) fn has_index(&self) -> bool {
        self.bits_rep > 0 || matches!(self.width, ZipWidth::Length { .. })
    }

    pub(crate) fn index_buffers(&self) -> Vec<usize> {
        if self.has_index() { vec![1] } else { Vec::new() }
    }

    /// Bytes of the control word before each entry.
    pub(crate) fn control_bytes(&self) -> usize {
        match self.bits_rep.saturating_add(self.bits_def) {
            0 => 0,
            1..=8 => 1,
            9..=16 => 2,
            _ => 4,
        }
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

fn is_all_null(encoding: &Encoding) -> bool {
    match encoding {
        Encoding::Constant => true,
        Encoding::FixedSizeList { values, .. } => is_all_null(values),
        _ => false,
    }
}

fn parse_layers(numbers: &[i32], leaf: &LeafType) -> Result<Vec<Layer>> {
    let layers = numbers.iter().map(|n| Layer::from_number(*n)).collect::<Result<Vec<_>>>()?;
    check_kinds(&layers, &leaf.kinds)?;
    Ok(layers)
}

fn parse_levels(m: Option<&pb::CompressiveEncoding>, what: &str) -> Result<Option<Encoding>> {
    let Some(_) = m else { return Ok(None) };
    let encoding = parse(m, what)?;
    codec::block::check(&encoding, &ValueType::Fixed { bits: 16 })?;
    Ok(Some(encoding))
}

fn layer_numbers(layers: &[Layer]) -> Vec<i32> {
    layers.iter().map(|layer| layer.number()).collect()
}
