//! Arrow dictionaries at the edge of what their keys can number, and without entries.

#![allow(clippy::unwrap_used, missing_docs)]

use std::sync::Arc;

use arrow_array::types::{ArrowDictionaryKeyType, Int8Type, Int16Type, UInt8Type, UInt16Type};
use arrow_array::{
    Array, ArrayRef, DictionaryArray, ListArray, PrimitiveArray, RecordBatch, StringArray,
};
use arrow_buffer::{ArrowNativeType, OffsetBuffer};
use arrow_schema::{DataType, Field};
use lancet::{FileReader, FileWriter, ReadOptions, Version, WriteOptions};

const VERSIONS: [Version; 3] = [Version::V2_0, Version::V2_1, Version::V2_2];

fn written(batches: &[RecordBatch], version: Version) -> lancet::Result<FileReader> {
    let options = WriteOptions::default().with_version(version);
    let mut writer = FileWriter::new(Vec::new(), batches[0].schema(), options)?;
    for batch in batches {
        writer.write(batch)?;
    }
    let (_, file) = writer.finish_into()?;
    FileReader::from_bytes(file, ReadOptions::default())
}

fn column(array: ArrayRef) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable([("d", array, true)]).unwrap()
}

/// Every value once, in a dictionary of as many entries.
fn numbered<K: ArrowDictionaryKeyType>(n: usize) -> ArrayRef {
    let words: Vec<String> = (0..n).map(|i| format!("v{i}")).collect();
    let keys = PrimitiveArray::<K>::from_iter_values((0..n).map(K::Native::usize_as));
    Arc::new(DictionaryArray::new(keys, Arc::new(StringArray::from(words))))
}

fn texts(array: &ArrayRef) -> Vec<Option<String>> {
    let plain = arrow_select::take::take(
        array.as_ref(),
        &arrow_array::UInt64Array::from_iter_values(0..array.len() as u64),
        None,
    )
    .unwrap();
    let dictionary = arrow_array::cast::AsArray::as_any_dictionary(plain.as_ref());
    let values = arrow_array::cast::AsArray::as_string::<i32>(dictionary.values().as_ref());
    let keys = dictionary.normalized_keys();
    (0..plain.len())
        .map(|row| {
            let key = (!plain.is_null(row)).then(|| keys[row])?;
            Some(values.value(key).to_owned())
        })
        .collect()
}

fn read_back(array: ArrayRef, version: Version) {
    let reader = written(&[column(array.clone())], version).unwrap();
    let rows: Vec<u64> = (0..array.len() as u64).collect();
    assert_eq!(texts(reader.take(&rows).unwrap().column(0)), texts(&array), "{version}");
    assert!(reader.verify().unwrap().problems.is_empty(), "{version}");
}

#[test]
fn all_keys_can_be_used() {
    for version in VERSIONS {
        read_back(numbered::<Int8Type>(128), version);
        read_back(numbered::<UInt8Type>(256), version);
        read_back(numbered::<Int16Type>(32_768), version);
        read_back(numbered::<UInt16Type>(65_536), version);
    }
}

#[test]
fn batches_that_repeat_their_entries_share_keys() {
    let batches: Vec<_> = (0..10)
        .map(|_| {
            let words = StringArray::from(vec!["same"; 50]);
            let keys = PrimitiveArray::<Int8Type>::from_iter_values(0..50);
            column(Arc::new(DictionaryArray::new(keys, Arc::new(words))))
        })
        .collect();
    for version in VERSIONS {
        let reader = written(&batches, version).unwrap();
        let rows: Vec<u64> = (0..500).collect();
        let read = texts(reader.take(&rows).unwrap().column(0));
        assert_eq!(read, vec![Some("same".to_owned()); 500], "{version}");
    }
}

#[test]
fn dictionaries_without_entries_hold_nulls() {
    let keys = PrimitiveArray::<Int8Type>::from(vec![None, None, None]);
    let empty = || Arc::new(StringArray::from(Vec::<&str>::new()));
    let nulls: ArrayRef = Arc::new(DictionaryArray::new(keys, empty()));
    let none = DictionaryArray::<Int8Type>::new(PrimitiveArray::from(Vec::<i8>::new()), empty());
    let item = Arc::new(Field::new("item", none.data_type().clone(), true));
    let offsets = OffsetBuffer::from_lengths([0, 0, 0]);
    let lists: ArrayRef = Arc::new(ListArray::new(item, offsets, Arc::new(none), None));
    for version in VERSIONS {
        for array in [&nulls, &lists] {
            let reader = written(&[column(array.clone())], version).unwrap();
            let read = reader.take(&[2, 0, 1]).unwrap();
            assert_eq!(read.column(0).len(), 3);
            assert_eq!(read.column(0).logical_null_count(), array.logical_null_count());
        }
    }
    let nothing = DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::Utf8));
    assert_eq!(nulls.data_type(), &nothing);
}
