//! Tables that must come back as they were.
#![no_main]

use std::sync::Arc;

use arbitrary::{Arbitrary, Result, Unstructured};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, FixedSizeListArray, Float32Array, Int8Array,
    Int64Array, LargeStringArray, ListArray, RecordBatch, StringArray, StructArray, UInt16Array,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{DataType, Field, Schema};
use lancet::{FileReader, FileWriter, Profile, ReadOptions, Version, WriteOptions};

#[derive(Debug)]
struct Table {
    batch: RecordBatch,
    version: Version,
    profile: Profile,
    page_bytes: u64,
    cut: usize,
}

impl<'a> Arbitrary<'a> for Table {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let rows = u.int_in_range(1..=300)?;
        let mut fields = Vec::new();
        let mut columns = Vec::new();
        for i in 0..u.int_in_range(1..=3)? {
            let column = array(u, rows, 3)?;
            fields.push(Field::new(format!("c{i}"), column.data_type().clone(), true));
            columns.push(column);
        }
        let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap();
        let version = if u.arbitrary()? { Version::V2_1 } else { Version::V2_2 };
        let profile = *u.choose(&[Profile::Fast, Profile::Balanced, Profile::Small])?;
        let page_bytes = *u.choose(&[64, 1000, 8 << 20])?;
        Ok(Self { batch, version, profile, page_bytes, cut: u.int_in_range(0..=rows)? })
    }
}

fn nulls(u: &mut Unstructured<'_>, len: usize) -> Result<Option<NullBuffer>> {
    Ok(match u.int_in_range(0..=3)? {
        0 | 1 => None,
        2 => Some(NullBuffer::new_null(len)),
        _ => Some((0..len).map(|_| u.ratio(3, 4)).collect::<Result<Vec<bool>>>()?.into()),
    })
}

fn numbers<T: Default>(
    u: &mut Unstructured<'_>,
    len: usize,
    number: impl Fn(u64) -> T,
) -> Result<Vec<Option<T>>> {
    let mask = u64::MAX.checked_shr(u.int_in_range(0..=63)?).unwrap_or(0);
    let nulls = nulls(u, len)?;
    (0..len)
        .map(|i| {
            let value = number(u.arbitrary::<u64>()? & mask);
            Ok(nulls.as_ref().is_none_or(|nulls| nulls.is_valid(i)).then_some(value))
        })
        .collect()
}

fn strings(u: &mut Unstructured<'_>, len: usize) -> Result<Vec<Option<String>>> {
    let longest = *u.choose(&[0, 3, 20, 400])?;
    let numbers = numbers(u, len, |number| number)?;
    let text = |n: u64| "ab€cd ".repeat(1 + n as usize % (longest / 4 + 1)) + &(n % 9).to_string();
    let text = |n: u64| if longest == 0 { String::new() } else { text(n) };
    Ok(numbers.into_iter().map(|number| number.map(text)).collect())
}

fn array(u: &mut Unstructured<'_>, len: usize, depth: usize) -> Result<ArrayRef> {
    let kinds = if depth == 0 { 7 } else { 10 };
    Ok(match u.int_in_range(0..=kinds)? {
        0 => Arc::new(Int8Array::from(numbers(u, len, |n| n as i8)?)),
        1 => Arc::new(UInt16Array::from(numbers(u, len, |n| n as u16)?)),
        2 => Arc::new(Int64Array::from(numbers(u, len, |n| n as i64)?)),
        3 => Arc::new(BooleanArray::from(numbers(u, len, |n| n % 2 == 1)?)),
        4 => Arc::new(StringArray::from(strings(u, len)?)),
        5 => Arc::new(LargeStringArray::from(strings(u, len)?)),
        6 => {
            let strings = strings(u, len)?;
            Arc::new(BinaryArray::from_iter(
                strings.iter().map(|s| s.as_ref().map(String::as_bytes)),
            ))
        }
        7 => {
            let size = u.int_in_range(1..=5)?;
            let items = numbers(u, len * size, |n| f32::from_bits(n as u32))?;
            let items = Arc::new(Float32Array::from(items));
            let field = Arc::new(Field::new("item", DataType::Float32, true));
            let nulls = nulls(u, len)?;
            Arc::new(FixedSizeListArray::new(field, size as i32, items, nulls))
        }
        8 | 9 => {
            let sizes = numbers(u, len, |n| (n % 4) as usize)?;
            let offsets = OffsetBuffer::<i32>::from_lengths(sizes.iter().map(|s| s.unwrap_or(0)));
            let items = array(u, offsets.last().map_or(0, |last| *last as usize), depth - 1)?;
            let field = Arc::new(Field::new("item", items.data_type().clone(), true));
            let nulls: NullBuffer = sizes.iter().map(Option::is_some).collect::<Vec<_>>().into();
            Arc::new(ListArray::new(field, offsets, items, Some(nulls)))
        }
        _ => {
            let columns = [array(u, len, depth - 1)?, array(u, len, depth - 1)?];
            let fields = columns.iter().zip(["a", "b"]);
            let fields = fields.map(|(c, name)| Field::new(name, c.data_type().clone(), true));
            let nulls = nulls(u, len)?;
            Arc::new(StructArray::new(fields.collect(), columns.to_vec(), nulls))
        }
    })
}

libfuzzer_sys::fuzz_target!(|table: Table| {
    let Table { batch, version, profile, page_bytes, cut } = table;
    let options = WriteOptions::default()
        .with_version(version)
        .with_profile(profile)
        .with_page_bytes(page_bytes);
    let mut file = Vec::new();
    let mut writer = FileWriter::new(&mut file, batch.schema(), options).unwrap();
    writer.write(&batch.slice(0, cut)).unwrap();
    writer.write(&batch.slice(cut, batch.num_rows() - cut)).unwrap();
    writer.finish_into().unwrap();
    let reader = FileReader::from_bytes(file, ReadOptions::default()).unwrap();
    let mut start = 0;
    for read in reader.scan().batch_rows(101).threads(1).build().unwrap() {
        let read = read.unwrap();
        assert_eq!(read.columns(), batch.slice(start, read.num_rows()).columns());
        start += read.num_rows();
    }
    assert_eq!(start, batch.num_rows());
    assert!(reader.verify().unwrap().problems.is_empty());
});
