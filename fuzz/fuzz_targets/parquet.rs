//! The Parquet value encodings: any bytes decode to an error or to values, a range of them to the
//! same values, and values that are encoded again decode to themselves.
#![no_main]

use lancet_parquet::{
    ByteArrays, Integer, delta_binary_packed, delta_byte_array, delta_length_byte_array, plain,
};

const MAX_BYTES: usize = 1 << 20;

fn packed<T: Integer + Default + Copy + PartialEq + std::fmt::Debug>(bytes: &[u8], count: usize) {
    let mut values = vec![T::default(); count];
    if delta_binary_packed::decode(bytes, &mut values).is_err() {
        return;
    }
    let range = count / 3..count / 2;
    let mut some = vec![T::default(); range.len()];
    delta_binary_packed::decode_range(bytes, count, range.start, &mut some).unwrap();
    assert_eq!(some, values[range]);
    let mut page = Vec::new();
    delta_binary_packed::encode(&values, &mut page);
    let mut again = vec![T::default(); count];
    assert_eq!(delta_binary_packed::decode(&page, &mut again), Ok(page.len()));
    assert_eq!(again, values);
}

fn byte_arrays(bytes: &[u8], count: usize, kind: u8) {
    let decode = |bytes: &[u8], out: &mut ByteArrays| match kind % 3 {
        0 => plain::decode_byte_arrays(bytes, count, out),
        1 => delta_length_byte_array::decode(bytes, count, out),
        _ => delta_byte_array::decode(bytes, count, MAX_BYTES, out),
    };
    let mut values = ByteArrays::new();
    if decode(bytes, &mut values).is_err() {
        assert!(values.is_empty());
        return;
    }
    assert_eq!(values.len(), count);
    let range = count / 3..count / 2;
    let mut some = ByteArrays::new();
    match kind % 3 {
        0 => plain::decode_byte_arrays_range(bytes, range.clone(), &mut some),
        1 => delta_length_byte_array::decode_range(bytes, count, range.clone(), &mut some),
        _ => delta_byte_array::decode_range(bytes, count, range.clone(), MAX_BYTES, &mut some),
    }
    .unwrap();
    assert!(some.iter().eq(values.iter().skip(range.start).take(range.len())));
    let mut page = Vec::new();
    match kind % 3 {
        0 => plain::encode_byte_arrays(values.view(), &mut page),
        1 => delta_length_byte_array::encode(values.view(), &mut page),
        _ => delta_byte_array::encode(values.view(), &mut page),
    }
    let mut again = ByteArrays::new();
    assert_eq!(decode(&page, &mut again), Ok(page.len()));
    assert_eq!(again, values);
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((&[kind, low, high], page)) = bytes.split_first_chunk::<3>() else { return };
    let count = usize::from(u16::from_le_bytes([low, high]));
    match kind % 6 {
        0 => packed::<i32>(page, count),
        1 => packed::<i64>(page, count),
        2 => {
            let len = usize::from(kind / 6);
            let _ = plain::decode_fixed_len(page, len, count);
            let mut out = Vec::new();
            let _ = delta_byte_array::decode_fixed_len(page, count, len, &mut out);
        }
        kind => byte_arrays(page, count, kind),
    }
});
