//! Bit-packed levels to bit planes, without unpacking them.
//!
//! A packed block of 1,024 levels has 16 rows of 64 neighbours. The bits of a level stand one behind the
//! other in its lane, those of the next row behind them; lanes are interleaved by words of 16 bits:
//!
//! ```text
//! width 2     word 0 of lane 0: row 0 row 0 row 1 row 1 …   word 0 of lane 1: …   … word 1 of lane 0: row 8 row 8 …
//! transposed  plane 0 of row 0, plane 1 of row 0, plane 0 of row 1, …
//! ```
//!
//! So the words of all lanes, transposed, are the planes of whole rows. Row `r` holds the neighbours
//! from `128 * (r % 8) + 64 * (r / 8)` on.

use super::bitpack::{BLOCK, OutOfLine, ShortBlock, inline_block};
use super::flat;
use crate::bits::{NUMBER_BITS, Planes, WORD, transpose};
use crate::error::Result;

/// Bytes of one word of all lanes.
const WORD_BYTES: usize = 2 * WORD;

/// Appends the levels of an inline-packed buffer.
pub(super) fn decode_inline(buffer: &[u8], num_levels: usize, out: &mut Planes) -> Result<()> {
    if let Some((width, packed)) = inline_block::<u16>(buffer, num_levels)? {
        push_block(width, packed, num_levels, out);
    }
    Ok(())
}

/// Appends the levels of an out-of-line packed block.
pub(super) fn decode_out_of_line(
    bytes: &[u8],
    packed_bits: u64,
    num_levels: usize,
    out: &mut Planes,
) -> Result<()> {
    let OutOfLine { width, full, tail } = OutOfLine::new::<u16>(bytes, packed_bits, num_levels)?;
    let num_left = num_levels % BLOCK;
    if width == 0 {
        out.push_run(0, num_levels.saturating_sub(num_left));
    }
    full.for_each(|block| push_block(width, block, BLOCK, out));
    match tail {
        ShortBlock::Raw(words) => flat::decode_levels(words, num_left, out)?,
        ShortBlock::Packed(packed) => push_block(width, packed, num_left, out),
    }
    Ok(())
}

/// Appends the first levels of a packed block.
fn push_block(width: usize, packed: &[u8], num_levels: usize, out: &mut Planes) {
    // Levels are mostly of one to three bits, and planes that are not there need not be cleared.
    match width {
        ..=4 => push_planes::<4>(width, packed, num_levels, out),
        _ => push_planes::<NUMBER_BITS>(width, packed, num_levels, out),
    }
}

/// Appends the first levels of a packed block that has up to `N` planes.
fn push_planes<const N: usize>(width: usize, packed: &[u8], num_levels: usize, out: &mut Planes) {
    let mut planes = [[0; BLOCK / WORD]; N];
    let (mut row, mut plane) = (0_usize, 0_usize);
    for word in packed.as_chunks::<WORD_BYTES>().0 {
        let mut lanes = [0; WORD];
        for (lane, bytes) in lanes.iter_mut().zip(word.as_chunks().0) {
            *lane = u16::from_le_bytes(*bytes);
        }
        for bits in transpose(&lanes) {
            let place = (row % 8).wrapping_mul(2).wrapping_add(row / 8);
            if let Some(to) = planes.get_mut(plane).and_then(|words| words.get_mut(place)) {
                *to = bits;
            }
            plane = plane.wrapping_add(1);
            if plane == width {
                (row, plane) = (row.wrapping_add(1), 0);
            }
        }
    }
    out.push_words(planes.get(..width).unwrap_or_default(), num_levels);
}

#[cfg(test)]
mod tests {
    use super::super::bitpack::{encode_inline, encode_out_of_line};
    use super::*;

    fn levels(n: usize, width: usize) -> Vec<u16> {
        let mask = ((1_u32 << width) - 1) as u16;
        (0..n).map(|i| (i as u16).wrapping_mul(40_503).rotate_left(5) & mask).collect()
    }

    fn bytes(levels: &[u16]) -> Vec<u8> {
        levels.iter().flat_map(|level| level.to_le_bytes()).collect()
    }

    #[test]
    fn planes_are_the_levels_that_were_packed() {
        for (n, width) in [0, 1, 63, 64, 65, 1000, 1023, 1024, 1025, 3000]
            .into_iter()
            .flat_map(|n| (0..=16).map(move |width| (n, width)))
        {
            let expected = levels(n, width);
            let mut out = Planes::from([5].as_slice());
            let mut packed = vec![];
            encode_out_of_line(&bytes(&expected), 16, width as u64, &mut packed).unwrap();
            decode_out_of_line(&packed, width as u64, n, &mut out).unwrap();
            assert!(out.iter(1..usize::MAX).eq(expected.iter().copied()), "{n} of {width} bits");
            if n <= BLOCK {
                let mut out = Planes::from([5].as_slice());
                let mut packed = vec![];
                encode_inline(&bytes(&expected), 16, &mut packed).unwrap();
                decode_inline(&packed, n, &mut out).unwrap();
                assert!(out.iter(1..usize::MAX).eq(expected), "{n} of {width} bits, inline");
            }
        }
    }

    #[test]
    fn what_stands_behind_the_last_level_does_not_count() {
        let mut packed = vec![];
        encode_inline(&bytes(&[3; BLOCK]), 16, &mut packed).unwrap();
        let mut out = Planes::default();
        decode_inline(&packed, 10, &mut out).unwrap();
        out.push(0);
        assert!(out.iter(0..usize::MAX).eq([3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 0]));
        assert_eq!(out.above(0).count(), 10);
    }
}
