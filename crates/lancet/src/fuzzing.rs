//! Single decoders on any bytes, for the fuzzers. Not part of the interface.

use std::sync::Arc;

use crate::bits::Planes;
use crate::budget::Budget;
use crate::codec::fsst::{SymbolTable, TABLE_BYTES};
use crate::codec::{
    Encoding, PackedField, PackedWidth, Scheme, Scratch, ValueType, Values, block, mini_block,
    per_value,
};

/// Decodes the bytes in one of the contexts.
///
/// | bytes | what |
/// |---|---|
/// | 1 | the encoding, modulo their number |
/// | 1 | bits 0 and 1: the context; bits 2 and 3: LZ4, Zstandard or nothing around the encoding |
/// | 2 | number of values |
/// | 1 | how the rest is split into buffers, in 256ths |
/// | 2312 | a symbol table, for strings coded with one |
/// | rest | the values |
pub fn decode(bytes: &[u8]) {
    let Some((&[kind, flags, low, high, split], rest)) = bytes.split_first_chunk::<5>() else {
        return;
    };
    let Some((mut encoding, value_type, rest)) = encoding(kind, rest) else { return };
    if let scheme @ (1 | 2) = flags >> 2 & 3 {
        let scheme = if scheme == 1 { Scheme::Lz4 } else { Scheme::Zstd };
        encoding = Encoding::General { scheme, level: None, values: Box::new(encoding) };
    }
    let num_values = usize::from(u16::from_le_bytes([low, high]));
    let mut scratch = Scratch::sharing(&Budget::new(16 << 20));
    let mut out = Values::new(&value_type);
    match flags & 3 {
        0 if mini_block::check(&encoding, &value_type).is_ok() => {
            let buffers = buffers(rest, encoding.num_buffers(), split);
            let some = [num_values / 4..num_values / 2, num_values / 2..num_values];
            let all = [0..num_values];
            let ranges = if split % 2 == 0 { &all[..] } else { &some[..] };
            let decoded = mini_block::decode_chunk(
                &encoding,
                &buffers,
                num_values,
                ranges,
                &mut out,
                &mut scratch,
            );
            let expected: usize = ranges.iter().map(ExactSizeIterator::len).sum();
            assert!(decoded.is_err() || out.len() == expected);
        }
        1 if block::check(&encoding, &value_type).is_ok() => {
            let decoded =
                block::decode_block(&encoding, rest, num_values, &value_type, &mut scratch);
            assert!(decoded.is_err() || decoded.is_ok_and(|values| values.len() == num_values));
            let mut levels = Planes::default();
            let decoded =
                block::decode_levels(&encoding, rest, num_values, &mut levels, &mut scratch);
            assert!(decoded.is_err() || levels.len() == num_values);
        }
        2 if per_value::check(&encoding, &value_type).is_ok() => {
            if per_value::is_variable(&encoding) {
                let decoded = per_value::decode_value(&encoding, rest, &mut out, &mut scratch);
                assert!(decoded.is_err() || out.len() == 1);
            } else if let Ok(width) = per_value::fixed_width_bytes(&encoding) {
                let rows = rest.len().checked_div(width).unwrap_or(num_values);
                let decoded = per_value::decode_rows(&encoding, rest, width, 0, rows, &mut out);
                assert!(decoded.is_err() || out.len() == rows);
            }
        }
        _ => {}
    }
}

/// An encoding, the values it is for, and what is left of the bytes.
fn encoding(kind: u8, bytes: &[u8]) -> Option<(Encoding, ValueType, &[u8])> {
    let fixed = |bits| ValueType::Fixed { bits };
    let strings = |offset_bits| ValueType::Variable { offset_bits };
    let variable = |offset_bits| Encoding::Variable { offset_bits };
    let list = |has_validity, bits| Encoding::FixedSizeList {
        items_per_value: 3,
        has_validity,
        values: Box::new(Encoding::Flat { bits }),
    };
    let lists = |bits| ValueType::FixedSizeList { dimension: 3, item: Box::new(fixed(bits)) };
    let word = |kind: u8| 8_u64 << (kind % 4);
    let made = match kind % 40 {
        0..4 => (Encoding::InlineBitpacking { bits: word(kind) }, fixed(word(kind))),
        4..8 => (Encoding::Rle { bits: word(kind) }, fixed(word(kind))),
        8..12 => (Encoding::Flat { bits: word(kind) }, fixed(word(kind))),
        n @ 12..20 => {
            let bits = word(kind);
            let packed_bits = u64::from(n - 12) * bits / 8;
            (Encoding::OutOfLineBitpacking { bits, packed_bits }, fixed(bits))
        }
        20 => (Encoding::Flat { bits: 1 }, fixed(1)),
        21 => (Encoding::Flat { bits: 8 }, fixed(1)),
        22 => (Encoding::Flat { bits: 128 }, fixed(128)),
        23 => (Encoding::ByteStreamSplit { bits: 32 }, fixed(32)),
        24 => (Encoding::ByteStreamSplit { bits: 64 }, fixed(64)),
        25 => (variable(32), strings(32)),
        26 => (variable(64), strings(64)),
        27 => (list(false, 16), lists(16)),
        28 => (list(true, 16), lists(16)),
        29 => (list(true, 1), lists(1)),
        30 => {
            let fields = ValueType::Struct(vec![fixed(32), fixed(8)]);
            (Encoding::PackedStruct { field_bits: vec![32, 8] }, fields)
        }
        31 => {
            let a = PackedField {
                encoding: Encoding::Flat { bits: 32 },
                width: PackedWidth::Value { bits: 32 },
            };
            let b = PackedField { encoding: variable(32), width: PackedWidth::Length { bits: 32 } };
            let fields = Encoding::VariablePackedStruct { fields: vec![a, b] };
            (fields, ValueType::Struct(vec![fixed(32), strings(32)]))
        }
        32..36 => {
            let (table, rest) = bytes.split_at_checked(TABLE_BYTES)?;
            let table = Arc::new(SymbolTable::parse(table).ok()?);
            let offset_bits = if kind % 2 == 0 { 32 } else { 64 };
            let coded = Encoding::Fsst { table, values: Box::new(variable(offset_bits)) };
            return Some((coded, strings(offset_bits), rest));
        }
        _ => (Encoding::Constant, lists(8)),
    };
    Some((made.0, made.1, bytes))
}

fn buffers(bytes: &[u8], count: usize, split: u8) -> Vec<&[u8]> {
    match count {
        1 => vec![bytes],
        2 => {
            let (a, b) = bytes.split_at(bytes.len() * usize::from(split) / 256);
            vec![a, b]
        }
        _ => Vec::new(),
    }
}
