//! Values back to back, `ceil(n * bits / 8)` bytes.
//!
//! A width of one bit is a bitmap, least significant bit first, from bit 0 of the buffer; every
//! other width is a multiple of 8. In rows of a full-zip page a boolean takes a byte of its own.

use std::ops::Range;

use arrow_buffer::MutableBuffer;

use super::{FixedValues, byte_len, product};
use crate::bits::{Planes, WORD, transpose};
use crate::error::{Error, Result, ensure};

/// Appends the values `ranges` of a buffer of `num_values` units of `scale` values each.
pub(super) fn decode_ranges(
    buffer: &[u8],
    num_values: usize,
    scale: usize,
    ranges: &[Range<usize>],
    out: &mut FixedValues,
) -> Result<()> {
    let expected = byte_len(product(num_values, scale)?, out.bits())?;
    ensure!(
        buffer.len() == expected,
        "{num_values} values have {} bytes instead of {expected}",
        buffer.len()
    );
    for range in ranges {
        ensure!(range.end <= num_values, "the values {range:?} end beyond {num_values} values");
        out.append_flat(buffer, product(range.start, scale)?..product(range.end, scale)?)?;
    }
    Ok(())
}

/// Appends levels: values of 16 bits.
pub(super) fn decode_levels(buffer: &[u8], num_levels: usize, out: &mut Planes) -> Result<()> {
    ensure!(
        buffer.len() == product(num_levels, 2)?,
        "{num_levels} levels have {} bytes",
        buffer.len()
    );
    for block in buffer.as_chunks().0.chunks(WORD) {
        let mut levels = [0; WORD];
        levels.iter_mut().zip(block).for_each(|(to, level)| *to = u16::from_le_bytes(*level));
        out.push_words(&transpose(&levels).map(|word| [word]), block.len());
    }
    Ok(())
}

/// Writes the values `range` as a flat buffer.
pub(super) fn encode(values: &FixedValues, range: Range<usize>, out: &mut Vec<u8>) -> Result<()> {
    if values.width_bytes().is_some() {
        out.extend_from_slice(values.bytes(range)?);
    } else {
        let mut bits = FixedValues::new(1);
        bits.append_range(values, range)?;
        out.extend_from_slice(bits.data());
    }
    Ok(())
}

/// Something of every row: row `i` starts at `i * stride`, the part at hand `skip` bytes later.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowParts<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) stride: usize,
    pub(crate) skip: usize,
    pub(crate) num_rows: usize,
}

impl<'a> RowParts<'a> {
    /// The same rows, without the first `bytes` bytes of the part at hand.
    pub(crate) fn skipping(self, bytes: usize) -> Self {
        Self { skip: self.skip.saturating_add(bytes), ..self }
    }

    /// The part at hand of every row, at least `width` bytes each.
    pub(super) fn parts(self, width: usize) -> Result<impl Iterator<Item = &'a [u8]>> {
        let Self { bytes, stride, skip, num_rows } = self;
        let part_end = skip.checked_add(width).filter(|&end| end <= stride && stride > 0);
        let end = num_rows
            .checked_sub(1)
            .map_or(Some(0), |last| last.checked_mul(stride)?.checked_add(part_end?));
        ensure!(
            part_end.is_some() && end.is_some_and(|end| end <= bytes.len()),
            "{num_rows} rows of {stride} bytes with {width} bytes at byte {skip} do not fit into \
             {} bytes",
            bytes.len()
        );
        Ok(bytes.get(skip..).unwrap_or_default().chunks(stride).take(num_rows))
    }

    /// Appends `values_per_row` values of every row, which take `width` bytes of it.
    pub(crate) fn append_to(
        self,
        width: usize,
        values_per_row: usize,
        out: &mut FixedValues,
    ) -> Result<()> {
        let parts = self.parts(width)?;
        let len = product(self.num_rows, values_per_row)?;
        if self.skip == 0 && self.stride == width {
            let all = self.bytes.get(..product(self.num_rows, width)?).unwrap_or_default();
            return out.append_flat(all, 0..len);
        }
        if out.bits() == 1 {
            let mut parts = parts;
            return parts.try_for_each(|part| out.append_bits(part, 0..values_per_row));
        }
        ensure!(
            byte_len(values_per_row, out.bits())? == width,
            "{values_per_row} values of {} bits do not take {width} bytes",
            out.bits()
        );
        let to = out.push_room(len)?;
        match width {
            1 => copy::<1>(parts, to),
            2 => copy::<2>(parts, to),
            4 => copy::<4>(parts, to),
            8 => copy::<8>(parts, to),
            16 => copy::<16>(parts, to),
            32 => copy::<32>(parts, to),
            _ => {
                for (to, from) in to.chunks_exact_mut(width.max(1)).zip(parts) {
                    to.copy_from_slice(from.get(..width).unwrap_or_default());
                }
            }
        }
        Ok(())
    }

    /// Appends one boolean of every row; a byte that is not zero is true.
    pub(super) fn append_booleans_to(self, out: &mut FixedValues) -> Result<()> {
        let mut parts = self.parts(1)?;
        let is_true = |part: &[u8]| part.first().is_some_and(|&byte| byte != 0);
        let bits =
            MutableBuffer::collect_bool(self.num_rows, |_| parts.next().is_some_and(is_true));
        out.append_bits(&bits, 0..self.num_rows)
    }
}

/// Copies the first `W` bytes of every part.
fn copy<'a, const W: usize>(parts: impl Iterator<Item = &'a [u8]>, to: &mut [u8]) {
    for (to, part) in to.as_chunks_mut::<W>().0.iter_mut().zip(parts) {
        if let Some(value) = part.first_chunk() {
            *to = *value;
        }
    }
}

/// The value `index` as bytes of a row; a boolean becomes a byte.
pub(super) fn encode_row(values: &FixedValues, index: usize, out: &mut Vec<u8>) -> Result<()> {
    let end = index.checked_add(1).ok_or_else(|| Error::invalid("there is no such value"))?;
    if values.bits() == 1 {
        ensure!(index < values.len(), "value {index} does not exist, there are {}", values.len());
        out.push(u8::from(values.bit(index)));
    } else {
        out.extend_from_slice(values.bytes(index..end)?);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_any_width_are_gathered() {
        let zipped: Vec<u8> = (0..=255).cycle().take(5 * 70).collect();
        for width in [1, 2, 3, 4, 8, 16, 20, 32, 64] {
            for (stride, skip) in [(width, 0), (70, 0), (70, 5), (70, 70 - width)] {
                let rows = RowParts { bytes: &zipped, stride, skip, num_rows: 5 };
                let mut out = FixedValues::new(8 * width as u64);
                rows.append_to(width, 1, &mut out).unwrap();
                let expected: Vec<u8> =
                    (0..5).flat_map(|i| zipped[i * stride + skip..][..width].to_vec()).collect();
                assert_eq!((out.len(), out.data()), (5, expected.as_slice()));
            }
        }
    }

    #[test]
    fn rows_must_fit() {
        let rows = |stride, skip, num_rows| RowParts { bytes: &[0; 20], stride, skip, num_rows };
        let fits = |rows: RowParts<'_>, width| rows.parts(width).is_ok();
        assert!(fits(rows(5, 1, 4), 4));
        assert!(!fits(rows(5, 1, 4), 5));
        assert!(!fits(rows(5, 1, 3), 5), "a part may not reach into the next row");
        assert!(!fits(rows(5, 0, 5), 5));
        assert!(!fits(rows(0, 0, 5), 0));
        assert!(!fits(rows(usize::MAX, 1, 3), 1));
        assert!(!fits(rows(5, usize::MAX, 1), 1));
        assert!(fits(rows(6, 1, 4), 1), "the last row may lack its end");
    }

    #[test]
    fn buffers_have_exactly_their_bytes() {
        let mut bits = FixedValues::new(1);
        decode_ranges(&[0b1010_0110, 1], 9, 1, &[1..3, 5..9], &mut bits).unwrap();
        assert_eq!((bits.len(), bits.data()), (6, &[0b11_0111_u8][..]));
        assert!(decode_ranges(&[0; 3], 9, 1, &[], &mut bits).is_err());
        assert!(decode_ranges(&[0; 1], 9, 1, &[], &mut bits).is_err());
        assert!(decode_ranges(&[0; 2], 9, 1, &[9..10], &mut bits).is_err());
        let mut wide = FixedValues::new(2000 * 8);
        decode_ranges(&[7; 6000], 3, 1, &[2..3], &mut wide).unwrap();
        assert_eq!((wide.len(), wide.data()), (1, &[7; 2000][..]));
        assert!(decode_ranges(&[], usize::MAX, 2, &[], &mut wide).is_err());
    }

    #[test]
    fn booleans_are_bytes_in_rows_and_bits_elsewhere() {
        let rows = RowParts { bytes: &[9, 0, 9, 1, 9, 128], stride: 2, skip: 1, num_rows: 3 };
        let mut out = FixedValues::new(1);
        rows.append_booleans_to(&mut out).unwrap();
        assert_eq!((out.len(), out.data()), (3, &[0b110_u8][..]));
        let mut row = vec![];
        (0..3).for_each(|index| encode_row(&out, index, &mut row).unwrap());
        assert_eq!(row, [0, 1, 1]);
        assert!(encode_row(&out, 3, &mut row).is_err());
        let mut buffer = vec![];
        encode(&out, 1..3, &mut buffer).unwrap();
        assert_eq!(buffer, [0b11]);
    }
}
