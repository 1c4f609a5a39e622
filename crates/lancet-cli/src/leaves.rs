//! Arrays rebuilt with other types at their leaves, whatever lists, structs and dictionaries are around them.

use arrow_array::{Array, ArrayRef, make_array};
use arrow_buffer::{ArrowNativeType, Buffer, NullBuffer};
use arrow_data::ArrayData;
use arrow_schema::{ArrowError, DataType};

/// A day of `date64`, in milliseconds.
pub const DAY: i64 = 86_400_000;

/// The array as `to`, which has the same shape; `leaf` makes the values of one type those of another.
pub fn convert(
    array: &ArrayRef,
    to: &DataType,
    leaf: &dyn Fn(ArrayData, &DataType) -> Result<ArrayData, ArrowError>,
) -> Result<ArrayRef, ArrowError> {
    if array.data_type() == to {
        return Ok(array.clone());
    }
    walk(array.to_data(), to, leaf).map(make_array)
}

fn walk(
    data: ArrayData,
    to: &DataType,
    leaf: &dyn Fn(ArrayData, &DataType) -> Result<ArrayData, ArrowError>,
) -> Result<ArrayData, ArrowError> {
    if data.data_type() == to {
        return Ok(data);
    }
    let types: Vec<&DataType> = match to {
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::FixedSizeList(item, _)
        | DataType::Map(item, _) => vec![item.data_type()],
        DataType::Struct(fields) => fields.iter().map(|field| field.data_type()).collect(),
        DataType::Dictionary(_, values) => vec![values],
        _ => return leaf(data, to),
    };
    let children = data.child_data().iter().zip(types);
    let children = children.map(|(child, to)| walk(child.clone(), to, leaf));
    let children = children.collect::<Result<_, _>>()?;
    data.into_builder().data_type(to.clone()).child_data(children).build()
}

/// An array of values that are held as `N`.
pub fn held<N: ArrowNativeType>(
    values: Vec<N>,
    nulls: Option<NullBuffer>,
    data_type: &DataType,
) -> Result<ArrayData, ArrowError> {
    ArrayData::builder(data_type.clone())
        .len(values.len())
        .add_buffer(Buffer::from_vec(values))
        .nulls(nulls)
        .build()
}

/// The same values under the name of another type that holds them alike.
pub fn relabel(data: ArrayData, to: &DataType) -> Result<ArrayData, ArrowError> {
    data.into_builder().data_type(to.clone()).build()
}
