use std::sync::Arc;

use arrow_array::types::Int8Type;
use arrow_array::{
    BinaryArray, DictionaryArray, Int8Array, Int32Array, LargeBinaryArray, StringArray,
};

use super::*;
use crate::options::ColumnOptions;
use crate::version::Version;
use crate::write::WriteOptions;
use crate::write::test_plans::{ints, plan_of, refused};

fn options() -> WriteOptions {
    WriteOptions::default().with_version(Version::V2_0)
}

fn leaf(array: &ArrayRef) -> LeafPlan {
    LeafPlan::new(plan_of(array, &options()))
}

/// Encodes arrays as one page, if that can be.
fn encoded(plan: &LeafPlan, arrays: &[ArrayRef]) -> Result<Vec<EncodedArray>> {
    let mut pages = Vec::new();
    plan.encode(arrays, &mut PageEntries::default(), &mut pages)?;
    Ok(pages)
}

fn rows(pages: &[EncodedArray]) -> Vec<u64> {
    pages.iter().map(|page| page.num_rows).collect()
}

#[test]
fn arrays_are_cut_into_parts_of_equal_rows() {
    let lengths = |arrays: &[ArrayRef], step| {
        let parts = cut(arrays, step);
        let lengths = |part: &Vec<ArrayRef>| part.iter().map(|a| a.len()).collect::<Vec<_>>();
        parts.iter().map(lengths).collect::<Vec<_>>()
    };
    assert_eq!(lengths(&[ints(3), ints(4)], 5), [vec![3, 2], vec![2]]);
    assert_eq!(lengths(&[ints(3), ints(4)], 3), [vec![3], vec![3], vec![1]]);
    assert_eq!(lengths(&[ints(3), ints(0)], 9), [vec![3]]);
    assert_eq!(lengths(&[ints(0)], 9), [[0_usize; 0]; 0]);
}

#[test]
fn rows_of_a_page_follow_from_its_bytes() {
    let pages = |page_bytes| {
        let pages = cut_pages(&[ints(10)], 40, page_bytes);
        pages.iter().map(|page| page[0].len()).collect::<Vec<_>>()
    };
    assert_eq!(pages(40), [10]);
    assert_eq!(pages(39), [5, 5]);
    assert_eq!(pages(16), [4, 4, 2]);
    assert_eq!(pages(1), [1; 10]);
    assert_eq!(pages(0), [1; 10]);
    assert!(cut_pages(&[], 0, 40).is_empty());
}

#[test]
fn validity_of_several_arrays() {
    let some: ArrayRef = Arc::new(Int32Array::from(vec![Some(1), None, Some(3), None]));
    assert!(validity(&[ints(2), ints(3)]).unwrap().is_none());
    let valid = validity(&[ints(2), some.slice(1, 3)]).unwrap().unwrap();
    assert_eq!((valid.len(), valid.data()), (5, &[0b01011][..]));
}

fn dictionary(keys: Vec<Option<i8>>, entries: &[&str]) -> ArrayRef {
    let entries = Arc::new(StringArray::from(entries.to_vec()));
    Arc::new(DictionaryArray::<Int8Type>::new(Int8Array::from(keys), entries))
}

#[test]
fn dictionaries_are_merged_and_nulls_get_an_entry() {
    let first = dictionary(vec![Some(1), None], &["unused", "b"]);
    let second = dictionary(vec![Some(0), Some(1)], &["b", "c"]);
    let pages = encoded(&leaf(&first), &[first, second]).unwrap();
    assert_eq!(rows(&pages), [4]);
    // Keys: 0 is `b`, 1 is `c`, 2 is the null.
    assert!(pages[0].buffers.iter().any(|buffer| buffer.as_ref() == [0, 2, 0, 1]));
}

#[test]
fn a_dictionary_page_without_room_for_its_null_is_cut_in_two() {
    let entries: Vec<String> = (0..128).map(|i| i.to_string()).collect();
    let entries: Vec<&str> = entries.iter().map(String::as_str).collect();
    let mut keys: Vec<Option<i8>> = (0..=127).map(Some).collect();
    let full = dictionary(keys.clone(), &entries);
    assert_eq!(rows(&encoded(&leaf(&full), std::slice::from_ref(&full)).unwrap()), [128]);
    keys.push(None);
    let with_null = dictionary(keys, &entries);
    assert_eq!(rows(&encoded(&leaf(&with_null), &[with_null]).unwrap()), [65, 64]);
}

#[test]
fn what_is_refused_says_what_to_do() {
    let dictionaries = dictionary(vec![Some(0)], &["a"]);
    let what = refused(encoded(&leaf(&dictionaries), &[ints(1)]));
    assert_eq!(what, "Int32 where a dictionary is expected");

    let mut sink = Sink::new(Vec::new(), false);
    let short: ArrayRef = Arc::new(BinaryArray::from(vec![&b"x"[..]]));
    let what = refused(store_blobs(&short, "a.b", &mut sink, &mut Vec::new()));
    assert_eq!(what, "column `a.b`: blobs of type Binary; cast it to LargeBinary");
}

#[test]
fn payloads_are_written_and_described() {
    let mut sink = Sink::new(Vec::new(), false);
    let payloads: Vec<Option<&[u8]>> = vec![Some(b"hello"), None, Some(b""), Some(b"world")];
    let array: ArrayRef = Arc::new(LargeBinaryArray::from(payloads));
    let mut descriptions = vec![[9, 9]];
    store_blobs(&array, "b", &mut sink, &mut descriptions).unwrap();
    assert_eq!(descriptions, [[9, 9], [0, 5], [1, 0], [0, 0], [64, 5]]);
    let file = sink.into_inner().unwrap();
    assert_eq!((&file[..5], &file[64..69], file.len()), (&b"hello"[..], &b"world"[..], 128));
}

#[test]
fn only_zstd_and_lz4_compress() {
    for (compression, scheme) in [
        (Compression::Zstd, Some(Scheme::Zstd)),
        (Compression::Lz4, Some(Scheme::Lz4)),
        (Compression::Fsst, None),
        (Compression::None, None),
    ] {
        let column = ColumnOptions::default().with_compression(compression);
        let plan = LeafPlan::new(plan_of(&ints(1), &options().with_column("n", column)));
        assert_eq!(plan.compressor.map(|compressor| compressor.scheme), scheme);
    }
}
