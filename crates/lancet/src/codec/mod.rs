//! Values into bytes and back. No Arrow type, no page, no file, no I/O.
//!
//! An [`Encoding`] describes how the values of a page are compressed. The same encoding may have
//! different bytes in each of three contexts, one module each:
//!
//! | context | module | unit |
//! |---|---|---|
//! | mini-block | [`mini_block`] | a chunk: a list of value buffers |
//! | block | [`block`] | one opaque buffer: levels, dictionaries |
//! | per-value | [`per_value`] | one row of a full-zip page |
//!
//! Those modules only dispatch; each technique has a file of its own.

#![cfg_attr(
    not(test),
    deny(
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects,
        clippy::cast_possible_truncation
    )
)]

pub(crate) mod bitpack;
pub(crate) mod block;
mod byte_stream_split;
mod dictionary;
mod encoding;
mod fixed_size_list;
mod fixed_values;
pub(crate) mod flat;
pub(crate) mod fsst;
mod gather;
pub(crate) mod general;
pub(crate) mod mini_block;
mod packed_levels;
mod packed_struct;
pub(crate) mod per_value;
mod rle;
mod scratch;
mod slots;
mod value_buffer;
pub(crate) mod values;
mod variable;
mod variable_values;

use std::fmt;

pub(crate) use dictionary::Dictionary;
pub(crate) use encoding::{Encoding, PackedField, PackedWidth, Scheme};
pub(crate) use fixed_values::FixedValues;
pub(crate) use gather::is_set;
pub(crate) use scratch::Scratch;
pub(crate) use value_buffer::ValueBuffer;
pub(crate) use values::{FixedSizeListValues, KeyType, ValueType, Values};
pub(crate) use variable_values::{Offsets, VariableValues};

use crate::error::{Error, Result};

// Stored words are viewed as numbers in place, which needs the byte order of the format.
#[cfg(target_endian = "big")]
compile_error!("lancet runs on little-endian machines only");

/// A size in memory as a number of the format.
pub(crate) fn size_u64(size: usize) -> u64 {
    u64::try_from(size).unwrap_or(u64::MAX)
}

/// Bytes of `num_values` values of `bits` bits back to back.
fn byte_len(num_values: usize, bits: u64) -> Result<usize> {
    let bytes = size_u64(num_values).checked_mul(bits).map(|bits| bits.div_ceil(8));
    bytes.and_then(|bytes| usize::try_from(bytes).ok()).ok_or_else(|| {
        Error::corrupt(format!("{num_values} values of {bits} bits do not fit into memory"))
    })
}

/// `left * right`, both counts from a file.
fn product(left: usize, right: usize) -> Result<usize> {
    left.checked_mul(right)
        .ok_or_else(|| Error::corrupt(format!("the product of {left} and {right} is too large")))
}

/// A count of the format as a size in memory.
pub(crate) fn size(number: u64) -> Result<usize> {
    usize::try_from(number)
        .map_err(|_| Error::corrupt(format!("{number} does not fit into memory")))
}

/// The error for values that an encoding cannot hold.
fn mismatch(encoding: &Encoding, values: impl fmt::Debug) -> Error {
    Error::corrupt(format!("the encoding \"{encoding}\" cannot hold {values:?}"))
}
