use super::*;
use crate::codec::{PackedField, PackedWidth, ValueType};
use crate::page::Layout;
use crate::page::sample_pages::{zipped_ints, zipped_lists, zipped_string_lists, zipped_strings};
use crate::page::test_pages::{TestPage, assert_broken, keyed, rule_of};
use pb::full_zip_layout::Details;

fn message(encoding: Encoding) -> Option<pb::CompressiveEncoding> {
    Some(to_message(&encoding))
}

#[test]
fn the_description_of_lists() {
    let Layout::FullZip(layout) = zipped_lists().layout().unwrap() else { panic!() };
    let expected = FullZipLayout {
        bits_rep: 1,
        bits_def: 2,
        width: ZipWidth::Value { bytes: 4 },
        num_entries: 8,
        num_values: 6,
        values: Encoding::Flat { bits: 32 },
        layers: vec![Layer::NullableItem, Layer::NullAndEmptyList],
    };
    assert_eq!(layout, expected);
    assert!(layout.has_index());
    assert_eq!(layout.index_buffers(), [1]);
}

#[test]
fn descriptions_are_written_as_they_are_read() {
    for page in [zipped_ints(), zipped_strings(), zipped_lists(), zipped_string_lists()] {
        assert_eq!(page.layout().unwrap().to_message(), page.message);
    }
}

#[test]
fn control_words_have_no_three_bytes() {
    let Layout::FullZip(layout) = zipped_lists().layout().unwrap() else { panic!() };
    for (bits_rep, bits_def, bytes) in
        [(0, 0, 0), (0, 1, 1), (4, 4, 1), (4, 5, 2), (8, 8, 2), (9, 8, 4), (16, 16, 4)]
    {
        let layout = FullZipLayout { bits_rep, bits_def, ..layout.clone() };
        assert_eq!(layout.control_bytes(), bytes, "{bits_rep} {bits_def}");
    }
}

#[test]
fn levels_fit_their_bits() {
    assert_broken(
        &zipped_lists(),
        &[
            (|page| page.full_zip().bits_rep = 17, "levels of more than 16 bits"),
            (|page| page.full_zip().bits_def = 17, "levels of more than 16 bits"),
            (|page| page.full_zip().bits_rep = 0, "repetition levels of 0 bits cannot hold 1"),
        ],
    );
    assert_broken(
        &zipped_ints(),
        &[(|page| page.full_zip().bits_rep = 1, "repetition levels of 1 bits cannot hold 0")],
    );
    // Two lists need two bits.
    let mut page = zipped_lists();
    page.leaf = crate::page::test_pages::in_list(page.leaf);
    page.full_zip().layers = vec![3, 6, 2];
    let rule = "repetition levels of 1 bits cannot hold 2";
    assert_eq!(rule_of(page.layout()), rule);
    page.full_zip().bits_rep = 2;
    assert!(page.layout().is_ok());
}

#[test]
fn values_have_a_width() {
    assert_broken(
        &zipped_ints(),
        &[
            (|page| page.full_zip().details = None, "the width of zipped values is missing"),
            (
                |page| page.full_zip().details = Some(Details::BitsPerValue(40)),
                "values of 40 bits, where the encoding has 4 bytes",
            ),
            (
                |page| page.full_zip().details = Some(Details::BitsPerValue(0)),
                "values of 0 bits, where the encoding has 4 bytes",
            ),
            (
                |page| page.full_zip().details = Some(Details::BitsPerOffset(32)),
                "value lengths before values of a fixed width",
            ),
            (
                |page| page.full_zip().value_compression = None,
                "the encoding of the values is missing or unknown",
            ),
            (
                |page| page.full_zip().value_compression = message(Encoding::Flat { bits: 64 }),
                "the encoding \"flat 64-bit\" cannot hold Fixed { bits: 32 }",
            ),
        ],
    );
    assert_broken(
        &zipped_strings(),
        &[
            (
                |page| page.full_zip().details = Some(Details::BitsPerOffset(16)),
                "value lengths of 16 bits",
            ),
            (
                |page| page.full_zip().details = Some(Details::BitsPerValue(32)),
                "values of \"variable (32-bit offsets)\" have no fixed width",
            ),
            (|page| page.leaf = keyed(8, true), "a dictionary column with a full-zip page"),
        ],
    );
}

#[test]
fn packed_structs_of_variable_width_came_with_2_2() {
    let row = vec![ValueType::Fixed { bits: 32 }, ValueType::Variable { offset_bits: 32 }];
    let fields = vec![
        PackedField {
            encoding: Encoding::Flat { bits: 32 },
            width: PackedWidth::Value { bits: 32 },
        },
        PackedField {
            encoding: Encoding::Variable { offset_bits: 32 },
            width: PackedWidth::Length { bits: 32 },
        },
    ];
    let mut page = zipped_strings();
    page.leaf.values = ValueType::Struct(row);
    page.full_zip().value_compression = message(Encoding::VariablePackedStruct { fields });
    let rule = "a packed struct of variable width in a version that has none";
    assert_eq!(rule_of(page.layout()), rule);
    assert!(page.of_2_2().layout().is_ok());
}

#[test]
fn lists_of_null_items_may_have_no_bits() {
    let list = |values: Encoding| Encoding::FixedSizeList {
        items_per_value: 3,
        has_validity: true,
        values: Box::new(values),
    };
    let item = Box::new(ValueType::Fixed { bits: 16 });
    let mut page: TestPage = zipped_ints();
    page.leaf.values = ValueType::FixedSizeList { dimension: 3, item };
    page.full_zip().value_compression = message(list(Encoding::Constant));
    page.full_zip().details = Some(Details::BitsPerValue(0));
    let Layout::FullZip(layout) = page.layout().unwrap() else { panic!() };
    assert_eq!(layout.width, ZipWidth::Value { bytes: 0 });
    page.full_zip().details = Some(Details::BitsPerValue(8));
    let Layout::FullZip(layout) = page.layout().unwrap() else { panic!() };
    assert_eq!(layout.width, ZipWidth::Value { bytes: 1 });
    page.full_zip().value_compression = message(list(Encoding::Flat { bits: 16 }));
    page.full_zip().details = Some(Details::BitsPerValue(0));
    assert_eq!(rule_of(page.layout()), "values of 0 bits, where the encoding has 7 bytes");
}
