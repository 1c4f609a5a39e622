//! Runs of equal values.
//!
//! A run is a value of 8, 16, 32 or 64 bits and a length of 1 to 255; longer runs are split.
//!
//! | context | bytes |
//! |---|---|
//! | chunk | buffer 0: the values of the runs; buffer 1: their lengths, one byte each |
//! | block | `u64` byte size of the values, the values, the lengths |
//!
//! The lengths of a block sum up to the number of values. Those of a chunk may exceed it, because
//! older writers let the last run go on past the end; the excess is dropped.

use std::ops::Range;

use super::FixedValues;
use crate::bits::Planes;
use crate::cursor::Cursor;
use crate::error::{Error, Result, ensure};

const MAX_RUN: usize = 255;

/// Appends the values at `ranges` of a chunk of `num_values`.
pub(crate) fn decode_chunk(
    values: &[u8],
    lengths: &[u8],
    bits: u64,
    num_values: usize,
    ranges: &[Range<usize>],
    out: &mut FixedValues,
) -> Result<()> {
    let sum = sum_lengths(values, lengths, bits)?;
    ensure!(
        sum >= num_values as u64,
        "the runs of the chunk hold {sum} values, fewer than its {num_values}"
    );
    let last = ranges.last().map_or(0, |range| range.end);
    ensure!(last <= num_values, "value {last} is past the {num_values} values of the chunk");
    expand(values, lengths, bits, ranges, out)
}

/// Appends the `num_values` values of a block.
pub(crate) fn decode_block(
    bytes: &[u8],
    bits: u64,
    num_values: usize,
    out: &mut FixedValues,
) -> Result<()> {
    let (values, lengths) = split_block(bytes)?;
    let sum = sum_lengths(values, lengths, bits)?;
    ensure!(
        sum == num_values as u64,
        "the runs of the block hold {sum} values instead of {num_values}"
    );
    expand(values, lengths, bits, std::slice::from_ref(&(0..num_values)), out)
}

/// Appends the levels of a block.
pub(crate) fn decode_levels(bytes: &[u8], num_levels: usize, out: &mut Planes) -> Result<()> {
    let (levels, lengths) = split_block(bytes)?;
    let sum = sum_lengths(levels, lengths, 16)?;
    ensure!(
        sum == num_levels as u64,
        "the runs of the block hold {sum} levels instead of {num_levels}"
    );
    for (level, length) in levels.as_chunks().0.iter().zip(lengths) {
        out.push_run(u16::from_le_bytes(*level), usize::from(*length));
    }
    Ok(())
}

/// The number of values in the runs of a block.
pub(crate) fn block_num_values(bytes: &[u8], bits: u64) -> Result<u64> {
    let (values, lengths) = split_block(bytes)?;
    sum_lengths(values, lengths, bits)
}

/// The values and the lengths of a block.
fn split_block(bytes: &[u8]) -> Result<(&[u8], &[u8])> {
    let mut cursor = Cursor::new(bytes);
    let size = cursor.u64("byte size of the run values")?;
    let values = cursor.take(usize::try_from(size).unwrap_or(usize::MAX), "run values")?;
    Ok((values, cursor.rest()))
}

/// Checks that there is a length of at least 1 for each value, and sums them up.
fn sum_lengths(values: &[u8], lengths: &[u8], bits: u64) -> Result<u64> {
    let width = match bits {
        8 => 1,
        16 => 2,
        32 => 4,
        64 => 8,
        _ => return Err(bad_width(bits)),
    };
    ensure!(
        values.len().checked_div(width) == Some(lengths.len())
            && values.len().is_multiple_of(width),
        "{} run lengths do not fit {} bytes of {bits}-bit run values",
        lengths.len(),
        values.len()
    );
    ensure!(!lengths.contains(&0), "a run has no values");
    Ok(lengths.iter().map(|&length| u64::from(length)).sum())
}

fn bad_width(bits: u64) -> Error {
    Error::corrupt(format!("run values have 8, 16, 32 or 64 bits, not {bits}"))
}

/// Appends the values at `ranges`. The runs are checked and reach the end of the last range.
fn expand(
    values: &[u8],
    lengths: &[u8],
    bits: u64,
    ranges: &[Range<usize>],
    out: &mut FixedValues,
) -> Result<()> {
    match bits {
        8 => expand_typed::<1>(values, lengths, ranges, out),
        16 => expand_typed::<2>(values, lengths, ranges, out),
        32 => expand_typed::<4>(values, lengths, ranges, out),
        64 => expand_typed::<8>(values, lengths, ranges, out),
        _ => Err(bad_width(bits)),
    }
}

#[expect(clippy::arithmetic_side_effects, reason = "positions are below the sum of the lengths")]
fn expand_typed<const WIDTH: usize>(
    values: &[u8],
    lengths: &[u8],
    ranges: &[Range<usize>],
    out: &mut FixedValues,
) -> Result<()> {
    let num_wanted: usize = ranges.iter().map(Range::len).sum();
    let mut room = out.push_room(num_wanted)?.as_chunks_mut::<WIDTH>().0;

    let mut runs = values.as_chunks::<WIDTH>().0.iter().zip(lengths);
    let mut value = [0; WIDTH];
    let mut run_end = 0;
    for range in ranges {
        let mut position = range.start;
        while position < range.end {
            while run_end <= position {
                let Some((&next, &length)) = runs.next() else { return Ok(()) };
                value = next;
                run_end += usize::from(length);
            }
            let num = run_end.min(range.end) - position;
            let Some((filled, rest)) = room.split_at_mut_checked(num) else { return Ok(()) };
            filled.fill(value);
            room = rest;
            position += num;
        }
    }
    Ok(())
}

/// Appends the runs of a chunk of values: 8, 16, 32 or 64 bits each.
pub(crate) fn encode_chunk(
    values: &[u8],
    bits: u64,
    out_values: &mut Vec<u8>,
    out_lengths: &mut Vec<u8>,
) {
    match bits {
        8 => encode_runs::<1>(values, out_values, out_lengths),
        16 => encode_runs::<2>(values, out_values, out_lengths),
        32 => encode_runs::<4>(values, out_values, out_lengths),
        64 => encode_runs::<8>(values, out_values, out_lengths),
        _ => debug_assert!(false, "runs of {bits}-bit values"),
    }
}

fn encode_runs<const WIDTH: usize>(
    values: &[u8],
    out_values: &mut Vec<u8>,
    out_lengths: &mut Vec<u8>,
) {
    for run in values.as_chunks::<WIDTH>().0.chunk_by(|a, b| a == b) {
        for part in run.chunks(MAX_RUN) {
            out_values.extend_from_slice(part.first().map_or(&[], |value| value));
            out_lengths.push(u8::try_from(part.len()).unwrap_or(u8::MAX));
        }
    }
}

/// Appends the block of values: 8, 16, 32 or 64 bits each.
pub(crate) fn encode_block(values: &[u8], bits: u64, out: &mut Vec<u8>) {
    let header = out.len();
    out.extend_from_slice(&[0; 8]);
    let start = out.len();
    let mut lengths = Vec::new();
    encode_chunk(values, bits, out, &mut lengths);
    let size = out.len().saturating_sub(start) as u64;
    if let Some(header) = out.get_mut(header..start) {
        header.copy_from_slice(&size.to_le_bytes());
    }
    out.extend_from_slice(&lengths);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn chunk(values: &[u8], bits: u64) -> (Vec<u8>, Vec<u8>) {
        let (mut out_values, mut out_lengths) = (Vec::new(), Vec::new());
        encode_chunk(values, bits, &mut out_values, &mut out_lengths);
        (out_values, out_lengths)
    }

    fn decode(
        values: &[u8],
        lengths: &[u8],
        bits: u64,
        num_values: usize,
        ranges: &[Range<usize>],
    ) -> Result<Vec<u8>> {
        let mut out = FixedValues::new(bits);
        decode_chunk(values, lengths, bits, num_values, ranges, &mut out)?;
        assert_eq!(out.len() * (bits / 8) as usize, out.data().len());
        Ok(out.data().to_vec())
    }

    fn rule<T: std::fmt::Debug>(result: Result<T>) -> String {
        match result.unwrap_err() {
            Error::Corrupt(corrupt) => corrupt.rule,
            other => panic!("{other}"),
        }
    }

    #[test]
    fn the_chunk_of_the_format_text() {
        let plain = [[7, 0].repeat(300), [9, 0].repeat(4)].concat();
        let (values, lengths) = chunk(&plain, 16);
        assert_eq!(values, [7, 0, 7, 0, 9, 0]);
        assert_eq!(lengths, [0xff, 0x2d, 4]);
        assert_eq!(decode(&values, &lengths, 16, 304, &[0..304]).unwrap(), plain);
    }

    #[test]
    fn the_block_of_the_format_text() {
        let mut block = vec![0x55];
        encode_block(&[0; 2048], 16, &mut block);
        let mut expected = vec![10, 0, 0, 0, 0, 0, 0, 0];
        expected.extend([0; 10]);
        expected.extend([0xff, 0xff, 0xff, 0xff, 4]);
        assert_eq!(block[1..], expected);
        assert_eq!(block_num_values(&expected, 16).unwrap(), 1024);

        let mut out = FixedValues::new(16);
        decode_block(&expected, 16, 1024, &mut out).unwrap();
        assert_eq!((out.len(), out.data()), (1024, &[0; 2048][..]));
    }

    #[test]
    fn no_values() {
        assert_eq!(chunk(&[], 32), (vec![], vec![]));
        assert_eq!(decode(&[], &[], 32, 0, &[]).unwrap(), [0_u8; 0]);
        let mut block = Vec::new();
        encode_block(&[], 8, &mut block);
        assert_eq!(block, [0; 8]);
        decode_block(&block, 8, 0, &mut FixedValues::new(8)).unwrap();
    }

    #[test]
    fn runs_around_the_longest() {
        for (len, expected) in [
            (254, &[254][..]),
            (255, &[255]),
            (256, &[255, 1]),
            (510, &[255, 255]),
            (511, &[255, 255, 1]),
        ] {
            let (values, lengths) = chunk(&vec![3; len], 8);
            assert_eq!(lengths, expected);
            assert_eq!(decode(&values, &lengths, 8, len, &[0..len]).unwrap(), vec![3; len]);
        }
    }

    #[test]
    fn a_chunk_drops_what_overshoots_and_a_block_does_not_have_it() {
        assert_eq!(decode(&[1, 2], &[2, 200], 8, 4, &[0..4]).unwrap(), [1, 1, 2, 2]);
        assert_eq!(decode(&[1, 2], &[2, 200], 8, 1, &[0..1]).unwrap(), [1]);
        let block = [2, 0, 0, 0, 0, 0, 0, 0, 1, 2, 2, 2];
        for num_values in [0, 3, 5] {
            let result = decode_block(&block, 8, num_values, &mut FixedValues::new(8));
            assert!(rule(result).contains("hold 4 values"));
        }
        decode_block(&block, 8, 4, &mut FixedValues::new(8)).unwrap();
    }

    #[test]
    fn broken_chunks() {
        let all = std::slice::from_ref(&(0..4));
        assert!(rule(decode(&[1, 2], &[2, 1], 8, 4, all)).contains("hold 3 values"));
        assert!(rule(decode(&[], &[], 8, 4, all)).contains("hold 0 values"));
        assert_eq!(rule(decode(&[1, 2], &[0, 4], 8, 4, all)), "a run has no values");
        assert_eq!(rule(decode(&[1, 2], &[4, 0], 8, 4, all)), "a run has no values");
        assert!(rule(decode(&[1, 2], &[4], 8, 4, all)).contains("do not fit"));
        assert!(rule(decode(&[1, 2], &[2, 2], 16, 4, all)).contains("do not fit"));
        assert!(rule(decode(&[1, 2, 3], &[4], 16, 4, all)).contains("do not fit"));
        assert!(rule(decode(&[1], &[4], 24, 4, all)).contains("not 24"));
        assert!(rule(decode(&[1], &[9], 8, 4, &[0..1, 3..5])).contains("past"));
        assert!(rule(decode(&[1], &[9], 8, usize::MAX, all)).contains("fewer"));
    }

    #[test]
    fn broken_blocks() {
        for block in [
            &[][..],
            &[0; 7],
            &[3, 0, 0, 0, 0, 0, 0, 0, 1, 4],
            &[255, 255, 255, 255, 255, 255, 255, 255, 1, 4],
            &[1, 0, 0, 0, 0, 0, 0, 0, 1, 0],
            &[1, 0, 0, 0, 0, 0, 0, 0, 1, 4, 4],
        ] {
            rule(block_num_values(block, 8));
            rule(decode_block(block, 8, 4, &mut FixedValues::new(8)));
        }
    }

    proptest! {
        #[test]
        fn ranges_are_cut_from_the_whole(
            runs in prop::collection::vec((0..4_u64, 1..600_usize), 1..20),
            width in prop::sample::select(vec![1_usize, 2, 4, 8]),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
        ) {
            let bits = 8 * width as u64;
            let num_values = runs.iter().map(|run| run.1).sum();
            let plain: Vec<u8> = runs
                .iter()
                .flat_map(|&(value, len)| (value * 0x0101_0101_0102).to_le_bytes()[..width].repeat(len))
                .collect();
            let (values, lengths) = chunk(&plain, bits);
            prop_assert_eq!(&decode(&values, &lengths, bits, num_values, &[0..num_values]).unwrap(), &plain);

            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(num_values + 1)).collect();
            cuts.sort_unstable();
            cuts.dedup();
            let ranges: Vec<_> = cuts.chunks_exact(2).map(|cut| cut[0]..cut[1]).collect();
            let wanted: Vec<u8> = ranges
                .iter()
                .flat_map(|range| &plain[range.start * width..range.end * width])
                .copied()
                .collect();
            prop_assert_eq!(decode(&values, &lengths, bits, num_values, &ranges).unwrap(), wanted);

            let mut block = Vec::new();
            encode_block(&plain, bits, &mut block);
            let mut out = FixedValues::new(bits);
            decode_block(&block, bits, num_values, &mut out).unwrap();
            prop_assert_eq!(out.data(), plain);
        }
    }
}
