//! Arrow dictionaries at the edge of what their keys can number, and without entries.

use std::sync::Arc;

use arrow_array::types::{ArrowDictionaryKeyType, Int8Type, Int16Type, UInt8Type, UInt16Type};
use arrow_array::{
    Array, ArrayRef, DictionaryArray, ListArray, PrimitiveArray, RecordBatch, StringArray,
    StructArray,
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

/// Batches of up to `step` values each, none of them twice.
fn replaced<K: ArrowDictionaryKeyType>(n: usize, step: usize) -> Vec<ArrayRef> {
    (0..n)
        .step_by(step)
        .map(|start| {
            let words = (start..n.min(start + step)).map(|i| format!("v{i}"));
            let words: ArrayRef = Arc::new(StringArray::from_iter_values(words));
            let keys = (0..words.len()).map(K::Native::usize_as);
            let keys = PrimitiveArray::<K>::from_iter_values(keys);
            Arc::new(DictionaryArray::new(keys, words)) as ArrayRef
        })
        .collect()
}

/// One more value than there are keys must not be written: whoever reads all rows at once cannot
/// number them.
fn refuses_one_value_more<K: ArrowDictionaryKeyType>(num_keys: usize) {
    let step = num_keys / 3 + 1;
    for version in VERSIONS {
        let fit: Vec<_> = replaced::<K>(num_keys, step).into_iter().map(column).collect();
        let reader = written(&fit, version).unwrap();
        let rows: Vec<u64> = (0..num_keys as u64).collect();
        assert_eq!(reader.take(&rows).unwrap().num_rows(), num_keys, "{version}");
        for nest in [|array| array, in_struct, in_lists] {
            let more = replaced::<K>(num_keys + 1, step);
            let batches: Vec<_> = more.into_iter().map(|array| column(nest(array))).collect();
            let error = written(&batches, version).unwrap_err().to_string();
            let keys = K::DATA_TYPE.to_string();
            let words = ["column `d", &format!("more than {num_keys} "), &keys, "wider keys"];
            for word in words {
                assert!(error.contains(word), "{version}: {word} in {error}");
            }
        }
    }
}

fn in_struct(array: ArrayRef) -> ArrayRef {
    let field = Arc::new(Field::new("inner", array.data_type().clone(), true));
    Arc::new(StructArray::new(vec![field].into(), vec![array], None))
}

fn in_lists(array: ArrayRef) -> ArrayRef {
    let item = Arc::new(Field::new("item", array.data_type().clone(), true));
    let offsets = OffsetBuffer::from_lengths([array.len()]);
    Arc::new(ListArray::new(item, offsets, array, None))
}

#[test]
fn more_values_than_keys_are_refused() {
    refuses_one_value_more::<Int8Type>(128);
    refuses_one_value_more::<UInt8Type>(256);
    refuses_one_value_more::<Int16Type>(32_768);
    refuses_one_value_more::<UInt16Type>(65_536);
}

#[test]
fn entries_without_rows_take_no_keys() {
    let keys = PrimitiveArray::<Int8Type>::from(vec![Some(0), None, Some(1)]);
    let batches: Vec<_> = (0..100)
        .map(|batch| {
            let unused = (0..100).map(|i| format!("{batch} {i}"));
            let words = StringArray::from_iter_values(
                ["a".to_owned(), "b".to_owned()].into_iter().chain(unused),
            );
            column(Arc::new(DictionaryArray::new(keys.clone(), Arc::new(words))))
        })
        .collect();
    for version in VERSIONS {
        let reader = written(&batches, version).unwrap();
        let read = texts(reader.take(&[297, 298, 299]).unwrap().column(0));
        assert_eq!(read, [Some("a".to_owned()), None, Some("b".to_owned())], "{version}");
    }
}

#[test]
fn more_values_than_keys_leave_no_file() {
    let folder = std::env::temp_dir().join(format!("lancet-keys-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("d.lance");
    let batches: Vec<_> = replaced::<Int8Type>(300, 100).into_iter().map(column).collect();
    for version in VERSIONS {
        let options = WriteOptions::default().with_version(version);
        let mut writer = FileWriter::create(&path, batches[0].schema(), options).unwrap();
        let written = batches.iter().try_for_each(|batch| writer.write(batch));
        assert!(written.and_then(|()| writer.finish().map(drop)).is_err(), "{version}");
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0, "{version}");
    }
    std::fs::remove_dir(folder).unwrap();
}

/// A dictionary larger than a page once made a page of every row.
#[test]
fn pages_share_a_large_dictionary() {
    let words = StringArray::from_iter_values((0..1000).map(|i| format!("{i:0100}")));
    let keys = (0..20_000).map(|row| row % 1000);
    let keys = PrimitiveArray::<Int16Type>::from_iter_values(keys);
    let batch = column(Arc::new(DictionaryArray::new(keys, Arc::new(words))));
    for version in VERSIONS {
        let options = WriteOptions::default().with_version(version).with_page_bytes(50_000);
        let mut writer = FileWriter::new(Vec::new(), batch.schema(), options).unwrap();
        writer.write(&batch).unwrap();
        let (_, file) = writer.finish_into().unwrap();
        assert!(file.len() < 1_000_000, "{version}: {} bytes", file.len());
    }
}
