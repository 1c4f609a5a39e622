use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, UInt32Type};
use arrow_array::{BooleanArray, Int32Array};
use arrow_schema::DataType;

use super::*;

fn hex(text: &str) -> Vec<u8> {
    text.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect()
}

#[test]
fn the_example_byte_for_byte() {
    let mut zones = Gatherer::new(&DataType::Int32, 4, 64).unwrap();
    let rows = [Some(5), None, Some(2), Some(9), None, None, None, None, Some(7), Some(7)];
    for part in [&rows[..3], &rows[3..9], &rows[9..]] {
        let part: ArrayRef = Arc::new(Int32Array::from(part.to_vec()));
        zones.push(&part, part.nulls()).unwrap();
    }
    let columns = zones.finish().unwrap();
    assert_eq!(
        columns[0].as_primitive::<Int32Type>(),
        &Int32Array::from(vec![Some(2), None, Some(7)])
    );
    assert_eq!(columns[3].as_primitive::<UInt32Type>().values(), &[0, 0, 0]);
    assert_eq!(columns[4].as_boolean(), &BooleanArray::from(vec![true; 3]));

    let file = encode_columns(&columns[..3]).unwrap();
    assert_eq!(file.len(), 465);
    let data = "05 02 00 00 00 00 00 00 00 07 00 00 00 05 09 00 00 00 00 00 00 00 07 00 00 00 \
                01 00 00 00 04 00 00 00 00 00 00 00";
    assert_eq!(file[..0x26], hex(data));
    let table = "26 00 00 00 00 00 00 00 75 00 00 00 00 00 00 00 \
                 9b 00 00 00 00 00 00 00 75 00 00 00 00 00 00 00 \
                 10 01 00 00 00 00 00 00 69 00 00 00 00 00 00 00";
    assert_eq!(file[0x179..0x1a9], hex(table));
    let footer = "26 00 00 00 00 00 00 00 79 01 00 00 00 00 00 00 a9 01 00 00 00 00 00 00 \
                  00 00 00 00 03 00 00 00 02 00 00 00 4c 41 4e 43";
    assert_eq!(file[0x1a9..], hex(footer));
    // Metadata of the second column: `values`, one page of 3 rows at bytes 13 and 14.
    let mut second = hex("0a 29 12 27 0a 25 0a 1f");
    second.extend_from_slice(b"/lance.encodings.ColumnEncoding");
    second.extend(hex("12 02 0a 00 12 48 0a 02 0d 0e 12 02 01 0c 18 03 22 3c 12 3a 0a 38 0a 1e"));
    second.extend_from_slice(b"/lance.encodings.ArrayEncoding");
    second.extend(hex("12 16 12 14 12 12 0a 06 0a 04 08 01 12 00 12 08 0a 06 08 20 12 02 08 01"));
    assert_eq!(file[0x9b..0x110], second);
}

/// What is gathered of `count` zones of one row.
fn gathered(count: i32) -> Gatherer {
    let mut zones = Gatherer::new(&DataType::Int32, 1, 64).unwrap();
    let rows: ArrayRef = Arc::new(Int32Array::from_iter_values(0..count));
    zones.push(&rows, None).unwrap();
    zones
}

#[test]
fn a_map_is_written_where_it_is_small_beside_its_column() {
    let map = encode(Some(gathered(9)), u64::MAX, 0).unwrap().unwrap();
    let bytes = map.len() as u64;
    assert!(bytes > LEAST_BYTES);
    let is_written =
        |stored, num_rows| encode(Some(gathered(9)), stored, num_rows).unwrap().is_some();
    assert!(is_written(bytes * 50, 0));
    assert!(!is_written(bytes * 50 - 1, 0));
    assert!(is_written(0, bytes * 64));
    assert!(!is_written(0, bytes * 64 - 1));
    // Fewer bytes than any map has are not even tried.
    assert!(!is_written(LEAST_BYTES * 50 - 1, 0));
    assert_eq!(encode(None, u64::MAX, u64::MAX).unwrap(), None);
    assert_eq!(encode(Some(gathered(0)), u64::MAX, 0).unwrap(), None, "there are no zones");
}

#[test]
fn the_same_zones_give_the_same_bytes() {
    let map = || encode(Some(gathered(1000)), u64::MAX, 0).unwrap();
    assert_eq!(map(), map());
}
