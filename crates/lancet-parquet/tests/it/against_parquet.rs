//! The `parquet` crate writes the same bytes and reads them; its bytes are read here.

use std::sync::Arc;

use crate::support::{self, Encoding, Type, Values};
use lancet_parquet::ByteArrays;
use lancet_parquet::delta_binary_packed::{self, Layout};
use parquet::basic::{Encoding as Name, Type as Physical};
use parquet::data_type::{
    ByteArray, ByteArrayType, DataType, FixedLenByteArray, FixedLenByteArrayType, Int32Type,
    Int64Type,
};
use parquet::encodings::decoding::get_decoder;
use parquet::encodings::encoding::get_encoder;
use parquet::schema::types::{ColumnDescPtr, ColumnDescriptor, ColumnPath, Type as SchemaType};
use proptest::collection::vec;
use proptest::prelude::*;

fn column(physical: Physical, len: i32) -> ColumnDescPtr {
    let leaf = SchemaType::primitive_type_builder("c", physical).with_length(len).build().unwrap();
    Arc::new(ColumnDescriptor::new(Arc::new(leaf), 0, 0, ColumnPath::new(vec!["c".into()])))
}

fn their_page<T: DataType>(name: Name, column: &ColumnDescPtr, values: &[T::T]) -> Vec<u8> {
    let mut encoder = get_encoder::<T>(name, column).unwrap();
    encoder.put(values).unwrap();
    encoder.flush_buffer().unwrap().to_vec()
}

fn their_values<T: DataType>(
    name: Name,
    column: &ColumnDescPtr,
    page: &[u8],
    count: usize,
) -> Vec<T::T> {
    let mut decoder = get_decoder::<T>(column.clone(), name).unwrap();
    decoder.set_data(page.to_vec().into(), count).unwrap();
    let mut values = vec![T::T::default(); count];
    assert_eq!(decoder.get(&mut values).unwrap(), count);
    values
}

/// The same bytes, read by both to the same values.
fn both<T: DataType>(name: Name, len: i32, theirs: &[T::T], ours: &Values) {
    let encoding = match name {
        Name::PLAIN => Encoding::Plain,
        Name::DELTA_BINARY_PACKED => Encoding::DeltaBinaryPacked,
        Name::DELTA_LENGTH_BYTE_ARRAY => Encoding::DeltaLengthByteArray,
        _ => Encoding::DeltaByteArray,
    };
    let physical = match ours {
        Values::Int32(_) => Type::Int32,
        Values::Int64(_) => Type::Int64,
        Values::ByteArray(_) => Type::ByteArray,
        Values::FixedLen(len, _) => Type::FixedLen(*len),
        other => panic!("{other:?}"),
    };
    let column = column(T::get_physical_type(), len);
    let page = support::encode(encoding, ours);
    assert_eq!(page, their_page::<T>(name, &column, theirs), "{name}");
    // Without values it does not read its own pages.
    if !theirs.is_empty() {
        assert_eq!(their_values::<T>(name, &column, &page, theirs.len()), theirs, "{name}");
    }
    let (again, _) = support::decode(encoding, physical, theirs.len(), &page).unwrap();
    assert_eq!(again, *ours, "{name}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn integers(values in vec(any::<i64>(), 0..600), shift in 0..64_u32) {
        let wide: Vec<i64> = values.iter().map(|value| value >> shift).collect();
        let narrow: Vec<i32> = wide.iter().map(|value| *value as i32).collect();
        for name in [Name::PLAIN, Name::DELTA_BINARY_PACKED] {
            both::<Int64Type>(name, -1, &wide, &Values::Int64(wide.clone()));
            both::<Int32Type>(name, -1, &narrow, &Values::Int32(narrow.clone()));
        }
    }

    #[test]
    fn byte_arrays(values in vec(vec(b'a'..b'd', 0..30), 0..300)) {
        let theirs: Vec<ByteArray> = values.iter().map(|value| value.clone().into()).collect();
        let ours: ByteArrays = values.iter().map(Vec::as_slice).collect();
        for name in [Name::PLAIN, Name::DELTA_LENGTH_BYTE_ARRAY, Name::DELTA_BYTE_ARRAY] {
            both::<ByteArrayType>(name, -1, &theirs, &Values::ByteArray(ours.clone()));
        }
    }

    #[test]
    fn fixed_length(values in vec(vec(0..3_u8, 5), 0..300)) {
        let theirs: Vec<FixedLenByteArray> =
            values.iter().map(|value| ByteArray::from(value.clone()).into()).collect();
        for name in [Name::PLAIN, Name::DELTA_BYTE_ARRAY] {
            both::<FixedLenByteArrayType>(name, 5, &theirs, &Values::FixedLen(5, values.concat()));
        }
    }

    #[test]
    fn other_layouts_are_read(values in vec(any::<i64>(), 1..3000), shift in 0..64_u32, pick in 0..5_usize) {
        let values: Vec<i64> = values.iter().map(|value| value >> shift).collect();
        let (block, miniblocks) = [(128, 1), (128, 4), (384, 3), (2048, 8), (1024, 32)][pick];
        let mut page = vec![];
        delta_binary_packed::encode_with(Layout::new(block, miniblocks).unwrap(), &values, &mut page);
        let column = column(Physical::INT64, -1);
        let theirs = their_values::<Int64Type>(Name::DELTA_BINARY_PACKED, &column, &page, values.len());
        prop_assert_eq!(theirs, values);
    }
}
