//! The golden vectors: pages of other writers and hand-made ones, with the values they hold.
//!
//! A part of them is kept here (`golden/`) and always runs; all of them run where they lie beside the
//! repository.

use std::path::{Path, PathBuf};

use crate::support::{self, Encoding, Type};
use lancet_parquet::delta_binary_packed;
use serde_json::Value;

struct Vector {
    name: String,
    encoding: Encoding,
    physical: Type,
    count: usize,
    expect: String,
    page: Vec<u8>,
    /// The values as bytes, as `support::Values::raw` gives them; none for pages to refuse.
    values: Vec<Vec<u8>>,
}

#[test]
fn kept_vectors() {
    assert_eq!(all(&kept()), 38);
}

#[test]
fn shared_vectors() {
    match shared() {
        Some(folder) => assert_eq!(all(&folder), 95),
        None => {
            println!("the whole corpus is not here; only the vectors kept in the repository run")
        }
    }
}

/// Checks the vectors of a folder; returns how many there are.
fn all(folder: &Path) -> usize {
    let vectors = vectors(folder);
    for vector in &vectors {
        match vector.expect.as_str() {
            "ok" => {
                whole(vector);
                ranges(vector);
                encoded_again(vector);
            }
            "error" => refused(vector),
            "either" => with_64_bits(vector),
            other => panic!("{}: expect {other}", vector.name),
        }
        cut(vector);
    }
    vectors.len()
}

fn whole(v: &Vector) {
    let (values, taken) = support::decode(v.encoding, v.physical, v.count, &v.page)
        .unwrap_or_else(|error| panic!("{}: {error}", v.name));
    assert!(values.raw() == v.values, "{}: other values", v.name);
    let behind = if v.name.contains("trailing_bytes") { 3 } else { 0 };
    assert_eq!(taken + behind, v.page.len(), "{}", v.name);
}

fn ranges(v: &Vector) {
    let places =
        [0, 1, 2, 31, 32, 33, 40, 100, 127, 128, 129, 160, 257, v.count.saturating_sub(1), v.count];
    for start in places.into_iter().filter(|start| *start <= v.count) {
        for end in places.into_iter().filter(|end| (start..=v.count).contains(end)) {
            let values =
                support::decode_range(v.encoding, v.physical, v.count, start..end, &v.page)
                    .unwrap_or_else(|error| panic!("{} {start}..{end}: {error}", v.name));
            assert!(
                values.raw() == v.values[start..end],
                "{} {start}..{end}: other values",
                v.name
            );
        }
    }
    let past =
        support::decode_range(v.encoding, v.physical, v.count, v.count..v.count + 100, &v.page);
    assert!(past.is_err(), "{}: values behind the last", v.name);
}

/// pyarrow writes what this crate writes; the others choose other layouts.
fn encoded_again(v: &Vector) {
    if ["plain_", "dbp_", "dlba_", "dba_", "zero_"].iter().any(|start| v.name.starts_with(start)) {
        let (values, _) = support::decode(v.encoding, v.physical, v.count, &v.page).unwrap();
        assert_eq!(support::encode(v.encoding, &values), v.page, "{}", v.name);
    }
}

fn refused(v: &Vector) {
    match support::decode(v.encoding, v.physical, v.count, &v.page) {
        Ok(_) => panic!("{}: is decoded", v.name),
        Err(error) => assert!(error.offset <= v.page.len(), "{}: {error}", v.name),
    }
}

/// A page of INT32 whose writer computed with 64 bits: refused, but readable as INT64.
fn with_64_bits(v: &Vector) {
    refused(v);
    let mut values = vec![0_i64; v.count];
    delta_binary_packed::decode(&v.page, &mut values).unwrap();
    let low: Vec<_> = values.iter().map(|value| value.to_le_bytes()[..4].to_vec()).collect();
    assert_eq!(low, v.values, "{}", v.name);
}

/// Whatever is cut off, an error or the same values; never a panic.
fn cut(v: &Vector) {
    for len in 0..v.page.len().min(600) {
        if let Ok((values, _)) = support::decode(v.encoding, v.physical, v.count, &v.page[..len]) {
            assert!(v.expect == "ok" && values.raw() == v.values, "{} cut to {len}", v.name);
            assert!(v.name.contains("trailing_bytes"), "{} cut to {len} is decoded", v.name);
        }
    }
}

fn kept() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

fn shared() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    Some(root.join("shared/golden/parquet_encodings")).filter(|folder| folder.exists())
}

fn vectors(folder: &Path) -> Vec<Vector> {
    let index = std::fs::read(folder.join("index.json")).unwrap();
    let index: Value = serde_json::from_slice(&index).unwrap();
    index["vectors"].as_array().unwrap().iter().map(|entry| vector(folder, entry)).collect()
}

fn vector(folder: &Path, entry: &Value) -> Vector {
    let text = |key: &str| entry[key].as_str().unwrap().to_owned();
    let number = |key: &str| usize::try_from(entry[key].as_u64().unwrap()).unwrap();
    let encoding = match text("encoding").as_str() {
        "PLAIN" => Encoding::Plain,
        "DELTA_BINARY_PACKED" => Encoding::DeltaBinaryPacked,
        "DELTA_LENGTH_BYTE_ARRAY" => Encoding::DeltaLengthByteArray,
        "DELTA_BYTE_ARRAY" => Encoding::DeltaByteArray,
        other => panic!("encoding {other}"),
    };
    let physical = match text("physical_type").as_str() {
        "BOOLEAN" => Type::Boolean,
        "INT32" => Type::Int32,
        "INT64" => Type::Int64,
        "INT96" => Type::Int96,
        "FLOAT" => Type::Float,
        "DOUBLE" => Type::Double,
        "BYTE_ARRAY" => Type::ByteArray,
        "FIXED_LEN_BYTE_ARRAY" => Type::FixedLen(number("type_length")),
        other => panic!("type {other}"),
    };
    let count = number("num_values");
    let page = std::fs::read(folder.join(text("file"))).unwrap();
    assert_eq!(page.len(), number("size"));
    let values = match (&entry["values"], &entry["rule"]) {
        (Value::Array(values), _) => values.iter().map(|value| listed(physical, value)).collect(),
        (_, Value::String(rule)) => by_rule(physical, rule, count),
        _ => vec![],
    };
    let name = text("file");
    assert!(text("expect") == "error" || values.len() == count, "{name}: {} values", values.len());
    Vector { name, encoding, physical, count, expect: text("expect"), page, values }
}

fn listed(physical: Type, value: &Value) -> Vec<u8> {
    match value {
        Value::Bool(value) => vec![u8::from(*value)],
        Value::Number(value) => integer(physical, value.as_i64().unwrap()),
        Value::String(hex) => {
            let digits = hex.as_bytes().chunks(2).map(|two| str::from_utf8(two).unwrap());
            digits.map(|two| u8::from_str_radix(two, 16).unwrap()).collect()
        }
        other => panic!("value {other}"),
    }
}

fn integer(physical: Type, value: i64) -> Vec<u8> {
    match physical {
        Type::Int32 => i32::try_from(value).unwrap().to_le_bytes().to_vec(),
        _ => value.to_le_bytes().to_vec(),
    }
}

fn by_rule(physical: Type, rule: &str, count: usize) -> Vec<Vec<u8>> {
    if rule.contains("mod 17") {
        (0..count as i64).map(|i| integer(physical, (i * i) % 17 - 5)).collect()
    } else if rule.contains("6364136223846793005") {
        let mut state = 1_u64;
        let random = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let bytes = state.to_le_bytes();
            if physical == Type::Int32 { bytes[4..].to_vec() } else { bytes.to_vec() }
        };
        std::iter::repeat_with(random).take(count).collect()
    } else if rule.contains("https://example.com/item/") {
        let url = |i| format!("https://example.com/item/{:06}?x={}", 37 * i, i % 5).into_bytes();
        (0..count).map(url).collect()
    } else {
        panic!("rule {rule}")
    }
}
