//! All first bytes, then all second bytes, and so on: does not shrink, but compresses better.
//!
//! A chunk of `n` values of 32 or 64 bits is as long as the values: byte `j` of value `i` stands at
//! `j * n + i`.

#![cfg_attr(
    not(test),
    deny(
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects,
        clippy::cast_possible_truncation
    )
)]

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
        32 => decode_typed::<4>(bytes, num_values, ranges, out, merge_4),
        64 => decode_typed::<8>(bytes, num_values, ranges, out, merge_8),
        _ => Err(Error::corrupt(format!("split values have 32 or 64 bits, not {bits}"))),
    }
}

fn decode_typed<const WIDTH: usize>(
    bytes: &[u8],
    num_values: usize,
    ranges: &[Range<usize>],
    out: &mut FixedValues,
    merge: fn([&[u8]; WIDTH], &mut [[u8; WIDTH]]),
) -> Result<()> {
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
        let start = out.data.len();
        out.data.to_mut().extend_zeros(range.len().saturating_mul(WIDTH));
        out.len = out.len.saturating_add(range.len());
        let appended = out.data.to_mut().as_slice_mut().get_mut(start..).unwrap_or_default();
        merge(streams, appended.as_chunks_mut().0);
    }
    Ok(())
}

fn merge_4([a, b, c, d]: [&[u8]; 4], out: &mut [[u8; 4]]) {
    let bytes = a.iter().zip(b).zip(c.iter().zip(d));
    for (value, ((&a, &b), (&c, &d))) in out.iter_mut().zip(bytes) {
        *value = [a, b, c, d];
    }
}

fn merge_8([a, b, c, d, e, f, g, h]: [&[u8]; 8], out: &mut [[u8; 8]]) {
    let low = a.iter().zip(b).zip(c.iter().zip(d));
    let high = e.iter().zip(f).zip(g.iter().zip(h));
    for (value, (((&a, &b), (&c, &d)), ((&e, &f), (&g, &h)))) in out.iter_mut().zip(low.zip(high)) {
        *value = [a, b, c, d, e, f, g, h];
    }
}

/// Appends the chunk of values: 32 or 64 bits each.
pub(crate) fn encode_chunk(values: &[u8], bits: u64, out: &mut Vec<u8>) {
    match bits {
        32 => split::<4>(values, out),
        64 => split::<8>(values, out),
        _ => debug_assert!(false, "split of {bits}-bit values"),
    }
}

#[expect(clippy::indexing_slicing, reason = "the byte is below the width")]
fn split<const WIDTH: usize>(values: &[u8], out: &mut Vec<u8>) {
    let values = values.as_chunks::<WIDTH>().0;
    for byte in 0..WIDTH {
        out.extend(values.iter().map(|value| value[byte]));
    }
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
        assert_eq!(out.len * (bits / 8) as usize, out.data.len());
        Ok(out.data.as_slice().to_vec())
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
