//! Columns out of what Python has: arrays of numpy, and lists.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, FixedSizeListArray, Float64Array, Int64Array, RecordBatch,
    RecordBatchOptions, StringArray, make_array,
};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer};
use arrow_data::ArrayData;
use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::PyDict;

use crate::capsules::array_in;
use crate::errors::{OrRaise, given_for};
use crate::typed;

/// Rows out of columns: a name, what the values are, and the values. Those that are `typed` are as the schema has them.
pub(crate) fn batch(
    columns: Vec<(String, String, Bound<'_, PyAny>)>,
    schema: Option<&SchemaRef>,
) -> PyResult<RecordBatch> {
    let mut fields = Vec::with_capacity(columns.len());
    let mut arrays = Vec::with_capacity(columns.len());
    for (name, kind, values) in columns {
        let (array, field) = match (kind.as_str(), schema) {
            ("typed", Some(schema)) => {
                let field = schema.field_with_name(&name).or_raise()?.clone();
                let values: Vec<Bound<'_, PyAny>> = values.extract()?;
                (typed::array(&values, field.data_type(), &name)?, field.with_nullable(true))
            }
            _ => column(&kind, &values)
                .map_err(|e| given_for(values.py(), &format!("column `{name}`"), &e))?,
        };
        let lengths = arrays.first().map(|first: &ArrayRef| (first.len(), array.len()));
        if let Some((first, this)) = lengths.filter(|(first, this)| first != this) {
            return Err(PyValueError::new_err(format!(
                "column `{name}` has {this} rows, but those before it have {first}"
            )));
        }
        fields.push(field.with_name(name));
        arrays.push(array);
    }
    let rows = arrays.first().map_or(0, |array| array.len());
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &options).or_raise()
}

fn column(kind: &str, values: &Bound<'_, PyAny>) -> PyResult<(ArrayRef, Field)> {
    let array: ArrayRef = match kind {
        "arrow" => return array_in(values),
        "numbers" => numbers(values.getattr("__array_interface__")?.cast::<PyDict>()?)?,
        "bool" => Arc::new(BooleanArray::from(values.extract::<Vec<Option<bool>>>()?)),
        "int" => Arc::new(Int64Array::from(values.extract::<Vec<Option<i64>>>()?)),
        "float" => Arc::new(Float64Array::from(values.extract::<Vec<Option<f64>>>()?)),
        "str" => {
            let values: Vec<Option<PyBackedStr>> = values.extract()?;
            Arc::new(values.iter().map(Option::as_deref).collect::<StringArray>())
        }
        "bytes" => {
            let values: Vec<Option<PyBackedBytes>> = values.extract()?;
            Arc::new(values.iter().map(Option::as_deref).collect::<BinaryArray>())
        }
        other => return Err(PyTypeError::new_err(format!("there are no columns of {other}"))),
    };
    let field = Field::new("", array.data_type().clone(), true);
    Ok((array, field))
}

/// The numbers that an array of numpy says lie one after the other at an address. They are copied: others may write
/// to them.
fn numbers(interface: &Bound<'_, PyDict>) -> PyResult<ArrayRef> {
    let item = |name: &str| {
        let missing = || PyTypeError::new_err(format!("the array does not tell its {name}"));
        interface.get_item(name)?.ok_or_else(missing)
    };
    let shape: Vec<usize> = item("shape")?.extract()?;
    let (address, _): (usize, bool) = item("data")?.extract()?;
    let typestr: String = item("typestr")?.extract()?;
    let is_plain = interface.get_item("strides")?.is_none_or(|strides| strides.is_none());
    let (data_type, width) = number_type(&typestr)?;
    let count = shape.iter().try_fold(1_usize, |all, n| all.checked_mul(*n));
    let bytes = count.and_then(|count| count.checked_mul(width)).filter(|_| is_plain);
    let (Some(count), Some(bytes)) = (count, bytes) else {
        return Err(PyValueError::new_err("the array does not lie in one piece"));
    };
    let memory: &[u8] = match bytes {
        0 => &[],
        // SAFETY: numpy says that an array of this shape and type lies there in one piece, and it lives while it is
        // asked.
        _ => unsafe {
            std::slice::from_raw_parts(std::ptr::with_exposed_provenance(address), bytes)
        },
    };
    let array = if data_type == DataType::Boolean {
        Arc::new(BooleanArray::from_iter(memory.iter().map(|byte| Some(*byte != 0)))) as ArrayRef
    } else {
        let nulls = if typestr.contains('[') { not_a_time(memory) } else { None };
        let data = ArrayData::builder(data_type).len(count).nulls(nulls);
        make_array(data.add_buffer(Buffer::from(memory)).build().or_raise()?)
    };
    // The last dimension is the innermost list.
    let mut dimensions = shape.get(1..).unwrap_or_default().iter().enumerate().rev();
    dimensions.try_fold(array, |items, (depth, width)| {
        let len = shape.get(..=depth).unwrap_or_default().iter().product();
        let width = i32::try_from(*width)
            .map_err(|_| PyValueError::new_err("the array has too many columns"))?;
        let field = Arc::new(Field::new("item", items.data_type().clone(), true));
        let lists = FixedSizeListArray::try_new_with_length(field, width, items, None, len);
        Ok(Arc::new(lists.or_raise()?) as ArrayRef)
    })
}

/// Where times of numpy are none: the least number stands for NaT.
fn not_a_time(memory: &[u8]) -> Option<NullBuffer> {
    let least = i64::MIN.to_ne_bytes();
    let valid: BooleanBuffer = memory.chunks_exact(8).map(|time| time != least).collect();
    let nulls = NullBuffer::new(valid);
    (nulls.null_count() > 0).then_some(nulls)
}

/// The type of numbers that numpy names so, and their bytes.
fn number_type(typestr: &str) -> PyResult<(DataType, usize)> {
    use DataType as D;
    let native = if cfg!(target_endian = "little") { '<' } else { '>' };
    let unit = |text: &str| match text {
        "[s]" => Some(TimeUnit::Second),
        "[ms]" => Some(TimeUnit::Millisecond),
        "[us]" => Some(TimeUnit::Microsecond),
        "[ns]" => Some(TimeUnit::Nanosecond),
        _ => None,
    };
    let found = match typestr.trim_start_matches([native, '|', '=']) {
        "b1" => Some((D::Boolean, 1)),
        "i1" => Some((D::Int8, 1)),
        "i2" => Some((D::Int16, 2)),
        "i4" => Some((D::Int32, 4)),
        "i8" => Some((D::Int64, 8)),
        "u1" => Some((D::UInt8, 1)),
        "u2" => Some((D::UInt16, 2)),
        "u4" => Some((D::UInt32, 4)),
        "u8" => Some((D::UInt64, 8)),
        "f2" => Some((D::Float16, 2)),
        "f4" => Some((D::Float32, 4)),
        "f8" => Some((D::Float64, 8)),
        time => match (time.get(..2), unit(time.get(2..).unwrap_or_default())) {
            (Some("M8"), Some(unit)) => Some((D::Timestamp(unit, None), 8)),
            (Some("m8"), Some(unit)) => Some((D::Duration(unit), 8)),
            _ => None,
        },
    };
    found.ok_or_else(|| PyTypeError::new_err(format!("there are no columns of type {typestr}")))
}
