//! Forms of fixed-size lists and packed structs.

use super::cost::{Cost, Work};
use super::sample::{Compressed, compressed_forms, with_overhead};
use super::{Considered, Contest, Draft, Subject, WIDE_BYTES, full_zip, general, raw_cost};
use crate::codec::{Encoding, FixedSizeListValues, PackedField, PackedWidth, Values, per_value};
use crate::error::{Error, Result};
use crate::options::{Compression, StructuralEncoding};
use crate::page::mini_block::encode::ChunkSize;
use crate::page::rules::Rules;

pub(super) fn choose(subject: Subject<'_>, contest: &mut Contest<'_>) -> Result<()> {
    let wide = subject.measures.max_value_bytes >= WIDE_BYTES;
    let forced = subject.settings.options.structural_encoding;
    match subject.values {
        Values::FixedSizeList(lists) => {
            let encoding = list_encoding(lists)?;
            let whole_bytes = per_value::fixed_width_bytes(&encoding).is_ok();
            if forced == Some(StructuralEncoding::FullZip) && !whole_bytes {
                return Err(Error::invalid(
                    "`lance-encoding:structural-encoding` cannot be `fullzip` for lists that take \
                     no whole bytes; allowed are miniblock",
                ));
            }
            if full_zip(wide, subject.settings) && whole_bytes {
                contest.enter(Draft::Rows(encoding), raw_cost(subject.values));
                return Ok(());
            }
            // A compressor would see the first buffer only, and that is a bitmap.
            let compressible = encoding.num_buffers() == 1;
            chunk_forms(encoding, compressible, subject, contest)
        }
        Values::Struct { children, .. } => match packed_encoding(children, subject.rules)? {
            encoding @ Encoding::PackedStruct { .. } => {
                if forced == Some(StructuralEncoding::FullZip) {
                    contest.enter(Draft::Rows(encoding), raw_cost(subject.values));
                    return Ok(());
                }
                chunk_forms(encoding, true, subject, contest)
            }
            _ if forced == Some(StructuralEncoding::MiniBlock) => Err(Error::invalid(
                "`lance-encoding:structural-encoding` cannot be `miniblock` for packed structs \
                 with fields of variable width; allowed are fullzip",
            )),
            encoding => {
                contest.enter(Draft::Rows(encoding), raw_cost(subject.values));
                Ok(())
            }
        },
        _ => Err(Error::unsupported("values of this kind")),
    }
}

fn chunk_forms(
    encoding: Encoding,
    compressible: bool,
    subject: Subject<'_>,
    contest: &mut Contest<'_>,
) -> Result<()> {
    let Subject { values, settings, rules, .. } = subject;
    let raw = values.size_bytes();
    let target_bytes = settings.plain_chunk_bytes();
    let num_chunks = raw.div_ceil(target_bytes);
    let work = Work { raw: raw as f64, unpacked: 0.0, num_units: num_chunks as f64 };
    let cost = Cost::of(&encoding, with_overhead(raw, num_chunks), work);
    let plain = settings.options.compression == Some(Compression::None) || !compressible;
    let schemes = if plain { Vec::new() } else { settings.schemes() };
    let chunk_size = ChunkSize { target_bytes, max_values: 4096 };
    contest.enter(Draft::Chunks { encoding: encoding.clone(), chunk_size }, cost);
    let compressed = schemes.into_iter().map(|scheme| Compressed {
        encoding: general(scheme, &encoding),
        unpacked: raw as f64,
        targets: settings.general_chunk_bytes(),
    });
    let forms = compressed_forms(compressed.collect(), values, &[cost], settings, rules)?;
    for Considered { encoding, chunk_size, cost } in forms {
        contest.enter(Draft::Chunks { encoding, chunk_size }, cost);
    }
    Ok(())
}

/// The only form that fixed-size lists have.
fn list_encoding(lists: &FixedSizeListValues) -> Result<Encoding> {
    let values = match lists.items.as_ref() {
        Values::Fixed(fixed) => Encoding::Flat { bits: fixed.bits() },
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
        Values::Fixed(fixed) => fixed.width_bytes().map(|_| fixed.bits()),
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
        Values::Fixed(fixed) => Encoding::Flat { bits: fixed.bits() },
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
