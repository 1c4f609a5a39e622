//! The values of one mini-block chunk: a list of buffers for a known number of values.
//!
//! Where the page cuts its chunks is not decided here.

use std::ops::Range;

use super::{
    Encoding, Scratch, ValueType, Values, bitpack, byte_len, byte_stream_split, fixed_size_list,
    flat, fsst, general, mismatch, packed_struct, product, rle, size_u64, variable,
};
use crate::error::{Error, Result, ensure};

/// Checks that chunks of values of `value_type` can be stored in this way.
pub(crate) fn check(encoding: &Encoding, value_type: &ValueType) -> Result<()> {
    let is_word = |bits: &u64| matches!(bits, 8 | 16 | 32 | 64);
    match (encoding, value_type) {
        (Encoding::Flat { bits }, ValueType::Fixed { bits: expected })
            if bits == expected && is_flat_width(*bits) =>
        {
            Ok(())
        }
        (
            Encoding::InlineBitpacking { bits } | Encoding::Rle { bits },
            ValueType::Fixed { bits: expected },
        ) if bits == expected && is_word(bits) => Ok(()),
        (
            Encoding::ByteStreamSplit { bits: bits @ (32 | 64) },
            ValueType::Fixed { bits: expected },
        ) if bits == expected => Ok(()),
        (
            Encoding::Variable { offset_bits: bits @ (32 | 64) },
            ValueType::Variable { offset_bits: expected },
        ) if bits == expected => Ok(()),
        (Encoding::Fsst { values, .. }, ValueType::Variable { .. })
            if matches!(**values, Encoding::Variable { .. }) =>
        {
            check(values, value_type)
        }
        (Encoding::FixedSizeList { .. }, ValueType::FixedSizeList { .. }) => {
            check_list(encoding, value_type, false)
        }
        (Encoding::PackedStruct { field_bits }, ValueType::Struct(children)) => {
            check_packed(field_bits, children)
        }
        (Encoding::General { values, .. }, _) => check(values, value_type),
        _ => Err(mismatch(encoding, value_type)),
    }
}

pub(super) fn is_flat_width(bits: u64) -> bool {
    bits == 1 || (bits > 0 && bits.is_multiple_of(8))
}

/// Checks a fixed-size list, whose items may be all null where rows stand alone.
pub(super) fn check_list(encoding: &Encoding, value_type: &ValueType, in_rows: bool) -> Result<()> {
    match (encoding, value_type) {
        (
            Encoding::FixedSizeList { items_per_value, has_validity, values },
            ValueType::FixedSizeList { dimension, item },
        ) => {
            ensure!(
                items_per_value == dimension && *dimension > 0,
                "a list of {dimension} items is stored with {items_per_value} items"
            );
            match (&**values, &**item) {
                // All items are null: numbers, or lists themselves.
                (
                    Encoding::Constant,
                    ValueType::Fixed { .. } | ValueType::FixedSizeList { .. } | ValueType::Nothing,
                ) if in_rows && *has_validity => Ok(()),
                (values, item) => check_list(values, item, in_rows),
            }
        }
        (Encoding::Flat { bits }, ValueType::Fixed { bits: expected })
            if bits == expected && is_flat_width(*bits) =>
        {
            Ok(())
        }
        _ => Err(mismatch(encoding, value_type)),
    }
}

pub(super) fn check_packed(field_bits: &[u64], children: &[ValueType]) -> Result<()> {
    packed_struct::row_bytes(field_bits)?;
    let fields = field_bits.iter().map(|&bits| ValueType::Fixed { bits });
    ensure!(
        fields.eq(children.iter().cloned()),
        "a packed struct of fields of {field_bits:?} bits is stored where {children:?} is expected"
    );
    Ok(())
}

/// Appends the values `ranges` of a chunk of `num_values` values.
///
/// `ranges` are sorted, do not overlap and are not empty.
pub(crate) fn decode_chunk(
    encoding: &Encoding,
    buffers: &[&[u8]],
    num_values: usize,
    ranges: &[Range<usize>],
    out: &mut Values,
    scratch: &mut Scratch,
) -> Result<()> {
    match (encoding, buffers, out) {
        (Encoding::Flat { bits }, [buffer], Values::Fixed(out)) if *bits == out.bits() => {
            flat::decode_ranges(buffer, num_values, 1, ranges, out)
        }
        (Encoding::InlineBitpacking { bits }, [buffer], Values::Fixed(out)) => {
            claim_picked(ranges, *bits, scratch)?;
            bitpack::decode_inline(buffer, *bits, num_values, ranges, out)
        }
        (Encoding::Variable { offset_bits }, [buffer], Values::Variable(out)) => {
            variable::decode_chunk(buffer, *offset_bits, num_values, ranges, out)
        }
        (Encoding::Fsst { table, values }, [buffer], Values::Variable(out)) => match **values {
            Encoding::Variable { offset_bits } => {
                let most = size_u64(buffer.len()).saturating_mul(fsst::MAX_EXPANSION);
                scratch.claim(most, "coded strings")?;
                let before = out.bytes.len();
                let places = &mut scratch.places;
                variable::decode_coded_chunk(
                    table,
                    buffer,
                    offset_bits,
                    num_values,
                    ranges,
                    out,
                    places,
                )?;
                let grown = out.bytes.len().saturating_sub(before);
                scratch.release(most.saturating_sub(size_u64(grown)));
                Ok(())
            }
            _ => Err(mismatch(encoding, "strings")),
        },
        (Encoding::Rle { bits }, [values, lengths], Values::Fixed(out)) if *bits == out.bits() => {
            claim_picked(ranges, *bits, scratch)?;
            rle::decode_chunk(values, lengths, *bits, num_values, ranges, out)
        }
        (Encoding::ByteStreamSplit { bits }, [buffer], Values::Fixed(out))
            if *bits == out.bits() =>
        {
            byte_stream_split::decode_chunk(buffer, *bits, num_values, ranges, out)
        }
        (Encoding::FixedSizeList { .. }, _, Values::FixedSizeList(out)) => {
            fixed_size_list::decode_chunk(encoding, buffers, num_values, ranges, out)
        }
        (Encoding::PackedStruct { field_bits }, [buffer], Values::Struct { len, children }) => {
            packed_struct::decode_chunk(field_bits, buffer, num_values, ranges, children)?;
            *len = ranges.iter().map(Range::len).fold(*len, usize::saturating_add);
            Ok(())
        }
        (Encoding::General { scheme, values, .. }, [first, rest @ ..], out) => {
            let bound = first_buffer_bytes(values, num_values)?;
            let bytes = scratch.decompress(*scheme, first, bound)?;
            let before = out.size_bytes();
            if rest.is_empty() {
                decode_chunk(values, &[&bytes], num_values, ranges, out, scratch)?;
            } else {
                let buffers: Vec<&[u8]> =
                    std::iter::once(bytes.as_slice()).chain(rest.iter().copied()).collect();
                decode_chunk(values, &buffers, num_values, ranges, out, scratch)?;
            }
            scratch.recycle(bytes, out.size_bytes().saturating_sub(before));
            Ok(())
        }
        _ => Err(mismatch(encoding, format_args!("this chunk of {} buffers", buffers.len()))),
    }
}

/// Claims the bytes of the values `ranges`, which a few stored bytes may stand for.
fn claim_picked(ranges: &[Range<usize>], bits: u64, scratch: &mut Scratch) -> Result<()> {
    let picked = ranges.iter().map(Range::len).fold(0, usize::saturating_add);
    scratch.claim(size_u64(byte_len(picked, bits)?), "the values of a chunk")
}

/// Bytes of the first buffer of a chunk at most, where the number of values tells.
fn first_buffer_bytes(encoding: &Encoding, num_values: usize) -> Result<Option<u64>> {
    let bytes = match encoding {
        Encoding::Flat { bits } | Encoding::ByteStreamSplit { bits } => {
            byte_len(num_values, *bits)?
        }
        // The width and a block that is not packed at all.
        Encoding::InlineBitpacking { bits } => byte_len(bitpack::BLOCK.saturating_add(1), *bits)?,
        Encoding::PackedStruct { field_bits } => {
            product(num_values, packed_struct::row_bytes(field_bits)?)?
        }
        _ => return Ok(None),
    };
    Ok(Some(size_u64(bytes)))
}

/// Writes the values `range` as one chunk; `out` gets one entry for each value buffer.
///
/// With `Fsst` the values are the coded strings: a page must know their sizes before it cuts
/// chunks, so it codes them first.
pub(crate) fn encode_chunk(
    encoding: &Encoding,
    values: &Values,
    range: Range<usize>,
    out: &mut Vec<Vec<u8>>,
) -> Result<()> {
    out.resize_with(encoding.num_buffers(), Vec::new);
    out.iter_mut().for_each(Vec::clear);
    encode_into(encoding, values, range, out)
}

fn encode_into(
    encoding: &Encoding,
    values: &Values,
    range: Range<usize>,
    out: &mut [Vec<u8>],
) -> Result<()> {
    match (encoding, values, &mut *out) {
        (Encoding::Flat { bits }, Values::Fixed(values), [out]) if *bits == values.bits() => {
            flat::encode(values, range, out)
        }
        (Encoding::InlineBitpacking { bits }, Values::Fixed(values), [out])
            if *bits == values.bits() =>
        {
            bitpack::encode_inline(values.bytes(range)?, *bits, out)
        }
        (Encoding::Rle { bits }, Values::Fixed(values), [runs, lengths])
            if *bits == values.bits() =>
        {
            rle::encode_chunk(values.bytes(range)?, *bits, runs, lengths);
            Ok(())
        }
        (Encoding::ByteStreamSplit { bits }, Values::Fixed(values), [out])
            if *bits == values.bits() =>
        {
            byte_stream_split::encode_chunk(values.bytes(range)?, *bits, out);
            Ok(())
        }
        (Encoding::Variable { offset_bits }, Values::Variable(values), [out]) => {
            let append = |index, out: &mut Vec<u8>| {
                out.extend_from_slice(values.value(index)?);
                Ok(())
            };
            variable::encode_chunk(*offset_bits, range, append, out)
        }
        (Encoding::Fsst { values: coded, .. }, _, _) => encode_into(coded, values, range, out),
        (Encoding::FixedSizeList { .. }, Values::FixedSizeList(list), _) => {
            fixed_size_list::encode_chunk(encoding, list, range, out)
        }
        (Encoding::PackedStruct { field_bits }, Values::Struct { children, .. }, [out]) => range
            .into_iter()
            .try_for_each(|index| packed_struct::encode_row(field_bits, children, index, out)),
        (Encoding::General { scheme, level, values: inner }, _, _) => {
            let num_values = range.len();
            encode_into(inner, values, range, out)?;
            let buffer = out.first_mut().ok_or_else(|| Error::invalid("there is no buffer"))?;
            let (first, next) = parts(inner, num_values, buffer.len());
            let mut unit = Vec::new();
            general::compress_parts(*scheme, *level, buffer, first, next, &mut unit)?;
            *buffer = unit;
            Ok(())
        }
        _ => Err(mismatch(encoding, "the values to write")),
    }
}

/// Parts of the first buffer of a chunk that have little in common: the length of the first and
/// that of each of the rest, as [`general::compress_parts`] wants them.
fn parts(encoding: &Encoding, num_values: usize, len: usize) -> (usize, usize) {
    /// Shorter parts are not worth statistics of their own.
    const MIN_PART: usize = 512;
    let (first, next) = match encoding {
        Encoding::ByteStreamSplit { .. } => (num_values, num_values),
        Encoding::Fsst { values, .. } => return parts(values, num_values, len),
        Encoding::Variable { offset_bits } => {
            let offset_bytes = if *offset_bits == 64 { 8 } else { 4 };
            (num_values.saturating_add(1).saturating_mul(offset_bytes), 0)
        }
        _ => (len, 0),
    };
    if first < MIN_PART { (len, 0) } else { (first, next) }
}

#[cfg(test)]
#[path = "mini_block_tests.rs"]
mod tests;
