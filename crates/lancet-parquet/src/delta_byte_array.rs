//! DELTA_BYTE_ARRAY: what a byte array shares with the one before it is left out.
//!
//! | bytes | what |
//! |---|---|
//! | a stream of [DELTA_BINARY_PACKED](crate::delta_binary_packed) | how many bytes each value shares with the one before, as INT32 |
//! | [DELTA_LENGTH_BYTE_ARRAY](crate::delta_length_byte_array) | the rest of each value |
//!
//! The first value shares nothing. Every value may share all of a long one, so the values can be larger
//! than the page by any factor: the caller says how many bytes they may have.
//!
//! Of the values before a range the lengths are read, and those bytes that its first value shares.

use std::ops::Range;

use crate::byte_arrays::{ByteArrays, ByteArraysRef, MOST_BYTES, copy};
use crate::delta_binary_packed::{self, Decoder};
use crate::error::{Result, Rule};

/// Appends byte arrays.
pub fn encode(values: ByteArraysRef<'_>, out: &mut Vec<u8>) {
    encode_values(values.all_bytes(), values.lengths().map(size), out);
}

/// Appends values of FIXED_LEN_BYTE_ARRAY(`len`), which stand back to back; an error when they are not
/// a whole number of such values.
pub fn encode_fixed_len(values: &[u8], len: usize, out: &mut Vec<u8>) -> Result<()> {
    if len == 0 || len > MOST_BYTES || !values.len().is_multiple_of(len) {
        return Err(Rule::FixedLength.broken(values.len()));
    }
    encode_values(values, values.chunks_exact(len).map(<[u8]>::len), out);
    Ok(())
}

/// Appends values that stand back to back in `bytes`.
fn encode_values(
    bytes: &[u8],
    lengths: impl ExactSizeIterator<Item = usize> + Clone,
    out: &mut Vec<u8>,
) {
    let mut prefixes = Vec::with_capacity(lengths.len());
    let mut suffixes = Vec::with_capacity(lengths.len());
    let mut suffix_bytes = 0_usize;
    let (mut at, mut before) = (0_usize, 0..0);
    for len in lengths.clone() {
        let value = at..at.wrapping_add(len);
        let shared = shared_prefix(bytes, before, value.clone());
        prefixes.push(length(shared));
        suffixes.push(length(len.wrapping_sub(shared)));
        suffix_bytes = suffix_bytes.saturating_add(len.wrapping_sub(shared));
        at = value.end;
        before = value;
    }
    delta_binary_packed::encode(&prefixes, out);
    delta_binary_packed::encode(&suffixes, out);
    let mut to = out.len();
    out.resize(to.saturating_add(suffix_bytes), 0);
    let mut end = 0_usize;
    for (len, suffix) in lengths.zip(suffixes) {
        end = end.wrapping_add(len);
        let suffix = size(suffix);
        copy(bytes, end.wrapping_sub(suffix), out, to, suffix);
        to = to.wrapping_add(suffix);
    }
}

/// A length of a value, all of which are below 2^31 bytes.
fn length(len: usize) -> i32 {
    i32::try_from(len).unwrap_or(i32::MAX)
}

/// How many bytes two values have in common at their beginning. Looks at eight at once, also at those
/// behind the values, where there are that many.
#[inline(always)]
fn shared_prefix(bytes: &[u8], one: Range<usize>, other: Range<usize>) -> usize {
    let word = |at: usize| bytes.get(at..)?.first_chunk().map(|word| u64::from_le_bytes(*word));
    let most = one.len().min(other.len());
    let mut shared = 0_usize;
    while shared < most {
        let places = (one.start.wrapping_add(shared), other.start.wrapping_add(shared));
        let (Some(a), Some(b)) = (word(places.0), word(places.1)) else {
            if bytes.get(places.0) != bytes.get(places.1) {
                return shared;
            }
            shared = shared.wrapping_add(1);
            continue;
        };
        if a != b {
            return most.min(shared.wrapping_add((a ^ b).trailing_zeros() as usize / 8));
        }
        shared = shared.wrapping_add(8);
    }
    most
}

/// Appends all `num_values` byte arrays of a page to `out`, if they have at most `max_bytes`; returns
/// how many bytes they took in the page.
pub fn decode(
    bytes: &[u8],
    num_values: usize,
    max_bytes: usize,
    out: &mut ByteArrays,
) -> Result<usize> {
    append(bytes, num_values, 0..num_values, max_bytes, out)
}

/// Appends the byte arrays of a range of a page of `num_values` to `out`, if they have at most
/// `max_bytes`.
pub fn decode_range(
    bytes: &[u8],
    num_values: usize,
    range: Range<usize>,
    max_bytes: usize,
    out: &mut ByteArrays,
) -> Result<()> {
    append(bytes, num_values, range, max_bytes, out)?;
    Ok(())
}

/// Appends all values of a page of FIXED_LEN_BYTE_ARRAY(`len`) to `out`, back to back; returns how many
/// bytes they took in the page. The caller knows how much `num_values * len` is.
pub fn decode_fixed_len(
    bytes: &[u8],
    num_values: usize,
    len: usize,
    out: &mut Vec<u8>,
) -> Result<usize> {
    append_fixed_len(bytes, num_values, 0..num_values, len, out)
}

/// Appends the values of a range of a page of `num_values` of FIXED_LEN_BYTE_ARRAY(`len`) to `out`, back
/// to back.
pub fn decode_fixed_len_range(
    bytes: &[u8],
    num_values: usize,
    range: Range<usize>,
    len: usize,
    out: &mut Vec<u8>,
) -> Result<()> {
    append_fixed_len(bytes, num_values, range, len, out)?;
    Ok(())
}

fn append(
    bytes: &[u8],
    num_values: usize,
    range: Range<usize>,
    max_bytes: usize,
    out: &mut ByteArrays,
) -> Result<usize> {
    let parts = Parts::read(bytes, num_values, range)?;
    if parts.total > max_bytes {
        return Err(Rule::Size.broken(parts.suffixes_at));
    }
    let start = out.grow(parts.total, parts.suffixes_at)?;
    out.offsets.reserve(parts.range.len());
    let offsets = &mut out.offsets;
    parts.rebuild(&mut out.bytes, start, |end| offsets.push(length(end)));
    Ok(parts.end)
}

fn append_fixed_len(
    bytes: &[u8],
    num_values: usize,
    range: Range<usize>,
    len: usize,
    out: &mut Vec<u8>,
) -> Result<usize> {
    let parts = Parts::read(bytes, num_values, range)?;
    let lengths = parts.prefixes.iter().zip(&parts.suffixes);
    if !lengths.into_iter().all(|(p, s)| p.wrapping_add(*s).cast_unsigned() as usize == len) {
        return Err(Rule::FixedLength.broken(parts.suffixes_at));
    }
    let start = out.len();
    out.resize(start.saturating_add(parts.total), 0);
    parts.rebuild(out, start, |_| {});
    Ok(parts.end)
}

/// The parts of the values up to the end of a range, checked.
struct Parts<'a> {
    range: Range<usize>,
    prefixes: Vec<i32>,
    suffixes: Vec<i32>,
    /// The page, and where the bytes of the suffixes begin in it.
    bytes: &'a [u8],
    suffixes_at: usize,
    /// Where the suffixes of the range begin and end.
    start: usize,
    end: usize,
    /// Bytes of the values of the range.
    total: usize,
}

impl<'a> Parts<'a> {
    fn read(bytes: &'a [u8], num_values: usize, range: Range<usize>) -> Result<Self> {
        if range.start > range.end || range.end > num_values {
            return Err(Rule::Range.broken(0));
        }
        let (prefixes, lengths_at) = lengths(bytes, 0, num_values, range.end)?;
        let (suffixes, suffixes_at) = lengths(bytes, lengths_at, num_values, range.end)?;
        let mut parts =
            Self { range, prefixes, suffixes, bytes, suffixes_at, start: 0, end: 0, total: 0 };
        parts.check(lengths_at)?;
        Ok(parts)
    }

    /// Checks the lengths, and adds them up.
    fn check(&mut self, lengths_at: usize) -> Result<()> {
        let (mut before, mut end) = (0, self.suffixes_at as u64);
        let (mut start, mut total) = (end, 0_u64);
        for (index, (&prefix, &suffix)) in self.prefixes.iter().zip(&self.suffixes).enumerate() {
            if prefix < 0 || prefix > before {
                return Err(Rule::Prefix.broken(0));
            }
            let length = prefix.checked_add(suffix).filter(|_| suffix >= 0);
            before = length.ok_or_else(|| Rule::Length.broken(lengths_at))?;
            if index == self.range.start {
                (start, total) = (end, 0);
            }
            end = end.wrapping_add(u64::from(suffix.cast_unsigned()));
            total = total.wrapping_add(u64::from(before.cast_unsigned()));
        }
        if self.range.is_empty() {
            (start, total) = (end, 0);
        }
        if end > self.bytes.len() as u64 {
            return Err(Rule::Complete.broken(self.suffixes_at));
        }
        let size =
            |number: u64| usize::try_from(number).map_err(|_| Rule::Size.broken(self.suffixes_at));
        (self.start, self.end, self.total) = (size(start)?, size(end)?, size(total)?);
        Ok(())
    }

    /// Writes the values of the range to `out` from `to` on, where there is room for them; calls `ended`
    /// with the end of each.
    fn rebuild(&self, out: &mut [u8], mut to: usize, mut ended: impl FnMut(usize)) {
        self.rebuild_first_prefix(out, to);
        let (mut from, mut before) = (self.start, to);
        let parts = self.prefixes.iter().zip(&self.suffixes).skip(self.range.start);
        for (index, (&prefix, &suffix)) in parts.enumerate() {
            let (prefix, suffix) = (size(prefix), size(suffix));
            if index > 0 {
                copy_within(out, before, to, prefix);
            }
            before = to;
            to = to.wrapping_add(prefix);
            copy(self.bytes, from, out, to, suffix);
            to = to.wrapping_add(suffix);
            from = from.wrapping_add(suffix);
            ended(to);
        }
    }

    /// The shared bytes of the first value of the range. They stand at the beginning of suffixes before
    /// it: of the nearest one whose own prefix is shorter the last of them, and so on.
    fn rebuild_first_prefix(&self, out: &mut [u8], to: usize) {
        let first = self.prefixes.get(self.range.start).copied().unwrap_or(0);
        let (mut missing, mut from) = (size(first), self.start);
        let parts = self.prefixes.iter().zip(&self.suffixes).take(self.range.start).rev();
        for (&prefix, &suffix) in parts {
            if missing == 0 {
                break;
            }
            let prefix = size(prefix);
            from = from.wrapping_sub(size(suffix));
            if let Some(len) = missing.checked_sub(prefix) {
                let found = self.bytes.get(from..).and_then(|bytes| bytes.get(..len));
                let place =
                    out.get_mut(to.wrapping_add(prefix)..).and_then(|out| out.get_mut(..len));
                if let (Some(found), Some(place)) = (found, place) {
                    place.copy_from_slice(found);
                }
                missing = prefix;
            }
        }
    }
}

/// The first `count` numbers of the stream of `num_values` lengths at `at`, and where the stream ends.
fn lengths(bytes: &[u8], at: usize, num_values: usize, count: usize) -> Result<(Vec<i32>, usize)> {
    let mut stream = Decoder::<i32>::at(bytes, at, num_values)?;
    let mut lengths = vec![0; count];
    stream.read(&mut lengths)?;
    Ok((lengths, stream.finish()?))
}

/// A length that is known not to be negative.
#[inline(always)]
fn size(length: i32) -> usize {
    length.cast_unsigned() as usize
}

/// Copies `len` bytes to a place behind them, in moves of a fixed size where they are few.
#[inline(always)]
fn copy_within(bytes: &mut [u8], from: usize, to: usize, len: usize) {
    const SHORT: usize = 16;
    let chunk = bytes.get(from..).and_then(<[u8]>::first_chunk::<SHORT>).copied();
    let place = bytes.get_mut(to..).and_then(<[u8]>::first_chunk_mut::<SHORT>);
    match (chunk, place) {
        (Some(chunk), Some(place)) if len <= SHORT => *place = chunk,
        _ => {
            if let Some((before, after)) = bytes.split_at_mut_checked(to)
                && let (Some(from), Some(to)) =
                    (before.get(from..).and_then(|b| b.get(..len)), after.get_mut(..len))
            {
                to.copy_from_slice(from);
            }
        }
    }
}
