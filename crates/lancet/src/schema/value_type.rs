//! What the values of a leaf look like to the codecs.

use arrow_schema::DataType;

use super::columns::{Leaf, LeafKind};
use super::logical::bits;
use crate::codec::{KeyType, ValueType};
use crate::error::{Error, Result};

/// What the pages of a leaf's column hold.
///
/// A dictionary column holds values of the type of the dictionary's values; a blob column holds
/// the position and the size of each blob, 64 bits each.
pub(crate) fn value_type(leaf: &Leaf) -> Result<ValueType> {
    match leaf.kind {
        LeafKind::EmptyStruct => Ok(ValueType::Nothing),
        LeafKind::Blob => {
            let number = ValueType::Fixed { bits: 64 };
            Ok(ValueType::Struct(vec![number.clone(), number]))
        }
        LeafKind::Values => of_type(leaf.field.data_type()),
        LeafKind::PackedStruct => match leaf.stored.data_type() {
            DataType::Struct(fields) => {
                let children = fields.iter().map(|child| of_type(child.data_type()));
                Ok(ValueType::Struct(children.collect::<Result<_>>()?))
            }
            other => Err(Error::unsupported(format!("a packed {other}"))),
        },
    }
}

/// The keys of a dictionary column; `None` for other types.
pub(crate) fn key_type(data_type: &DataType) -> Option<KeyType> {
    match data_type {
        DataType::Dictionary(keys, _) => {
            Some(KeyType { bits: bits(keys)?, signed: keys.is_signed_integer() })
        }
        _ => None,
    }
}

fn of_type(data_type: &DataType) -> Result<ValueType> {
    Ok(match data_type {
        DataType::Null => ValueType::Nothing,
        DataType::Utf8 | DataType::Binary => ValueType::Variable { offset_bits: 32 },
        DataType::LargeUtf8 | DataType::LargeBinary => ValueType::Variable { offset_bits: 64 },
        DataType::Dictionary(_, values) => of_type(values)?,
        DataType::FixedSizeList(item, dimension) => ValueType::FixedSizeList {
            dimension: u64::try_from(*dimension)
                .map_err(|_| Error::unsupported(format!("{dimension} items in a list")))?,
            item: Box::new(of_type(item.data_type())?),
        },
        _ => match bits(data_type) {
            Some(bits) => ValueType::Fixed { bits },
            None => return Err(Error::unsupported(format!("a leaf of type {data_type}"))),
        },
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_schema::{Field, Fields};

    use super::*;

    fn of(data_type: DataType, kind: LeafKind) -> Result<ValueType> {
        let field = Arc::new(Field::new("c", data_type, true));
        value_type(&Leaf { stored: field.clone(), field, column: 0, kind })
    }

    #[test]
    fn widths_come_from_the_type() {
        use DataType::*;
        let values = |data_type| of(data_type, LeafKind::Values).unwrap();
        assert_eq!(values(Null), ValueType::Nothing);
        assert_eq!(values(Boolean), ValueType::Fixed { bits: 1 });
        assert_eq!(values(Float16), ValueType::Fixed { bits: 16 });
        assert_eq!(values(Decimal256(40, 2)), ValueType::Fixed { bits: 256 });
        assert_eq!(values(FixedSizeBinary(0)), ValueType::Fixed { bits: 0 });
        assert_eq!(values(Utf8), ValueType::Variable { offset_bits: 32 });
        assert_eq!(values(LargeBinary), ValueType::Variable { offset_bits: 64 });
        assert_eq!(
            values(Dictionary(Int8.into(), LargeUtf8.into())),
            ValueType::Variable { offset_bits: 64 }
        );
        let item = |t| Arc::new(Field::new("item", t, true));
        let inner =
            ValueType::FixedSizeList { dimension: 2, item: ValueType::Fixed { bits: 32 }.into() };
        assert_eq!(
            values(FixedSizeList(item(FixedSizeList(item(Int32), 2)), 3)),
            ValueType::FixedSizeList { dimension: 3, item: inner.into() }
        );
    }

    #[test]
    fn kinds() {
        use DataType::*;
        let fields: Fields =
            vec![Field::new("a", Int8, false), Field::new("b", Utf8, false)].into();
        let two = |a, b| ValueType::Struct(vec![a, b]);
        let fixed = |bits| ValueType::Fixed { bits };
        assert_eq!(
            of(Struct(fields.clone()), LeafKind::PackedStruct).unwrap(),
            two(fixed(8), ValueType::Variable { offset_bits: 32 })
        );
        assert_eq!(of(LargeBinary, LeafKind::Blob).unwrap(), two(fixed(64), fixed(64)));
        assert_eq!(of(Struct(Fields::empty()), LeafKind::EmptyStruct).unwrap(), ValueType::Nothing);
        assert!(of(Struct(fields), LeafKind::Values).is_err());
        assert!(of(Int8, LeafKind::PackedStruct).is_err());
    }
}
