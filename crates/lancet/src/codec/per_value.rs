//! Values one by one, as the rows of a full-zip page hold them.
//!
//! Fixed-width encodings take the same number of bytes for every row; the others yield one run of
//! bytes a value, whose length the page stores. `Constant` alone yields placeholders: the page
//! makes them null.

use bytes::Bytes;

use super::flat::{self, RowParts};
use super::{
    Encoding, FixedValues, PackedField, PackedWidth, Scratch, ValueBuffer, ValueType, Values,
    fixed_size_list, fsst, general, mini_block, mismatch, packed_struct, product, size, size_u64,
};
use crate::error::{Error, Result, ensure};

/// Fewer bytes than this are copied: what they were read with may be much more, and would be kept.
const SHARED_BYTES: usize = 64 << 10;

/// Whether values have lengths of their own.
pub(crate) fn is_variable(encoding: &Encoding) -> bool {
    matches!(
        encoding,
        Encoding::Variable { .. }
            | Encoding::Fsst { .. }
            | Encoding::General { .. }
            | Encoding::VariablePackedStruct { .. }
    )
}

/// Checks that rows of `value_type` can be stored in this way.
pub(crate) fn check(encoding: &Encoding, value_type: &ValueType) -> Result<()> {
    match (encoding, value_type) {
        (Encoding::Flat { bits: 8 }, ValueType::Fixed { bits: 1 }) => Ok(()),
        (Encoding::Flat { bits }, ValueType::Fixed { bits: expected })
            if bits == expected && *bits > 0 && bits.is_multiple_of(8) =>
        {
            Ok(())
        }
        (
            Encoding::Constant,
            ValueType::Fixed { .. } | ValueType::FixedSizeList { .. } | ValueType::Nothing,
        ) => Ok(()),
        (Encoding::FixedSizeList { .. }, ValueType::FixedSizeList { .. }) => {
            mini_block::check_list(encoding, value_type, true)?;
            fixed_size_list::row_bytes(encoding).map(|_| ())
        }
        (Encoding::PackedStruct { field_bits }, ValueType::Struct(children)) => {
            mini_block::check_packed(field_bits, children)
        }
        (Encoding::Variable { offset_bits }, ValueType::Variable { offset_bits: expected })
            if offset_bits == expected =>
        {
            Ok(())
        }
        // Nothing is stored in the way the inner encoding says, so only its kind matters.
        (
            Encoding::Fsst { values, .. } | Encoding::General { values, .. },
            ValueType::Variable { .. },
        ) if matches!(**values, Encoding::Variable { .. }) => Ok(()),
        (Encoding::VariablePackedStruct { fields }, ValueType::Struct(children)) => {
            check_variable_struct(fields, children)
        }
        _ => Err(mismatch(encoding, value_type)),
    }
}

fn check_variable_struct(fields: &[PackedField], children: &[ValueType]) -> Result<()> {
    ensure!(
        fields.len() == children.len() && !fields.is_empty(),
        "a packed struct has {} fields instead of {}",
        fields.len(),
        children.len()
    );
    for (PackedField { encoding, width }, child) in fields.iter().zip(children) {
        ensure!(!matches!(child, ValueType::Struct(_)), "a packed struct holds another struct");
        ensure!(*encoding != Encoding::Constant, "a field of a packed struct has no bytes");
        check(encoding, child)?;
        match *width {
            PackedWidth::Length { bits } => ensure!(
                is_variable(encoding) && (bits == 32 || bits == 64),
                "\"{encoding}\" is packed with a length of {bits} bits"
            ),
            PackedWidth::Value { bits } => ensure!(
                !is_variable(encoding)
                    && size_u64(fixed_width_bytes(encoding)?).checked_mul(8) == Some(bits),
                "\"{encoding}\" is packed into {bits} bits"
            ),
        }
    }
    Ok(())
}

/// Stored bytes of one row's value.
pub(crate) fn fixed_width_bytes(encoding: &Encoding) -> Result<usize> {
    match encoding {
        Encoding::Flat { bits } => {
            ensure!(
                *bits > 0 && bits.is_multiple_of(8),
                "a row holds values of {bits} bits, which are no whole bytes"
            );
            size(bits.div_ceil(8))
        }
        Encoding::Constant => Ok(0),
        Encoding::FixedSizeList { .. } => fixed_size_list::row_bytes(encoding),
        Encoding::PackedStruct { field_bits } => packed_struct::row_bytes(field_bits),
        _ => Err(Error::corrupt(format!("values of \"{encoding}\" have no fixed width"))),
    }
}

/// Whether rows hold null items that take no bytes, so that a few bytes may stand for many values:
/// claim [`Values::default_bytes`] for them before.
pub(crate) fn has_null_items(encoding: &Encoding) -> bool {
    match encoding {
        Encoding::FixedSizeList { values, .. } => {
            **values == Encoding::Constant || has_null_items(values)
        }
        _ => false,
    }
}

/// Appends the values of `num_rows` rows; that of row `i` lies at `i * stride + skip`.
///
/// Rows of `Constant` alone have no bytes: claim [`Values::default_bytes`] for them before.
pub(crate) fn decode_rows(
    encoding: &Encoding,
    zipped: &[u8],
    stride: usize,
    skip: usize,
    num_rows: usize,
    out: &mut Values,
) -> Result<()> {
    let rows = RowParts { bytes: zipped, stride, skip, num_rows };
    match (encoding, out) {
        (Encoding::Flat { bits: 8 }, Values::Fixed(out)) if out.bits() == 1 => {
            rows.append_booleans_to(out)
        }
        (Encoding::Flat { bits }, Values::Fixed(out)) if *bits == out.bits() => {
            rows.append_to(fixed_width_bytes(encoding)?, 1, out)
        }
        (Encoding::FixedSizeList { .. }, Values::FixedSizeList(out)) => {
            fixed_size_list::decode_rows(encoding, rows, out)
        }
        (Encoding::PackedStruct { field_bits }, Values::Struct { len, children }) => {
            packed_struct::decode_rows(field_bits, rows, children)?;
            *len = len.saturating_add(num_rows);
            Ok(())
        }
        (Encoding::Constant, out) => out.push_default(num_rows),
        _ => Err(mismatch(encoding, "the rows of this column")),
    }
}

/// Takes the bytes of rows as the values themselves, where that is what they are and there are no
/// others yet; tells whether it did.
pub(crate) fn share_rows(
    encoding: &Encoding,
    zipped: &Bytes,
    num_rows: usize,
    out: &mut Values,
) -> Result<bool> {
    if zipped.len() < SHARED_BYTES || out.len() > 0 {
        return Ok(false);
    }
    match (encoding, out) {
        (Encoding::Flat { bits }, Values::Fixed(out)) if *bits == out.bits() => {
            let Some(data) = ValueBuffer::share(zipped, fixed_width_bytes(encoding)?) else {
                return Ok(false);
            };
            *out = FixedValues::from_data(*bits, num_rows, data)?;
            Ok(true)
        }
        (
            Encoding::FixedSizeList { items_per_value, has_validity: false, values },
            Values::FixedSizeList(out),
        ) if *items_per_value == out.dimension => {
            let num_items = product(num_rows, size(out.dimension)?)?;
            let shared = share_rows(values, zipped, num_items, &mut out.items)?;
            if shared {
                out.len = num_rows;
            }
            Ok(shared)
        }
        _ => Ok(false),
    }
}

/// Appends one fixed-width value, which takes all of `stored`.
pub(crate) fn decode_row(encoding: &Encoding, stored: &[u8], out: &mut Values) -> Result<()> {
    let width = fixed_width_bytes(encoding)?;
    ensure!(stored.len() == width, "a value has {} bytes instead of {width}", stored.len());
    decode_rows(encoding, stored, width, 0, 1, out)
}

/// Appends rows of lists whose items are all null, where old files store nothing at all.
///
/// Such a page says that a value has no bits, and its encoding ends in `Constant`.
pub(crate) fn push_null_items(
    num_rows: usize,
    out: &mut Values,
    scratch: &mut Scratch,
) -> Result<()> {
    scratch.claim(out.default_bytes(size_u64(num_rows)), "rows without bytes")?;
    match out {
        Values::FixedSizeList(out) => fixed_size_list::push_null_items(num_rows, out),
        _ => out.push_default(num_rows),
    }
}

/// Appends one value of a length of its own, which takes all of `stored`.
pub(crate) fn decode_value(
    encoding: &Encoding,
    stored: &[u8],
    out: &mut Values,
    scratch: &mut Scratch,
) -> Result<()> {
    match (encoding, out) {
        (Encoding::Variable { .. }, Values::Variable(out)) => out.push(stored),
        (Encoding::Fsst { table, .. }, Values::Variable(out)) => {
            let most = size_u64(stored.len()).saturating_mul(fsst::MAX_EXPANSION);
            scratch.claim(most, "a coded string")?;
            let before = out.bytes.len();
            table.decode_value(stored, &mut out.bytes)?;
            let grown = out.bytes.len().saturating_sub(before);
            scratch.release(most.saturating_sub(size_u64(grown)));
            out.close_value()
        }
        (Encoding::General { scheme, .. }, Values::Variable(out)) => {
            let bytes = scratch.decompress(*scheme, stored, None)?;
            let kept = bytes.len();
            out.push(&bytes)?;
            scratch.recycle(bytes, kept);
            Ok(())
        }
        (Encoding::VariablePackedStruct { fields }, Values::Struct { len, children }) => {
            packed_struct::decode_variable_row(fields, stored, children, scratch)?;
            *len = len.saturating_add(1);
            Ok(())
        }
        _ => Err(mismatch(encoding, "the values of this column")),
    }
}

/// Appends the stored bytes of value `index`, without the length that stands before them.
///
/// With `Fsst` the values are the coded strings.
pub(crate) fn encode_row(
    encoding: &Encoding,
    values: &Values,
    index: usize,
    out: &mut Vec<u8>,
) -> Result<()> {
    match (encoding, values) {
        (Encoding::Flat { .. }, Values::Fixed(values)) => flat::encode_row(values, index, out),
        (Encoding::Constant, _) => Ok(()),
        (Encoding::FixedSizeList { .. }, Values::FixedSizeList(list)) => {
            fixed_size_list::encode_row(encoding, list, index..index.saturating_add(1), out)
        }
        (Encoding::PackedStruct { field_bits }, Values::Struct { children, .. }) => {
            packed_struct::encode_row(field_bits, children, index, out)
        }
        (Encoding::Variable { .. } | Encoding::Fsst { .. }, Values::Variable(values)) => {
            out.extend_from_slice(values.value(index)?);
            Ok(())
        }
        (Encoding::General { scheme, level, .. }, Values::Variable(values)) => {
            general::compress(*scheme, *level, values.value(index)?, out)
        }
        (Encoding::VariablePackedStruct { fields }, Values::Struct { children, .. }) => {
            packed_struct::encode_variable_row(fields, children, index, out)
        }
        _ => Err(mismatch(encoding, "the values to write")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fixed_rows_with_control_words() {
        let zipped = [0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 3, 0, 0, 0];
        let mut out = Values::new(&ValueType::Fixed { bits: 32 });
        let flat = Encoding::Flat { bits: 32 };
        decode_rows(&flat, &zipped, 5, 1, 3, &mut out).unwrap();
        decode_row(&flat, &[9, 0, 0, 0], &mut out).unwrap();
        let Values::Fixed(values) = &out else { panic!() };
        assert_eq!(values.data(), [1, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 9, 0, 0, 0]);
        let mut row = vec![];
        encode_row(&flat, &out, 2, &mut row).unwrap();
        assert_eq!(row, [3, 0, 0, 0]);
        assert!(decode_row(&flat, &[9, 0, 0], &mut out).is_err());
        assert!(decode_rows(&flat, &zipped, 5, 1, 4, &mut out).is_err());
        assert!(decode_rows(&Encoding::Flat { bits: 16 }, &zipped, 5, 1, 1, &mut out).is_err());
    }

    #[test]
    fn strings_one_by_one() {
        let variable = Encoding::Variable { offset_bits: 32 };
        let mut out = Values::new(&ValueType::Variable { offset_bits: 32 });
        let mut scratch = Scratch::new(0);
        for value in [&b"abc"[..], b"", b"hello"] {
            decode_value(&variable, value, &mut out, &mut scratch).unwrap();
        }
        let mut stored = vec![];
        (0..3).for_each(|index| encode_row(&variable, &out, index, &mut stored).unwrap());
        assert_eq!(stored, b"abchello");
        assert!(encode_row(&variable, &out, 3, &mut stored).is_err());
    }

    #[test]
    fn rows_without_bytes_are_claimed() {
        let item = Box::new(ValueType::Fixed { bits: 16 });
        let mut out = Values::new(&ValueType::FixedSizeList { dimension: 4, item });
        let mut scratch = Scratch::new(2 * 9);
        push_null_items(2, &mut out, &mut scratch).unwrap();
        assert_eq!(out.len(), 2);
        let more = push_null_items(1, &mut out, &mut scratch);
        assert!(matches!(more, Err(Error::Limit { .. })));
    }

    #[test]
    fn what_rows_may_be() {
        let fixed = |bits| ValueType::Fixed { bits };
        let variable = ValueType::Variable { offset_bits: 32 };
        let flat = |bits| Encoding::Flat { bits };
        let legal =
            |encoding: &Encoding, value_type: &ValueType| check(encoding, value_type).is_ok();
        assert!(legal(&flat(8), &fixed(1)));
        assert!(!legal(&flat(1), &fixed(1)));
        assert!(!legal(&flat(16), &fixed(1)));
        assert!(legal(&flat(24), &fixed(24)));
        assert!(!legal(&flat(24), &fixed(32)));
        assert!(!legal(&flat(32), &variable));
        assert!(!legal(&Encoding::InlineBitpacking { bits: 32 }, &fixed(32)));
        assert!(!legal(&Encoding::Rle { bits: 32 }, &fixed(32)));
        assert!(legal(&Encoding::Variable { offset_bits: 32 }, &variable));
        assert!(!legal(&Encoding::Variable { offset_bits: 64 }, &variable));
        let zstd = |values: Encoding| Encoding::General {
            scheme: super::super::Scheme::Zstd,
            level: None,
            values: Box::new(values),
        };
        assert!(legal(&zstd(Encoding::Variable { offset_bits: 32 }), &variable));
        assert!(!legal(&zstd(zstd(Encoding::Variable { offset_bits: 32 })), &variable));
        assert!(!legal(&zstd(flat(32)), &fixed(32)));
        let field = |encoding, width| PackedField { encoding, width };
        let fields = |bits, length| Encoding::VariablePackedStruct {
            fields: vec![
                field(flat(32), PackedWidth::Value { bits }),
                field(Encoding::Variable { offset_bits: 32 }, PackedWidth::Length { bits: length }),
            ],
        };
        let row = ValueType::Struct(vec![fixed(32), variable]);
        assert!(legal(&fields(32, 32), &row));
        assert!(!legal(&fields(64, 32), &row));
        assert!(!legal(&fields(32, 16), &row));
        assert!(!legal(&fields(32, 32), &ValueType::Struct(vec![fixed(32)])));
        assert!(is_variable(&fields(32, 32)) && !is_variable(&flat(8)));
    }
}
