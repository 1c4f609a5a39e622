//! One broken page for each rule: the error names it and its place.

use crate::support::{self, Encoding, Type};
use lancet_parquet::{ByteArrays, Rule, delta_byte_array};

const INT32: (Encoding, Type) = (Encoding::DeltaBinaryPacked, Type::Int32);
const INT64: (Encoding, Type) = (Encoding::DeltaBinaryPacked, Type::Int64);
const LENGTHS: (Encoding, Type) = (Encoding::DeltaLengthByteArray, Type::ByteArray);
const SHARED: (Encoding, Type) = (Encoding::DeltaByteArray, Type::ByteArray);

#[track_caller]
fn refuses(page: (Encoding, Type), count: usize, bytes: &[u8], rule: Rule, offset: usize) {
    let error = support::decode(page.0, page.1, count, bytes).unwrap_err();
    assert_eq!((error.rule, error.offset), (rule, offset), "{error}");
}

#[test]
fn headers() {
    refuses(INT32, 5, &[], Rule::Complete, 0);
    refuses(INT32, 5, &[0x80, 1, 4], Rule::Complete, 3);
    refuses(INT32, 5, &[0, 1, 5, 2], Rule::BlockSize, 0);
    refuses(INT32, 5, &[8, 1, 5, 2], Rule::BlockSize, 0);
    refuses(INT32, 5, &[0x80, 1, 0, 5, 2], Rule::MiniblockCount, 0);
    refuses(INT32, 5, &[0x80, 1, 3, 5, 2], Rule::MiniblockCount, 0);
    refuses(INT32, 5, &[0x80, 1, 8, 5, 2], Rule::MiniblockCount, 0);
    refuses(INT32, 5, &[0x80, 1, 4, 4, 2], Rule::ValueCount, 0);
    refuses(INT32, 5, &[0x80, 1, 4, 6, 2], Rule::ValueCount, 0);
    // 2^31 does not fit; the varint of the same value fits INT64.
    refuses(INT32, 1, &[0x80, 1, 4, 1, 0x80, 0x80, 0x80, 0x80, 16], Rule::IntegerRange, 4);
    assert!(
        support::decode(INT64.0, INT64.1, 1, &[0x80, 1, 4, 1, 0x80, 0x80, 0x80, 0x80, 16]).is_ok()
    );
    refuses(
        INT64,
        1,
        &[0x80, 1, 4, 1, 255, 255, 255, 255, 255, 255, 255, 255, 255, 2],
        Rule::Varint,
        4,
    );
}

#[test]
fn blocks() {
    let page = |width: u8, data: usize| {
        let mut bytes = vec![0x80, 1, 4, 2, 0, 0, width, 0, 0, 0];
        bytes.resize(10 + data, 0);
        bytes
    };
    refuses(INT32, 2, &page(33, 33 * 4), Rule::BitWidth, 6);
    refuses(INT64, 2, &page(65, 65 * 4), Rule::BitWidth, 6);
    refuses(INT32, 2, &page(2, 7), Rule::Complete, 10);
    assert!(support::decode(INT32.0, INT32.1, 2, &page(32, 128)).is_ok());
    assert!(support::decode(INT64.0, INT64.1, 2, &page(64, 256)).is_ok());
    refuses(INT32, 2, &[0x80, 1, 4, 2, 0, 0, 0, 0, 0], Rule::Complete, 5);
    // A minimum delta of 2^31.
    refuses(
        INT32,
        2,
        &[0x80, 1, 4, 2, 0, 0x80, 0x80, 0x80, 0x80, 16, 0, 0, 0, 0],
        Rule::IntegerRange,
        5,
    );
    // So many values that their blocks cannot be there; nothing is allocated for them.
    let many = [0x80, 1, 4, 0x80, 0x80, 0x80, 0x80, 4, 0, 0, 0, 0, 0, 0];
    let mut out = ByteArrays::new();
    let error = delta_byte_array::decode(&many, 1 << 30, usize::MAX, &mut out).unwrap_err();
    assert_eq!(error.rule, Rule::Complete);
}

#[test]
fn lengths() {
    // Lengths 1 and -1.
    refuses(LENGTHS, 2, b"\x80\x01\x04\x02\x02\x03\0\0\0\0ab", Rule::Length, 0);
    refuses(LENGTHS, 1, b"\x80\x01\x04\x01\x01ab", Rule::Length, 0);
    refuses(LENGTHS, 1, b"\x80\x01\x04\x01\x06ab", Rule::Complete, 5);
    let plain = (Encoding::Plain, Type::ByteArray);
    refuses(plain, 1, &[0, 0, 0, 128, 1], Rule::Length, 0);
    refuses(plain, 2, &[1, 0, 0, 0, 7, 2, 0, 0, 0, 9], Rule::Complete, 5);
    refuses(plain, 1 << 40, &[1, 0, 0, 0, 7], Rule::Complete, 5);
    refuses((Encoding::Plain, Type::Boolean), 9, &[1], Rule::Complete, 1);
}

#[test]
fn prefixes() {
    let page = |prefix: &[u8], suffix: &[u8], bytes: &[u8]| {
        let stream = |numbers: &[u8]| [&[0x80, 1, 4], numbers].concat();
        [stream(prefix), stream(suffix), bytes.to_vec()].concat()
    };
    // One value; its prefix is 1, its suffix 2.
    refuses(SHARED, 1, &page(&[1, 2], &[1, 4], b"ab"), Rule::Prefix, 0);
    refuses(SHARED, 1, &page(&[1, 1], &[1, 4], b"ab"), Rule::Prefix, 0);
    refuses(SHARED, 1, &page(&[1, 0], &[1, 3], b"ab"), Rule::Length, 5);
    refuses(SHARED, 1, &page(&[1, 0], &[2, 4, 0, 0, 0, 0, 0], b"abcd"), Rule::ValueCount, 5);
    refuses(SHARED, 1, &page(&[1, 0], &[1, 4], b"a"), Rule::Complete, 10);
    let fixed = (Encoding::DeltaByteArray, Type::FixedLen(3));
    refuses(fixed, 1, &page(&[1, 0], &[1, 4], b"ab"), Rule::FixedLength, 10);
    assert!(support::decode(SHARED.0, SHARED.1, 1, &page(&[1, 0], &[1, 4], b"ab")).is_ok());
}

#[test]
fn values_of_fixed_length_are_whole() {
    for (values, len) in [(&b"abcd"[..], 3), (b"abcd", 0), (b"", 0)] {
        let error = delta_byte_array::encode_fixed_len(values, len, &mut vec![]).unwrap_err();
        assert_eq!(error.rule, Rule::FixedLength);
    }
}
