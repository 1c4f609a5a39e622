use super::super::{FixedValues, Scheme, VariableValues};
use super::*;

fn general(scheme: Scheme, values: Encoding) -> Encoding {
    Encoding::General { scheme, level: None, values: Box::new(values) }
}

fn fixed(bits: u64, data: &[u8]) -> Values {
    let mut values = FixedValues::new(bits);
    values.append_flat(data, 0..data.len() * 8 / bits as usize).unwrap();
    Values::Fixed(values)
}

#[test]
fn levels_round_trip_in_every_encoding() {
    for n in [0, 1, 2, 64, 1023, 1024, 1025, 1127, 5000] {
        let levels: Vec<u16> = (0..n).map(|i| u16::from(i / 10 % 3 == 1) * 3).collect();
        let mut encodings = vec![
            Encoding::Flat { bits: 16 },
            Encoding::OutOfLineBitpacking { bits: 16, packed_bits: 2 },
            Encoding::Rle { bits: 16 },
        ];
        if n <= 1024 {
            encodings.push(Encoding::InlineBitpacking { bits: 16 });
        }
        for encoding in encodings {
            let compressed = [Scheme::Lz4, Scheme::Zstd].map(|s| general(s, encoding.clone()));
            for encoding in [&encoding, &compressed[0], &compressed[1]] {
                check(encoding, &ValueType::Fixed { bits: 16 }).unwrap();
                let mut bytes = vec![];
                encode_levels(encoding, &levels, &mut bytes).unwrap();
                let mut out = Planes::from([7].as_slice());
                let mut scratch = Scratch::new(20_000);
                decode_levels(encoding, &bytes, levels.len(), &mut out, &mut scratch).unwrap();
                assert_eq!(out.get(0), 7);
                assert!(out.iter(1..usize::MAX).eq(levels.iter().copied()), "{encoding}, {n}");
                assert_eq!(scratch.claimed(), 0);
            }
        }
    }
}

#[test]
fn the_run_lengths_of_the_specification() {
    let rle = Encoding::Rle { bits: 16 };
    let mut bytes = vec![];
    encode_levels(&rle, &[0; 1024], &mut bytes).unwrap();
    let expected = [&[10, 0, 0, 0, 0, 0, 0, 0][..], &[0; 10], &[255, 255, 255, 255, 4]].concat();
    assert_eq!(bytes, expected);
    let mut out = Planes::default();
    decode_levels(&rle, &bytes, 1024, &mut out, &mut Scratch::new(0)).unwrap();
    assert!(out.iter(0..usize::MAX).eq([0; 1024]));
    assert!(decode_levels(&rle, &bytes, 1023, &mut out, &mut Scratch::new(0)).is_err());
}

#[test]
fn level_counts_that_lost_their_high_bits() {
    let rle = Encoding::Rle { bits: 16 };
    let count = |levels: usize, said: u16| {
        let mut bytes = vec![];
        encode_levels(&rle, &vec![1; levels], &mut bytes).unwrap();
        num_levels(&rle, &bytes, said).ok()
    };
    assert_eq!(count(1000, 1000), Some(1000));
    assert_eq!(count(1000, 1001), None);
    assert_eq!(count(1000, 999), None);
    assert_eq!(count(65_536 + 1000, 1000), Some(66_536));
    assert_eq!(count(65_536, 0), Some(65_536));
    assert_eq!(count(65_536 + 1000, 1001), None);
    assert_eq!(count(5_569_710, (5_569_710 % 65_536) as u16), Some(5_569_710));
    assert_eq!(count(84 * 65_536 + 65_535, 65_535), None);
    assert_eq!(num_levels(&Encoding::Flat { bits: 16 }, &[], 5).unwrap(), 5);
    assert!(num_levels(&rle, &[0; 7], 5).is_err());
}

#[test]
fn dictionaries_round_trip() {
    let mut strings = VariableValues::new(64);
    ["red", "", "green"].iter().for_each(|s| strings.push(s.as_bytes()).unwrap());
    let variable = Encoding::Variable { offset_bits: 64 };
    let numbers: Vec<u8> = (0..2000_u64).flat_map(|i| (i / 3).to_le_bytes()).collect();
    let list = Encoding::FixedSizeList {
        items_per_value: 2,
        has_validity: true,
        values: Box::new(Encoding::Flat { bits: 8 }),
    };
    let item = Box::new(ValueType::Fixed { bits: 8 });
    let list_type = ValueType::FixedSizeList { dimension: 2, item };
    let rows = [0b01, 5, 0, 0b11, 6, 7];
    let lists = decode_block(&list, &rows, 2, &list_type, &mut Scratch::new(0)).unwrap();
    assert_eq!(encode_block(&list, &lists).unwrap(), rows);
    for (encoding, values, value_type) in [
        (variable.clone(), Values::Variable(strings), ValueType::Variable { offset_bits: 64 }),
        (Encoding::Flat { bits: 128 }, fixed(128, &numbers), ValueType::Fixed { bits: 128 }),
        (Encoding::Flat { bits: 1 }, fixed(1, &numbers), ValueType::Fixed { bits: 1 }),
        (
            Encoding::OutOfLineBitpacking { bits: 64, packed_bits: 10 },
            fixed(64, &numbers),
            ValueType::Fixed { bits: 64 },
        ),
        (
            Encoding::InlineBitpacking { bits: 64 },
            fixed(64, &numbers[..8000]),
            ValueType::Fixed { bits: 64 },
        ),
        (Encoding::Rle { bits: 64 }, fixed(64, &numbers), ValueType::Fixed { bits: 64 }),
        (list, lists, list_type),
    ] {
        for encoding in [encoding.clone(), general(Scheme::Lz4, encoding)] {
            check(&encoding, &value_type).unwrap();
            let bytes = encode_block(&encoding, &values).unwrap();
            let mut scratch = Scratch::new(1 << 20);
            let decode = |n: usize, bytes: &[u8], scratch: &mut Scratch| {
                decode_block(&encoding, bytes, n, &value_type, scratch)
            };
            assert_eq!(decode(values.len(), &bytes, &mut scratch).unwrap(), values, "{encoding}");
            assert!(decode(values.len(), &bytes[1..], &mut scratch).is_err(), "{encoding}");
            assert!(decode(usize::MAX, &bytes, &mut scratch).is_err(), "{encoding}");
        }
    }
}

#[test]
fn what_blocks_may_be() {
    let numbers = ValueType::Fixed { bits: 32 };
    let legal = |encoding: &Encoding, value_type: &ValueType| check(encoding, value_type).is_ok();
    assert!(legal(&Encoding::Flat { bits: 32 }, &numbers));
    assert!(legal(&Encoding::InlineBitpacking { bits: 32 }, &numbers));
    assert!(legal(&Encoding::Rle { bits: 32 }, &numbers));
    assert!(legal(&Encoding::OutOfLineBitpacking { bits: 32, packed_bits: 32 }, &numbers));
    assert!(!legal(&Encoding::OutOfLineBitpacking { bits: 32, packed_bits: 33 }, &numbers));
    assert!(!legal(&Encoding::OutOfLineBitpacking { bits: 24, packed_bits: 1 }, &numbers));
    assert!(!legal(&Encoding::ByteStreamSplit { bits: 32 }, &numbers));
    assert!(!legal(&Encoding::Constant, &numbers));
    assert!(!legal(&Encoding::PackedStruct { field_bits: vec![32] }, &numbers));
    let string = ValueType::Variable { offset_bits: 32 };
    assert!(legal(&general(Scheme::Zstd, Encoding::Variable { offset_bits: 32 }), &string));
    assert!(!legal(&Encoding::Variable { offset_bits: 64 }, &string));
    let mut out = Planes::default();
    let flat = Encoding::Flat { bits: 32 };
    assert!(decode_levels(&flat, &[0; 4], 1, &mut out, &mut Scratch::new(0)).is_err());
    let levels = Encoding::Flat { bits: 16 };
    assert!(decode_levels(&levels, &[0; 4], 1, &mut out, &mut Scratch::new(0)).is_err());
    assert!(encode_levels(&flat, &[1], &mut vec![]).is_err());
}
