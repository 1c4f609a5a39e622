//! All first bytes, then all second bytes, and so on: does not shrink, but compresses better.
//!
//! A chunk of `n` values of 32 or 64 bits is as long as the values: byte `j` of value `i` stands at
//! `j * n + i`.

use std::ops::Range;

use super::FixedValues;
use crate::error::{Error, Result, ensure};

/// Appends the values at `ranges` of a chunk of `num_values`.
pub(crate) fn decode_chunk(
    bytes: &[u8],
    bits: u64,
    num_values: usize,
    ranges: &[Range<usize>],
    out: &mut FixedValues,
) -> Result<()> {
    match bits {
        32 => decode_typed::<4>(bytes, num_values, ranges, out),
        64 => decode_typed::<8>(bytes, num_values, ranges, out),
        _ => Err(Error::corrupt(format!("split values have 32 or 64 bits, not {bits}"))),
    }
}

fn decode_typed<const WIDTH: usize>(
    bytes: &[u8],
    num_values: usize,
    ranges: &[Range<usize>],
    out: &mut FixedValues,
) -> Result<()>
where
    [u64; WIDTH]: Square<WIDTH>,
{
    ensure!(
        num_values.checked_mul(WIDTH) == Some(bytes.len()),
        "{num_values} split values of {WIDTH} bytes stand in {} bytes",
        bytes.len()
    );
    for range in ranges {
        ensure!(
            range.end <= num_values,
            "value {} is past the {num_values} values of the chunk",
            range.end
        );
        // No stream starts past the end: all of them fit into `bytes`.
        let streams = std::array::from_fn(|j| {
            let stream = bytes.get(j.saturating_mul(num_values)..).unwrap_or_default();
            stream.get(range.clone()).unwrap_or_default()
        });
        merge(streams, out.push_room(range.len())?.as_chunks_mut().0);
    }
    Ok(())
}

/// Puts the bytes of each value together, eight values at a time. Compiled by itself, where the
/// comparison of the lengths spares all later checks, the loop becomes vector code.
#[inline(never)]
#[expect(clippy::indexing_slicing, reason = "each stream is as long as the values")]
fn merge<const WIDTH: usize>(streams: [&[u8]; WIDTH], out: &mut [[u8; WIDTH]])
where
    [u64; WIDTH]: Square<WIDTH>,
{
    if streams.iter().any(|stream| stream.len() != out.len()) {
        return debug_assert!(false, "streams of different lengths");
    }
    let streams = streams.map(|stream| stream.as_chunks::<8>());
    let (blocks, rest) = out.as_chunks_mut::<8>();
    for (k, block) in blocks.iter_mut().enumerate() {
        let mut rows = [0; WIDTH];
        for (row, (full, _)) in rows.iter_mut().zip(&streams) {
            *row = u64::from_le_bytes(full[k]);
        }
        *block = rows.turned().values();
    }
    for (i, value) in rest.iter_mut().enumerate() {
        *value = streams.map(|(_, rest)| rest[i]);
    }
}

/// Takes the bytes of each value apart, eight values at a time.
#[expect(clippy::indexing_slicing, reason = "each stream is as long as the values")]
fn split<const WIDTH: usize>(values: &[[u8; WIDTH]], mut streams: [&mut [u8]; WIDTH])
where
    [u64; WIDTH]: Square<WIDTH>,
{
    if streams.iter().any(|stream| stream.len() != values.len()) {
        return debug_assert!(false, "streams of different lengths");
    }
    let (blocks, rest) = values.as_chunks::<8>();
    let mut streams = streams.each_mut().map(|stream| stream.as_chunks_mut::<8>());
    for (k, block) in blocks.iter().enumerate() {
        let rows = <[u64; WIDTH]>::of_values(block).turned();
        for ((full, _), row) in streams.iter_mut().zip(rows) {
            full[k] = row.to_le_bytes();
        }
    }
    for (i, value) in rest.iter().enumerate() {
        for ((_, rest), byte) in streams.iter_mut().zip(value) {
            rest[i] = *byte;
        }
    }
}

/// Rows of eight bytes, in squares of as many columns as there are rows.
trait Square<const WIDTH: usize>: Sized {
    /// Turns each square, so that its rows become its columns.
    fn turned(self) -> Self;

    /// The squares as values: value `i` is row `i` of the first, value `WIDTH + i` of the second.
    fn values(self) -> [[u8; WIDTH]; 8];

    /// The opposite of `values`.
    fn of_values(values: &[[u8; WIDTH]; 8]) -> Self;
}

impl Square<4> for [u64; 4] {
    #[inline]
    fn turned(self) -> Self {
        let [a, b, c, d] = self;
        let ([a, c], [b, d]) = (swap_16(a, c), swap_16(b, d));
        let ([a, b], [c, d]) = (swap_8(a, b), swap_8(c, d));
        [a, b, c, d]
    }

    fn values(self) -> [[u8; 4]; 8] {
        let [a, b, c, d] = self.map(|row| {
            let [a, b, c, d, e, f, g, h] = row.to_le_bytes();
            ([a, b, c, d], [e, f, g, h])
        });
        [a.0, b.0, c.0, d.0, a.1, b.1, c.1, d.1]
    }

    fn of_values([a, b, c, d, e, f, g, h]: &[[u8; 4]; 8]) -> Self {
        [(a, e), (b, f), (c, g), (d, h)].map(|(low, high)| {
            u64::from(u32::from_le_bytes(*low)) | u64::from(u32::from_le_bytes(*high)) << 32
        })
    }
}

impl Square<8> for [u64; 8] {
    #[inline]
    fn turned(self) -> Self {
        let [a, b, c, d, e, f, g, h] = self;
        let ([a, e], [b, f]) = (swap_32(a, e), swap_32(b, f));
        let ([c, g], [d, h]) = (swap_32(c, g), swap_32(d, h));
        let ([a, b, c, d], [e, f, g, h]) = ([a, b, c, d].turned(), [e, f, g, h].turned());
        [a, b, c, d, e, f, g, h]
    }

    #[inline]
    fn values(self) -> [[u8; 8]; 8] {
        self.map(u64::to_le_bytes)
    }

    fn of_values(values: &[[u8; 8]; 8]) -> Self {
        values.map(u64::from_le_bytes)
    }
}

/// Exchanges the upper half of every 8 bytes of `a` with the lower half of those of `b`.
fn swap_32(a: u64, b: u64) -> [u64; 2] {
    let low = 0x0000_0000_ffff_ffff;
    let t = (a >> 32 ^ b) & low;
    [a ^ t << 32, b ^ t]
}

/// The same for every 4 bytes.
fn swap_16(a: u64, b: u64) -> [u64; 2] {
    let low = 0x0000_ffff_0000_ffff;
    let t = (a >> 16 ^ b) & low;
    [a ^ t << 16, b ^ t]
}

/// The same for every 2 bytes.
fn swap_8(a: u64, b: u64) -> [u64; 2] {
    let low = 0x00ff_00ff_00ff_00ff;
    let t = (a >> 8 ^ b) & low;
    [a ^ t << 8, b ^ t]
}

/// Appends the chunk of values: 32 or 64 bits each.
pub(crate) fn encode_chunk(values: &[u8], bits: u64, out: &mut Vec<u8>) {
    match bits {
        32 => encode_typed::<4>(values, out),
        64 => encode_typed::<8>(values, out),
        _ => debug_assert!(false, "split of {bits}-bit values"),
    }
}

fn encode_typed<const WIDTH: usize>(values: &[u8], out: &mut Vec<u8>)
where
    [u64; WIDTH]: Square<WIDTH>,
{
    let values = values.as_chunks::<WIDTH>().0;
    let start = out.len();
    out.resize(start.saturating_add(values.len().saturating_mul(WIDTH)), 0);
    let mut rest = out.get_mut(start..).unwrap_or_default();
    let streams = std::array::from_fn(|_| rest.split_off_mut(..values.len()).unwrap_or_default());
    split(values, streams);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decode(
        bytes: &[u8],
        bits: u64,
        num_values: usize,
        ranges: &[Range<usize>],
    ) -> Result<Vec<u8>> {
        let mut out = FixedValues::new(bits);
        decode_chunk(bytes, bits, num_values, ranges, &mut out)?;
        assert_eq!(out.len() * (bits / 8) as usize, out.data().len());
        Ok(out.data().to_vec())
    }

    #[test]
    fn the_chunk_of_the_format_text() {
        let plain: Vec<u8> = [1_f32, 2., 3., 4.].iter().flat_map(|f| f.to_le_bytes()).collect();
        let mut chunk = vec![0x55];
        encode_chunk(&plain, 32, &mut chunk);
        let expected = [0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0, 0x40, 0x80, 0x3f, 0x40, 0x40, 0x40];
        assert_eq!(chunk[1..], expected);
        assert_eq!(decode(&expected, 32, 4, &[0..4]).unwrap(), plain);
        assert_eq!(
            decode(&expected, 32, 4, &[0..1, 2..4]).unwrap(),
            [&plain[..4], &plain[8..]].concat()
        );
        assert_eq!(decode(&[], 32, 0, &[]).unwrap(), [0_u8; 0]);
    }

    #[test]
    fn broken_chunks() {
        let rule = |bits, len: usize, num_values, range: Range<usize>| match decode(
            &vec![0; len],
            bits,
            num_values,
            &[range],
        )
        .unwrap_err()
        {
            Error::Corrupt(corrupt) => corrupt.rule,
            other => panic!("{other}"),
        };
        assert!(rule(32, 15, 4, 0..4).contains("stand in 15 bytes"));
        assert!(rule(64, 16, 4, 0..4).contains("stand in 16 bytes"));
        assert!(rule(64, 0, usize::MAX, 0..1).contains("stand in 0 bytes"));
        assert!(rule(16, 8, 4, 0..4).contains("not 16"));
        assert!(rule(32, 16, 4, 3..5).contains("value 5 is past"));
    }

    proptest! {
        #[test]
        fn ranges_are_cut_from_the_whole(
            values in prop::collection::vec(any::<u64>(), 1..200),
            width in prop::sample::select(vec![4_usize, 8]),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
        ) {
            let bits = 8 * width as u64;
            let plain: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()[..width].to_vec()).collect();
            let mut chunk = Vec::new();
            encode_chunk(&plain, bits, &mut chunk);
            let n = values.len();
            prop_assert_eq!(&decode(&chunk, bits, n, &[0..n]).unwrap(), &plain);

            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(n + 1)).collect();
            cuts.sort_unstable();
            cuts.dedup();
            let ranges: Vec<_> = cuts.chunks_exact(2).map(|cut| cut[0]..cut[1]).collect();
            let wanted: Vec<u8> = ranges
                .iter()
                .flat_map(|range| &plain[range.start * width..range.end * width])
                .copied()
                .collect();
            prop_assert_eq!(decode(&chunk, bits, n, &ranges).unwrap(), wanted);
        }
    }
}
