//! The form of a row with more levels than a chunk can count.
//!
//! Chunks count their levels in 16 bits, and a row with many empty or null lists around few values
//! has more of them between two values. Zipped rows have no such limit.

use crate::codec::{Encoding, PackedField, PackedWidth, Values, per_value};
use crate::error::{Error, Result};
use crate::page::rules::Rules;

/// How the values of such a row are zipped, or why they cannot be.
pub(super) fn zipped_encoding(values: &Values, rules: Rules) -> Result<Encoding> {
    match values {
        Values::Struct { children, .. } if rules.variable_packed_structs => {
            let fields = children.iter().map(packed_field).collect::<Result<_>>()?;
            Ok(Encoding::VariablePackedStruct { fields })
        }
        Values::Struct { .. } => Err(Error::unsupported("packed structs; write 2.2")),
        Values::Variable(variable) => {
            Ok(Encoding::Variable { offset_bits: variable.offsets.bits() })
        }
        fixed => fixed_encoding(fixed),
    }
}

fn packed_field(values: &Values) -> Result<PackedField> {
    if let Values::Variable(variable) = values {
        let bits = variable.offsets.bits();
        let width = PackedWidth::Length { bits };
        return Ok(PackedField { encoding: Encoding::Variable { offset_bits: bits }, width });
    }
    let encoding = fixed_encoding(values)?;
    let bits = per_value::fixed_width_bytes(&encoding)? as u64 * 8;
    Ok(PackedField { encoding, width: PackedWidth::Value { bits } })
}

fn fixed_encoding(values: &Values) -> Result<Encoding> {
    let encoding = match values {
        // A boolean of its own takes a byte.
        Values::Fixed(fixed) if fixed.bits() == 1 => Encoding::Flat { bits: 8 },
        _ => flat_encoding(values)?,
    };
    per_value::fixed_width_bytes(&encoding).map_err(|_| {
        Error::unsupported("values that are no whole bytes; use a list instead of a fixed-size one")
    })?;
    Ok(encoding)
}

fn flat_encoding(values: &Values) -> Result<Encoding> {
    match values {
        Values::Fixed(fixed) => Ok(Encoding::Flat { bits: fixed.bits() }),
        Values::FixedSizeList(lists) => Ok(Encoding::FixedSizeList {
            items_per_value: lists.dimension,
            has_validity: lists.item_validity.is_some(),
            values: Box::new(flat_encoding(&lists.items)?),
        }),
        _ => Err(Error::unsupported("nested values")),
    }
}

#[cfg(test)]
#[path = "long_row_tests.rs"]
mod tests;
