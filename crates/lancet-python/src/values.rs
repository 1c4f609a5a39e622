//! Values as objects of Python.
//!
//! Numbers, texts and bytes are made here; dates, times and decimals by functions of `lancet._values`, which are handed
//! whole numbers. Structs are dicts, lists are lists, maps are lists of pairs.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type, Float16Type,
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, ArrowNativeTypeOp, OffsetSizeTrait};
use arrow_buffer::ArrowNativeType;
use arrow_schema::{DataType, IntervalUnit, TimeUnit};
use arrow_select::take::take;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString, PyTuple};

use crate::errors::{OrRaise, unsupported};
use crate::memory::keep_memory;

/// The values of an array.
pub(crate) fn objects<'py>(py: Python<'py>, array: &ArrayRef) -> PyResult<Vec<Bound<'py, PyAny>>> {
    use DataType as D;
    match array.data_type() {
        D::Null => Ok(vec![py.None().into_bound(py); array.len()]),
        D::Boolean => each(py, array.as_boolean().iter()),
        D::Int8 => numbers::<Int8Type>(py, array),
        D::Int16 => numbers::<Int16Type>(py, array),
        D::Int32 => numbers::<Int32Type>(py, array),
        D::Int64 => numbers::<Int64Type>(py, array),
        D::UInt8 => numbers::<UInt8Type>(py, array),
        D::UInt16 => numbers::<UInt16Type>(py, array),
        D::UInt32 => numbers::<UInt32Type>(py, array),
        D::UInt64 => numbers::<UInt64Type>(py, array),
        D::Float16 => {
            each(py, array.as_primitive::<Float16Type>().iter().map(|v| v.map(|v| v.to_f64())))
        }
        D::Float32 => numbers::<Float32Type>(py, array),
        D::Float64 => numbers::<Float64Type>(py, array),
        D::Utf8 => Ok(texts(py, array.as_string::<i32>().iter())),
        D::LargeUtf8 => Ok(texts(py, array.as_string::<i64>().iter())),
        D::Utf8View => Ok(texts(py, array.as_string_view().iter())),
        D::Binary => bytes(py, array.as_binary::<i32>().iter()),
        D::LargeBinary => bytes(py, array.as_binary::<i64>().iter()),
        D::BinaryView => bytes(py, array.as_binary_view().iter()),
        D::FixedSizeBinary(_) => bytes(py, array.as_fixed_size_binary().iter()),
        D::Date32 | D::Date64 | D::Time32(_) | D::Time64(_) | D::Timestamp(..) | D::Duration(_) => {
            temporal(py, array)
        }
        D::Decimal32(_, scale) => decimals::<Decimal32Type>(py, array, *scale),
        D::Decimal64(_, scale) => decimals::<Decimal64Type>(py, array, *scale),
        D::Decimal128(_, scale) => decimals::<Decimal128Type>(py, array, *scale),
        D::Decimal256(_, scale) => decimals::<Decimal256Type>(py, array, *scale),
        D::List(_) => lists::<i32>(py, array),
        D::LargeList(_) => lists::<i64>(py, array),
        D::FixedSizeList(_, width) => fixed_lists(py, array, *width),
        D::Struct(_) => structs(py, array),
        D::Map(..) => maps(py, array),
        D::Dictionary(..) => dictionary(py, array),
        D::Interval(unit) => intervals(py, array, *unit),
        other => Err(unsupported(&format!("values of type {other} as objects of Python"))),
    }
}

/// Values that Python knows.
fn each<'py, T: IntoPyObject<'py>>(
    py: Python<'py>,
    values: impl Iterator<Item = Option<T>>,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    values
        .map(|value| match value {
            Some(value) => value.into_bound_py_any(py),
            None => Ok(py.None().into_bound(py)),
        })
        .collect()
}

fn numbers<'py, T>(py: Python<'py>, array: &ArrayRef) -> PyResult<Vec<Bound<'py, PyAny>>>
where
    T: ArrowPrimitiveType,
    T::Native: IntoPyObject<'py>,
{
    each(py, array.as_primitive::<T>().iter())
}

fn bytes<'py, 'a>(
    py: Python<'py>,
    values: impl Iterator<Item = Option<&'a [u8]>> + Clone,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    keep_memory(values.clone().flatten().map(<[u8]>::len).sum());
    each(py, values.map(|value| value.map(|value| PyBytes::new(py, value))))
}

/// A text is looked for among so many at most.
const KNOWN_TEXTS: usize = 1 << 14;
/// Longer ones seldom come twice.
const MAX_KNOWN_BYTES: usize = 64;
/// After so many texts it is known whether they repeat.
const TRIED: usize = 2048;

/// Texts. Those that come again are one object, as they are never changed: it takes 10 ns instead of 45 to find it again.
fn texts<'py, 'a>(
    py: Python<'py>,
    values: impl ExactSizeIterator<Item = Option<&'a str>>,
) -> Vec<Bound<'py, PyAny>> {
    let mut known: Vec<Option<(&str, Bound<'py, PyAny>)>> = Vec::new();
    if values.len() > TRIED {
        known.resize((values.len() / 2).next_power_of_two().min(KNOWN_TEXTS), None);
    }
    let (mut tried, mut found) = (0_usize, 0_usize);
    let text = |value: Option<&'a str>| {
        let Some(value) = value else { return py.None().into_bound(py) };
        let made = || PyString::new(py, value).into_any();
        if known.is_empty() || value.len() > MAX_KNOWN_BYTES {
            return made();
        }
        tried = tried.saturating_add(1);
        if tried == TRIED && found < TRIED / 4 {
            known.clear();
            return made();
        }
        let place = hash(value.as_bytes()) as usize % known.len().max(1);
        match known.get_mut(place) {
            Some(Some((text, object))) if *text == value => {
                found = found.saturating_add(1);
                object.clone()
            }
            Some(slot) => {
                let object = made();
                *slot = Some((value, object.clone()));
                object
            }
            None => made(),
        }
    };
    values.map(text).collect()
}

/// A number for some bytes, which differs for most others.
fn hash(bytes: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mix = |hash: u64, word: u64| (hash.rotate_left(5) ^ word).wrapping_mul(FACTOR);
    let (words, rest) = bytes.as_chunks::<8>();
    let hash =
        words.iter().fold(bytes.len() as u64, |hash, word| mix(hash, u64::from_le_bytes(*word)));
    let last = rest.iter().fold(0, |word, byte| word << 8 | u64::from(*byte));
    mix(hash, last) >> 32
}

/// A function of `lancet._values`.
fn function<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import("lancet._values")?.getattr(name)
}

fn unit_name(unit: &TimeUnit) -> &'static str {
    match unit {
        TimeUnit::Second => "s",
        TimeUnit::Millisecond => "ms",
        TimeUnit::Microsecond => "us",
        TimeUnit::Nanosecond => "ns",
    }
}

/// Dates and times, out of whole numbers.
fn temporal<'py>(py: Python<'py>, array: &ArrayRef) -> PyResult<Vec<Bound<'py, PyAny>>> {
    use DataType as D;
    let made = match array.data_type() {
        D::Date32 => function(py, "date")?.call1((1,))?,
        D::Date64 => function(py, "date")?.call1((86_400_000,))?,
        D::Time32(unit) | D::Time64(unit) => function(py, "time")?.call1((unit_name(unit),))?,
        D::Timestamp(unit, zone) => {
            function(py, "timestamp")?.call1((unit_name(unit), zone.as_deref()))?
        }
        D::Duration(unit) => function(py, "duration")?.call1((unit_name(unit),))?,
        other => return Err(unsupported(&format!("times of type {other}"))),
    };
    let data = array.to_data();
    let narrow = matches!(array.data_type(), D::Date32 | D::Time32(_));
    let value = |row: usize| -> Option<i64> {
        array.is_valid(row).then(|| match narrow {
            true => data.buffer::<i32>(0).get(row).map_or(0, |v| i64::from(*v)),
            false => data.buffer::<i64>(0).get(row).copied().unwrap_or(0),
        })
    };
    let object = |row: usize| match value(row) {
        Some(value) => made.call1((value,)),
        None => Ok(py.None().into_bound(py)),
    };
    (0..array.len()).map(object).collect()
}

/// Decimals, out of their digits.
fn decimals<'py, T>(
    py: Python<'py>,
    array: &ArrayRef,
    scale: i8,
) -> PyResult<Vec<Bound<'py, PyAny>>>
where
    T: ArrowPrimitiveType,
    T::Native: ArrowNativeTypeOp + std::fmt::Display,
{
    let decimal = function(py, "decimal")?;
    let object = |value: Option<T::Native>| match value {
        Some(value) => decimal.call1((format!("{value}E{}", -i32::from(scale)),)),
        None => Ok(py.None().into_bound(py)),
    };
    array.as_primitive::<T>().iter().map(object).collect()
}

/// The parts of a list of values.
fn cut<'py>(
    py: Python<'py>,
    array: &ArrayRef,
    values: &[Bound<'py, PyAny>],
    bounds: impl Iterator<Item = (usize, usize)>,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let object = |(row, (start, end)): (usize, (usize, usize))| {
        if array.is_null(row) {
            return Ok(py.None().into_bound(py));
        }
        let items = values.get(start..end).unwrap_or_default();
        Ok(PyList::new(py, items)?.into_any())
    };
    bounds.enumerate().map(object).collect()
}

fn lists<'py, O: OffsetSizeTrait>(
    py: Python<'py>,
    array: &ArrayRef,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let lists = array.as_list::<O>();
    let offsets = lists.value_offsets();
    let first = offsets.first().map_or(0, |offset| offset.as_usize());
    let last = offsets.last().map_or(0, |offset| offset.as_usize());
    // Only the items of these rows.
    let items = lists.values().slice(first, last.saturating_sub(first));
    let values = objects(py, &items)?;
    let bounds = offsets.iter().zip(offsets.iter().skip(1)).map(|(start, end)| {
        (start.as_usize().saturating_sub(first), end.as_usize().saturating_sub(first))
    });
    cut(py, array, &values, bounds)
}

fn fixed_lists<'py>(
    py: Python<'py>,
    array: &ArrayRef,
    width: i32,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let lists = array.as_fixed_size_list();
    let width = usize::try_from(width).unwrap_or(0);
    let values = objects(py, lists.values())?;
    let bounds = (0..lists.len()).map(|row| {
        let start = row.saturating_mul(width);
        (start, start.saturating_add(width))
    });
    cut(py, array, &values, bounds)
}

fn structs<'py>(py: Python<'py>, array: &ArrayRef) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let rows = array.as_struct();
    let names: Vec<Bound<'py, PyString>> =
        rows.fields().iter().map(|field| PyString::new(py, field.name())).collect();
    let columns: Vec<_> =
        rows.columns().iter().map(|column| objects(py, column)).collect::<PyResult<_>>()?;
    let object = |row: usize| {
        if rows.is_null(row) {
            return Ok(py.None().into_bound(py));
        }
        let dict = PyDict::new(py);
        for (name, column) in names.iter().zip(&columns) {
            dict.set_item(name, column.get(row))?;
        }
        Ok(dict.into_any())
    };
    (0..rows.len()).map(object).collect()
}

fn maps<'py>(py: Python<'py>, array: &ArrayRef) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let maps = array.as_map();
    let offsets = maps.value_offsets();
    let first = offsets.first().map_or(0, |offset| offset.as_usize());
    let last = offsets.last().map_or(0, |offset| offset.as_usize());
    let entries = maps.entries().slice(first, last.saturating_sub(first));
    let pairs = objects(py, entries.column(0))?.into_iter().zip(objects(py, entries.column(1))?);
    let pairs = pairs.map(|(key, value)| Ok(PyTuple::new(py, [key, value])?.into_any()));
    let pairs: Vec<Bound<'py, PyAny>> = pairs.collect::<PyResult<_>>()?;
    let bounds = offsets.iter().zip(offsets.iter().skip(1)).map(|(start, end)| {
        (start.as_usize().saturating_sub(first), end.as_usize().saturating_sub(first))
    });
    cut(py, array, &pairs, bounds)
}

fn dictionary<'py>(py: Python<'py>, array: &ArrayRef) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let Some(dictionary) = array.as_any_dictionary_opt() else {
        return Err(unsupported("a dictionary that is none"));
    };
    objects(py, &take(dictionary.values(), dictionary.keys(), None).or_raise()?)
}

fn intervals<'py>(
    py: Python<'py>,
    array: &ArrayRef,
    unit: IntervalUnit,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    use arrow_array::types::{
        IntervalDayTimeType, IntervalMonthDayNanoType, IntervalYearMonthType,
    };
    match unit {
        IntervalUnit::YearMonth => numbers::<IntervalYearMonthType>(py, array),
        IntervalUnit::DayTime => {
            let values = array.as_primitive::<IntervalDayTimeType>().iter();
            each(py, values.map(|value| value.map(|v| (v.days, v.milliseconds))))
        }
        IntervalUnit::MonthDayNano => {
            let values = array.as_primitive::<IntervalMonthDayNanoType>().iter();
            each(py, values.map(|value| value.map(|v| (v.months, v.days, v.nanoseconds))))
        }
    }
}
