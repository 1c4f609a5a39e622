use super::super::{FixedValues, ValueType};
use super::*;

fn encoding(layers: &[(u64, bool)], leaf: Encoding) -> Encoding {
    layers.iter().rfold(leaf, |values, &(items_per_value, has_validity)| Encoding::FixedSizeList {
        items_per_value,
        has_validity,
        values: Box::new(values),
    })
}

fn empty(dimensions: &[u64], bits: u64) -> FixedSizeListValues {
    let leaf = ValueType::Fixed { bits };
    let list = dimensions.iter().rfold(leaf, |item, &dimension| ValueType::FixedSizeList {
        dimension,
        item: Box::new(item),
    });
    let Values::FixedSizeList(list) = Values::new(&list) else { panic!() };
    list
}

fn numbers(list: &FixedSizeListValues) -> &FixedValues {
    match &*list.items {
        Values::Fixed(items) => items,
        Values::FixedSizeList(inner) => numbers(inner),
        _ => panic!(),
    }
}

fn bits(values: &FixedValues) -> Vec<u8> {
    (0..values.len()).map(|i| u8::from(values.bit(i))).collect()
}

const ITEMS: [u8; 18] = [1, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 4, 0, 5, 0, 6, 0];

#[test]
fn the_chunk_and_the_rows_of_the_specification() {
    let encoding = encoding(&[(3, true)], Encoding::Flat { bits: 16 });
    let mut list = empty(&[3], 16);
    decode_chunk(&encoding, &[&[0xc5, 1], &ITEMS], 3, &[0..3], &mut list).unwrap();
    assert_eq!(bits(list.item_validity.as_ref().unwrap()), [1, 0, 1, 0, 0, 0, 1, 1, 1]);
    assert_eq!((list.len, numbers(&list).data()), (3, &ITEMS[..]));

    let mut buffers = [vec![], vec![]];
    encode_chunk(&encoding, &list, 0..3, &mut buffers).unwrap();
    assert_eq!(buffers, [vec![0xc5, 1], ITEMS.to_vec()]);

    let zipped =
        [&[0, 0xc5][..], &ITEMS[..6], &[1, 0], &ITEMS[6..12], &[0, 7], &ITEMS[12..]].concat();
    let rows = RowParts { bytes: &zipped, stride: 8, skip: 1, num_rows: 3 };
    let mut from_rows = empty(&[3], 16);
    decode_rows(&encoding, rows, &mut from_rows).unwrap();
    assert_eq!(from_rows, list);
    assert_eq!(row_bytes(&encoding).unwrap(), 7);
    let mut row = vec![];
    encode_row(&encoding, &list, 2..3, &mut row).unwrap();
    assert_eq!(row, [7, 4, 0, 5, 0, 6, 0]);
}

#[test]
fn validity_is_filled_in_from_where_it_begins() {
    let with = encoding(&[(3, true)], Encoding::Flat { bits: 16 });
    let without = encoding(&[(3, false)], Encoding::Flat { bits: 16 });
    let mut list = empty(&[3], 16);
    decode_chunk(&without, &[&ITEMS], 3, &[0..1], &mut list).unwrap();
    assert_eq!(list.item_validity, None);
    decode_chunk(&with, &[&[0xc5, 1], &ITEMS], 3, &[0..1, 2..3], &mut list).unwrap();
    decode_chunk(&without, &[&ITEMS], 3, &[2..3], &mut list).unwrap();
    let validity = bits(list.item_validity.as_ref().unwrap());
    assert_eq!(validity, [1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1]);
    assert_eq!((list.len, numbers(&list).len()), (4, 12));
}

#[test]
fn nested_lists_round_trip() {
    let both = encoding(&[(2, true), (3, true)], Encoding::Flat { bits: 16 });
    assert_eq!(row_bytes(&both).unwrap(), 14);
    let floats = encoding(&[(2, true), (3, true)], Encoding::Flat { bits: 32 });
    assert_eq!(row_bytes(&floats).unwrap(), 26);
    let items: Vec<u8> = (0..60).collect();
    let buffers: [&[u8]; 3] = [&[0xd9, 2], &[0x5a, 0xc3, 0x99, 0x2f], &items];
    let mut list = empty(&[2, 3], 16);
    decode_chunk(&both, &buffers, 5, &[0..5], &mut list).unwrap();
    let mut out = [vec![], vec![], vec![]];
    encode_chunk(&both, &list, 0..5, &mut out).unwrap();
    assert_eq!(out.each_ref().map(Vec::as_slice)[2], buffers[2]);
    assert_eq!(out[0], [0xd9, 2]);
    assert_eq!(out[1], [0x5a, 0xc3, 0x99, 0x2f]);

    let mut rows = vec![];
    (0..5).for_each(|row| encode_row(&both, &list, row..row + 1, &mut rows).unwrap());
    let mut again = empty(&[2, 3], 16);
    let rows = RowParts { bytes: &rows, stride: 14, skip: 0, num_rows: 5 };
    decode_rows(&both, rows, &mut again).unwrap();
    assert_eq!(again, list);

    let mut picked = empty(&[2, 3], 16);
    decode_chunk(&both, &buffers, 5, &[1..2, 4..5], &mut picked).unwrap();
    let mut expected = Values::FixedSizeList(empty(&[2, 3], 16));
    let list = Values::FixedSizeList(list);
    expected.append_range(&list, 1..2).unwrap();
    expected.append_range(&list, 4..5).unwrap();
    assert_eq!(Values::FixedSizeList(picked), expected);
}

#[test]
fn booleans_are_continuous_in_chunks() {
    let encoding = encoding(&[(3, false)], Encoding::Flat { bits: 1 });
    let mut list = empty(&[3], 1);
    decode_chunk(&encoding, &[&[0b1101_0110, 1]], 3, &[1..3], &mut list).unwrap();
    assert_eq!(bits(numbers(&list)), [0, 1, 0, 1, 1, 1]);
    assert!(row_bytes(&encoding).is_err());
    let eight = self::encoding(&[(2, false), (4, false)], Encoding::Flat { bits: 1 });
    assert_eq!(row_bytes(&eight).unwrap(), 1);
    let rows = RowParts { bytes: &[9, 0xa5, 9, 0x0f], stride: 2, skip: 1, num_rows: 2 };
    let mut list = empty(&[2, 4], 1);
    decode_rows(&eight, rows, &mut list).unwrap();
    assert_eq!(numbers(&list).data(), [0xa5, 0x0f]);
}

#[test]
fn items_that_are_all_null() {
    let encoding = encoding(&[(3, true)], Encoding::Constant);
    assert_eq!(row_bytes(&encoding).unwrap(), 1);
    let mut list = empty(&[3], 16);
    let rows = RowParts { bytes: &[0, 0], stride: 1, skip: 0, num_rows: 2 };
    decode_rows(&encoding, rows, &mut list).unwrap();
    push_null_items(1, &mut list).unwrap();
    assert_eq!(bits(list.item_validity.as_ref().unwrap()), [0; 9]);
    assert_eq!((list.len, numbers(&list).len()), (3, 9));
    let mut row = vec![];
    encode_row(&encoding, &list, 1..2, &mut row).unwrap();
    assert_eq!(row, [0]);
}

#[test]
fn corrupt_lists() {
    let flat = || Encoding::Flat { bits: 16 };
    let with = encoding(&[(3, true)], flat());
    let mut list = empty(&[3], 16);
    let mut chunk = |encoding: &Encoding, buffers: &[&[u8]]| {
        decode_chunk(encoding, buffers, 3, &[0..3], &mut list).is_ok()
    };
    assert!(!chunk(&with, &[]));
    assert!(!chunk(&with, &[&ITEMS]));
    assert!(!chunk(&with, &[&[0, 0], &ITEMS[1..]]));
    assert!(!chunk(&with, &[&[0, 0, 0], &ITEMS]));
    assert!(!chunk(&with, &[&[0, 0], &ITEMS, &[]]));
    assert!(!chunk(&encoding(&[(2, false)], flat()), &[&ITEMS[..12]]));
    assert!(!chunk(&encoding(&[(3, false)], Encoding::Flat { bits: 8 }), &[&ITEMS[..9]]));
    assert!(!chunk(&encoding(&[(0, false)], flat()), &[&[]]));
    assert!(row_bytes(&encoding(&[(3, false)], Encoding::Constant)).is_err());
    assert!(row_bytes(&encoding(&[(3, false)], Encoding::Rle { bits: 8 })).is_err());
    assert!(row_bytes(&encoding(&[(1 << 40, true), (1 << 40, false)], flat())).is_err());
    let rows = RowParts { bytes: &[0; 20], stride: 7, skip: 0, num_rows: 3 };
    assert!(decode_rows(&with, rows, &mut empty(&[3], 16)).is_err());
}
