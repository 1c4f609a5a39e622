//! Single values, whatever their kind: their bytes, their size.

use std::ops::Range;

use super::{FixedValues, Offsets, ValueType, Values, VariableValues};
use crate::error::{Error, Result};

impl ValueType {
    /// Bytes of one value, without what is of variable width.
    pub(crate) fn fixed_bytes(&self) -> u64 {
        match self {
            Self::Nothing => 0,
            Self::Fixed { bits } => bits.div_ceil(8),
            Self::Variable { offset_bits } => offset_bits.div_ceil(8),
            Self::FixedSizeList { dimension, item } => dimension.saturating_mul(item.fixed_bytes()),
            Self::Struct(fields) => {
                fields.iter().map(Self::fixed_bytes).fold(0, u64::saturating_add)
            }
        }
    }
}

impl Values {
    /// The bytes of a value; equal values have equal bytes.
    pub(crate) fn value_bytes(&self, index: usize) -> Result<Vec<u8>> {
        match self {
            Self::Fixed(fixed) if fixed.bits() == 1 => Ok(vec![u8::from(fixed.bit(index))]),
            Self::Fixed(fixed) => fixed.bytes(index..index.saturating_add(1)).map(<[u8]>::to_vec),
            Self::Variable(variable) => variable.value(index).map(<[u8]>::to_vec),
            Self::Nothing { .. } | Self::FixedSizeList(_) | Self::Struct { .. } => {
                Err(Error::unsupported("dictionaries of nested values"))
            }
        }
    }

    /// Makes room for `count` more values, but for no more than `max_bytes`: counts may be forged,
    /// and what is not reserved now is grown later. Returns the bytes of that room.
    pub(crate) fn reserve(&mut self, count: usize, max_bytes: usize) -> usize {
        match self {
            Self::Nothing { .. } | Self::Struct { .. } => 0,
            Self::Fixed(fixed) => {
                let bytes = fixed_bytes(fixed, count).min(max_bytes);
                fixed.reserve_bytes(bytes);
                bytes
            }
            Self::Variable(variable) => {
                let bytes = count
                    .saturating_mul(if variable.offsets.bits() == 64 { 8 } else { 4 })
                    .min(max_bytes);
                match &mut variable.offsets {
                    Offsets::Bits32(offsets) => offsets.reserve(bytes / 4),
                    Offsets::Bits64(offsets) => offsets.reserve(bytes / 8),
                }
                bytes
            }
            Self::FixedSizeList(lists) => {
                let dimension = usize::try_from(lists.dimension).unwrap_or(usize::MAX);
                lists.items.reserve(count.saturating_mul(dimension), max_bytes)
            }
        }
    }

    /// Bytes of a range of values when they are stored flat.
    pub(crate) fn range_bytes(&self, range: Range<usize>) -> usize {
        let len = range.len();
        match self {
            Self::Nothing { .. } => 0,
            Self::Fixed(fixed) => fixed_bytes(fixed, len),
            Self::Variable(variable) => {
                let width = if matches!(variable.offsets, Offsets::Bits64(_)) { 8 } else { 4 };
                let offsets = len.saturating_add(1).saturating_mul(width);
                variable.bytes(range).map_or(0, <[u8]>::len).saturating_add(offsets)
            }
            Self::FixedSizeList(lists) => {
                let dimension = usize::try_from(lists.dimension).unwrap_or(usize::MAX);
                let item = |index: usize| index.saturating_mul(dimension);
                let items = lists.items.range_bytes(item(range.start)..item(range.end));
                let bitmap = lists.item_validity.as_ref().map_or(0, |v| fixed_bytes(v, item(len)));
                items.saturating_add(bitmap)
            }
            Self::Struct { children, .. } => {
                children.iter().map(|child| child.range_bytes(range.clone())).sum()
            }
        }
    }

    /// Whether the values are addressed by 64-bit offsets.
    pub(crate) fn has_wide_offsets(&self) -> bool {
        matches!(self, Self::Variable(values) if matches!(values.offsets, Offsets::Bits64(_)))
    }
}

fn fixed_bytes(values: &FixedValues, len: usize) -> usize {
    let bits = usize::try_from(values.bits()).unwrap_or(usize::MAX);
    len.saturating_mul(bits).div_ceil(8)
}

impl VariableValues {
    /// Bytes of the longest value.
    pub(crate) fn max_len(&self) -> usize {
        fn longest<T: Copy + Into<i64>>(offsets: &[T]) -> i64 {
            let lengths = offsets.iter().zip(offsets.get(1..).unwrap_or_default());
            let lengths = lengths.map(|(&start, &end)| end.into().saturating_sub(start.into()));
            lengths.max().unwrap_or(0)
        }
        let longest = match &self.offsets {
            Offsets::Bits32(offsets) => longest(offsets),
            Offsets::Bits64(offsets) => longest(offsets),
        };
        usize::try_from(longest).unwrap_or(0)
    }
}

impl FixedValues {
    /// A value of at most 64 bits as an unsigned number.
    pub(crate) fn unsigned(&self, index: usize) -> Option<u64> {
        let mut word = [0; 8];
        let bytes = self.bytes(index..index.checked_add(1)?).ok()?;
        word.get_mut(..bytes.len())?.copy_from_slice(bytes);
        Some(u64::from_le_bytes(word))
    }
}
