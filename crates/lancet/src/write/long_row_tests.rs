use super::*;
use crate::codec::{ValueType, Values};
use crate::version::Version;
use crate::write::test_plans::refused;

fn encoding(value_type: ValueType, version: Version) -> Result<Encoding> {
    zipped_encoding(&Values::new(&value_type), Rules::of(version))
}

fn fixed(bits: u64) -> ValueType {
    ValueType::Fixed { bits }
}

fn list(dimension: u64, item: ValueType) -> ValueType {
    ValueType::FixedSizeList { dimension, item: Box::new(item) }
}

const TEXT: ValueType = ValueType::Variable { offset_bits: 32 };

#[test]
fn plain_values_are_zipped_as_they_are() {
    let old = |value_type| encoding(value_type, Version::V2_1).unwrap();
    assert_eq!(old(fixed(32)), Encoding::Flat { bits: 32 });
    assert_eq!(old(fixed(1)), Encoding::Flat { bits: 8 });
    assert_eq!(old(TEXT), Encoding::Variable { offset_bits: 32 });
    let vector = Encoding::FixedSizeList {
        items_per_value: 3,
        has_validity: false,
        values: Box::new(Encoding::Flat { bits: 16 }),
    };
    assert_eq!(old(list(3, fixed(16))), vector);
}

#[test]
fn packed_structs_are_zipped_field_by_field() {
    let row = || ValueType::Struct(vec![fixed(32), fixed(1), TEXT]);
    let field = |encoding, width| PackedField { encoding, width };
    let fields = vec![
        field(Encoding::Flat { bits: 32 }, PackedWidth::Value { bits: 32 }),
        field(Encoding::Flat { bits: 8 }, PackedWidth::Value { bits: 8 }),
        field(Encoding::Variable { offset_bits: 32 }, PackedWidth::Length { bits: 32 }),
    ];
    let expected = Encoding::VariablePackedStruct { fields };
    assert_eq!(encoding(row(), Version::V2_2).unwrap(), expected);
    assert_eq!(refused(encoding(row(), Version::V2_1)), "packed structs; write 2.2");
}

#[test]
fn what_cannot_be_zipped_says_why() {
    let refuse = |value_type| refused(encoding(value_type, Version::V2_2));
    let bits = "values that are no whole bytes; use a list instead of a fixed-size one";
    assert_eq!(refuse(list(3, fixed(1))), bits);
    assert_eq!(refuse(list(2, TEXT)), "nested values");
    assert_eq!(refuse(ValueType::Nothing), "nested values");
}
