//! Fixed-size binaries of 0 bytes: values without bytes, of which 2.2 alone knows how many there are.

use std::path::Path;
use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, FixedSizeBinaryArray, FixedSizeListArray, Int32Array, ListArray, RecordBatch,
    StructArray,
};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer};
use arrow_data::ArrayData;
use arrow_schema::{DataType, Field};
use lancet::{Error, FileReader, FileWriter, ReadOptions, Version, WriteOptions};

fn binaries(valid: &[bool]) -> ArrayRef {
    let nulls = NullBuffer::from(valid);
    let data = ArrayData::builder(DataType::FixedSizeBinary(0))
        .len(valid.len())
        .add_buffer(Buffer::from_vec(Vec::<u8>::new()))
        .nulls((nulls.null_count() > 0).then_some(nulls))
        .build()
        .unwrap();
    Arc::new(FixedSizeBinaryArray::from(data))
}

fn lists(lengths: [usize; 3], items: ArrayRef) -> ArrayRef {
    let item = Arc::new(Field::new("item", items.data_type().clone(), true));
    let offsets = OffsetBuffer::from_lengths(lengths);
    let nulls = Some(NullBuffer::from(vec![true, true, lengths[2] > 0]));
    Arc::new(ListArray::new(item, offsets, items, nulls))
}

fn structs(binaries: ArrayRef) -> ArrayRef {
    let len = i32::try_from(binaries.len()).unwrap();
    let numbers: ArrayRef = Arc::new(Int32Array::from_iter_values(0..len));
    let fields = vec![
        Arc::new(Field::new("a", binaries.data_type().clone(), true)),
        Arc::new(Field::new("b", DataType::Int32, true)),
    ];
    let nulls = NullBuffer::from_iter((0..len).map(|i| i != 1));
    Arc::new(StructArray::new(fields.into(), vec![binaries, numbers], Some(nulls)))
}

fn write(array: &ArrayRef, version: Version) -> lancet::Result<FileReader> {
    let batch = RecordBatch::try_from_iter_with_nullable([("c", array.clone(), true)])?;
    let options = WriteOptions::default().with_version(version);
    let mut writer = FileWriter::new(Vec::new(), batch.schema(), options)?;
    writer.write(&batch)?;
    FileReader::from_bytes(writer.finish_into()?.1, ReadOptions::default())
}

#[test]
fn version_2_2_holds_them_wherever_they_are() {
    let many: Vec<bool> = (0..20_000).map(|i| i % 3 != 1).collect();
    let cases = [
        binaries(&[true; 5]),
        binaries(&[true, false, true]),
        binaries(&[false; 3]),
        binaries(&[]),
        binaries(&many),
        lists([2, 0, 3], binaries(&[true, true, false, true, true])),
        lists([2, 0, 0], binaries(&[true, true])),
        structs(binaries(&[true, false, false, true])),
        lists([1, 0, 3], structs(binaries(&[true, true, false, true]))),
    ];
    for array in cases {
        let reader = write(&array, Version::V2_2).unwrap();
        assert!(reader.verify().unwrap().problems.is_empty(), "{}", array.data_type());
        let read = reader.scan().build().unwrap().map(|batch| batch.unwrap().column(0).clone());
        let read: Vec<_> = read.collect();
        let read: Vec<&dyn Array> = read.iter().map(|array| array.as_ref()).collect();
        if read.is_empty() {
            assert!(array.is_empty());
            continue;
        }
        assert_eq!(&arrow_select::concat::concat(&read).unwrap(), &array);
        let last = array.len() as u64 - 1;
        let taken = reader.take(&[last, 0]).unwrap();
        assert_eq!(taken.column(0).slice(0, 1).as_ref(), array.slice(array.len() - 1, 1).as_ref());
        assert_eq!(taken.column(0).slice(1, 1).as_ref(), array.slice(0, 1).as_ref());
        let backwards: Vec<u64> = (0..=last).rev().collect();
        assert_eq!(reader.take(&backwards).unwrap().num_rows(), array.len());
    }
}

#[test]
fn what_the_reference_cannot_read_is_refused() {
    let item = Arc::new(Field::new("item", DataType::FixedSizeBinary(0), true));
    let vectors = FixedSizeListArray::new(item, 2, binaries(&[true; 4]), None);
    let refused = [
        (binaries(&[true]), Version::V2_0),
        (binaries(&[true]), Version::V2_1),
        (Arc::new(vectors) as ArrayRef, Version::V2_2),
    ];
    for (array, version) in refused {
        let error = write(&array, version).unwrap_err();
        assert!(matches!(error, Error::Unsupported(_)), "{version}: {error}");
        assert!(error.to_string().contains("0 bytes"), "{version}: {error}");
    }
}

fn opened(name: &str) -> FileReader {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/no_width");
    FileReader::open(folder.join(name)).unwrap()
}

#[test]
fn files_of_the_reference() {
    let reader = opened("struct_2.2.lance");
    assert!(reader.verify().unwrap().problems.is_empty());
    let read = reader.take(&[0, 1, 2]).unwrap();
    let column = arrow_array::cast::AsArray::as_struct(read.column(0));
    assert_eq!((column.is_null(1), column.column(0).null_count()), (true, 2));
    // The reference writes these, and no release reads them.
    for name in ["nulls_2.0.lance", "nulls_2.1.lance"] {
        let error = opened(name).take(&[0]).unwrap_err();
        assert!(matches!(error, Error::Unsupported(_)), "{name}: {error}");
        assert!(error.to_string().contains("values of 0 bytes"), "{name}: {error}");
    }
}
