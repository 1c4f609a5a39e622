//! Fixed-width values in one buffer.
//!
//! | form | value `i` |
//! |---|---|
//! | flat | bits `[i * w, (i + 1) * w)`; `w` is 1 or a multiple of 8 |
//! | compressed | as flat, in the buffer that one LZ4 or Zstandard unit holds |
//! | bit-packed | bits `[i * c, (i + 1) * c)`, extended to `w` bits with zeros or the sign |
//! | blocks | `128 * c` bytes for each 1,024 values, packed as in [`crate::codec::bitpack`] |
//! | constant | always the same, and in the description |

use std::ops::Range;

use super::index::ArrayIndex;
use super::{Fetched, count, size};
use crate::codec::{FixedValues, Scheme, Scratch, bitpack};
use crate::error::{Error, Locate, Result, ensure};
use crate::span::Span;

/// Values of a packed block.
const BLOCK: u64 = 1024;

/// A buffer of the file.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Buffer {
    /// Its number among those of the page; `None` for buffers of the column or the file.
    pub(super) number: Option<usize>,
    pub(super) span: Span,
}

/// A stream of values.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Stream {
    /// Bits of a value: 1, or a multiple of 8.
    pub(super) bits: u64,
    /// How many values there are; strings do not tell how many bytes they have.
    pub(super) len: Option<u64>,
    pub(super) form: Form,
}

/// How the values are stored.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Form {
    Flat(Buffer),
    Compressed { scheme: Scheme, buffer: Buffer },
    Bitpacked { packed_bits: u64, signed: bool, buffer: Buffer },
    Blocks { packed_bits: u64, buffer: Buffer },
    Constant(Vec<u8>),
}

/// The bytes that hold the bits of some values.
fn bytes_of(values: &Range<u64>, bits: u64) -> Result<Range<u64>> {
    let start = values.start.checked_mul(bits).map(|bit| bit / 8);
    let end = values.end.checked_mul(bits).map(|bit| bit.div_ceil(8));
    start.zip(end).map(|(start, end)| start..end).ok_or_else(|| too_many(values.end, bits))
}

/// The packed blocks that hold some values.
fn blocks_of(values: &Range<u64>, packed_bits: u64) -> Result<Range<u64>> {
    let bytes = packed_bits.saturating_mul(BLOCK / 8);
    let start = (values.start / BLOCK).checked_mul(bytes);
    let end = values.end.div_ceil(BLOCK).checked_mul(bytes);
    start.zip(end).map(|(start, end)| start..end).ok_or_else(|| too_many(values.end, packed_bits))
}

fn too_many(values: u64, bits: u64) -> Error {
    Error::corrupt(format!("{values} values of {bits} bits are more than there can be"))
}

impl Stream {
    /// Makes sure that the buffer is long enough for all values.
    pub(super) fn check(&self) -> Result<()> {
        let Some(len) = self.len else { return Ok(()) };
        let (needed, buffer) = match &self.form {
            Form::Flat(buffer) => (bytes_of(&(0..len), self.bits)?, buffer),
            Form::Bitpacked { packed_bits, buffer, .. } => {
                (bytes_of(&(0..len), *packed_bits)?, buffer)
            }
            Form::Blocks { packed_bits, buffer } => (blocks_of(&(0..len), *packed_bits)?, buffer),
            Form::Compressed { .. } | Form::Constant(_) => return Ok(()),
        };
        ensure!(
            needed.end <= buffer.span.len(),
            "{len} values need {} bytes, but their buffer has {}",
            needed.end,
            buffer.span.len()
        );
        Ok(())
    }

    /// The buffer, unless the values need none.
    pub(super) fn buffer(&self) -> Option<&Buffer> {
        match &self.form {
            Form::Flat(buffer)
            | Form::Compressed { buffer, .. }
            | Form::Bitpacked { buffer, .. }
            | Form::Blocks { buffer, .. } => Some(buffer),
            Form::Constant(_) => None,
        }
    }

    /// The spans that hold some values. Those of compressed buffers belong to the index.
    pub(super) fn spans(&self, values: &[Range<u64>], out: &mut Vec<Span>) -> Result<()> {
        for range in values {
            let (part, buffer) = match &self.form {
                Form::Flat(buffer) => (bytes_of(range, self.bits)?, buffer),
                Form::Bitpacked { packed_bits, buffer, .. } => {
                    (bytes_of(range, *packed_bits)?, buffer)
                }
                Form::Blocks { packed_bits, buffer } => (blocks_of(range, *packed_bits)?, buffer),
                Form::Compressed { .. } | Form::Constant(_) => return Ok(()),
            };
            out.push(buffer.span.part_of_buffer(part)?);
        }
        Ok(())
    }

    /// Appends some values, given the bytes of [`Stream::spans`].
    pub(super) fn decode(
        &self,
        values: &[Range<u64>],
        fetched: &mut Fetched<'_>,
        index: &ArrayIndex,
        out: &mut FixedValues,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let number = self.buffer().and_then(|buffer| buffer.number);
        for range in values {
            let decoded = self.decode_range(range, fetched, index, out, scratch);
            match number {
                Some(number) => decoded.in_buffer(number)?,
                None => decoded?,
            }
        }
        Ok(())
    }

    fn decode_range(
        &self,
        range: &Range<u64>,
        fetched: &mut Fetched<'_>,
        index: &ArrayIndex,
        out: &mut FixedValues,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let len = size(range.end.saturating_sub(range.start))?;
        let expands = !matches!(self.form, Form::Flat(_));
        if expands {
            let bits = count(len).saturating_mul(self.bits);
            scratch.claim(bits.div_ceil(8), "packed or compressed values")?;
        }
        match &self.form {
            Form::Flat(_) => {
                let first = if self.bits == 1 { size(range.start % 8)? } else { 0 };
                out.append_flat(fetched.next()?, first..first.saturating_add(len))
            }
            Form::Compressed { buffer, .. } => {
                let range = size(range.start)?..size(range.end)?;
                out.append_flat(index.expanded(buffer.span)?, range)
            }
            Form::Bitpacked { packed_bits, signed, .. } => {
                let bits =
                    BitStream { bytes: fetched.next()?, width: *packed_bits, signed: *signed };
                let first = range.start.wrapping_mul(*packed_bits) % 8;
                bits.append(first, len, self.bits, out)
            }
            Form::Blocks { packed_bits, .. } => {
                let bytes = fetched.next()?;
                let whole = range.end.div_ceil(BLOCK).saturating_sub(range.start / BLOCK);
                let whole = size(whole.saturating_mul(BLOCK))?;
                let mut unpacked = FixedValues::new(self.bits);
                let (bits, width) = (self.bits, *packed_bits);
                bitpack::decode_out_of_line(bytes, bits, width, whole, &mut unpacked, scratch)?;
                let first = size(range.start % BLOCK)?;
                out.append_range(&unpacked, first..first.saturating_add(len))?;
                scratch.release(count(unpacked.data().len()));
                Ok(())
            }
            Form::Constant(value) => {
                if self.bits == 1 {
                    let set = value.first().is_some_and(|byte| byte & 1 == 1);
                    return if set { out.push_ones(len) } else { out.push_zeros(len) };
                }
                out.append_with(len, |data| {
                    (0..len).for_each(|_| data.extend_from_slice(value));
                    Ok(())
                })
            }
        }
    }
}

/// A stream of bits, the least significant first.
struct BitStream<'a> {
    bytes: &'a [u8],
    width: u64,
    signed: bool,
}

impl BitStream<'_> {
    /// Appends `len` numbers of `bits` bits, from bit `first` on.
    fn append(&self, first: u64, len: usize, bits: u64, out: &mut FixedValues) -> Result<()> {
        let width_bytes = size(bits / 8)?;
        out.append_with(len, |data| {
            let mut bit = first;
            for _ in 0..len {
                let number = self.number(bit)?;
                let bytes = number.to_le_bytes();
                data.extend_from_slice(bytes.get(..width_bytes).unwrap_or_default());
                bit = bit.saturating_add(self.width);
            }
            Ok(())
        })
    }

    fn number(&self, bit: u64) -> Result<u64> {
        let start = size(bit / 8)?;
        let end = size(bit.saturating_add(self.width).div_ceil(8))?;
        let Some(bytes) = self.bytes.get(start..end) else {
            return Err(Error::corrupt("a stream of bits ends too early"));
        };
        // At most 64 bits that start within a byte.
        let word = bytes.iter().rev().fold(0_u128, |word, byte| word << 8 | u128::from(*byte));
        let unused = 64_u64.saturating_sub(self.width);
        let unused = u32::try_from(unused).unwrap_or(0);
        let word = word >> (bit % 8);
        let low = u64::try_from(word & u128::from(u64::MAX)).unwrap_or(0);
        // To the top and back: what lies above the number goes, and its sign is spread.
        let top = low << unused;
        Ok(if self.signed { (top.cast_signed() >> unused).cast_unsigned() } else { top >> unused })
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::span::span;

    fn decode(stream: &Stream, file: &[u8], values: &[Range<u64>]) -> Result<Vec<u8>> {
        stream.check()?;
        let mut spans = Vec::new();
        stream.spans(values, &mut spans)?;
        let file = Bytes::copy_from_slice(file);
        let bytes: Vec<Bytes> = spans.iter().map(|s| s.cut(0, &file).unwrap()).collect();
        let mut out = FixedValues::new(stream.bits);
        let index = ArrayIndex::default();
        let mut scratch = Scratch::new(1 << 20);
        stream.decode(values, &mut Fetched::new(&bytes), &index, &mut out, &mut scratch)?;
        Ok(out.data().to_vec())
    }

    fn buffer(range: Range<u64>) -> Buffer {
        Buffer { number: Some(0), span: span(range) }
    }

    #[test]
    fn flat_ranges_of_bytes_and_bits() {
        let stream = |bits, len| Stream { bits, len: Some(len), form: Form::Flat(buffer(1..4)) };
        let file = [9, 0b1010_0110, 2, 3, 9];
        assert_eq!(decode(&stream(8, 3), &file, &[0..1, 2..3]).unwrap(), [0b1010_0110, 3]);
        assert_eq!(decode(&stream(24, 1), &file, &[0..1]).unwrap(), [0b1010_0110, 2, 3]);
        assert_eq!(decode(&stream(1, 24), &file, &[1..3, 5..10]).unwrap(), [0b0101_0111]);
        assert!(decode(&stream(8, 4), &file, &[0..1]).is_err());
        assert!(decode(&stream(16, u64::MAX), &file, &[0..1]).is_err());
    }

    #[test]
    fn bit_streams_are_extended_with_zeros_or_the_sign() {
        // 5, -3, 7, -8 in four bits each.
        let form = |signed| Form::Bitpacked { packed_bits: 4, signed, buffer: buffer(0..2) };
        let file = [0xd5, 0x87];
        let unsigned = Stream { bits: 8, len: Some(4), form: form(false) };
        assert_eq!(decode(&unsigned, &file, &[0..4]).unwrap(), [5, 13, 7, 8]);
        let signed = Stream { bits: 16, len: Some(4), form: form(true) };
        assert_eq!(decode(&signed, &file, &[1..2, 3..4]).unwrap(), [0xfd, 0xff, 0xf8, 0xff]);
        let wide = Form::Bitpacked { packed_bits: 63, signed: true, buffer: buffer(0..16) };
        let wide = Stream { bits: 64, len: Some(2), form: wide };
        assert_eq!(decode(&wide, &[0xff; 16], &[1..2]).unwrap(), [0xff; 8]);
        let short = Stream { bits: 8, len: Some(5), form: form(false) };
        assert!(decode(&short, &file, &[0..1]).is_err());
    }

    #[test]
    fn blocks_are_whole() {
        // Width 1: value 0 is the lowest bit of the first lane.
        let mut file = vec![0_u8; 256];
        file[0] = 1;
        file[128] = 1;
        let form = Form::Blocks { packed_bits: 1, buffer: buffer(0..256) };
        let stream = Stream { bits: 32, len: Some(1030), form };
        let seen = decode(&stream, &file, &[0..2, 1023..1025]).unwrap();
        assert_eq!(seen, [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0]);
        let more = Stream { len: Some(2049), ..stream };
        assert!(decode(&more, &file, &[0..1]).is_err());
    }

    #[test]
    fn constants_have_no_bytes() {
        let stream = Stream { bits: 16, len: Some(9), form: Form::Constant(vec![1, 2]) };
        assert_eq!(decode(&stream, &[], &[3..5]).unwrap(), [1, 2, 1, 2]);
    }
}
