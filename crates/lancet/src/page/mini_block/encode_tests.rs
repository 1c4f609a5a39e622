use super::*;
use crate::codec::{FixedValues, VariableValues};
use crate::levels::Layer::{self, AllValidItem, NullAndEmptyList, NullableItem};
use crate::page::sample_pages::{chunked_ints, chunked_lists, colours, int_lists, nullable_ints};
use crate::page::test_pages::{TestPage, hex};
use crate::version::Version;

const SMALL: ChunkSize = ChunkSize { target_bytes: 16, max_values: 4 };

fn levels<'a>(
    layers: &'a [Layer],
    rep: Option<&'a [u16]>,
    def: Option<&'a [u16]>,
    num_entries: usize,
    num_rows: u64,
) -> PageLevels<'a> {
    PageLevels { layers, rep, def, num_entries, num_rows }
}

fn input<'a>(levels: PageLevels<'a>, values: &'a Values, bits: u64) -> MiniBlockInput<'a> {
    MiniBlockInput {
        levels,
        values,
        encoding: Encoding::Flat { bits },
        dictionary: None,
        chunk_size: ChunkSize { target_bytes: 4096, max_values: 4096 },
        level_compression: None,
    }
}

fn ints(words: &[u32]) -> Values {
    Values::Fixed(FixedValues::from_words(words.iter().copied()))
}

fn encoded(input: &MiniBlockInput<'_>, version: Version) -> EncodedPage {
    encode(input, Rules::of(version)).unwrap().unwrap()
}

/// The page is the sample, byte for byte.
fn assert_same(page: &EncodedPage, sample: &TestPage) {
    assert_eq!(page.buffers, sample.buffers);
    assert_eq!(page.layout, sample.layout().unwrap());
    assert_eq!(page.num_rows, sample.num_rows);
}

#[test]
fn pages_are_written_byte_for_byte() {
    let values = ints(&[1, 0, 3, 0, 5]);
    let nullable = levels(&[NullableItem], None, Some(&[0, 1, 0, 1, 0]), 5, 5);
    assert_same(&encoded(&input(nullable, &values, 32), Version::V2_1), &nullable_ints());

    let values = ints(&[1, 2, 3, 0, 4, 5]);
    let (rep, def) = ([1, 0, 1, 1, 1, 0, 0, 1], [0, 0, 2, 3, 0, 1, 0, 0]);
    let lists = levels(&[NullableItem, NullAndEmptyList], Some(&rep), Some(&def), 8, 5);
    assert_same(&encoded(&input(lists, &values, 32), Version::V2_1), &int_lists());
}

#[test]
fn chunks_are_cut_by_values() {
    let values = ints(&[1, 2, 3, 4, 5, 6, 7]);
    let flat = levels(&[AllValidItem], None, None, 7, 7);
    let small = MiniBlockInput { chunk_size: SMALL, ..input(flat, &values, 32) };
    assert_same(&encoded(&small, Version::V2_1), &chunked_ints());

    // Levels follow the values: what has none goes to the next chunk, and the last takes the rest.
    let values = Values::Fixed(FixedValues::from_words(1..=15_u8));
    let rep = [1, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 0];
    let def = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 1, 0, 0, 0];
    let lists = levels(&[AllValidItem, NullAndEmptyList], Some(&rep), Some(&def), 17, 7);
    let small = MiniBlockInput { chunk_size: SMALL, ..input(lists, &values, 8) };
    assert_same(&encoded(&small, Version::V2_1), &chunked_lists());
}

#[test]
fn a_dictionary_is_one_block() {
    let indices = ints(&[0, 1, u32::MAX, 2]);
    let mut items = VariableValues::new(32);
    for item in ["red", "green", "blue"] {
        items.push(item.as_bytes()).unwrap();
    }
    let items = Values::Variable(items);
    let nullable = levels(&[NullableItem], None, Some(&[0, 0, 1, 0]), 4, 4);
    let dictionary = Some((Encoding::Variable { offset_bits: 32 }, &items));
    let page = MiniBlockInput { dictionary, ..input(nullable, &indices, 32) };
    assert_same(&encoded(&page, Version::V2_1), &colours());
}

#[test]
fn words_and_value_sizes_are_wide_since_2_2() {
    let values = ints(&[9]);
    let page =
        encoded(&input(levels(&[AllValidItem], None, None, 1, 1), &values, 32), Version::V2_2);
    assert_eq!(page.buffers[0], hex("10000000"));
    assert_eq!(page.buffers[1], hex("0000 04000000 fefe 09000000 fefefefe"));
}

#[test]
fn a_chunk_takes_the_most_values_that_fit_a_power_of_two() {
    let cases = [
        // (values of 4 bytes, target, most values, chunks)
        (1, 1, 4, vec![0x10]),
        (4, 16, 4, vec![0x20]),
        (5, 16, 4, vec![0x22, 0x10]),
        (8, 64, 4, vec![0x22, 0x20]),
        (3, 4, 4, vec![0x11, 0x10]),
        (6, 12, 64, vec![0x11, 0x11, 0x10]),
    ];
    for (count, target_bytes, max_values, words) in cases {
        let values = ints(&vec![7; count]);
        let flat = levels(&[AllValidItem], None, None, count, count as u64);
        let chunk_size = ChunkSize { target_bytes, max_values };
        let page = MiniBlockInput { chunk_size, ..input(flat, &values, 32) };
        let found = encoded(&page, Version::V2_1).buffers[0].to_vec();
        assert_eq!(found.chunks(2).map(|word| word[0]).collect::<Vec<_>>(), words, "{count}");
    }
}

#[test]
fn chunks_that_are_too_large_are_halved() {
    // Eight values of 8 KiB: chunks of 2.1 have at most 32 KiB, their header among it.
    let mut values = FixedValues::new(8 * 8192);
    (0..8).for_each(|_| values.push(&[7; 8192]));
    let values = Values::Fixed(values);
    let flat = levels(&[AllValidItem], None, None, 8, 8);
    let chunk_size = ChunkSize { target_bytes: 1 << 20, max_values: 4096 };
    let page = MiniBlockInput { chunk_size, ..input(flat, &values, 8 * 8192) };
    let words = |version| encoded(&page, version).buffers[0].to_vec();
    assert_eq!(words(Version::V2_1), hex("0180 0180 0180 0080"));
    assert_eq!(words(Version::V2_2), hex("00000200"));
}

#[test]
fn a_page_whose_chunks_cannot_be_made_is_none() {
    // Two values of 20 KiB: not even two fit a chunk of 2.1.
    let mut wide = FixedValues::new(8 * 20_480);
    (0..3).for_each(|_| wide.push(&[7; 20_480]));
    let wide = Values::Fixed(wide);
    let flat = levels(&[AllValidItem], None, None, 3, 3);
    let page = input(flat, &wide, 8 * 20_480);
    assert!(encode(&page, Rules::of(Version::V2_1)).unwrap().is_none());
    assert!(encode(&page, Rules::of(Version::V2_2)).unwrap().is_some());

    // One value and 65,536 lists without any: more levels than a chunk can count.
    let one = ints(&[7]);
    let rep = vec![1; 65_536];
    let mut def = vec![1; 65_536];
    def[0] = 0;
    let lists = |n: usize| {
        let layers = &[AllValidItem, Layer::NullableList];
        levels(layers, Some(&rep[..n]), Some(&def[..n]), n, n as u64)
    };
    let rules = Rules::of(Version::V2_2);
    assert!(encode(&input(lists(65_536), &one, 32), rules).unwrap().is_none());
    assert!(encode(&input(lists(65_535), &one, 32), rules).unwrap().is_some());
}
