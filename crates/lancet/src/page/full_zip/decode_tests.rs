use super::*;
use crate::codec::{PackedField, PackedWidth, Scheme, ValueType, general};
use crate::page::encodings::to_message;
use crate::page::sample_pages::{zipped_ints, zipped_lists, zipped_string_lists, zipped_strings};
use crate::page::test_pages::{
    TestPage, assert_broken, hex, in_list, int32, keyed, leaf, rule_of, shown,
};
use crate::proto::encodings21::full_zip_layout::Details;

#[test]
fn hand_made_pages() {
    let cases = [
        (zipped_ints(), "1 null 3"),
        (zipped_strings(), "'abc' null '' 'hello'"),
        (zipped_lists(), "[1 2] null [] [3 null 4] [5]"),
        (zipped_string_lists(), "['a' null] null [] ['bc']"),
    ];
    for (page, rows) in cases {
        assert_eq!(page.read_all().unwrap(), rows);
        let rows: Vec<String> =
            (0..page.num_rows).map(|row| page.read(&[row..row + 1]).unwrap()).collect();
        assert_eq!(page.read_all().unwrap(), rows.join(" "));
        let last = page.num_rows - 1;
        let ends = page.read(&[0..1, last..page.num_rows]).unwrap();
        assert_eq!(ends, format!("{} {}", rows[0], rows[last as usize]));
    }
}

#[test]
fn a_page_without_levels_is_its_values() {
    let layout = "1a0f 1820 2803 3003 3a040a020820 420101";
    let page = TestPage::new(layout, int32(), 3, &["01000000 02000000 03000000"]);
    assert_eq!(page.read_all().unwrap(), "1 2 3");
    assert_eq!(page.read(&[1..3]).unwrap(), "2 3");
    // A layer that is nullable and has no null needs no bits either.
    let mut nullable = page.clone();
    nullable.full_zip().layers = vec![3];
    assert_eq!(nullable.read(&[0..1, 2..3]).unwrap(), "1 3");
}

#[test]
fn large_pages_without_levels_share_their_bytes() {
    let layout = "1a0f 1820 2803 3003 3a040a020820 420101";
    let mut page = TestPage::new(layout, int32(), 20_000, &[""]);
    page.buffers[0] = (0..20_000_u32).flat_map(u32::to_le_bytes).collect();
    let shared = page.read_all().unwrap();
    assert_eq!(shared.split(' ').count(), 20_000);
    assert!(shared.ends_with(" 19998 19999"));
}

#[test]
fn control_words_of_two_and_four_bytes() {
    let cases = [
        // Repetition level 1 stands above 8 and above 16 definition bits.
        (8, "0001 01000000 | 0000 02000000 | 0201 | 0301", "00 0c 0e 10"),
        (16, "00000100 01000000 | 00000000 02000000 | 02000100 | 03000100", "00 10 14 18"),
    ];
    for (bits_def, rows, index) in cases {
        let mut page = zipped_lists();
        page.full_zip().bits_def = bits_def;
        page.num_rows = 3;
        page.buffers = vec![hex(rows), hex(index)];
        assert_eq!(page.read_all().unwrap(), "[1 2] null []");
        // One byte more belongs to nothing.
        page.buffers[0].push(0);
        *page.buffers[1].last_mut().unwrap() += 1;
        let width = bits_def / 4;
        let width = if width == 2 { 2 } else { 4 };
        let at = page.buffers[0].len() - 1;
        let rule =
            format!("buffer 0: control word needs {width} bytes at byte {at}, but only 1 are left");
        assert_eq!(rule_of(page.read_all()), rule);
    }
    let mut page = zipped_lists();
    page.full_zip().bits_def = 8;
    page.full_zip().bits_rep = 9;
    page.num_rows = 1;
    page.buffers = vec![hex("00000001"), hex("00 04")];
    assert_eq!(rule_of(page.read_all()), "buffer 0: control word 0x1000000");
}

#[test]
fn levels_of_control_words_are_checked() {
    assert_broken(
        &zipped_lists(),
        &[
            (|page| page.buffers[0][0] = 8, "buffer 0: repetition level 2"),
            // The second item becomes a null list inside of the first one.
            (
                |page| {
                    page.buffers[0].splice(5..10, [2]);
                    page.buffers[1] = hex("00 06 07 08 17 1c");
                },
                "a definition level above 1 needs a repetition level of at least 1",
            ),
        ],
    );
    assert_broken(
        &zipped_ints(),
        &[
            (|page| page.buffers[0][0] = 2, "buffer 0: repetition level 1"),
            (
                |page| {
                    page.full_zip().bits_def = 2;
                    page.buffers[0][5] = 3;
                },
                "buffer 0: definition level 3",
            ),
        ],
    );
}

#[test]
fn the_bytes_of_rows_are_rows() {
    assert_broken(
        &zipped_lists(),
        &[
            // The fourth list starts as a part of the third.
            (|page| page.buffers[0][12] = 0, "buffer 0: 4 rows start in the bytes of 5 rows"),
            (
                |page| {
                    page.buffers[0].truncate(30);
                    page.buffers[1][5] = 30;
                },
                "buffer 0: a zipped value needs 4 bytes at byte 28, but only 2 are left",
            ),
        ],
    );
    // As many rows as asked for, but the first begins in the middle.
    let mut page = zipped_lists();
    page.buffers[1] = hex("00 05 0b 0c 1b 20");
    let rule = "buffer 0: 1 rows start in the bytes of 1 rows";
    assert_eq!(rule_of(page.read(&[1..2])), rule);

    assert_broken(
        &zipped_string_lists(),
        &[(|page| page.buffers[0][7] = 7 - 4, "buffer 0: 3 rows start in the bytes of 4 rows")],
    );
}

#[test]
fn zipped_values_end_inside_their_rows() {
    assert_broken(
        &zipped_strings(),
        &[
            (
                |page| page.buffers[0][15] = 6,
                "buffer 0: a zipped value needs 6 bytes at byte 19, but only 5 are left",
            ),
            (
                |page| {
                    page.buffers[0].truncate(16);
                    page.buffers[1][4] = 16;
                },
                "buffer 0: length of a zipped value needs 4 bytes at byte 15, but only 1 are left",
            ),
            // The last string is cut in two: a shorter one, and one that is empty.
            (
                |page| {
                    page.buffers[0][15] = 0;
                    page.buffers[0][19..].fill(0);
                },
                "buffer 0: 5 entries in the bytes of 4 rows",
            ),
        ],
    );
}

#[test]
fn lengths_of_eight_bytes() {
    let mut page = zipped_strings();
    page.full_zip().details = Some(Details::BitsPerOffset(64));
    page.buffers[0] = hex("00 0300000000000000 616263 | 01 | 00 0000000000000000
                           | 00 0500000000000000 68656c6c6f");
    page.buffers[1] = hex("00 0c 0d 16 24");
    assert_eq!(page.read_all().unwrap(), "'abc' null '' 'hello'");
    page.buffers[0][22 + 8] = 1;
    let needs = "buffer 0: a zipped value needs 72057594037927941 bytes at byte 31, but only 5 are \
                 left";
    assert_eq!(rule_of(page.read_all()), needs);
}

#[test]
fn packed_structs_row_by_row() {
    let variable = Encoding::Variable { offset_bits: 32 };
    let fields = vec![
        PackedField {
            encoding: Encoding::Flat { bits: 32 },
            width: PackedWidth::Value { bits: 32 },
        },
        PackedField { encoding: variable, width: PackedWidth::Length { bits: 32 } },
    ];
    let mut page = zipped_strings().of_2_2();
    page.leaf.values = ValueType::Struct(vec![
        ValueType::Fixed { bits: 32 },
        ValueType::Variable { offset_bits: 32 },
    ]);
    page.full_zip().value_compression =
        Some(to_message(&Encoding::VariablePackedStruct { fields }));
    page.full_zip().bits_def = 0;
    page.full_zip().layers = vec![1];
    page.num_rows = 2;
    page.buffers = vec![
        hex("0a000000 01000000 02000000 6162 | 0b000000 03000000 03000000 636465"),
        hex("00 0e 1d"),
    ];
    assert_eq!(page.read_all().unwrap(), "{1 'ab'} {3 'cde'}");
    // What is wrong in a value is told with its place in the bytes that were read.
    page.buffers[0][22] = 4;
    let rule = rule_of(page.read_all());
    assert!(rule.starts_with("buffer 0, byte 18: "), "{rule}");
}

#[test]
fn values_that_are_compressed_one_by_one() {
    let mut page = zipped_strings();
    let values = Box::new(Encoding::Variable { offset_bits: 32 });
    let lz4 = Encoding::General { scheme: Scheme::Lz4, level: None, values };
    page.full_zip().value_compression = Some(to_message(&lz4));
    page.num_rows = 1;
    let mut unit = Vec::new();
    general::compress(Scheme::Lz4, None, b"hello hello hello hello", &mut unit).unwrap();
    let length = (unit.len() as u32).to_le_bytes();
    page.buffers[0] = [&[0][..], &length, &unit].concat();
    page.buffers[1] = vec![0, page.buffers[0].len() as u8];
    assert_eq!(page.read_all().unwrap(), "'hello hello hello hello'");
}

/// Lists of two 16-bit items, all null, of which older writers stored no bytes.
fn null_items(layers: &[i32], leaf: crate::schema::leaves::LeafType) -> TestPage {
    let list = Encoding::FixedSizeList {
        items_per_value: 2,
        has_validity: true,
        values: Box::new(Encoding::Constant),
    };
    let mut page = zipped_ints();
    page.leaf = leaf;
    let layout = page.full_zip();
    layout.value_compression = Some(to_message(&list));
    layout.details = Some(Details::BitsPerValue(0));
    layout.layers = layers.to_vec();
    page
}

fn pairs() -> crate::schema::leaves::LeafType {
    let item = Box::new(ValueType::Fixed { bits: 16 });
    leaf(ValueType::FixedSizeList { dimension: 2, item })
}

#[test]
fn lists_of_null_items_without_bytes() {
    let mut page = null_items(&[1], pairs());
    page.full_zip().bits_def = 0;
    page.buffers[0].clear();
    assert_eq!(page.read(&[0..1, 2..3]).unwrap(), "(null null) (null null)");
    assert!(page.page().unwrap().rows_are_alike());
}

#[test]
fn lists_of_null_items_have_control_words_where_some_are_null() {
    let mut page = null_items(&[3], pairs());
    page.buffers[0] = hex("00 01 00");
    assert_eq!(page.read_all().unwrap(), "(null null) null (null null)");
}

#[test]
fn lists_of_null_items_without_bytes_in_lists() {
    let mut page = null_items(&[1, 4], in_list(pairs()));
    page.full_zip().bits_rep = 1;
    page.buffers = vec![hex("02 00 03 02"), hex("00 02 03 04")];
    assert_eq!(page.read_all().unwrap(), "[(null null) (null null)] null [(null null)]");
}

/// Decodes with another answer to the reads than the right one, or into another sink.
fn decode_with(
    page: &TestPage,
    damage: impl Fn(&mut Vec<Bytes>),
    sink: &mut LeafSink,
) -> Result<()> {
    let parsed = page.page().unwrap();
    let index = page.index(&parsed).unwrap();
    let task = parsed.plan(&index, vec![0..page.num_rows]).unwrap();
    let mut fetched = page.fetch(&task.spans);
    damage(&mut fetched);
    parsed.decode(&index, &task, &fetched, sink, &mut Scratch::new(1 << 20))
}

#[test]
fn reads_return_what_was_asked_for() {
    let page = zipped_ints();
    let mut sink = LeafSink::new(&page.leaf).unwrap();
    let short = decode_with(&page, |fetched| fetched[0].truncate(14), &mut sink);
    assert_eq!(rule_of(short), "buffer 0: 3 rows of 5 bytes in 14 bytes");
}

#[test]
fn values_go_where_values_of_the_column_go() {
    let mut sink = LeafSink::new(&keyed(8, false)).unwrap();
    let rule = "a full-zip page in a dictionary or blob column";
    assert_eq!(rule_of(decode_with(&zipped_ints(), |_| {}, &mut sink)), rule);
}

#[test]
fn pages_are_appended_to_each_other() {
    let mut sink = LeafSink::new(&zipped_lists().leaf).unwrap();
    zipped_lists().read_into(&[3..5], &mut sink).unwrap();
    zipped_lists().read_into(&[0..2], &mut sink).unwrap();
    assert_eq!(shown(sink), "[3 null 4] [5] [1 2] null");
}
