//! Numbers in as few bits as the largest one needs, in blocks of 1,024.
//!
//! A packed block holds 1,024 values of `T` bits (8, 16, 32 or 64) in `W` bits each, `128 * W`
//! bytes, in the transposed order that the FastLanes kernels define.
//!
//! Inline (a chunk, or a block of at most 1,024 values; no values, no bytes):
//!
//! | bytes | what |
//! |---|---|
//! | `T / 8` | `W` |
//! | `128 * W` | one packed block; positions behind the last value are zero |
//!
//! Out of line (blocks only; `W` stands in the message):
//!
//! | bytes | what |
//! |---|---|
//! | `128 * W` each | `n / 1024` packed blocks |
//! | `128 * W` or `t * T / 8` | the `t = n % 1024` values left: packed, or raw if that is no longer |

use std::ops::Range;

use arrow_buffer::{ArrowNativeType, MutableBuffer};
use fastlanes::BitPacking;

use super::{FixedValues, Scratch, product, size, size_u64};
use crate::error::{Error, Result, ensure};

/// Values of a packed block.
pub(super) const BLOCK: usize = 1024;

/// A number that can be packed.
pub(super) trait Word: BitPacking + ArrowNativeType {
    /// Reads a stored word; `bytes` has the size of one.
    fn read(bytes: &[u8]) -> Self;
    fn widen(self) -> u64;
    fn append_to(self, out: &mut Vec<u8>);
}

macro_rules! word {
    ($word:ty) => {
        impl Word for $word {
            #[inline]
            fn read(bytes: &[u8]) -> Self {
                bytes.try_into().map_or(0, Self::from_le_bytes)
            }

            fn widen(self) -> u64 {
                self.into()
            }

            #[inline]
            fn append_to(self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }
        }
    };
}
word!(u8);
word!(u16);
word!(u32);
word!(u64);

/// Runs `$body` with `$word` standing for the number type of `$bits` bits.
macro_rules! with_word {
    ($bits:expr, $word:ident => $body:expr) => {
        match $bits {
            8 => {
                type $word = u8;
                $body
            }
            16 => {
                type $word = u16;
                $body
            }
            32 => {
                type $word = u32;
                $body
            }
            64 => {
                type $word = u64;
                $body
            }
            bits => Err(Error::corrupt(format!("values of {bits} bits cannot be bit-packed"))),
        }
    };
}

/// A packed block whose length was checked.
#[derive(Clone, Copy)]
struct Packed<'a, T> {
    width: usize,
    words: &'a [T],
}

impl<T: Word> Packed<'_, T> {
    /// Checks a block and hands it to `read`.
    fn with<R>(width: usize, bytes: &[u8], read: impl FnOnce(Packed<'_, T>) -> R) -> Result<R> {
        check_block::<T>(width, bytes)?;
        // SAFETY: `T` is an unsigned integer, for which every bit pattern is a value.
        match unsafe { bytes.align_to::<T>() } {
            ([], words, []) => Ok(read(Packed { width, words })),
            _ => Ok(Self::with_copy(width, bytes, read)),
        }
    }

    /// Kept apart, because pages are laid out such that words are nearly always aligned.
    #[cold]
    #[inline(never)]
    fn with_copy<R>(width: usize, bytes: &[u8], read: impl FnOnce(Packed<'_, T>) -> R) -> R {
        let mut aligned = [T::default(); BLOCK];
        let chunks = bytes.chunks_exact(size_of::<T>());
        let num_words = chunks.len();
        aligned.iter_mut().zip(chunks).for_each(|(word, chunk)| *word = T::read(chunk));
        read(Packed { width, words: aligned.get(..num_words).unwrap_or_default() })
    }

    fn unpack(self, out: &mut [T; BLOCK]) {
        // SAFETY: `with` made sure that the width is at most `T` and that there are `128 * width`
        // bytes, which are `1024 * width / T` words; the output has 1,024 words.
        unsafe { T::unchecked_unpack(self.width, self.words, out) }
    }

    fn value(self, index: usize) -> T {
        let index = index.min(BLOCK.saturating_sub(1));
        // SAFETY: as in `unpack`; the index is less than 1,024.
        unsafe { T::unchecked_unpack_single(self.width, self.words, index) }
    }
}

fn check_block<T: Word>(width: usize, bytes: &[u8]) -> Result<()> {
    ensure!(width <= T::T, "values of {} bits are packed into {width} bits", T::T);
    let expected = packed_bytes(width)?;
    ensure!(
        bytes.len() == expected,
        "a block packed into {width} bits has {} bytes instead of {expected}",
        bytes.len()
    );
    Ok(())
}

fn packed_bytes(width: usize) -> Result<usize> {
    product(width, 128)
}

/// The last block of a buffer of words.
fn last_block<T>(words: &mut [T]) -> Result<&mut [T; BLOCK]> {
    words.last_chunk_mut().ok_or_else(|| Error::corrupt("there is no room for a block"))
}

/// Appends room for words; returns all words.
fn room<T: Word>(out: &mut MutableBuffer, additional: usize) -> &mut [T] {
    out.resize(out.len().saturating_add(additional.saturating_mul(size_of::<T>())), 0);
    out.typed_data_mut()
}

/// Appends the values `ranges` of an inline-packed buffer.
pub(super) fn decode_inline(
    buffer: &[u8],
    bits: u64,
    num_values: usize,
    ranges: &[Range<usize>],
    out: &mut FixedValues,
) -> Result<()> {
    check_bits(bits, out)?;
    let picked = num_picked(ranges, num_values)?;
    out.append_with(
        picked,
        |out| with_word!(bits, T => inline_into::<T>(buffer, num_values, ranges, picked, out)),
    )
}

/// Number of values in `ranges`, which must lie inside the chunk.
fn num_picked(ranges: &[Range<usize>], num_values: usize) -> Result<usize> {
    let inside = ranges.iter().all(|r| r.start <= r.end && r.end <= num_values);
    ensure!(inside, "a range ends beyond the {num_values} values of a chunk");
    Ok(ranges.iter().map(Range::len).fold(0, usize::saturating_add))
}

fn check_bits(bits: u64, out: &FixedValues) -> Result<()> {
    ensure!(
        bits == out.bits(),
        "values of {bits} bits are stored where {} are expected",
        out.bits()
    );
    Ok(())
}

/// The width and the packed block of an inline-packed buffer; none if it has no values.
pub(super) fn inline_block<T: Word>(
    buffer: &[u8],
    num_values: usize,
) -> Result<Option<(usize, &[u8])>> {
    ensure!(num_values <= BLOCK, "a bit-packed chunk holds {num_values} values, more than 1024");
    if num_values == 0 {
        ensure!(buffer.is_empty(), "a chunk without values has {} bytes", buffer.len());
        return Ok(None);
    }
    let header = buffer.split_at_checked(size_of::<T>());
    let Some((width, payload)) = header else {
        return Err(Error::corrupt(format!(
            "a bit-packed chunk of {} bytes has no room for its width",
            buffer.len()
        )));
    };
    let width = size(T::read(width).widen())?;
    check_block::<T>(width, payload)?;
    Ok(Some((width, payload)))
}

/// Unpacks the values `ranges` behind what `out` holds. May leave up to a block more than that.
fn inline_into<T: Word>(
    buffer: &[u8],
    num_values: usize,
    ranges: &[Range<usize>],
    picked: usize,
    out: &mut MutableBuffer,
) -> Result<()> {
    let Some((width, payload)) = inline_block::<T>(buffer, num_values)? else { return Ok(()) };
    // Measured: about here picking values one by one starts to cost more than the whole block.
    if picked <= T::T.saturating_mul(2) {
        let room = room::<T>(out, picked);
        let start = room.len().saturating_sub(picked);
        let room = room.get_mut(start..).unwrap_or_default();
        return Packed::with(width, payload, |packed| {
            let indices = ranges.iter().flat_map(Range::clone);
            room.iter_mut().zip(indices).for_each(|(to, index)| *to = packed.value(index));
        });
    }
    // Unpacked in place; the ranges then move to the front, where nothing is read any more.
    let block = last_block(room::<T>(out, BLOCK))?;
    Packed::with(width, payload, |packed| packed.unpack(block))?;
    let mut position = 0_usize;
    for range in ranges {
        if range.start != position {
            block.copy_within(range.clone(), position);
        }
        position = position.saturating_add(range.len());
    }
    Ok(())
}

/// Appends all values of an out-of-line packed block.
pub(crate) fn decode_out_of_line(
    bytes: &[u8],
    bits: u64,
    packed_bits: u64,
    num_values: usize,
    out: &mut FixedValues,
    scratch: &mut Scratch,
) -> Result<()> {
    check_bits(bits, out)?;
    // A bit may stand for a whole word, and no bits for any number of them.
    scratch.claim(size_u64(super::byte_len(num_values, bits)?), "a packed block")?;
    out.append_with(
        num_values,
        |out| with_word!(bits, T => out_of_line_into::<T>(bytes, packed_bits, num_values, out)),
    )
}

/// The parts of an out-of-line packed block.
pub(super) struct OutOfLine<'a> {
    pub(super) width: usize,
    /// Blocks of 1,024 values; none where the width is 0.
    pub(super) full: std::slice::ChunksExact<'a, u8>,
    /// The values left.
    pub(super) tail: ShortBlock<'a>,
}

/// Fewer than 1,024 values.
pub(super) enum ShortBlock<'a> {
    Raw(&'a [u8]),
    Packed(&'a [u8]),
}

impl<'a> OutOfLine<'a> {
    pub(super) fn new<T: Word>(
        bytes: &'a [u8],
        packed_bits: u64,
        num_values: usize,
    ) -> Result<Self> {
        let width = size(packed_bits)?;
        ensure!(width <= T::T, "values of {} bits are packed into {width} bits", T::T);
        let block_bytes = packed_bytes(width)?;
        let tail = num_values.checked_rem(BLOCK).unwrap_or(0);
        let num_full = num_values.checked_div(BLOCK).unwrap_or(0);
        let full_bytes = product(num_full, block_bytes)?;
        let raw_bytes = product(tail, size_of::<T>())?;
        let packed_tail_bytes = if tail == 0 { 0 } else { block_bytes };
        let is_raw = Some(bytes.len()) == full_bytes.checked_add(raw_bytes);
        ensure!(
            is_raw || Some(bytes.len()) == full_bytes.checked_add(packed_tail_bytes),
            "{num_values} values packed into {width} bits have {} bytes instead of {} or {}",
            bytes.len(),
            full_bytes.saturating_add(raw_bytes),
            full_bytes.saturating_add(packed_tail_bytes)
        );
        let (full, rest) = bytes.split_at_checked(full_bytes).unwrap_or_default();
        let full = full.chunks_exact(block_bytes.max(1));
        Ok(Self {
            width,
            full,
            tail: if is_raw { ShortBlock::Raw(rest) } else { ShortBlock::Packed(rest) },
        })
    }
}

fn out_of_line_into<T: Word>(
    bytes: &[u8],
    packed_bits: u64,
    num_values: usize,
    out: &mut MutableBuffer,
) -> Result<()> {
    let OutOfLine { width, full, tail } = OutOfLine::new::<T>(bytes, packed_bits, num_values)?;
    let room = room::<T>(out, num_values);
    let start = room.len().saturating_sub(num_values);
    let (blocks, last) = room.get_mut(start..).unwrap_or_default().as_chunks_mut::<BLOCK>();
    // Blocks of width 0 have no bytes to walk along; their values are the zeros of the new room.
    for (block, packed) in blocks.iter_mut().zip(full) {
        Packed::with(width, packed, |packed| packed.unpack(block))?;
    }
    match tail {
        ShortBlock::Raw(words) => {
            let words = words.chunks_exact(size_of::<T>()).map(T::read);
            last.iter_mut().zip(words).for_each(|(to, word)| *to = word);
        }
        ShortBlock::Packed(packed) => {
            let mut block = [T::default(); BLOCK];
            Packed::with(width, packed, |packed| packed.unpack(&mut block))?;
            last.iter_mut().zip(block).for_each(|(to, value)| *to = value);
        }
    }
    Ok(())
}

/// Packs up to 1,024 values, given as bytes, into an inline-packed buffer.
pub(super) fn encode_inline(values: &[u8], bits: u64, out: &mut Vec<u8>) -> Result<()> {
    with_word!(bits, T => encode_inline_words::<T>(values, out))
}

fn encode_inline_words<T: Word>(values: &[u8], out: &mut Vec<u8>) -> Result<()> {
    if values.is_empty() {
        return Ok(());
    }
    let mut block = [T::default(); BLOCK];
    ensure!(
        values.len() <= size_of_val(&block),
        "{} bytes of values do not fit into one bit-packed chunk",
        values.len()
    );
    fill(&mut block, values);
    let any = block.iter().fold(0, |any, value| any | value.widen());
    let width = size(u64::from(any.checked_ilog2().map_or(0, |log| log.saturating_add(1))))?;
    let width_word = T::from_usize(width).unwrap_or_default();
    width_word.append_to(out);
    pack(&block, width, out)
}

fn fill<T: Word>(block: &mut [T; BLOCK], values: &[u8]) {
    let words = values.chunks_exact(size_of::<T>()).map(T::read);
    block.iter_mut().zip(words).for_each(|(to, word)| *to = word);
}

/// Appends one packed block.
fn pack<T: Word>(block: &[T; BLOCK], width: usize, out: &mut Vec<u8>) -> Result<()> {
    ensure!(width <= T::T, "values of {} bits cannot be packed into {width} bits", T::T);
    let num_words = packed_bytes(width)?.checked_div(size_of::<T>()).unwrap_or(0);
    let mut words = [T::default(); BLOCK];
    let words = words.get_mut(..num_words).unwrap_or_default();
    // SAFETY: the input has 1,024 words, the output `1024 * width / T`, and the width is at most
    // `T`, which also makes `num_words` at most 1,024.
    unsafe { T::unchecked_pack(width, block, words) }
    words.iter().for_each(|word| word.append_to(out));
    Ok(())
}

/// Packs values, given as bytes, into blocks of one width that is stored elsewhere.
pub(super) fn encode_out_of_line(
    values: &[u8],
    bits: u64,
    packed_bits: u64,
    out: &mut Vec<u8>,
) -> Result<()> {
    with_word!(bits, T => encode_out_of_line_words::<T>(values, size(packed_bits)?, out))
}

fn encode_out_of_line_words<T: Word>(values: &[u8], width: usize, out: &mut Vec<u8>) -> Result<()> {
    let block_bytes = product(BLOCK, size_of::<T>())?;
    let mut blocks = values.chunks_exact(block_bytes);
    let mut block = [T::default(); BLOCK];
    for values in &mut blocks {
        fill(&mut block, values);
        pack(&block, width, out)?;
    }
    let tail = blocks.remainder();
    if packed_bytes(width)? < tail.len() {
        block.fill(T::default());
        fill(&mut block, tail);
        pack(&block, width, out)?;
    } else {
        out.extend_from_slice(tail);
    }
    Ok(())
}

#[cfg(test)]
#[path = "bitpack_tests.rs"]
mod tests;
