//! What the description of a full-zip page says, checked.

use crate::codec::{self, Encoding};
use crate::error::{Error, Result, ensure};
use crate::levels::{Layer, Numbering};
use crate::page::encodings::{parse, to_message};
use crate::page::layout::{layer_numbers, parse_layers};
use crate::page::rules::Rules;
use crate::proto::encodings21 as pb;
use crate::schema::leaves::LeafType;

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

impl FullZipLayout {
    pub(crate) fn parse(m: &pb::FullZipLayout, leaf: &LeafType, rules: Rules) -> Result<Self> {
        let layers = parse_layers(&m.layers, leaf)?;
        let numbering = Numbering::new(&layers)?;
        ensure!(leaf.keys.is_none(), "a dictionary column with a full-zip page");
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
    pub(crate) fn to_message(&self) -> pb::FullZipLayout {
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

fn is_all_null(encoding: &Encoding) -> bool {
    match encoding {
        Encoding::Constant => true,
        Encoding::FixedSizeList { values, .. } => is_all_null(values),
        _ => false,
    }
}

#[cfg(test)]
#[path = "layout_tests.rs"]
mod tests;
