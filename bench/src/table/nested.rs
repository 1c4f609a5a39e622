//! Lists, structs, vectors and large values.

use std::sync::Arc;

use arrow_array::types::{Float32Type, Float64Type, Int32Type, Int64Type};
use arrow_array::{
    Array, ArrayRef, BinaryArray, FixedSizeListArray, ListArray, PrimitiveArray, StringArray,
    StructArray,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{DataType, Field, Fields};

use super::random::Random;
use super::text::Words;
use super::{Columns, Kind};

/// Values of a vector.
const DIMENSION: usize = 768;

/// Embeddings with a number each.
pub fn vectors(rows: usize, random: &mut Random) -> Columns {
    let values = (0..rows * DIMENSION).map(|_| (random.unit() * 2.0 - 1.0) as f32 * 0.05);
    let values = PrimitiveArray::<Float32Type>::from_iter_values(values);
    let item = Arc::new(Field::new("item", DataType::Float32, false));
    let vector = FixedSizeListArray::new(item, DIMENSION as i32, Arc::new(values), None);
    let id = PrimitiveArray::<Int64Type>::from_iter_values(0..rows as i64);
    vec![("id", Kind::Whole, Arc::new(id)), ("vector", Kind::Whole, Arc::new(vector))]
}

/// A list of numbers, a list of structs, and a struct; each with nulls.
pub fn nested(rows: usize, random: &mut Random) -> Columns {
    let words = Words::new(random, 1_000);
    let (offsets, validity) = lists(rows, 10, random);
    let numbers = optional_ints(last(&offsets), 3, 10_000, random);
    let item = Arc::new(Field::new("item", DataType::Int32, true));
    let list = ListArray::new(item, offsets, Arc::new(numbers), Some(validity));

    let (offsets, validity) = lists(rows, 4, random);
    let items = last(&offsets);
    let key = StringArray::from_iter_values((0..items).map(|_| words.word(random)));
    let value = (0..items).map(|_| (!random.chance(5)).then(|| random.below(1_000) as f64 / 8.0));
    let value = value.collect::<PrimitiveArray<Float64Type>>();
    let entries = record([
        ("key", Kind::Whole, Arc::new(key) as ArrayRef),
        ("value", Kind::WithNulls, Arc::new(value)),
    ]);
    let item = Arc::new(Field::new("item", entries.data_type().clone(), false));
    let structs = ListArray::new(item, offsets, Arc::new(entries), Some(validity));

    let a = optional_ints(rows, 10, 1_000_000, random);
    let b =
        StringArray::from_iter((0..rows).map(|_| (!random.chance(10)).then(|| words.word(random))));
    let present = NullBuffer::from_iter((0..rows).map(|_| !random.chance(10)));
    let (fields, columns, _) = record([
        ("a", Kind::WithNulls, Arc::new(a) as ArrayRef),
        ("b", Kind::WithNulls, Arc::new(b)),
    ])
    .into_parts();
    let record = StructArray::new(fields, columns, Some(present));
    vec![
        ("list", Kind::WithNulls, Arc::new(list)),
        ("structs", Kind::WithNulls, Arc::new(structs)),
        ("record", Kind::WithNulls, Arc::new(record)),
    ]
}

/// Documents of about 4 KiB, text that compresses.
pub fn large4k(rows: usize, random: &mut Random) -> Columns {
    let words = Words::new(random, 4_000);
    let document = |random: &mut Random| {
        let mut text = String::new();
        let bytes = 3_800 + random.below(600) as usize;
        words.fill(random, &mut text, bytes);
        text
    };
    let documents = (0..rows).map(|_| document(random));
    let documents = BinaryArray::from_iter_values(documents);
    numbered("document", Arc::new(documents), rows)
}

/// Images of about 100 KiB: bytes that do not compress.
pub fn large100k(rows: usize, random: &mut Random) -> Columns {
    let image = |random: &mut Random| {
        let words = (90_000 + random.below(20_000)) / 8;
        (0..words).flat_map(|_| random.next().to_le_bytes()).collect::<Vec<u8>>()
    };
    let images = BinaryArray::from_iter_values((0..rows).map(|_| image(random)));
    numbered("image", Arc::new(images), rows)
}

fn numbered(name: &'static str, values: ArrayRef, rows: usize) -> Columns {
    let id = PrimitiveArray::<Int64Type>::from_iter_values(0..rows as i64);
    vec![("id", Kind::Whole, Arc::new(id)), (name, Kind::Whole, values)]
}

/// Lists of 0 to `most` items; one in twenty is null, and then empty.
fn lists(rows: usize, most: u64, random: &mut Random) -> (OffsetBuffer<i32>, NullBuffer) {
    let valid: Vec<bool> = (0..rows).map(|_| !random.chance(5)).collect();
    let lengths =
        valid.iter().map(|valid| if *valid { random.below(most + 1) as usize } else { 0 });
    (OffsetBuffer::from_lengths(lengths), NullBuffer::from(valid.clone()))
}

fn last(offsets: &OffsetBuffer<i32>) -> usize {
    offsets.last().map_or(0, |end| *end as usize)
}

fn optional_ints(
    count: usize,
    nulls: u64,
    end: u64,
    random: &mut Random,
) -> PrimitiveArray<Int32Type> {
    (0..count).map(|_| (!random.chance(nulls)).then(|| random.below(end) as i32)).collect()
}

fn record<const N: usize>(columns: [(&str, Kind, ArrayRef); N]) -> StructArray {
    let field = |(name, kind, array): &(&str, Kind, ArrayRef)| {
        Field::new(*name, array.data_type().clone(), *kind == Kind::WithNulls)
    };
    let fields: Fields = columns.iter().map(field).collect();
    StructArray::new(fields, columns.into_iter().map(|(_, _, array)| array).collect(), None)
}
