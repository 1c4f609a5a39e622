//! Random nested tables: nulls, empty lists and garbage at every layer, in arrays that are slices.

use std::sync::Arc;

use arrow_array::types::{Int8Type, Int16Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, DictionaryArray, FixedSizeBinaryArray, FixedSizeListArray,
    Float64Array, Int16Array, Int32Array, LargeBinaryArray, LargeListArray, ListArray, MapArray,
    NullArray, PrimitiveArray, RecordBatch, RecordBatchOptions, StringArray, StructArray,
    UInt64Array,
};
use arrow_buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field, FieldRef, Fields, Schema};
use lancet::Version;

use crate::support::Random;

/// Items of all lists of a column stay below this.
const MOST_ITEMS: u64 = 6_000;

/// One of some values.
pub fn pick<T: Copy>(random: &mut Random, choices: &[T]) -> T {
    choices[random.below(choices.len() as u64) as usize]
}

/// Where a field stands.
#[derive(Clone, Copy)]
struct Place {
    version: Version,
    /// Levels that may stand between it and its leaves.
    depth: u64,
    /// Whether it is below a list.
    listed: bool,
}

impl Place {
    fn below(self, listed: bool) -> Self {
        Self { depth: self.depth - 1, listed: self.listed || listed, ..self }
    }
}

/// A table that the version can hold.
pub fn table(random: &mut Random, version: Version) -> RecordBatch {
    let rows = pick(random, &[0, 1, 2, 3, 20, 64, 100, 300, 1_500]) as usize;
    // Rows before and after the ones that count.
    let (before, after) = (random.below(5) as usize, random.below(5) as usize);
    let all = before + rows + after;
    let columns: Vec<(Field, ArrayRef)> = if version == Version::V2_2 && random.below(15) == 0 {
        // Beside other columns it cannot be written.
        vec![list_of_structs(random, all)]
    } else {
        let place = |depth| Place { version, depth, listed: false };
        let count = 1 + random.below(3);
        (0..count)
            .map(|i| {
                let depth = pick(random, &[0, 1, 1, 2, 2, 3, 4, 6]);
                field(random, &format!("c{i}"), all, place(depth))
            })
            .collect()
    };
    let fields: Vec<Field> = columns.iter().map(|(field, _)| field.clone()).collect();
    let arrays = columns.into_iter().map(|(_, array)| array).collect();
    let options = RecordBatchOptions::new().with_row_count(Some(all));
    let schema = Arc::new(Schema::new(fields));
    let table = RecordBatch::try_new_with_options(schema, arrays, &options).unwrap();
    table.slice(before, rows)
}

fn field(random: &mut Random, name: &str, n: usize, place: Place) -> (Field, ArrayRef) {
    let kinds = if place.version == Version::V2_2 { 5 } else { 4 };
    let array: ArrayRef = match (place.depth, random.below(kinds)) {
        (0, _) => return leaf(random, name, n, place),
        (_, 0 | 1) => structs(random, n, place),
        (_, 2) => {
            let (offsets, item, items) = lists(random, n, place);
            let offsets = OffsetBuffer::new(offsets.iter().map(|o| *o as i32).collect());
            Arc::new(ListArray::new(item, offsets, items, nulls(random, n)))
        }
        (_, 3) => {
            let (offsets, item, items) = lists(random, n, place);
            let offsets = OffsetBuffer::new(offsets.iter().map(|o| *o as i64).collect());
            Arc::new(LargeListArray::new(item, offsets, items, nulls(random, n)))
        }
        _ => maps(random, n, place),
    };
    (Field::new(name, array.data_type().clone(), true), array)
}

fn structs(random: &mut Random, n: usize, place: Place) -> ArrayRef {
    let count = 1 + random.below(if place.depth > 3 { 2 } else { 3 });
    let children: Vec<_> =
        (0..count).map(|i| field(random, &format!("f{i}"), n, place.below(false))).collect();
    let nulls = nulls(random, n);
    let fields: Fields = children.iter().map(|(field, _)| field.clone()).collect();
    // The children keep values where the struct is null.
    let arrays = children.into_iter().map(|(_, array)| array).collect();
    Arc::new(StructArray::new(fields, arrays, nulls))
}

/// Offsets that need not start at 0 nor reach the last item, and the items.
fn lists(random: &mut Random, n: usize, place: Place) -> (Vec<u64>, FieldRef, ArrayRef) {
    let shape = random.below(5);
    let huge = random.below(n.max(1) as u64) as usize;
    let mut offsets = vec![random.below(4)];
    for row in 0..n {
        let length = match shape {
            0 => random.below(5),
            1 => u64::from(random.below(20) == 0) * (1 + random.below(3)),
            2 => 1,
            // A row over several chunks.
            3 if row == huge => 5_000,
            3 => random.below(2),
            _ => 0,
        };
        let last = offsets[row];
        offsets.push(last + if last + length > MOST_ITEMS { 0 } else { length });
    }
    let num_items = (offsets[n] + random.below(3)) as usize;
    let name = pick(random, &["item", "element"]);
    let (item, items) = field(random, name, num_items, place.below(true));
    (offsets, Arc::new(item), items)
}

fn maps(random: &mut Random, n: usize, place: Place) -> ArrayRef {
    let (offsets, item, items) = lists(random, n, place);
    let keys: ArrayRef =
        Arc::new(StringArray::from_iter_values((0..items.len()).map(|i| format!("k{}", i % 7))));
    let key = Arc::new(Field::new("key", DataType::Utf8, false));
    let value = Arc::new(item.as_ref().clone().with_name("value"));
    let entries = StructArray::new(vec![key, value].into(), vec![keys, items], None);
    let field = Arc::new(Field::new("entries", entries.data_type().clone(), false));
    let offsets = OffsetBuffer::new(offsets.iter().map(|o| *o as i32).collect());
    Arc::new(MapArray::new(field, offsets, entries, nulls(random, n), false))
}

fn list_of_structs(random: &mut Random, n: usize) -> (Field, ArrayRef) {
    let dimension = 1 + random.below(4) as usize;
    let place = Place { version: Version::V2_2, depth: 1 + random.below(2), listed: true };
    // Lists cannot stand below it, so only structs and leaves do.
    let children: Vec<_> = (0..1 + random.below(2))
        .map(|i| leaf(random, &format!("x{i}"), n * dimension, place))
        .collect();
    let fields: Fields = children.iter().map(|(field, _)| field.clone()).collect();
    let arrays = children.into_iter().map(|(_, array)| array).collect();
    let items = StructArray::new(fields, arrays, nulls(random, n * dimension));
    let item = Arc::new(Field::new("item", items.data_type().clone(), true));
    let items = Arc::new(items);
    let array = FixedSizeListArray::new(item, dimension as i32, items, nulls(random, n));
    (Field::new("c", array.data_type().clone(), true), Arc::new(array))
}

/// Validity in one of several patterns.
fn nulls(random: &mut Random, n: usize) -> Option<NullBuffer> {
    let chance = match random.below(7) {
        0..=2 => return None,
        3 => 100,
        4 => 2,
        // Only near the start, so that pages differ.
        5 => {
            let end = n / 10 + 1;
            return Some((0..n).map(|i| i >= end || random.below(3) > 0).collect());
        }
        _ => 30,
    };
    Some((0..n).map(|_| random.below(100) >= chance).collect())
}

/// A field that owns a column.
fn leaf(random: &mut Random, name: &str, n: usize, place: Place) -> (Field, ArrayRef) {
    let (array, mark): (ArrayRef, _) = match random.below(14) {
        0 => (numbers(random, n), None),
        1 => (Arc::new(BooleanArray::new(bits(random, n), nulls(random, n))), None),
        2 => (strings(random, n, 12), None),
        3 => (strings(random, n, 600), None),
        4 => (dictionary(random, n), None),
        5 => (Arc::new(NullArray::new(n)), None),
        6 => (vectors(random, n, &[3]), None),
        7 => (vectors(random, n, &[2, 3]), None),
        8 => (flags(random, n), None),
        9 => (packed(random, n, place.version), Some("lance-encoding:packed")),
        10 if !place.listed => (blobs(random, n), Some("lance-encoding:blob")),
        11 => (wide(random, n), None),
        12 => (Arc::new(Int32Array::new(vec![7; n].into(), nulls(random, n))), None),
        _ => {
            let values = (0..n).map(|_| random.below(1_000) as f64 / 8.0).collect::<Vec<_>>();
            (Arc::new(Float64Array::new(values.into(), nulls(random, n))), None)
        }
    };
    let mut field = Field::new(name, array.data_type().clone(), true);
    if let Some(mark) = mark {
        field = field.with_metadata([(mark.to_owned(), "true".to_owned())].into());
    }
    (field, array)
}

fn numbers(random: &mut Random, n: usize) -> ArrayRef {
    let end = pick(random, &[2, 100, 1 << 40, u64::MAX]);
    let values: ScalarBuffer<u64> = (0..n).map(|_| random.below(end)).collect();
    Arc::new(UInt64Array::new(values, nulls(random, n)))
}

fn bits(random: &mut Random, n: usize) -> arrow_buffer::BooleanBuffer {
    (0..n).map(|_| random.below(3) == 0).collect()
}

fn text(random: &mut Random, most: u64) -> String {
    let length = random.below(most) as usize;
    "the quick brown fox ".chars().cycle().skip(random.below(20) as usize).take(length).collect()
}

fn strings(random: &mut Random, n: usize, most: u64) -> ArrayRef {
    let values: Vec<String> = (0..n).map(|_| text(random, most)).collect();
    let plain = StringArray::from_iter_values(values);
    let (offsets, bytes, _) = plain.into_parts();
    Arc::new(StringArray::new(offsets, bytes, nulls(random, n)))
}

fn blobs(random: &mut Random, n: usize) -> ArrayRef {
    let values: Vec<Vec<u8>> = (0..n).map(|_| text(random, 90).into_bytes()).collect();
    let (offsets, bytes, _) = LargeBinaryArray::from_iter_values(values).into_parts();
    Arc::new(LargeBinaryArray::new(offsets, bytes, nulls(random, n)))
}

fn dictionary(random: &mut Random, n: usize) -> ArrayRef {
    let entries: Vec<Option<String>> =
        (0..10).map(|i| (i != 3 || random.below(2) == 0).then(|| format!("entry {i}"))).collect();
    let keys: Vec<i8> = (0..n).map(|_| random.below(10) as i8).collect();
    let keys = PrimitiveArray::<Int8Type>::new(keys.into(), nulls(random, n));
    Arc::new(DictionaryArray::new(keys, Arc::new(StringArray::from(entries))))
}

/// Fixed-size lists of numbers, nested once for each size.
fn vectors(random: &mut Random, n: usize, sizes: &[usize]) -> ArrayRef {
    let Some((size, inner)) = sizes.split_first() else {
        let values: Vec<i16> = (0..n).map(|_| random.below(500) as i16).collect();
        return Arc::new(Int16Array::new(values.into(), nulls(random, n)));
    };
    let items = vectors(random, n * size, inner);
    let item = Arc::new(Field::new("item", items.data_type().clone(), true));
    Arc::new(FixedSizeListArray::new(item, *size as i32, items, nulls(random, n)))
}

fn flags(random: &mut Random, n: usize) -> ArrayRef {
    let items = BooleanArray::new(bits(random, n * 5), nulls(random, n * 5));
    let item = Arc::new(Field::new("item", DataType::Boolean, true));
    Arc::new(FixedSizeListArray::new(item, 5, Arc::new(items), nulls(random, n)))
}

fn wide(random: &mut Random, n: usize) -> ArrayRef {
    let bytes: Vec<u8> = (0..n * 300).map(|i| (i % 251) as u8).collect();
    Arc::new(FixedSizeBinaryArray::new(300, bytes.into(), nulls(random, n)))
}

/// A struct to be packed: its children are never null.
fn packed(random: &mut Random, n: usize, version: Version) -> ArrayRef {
    let required =
        |name: &str, array: &ArrayRef| Arc::new(Field::new(name, array.data_type().clone(), false));
    let x: ArrayRef = Arc::new(Int32Array::from_iter_values((0..n).map(|i| i as i32 * 3)));
    let y: ArrayRef = Arc::new(PrimitiveArray::<Int16Type>::from_iter_values(
        (0..n).map(|_| random.below(99) as i16),
    ));
    let (mut fields, mut arrays) = (vec![required("x", &x), required("y", &y)], vec![x, y]);
    if version == Version::V2_2 && random.below(2) == 0 {
        let texts = (0..n).map(|_| text(random, 9)).collect::<Vec<_>>();
        let z: ArrayRef = Arc::new(StringArray::from_iter_values(texts));
        fields.push(required("z", &z));
        arrays.push(z);
    }
    Arc::new(StructArray::new(fields.into(), arrays, nulls(random, n)))
}
