//! Values with their lengths before them.

use std::ops::Range;

use crate::byte_arrays::{ByteArrays, ByteArraysRef, MOST_BYTES, copy};
use crate::error::{Result, Rule};

const LENGTH_BYTES: usize = 4;
/// Up to this many bytes on average, values are short.
const SHORT: usize = 32;

/// Appends byte arrays.
pub fn encode_byte_arrays(values: ByteArraysRef<'_>, out: &mut Vec<u8>) {
    // Short values are moved without a call, into bytes that are there already; for long ones it
    // costs more to make these bytes zero first.
    if values.all_bytes().len() > values.len().saturating_mul(SHORT) {
        encode_long(values, out);
    } else {
        encode_short(values, out);
    }
}

fn encode_long(values: ByteArraysRef<'_>, out: &mut Vec<u8>) {
    out.reserve(encoded_len(values));
    for (value, length) in values.iter().zip(values.lengths()) {
        out.extend_from_slice(&length.to_le_bytes());
        out.extend_from_slice(value);
    }
}

fn encode_short(values: ByteArraysRef<'_>, out: &mut Vec<u8>) {
    let bytes = values.all_bytes();
    let start = out.len();
    out.resize(start.saturating_add(encoded_len(values)), 0);
    let out = out.get_mut(start..).unwrap_or_default();
    let (mut from, mut to) = (0_usize, 0_usize);
    for length in values.lengths() {
        if let Some(place) = out.get_mut(to..).and_then(<[u8]>::first_chunk_mut) {
            *place = length.to_le_bytes();
        }
        to = to.wrapping_add(LENGTH_BYTES);
        let length = length.cast_unsigned() as usize;
        copy(bytes, from, out, to, length);
        from = from.wrapping_add(length);
        to = to.wrapping_add(length);
    }
}

fn encoded_len(values: ByteArraysRef<'_>) -> usize {
    values.all_bytes().len().saturating_add(values.len().saturating_mul(LENGTH_BYTES))
}

/// Appends all `num_values` byte arrays of a page to `out`; returns how many bytes they took.
pub fn decode_byte_arrays(bytes: &[u8], num_values: usize, out: &mut ByteArrays) -> Result<usize> {
    append(bytes, 0, num_values, out)
}

/// Appends the byte arrays of a range of a page to `out`. Of those before it only the lengths are read.
pub fn decode_byte_arrays_range(
    bytes: &[u8],
    range: Range<usize>,
    out: &mut ByteArrays,
) -> Result<()> {
    let mut start = 0;
    for _ in 0..range.start {
        start = length_at(bytes, start)?.1;
    }
    append(bytes, start, range.len(), out)?;
    Ok(())
}

/// Appends the `count` byte arrays that begin at `at`; returns where they end.
fn append(bytes: &[u8], mut at: usize, count: usize, out: &mut ByteArrays) -> Result<usize> {
    let room = count
        .checked_mul(LENGTH_BYTES)
        .and_then(|all| bytes.len().checked_sub(at)?.checked_sub(all));
    let room = room.ok_or_else(|| Rule::Complete.broken(bytes.len()))?;
    let before = out.len();
    let mut to = out.grow(room.min(MOST_BYTES.saturating_sub(out.bytes.len())), at)?;
    out.offsets.reserve(count);
    let mut outcome = Ok(());
    for _ in 0..count {
        let (length, end) = match length_at(bytes, at) {
            Ok(found) => found,
            Err(error) => {
                outcome = Err(error);
                break;
            }
        };
        let next = to.wrapping_add(length);
        // Short of the end of `bytes` there is room for all, unless 2^31 bytes are passed.
        let Some(offset) = i32::try_from(next).ok() else {
            outcome = Err(Rule::Size.broken(at));
            break;
        };
        copy(bytes, at.wrapping_add(LENGTH_BYTES), &mut out.bytes, to, length);
        out.offsets.push(offset);
        to = next;
        at = end;
    }
    let kept = if outcome.is_ok() { before.saturating_add(count) } else { before };
    out.truncate(kept);
    outcome.map(|()| at)
}

/// The length of the value at `at`, and where the value ends.
#[inline(always)]
fn length_at(bytes: &[u8], at: usize) -> Result<(usize, usize)> {
    let Some((length, rest)) = bytes.get(at..).and_then(<[u8]>::split_first_chunk) else {
        return Err(Rule::Complete.broken(at));
    };
    let length = u32::from_le_bytes(*length) as usize;
    if length > MOST_BYTES {
        return Err(Rule::Length.broken(at));
    }
    if length > rest.len() {
        return Err(Rule::Complete.broken(at));
    }
    Ok((length, at.wrapping_add(LENGTH_BYTES).wrapping_add(length)))
}
