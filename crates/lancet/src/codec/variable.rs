//! Byte strings of any length: offsets, then bytes.
//!
//! A mini-block buffer, `w` = bytes of an offset, `n` = values:
//!
//! | bytes | what |
//! |---|---|
//! | `w * (n + 1)` | offsets from the start of the buffer; the first one is `w * (n + 1)` |
//! | … | the bytes of the values |
//! | to a multiple of `w` | padding, `0x48` |
//!
//! A block:
//!
//! | bytes | what |
//! |---|---|
//! | `w` | bits of an offset, 32 or 64 |
//! | `w` | position of the first value byte: `2 * w + w * (n + 1)` |
//! | `w * (n + 1)` | offsets from the first value byte; the first one is 0 |
//! | rest | the bytes of the values |
//!
//! Old blocks have a one-byte width, then a `w`-byte count and a `w`-byte position. They are known
//! by their bytes 1 to 3, which are not all zero. They are read and never written.

use std::ops::Range;
use std::slice;

use super::fsst::SymbolTable;
use super::variable_values::OffsetWord;
use super::{Offsets, VariableValues, product, size};
use crate::cursor::Cursor;
use crate::error::{Error, Result, ensure};

const PADDING: u8 = 0x48;

/// Appends the values `ranges` of a mini-block buffer.
pub(super) fn decode_chunk(
    buffer: &[u8],
    offset_bits: u64,
    num_values: usize,
    ranges: &[Range<usize>],
    out: &mut VariableValues,
) -> Result<()> {
    check_width(offset_bits, out)?;
    let chunk = Chunk::parse(buffer, offset_bits, num_values)?;
    let VariableValues { offsets, bytes } = out;
    match offsets {
        Offsets::Bits32(offsets) => chunk.append(ranges, offsets, bytes),
        Offsets::Bits64(offsets) => chunk.append(ranges, offsets, bytes),
    }
}

/// Appends what the coded strings `ranges` of a mini-block buffer stand for.
pub(super) fn decode_coded_chunk(
    table: &SymbolTable,
    buffer: &[u8],
    offset_bits: u64,
    num_values: usize,
    ranges: &[Range<usize>],
    out: &mut VariableValues,
    places: &mut Vec<u32>,
) -> Result<()> {
    check_width(offset_bits, out)?;
    let chunk = Chunk::parse(buffer, offset_bits, num_values)?;
    let VariableValues { offsets, bytes } = out;
    match offsets {
        Offsets::Bits32(offsets) => chunk.append_decoded(table, ranges, places, offsets, bytes),
        Offsets::Bits64(offsets) => chunk.append_decoded(table, ranges, places, offsets, bytes),
    }
}

fn check_width(offset_bits: u64, out: &VariableValues) -> Result<()> {
    ensure!(
        offset_bits == out.offsets.bits(),
        "offsets have {offset_bits} bits, but the type of the column has {}",
        out.offsets.bits()
    );
    Ok(())
}

/// Offsets and the bytes they point into.
struct Chunk<'a> {
    offsets: &'a [u8],
    /// What offset 0 points at.
    bytes: &'a [u8],
    /// The least an offset may be.
    first: usize,
}

impl<'a> Chunk<'a> {
    fn parse(buffer: &'a [u8], offset_bits: u64, num_values: usize) -> Result<Self> {
        let width = if offset_bits == 64 { 8 } else { 4 };
        ensure!(
            buffer.len().is_multiple_of(width),
            "a chunk of strings has {} bytes, which is no multiple of {width}",
            buffer.len()
        );
        let first = product(num_values.saturating_add(1), width)?;
        let offsets = Cursor::new(buffer).take(first, "the offsets of a chunk")?;
        Ok(Self { offsets, bytes: buffer, first })
    }

    /// The checked span of the values `range` and the raw offsets from the first to the last.
    fn span<T: OffsetWord>(&self, range: &Range<usize>) -> Result<(T, &'a [u8], &'a [u8])> {
        let width = size_of::<T>();
        let end = range.end.saturating_add(1);
        let raw = self.offsets.get(product(range.start, width)?..product(end, width)?);
        ensure!(raw.is_some(), "the values {range:?} have no offsets");
        let raw = raw.unwrap_or_default();
        let mut offsets = raw.chunks_exact(width).map(T::read);
        let Some(first) = offsets.next() else {
            return Err(Error::corrupt(format!("the values {range:?} have no offsets")));
        };
        let (last, ascending) =
            offsets.fold((first, true), |(last, ascending), o| (o, ascending & (last <= o)));
        ensure!(ascending, "the offsets of the values {range:?} run backwards");
        let (start, end) = (first.to_size()?, last.to_size()?);
        ensure!(
            start >= self.first && end <= self.bytes.len(),
            "the values {range:?} are said to lie at bytes {start}..{end}, but values can only lie \
             at {}..{}",
            self.first,
            self.bytes.len()
        );
        Ok((first, raw, self.bytes.get(start..end).unwrap_or_default()))
    }

    /// Checks the first and the last offset, also when no range touches them.
    fn check_ends<T: OffsetWord>(&self) -> Result<()> {
        let num_offsets = self.offsets.len().checked_div(size_of::<T>()).unwrap_or(0);
        let last = num_offsets.saturating_sub(1);
        self.span::<T>(&(0..0))?;
        self.span::<T>(&(last..last)).map(|_| ())
    }

    fn append<T: OffsetWord>(
        &self,
        ranges: &[Range<usize>],
        offsets: &mut Vec<T>,
        bytes: &mut Vec<u8>,
    ) -> Result<()> {
        self.check_ends::<T>()?;
        for range in ranges {
            let (first, raw, span) = self.span::<T>(range)?;
            let start = T::from_size(bytes.len())?;
            // Offsets ascend, so if the last one fits, all of them do.
            T::from_size(bytes.len().saturating_add(span.len()))?;
            let stored = raw.chunks_exact(size_of::<T>()).skip(1).map(T::read);
            offsets.extend(stored.map(|offset| offset.rebase(first, start)));
            bytes.extend_from_slice(span);
        }
        Ok(())
    }

    fn append_decoded<T: OffsetWord>(
        &self,
        table: &SymbolTable,
        ranges: &[Range<usize>],
        places: &mut Vec<u32>,
        offsets: &mut Vec<T>,
        bytes: &mut Vec<u8>,
    ) -> Result<()> {
        self.check_ends::<T>()?;
        for range in ranges {
            let (first, raw, span) = self.span::<T>(range)?;
            let start = first.to_size()?;
            let stored = raw.chunks_exact(size_of::<T>()).skip(1).map(T::read);
            let ends = stored.map(|end| end.to_size().unwrap_or(0).saturating_sub(start));
            offsets.reserve(range.len());
            table.decode_run(span, ends, places, bytes, |end| {
                offsets.push(T::from_size(end)?);
                Ok(())
            })?;
        }
        Ok(())
    }
}

/// Lays out the values `range` as a mini-block buffer; `append` writes the bytes of one of them.
pub(super) fn encode_chunk(
    offset_bits: u64,
    range: Range<usize>,
    mut append: impl FnMut(usize, &mut Vec<u8>) -> Result<()>,
    out: &mut Vec<u8>,
) -> Result<()> {
    let width = if offset_bits == 64 { 8 } else { 4 };
    out.clear();
    out.resize(product(range.len().saturating_add(1), width)?, 0);
    put_offset(out, 0, width)?;
    for (slot, index) in range.enumerate() {
        append(index, out)?;
        put_offset(out, slot.saturating_add(1), width)?;
    }
    out.resize(out.len().next_multiple_of(width), PADDING);
    Ok(())
}

/// Writes the current end of `out` as offset number `slot`.
fn put_offset(out: &mut [u8], slot: usize, width: usize) -> Result<()> {
    let start = product(slot, width)?;
    let end = if width == 4 {
        u64::try_from(i32::from_size(out.len())?).unwrap_or_default()
    } else {
        super::size_u64(out.len())
    };
    for (to, from) in out.iter_mut().skip(start).take(width).zip(end.to_le_bytes()) {
        *to = from;
    }
    Ok(())
}

/// All values of a block.
pub(super) fn decode_block(
    block: &[u8],
    offset_bits: u64,
    num_values: usize,
    out: &mut VariableValues,
) -> Result<()> {
    check_width(offset_bits, out)?;
    let mut cursor = Cursor::new(block);
    let old = block.get(1..4).is_some_and(|bytes| bytes != [0; 3]);
    let width_bits = if old {
        cursor.take(1, "the offset width of a block")?.first().copied().map_or(0, u64::from)
    } else {
        u64::from(Cursor::new(block).u32("the offset width of a block")?)
    };
    ensure!(
        width_bits == offset_bits,
        "a block says that its offsets have {width_bits} bits instead of {offset_bits}"
    );
    let mut word = |what| match offset_bits {
        64 => cursor.u64(what),
        _ => cursor.u32(what).map(u64::from),
    };
    let head = word("the head of a block")?;
    let (expected, what) = if old {
        (super::size_u64(num_values), "number of values")
    } else {
        (offset_bits, "offset width")
    };
    ensure!(head == expected, "a block says that its {what} is {head} instead of {expected}");
    let start = word("the position of the first value of a block")?;
    let num_offsets = num_values.saturating_add(1);
    let width = if offset_bits == 64 { 8 } else { 4 };
    let offsets = cursor.take(product(num_offsets, width)?, "the offsets of a block")?;
    ensure!(
        size(start)? == cursor.position(),
        "the bytes of a block are said to start at {start}, but its offsets end at {}",
        cursor.position()
    );
    let chunk = Chunk { offsets, bytes: cursor.rest(), first: 0 };
    ensure!(
        offsets.get(..width).is_some_and(|first| first.iter().all(|&byte| byte == 0)),
        "the first offset of a block is not 0"
    );
    let all = 0..num_values;
    let VariableValues { offsets, bytes } = out;
    match offsets {
        Offsets::Bits32(offsets) => chunk.append(slice::from_ref(&all), offsets, bytes),
        Offsets::Bits64(offsets) => chunk.append(slice::from_ref(&all), offsets, bytes),
    }
}

/// All values as a block.
pub(super) fn encode_block(values: &VariableValues, out: &mut Vec<u8>) -> Result<()> {
    let num_values = values.len();
    let bytes = values.bytes(0..num_values)?;
    match &values.offsets {
        Offsets::Bits32(offsets) => {
            let start = i32::from_size(product(num_values.saturating_add(3), 4)?)?;
            let first = offsets.first().copied().unwrap_or(0);
            let head = [32, start].into_iter();
            let words = head.chain(offsets.iter().map(|o| o.wrapping_sub(first)));
            out.extend(words.flat_map(i32::to_le_bytes));
        }
        Offsets::Bits64(offsets) => {
            let start = i64::from_size(product(num_values.saturating_add(3), 8)?)?;
            let first = offsets.first().copied().unwrap_or(0);
            let head = [64, start].into_iter();
            let words = head.chain(offsets.iter().map(|o| o.wrapping_sub(first)));
            out.extend(words.flat_map(i64::to_le_bytes));
        }
    }
    out.extend_from_slice(bytes);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &[u8] = b"\x10\0\0\0\x11\0\0\0\x13\0\0\0\x13\0\0\0abcH";

    fn strings(offset_bits: u64, values: &[&str]) -> VariableValues {
        let mut out = VariableValues::new(offset_bits);
        values.iter().for_each(|value| out.push(value.as_bytes()).unwrap());
        out
    }

    fn encode(values: &VariableValues, range: Range<usize>) -> Vec<u8> {
        let mut out = vec![1, 2, 3];
        let append = |index, out: &mut Vec<u8>| {
            out.extend_from_slice(values.value(index)?);
            Ok(())
        };
        encode_chunk(values.offsets.bits(), range, append, &mut out).unwrap();
        out
    }

    fn decode(
        buffer: &[u8],
        bits: u64,
        n: usize,
        ranges: &[Range<usize>],
    ) -> Result<VariableValues> {
        let mut out = VariableValues::new(bits);
        decode_chunk(buffer, bits, n, ranges, &mut out)?;
        Ok(out)
    }

    #[test]
    fn the_chunk_of_the_specification() {
        let values = strings(32, &["a", "bc", ""]);
        assert_eq!(encode(&values, 0..3), SMALL);
        assert_eq!(decode(SMALL, 32, 3, &[0..3]).unwrap(), values);

        let large = strings(64, &["a", "bc", ""]);
        let bytes = encode(&large, 0..3);
        assert_eq!(bytes.len(), 40);
        assert_eq!(bytes[..16], [0x20, 0, 0, 0, 0, 0, 0, 0, 0x21, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(&bytes[32..], b"abcHHHHH");
        assert_eq!(decode(&bytes, 64, 3, &[0..3]).unwrap(), large);
    }

    #[test]
    fn ranges_are_appended_behind_what_is_there() {
        let names: Vec<String> = (0..1025).map(|i| "x".repeat(i % 9)).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        for bits in [32, 64] {
            let all = strings(bits, &names);
            let buffer = encode(&all, 1..1025);
            let mut out = strings(bits, &["first"]);
            decode_chunk(&buffer, bits, 1024, &[0..1, 5..9, 9..10, 1000..1024], &mut out).unwrap();
            let mut expected = vec!["first", names[1]];
            expected.extend(&names[6..11]);
            expected.extend(&names[1001..]);
            assert_eq!(out, strings(bits, &expected));
        }
        assert_eq!(decode(&[8, 0, 0, 0, 8, 0, 0, 0], 32, 1, &[]).unwrap(), strings(32, &[]));
    }

    #[test]
    fn corrupt_chunks() {
        let broken = |change: fn(&mut Vec<u8>), n: usize, rule: &str| {
            let mut bytes = SMALL.to_vec();
            change(&mut bytes);
            let error = decode(&bytes, 32, n, &[0..n]).unwrap_err().to_string();
            assert!(error.contains(rule), "{error}");
        };
        broken(|b| b.truncate(19), 3, "no multiple of 4");
        broken(|_| (), 5, "the offsets of a chunk needs 24 bytes");
        broken(|b| b[0] = 15, 3, "values can only lie at 16..20");
        broken(|b| b[12] = 21, 3, "values can only lie at 16..20");
        broken(|b| b[4] = 20, 3, "run backwards");
        broken(|b| b[7] = 0x80, 3, "run backwards");
        broken(|b| b[15] = 0x80, 3, "out of range");
        assert!(decode(SMALL, 32, 3, &[2..4]).is_err());
        let mut bytes = SMALL.to_vec();
        bytes[12] = 21;
        assert!(decode(&bytes, 32, 3, &[0..1]).is_err(), "the last offset counts unasked");
        let error = decode_chunk(SMALL, 32, 3, &[], &mut VariableValues::new(64)).unwrap_err();
        assert!(error.to_string().contains("offsets have 32 bits"), "{error}");
    }

    #[test]
    fn blocks_round_trip_and_old_ones_are_read() {
        for bits in [32, 64] {
            for names in [&[][..], &["red", "green", "", "blue"]] {
                let values = strings(bits, names);
                let mut block = vec![];
                encode_block(&values, &mut block).unwrap();
                let mut out = VariableValues::new(bits);
                decode_block(&block, bits, names.len(), &mut out).unwrap();
                assert_eq!(out, values);
            }
        }
        let mut block = vec![];
        encode_block(&strings(32, &["red", "green", "", "blue"]), &mut block).unwrap();
        let words = [0x20, 0x1c, 0, 3, 8, 8, 12].map(u32::to_le_bytes).concat();
        assert_eq!(block, [words.as_slice(), b"redgreenblue"].concat());

        let old = b"\x20\x02\0\0\0\x15\0\0\0\0\0\0\0\x01\0\0\0\x03\0\0\0abc";
        let mut out = VariableValues::new(32);
        decode_block(old, 32, 2, &mut out).unwrap();
        assert_eq!(out, strings(32, &["a", "bc"]));
        assert!(decode_block(old, 32, 1, &mut out).is_err());
    }

    #[test]
    fn corrupt_blocks() {
        let mut good = vec![];
        encode_block(&strings(32, &["a", "bc"]), &mut good).unwrap();
        let broken = |position: usize, byte: u8, rule: &str| {
            let mut block = good.clone();
            block[position] = byte;
            let error = decode_block(&block, 32, 2, &mut VariableValues::new(32)).unwrap_err();
            assert!(error.to_string().contains(rule), "{error}");
        };
        broken(0, 33, "33 bits instead of 32");
        broken(4, 21, "start at 21, but its offsets end at 20");
        broken(8, 1, "the first offset of a block is not 0");
        broken(12, 4, "run backwards");
        broken(16, 4, "values can only lie at 0..3");
        let mut out = VariableValues::new(32);
        assert!(decode_block(&good[..3], 32, 2, &mut out).is_err());
        assert!(decode_block(&good, 32, 3, &mut out).is_err());
        assert!(decode_block(&good, 64, 2, &mut VariableValues::new(64)).is_err());
    }
}
