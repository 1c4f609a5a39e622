use super::*;
use crate::error::Error;
use crate::page::Layout;
use crate::page::sample_pages::{chunked_ints, colours, int_lists, keyed_colours, nullable_ints};
use crate::page::test_pages::{TestPage, assert_broken, rule_of};
use crate::version::Version;

fn message(encoding: Encoding) -> Option<pb::CompressiveEncoding> {
    Some(to_message(&encoding))
}

#[test]
fn the_description_of_lists() {
    let Layout::MiniBlock(layout) = int_lists().layout().unwrap() else { panic!() };
    let expected = MiniBlockLayout {
        rep: Some(Encoding::Flat { bits: 16 }),
        def: Some(Encoding::Flat { bits: 16 }),
        values: Encoding::Flat { bits: 32 },
        dictionary: None,
        layers: vec![Layer::NullableItem, Layer::NullAndEmptyList],
        num_values: 6,
        large_chunks: false,
    };
    assert_eq!(layout, expected);
    assert_eq!((layout.num_buffers(), layout.index_buffers()), (3, vec![0, 2]));
}

#[test]
fn the_description_of_a_dictionary() {
    let Layout::MiniBlock(layout) = colours().layout().unwrap() else { panic!() };
    let encoding = Encoding::Variable { offset_bits: 32 };
    let expected = DictionaryLayout { encoding, num_items: 3, counted: false };
    assert_eq!(layout.dictionary, Some(expected));
    assert_eq!((layout.num_buffers(), layout.index_buffers()), (3, vec![0, 2]));
}

#[test]
fn descriptions_are_written_as_they_are_read() {
    for page in [nullable_ints(), chunked_ints(), int_lists(), colours()] {
        assert_eq!(page.layout().unwrap().to_message(), page.message);
    }
}

#[test]
fn levels_stand_where_the_layers_need_them() {
    let needs_rep = "repetition levels are present exactly when there is a list";
    let needs_def = "definition levels are present exactly when something can be null or empty";
    assert_broken(
        &int_lists(),
        &[
            (|page| page.mini_block().rep_compression = None, needs_rep),
            (|page| page.mini_block().def_compression = None, needs_def),
            (
                |page| page.mini_block().repetition_index_depth = 0,
                "repetition index depth 0 is wrong here",
            ),
            (
                |page| page.mini_block().repetition_index_depth = 2,
                "repetition index depth 2 is wrong here",
            ),
        ],
    );
    assert_broken(
        &chunked_ints(),
        &[
            (
                |page| page.mini_block().rep_compression = message(Encoding::Flat { bits: 16 }),
                needs_rep,
            ),
            (
                |page| page.mini_block().def_compression = message(Encoding::Flat { bits: 16 }),
                needs_def,
            ),
            (
                |page| page.mini_block().repetition_index_depth = 1,
                "repetition index depth 1 is wrong here",
            ),
            (|page| page.mini_block().num_items = 8, "8 items in a page of 7 rows"),
        ],
    );
}

#[test]
fn levels_have_16_bits() {
    assert_broken(
        &int_lists(),
        &[
            (
                |page| page.mini_block().rep_compression = message(Encoding::Flat { bits: 8 }),
                "the encoding \"flat 8-bit\" cannot hold Fixed { bits: 16 }",
            ),
            (
                |page| page.mini_block().def_compression = message(Encoding::Flat { bits: 32 }),
                "the encoding \"flat 32-bit\" cannot hold Fixed { bits: 16 }",
            ),
        ],
    );
}

#[test]
fn values_have_the_type_of_the_column() {
    assert_broken(
        &chunked_ints(),
        &[
            (
                |page| page.mini_block().value_compression = None,
                "the encoding of the values is missing or unknown",
            ),
            (
                |page| page.mini_block().value_compression = message(Encoding::Flat { bits: 64 }),
                "the encoding \"flat 64-bit\" cannot hold Fixed { bits: 32 }",
            ),
            (
                |page| page.mini_block().num_buffers = 2,
                "2 value buffers a chunk, where the encoding has 1",
            ),
            (
                |page| page.mini_block().num_buffers = u64::MAX,
                "18446744073709551615 value buffers a chunk, where the encoding has 1",
            ),
        ],
    );
}

#[test]
fn dictionaries_have_the_type_of_the_column_and_integer_indices() {
    let flat = |bits| message(Encoding::Flat { bits });
    assert_eq!(flat(32), colours().mini_block().value_compression);
    assert_broken(
        &colours(),
        &[
            (
                |page| {
                    page.mini_block().dictionary = Some(pb::CompressiveEncoding::default());
                },
                "the encoding of the dictionary is missing or unknown",
            ),
            (
                |page| page.mini_block().dictionary = message(Encoding::Flat { bits: 32 }),
                "the encoding \"flat 32-bit\" cannot hold Variable { offset_bits: 32 }",
            ),
            (
                |page| page.mini_block().value_compression = message(Encoding::Flat { bits: 24 }),
                "dictionary indices of 24 bits",
            ),
            (
                |page| {
                    let strings = Encoding::Variable { offset_bits: 32 };
                    page.mini_block().value_compression = message(strings);
                },
                "dictionary indices that are not integers",
            ),
        ],
    );
    assert_broken(
        &keyed_colours(),
        &[(
            |page| page.mini_block().dictionary = None,
            "a dictionary column with a page without one",
        )],
    );
}

#[test]
fn indices_take_the_width_of_what_they_are_compressed_with() {
    let flat = || Box::new(Encoding::Flat { bits: 64 });
    let lz4 = Encoding::General { scheme: codec::Scheme::Lz4, level: None, values: flat() };
    for (encoding, bits) in [
        (Encoding::Flat { bits: 8 }, 8),
        (Encoding::InlineBitpacking { bits: 16 }, 16),
        (Encoding::Rle { bits: 32 }, 32),
        (Encoding::ByteStreamSplit { bits: 32 }, 32),
        (lz4, 64),
    ] {
        assert_eq!(index_bits(&encoding).unwrap(), bits);
    }
    let list = Encoding::FixedSizeList { items_per_value: 1, has_validity: false, values: flat() };
    assert_eq!(rule_of(index_bits(&list)), "dictionary indices that are not integers");
}

#[test]
fn chunks_are_as_wide_as_the_version_says() {
    let large = |mut page: TestPage| {
        page.mini_block().has_large_chunk = true;
        page
    };
    let rule = "the chunk width is not the one of the file's version";
    assert_eq!(rule_of(large(chunked_ints()).layout()), rule);
    assert!(large(chunked_ints()).of_2_2().layout().is_ok());

    let small = TestPage { version: Version::V2_2, ..chunked_ints() };
    let Error::Unsupported(what) = small.layout().unwrap_err() else { panic!() };
    assert!(what.contains("as the releases 0.35 to 1.0.4 wrote it"), "{what}");
    assert!(what.contains("write it as 2.1"), "{what}");
}
