//! Which form a page gets.
//!
//! Straight rules for now: constants where all values are equal, bit packing where it is smaller,
//! rows of their own for values of 256 bytes and more.

use std::sync::Arc;

use crate::codec::fsst::{SymbolTable, TABLE_BYTES, Trained};
use crate::codec::values::FixedSizeListValues;
use crate::codec::{Encoding, PackedField, PackedWidth, Values, VariableValues, per_value};
use crate::error::{Error, Result};
use crate::measure::Measures;
use crate::page::mini_block::encode::ChunkSize;
use crate::page::rules::Rules;

/// Values of this many bytes and more get rows of their own.
const WIDE_BYTES: usize = 256;

/// Stored bytes and values of one chunk: enough to pack well, small enough to decode for one row.
const CHUNK_SIZE: ChunkSize = ChunkSize { target_bytes: 4096, max_values: 4096 };

/// Fewer bytes of strings are not worth a symbol table, which takes 2 KiB.
const SYMBOLS_FROM_BYTES: usize = 32 << 10;

/// The form of a page. Where strings are coded, `coded` replaces the values.
#[derive(Debug)]
pub(crate) enum Choice {
    /// All values are null.
    AllNull,
    /// All values that are not null equal the one at this position.
    Constant(usize),
    /// Chunks of values.
    MiniBlock { encoding: Encoding, chunk_size: ChunkSize, coded: Option<Values> },
    /// Rows that are read by themselves.
    FullZip { encoding: Encoding, coded: Option<Values> },
}

/// Chooses the form of a page from what was measured.
pub(crate) fn choose(
    values: &Values,
    measures: &Measures,
    all_null: bool,
    rules: Rules,
) -> Result<Choice> {
    if all_null {
        return Ok(Choice::AllNull);
    }
    if let Some(position) = measures.constant.filter(|_| rules.scalar_constants) {
        return Ok(Choice::Constant(position));
    }
    let wide = measures.max_value_bytes >= WIDE_BYTES;
    Ok(match values {
        Values::Nothing { .. } => Choice::AllNull,
        Values::Fixed(fixed) if wide => full_zip(Encoding::Flat { bits: fixed.bits }),
        Values::Fixed(fixed) => {
            let (encoding, chunk_size) = packed_or_flat(fixed.bits, values, measures);
            Choice::MiniBlock { encoding, chunk_size, coded: None }
        }
        Values::Variable(variable) => {
            let plain = Encoding::Variable { offset_bits: variable.offsets.bits() };
            let (encoding, coded) = match symbols(variable)? {
                Some((table, coded)) => {
                    let encoding = Encoding::Fsst { table: Arc::new(table), values: plain.into() };
                    (encoding, Some(Values::Variable(coded)))
                }
                None => (plain, None),
            };
            if wide {
                Choice::FullZip { encoding, coded }
            } else {
                Choice::MiniBlock { encoding, chunk_size: CHUNK_SIZE, coded }
            }
        }
        Values::FixedSizeList(lists) => {
            let encoding = list_encoding(lists)?;
            let whole_bytes = per_value::fixed_width_bytes(&encoding).is_ok();
            if wide && whole_bytes { full_zip(encoding) } else { mini_block(encoding) }
        }
        Values::Struct { children, .. } => match packed_encoding(children, rules)? {
            encoding @ Encoding::PackedStruct { .. } => mini_block(encoding),
            encoding => full_zip(encoding),
        },
    })
}

fn mini_block(encoding: Encoding) -> Choice {
    Choice::MiniBlock { encoding, chunk_size: CHUNK_SIZE, coded: None }
}

fn full_zip(encoding: Encoding) -> Choice {
    Choice::FullZip { encoding, coded: None }
}

/// Bit packing if it is smaller.
fn packed_or_flat(bits: u64, values: &Values, measures: &Measures) -> (Encoding, ChunkSize) {
    match measures.packed_bytes {
        Some(packed) if packed < values.size_bytes() => {
            let chunk_size = ChunkSize { target_bytes: usize::MAX, max_values: 1024 };
            (Encoding::InlineBitpacking { bits }, chunk_size)
        }
        _ => (Encoding::Flat { bits }, CHUNK_SIZE),
    }
}

/// Strings coded with a table of their own, if there are enough of them and they shrink.
fn symbols(values: &VariableValues) -> Result<Option<(SymbolTable, VariableValues)>> {
    if values.bytes.len() < SYMBOLS_FROM_BYTES {
        return Ok(None);
    }
    let all = (0..values.len()).map(|i| values.value(i)).collect::<Result<Vec<_>>>()?;
    let trained = Trained::train(all.iter().copied());
    let (mut bytes, mut ends) = (Vec::new(), Vec::new());
    trained.encode_values(&all, &mut bytes, &mut ends);
    if bytes.len() + TABLE_BYTES >= values.bytes.len() {
        return Ok(None);
    }
    let mut coded = VariableValues::new(values.offsets.bits());
    let mut start = 0;
    for end in ends {
        let end = usize::try_from(end).unwrap_or(usize::MAX);
        coded.push(bytes.get(start..end).unwrap_or_default())?;
        start = end;
    }
    Ok(Some((trained.table, coded)))
}

/// The only form that fixed-size lists have.
fn list_encoding(lists: &FixedSizeListValues) -> Result<Encoding> {
    let values = match lists.items.as_ref() {
        Values::Fixed(fixed) => Encoding::Flat { bits: fixed.bits },
        Values::FixedSizeList(inner) => list_encoding(inner)?,
        _ => return Err(Error::unsupported("fixed-size lists of anything but numbers")),
    };
    Ok(Encoding::FixedSizeList {
        items_per_value: lists.dimension,
        has_validity: lists.item_validity.is_some(),
        values: Box::new(values),
    })
}

fn packed_encoding(children: &[Values], rules: Rules) -> Result<Encoding> {
    let plain = children.iter().map(|child| match child {
        Values::Fixed(fixed) => fixed.width_bytes().map(|_| fixed.bits),
        _ => None,
    });
    if let Some(field_bits) = plain.collect::<Option<Vec<u64>>>() {
        return Ok(Encoding::PackedStruct { field_bits });
    }
    if !rules.variable_packed_structs {
        return Err(Error::unsupported(
            "packed structs with fields of variable width before version 2.2",
        ));
    }
    let fields = children.iter().map(packed_field).collect::<Result<_>>()?;
    Ok(Encoding::VariablePackedStruct { fields })
}

fn packed_field(values: &Values) -> Result<PackedField> {
    let encoding = match values {
        Values::Fixed(fixed) => Encoding::Flat { bits: fixed.bits },
        Values::Variable(variable) => Encoding::Variable { offset_bits: variable.offsets.bits() },
        Values::FixedSizeList(lists) => list_encoding(lists)?,
        _ => return Err(Error::unsupported("structs inside packed structs")),
    };
    let width = match &encoding {
        Encoding::Variable { offset_bits } => PackedWidth::Length { bits: *offset_bits },
        encoding => {
            let bytes = per_value::fixed_width_bytes(encoding)?;
            PackedWidth::Value { bits: bytes as u64 * 8 }
        }
    };
    Ok(PackedField { encoding, width })
}

/// The form of the indices of a dictionary page.
pub(crate) fn choose_indices(indices: &Values, measures: &Measures) -> (Encoding, ChunkSize) {
    let bits = match indices {
        Values::Fixed(fixed) => fixed.bits,
        _ => 32,
    };
    packed_or_flat(bits, indices, measures)
}

/// The form of a dictionary.
pub(crate) fn choose_dictionary(items: &Values) -> Result<Encoding> {
    match items {
        Values::Fixed(fixed) => Ok(Encoding::Flat { bits: fixed.bits }),
        Values::Variable(items) => Ok(Encoding::Variable { offset_bits: items.offsets.bits() }),
        _ => Err(Error::unsupported("dictionaries of nested values")),
    }
}
