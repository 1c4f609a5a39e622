//! DELTA_LENGTH_BYTE_ARRAY: the lengths of byte arrays, then their bytes.
//!
//! | bytes | what |
//! |---|---|
//! | a stream of [DELTA_BINARY_PACKED](crate::delta_binary_packed) | the lengths, as INT32 |
//! | the sum of the lengths | the values, back to back |
//!
//! Of the values before a range only the lengths are read.

use std::ops::Range;

use crate::byte_arrays::{ByteArrays, ByteArraysRef, MOST_BYTES};
use crate::delta_binary_packed::{self, Decoder};
use crate::error::{Result, Rule};

/// Lengths that are decoded at once where they are only added up.
const LENGTHS_AT_ONCE: usize = 256;

/// Appends byte arrays.
pub fn encode(values: ByteArraysRef<'_>, out: &mut Vec<u8>) {
    let lengths: Vec<i32> = values.lengths().collect();
    let bytes = values.all_bytes();
    // At most four bytes for a length; most take less.
    out.reserve(bytes.len().saturating_add(lengths.len()));
    delta_binary_packed::encode(&lengths, out);
    out.extend_from_slice(bytes);
}

/// Appends all `num_values` byte arrays of a page to `out`; returns how many bytes they took.
pub fn decode(bytes: &[u8], num_values: usize, out: &mut ByteArrays) -> Result<usize> {
    append(bytes, num_values, 0..num_values, out)
}

/// Appends the byte arrays of a range of a page of `num_values` to `out`.
pub fn decode_range(
    bytes: &[u8],
    num_values: usize,
    range: Range<usize>,
    out: &mut ByteArrays,
) -> Result<()> {
    append(bytes, num_values, range, out)?;
    Ok(())
}

/// Appends the byte arrays of a range; returns where they end.
fn append(
    bytes: &[u8],
    num_values: usize,
    range: Range<usize>,
    out: &mut ByteArrays,
) -> Result<usize> {
    if range.start > range.end || range.end > num_values {
        return Err(Rule::Range.broken(0));
    }
    let mut stream = Decoder::<i32>::new(bytes, num_values)?;
    let before = out.len();
    let appended = append_with(&mut stream, bytes, range, out);
    if appended.is_err() {
        out.truncate(before);
    }
    appended
}

fn append_with(
    stream: &mut Decoder<'_, i32>,
    bytes: &[u8],
    range: Range<usize>,
    out: &mut ByteArrays,
) -> Result<usize> {
    let skipped = skip_lengths(stream, range.start, bytes.len())?;
    let first = out.offsets.len();
    out.offsets.resize(first.saturating_add(range.len()), 0);
    let lengths = out.offsets.get_mut(first..).unwrap_or_default();
    stream.read(lengths)?;
    let values_at = stream.clone().finish()?;
    let total = sum(lengths).ok_or_else(|| Rule::Length.broken(0))?;
    let span = || {
        let start = values_at.checked_add(skipped)?;
        Some(start..start.checked_add(total)?).filter(|span| span.end <= bytes.len())
    };
    let span = span().ok_or_else(|| Rule::Complete.broken(values_at))?;
    let mut end = out.bytes.len();
    if total > MOST_BYTES.saturating_sub(end) {
        return Err(Rule::Size.broken(values_at));
    }
    for length in lengths {
        end = end.wrapping_add(length.cast_unsigned() as usize);
        *length = i32::try_from(end).unwrap_or(i32::MAX);
    }
    out.bytes.extend_from_slice(bytes.get(span.clone()).unwrap_or_default());
    Ok(span.end)
}

/// Goes past lengths; returns their sum.
fn skip_lengths(stream: &mut Decoder<'_, i32>, mut count: usize, most: usize) -> Result<usize> {
    let mut lengths = [0; LENGTHS_AT_ONCE];
    let mut total = 0_usize;
    while count > 0 {
        let here = count.min(LENGTHS_AT_ONCE);
        let lengths = lengths.get_mut(..here).unwrap_or_default();
        stream.read(lengths)?;
        let more = sum(lengths).ok_or_else(|| Rule::Length.broken(0))?;
        total = total.saturating_add(more);
        if total > most {
            return Err(Rule::Complete.broken(most));
        }
        count = count.saturating_sub(here);
    }
    Ok(total)
}

/// The sum of lengths, none of which may be negative.
fn sum(lengths: &[i32]) -> Option<usize> {
    let (mut total, mut all) = (0_u64, 0);
    for length in lengths {
        all |= length;
        total = total.wrapping_add(u64::from(length.cast_unsigned()));
    }
    usize::try_from(total).ok().filter(|_| all >= 0)
}
