//! `CompressiveEncoding` messages to checked [`Encoding`]s and back.
//!
//! Only the shape is checked here (known variants, widths, required parts); whether an encoding
//! is legal in its place is up to the codec contexts.

use std::sync::Arc;

use crate::codec::fsst::SymbolTable;
use crate::codec::{Encoding, PackedField, PackedWidth, Scheme};
use crate::error::{Error, Result, ensure};
use crate::proto::encodings21 as pb;
use pb::compressive_encoding::Compression;
use pb::variable_packed_struct::{FieldEncoding, field_encoding};

/// Encodings nest only a few deep; anything deeper is forged.
const MAX_DEPTH: usize = 16;

/// Checks a required encoding; `what` names it.
pub(crate) fn parse(message: Option<&pb::CompressiveEncoding>, what: &str) -> Result<Encoding> {
    parse_nested(message, what, MAX_DEPTH)
}

fn parse_nested(
    message: Option<&pb::CompressiveEncoding>,
    what: &str,
    depth: usize,
) -> Result<Encoding> {
    let Some(depth) = depth.checked_sub(1) else {
        return Err(Error::corrupt(format!("encodings nest more than {MAX_DEPTH} deep")));
    };
    let Some(compression) = message.and_then(|m| m.compression.as_ref()) else {
        return Err(Error::corrupt(format!("the encoding of the {what} is missing or unknown")));
    };
    let nested = |inner: &Option<Box<pb::CompressiveEncoding>>, what: &str| {
        parse_nested(inner.as_deref(), what, depth)
    };
    Ok(match compression {
        Compression::Flat(m) => {
            ensure!(m.data.is_none(), "a flat encoding names a compression of its own");
            if m.bits_per_value == 0 {
                return Err(Error::no_width());
            }
            Encoding::Flat { bits: m.bits_per_value }
        }
        Compression::Variable(m) => {
            ensure!(m.values.is_none(), "a variable encoding names a compression of its own");
            let offset_bits = flat_bits(&nested(&m.offsets, "offsets")?, "offsets")?;
            ensure!(matches!(offset_bits, 32 | 64), "offsets of {offset_bits} bits");
            Encoding::Variable { offset_bits }
        }
        Compression::Constant(m) => {
            ensure!(m.value.is_none(), "a constant encoding with a value");
            Encoding::Constant
        }
        Compression::OutOfLineBitpacking(m) => {
            let bits = packable(m.uncompressed_bits_per_value)?;
            let packed_bits = packed_width(m.values.as_deref())?;
            ensure!(packed_bits <= bits, "{bits}-bit values packed to {packed_bits} bits");
            Encoding::OutOfLineBitpacking { bits, packed_bits }
        }
        Compression::InlineBitpacking(m) => {
            ensure!(m.values.is_none(), "a bit-packed encoding names a compression of its own");
            Encoding::InlineBitpacking { bits: packable(m.uncompressed_bits_per_value)? }
        }
        Compression::Fsst(m) => Encoding::Fsst {
            table: Arc::new(SymbolTable::parse(&m.symbol_table)?),
            values: Box::new(nested(&m.values, "coded strings")?),
        },
        Compression::Dictionary(_) => {
            return Err(Error::corrupt("a dictionary stands as an encoding of values"));
        }
        Compression::Rle(m) => {
            let bits = packable(flat_bits(&nested(&m.values, "run values")?, "run values")?)?;
            let lengths = nested(&m.run_lengths, "run lengths")?;
            ensure!(lengths == (Encoding::Flat { bits: 8 }), "run lengths that are not flat bytes");
            Encoding::Rle { bits }
        }
        Compression::ByteStreamSplit(m) => {
            let bits = flat_bits(&nested(&m.values, "split values")?, "split values")?;
            ensure!(matches!(bits, 32 | 64), "a byte stream split of {bits}-bit values");
            Encoding::ByteStreamSplit { bits }
        }
        Compression::General(m) => {
            let compression = m.compression.unwrap_or_default();
            let scheme = match compression.scheme {
                1 => Scheme::Lz4,
                2 => Scheme::Zstd,
                other => return Err(Error::corrupt(format!("compression scheme {other}"))),
            };
            let values = Box::new(nested(&m.values, "compressed values")?);
            Encoding::General { scheme, level: compression.level, values }
        }
        Compression::FixedSizeList(m) => {
            ensure!(m.items_per_value > 0, "a fixed-size list of 0 items");
            Encoding::FixedSizeList {
                items_per_value: m.items_per_value,
                has_validity: m.has_validity,
                values: Box::new(nested(&m.values, "list items")?),
            }
        }
        Compression::PackedStruct(m) => packed_struct(m, &nested(&m.values, "packed rows")?)?,
        Compression::VariablePackedStruct(m) => {
            let fields = m.fields.iter().map(|field| packed_field(field, depth));
            Encoding::VariablePackedStruct { fields: fields.collect::<Result<_>>()? }
        }
    })
}

fn packed_struct(message: &pb::PackedStruct, values: &Encoding) -> Result<Encoding> {
    let fields = &message.bits_per_value;
    ensure!(!fields.is_empty(), "a packed struct without fields");
    ensure!(
        fields.iter().all(|bits| *bits > 0 && bits.is_multiple_of(8)),
        "a packed struct with a field that is not a whole number of bytes"
    );
    let total = fields.iter().try_fold(0_u64, |sum, bits| sum.checked_add(*bits));
    let stored = flat_bits(values, "packed rows")?;
    ensure!(total == Some(stored), "packed fields do not add up to {stored} bits");
    Ok(Encoding::PackedStruct { field_bits: fields.clone() })
}

fn packed_field(message: &FieldEncoding, depth: usize) -> Result<PackedField> {
    let encoding = parse_nested(message.value.as_ref(), "packed field", depth)?;
    let width = match message.layout {
        Some(field_encoding::Layout::BitsPerValue(bits)) => {
            ensure!(bits > 0 && bits.is_multiple_of(8), "a packed field of {bits} bits");
            PackedWidth::Value { bits }
        }
        Some(field_encoding::Layout::BitsPerLength(bits)) => {
            ensure!(matches!(bits, 32 | 64), "packed field lengths of {bits} bits");
            PackedWidth::Length { bits }
        }
        None => return Err(Error::corrupt("a packed field has no width")),
    };
    Ok(PackedField { encoding, width })
}

fn flat_bits(encoding: &Encoding, what: &str) -> Result<u64> {
    match encoding {
        Encoding::Flat { bits } => Ok(*bits),
        _ => Err(Error::corrupt(format!("{what} that are not flat"))),
    }
}

/// A packed width may be 0, which an ordinary flat encoding may not.
fn packed_width(message: Option<&pb::CompressiveEncoding>) -> Result<u64> {
    match message.and_then(|m| m.compression.as_ref()) {
        Some(Compression::Flat(m)) if m.data.is_none() => Ok(m.bits_per_value),
        _ => Err(Error::corrupt("packed values that are not flat")),
    }
}

fn packable(bits: u64) -> Result<u64> {
    ensure!(
        matches!(bits, 8 | 16 | 32 | 64),
        "values of {bits} bits cannot be packed or run-length coded"
    );
    Ok(bits)
}

/// The message of an encoding.
pub(crate) fn to_message(encoding: &Encoding) -> pb::CompressiveEncoding {
    let boxed = |inner: &Encoding| Some(Box::new(to_message(inner)));
    let flat = |bits| Some(Box::new(to_message(&Encoding::Flat { bits })));
    let compression = match encoding {
        Encoding::Flat { bits } => {
            Compression::Flat(pb::Flat { bits_per_value: *bits, data: None })
        }
        Encoding::Variable { offset_bits } => Compression::Variable(Box::new(pb::Variable {
            offsets: flat(*offset_bits),
            values: None,
        })),
        Encoding::Constant => Compression::Constant(pb::Constant { value: None }),
        Encoding::OutOfLineBitpacking { bits, packed_bits } => {
            Compression::OutOfLineBitpacking(Box::new(pb::OutOfLineBitpacking {
                uncompressed_bits_per_value: *bits,
                values: flat(*packed_bits),
            }))
        }
        Encoding::InlineBitpacking { bits } => {
            Compression::InlineBitpacking(pb::InlineBitpacking {
                uncompressed_bits_per_value: *bits,
                values: None,
            })
        }
        Encoding::Fsst { table, values } => Compression::Fsst(Box::new(pb::Fsst {
            symbol_table: table.to_bytes(),
            values: boxed(values),
        })),
        Encoding::Rle { bits } => {
            Compression::Rle(Box::new(pb::Rle { values: flat(*bits), run_lengths: flat(8) }))
        }
        Encoding::ByteStreamSplit { bits } => {
            Compression::ByteStreamSplit(Box::new(pb::ByteStreamSplit { values: flat(*bits) }))
        }
        Encoding::General { scheme, level, values } => {
            let scheme = match scheme {
                Scheme::Lz4 => pb::CompressionScheme::CompressionAlgorithmLz4,
                Scheme::Zstd => pb::CompressionScheme::CompressionAlgorithmZstd,
            };
            Compression::General(Box::new(pb::General {
                compression: Some(pb::BufferCompression { scheme: scheme.into(), level: *level }),
                values: boxed(values),
            }))
        }
        Encoding::FixedSizeList { items_per_value, has_validity, values } => {
            Compression::FixedSizeList(Box::new(pb::FixedSizeList {
                items_per_value: *items_per_value,
                has_validity: *has_validity,
                values: boxed(values),
            }))
        }
        Encoding::PackedStruct { field_bits } => {
            Compression::PackedStruct(Box::new(pb::PackedStruct {
                bits_per_value: field_bits.clone(),
                values: flat(field_bits.iter().fold(0, |sum: u64, bits| sum.saturating_add(*bits))),
            }))
        }
        Encoding::VariablePackedStruct { fields } => {
            let fields = fields.iter().map(|field| FieldEncoding {
                value: Some(to_message(&field.encoding)),
                layout: Some(match field.width {
                    PackedWidth::Value { bits } => field_encoding::Layout::BitsPerValue(bits),
                    PackedWidth::Length { bits } => field_encoding::Layout::BitsPerLength(bits),
                }),
            });
            Compression::VariablePackedStruct(pb::VariablePackedStruct { fields: fields.collect() })
        }
    };
    pb::CompressiveEncoding { compression: Some(compression) }
}

#[cfg(test)]
#[path = "encodings_tests.rs"]
mod tests;
