//! The fields of a struct side by side, row after row.
//!
//! Fixed fields only, in chunks and in rows: `[field 0][field 1]…`, whole bytes, no padding.
//!
//! Fields of any width, in rows of full-zip pages only: in order, a fixed field is its bytes, a
//! variable one a length of 4 or 8 bytes and that many bytes. A row of no bytes stands for a null
//! and yields a placeholder in each field.

use std::ops::Range;

use super::flat::{self, RowParts};
use super::{PackedField, PackedWidth, Scratch, Values, per_value, product, size, size_u64};
use crate::cursor::Cursor;
use crate::error::{Error, Result, ensure};

/// Bytes of a row of fixed fields.
pub(super) fn row_bytes(field_bits: &[u64]) -> Result<usize> {
    ensure!(!field_bits.is_empty(), "a packed struct has no fields");
    field_bits.iter().try_fold(0_usize, |sum, &bits| {
        let width = field_bytes(bits)?;
        sum.checked_add(width).ok_or_else(|| Error::corrupt("a packed row is too wide"))
    })
}

fn field_bytes(bits: u64) -> Result<usize> {
    ensure!(
        bits > 0 && bits.is_multiple_of(8),
        "a field of a packed struct has {bits} bits, which are no whole bytes"
    );
    size(bits.div_ceil(8))
}

/// Appends the rows `ranges` of a chunk.
pub(super) fn decode_chunk(
    field_bits: &[u64],
    buffer: &[u8],
    num_rows: usize,
    ranges: &[Range<usize>],
    children: &mut [Values],
) -> Result<()> {
    let stride = row_bytes(field_bits)?;
    let expected = product(num_rows, stride)?;
    ensure!(
        buffer.len() == expected,
        "{num_rows} packed rows have {} bytes instead of {expected}",
        buffer.len()
    );
    for range in ranges {
        let bytes = buffer.get(product(range.start, stride)?..product(range.end, stride)?);
        ensure!(bytes.is_some(), "the rows {range:?} end beyond {num_rows} rows");
        let bytes = bytes.unwrap_or_default();
        let rows = RowParts { bytes, stride, skip: 0, num_rows: range.len() };
        decode_rows(field_bits, rows, children)?;
    }
    Ok(())
}

/// Appends rows of fixed fields.
pub(super) fn decode_rows(
    field_bits: &[u64],
    mut rows: RowParts<'_>,
    children: &mut [Values],
) -> Result<()> {
    check_fields(field_bits.len(), children.len())?;
    for (&bits, child) in field_bits.iter().zip(children) {
        let width = field_bytes(bits)?;
        match child {
            Values::Fixed(values) if values.bits() == bits => rows.append_to(width, 1, values)?,
            _ => {
                return Err(Error::corrupt(format!(
                    "a field of {bits} bits is packed where another type is expected"
                )));
            }
        }
        rows = rows.skipping(width);
    }
    Ok(())
}

fn check_fields(stored: usize, expected: usize) -> Result<()> {
    ensure!(stored == expected, "a packed struct has {stored} fields instead of {expected}");
    Ok(())
}

/// Appends row `index` of fixed fields.
pub(super) fn encode_row(
    field_bits: &[u64],
    children: &[Values],
    index: usize,
    out: &mut Vec<u8>,
) -> Result<()> {
    check_fields(field_bits.len(), children.len())?;
    for (&bits, child) in field_bits.iter().zip(children) {
        match child {
            Values::Fixed(values) if values.bits() == bits && bits != 1 => {
                flat::encode_row(values, index, out)?;
            }
            _ => return Err(Error::invalid("only fields of whole bytes can be packed")),
        }
    }
    Ok(())
}

/// Appends one row of fields of any width.
pub(super) fn decode_variable_row(
    fields: &[PackedField],
    stored: &[u8],
    children: &mut [Values],
    scratch: &mut Scratch,
) -> Result<()> {
    check_fields(fields.len(), children.len())?;
    if stored.is_empty() {
        return children.iter_mut().try_for_each(|child| {
            scratch.claim(child.default_bytes(1), "a field of a null row")?;
            child.push_default(1)
        });
    }
    let mut cursor = Cursor::new(stored);
    for (field, child) in fields.iter().zip(children) {
        match field.width {
            PackedWidth::Value { bits } => {
                let bytes = cursor.take(field_bytes(bits)?, "a field of a packed row")?;
                per_value::decode_row(&field.encoding, bytes, child)?;
            }
            PackedWidth::Length { bits } => {
                let len = match bits {
                    64 => cursor.u64("the length of a field of a packed row")?,
                    _ => u64::from(cursor.u32("the length of a field of a packed row")?),
                };
                let bytes = cursor.take(size(len)?, "a field of a packed row")?;
                per_value::decode_value(&field.encoding, bytes, child, scratch)?;
            }
        }
    }
    ensure!(
        cursor.rest().is_empty(),
        "{} bytes follow the last field of a packed row",
        cursor.rest().len()
    );
    Ok(())
}

/// Appends row `index` of fields of any width.
pub(super) fn encode_variable_row(
    fields: &[PackedField],
    children: &[Values],
    index: usize,
    out: &mut Vec<u8>,
) -> Result<()> {
    check_fields(fields.len(), children.len())?;
    for (field, child) in fields.iter().zip(children) {
        let start = out.len();
        if let PackedWidth::Length { bits } = field.width {
            let width = if bits == 64 { 8 } else { 4 };
            out.resize(start.saturating_add(width), 0);
            let bytes_start = out.len();
            per_value::encode_row(&field.encoding, child, index, out)?;
            let len = size_u64(out.len().saturating_sub(bytes_start));
            if width == 4 && u32::try_from(len).is_err() {
                return Err(Error::invalid("a field of a packed row is longer than 4 GiB"));
            }
            for (to, from) in out.iter_mut().skip(start).take(width).zip(len.to_le_bytes()) {
                *to = from;
            }
        } else {
            per_value::encode_row(&field.encoding, child, index, out)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::{Encoding, ValueType};
    use super::*;

    fn fixed(bits: u64, data: &[u8]) -> Values {
        let mut values = super::super::FixedValues::new(bits);
        values.append_flat(data, 0..data.len() * 8 / bits as usize).unwrap();
        Values::Fixed(values)
    }

    const ROWS: [u8; 12] = [1, 0, 0, 0, 2, 0, 3, 0, 0, 0, 4, 0];

    #[test]
    fn the_fixed_rows_of_the_specification() {
        let children = [fixed(32, &[1, 0, 0, 0, 3, 0, 0, 0]), fixed(16, &[2, 0, 4, 0])];
        let mut out = vec![];
        (0..2).for_each(|row| encode_row(&[32, 16], &children, row, &mut out).unwrap());
        assert_eq!(out, ROWS);
        let mut decoded = [fixed(32, &[]), fixed(16, &[])];
        decode_chunk(&[32, 16], &ROWS, 2, &[0..1, 1..2], &mut decoded).unwrap();
        assert_eq!(decoded, children);
    }

    #[test]
    fn corrupt_fixed_rows() {
        let decode = |bits: &[u64], bytes: &[u8], range: Range<usize>| {
            decode_chunk(bits, bytes, 2, &[range], &mut [fixed(32, &[]), fixed(16, &[])]).is_ok()
        };
        assert!(decode(&[32, 16], &ROWS, 0..2));
        assert!(!decode(&[32, 16], &ROWS[1..], 0..2));
        assert!(!decode(&[32, 16], &ROWS, 1..3));
        assert!(!decode(&[16, 32], &ROWS, 0..2));
        assert!(!decode(&[48], &ROWS, 0..2));
        assert!(!decode(&[32, 8, 8], &ROWS, 0..2));
        assert!(row_bytes(&[]).is_err());
        assert!(row_bytes(&[0]).is_err());
        assert!(row_bytes(&[1, 7]).is_err());
        assert!(row_bytes(&[u64::MAX - 7; 20]).is_err());
    }

    fn fields() -> Vec<PackedField> {
        let flat = |bits| PackedField {
            encoding: Encoding::Flat { bits },
            width: PackedWidth::Value { bits },
        };
        let string = PackedField {
            encoding: Encoding::Variable { offset_bits: 32 },
            width: PackedWidth::Length { bits: 32 },
        };
        vec![flat(32), string, flat(8)]
    }

    fn empty() -> Vec<Values> {
        [
            ValueType::Fixed { bits: 32 },
            ValueType::Variable { offset_bits: 32 },
            ValueType::Fixed { bits: 8 },
        ]
        .iter()
        .map(Values::new)
        .collect()
    }

    const ROW: &[u8] = b"\0\0\0\0\x02\0\0\0s0\0";

    #[test]
    fn the_variable_row_of_the_specification() {
        let mut children = empty();
        let mut scratch = Scratch::new(9);
        decode_variable_row(&fields(), ROW, &mut children, &mut scratch).unwrap();
        decode_variable_row(&fields(), &[], &mut children, &mut scratch).unwrap();
        assert_eq!(children.iter().map(Values::len).collect::<Vec<_>>(), [2, 2, 2]);
        let Values::Variable(strings) = &children[1] else { panic!() };
        assert_eq!((strings.value(0).unwrap(), strings.value(1).unwrap()), (&b"s0"[..], &b""[..]));
        let again = decode_variable_row(&fields(), &[], &mut children, &mut scratch);
        assert!(matches!(again, Err(Error::Limit { .. })));
        let mut out = vec![];
        encode_variable_row(&fields(), &children, 0, &mut out).unwrap();
        assert_eq!(out, ROW);
    }

    #[test]
    fn corrupt_variable_rows() {
        let decode = |fields: &[PackedField], row: &[u8]| {
            decode_variable_row(fields, row, &mut empty(), &mut Scratch::new(0)).is_ok()
        };
        assert!(decode(&fields(), ROW));
        (1..ROW.len()).for_each(|len| assert!(!decode(&fields(), &ROW[..len])));
        assert!(!decode(&fields(), &[ROW, &[0]].concat()));
        assert!(!decode(&fields()[..2], &ROW[..10]));
        let mut longer = ROW.to_vec();
        longer[7] = 0xff;
        assert!(!decode(&fields(), &longer));
    }
}
