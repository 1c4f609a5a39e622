//! Values as bytes that are equal where the values are.
//!
//! Nulls are equal to each other; floats are equal if their bits are.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ListLikeArray, downcast_dictionary_array, downcast_run_array};
use arrow_buffer::ArrowNativeType;
use arrow_data::ArrayData;
use arrow_schema::{ArrowError, DataType};

/// Appends the bytes of a value that is not null.
type Value<'a> = Box<dyn Fn(usize, &mut Vec<u8>) + 'a>;

/// The values of an array as bytes.
pub struct Keys<'a> {
    array: &'a dyn Array,
    value: Value<'a>,
}

impl<'a> Keys<'a> {
    /// Fails on unions, and on types that have them inside.
    pub fn new(array: &'a dyn Array) -> Result<Self, ArrowError> {
        Ok(Self { array, value: value(array)? })
    }

    /// Appends the bytes of a value.
    pub fn write(&self, row: usize, out: &mut Vec<u8>) {
        // Of a dictionary and of runs the values say which are nulls.
        let null = self.array.is_null(row);
        match self.array.data_type() {
            DataType::Dictionary(..) | DataType::RunEndEncoded(..) if !null => {}
            DataType::Null => return out.push(0),
            _ => out.push(u8::from(!null)),
        }
        if !null {
            (self.value)(row, out);
        }
    }
}

fn value(array: &dyn Array) -> Result<Value<'_>, ArrowError> {
    use DataType as D;
    macro_rules! sized {
        ($array:expr) => {{
            let array = $array;
            Box::new(move |row, out| {
                let bytes: &[u8] = array.value(row).as_ref();
                out.extend_from_slice(&bytes.len().to_le_bytes());
                out.extend_from_slice(bytes);
            })
        }};
    }
    Ok(match array.data_type() {
        D::Null => Box::new(|_, _| {}),
        D::Boolean => {
            let array = array.as_boolean();
            Box::new(move |row, out| out.push(array.value(row).into()))
        }
        D::Utf8 => sized!(array.as_string::<i32>()),
        D::LargeUtf8 => sized!(array.as_string::<i64>()),
        D::Utf8View => sized!(array.as_string_view()),
        D::Binary => sized!(array.as_binary::<i32>()),
        D::LargeBinary => sized!(array.as_binary::<i64>()),
        D::BinaryView => sized!(array.as_binary_view()),
        D::FixedSizeBinary(_) => sized!(array.as_fixed_size_binary()),
        D::List(_) => lists(array.as_list::<i32>())?,
        D::LargeList(_) => lists(array.as_list::<i64>())?,
        D::ListView(_) => lists(array.as_list_view::<i32>())?,
        D::LargeListView(_) => lists(array.as_list_view::<i64>())?,
        D::FixedSizeList(..) => lists(array.as_fixed_size_list())?,
        D::Map(..) => {
            let (map, offsets) = (array.as_map(), array.as_map().value_offsets());
            let entries = Keys::new(map.entries())?;
            Box::new(move |row, out| {
                items(&entries, offsets[row].as_usize()..offsets[row + 1].as_usize(), out);
            })
        }
        D::Struct(_) => {
            let fields = array.as_struct().columns().iter().map(|field| Keys::new(field.as_ref()));
            let fields = fields.collect::<Result<Vec<_>, _>>()?;
            Box::new(move |row, out| fields.iter().for_each(|field| field.write(row, out)))
        }
        D::Dictionary(..) => downcast_dictionary_array! {
            array => {
                let (keys, values) = (array.keys().values(), Keys::new(array.values().as_ref())?);
                Box::new(move |row, out| values.write(keys[row].as_usize(), out))
            },
            other => return Err(unknown(other))
        },
        D::RunEndEncoded(..) => downcast_run_array! {
            array => {
                let values = Keys::new(array.values().as_ref())?;
                Box::new(move |row, out| values.write(array.get_physical_index(row), out))
            },
            other => return Err(unknown(other))
        },
        other => {
            let width = other.primitive_width().ok_or_else(|| unknown(other))?;
            numbers(&array.to_data(), width)
        }
    })
}

/// Values that lie side by side.
fn numbers(data: &ArrayData, width: usize) -> Value<'static> {
    let values = data.buffers().first().cloned().unwrap_or_default();
    let first = data.offset();
    Box::new(move |row, out| {
        let start = (first + row) * width;
        out.extend_from_slice(values.get(start..start + width).unwrap_or_default());
    })
}

fn lists<L: ListLikeArray>(array: &L) -> Result<Value<'_>, ArrowError> {
    let values = Keys::new(array.values().as_ref())?;
    Ok(Box::new(move |row, out| items(&values, array.element_range(row), out)))
}

fn items(values: &Keys<'_>, range: std::ops::Range<usize>, out: &mut Vec<u8>) {
    out.extend_from_slice(&range.len().to_le_bytes());
    range.for_each(|item| values.write(item, out));
}

fn unknown(data_type: &DataType) -> ArrowError {
    ArrowError::NotYetImplemented(format!("values of {data_type} cannot be compared"))
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use arrow_array::UInt64Array;
    use arrow_row::{RowConverter, SortField};
    use arrow_select::take::take;

    use super::*;
    use crate::show::samples;

    fn number(keys: impl Iterator<Item = Vec<u8>>) -> Vec<usize> {
        let mut seen = HashMap::new();
        let mut numbers = Vec::new();
        for key in keys {
            let next = seen.len();
            numbers.push(*seen.entry(key).or_insert(next));
        }
        numbers
    }

    #[test]
    fn rows_that_arrow_finds_equal_have_equal_bytes() {
        for array in samples::all() {
            let field = SortField::new(array.data_type().clone());
            if matches!(array.data_type(), DataType::Union(..)) {
                assert!(Keys::new(&array).is_err());
                continue;
            }
            if !RowConverter::supports_fields(std::slice::from_ref(&field)) {
                continue;
            }
            let rows = (0..array.len() as u64).chain(0..array.len() as u64);
            let both = take(&array, &UInt64Array::from_iter_values(rows), None).unwrap();
            let keys = Keys::new(&both).unwrap();
            let rows = RowConverter::new(vec![field]).unwrap();
            let rows = rows.convert_columns(std::slice::from_ref(&both)).unwrap();
            let ours = number((0..both.len()).map(|row| {
                let mut key = Vec::new();
                keys.write(row, &mut key);
                key
            }));
            let theirs = number(rows.iter().map(|row| row.data().to_vec()));
            assert_eq!(ours, theirs, "{}", array.data_type());
        }
    }
}
