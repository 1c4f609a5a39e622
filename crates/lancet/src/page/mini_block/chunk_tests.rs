use super::*;
use crate::codec::Encoding;
use crate::levels::Layer;
use crate::page::test_pages::{hex, rule_of};

/// A chunk with repetition levels, definition levels and runs, which have two value buffers.
fn layout() -> MiniBlockLayout {
    let flat = Some(Encoding::Flat { bits: 16 });
    MiniBlockLayout {
        rep: flat.clone(),
        def: flat,
        values: Encoding::Rle { bits: 8 },
        dictionary: None,
        layers: vec![Layer::NullableItem, Layer::AllValidList],
        num_values: 3,
        large_chunks: false,
    }
}

const CHUNK: &str = "0300 0600 0600 0200 0300 fefefefefefe
                     010000000000 fefe 000001000000 fefe aabb fefefefefefe 010101 fefefefefe";

#[test]
fn a_chunk_has_levels_and_values_at_multiples_of_eight() {
    let bytes = hex(CHUNK);
    let chunk = Chunk::parse(&bytes, &layout()).unwrap();
    assert_eq!(chunk.num_levels, 3);
    assert_eq!(chunk.rep, Some(&[1, 0, 0, 0, 0, 0][..]));
    assert_eq!(chunk.def, Some(&[0, 0, 1, 0, 0, 0][..]));
    assert_eq!(chunk.values(), [&[0xaa, 0xbb][..], &[1, 1, 1]]);
}

#[test]
fn large_chunks_have_wide_value_sizes() {
    let layout = MiniBlockLayout { rep: None, def: None, large_chunks: true, ..layout() };
    let bytes = hex("0000 02000000 01000000 fefefefefefe aabb fefefefefefe 02 fefefefefefefe");
    let chunk = Chunk::parse(&bytes, &layout).unwrap();
    assert_eq!((chunk.rep, chunk.def), (None, None));
    assert_eq!(chunk.values(), [&[0xaa, 0xbb][..], &[2]]);
    let size = "size of a value buffer needs 4 bytes at byte 6, but only 2 are left";
    assert_eq!(rule_of(Chunk::parse(&bytes[..8], &layout)), size);
    // Sizes that no memory has are only more than there is.
    let bytes = hex("0000 ffffffff ffffffff fefefefefefe");
    let values = "values of a chunk needs 4294967295 bytes at byte 16, but only 0 are left";
    assert_eq!(rule_of(Chunk::parse(&bytes, &layout)), values);
}

#[test]
fn a_chunk_that_ends_early_tells_what_is_missing() {
    let bytes = hex(CHUNK);
    let cases = [
        (1, "number of levels needs 2 bytes at byte 0, but only 1 are left"),
        (3, "size of repetition levels needs 2 bytes at byte 2, but only 1 are left"),
        (4, "size of definition levels needs 2 bytes at byte 4, but only 0 are left"),
        (7, "size of a value buffer needs 2 bytes at byte 6, but only 1 are left"),
        (9, "size of a value buffer needs 2 bytes at byte 8, but only 1 are left"),
        (15, "padding of the chunk header needs 6 bytes at byte 10, but only 5 are left"),
        (21, "repetition levels needs 6 bytes at byte 16, but only 5 are left"),
        (23, "padding in a chunk needs 2 bytes at byte 22, but only 1 are left"),
        (29, "definition levels needs 6 bytes at byte 24, but only 5 are left"),
        (31, "padding in a chunk needs 2 bytes at byte 30, but only 1 are left"),
        (33, "values of a chunk needs 2 bytes at byte 32, but only 1 are left"),
        (42, "values of a chunk needs 3 bytes at byte 40, but only 2 are left"),
        (47, "padding in a chunk needs 5 bytes at byte 43, but only 4 are left"),
    ];
    for (len, rule) in cases {
        assert_eq!(rule_of(Chunk::parse(&bytes[..len], &layout())), rule);
    }
}

#[test]
fn a_chunk_ends_with_its_last_part() {
    let bytes = [hex(CHUNK), vec![0xfe; 8]].concat();
    assert_eq!(rule_of(Chunk::parse(&bytes, &layout())), "8 bytes after the parts of a chunk");
}

#[test]
fn levels_are_counted_only_where_there_are_some() {
    let layout = MiniBlockLayout { rep: None, def: None, ..layout() };
    let rule = "1 levels in a chunk of a page without levels";
    assert_eq!(rule_of(Chunk::parse(&hex("0100 0000 0000 fefe"), &layout)), rule);
    assert!(Chunk::parse(&hex("0000 0000 0000 fefe"), &layout).is_ok());
}

#[test]
fn a_chunk_has_at_most_17_value_buffers() {
    let nested = |depth: usize| {
        let list = |values| Encoding::FixedSizeList {
            items_per_value: 1,
            has_validity: true,
            values: Box::new(values),
        };
        let values = (0..depth).fold(Encoding::Flat { bits: 8 }, |values, _| list(values));
        MiniBlockLayout { rep: None, def: None, values, ..layout() }
    };
    let header = vec![0; 40];
    assert_eq!(Chunk::parse(&header, &nested(16)).unwrap().values(), [&[0_u8; 0]; 17]);
    assert_eq!(rule_of(Chunk::parse(&header, &nested(17))), "18 value buffers in a chunk");
}
