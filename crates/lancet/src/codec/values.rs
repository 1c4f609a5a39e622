//! The values of one leaf column as codecs see them: widths, offsets and bytes, no Arrow types.
//!
//! The same type is what decoders append to and what encoders read from. A decoder appends the
//! values of one chunk after another, over page boundaries, so a batch is built in place.

use std::ops::Range;

use super::{FixedValues, ValueBuffer, VariableValues, product, size};
use crate::error::{Error, Result, ensure};

/// The keys of a dictionary column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct KeyType {
    pub(crate) bits: u64,
    pub(crate) signed: bool,
}

impl KeyType {
    /// How many entries there can be. Of signed keys the top bit stays free.
    pub(crate) fn num_keys(self) -> u64 {
        let bits = self.bits.saturating_sub(u64::from(self.signed));
        u32::try_from(bits).ok().and_then(|bits| 1_u64.checked_shl(bits)).unwrap_or(u64::MAX)
    }
}

/// What one value of a leaf looks like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ValueType {
    /// Nothing is stored for a value (the null type, structs without fields).
    Nothing,
    /// `bits` bits a value: 1, or a multiple of 8.
    Fixed { bits: u64 },
    /// Bytes of any length, addressed by offsets of 32 or 64 bits.
    Variable { offset_bits: u64 },
    /// `dimension` items a value; items may be null.
    FixedSizeList { dimension: u64, item: Box<ValueType> },
    /// One value of each child (packed structs).
    Struct(Vec<ValueType>),
}

/// Values of one leaf.
#[derive(Debug, PartialEq)]
pub(crate) enum Values {
    Nothing { len: usize },
    Fixed(FixedValues),
    Variable(VariableValues),
    FixedSizeList(FixedSizeListValues),
    Struct { len: usize, children: Vec<Values> },
}

/// Fixed-size lists: `len * dimension` items and, when some item was stored with a validity
/// bitmap, one bit for each item (1 = valid).
#[derive(Debug, PartialEq)]
pub(crate) struct FixedSizeListValues {
    pub(crate) dimension: u64,
    pub(crate) len: usize,
    /// One-bit values, one for each item; `None` while every item is valid.
    pub(crate) item_validity: Option<FixedValues>,
    pub(crate) items: Box<Values>,
}

impl Values {
    /// No values yet.
    pub(crate) fn new(value_type: &ValueType) -> Self {
        match value_type {
            ValueType::Nothing => Self::Nothing { len: 0 },
            ValueType::Fixed { bits } => Self::Fixed(FixedValues::new(*bits)),
            ValueType::Variable { offset_bits } => {
                Self::Variable(VariableValues::new(*offset_bits))
            }
            ValueType::FixedSizeList { dimension, item } => {
                Self::FixedSizeList(FixedSizeListValues {
                    dimension: *dimension,
                    len: 0,
                    item_validity: None,
                    items: Box::new(Self::new(item)),
                })
            }
            ValueType::Struct(children) => {
                Self::Struct { len: 0, children: children.iter().map(Self::new).collect() }
            }
        }
    }

    /// Number of values.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Nothing { len } | Self::Struct { len, .. } => *len,
            Self::Fixed(fixed) => fixed.len(),
            Self::Variable(variable) => variable.len(),
            Self::FixedSizeList(list) => list.len,
        }
    }

    /// The bytes of all values, if they are fixed-width values back to back.
    pub(crate) fn into_flat_bytes(self) -> std::result::Result<ValueBuffer, Self> {
        match self {
            Self::Fixed(fixed) if fixed.width_bytes().is_some() => Ok(fixed.into_data()),
            Self::FixedSizeList(mut list) if list.item_validity.is_none() => {
                let nothing = Box::new(Self::Nothing { len: 0 });
                let items = std::mem::replace(&mut list.items, nothing);
                items.into_flat_bytes().map_err(|items| {
                    *list.items = items;
                    Self::FixedSizeList(list)
                })
            }
            other => Err(other),
        }
    }

    /// Bytes the values take in memory.
    pub(crate) fn size_bytes(&self) -> usize {
        match self {
            Self::Nothing { .. } => 0,
            Self::Fixed(fixed) => fixed.data().len(),
            Self::Variable(variable) => variable.size_bytes(),
            Self::FixedSizeList(list) => {
                let validity = list.item_validity.as_ref().map_or(0, |v| v.data().len());
                validity.saturating_add(list.items.size_bytes())
            }
            Self::Struct { children, .. } => {
                children.iter().map(Self::size_bytes).fold(0, usize::saturating_add)
            }
        }
    }

    /// Bytes that `count` placeholders take at most.
    ///
    /// Widths come from the schema of a file and placeholders from no bytes at all, so nothing
    /// else bounds them: claim this before [`Values::push_default`].
    pub(crate) fn default_bytes(&self, count: u64) -> u64 {
        match self {
            Self::Nothing { .. } => 0,
            Self::Fixed(fixed) => count.saturating_mul(fixed.bits()).div_ceil(8),
            Self::Variable(variable) => count.saturating_mul(variable.offsets.bits()).div_ceil(8),
            Self::FixedSizeList(list) => {
                let num_items = count.saturating_mul(list.dimension);
                list.items.default_bytes(num_items).saturating_add(num_items.div_ceil(8))
            }
            Self::Struct { children, .. } => {
                children.iter().map(|child| child.default_bytes(count)).fold(0, u64::saturating_add)
            }
        }
    }

    /// Appends `count` placeholders, zero or empty, for rows that are null.
    pub(crate) fn push_default(&mut self, count: usize) -> Result<()> {
        match self {
            Self::Nothing { len } => *len = len.saturating_add(count),
            Self::Fixed(fixed) => fixed.push_zeros(count)?,
            Self::Variable(variable) => variable.offsets.repeat_last(count),
            Self::FixedSizeList(list) => {
                list.push_items(count, |items, count| items.push_default(count))?;
            }
            Self::Struct { len, children } => {
                children.iter_mut().try_for_each(|child| child.push_default(count))?;
                *len = len.saturating_add(count);
            }
        }
        Ok(())
    }

    /// Appends the values `range` of other values of the same type.
    pub(crate) fn append_range(&mut self, from: &Self, range: Range<usize>) -> Result<()> {
        ensure!(
            range.start <= range.end && range.end <= from.len(),
            "values {range:?} do not exist, there are {}",
            from.len()
        );
        match (self, from) {
            (Self::Nothing { len }, Self::Nothing { .. }) => *len = len.saturating_add(range.len()),
            (Self::Fixed(fixed), Self::Fixed(from)) => fixed.append_range(from, range)?,
            (Self::Variable(variable), Self::Variable(from)) => {
                variable.append_range(from, range)?;
            }
            (Self::FixedSizeList(list), Self::FixedSizeList(from)) => {
                list.append_range(from, range)?;
            }
            (Self::Struct { len, children }, Self::Struct { children: from, .. }) => {
                for (child, from) in children.iter_mut().zip(from) {
                    child.append_range(from, range.clone())?;
                }
                *len = len.saturating_add(range.len());
            }
            _ => return Err(Error::invalid("values of different types cannot be joined")),
        }
        Ok(())
    }
}

impl FixedSizeListValues {
    /// Appends `count` rows of valid items, which `append_items` appends to the items it is given.
    pub(crate) fn push_items(
        &mut self,
        count: usize,
        append_items: impl FnOnce(&mut Values, usize) -> Result<()>,
    ) -> Result<()> {
        let num_items = product(count, size(self.dimension)?)?;
        append_items(&mut self.items, num_items)?;
        if let Some(validity) = &mut self.item_validity {
            validity.push_ones(num_items)?;
        }
        self.len = self.len.checked_add(count).ok_or_else(too_many)?;
        Ok(())
    }

    /// The bitmap of the items, which from now on exists.
    pub(crate) fn validity_mut(&mut self) -> Result<&mut FixedValues> {
        if self.item_validity.is_none() {
            let mut validity = FixedValues::new(1);
            validity.push_ones(product(self.len, size(self.dimension)?)?)?;
            self.item_validity = Some(validity);
        }
        self.item_validity.as_mut().ok_or_else(too_many)
    }

    fn append_range(&mut self, from: &Self, range: Range<usize>) -> Result<()> {
        let dimension = size(self.dimension)?;
        ensure!(self.dimension == from.dimension, "lists of different sizes cannot be joined");
        let items = product(range.start, dimension)?..product(range.end, dimension)?;
        let Some(validity) = &from.item_validity else {
            return self.push_items(range.len(), |to, _| to.append_range(&from.items, items));
        };
        self.validity_mut()?.append_range(validity, items.clone())?;
        self.items.append_range(&from.items, items)?;
        self.len = self.len.checked_add(range.len()).ok_or_else(too_many)?;
        Ok(())
    }
}

pub(super) fn too_many() -> Error {
    Error::invalid("one batch of this column holds more values than fit into memory")
}

#[cfg(test)]
#[path = "values_tests.rs"]
mod tests;
