use super::*;
use crate::codec::{FixedValues, VariableValues};
use crate::levels::Layer::{AllValidItem, NullAndEmptyList, NullableItem};
use crate::page::encodings::to_message;
use crate::page::sample_pages::{all_null, empty_lists, same_strings, sevens};
use crate::page::test_pages::{
    TestPage, assert_broken, blob, hex, in_list, in_struct, int32, keyed, leaf, rule_of, string,
};
use crate::version::Version;

/// `struct<x: int32>`: `null {null} {null} null`.
fn null_structs() -> TestPage {
    let levels = ["", "0200 0100 0100 0200"];
    TestPage::new("1204 2a020303", in_struct(int32()), 4, &levels)
}

#[test]
fn hand_made_pages() {
    let cases = [
        (all_null(), "null null null"),
        (null_structs(), "null {null} {null} null"),
        (empty_lists(), "[] null [] []"),
        (sevens(), "7 null 7"),
        (same_strings(), "'abc' 'abc'"),
    ];
    for (page, rows) in cases {
        assert_eq!(page.read_all().unwrap(), rows);
        let single: Vec<String> =
            (0..page.num_rows).map(|row| page.read(&[row..row + 1]).unwrap()).collect();
        assert_eq!(single.join(" "), rows);
    }
}

#[test]
fn compressed_levels() {
    let layout = "120c 2a020303 42040a020810 5004";
    let levels = ["", "0200 0100 0100 0200"];
    let page = TestPage::new(layout, in_struct(int32()), 4, &levels).of_2_2();
    assert_eq!(page.read(&[1..4]).unwrap(), "{null} {null} null");
    assert_broken(
        &page,
        &[
            (|page| page.constant().num_def_values = 3, "buffer 1: 3 levels have 8 bytes"),
            (|page| page.buffers[1].truncate(6), "buffer 1: 4 levels have 6 bytes"),
        ],
    );
    // Levels take memory that no bytes stand for.
    let mut many = page;
    let runs = Encoding::Rle { bits: 16 };
    many.constant().def_compression = Some(to_message(&runs));
    many.constant().num_def_values = 1 << 40;
    let read = many.read_all();
    assert!(matches!(&read, Err(Error::Limit { what, .. }) if what.contains("constant page")));
}

#[test]
fn constants_with_lists() {
    // [9] [] [9 null]
    let levels = ["0100 0100 0100 0000", "0000 0200 0000 0100"];
    let layout = "120a 2a020305 320409000000";
    let page = TestPage::new(layout, in_list(int32()), 3, &levels).of_2_2();
    assert_eq!(page.read_all().unwrap(), "[9] [] [9 null]");
    assert_eq!(page.read(&[0..1, 2..3]).unwrap(), "[9] [9 null]");
}

#[test]
fn levels_fit_the_layers_and_the_rows() {
    let no_list = "repetition levels without a list";
    assert_broken(
        &null_structs(),
        &[
            (|page| page.buffers[0] = hex("0100"), no_list),
            (|page| page.buffers[1].truncate(6), "3 levels in a page of 4 rows"),
            (|page| page.buffers[1].clear(), "0 levels in a page of 4 rows"),
            (
                |page| page.buffers[1][0] = 3,
                "definition level 3 in a page with 2 definition levels",
            ),
        ],
    );
    assert_broken(
        &empty_lists(),
        &[
            (|page| page.constant().layers = vec![1, 2], "definition levels without nulls"),
            (|page| page.num_rows = 5, "levels of 4 rows in a page of 5"),
            (
                |page| page.buffers[0].truncate(6),
                "3 repetition levels stand beside 4 definition levels",
            ),
            (
                |page| page.buffers[0][0] = 0,
                "a definition level above 0 needs a repetition level of at least 1",
            ),
            (|page| page.buffers[0][0] = 2, "repetition level 2 in a page with 1 list layers"),
        ],
    );
    // As many rows as there should be, but the first begins in the middle.
    let mut page = empty_lists();
    page.constant().layers = vec![3, 2];
    page.buffers[0] = hex("0000 0100 0100 0100");
    page.buffers[1] = hex("0100 0100 0100 0100");
    page.num_rows = 3;
    assert_eq!(rule_of(page.read_all()), "levels of 3 rows in a page of 3");
}

#[test]
fn levels_are_whole_numbers_of_two_bytes() {
    assert_broken(
        &empty_lists(),
        &[
            (|page| page.buffers[0].push(0), "buffer 0: 4 levels have 9 bytes"),
            (|page| page.buffers[1].push(0), "buffer 1: 4 levels have 9 bytes"),
        ],
    );
}

#[test]
fn inline_values_have_the_width_of_the_type() {
    assert_broken(
        &sevens(),
        &[
            (
                |page| page.constant().inline_value = Some(vec![0; 33]),
                "an inline value of 33 bytes",
            ),
            (
                |page| page.constant().inline_value = Some(vec![7, 0, 0]),
                "a constant of 3 bytes for a type of 4",
            ),
            (|page| page.leaf = string(), "a constant of a type that cannot be one"),
        ],
    );
    let mut bits = sevens();
    bits.leaf = leaf(ValueType::Fixed { bits: 1 });
    bits.constant().inline_value = Some(vec![1]);
    assert_eq!(bits.read_all().unwrap(), "1 null 1");
}

#[test]
fn values_in_a_buffer_are_the_buffers_of_an_array() {
    assert_broken(
        &same_strings(),
        &[
            (
                |page| page.buffers[0].truncate(3),
                "buffer 0: number of value buffers needs 4 bytes at byte 0, but only 3 are left",
            ),
            (|page| page.buffers[0][0] = 1, "buffer 0: 1 value buffers, where the type has 2"),
            (
                |page| page.buffers[0].truncate(9),
                "buffer 0: size of a value buffer needs 4 bytes at byte 8, but only 1 are left",
            ),
            (
                |page| page.buffers[0][4] = 12,
                "buffer 0: value buffer needs 12 bytes at byte 12, but only 11 are left",
            ),
            (
                |page| page.buffers[0][8] = 4,
                "buffer 0: value buffer needs 4 bytes at byte 20, but only 3 are left",
            ),
            (|page| page.buffers[0].push(0), "buffer 0: 1 bytes after the value"),
            (
                |page| page.buffers[0][4..12].copy_from_slice(&hex("07000000 04000000")),
                "buffer 0: offset needs 4 bytes at byte 4, but only 3 are left",
            ),
            (
                |page| page.buffers[0][4..12].copy_from_slice(&hex("09000000 02000000")),
                "buffer 0: more than one constant value",
            ),
            (|page| page.buffers[0][16] = 4, "buffer 0: a constant from 0 to 4 in 3 bytes"),
            (|page| page.buffers[0][12] = 4, "buffer 0: a constant from 4 to 3 in 3 bytes"),
        ],
    );
}

#[test]
fn wide_values_and_wide_offsets_in_a_buffer() {
    let mut page = same_strings();
    page.leaf = leaf(ValueType::Variable { offset_bits: 64 });
    page.buffers[0] = hex("02000000 10000000 03000000 0100000000000000 0300000000000000 616263");
    assert_eq!(page.read_all().unwrap(), "'bc' 'bc'");
    page.leaf = leaf(ValueType::Fixed { bits: 24 });
    page.buffers[0] = hex("01000000 03000000 050000");
    assert_eq!(page.read_all().unwrap(), "5 5");
    page.leaf = leaf(ValueType::Fixed { bits: 16 });
    let rule = "buffer 0: a constant of 3 bytes for a type of 2";
    assert_eq!(rule_of(page.read_all()), rule);
}

#[test]
fn dictionaries_and_blobs_have_no_constants() {
    let rule = "a constant value in a dictionary or blob column";
    let of_keys = TestPage { leaf: keyed(8, true), ..same_strings() };
    assert_eq!(rule_of(of_keys.read_all()), rule);
    let mut of_blobs = TestPage { leaf: blob(), ..same_strings() };
    of_blobs.buffers[0] =
        hex("02000000 10000000 03000000 0000000000000000 0300000000000000 616263");
    assert_eq!(rule_of(of_blobs.read_all()), rule);
    // Nulls they have.
    for leaf in [keyed(8, true), blob()] {
        assert_eq!(TestPage { leaf, ..all_null() }.read_all().unwrap(), "null null null");
    }
}

#[test]
fn what_a_page_lacks_is_named() {
    let page = same_strings();
    let parsed = page.page().unwrap();
    let index = parsed.parse_index(&page.leaf, &[], &mut Scratch::new(0));
    assert_eq!(rule_of(index), "the value is missing");

    let lists = empty_lists();
    let parsed = lists.page().unwrap();
    let index = lists.index(&parsed).unwrap();
    let task = parsed.plan(&index, vec![3..5]).unwrap();
    let mut sink = LeafSink::new(&lists.leaf).unwrap();
    let read = parsed.decode(&index, &task, &[], &mut sink, &mut Scratch::new(1 << 10));
    assert_eq!(rule_of(read), "a row without levels");
}

#[test]
fn nulls_are_claimed_before_they_are_made() {
    let mut page = all_null();
    page.num_rows = 1 << 40;
    assert_eq!(page.read(&[7..9]).unwrap(), "null null");
    assert!(matches!(page.read_all(), Err(Error::Limit { .. })));
}

fn levels<'a>(
    layers: &'a [Layer],
    rep: Option<&'a [u16]>,
    def: Option<&'a [u16]>,
    n: usize,
) -> PageLevels<'a> {
    PageLevels { layers, rep, def, num_entries: n, num_rows: n as u64 }
}

/// The page is the sample, byte for byte.
fn assert_same(page: &EncodedPage, sample: &TestPage) {
    assert_eq!(page.buffers, sample.buffers);
    assert_eq!(page.layout.to_message(), sample.message);
    assert_eq!(page.num_rows, sample.num_rows);
}

#[test]
fn pages_are_written_byte_for_byte() {
    let (old, new) = (Rules::of(Version::V2_1), Rules::of(Version::V2_2));
    let seven = Values::Fixed(FixedValues::from_words([7_u32]));
    let mut abc = VariableValues::new(32);
    abc.push(b"abc").unwrap();
    let abc = Values::Variable(abc);
    let nulls = levels(&[NullableItem], None, Some(&[1, 1, 1]), 3);
    assert_same(&encode(nulls, None, old).unwrap(), &all_null());
    let lists = levels(&[AllValidItem, NullAndEmptyList], Some(&[1; 4]), Some(&[2, 1, 2, 2]), 4);
    assert_same(&encode(lists, None, old).unwrap(), &empty_lists());
    let some = levels(&[NullableItem], None, Some(&[0, 1, 0]), 3);
    assert_same(&encode(some, Some(&seven), new).unwrap(), &sevens());
    let all = levels(&[AllValidItem], None, None, 2);
    assert_same(&encode(all, Some(&abc), new).unwrap(), &same_strings());
}

#[test]
fn wide_values_go_into_a_buffer() {
    let value = |bytes: usize| {
        let mut fixed = FixedValues::new(bytes as u64 * 8);
        fixed.push(&vec![5; bytes]);
        encode_scalar(&Values::Fixed(fixed)).unwrap()
    };
    assert_eq!(value(32), (ConstantValue::Inline(vec![5; 32]), None));
    let (place, buffer) = value(33);
    assert_eq!(place, ConstantValue::Buffer);
    assert_eq!(buffer.unwrap(), [&hex("01000000 21000000")[..], &[5; 33]].concat());
    let nothing = encode_scalar(&Values::Nothing { len: 1 });
    assert!(matches!(nothing, Err(Error::Invalid(what)) if what.contains("only plain values")));
}
