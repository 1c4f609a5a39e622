//! Plain statistics of the values of a page, computed once before an encoding is chosen.

use crate::codec::{FixedValues, Values, VariableValues};

/// What a choice needs to know about the values of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Measures {
    /// Longest value in bytes; for lists and structs the bytes of one row.
    pub(crate) max_value_bytes: usize,
    /// Bytes of the values when each block of 1,024 is bit-packed to its own width.
    pub(crate) packed_bytes: Option<usize>,
    /// The first value that is not null, if all that are not null equal it.
    pub(crate) constant: Option<usize>,
}

/// Measures the values; `valid` tells which of them are not null.
pub(crate) fn measure(values: &Values, valid: Option<&[bool]>) -> Measures {
    let is_valid = |i: &usize| valid.is_none_or(|valid| valid.get(*i).copied().unwrap_or(false));
    let first = (0..values.len()).find(is_valid);
    let constant = first.filter(|&first| {
        let mut rest = (first + 1..values.len()).filter(is_valid);
        match values {
            Values::Fixed(fixed) if fixed.bits == 1 => {
                let bit = fixed.bit(first);
                rest.all(|i| fixed.bit(i) == bit)
            }
            Values::Fixed(fixed) => {
                let value = |i: usize| fixed.bytes(i..i + 1).ok();
                rest.all(|i| value(i) == value(first))
            }
            Values::Variable(variable) => {
                let value = variable.value(first).ok();
                rest.all(|i| variable.value(i).ok() == value)
            }
            Values::Nothing { .. } | Values::FixedSizeList(_) | Values::Struct { .. } => false,
        }
    });
    let packed_bytes = match values {
        Values::Fixed(fixed) => packed_bytes(fixed),
        _ => None,
    };
    Measures { max_value_bytes: max_value_bytes(values), packed_bytes, constant }
}

fn max_value_bytes(values: &Values) -> usize {
    match values {
        Values::Nothing { .. } => 0,
        Values::Fixed(fixed) => fixed.width_bytes().unwrap_or(0),
        Values::Variable(variable) => longest(variable),
        Values::FixedSizeList(lists) => {
            let dimension = usize::try_from(lists.dimension).unwrap_or(usize::MAX);
            max_value_bytes(&lists.items).saturating_mul(dimension)
        }
        Values::Struct { children, .. } => children.iter().map(max_value_bytes).sum(),
    }
}

fn longest(values: &VariableValues) -> usize {
    (0..values.len()).filter_map(|i| values.value(i).ok()).map(<[u8]>::len).max().unwrap_or(0)
}

/// Bytes of the values, bit-packed in blocks of 1,024 that start with their width.
fn packed_bytes(values: &FixedValues) -> Option<usize> {
    fn blocks<T: Copy + Into<u64>>(values: &[T], word: usize) -> usize {
        let block = |block: &[T]| {
            let all = block.iter().fold(0_u64, |all, value| all | (*value).into());
            word + 128 * (64 - all.leading_zeros()) as usize
        };
        values.chunks(1024).map(block).sum()
    }
    match values.bits {
        8 => Some(blocks(values.data.as_slice(), 1)),
        16 => Some(blocks(values.data.typed_data::<u16>(), 2)),
        32 => Some(blocks(values.data.typed_data::<u32>(), 4)),
        64 => Some(blocks(values.data.typed_data::<u64>(), 8)),
        _ => None,
    }
}
