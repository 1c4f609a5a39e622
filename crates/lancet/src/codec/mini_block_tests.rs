use super::super::fsst::SymbolTable;
use super::super::{FixedValues, Scheme, VariableValues};
use super::*;

fn fixed(bits: u64, data: &[u8]) -> Values {
    let mut values = FixedValues::new(bits);
    values.append_flat(data, 0..data.len() * 8 / bits as usize).unwrap();
    Values::Fixed(values)
}

fn strings(count: usize) -> Values {
    let mut values = VariableValues::new(32);
    (0..count).for_each(|i| values.push("abc".repeat(i % 5).as_bytes()).unwrap());
    Values::Variable(values)
}

fn zstd(values: Encoding) -> Encoding {
    Encoding::General { scheme: Scheme::Zstd, level: None, values: Box::new(values) }
}

fn lz4(values: Encoding) -> Encoding {
    Encoding::General { scheme: Scheme::Lz4, level: None, values: Box::new(values) }
}

fn empty_like(values: &Values) -> Values {
    let mut empty = Values::new(&value_type(values));
    empty.append_range(values, 0..0).unwrap();
    empty
}

fn value_type(values: &Values) -> ValueType {
    match values {
        Values::Nothing { .. } => ValueType::Nothing,
        Values::Fixed(fixed) => ValueType::Fixed { bits: fixed.bits() },
        Values::Variable(variable) => ValueType::Variable { offset_bits: variable.offsets.bits() },
        Values::FixedSizeList(list) => ValueType::FixedSizeList {
            dimension: list.dimension,
            item: Box::new(value_type(&list.items)),
        },
        Values::Struct { children, .. } => {
            ValueType::Struct(children.iter().map(value_type).collect())
        }
    }
}

/// Encodes a part of `values` and reads it back: all of it, and what a few ranges pick.
fn round_trip(encoding: &Encoding, values: &Values, part: Range<usize>) {
    check(encoding, &value_type(values)).unwrap();
    let mut buffers = vec![vec![1, 2, 3]; 5];
    encode_chunk(encoding, values, part.clone(), &mut buffers).unwrap();
    assert_eq!(buffers.len(), encoding.num_buffers());
    let buffers: Vec<&[u8]> = buffers.iter().map(Vec::as_slice).collect();
    let n = part.len();
    let mut scratch = Scratch::new(1 << 20);
    for step in [1, 3, 50, 5000] {
        let ranges: Vec<_> = (0..n).step_by(step + 1).map(|i| i..(i + step).min(n)).collect();
        let mut expected = empty_like(values);
        let mut out = empty_like(values);
        for range in &ranges {
            let range = part.start + range.start..part.start + range.end;
            expected.append_range(values, range).unwrap();
        }
        decode_chunk(encoding, &buffers, n, &ranges, &mut out, &mut scratch).unwrap();
        assert_eq!(out, expected, "{encoding}, {n} values, steps of {step}");
    }
}

#[test]
fn every_encoding_round_trips() {
    let data: Vec<u8> = (0..1100_u64).flat_map(|i| (i / 7 * 31).to_le_bytes()).collect();
    let list = |items_per_value, has_validity, values| Encoding::FixedSizeList {
        items_per_value,
        has_validity,
        values: Box::new(values),
    };
    for n in [0, 1, 2, 1023, 1024] {
        let part = 5..5 + n;
        let numbers = fixed(64, &data);
        for encoding in [
            Encoding::Flat { bits: 64 },
            Encoding::InlineBitpacking { bits: 64 },
            Encoding::Rle { bits: 64 },
            Encoding::ByteStreamSplit { bits: 64 },
        ] {
            round_trip(&encoding, &numbers, part.clone());
            round_trip(&zstd(encoding.clone()), &numbers, part.clone());
            round_trip(&lz4(zstd(encoding)), &numbers, part.clone());
        }
        round_trip(&Encoding::Flat { bits: 1 }, &fixed(1, &data), part.clone());
        round_trip(&Encoding::Flat { bits: 24 }, &fixed(24, &data[..3300]), part.clone());

        let variable = Encoding::Variable { offset_bits: 32 };
        round_trip(&variable, &strings(1100), part.clone());
        round_trip(&lz4(variable.clone()), &strings(1100), part.clone());
        let fsst = Encoding::Fsst {
            table: SymbolTable::parse(&verbatim_table()).unwrap().into(),
            values: Box::new(variable),
        };
        round_trip(&fsst, &strings(1100), part.clone());
        round_trip(&zstd(fsst), &strings(1100), part.clone());

        let children = vec![fixed(64, &data), fixed(24, &data[..3300])];
        let rows = Values::Struct { len: 1100, children };
        let packed = Encoding::PackedStruct { field_bits: vec![64, 24] };
        round_trip(&packed, &rows, part.clone());
        round_trip(&zstd(packed), &rows, part.clone());

        let mut lists = Values::new(&ValueType::FixedSizeList {
            dimension: 2,
            item: Box::new(ValueType::Fixed { bits: 32 }),
        });
        let Values::FixedSizeList(values) = &mut lists else { panic!() };
        *values.items = fixed(32, &data);
        values.len = 1100;
        let flat = Encoding::Flat { bits: 32 };
        round_trip(&list(2, false, flat.clone()), &lists, part.clone());
        let Values::FixedSizeList(values) = &mut lists else { panic!() };
        let Values::Fixed(validity) = fixed(1, &data[..275]) else { panic!() };
        values.item_validity = Some(validity);
        round_trip(&list(2, true, flat.clone()), &lists, part.clone());
        round_trip(&zstd(list(2, true, flat)), &lists, part);
    }
}

fn verbatim_table() -> Vec<u8> {
    let mut table = b"\0\0\0\0TSSF".to_vec();
    table.resize(2312, 0);
    table
}

#[test]
fn coded_strings_are_decoded() {
    // Code 0 stands for "ab", code 1 for "c".
    let mut table = b"\x02\0\0\x01TSSFab\0\0\0\0\0\0c\0\0\0\0\0\0\0\x02\x01".to_vec();
    table.resize(2312, 0);
    let fsst = Encoding::Fsst {
        table: SymbolTable::parse(&table).unwrap().into(),
        values: Box::new(Encoding::Variable { offset_bits: 32 }),
    };
    let mut coded = VariableValues::new(32);
    [&[0, 1][..], &[], &[255, b'x', 1], &[0]].iter().for_each(|v| coded.push(v).unwrap());
    let mut buffers = vec![];
    encode_chunk(&fsst, &Values::Variable(coded), 0..4, &mut buffers).unwrap();
    let mut out = VariableValues::new(32);
    out.push(b"first").unwrap();
    let mut out = Values::Variable(out);
    let mut scratch = Scratch::new(8 * 28);
    let ranges = [0..2, 2..3, 3..4];
    decode_chunk(&fsst, &[&buffers[0]], 4, &ranges, &mut out, &mut scratch).unwrap();
    assert_eq!(scratch.claimed(), 7);
    let Values::Variable(out) = &mut out else { panic!() };
    let values: Vec<_> = (0..5).map(|i| out.value(i).unwrap()).collect();
    assert_eq!(values, [&b"first"[..], b"abc", b"", b"xc", b"ab"]);
    buffers[0][4] = 0xff;
    let mut out = Values::new(&ValueType::Variable { offset_bits: 32 });
    assert!(decode_chunk(&fsst, &[&buffers[0]], 4, &ranges, &mut out, &mut scratch).is_err());
}

#[test]
fn what_chunks_may_be() {
    let fixed = |bits| ValueType::Fixed { bits };
    let legal = |encoding: &Encoding, value_type: &ValueType| check(encoding, value_type).is_ok();
    for (bits, flat, words, split) in [
        (1, true, false, false),
        (4, false, false, false),
        (8, true, true, false),
        (16, true, true, false),
        (24, true, false, false),
        (32, true, true, true),
        (64, true, true, true),
        (128, true, false, false),
        (0, false, false, false),
    ] {
        assert_eq!(legal(&Encoding::Flat { bits }, &fixed(bits)), flat, "{bits}");
        assert_eq!(legal(&Encoding::InlineBitpacking { bits }, &fixed(bits)), words, "{bits}");
        assert_eq!(legal(&Encoding::Rle { bits }, &fixed(bits)), words, "{bits}");
        assert_eq!(legal(&Encoding::ByteStreamSplit { bits }, &fixed(bits)), split, "{bits}");
        assert_eq!(legal(&zstd(Encoding::Flat { bits }), &fixed(bits)), flat, "{bits}");
        assert!(!legal(&Encoding::Flat { bits }, &fixed(bits + 8)));
        assert!(!legal(&Encoding::Rle { bits }, &fixed(bits + 8)));
    }
    assert!(!legal(&Encoding::OutOfLineBitpacking { bits: 8, packed_bits: 1 }, &fixed(8)));
    assert!(!legal(&Encoding::Constant, &fixed(8)));
    let string = ValueType::Variable { offset_bits: 32 };
    assert!(legal(&Encoding::Variable { offset_bits: 32 }, &string));
    assert!(!legal(&Encoding::Variable { offset_bits: 64 }, &string));
    assert!(!legal(&Encoding::Flat { bits: 32 }, &string));
    let fsst = |values| Encoding::Fsst {
        table: SymbolTable::parse(&verbatim_table()).unwrap().into(),
        values: Box::new(values),
    };
    assert!(legal(&fsst(Encoding::Variable { offset_bits: 32 }), &string));
    assert!(!legal(&fsst(Encoding::Variable { offset_bits: 64 }), &string));
    assert!(!legal(&fsst(zstd(Encoding::Variable { offset_bits: 32 })), &string));

    let list = |items_per_value, values| Encoding::FixedSizeList {
        items_per_value,
        has_validity: true,
        values: Box::new(values),
    };
    let lists = ValueType::FixedSizeList { dimension: 2, item: Box::new(fixed(16)) };
    assert!(legal(&list(2, Encoding::Flat { bits: 16 }), &lists));
    assert!(!legal(&list(3, Encoding::Flat { bits: 16 }), &lists));
    assert!(!legal(&list(2, Encoding::Flat { bits: 32 }), &lists));
    assert!(!legal(&list(2, Encoding::Constant), &lists));
    assert!(!legal(&list(2, Encoding::Rle { bits: 16 }), &lists));
    assert!(!legal(&list(2, list(2, Encoding::Flat { bits: 16 })), &lists));
    let none = ValueType::FixedSizeList { dimension: 0, item: Box::new(fixed(16)) };
    assert!(!legal(&list(0, Encoding::Flat { bits: 16 }), &none));

    let packed = |field_bits: &[u64]| Encoding::PackedStruct { field_bits: field_bits.to_vec() };
    let rows = |bits: &[u64]| ValueType::Struct(bits.iter().map(|&b| fixed(b)).collect());
    assert!(legal(&packed(&[32, 16]), &rows(&[32, 16])));
    assert!(!legal(&packed(&[32, 16]), &rows(&[16, 32])));
    assert!(!legal(&packed(&[32]), &rows(&[32, 16])));
    assert!(!legal(&packed(&[1, 8]), &rows(&[1, 8])));
    assert!(!legal(&packed(&[]), &rows(&[])));
}

#[test]
fn a_compressed_chunk_claims_no_more_than_its_values_need() {
    let unit = |inner: &Encoding, values: &Values| {
        let mut out = vec![];
        encode_chunk(&zstd(inner.clone()), values, 0..values.len(), &mut out).unwrap();
        out.remove(0)
    };
    let flat = Encoding::Flat { bits: 64 };
    let zeros = unit(&flat, &fixed(64, &[0; 80_000]));
    let mut out = fixed(64, &[]);
    let decode = |encoding: &Encoding, unit: &[u8], n, limit, out: &mut Values| {
        decode_chunk(&zstd(encoding.clone()), &[unit], n, &[0..n], out, &mut Scratch::new(limit))
    };
    decode(&flat, &zeros, 10_000, 80_000, &mut out).unwrap();
    let error = decode(&flat, &zeros, 9_999, 80_000, &mut out).unwrap_err().to_string();
    assert!(error.contains("claims 80000 bytes, but its values need at most 79992"), "{error}");
    let error = decode(&flat, &zeros, 10_000, 79_999, &mut out).unwrap_err();
    assert!(matches!(error, Error::Limit { needed: 80_000, .. }), "{error}");

    let variable = Encoding::Variable { offset_bits: 32 };
    let text = unit(&variable, &strings(100));
    let mut out = empty_like(&strings(0));
    let error = decode(&variable, &text, 100, 500, &mut out).unwrap_err();
    assert!(matches!(error, Error::Limit { .. }), "{error}");
    // What was only needed on the way is handed back, what became values is not.
    let mut scratch = Scratch::new(2700);
    let zstd = zstd(variable);
    for _ in 0..100 {
        decode_chunk(&zstd, &[&text], 100, &[4..5], &mut out, &mut scratch).unwrap();
    }
    assert_eq!(scratch.claimed(), 100 * (4 + 12));
}

#[test]
fn buffers_and_types_must_fit_the_encoding() {
    let mut scratch = Scratch::new(1000);
    let mut decode = |encoding: &Encoding, buffers: &[&[u8]], out: &mut Values| {
        decode_chunk(encoding, buffers, 1, &[0..1], out, &mut scratch).is_ok()
    };
    let flat = Encoding::Flat { bits: 8 };
    assert!(decode(&flat, &[&[1]], &mut fixed(8, &[])));
    assert!(!decode(&flat, &[], &mut fixed(8, &[])));
    assert!(!decode(&flat, &[&[1], &[1]], &mut fixed(8, &[])));
    assert!(!decode(&flat, &[&[1]], &mut fixed(16, &[])));
    assert!(!decode(&flat, &[&[1]], &mut strings(0)));
    assert!(!decode(&Encoding::Rle { bits: 8 }, &[&[1]], &mut fixed(8, &[])));
    assert!(!decode(&zstd(flat), &[], &mut fixed(8, &[])));
    assert!(!decode(&Encoding::Constant, &[], &mut fixed(8, &[])));
}
