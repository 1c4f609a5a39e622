use super::*;
use crate::codec::{FixedValues, VariableValues};
use crate::levels::Layer::{AllValidItem, NullAndEmptyList, NullableItem};
use crate::page::sample_pages::{zipped_ints, zipped_lists, zipped_string_lists, zipped_strings};
use crate::page::test_pages::{TestPage, hex};

fn ints(words: &[u32]) -> Values {
    Values::Fixed(FixedValues::from_words(words.iter().copied()))
}

fn strings(texts: &[&str]) -> Values {
    let mut values = VariableValues::new(32);
    texts.iter().for_each(|text| values.push(text.as_bytes()).unwrap());
    Values::Variable(values)
}

/// The page is the sample, byte for byte.
fn assert_same(page: &EncodedPage, sample: &TestPage) {
    assert_eq!(page.buffers, sample.buffers);
    assert_eq!(page.layout, sample.layout().unwrap());
    assert_eq!(page.num_rows, sample.num_rows);
}

#[test]
fn pages_are_written_byte_for_byte() {
    let flat = Encoding::Flat { bits: 32 };
    let variable = Encoding::Variable { offset_bits: 32 };
    let nullable = |def, n| PageLevels {
        layers: &[NullableItem],
        rep: None,
        def: Some(def),
        num_entries: n,
        num_rows: n as u64,
    };
    let page = encode(nullable(&[0, 1, 0], 3), ints(&[1, 0, 3]), flat.clone()).unwrap();
    assert_same(&page, &zipped_ints());
    let values = strings(&["abc", "hidden", "", "hello"]);
    let page = encode(nullable(&[0, 1, 0, 0], 4), values, variable.clone()).unwrap();
    assert_same(&page, &zipped_strings());

    let lists = |rep, def, num_entries, num_rows| PageLevels {
        layers: &[NullableItem, NullAndEmptyList],
        rep: Some(rep),
        def: Some(def),
        num_entries,
        num_rows,
    };
    let levels = lists(&[1, 0, 1, 1, 1, 0, 0, 1], &[0, 0, 2, 3, 0, 1, 0, 0], 8, 5);
    let page = encode(levels, ints(&[1, 2, 3, 0, 4, 5]), flat).unwrap();
    assert_same(&page, &zipped_lists());
    let levels = lists(&[1, 0, 1, 1, 1], &[0, 1, 2, 3, 0], 5, 4);
    let page = encode(levels, strings(&["a", "", "bc"]), variable).unwrap();
    assert_same(&page, &zipped_string_lists());
}

#[test]
fn values_without_levels_are_stored_as_they_are() {
    let levels =
        PageLevels { layers: &[AllValidItem], rep: None, def: None, num_entries: 2, num_rows: 2 };
    let page = encode(levels, ints(&[1, 2]), Encoding::Flat { bits: 32 }).unwrap();
    assert_eq!(page.buffers, [hex("01000000 02000000")]);
}

#[test]
fn levels_that_are_all_zero_are_stored() {
    let levels = PageLevels {
        layers: &[NullableItem],
        rep: None,
        def: Some(&[0, 0]),
        num_entries: 2,
        num_rows: 2,
    };
    let page = encode(levels, ints(&[1, 2]), Encoding::Flat { bits: 32 }).unwrap();
    assert_eq!(page.buffers, [hex("00 01000000 00 02000000")]);
}

#[test]
fn lengths_are_wide_where_offsets_are() {
    let mut values = VariableValues::new(64);
    values.push(b"ab").unwrap();
    let levels =
        PageLevels { layers: &[AllValidItem], rep: None, def: None, num_entries: 1, num_rows: 1 };
    let encoding = Encoding::Variable { offset_bits: 64 };
    let page = encode(levels, Values::Variable(values), encoding).unwrap();
    assert_eq!(page.buffers, [hex("0200000000000000 6162"), hex("00 0a")]);
}

#[test]
fn offsets_are_as_wide_as_the_end_needs() {
    let cases = [
        (0xff, "02 ff"),
        (0x100, "0200 0001"),
        (0xffff, "0200 ffff"),
        (0x1_0000, "02000000 00000100"),
        (0xffff_ffff, "02000000 ffffffff"),
        (0x1_0000_0000, "0200000000000000 0000000001000000"),
    ];
    for (end, bytes) in cases {
        assert_eq!(narrow(&[2], end), hex(bytes), "{end:#x}");
    }
}
