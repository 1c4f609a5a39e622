//! Random values and random bytes: what is encoded comes back, and no bytes make a decoder panic.

use crate::support::{self, Encoding, PAIRS, Type, Values};
use lancet_parquet::delta_binary_packed::{self, Decoder, Layout};
use lancet_parquet::plain::Int96;
use lancet_parquet::{ByteArrays, ByteArraysRef, Rule, delta_byte_array, delta_length_byte_array};
use proptest::collection::vec;
use proptest::prelude::*;

/// Numbers that lie close together, far apart, and at the ends of the type.
fn int64s() -> impl Strategy<Value = Vec<i64>> {
    let edges = prop_oneof![Just(i64::MIN), Just(i64::MAX), Just(0), Just(-1), any::<i64>()];
    prop_oneof![
        vec(edges, 0..700),
        vec(-100..100_i64, 0..700),
        (any::<i64>(), vec(0..50_i64, 0..700)).prop_map(|(start, steps)| {
            steps
                .iter()
                .scan(start, |at, step| Some(std::mem::replace(at, at.wrapping_add(*step))))
                .collect()
        }),
        (0..64_u32, vec(any::<i64>(), 0..300))
            .prop_map(|(shift, values)| values.iter().map(|value| value >> shift).collect()),
    ]
}

fn int32s() -> impl Strategy<Value = Vec<i32>> {
    let edges = prop_oneof![Just(i32::MIN), Just(i32::MAX), Just(0), Just(-1), any::<i32>()];
    prop_oneof![
        vec(edges, 0..700),
        (0..32_u32, vec(any::<i32>(), 0..300))
            .prop_map(|(shift, values)| values.iter().map(|value| value >> shift).collect()),
    ]
}

/// Values of few letters share prefixes.
fn byte_arrays() -> impl Strategy<Value = ByteArrays> {
    let short = vec(prop_oneof![Just(b'a'), Just(b'b')], 0..40);
    let value = prop_oneof![8 => short, 1 => vec(any::<u8>(), 0..100), 1 => Just(vec![])];
    let values = prop_oneof![4 => vec(value, 0..300), 1 => vec(vec(any::<u8>(), 0..300), 0..30)];
    values.prop_map(|values| values.iter().map(Vec::as_slice).collect())
}

fn values(physical: Type) -> BoxedStrategy<Values> {
    match physical {
        Type::Boolean => vec(any::<bool>(), 0..200).prop_map(Values::Boolean).boxed(),
        Type::Int32 => int32s().prop_map(Values::Int32).boxed(),
        Type::Int64 => int64s().prop_map(Values::Int64).boxed(),
        Type::Int96 => {
            vec(any::<[u8; 12]>().prop_map(Int96), 0..50).prop_map(Values::Int96).boxed()
        }
        Type::Float => vec(any::<u32>(), 0..100).prop_map(Values::Float).boxed(),
        Type::Double => vec(any::<u64>(), 0..100).prop_map(Values::Double).boxed(),
        Type::ByteArray => byte_arrays().prop_map(Values::ByteArray).boxed(),
        Type::FixedLen(len) => vec(0..3_u8, 0..300)
            .prop_map(move |mut bytes| {
                bytes.truncate(bytes.len() / len * len);
                Values::FixedLen(len, bytes)
            })
            .boxed(),
    }
}

fn pages() -> impl Strategy<Value = (Encoding, Type, Values)> {
    proptest::sample::select(PAIRS.as_slice())
        .prop_flat_map(|(encoding, physical)| (Just(encoding), Just(physical), values(physical)))
}

fn layouts() -> impl Strategy<Value = Layout> {
    (1..6_u32, 1..20_u32).prop_filter_map("a layout that is not legal", |(minis, groups)| {
        Layout::new(32 * minis * groups, minis)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn values_come_back((encoding, physical, values) in pages(), ends in any::<(u16, u16)>()) {
        let page = support::encode(encoding, &values);
        let raw = values.raw();
        let (again, taken) = support::decode(encoding, physical, raw.len(), &page).unwrap();
        prop_assert_eq!(&again, &values);
        prop_assert_eq!(taken, page.len());

        let (a, b) = (usize::from(ends.0) % (raw.len() + 1), usize::from(ends.1) % (raw.len() + 1));
        let range = a.min(b)..a.max(b);
        let some = support::decode_range(encoding, physical, raw.len(), range.clone(), &page).unwrap();
        prop_assert_eq!(some.raw(), &raw[range]);
    }

    #[test]
    fn every_layout_comes_back(layout in layouts(), values in int64s(), narrow in int32s()) {
        let mut page = vec![];
        delta_binary_packed::encode_with(layout, &values, &mut page);
        let mut again = vec![0; values.len()];
        prop_assert_eq!(delta_binary_packed::decode(&page, &mut again), Ok(page.len()));
        prop_assert_eq!(again, values);

        let mut page = vec![];
        delta_binary_packed::encode_with(layout, &narrow, &mut page);
        let mut again = vec![0; narrow.len()];
        prop_assert_eq!(delta_binary_packed::decode(&page, &mut again), Ok(page.len()));
        prop_assert_eq!(again, narrow);
    }

    /// Any way to cut a stream into reads and skips gives the same values.
    #[test]
    fn steps_of_any_size(layout in layouts(), values in int64s(), steps in vec((any::<bool>(), 0..90_usize), 1..40)) {
        let mut page = vec![];
        delta_binary_packed::encode_with(layout, &values, &mut page);
        let mut decoder = Decoder::<i64>::new(&page, values.len()).unwrap();
        let mut at = 0;
        for (skip, len) in steps {
            let len = len.min(values.len() - at);
            if skip {
                decoder.skip(len).unwrap();
            } else {
                let mut some = vec![0; len];
                decoder.read(&mut some).unwrap();
                prop_assert_eq!(&some, &values[at..at + len]);
            }
            at += len;
        }
        prop_assert_eq!(decoder.finish(), Ok(page.len()));
    }

    #[test]
    fn changed_bytes_do_not_panic(
        (encoding, physical, values) in pages(),
        changes in vec(any::<(u16, u8)>(), 1..6),
        cut in any::<u16>(),
        count in prop_oneof![Just(None), (0..1000_usize).prop_map(Some)],
        ends in (0..800_usize, 0..800_usize),
    ) {
        let mut page = support::encode(encoding, &values);
        for (at, byte) in changes {
            // Most rules are checked in the first bytes.
            let at = if byte % 2 == 0 { usize::from(at) % 16 } else { usize::from(at) };
            if let Some(place) = page.get_mut(at) {
                *place = byte;
            }
        }
        if cut % 3 == 0 {
            page.truncate(usize::from(cut) / 3 % (page.len() + 1));
        }
        let count = count.unwrap_or(values.raw().len());
        if let Err(error) = support::decode(encoding, physical, count, &page) {
            prop_assert!(error.offset <= page.len(), "{}", error);
        }
        let _ = support::decode_range(encoding, physical, count, ends.0..ends.1, &page);
    }

    #[test]
    fn random_bytes_do_not_panic(page in vec(any::<u8>(), 0..200), count in 0..500_usize) {
        for (encoding, physical) in PAIRS {
            if let Err(error) = support::decode(encoding, physical, count, &page) {
                prop_assert!(error.offset <= page.len(), "{}", error);
            }
        }
        // The same behind a header that is fine.
        let mut stream = vec![0x80, 1, 4];
        delta_count(count, &mut stream);
        stream.extend_from_slice(&page);
        for (encoding, physical) in PAIRS {
            let _ = support::decode(encoding, physical, count, &stream);
        }
    }
}

fn delta_count(count: usize, out: &mut Vec<u8>) {
    out.extend([0x80 | (count & 0x7f) as u8, (count >> 7) as u8]);
}

#[test]
fn a_million_values() {
    let values: Vec<i64> = (0..1_000_000_i64)
        .map(|i| i.wrapping_mul(i).wrapping_mul(0x9e37_79b9) >> (i % 60))
        .collect();
    let mut page = vec![];
    delta_binary_packed::encode(&values, &mut page);
    let mut again = vec![0; values.len()];
    assert_eq!(delta_binary_packed::decode(&page, &mut again), Ok(page.len()));
    assert!(again == values);

    let texts: Vec<String> = values.iter().map(|value| format!("{:x}", value & 0xfffff)).collect();
    let arrays: ByteArrays = texts.iter().map(String::as_bytes).collect();
    for encoding in [Encoding::Plain, Encoding::DeltaLengthByteArray, Encoding::DeltaByteArray] {
        let page = support::encode(encoding, &Values::ByteArray(arrays.clone()));
        let (again, _) = support::decode(encoding, Type::ByteArray, texts.len(), &page).unwrap();
        assert!(again == Values::ByteArray(arrays.clone()), "{encoding:?}");
    }
}

/// A short page can say very large values; the caller's limit is kept before anything is allocated.
#[test]
fn the_limit_of_shared_prefixes_holds() {
    let long = vec![b'x'; 10_000];
    let values: ByteArrays = std::iter::repeat_n(long.as_slice(), 1000).collect();
    let mut page = vec![];
    delta_byte_array::encode(values.view(), &mut page);
    assert!(page.len() < 11_000);
    let mut out = ByteArrays::new();
    out.push(b"before").unwrap();
    let error = delta_byte_array::decode(&page, 1000, 9_999_999, &mut out).unwrap_err();
    assert_eq!((error.rule, out.len()), (Rule::Size, 1));
    delta_byte_array::decode(&page, 1000, 10_000_000, &mut out).unwrap();
    assert_eq!(out.len(), 1001);
    assert_eq!(out.get(1000), Some(long.as_slice()));
}

/// Decoders append, and an error leaves what was there.
#[test]
fn pages_are_appended() {
    let values: ByteArrays = [&b"one"[..], b"", b"three"].into_iter().collect();
    for encoding in [Encoding::Plain, Encoding::DeltaLengthByteArray, Encoding::DeltaByteArray] {
        let page = support::encode(encoding, &Values::ByteArray(values.clone()));
        let decode = |page: &[u8], out: &mut ByteArrays| match encoding {
            Encoding::Plain => lancet_parquet::plain::decode_byte_arrays(page, 3, out),
            Encoding::DeltaLengthByteArray => delta_length_byte_array::decode(page, 3, out),
            _ => delta_byte_array::decode(page, 3, 100, out),
        };
        let mut out = ByteArrays::new();
        decode(&page, &mut out).unwrap();
        decode(&page[..page.len() - 1], &mut out).unwrap_err();
        decode(&page, &mut out).unwrap();
        let texts: Vec<&[u8]> = out.iter().collect();
        assert_eq!(texts, [&b"one"[..], b"", b"three", b"one", b"", b"three"], "{encoding:?}");
    }
}

#[test]
fn views_of_other_buffers_are_checked() {
    assert!(ByteArraysRef::new(&[], b"").is_none());
    assert!(ByteArraysRef::new(&[-1, 2], b"abc").is_none());
    assert!(ByteArraysRef::new(&[2, 1], b"abc").is_none());
    assert!(ByteArraysRef::new(&[0, 4], b"abc").is_none());
    let view = ByteArraysRef::new(&[1, 1, 3], b"abc").unwrap();
    assert_eq!(view.iter().collect::<Vec<_>>(), [&b""[..], b"bc"]);
    let mut page = vec![];
    delta_length_byte_array::encode(view, &mut page);
    assert_eq!(page, b"\x80\x01\x04\x02\0\x04\0\0\0\0bc");
}
