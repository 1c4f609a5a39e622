//! Nesting and nulls: repetition and definition levels, to and from Arrow's offsets and validity.
//!
//! Sees no file bytes and no values. `layers` always run from the leaf (index 0) outwards.

#![cfg_attr(
    not(test),
    deny(
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects,
        clippy::cast_possible_truncation
    )
)]

mod assemble;
mod entries;
mod extract;
mod lists;
mod numbering;
#[cfg(test)]
mod oracle;
mod rows;
mod shred;
mod validity;

pub(crate) use assemble::{AssembledLayer, Assembler};
pub(crate) use extract::{LeafPiece, NestingLayer, Step, extract};
pub(crate) use numbering::{Numbering, check_kinds};
pub(crate) use rows::Rows;
pub(crate) use shred::{Shredded, max_entries, shred};
pub(crate) use validity::leaf_validity;

use arrow_buffer::OffsetBuffer;

use crate::error::{Error, Result};

/// Where the lists of a layer begin and end, in the width of the Arrow type.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ListOffsets {
    Bits32(OffsetBuffer<i32>),
    Bits64(OffsetBuffer<i64>),
}

/// What one layer of nesting can be in a page; which variant is chosen page by page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layer {
    AllValidItem,
    AllValidList,
    NullableItem,
    NullableList,
    EmptyableList,
    NullAndEmptyList,
}

/// What the schema fixes about a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LayerKind {
    /// The leaf itself, or a struct.
    Item,
    /// A list with 32-bit offsets, or 64-bit ones.
    List { large: bool },
    /// A fixed-size list of structs: an item layer whose slots each stand for `dimension` entries.
    FixedSizeList { dimension: u64 },
}

impl Layer {
    /// Number of definition levels the layer takes.
    pub(crate) fn num_def_levels(self) -> u16 {
        match self {
            Self::AllValidItem | Self::AllValidList => 0,
            Self::NullableItem | Self::NullableList | Self::EmptyableList => 1,
            Self::NullAndEmptyList => 2,
        }
    }

    pub(crate) fn is_list(self) -> bool {
        !matches!(self, Self::AllValidItem | Self::NullableItem)
    }

    /// The layer of the message's enum number.
    pub(crate) fn from_number(number: i32) -> Result<Self> {
        Ok(match number {
            1 => Self::AllValidItem,
            2 => Self::AllValidList,
            3 => Self::NullableItem,
            4 => Self::NullableList,
            5 => Self::EmptyableList,
            6 => Self::NullAndEmptyList,
            _ => return Err(Error::corrupt(format!("layer kind {number} does not exist"))),
        })
    }

    /// The message's enum number.
    pub(crate) fn number(self) -> i32 {
        match self {
            Self::AllValidItem => 1,
            Self::AllValidList => 2,
            Self::NullableItem => 3,
            Self::NullableList => 4,
            Self::EmptyableList => 5,
            Self::NullAndEmptyList => 6,
        }
    }
}
