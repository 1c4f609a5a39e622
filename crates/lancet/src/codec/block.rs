//! One opaque buffer for a known number of values: the levels of a chunk, the dictionary of a page.

use std::slice;

use super::flat::{self, RowParts};
use super::{
    Encoding, Scratch, ValueType, Values, bitpack, byte_len, fixed_size_list, general, mini_block,
    mismatch, packed_levels, product, rle, size_u64, variable,
};
use crate::bits::Planes;
use crate::error::{Error, Result, ensure};

/// More levels than this were never written into one chunk.
const MAX_WRAPPED_LEVELS: u64 = 5_569_710;

/// Checks that a block of values of `value_type` can be stored in this way.
///
/// Levels are values of 16 bits.
pub(crate) fn check(encoding: &Encoding, value_type: &ValueType) -> Result<()> {
    match (encoding, value_type) {
        (
            Encoding::OutOfLineBitpacking { bits, packed_bits },
            ValueType::Fixed { bits: expected },
        ) if bits == expected && matches!(bits, 8 | 16 | 32 | 64) => {
            ensure!(
                packed_bits <= bits,
                "values of {bits} bits are packed into {packed_bits} bits"
            );
            Ok(())
        }
        (Encoding::General { values, .. }, _) => check(values, value_type),
        (Encoding::FixedSizeList { .. }, _) => {
            mini_block::check(encoding, value_type)?;
            fixed_size_list::row_bytes(encoding).map(|_| ())
        }
        (
            Encoding::Flat { .. }
            | Encoding::Variable { .. }
            | Encoding::InlineBitpacking { .. }
            | Encoding::Rle { .. },
            _,
        ) => mini_block::check(encoding, value_type),
        _ => Err(mismatch(encoding, value_type)),
    }
}

/// All values of a block.
pub(crate) fn decode_block(
    encoding: &Encoding,
    bytes: &[u8],
    num_values: usize,
    value_type: &ValueType,
    scratch: &mut Scratch,
) -> Result<Values> {
    let mut out = Values::new(value_type);
    decode_into(encoding, bytes, num_values, &mut out, scratch)?;
    Ok(out)
}

fn decode_into(
    encoding: &Encoding,
    bytes: &[u8],
    num_values: usize,
    out: &mut Values,
    scratch: &mut Scratch,
) -> Result<()> {
    let all = 0..num_values;
    match (encoding, out) {
        (Encoding::Flat { bits }, Values::Fixed(out)) if *bits == out.bits() => {
            flat::decode_ranges(bytes, num_values, 1, slice::from_ref(&all), out)
        }
        (Encoding::Variable { offset_bits }, Values::Variable(out)) => {
            variable::decode_block(bytes, *offset_bits, num_values, out)
        }
        (Encoding::InlineBitpacking { bits }, Values::Fixed(out)) => {
            bitpack::decode_inline(bytes, *bits, num_values, slice::from_ref(&all), out)
        }
        (Encoding::OutOfLineBitpacking { bits, packed_bits }, Values::Fixed(out)) => {
            bitpack::decode_out_of_line(bytes, *bits, *packed_bits, num_values, out, scratch)
        }
        (Encoding::Rle { bits }, Values::Fixed(out)) if *bits == out.bits() => {
            scratch.claim(size_u64(byte_len(num_values, *bits)?), "a block of runs")?;
            rle::decode_block(bytes, *bits, num_values, out)
        }
        (Encoding::FixedSizeList { .. }, Values::FixedSizeList(out)) => {
            let stride = fixed_size_list::row_bytes(encoding)?;
            let expected = product(num_values, stride)?;
            ensure!(
                bytes.len() == expected,
                "{num_values} rows have {} bytes instead of {expected}",
                bytes.len()
            );
            let rows = RowParts { bytes, stride, skip: 0, num_rows: num_values };
            fixed_size_list::decode_rows(encoding, rows, out)
        }
        (Encoding::General { scheme, values, .. }, out) => {
            let bytes = scratch.decompress(*scheme, bytes, block_bytes(values, num_values)?)?;
            let before = out.size_bytes();
            decode_into(values, &bytes, num_values, out, scratch)?;
            scratch.recycle(bytes, out.size_bytes().saturating_sub(before));
            Ok(())
        }
        _ => Err(mismatch(encoding, "the values of this block")),
    }
}

/// Bytes of a block at most, where the number of values tells.
fn block_bytes(encoding: &Encoding, num_values: usize) -> Result<Option<u64>> {
    let bytes = match encoding {
        Encoding::Flat { bits } => byte_len(num_values, *bits)?,
        Encoding::InlineBitpacking { bits } => byte_len(bitpack::BLOCK.saturating_add(1), *bits)?,
        Encoding::OutOfLineBitpacking { bits, .. } => {
            byte_len(num_values.saturating_add(bitpack::BLOCK), *bits)?
        }
        // At worst every value is a run of its own.
        Encoding::Rle { bits } => byte_len(num_values, bits.saturating_add(8))?.saturating_add(8),
        Encoding::FixedSizeList { .. } => {
            product(num_values, fixed_size_list::row_bytes(encoding)?)?
        }
        _ => return Ok(None),
    };
    Ok(Some(size_u64(bytes)))
}

/// Number of levels of a chunk whose header says `num_levels`.
///
/// They are the same, but for old files whose header lost the high bits: run lengths then tell.
pub(crate) fn num_levels(encoding: &Encoding, bytes: &[u8], num_levels: u16) -> Result<usize> {
    let said = u64::from(num_levels);
    let stored = match encoding {
        Encoding::Rle { bits: 16 } => rle::block_num_values(bytes, 16)?,
        _ => said,
    };
    let wrapped =
        stored > said && stored.checked_rem(1 << 16) == Some(said) && stored <= MAX_WRAPPED_LEVELS;
    ensure!(stored == said || wrapped, "{stored} levels are stored where {said} are announced");
    super::size(stored)
}

/// Appends all levels of a block. The caller has claimed what they take.
pub(crate) fn decode_levels(
    encoding: &Encoding,
    bytes: &[u8],
    num_levels: usize,
    out: &mut Planes,
    scratch: &mut Scratch,
) -> Result<()> {
    match encoding {
        Encoding::Flat { bits: 16 } => flat::decode_levels(bytes, num_levels, out),
        Encoding::InlineBitpacking { bits: 16 } => {
            packed_levels::decode_inline(bytes, num_levels, out)
        }
        Encoding::OutOfLineBitpacking { bits: 16, packed_bits } => {
            packed_levels::decode_out_of_line(bytes, *packed_bits, num_levels, out)
        }
        Encoding::Rle { bits: 16 } => rle::decode_levels(bytes, num_levels, out),
        Encoding::General { scheme, values, .. } => {
            let bytes = scratch.decompress(*scheme, bytes, block_bytes(values, num_levels)?)?;
            decode_levels(values, &bytes, num_levels, out, scratch)?;
            scratch.recycle(bytes, 0);
            Ok(())
        }
        _ => Err(mismatch(encoding, "levels")),
    }
}

/// All values as one block.
pub(crate) fn encode_block(encoding: &Encoding, values: &Values) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    match (encoding, values) {
        (Encoding::Variable { offset_bits }, Values::Variable(values))
            if *offset_bits == values.offsets.bits() =>
        {
            variable::encode_block(values, &mut out)?;
        }
        (Encoding::Flat { bits }, Values::Fixed(values)) if *bits == values.bits() => {
            out.extend_from_slice(values.data());
        }
        (_, Values::Fixed(values)) if encoding.fixed_bits() == Some(values.bits()) => {
            encode_words(encoding, values.data(), &mut out)?;
        }
        (Encoding::FixedSizeList { .. }, Values::FixedSizeList(list)) => {
            for row in 0..list.len {
                fixed_size_list::encode_row(encoding, list, row..row.saturating_add(1), &mut out)?;
            }
        }
        (Encoding::General { scheme, level, values: inner }, _) => {
            let block = encode_block(inner, values)?;
            general::compress(*scheme, *level, &block, &mut out)?;
        }
        _ => return Err(mismatch(encoding, "the values to write")),
    }
    Ok(out)
}

/// Appends all levels as one block.
pub(crate) fn encode_levels(encoding: &Encoding, levels: &[u16], out: &mut Vec<u8>) -> Result<()> {
    if encoding.fixed_bits() != Some(16) {
        return Err(mismatch(encoding, "levels"));
    }
    let bytes: Vec<u8> = levels.iter().flat_map(|level| level.to_le_bytes()).collect();
    encode_words(encoding, &bytes, out)
}

/// Appends a block of fixed-width values, given as bytes.
fn encode_words(encoding: &Encoding, values: &[u8], out: &mut Vec<u8>) -> Result<()> {
    match encoding {
        Encoding::Flat { .. } => out.extend_from_slice(values),
        Encoding::InlineBitpacking { bits } => bitpack::encode_inline(values, *bits, out)?,
        Encoding::OutOfLineBitpacking { bits, packed_bits } => {
            bitpack::encode_out_of_line(values, *bits, *packed_bits, out)?;
        }
        Encoding::Rle { bits } => rle::encode_block(values, *bits, out),
        Encoding::General { scheme, level, values: inner } => {
            let mut block = Vec::new();
            encode_words(inner, values, &mut block)?;
            general::compress(*scheme, *level, &block, out)?;
        }
        _ => return Err(Error::invalid(format!("\"{encoding}\" cannot hold a block of numbers"))),
    }
    Ok(())
}

#[cfg(test)]
#[path = "block_tests.rs"]
mod tests;
