//! Values of Python as arrays of a given type: what columns that are there get.
//!
//! Nothing is rounded, cut or guessed, but floats to the width of their column: a value that the type does not hold is an
//! error. Lists are lists of Python, structs are dicts.

use std::sync::Arc;

use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type,
    Decimal256Type, DurationMicrosecondType, DurationMillisecondType, DurationNanosecondType,
    DurationSecondType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, Time32MillisecondType, Time32SecondType, Time64MicrosecondType,
    Time64NanosecondType, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, FixedSizeBinaryArray, FixedSizeListArray,
    LargeBinaryArray, LargeListArray, LargeStringArray, ListArray, NullArray, PrimitiveArray,
    StringArray, StructArray, new_null_array,
};
use arrow_buffer::{NullBuffer, OffsetBuffer, i256};
use arrow_schema::{DataType, FieldRef, Fields, TimeUnit};
use half::f16;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyIterator, PyString};

use crate::errors::{OrRaise, unsupported};
use crate::literals::{Literal, Unit, all};

/// The values as an array of this type; `column` names it in errors.
pub(crate) fn array(
    values: &[Bound<'_, PyAny>],
    data_type: &DataType,
    column: &str,
) -> PyResult<ArrayRef> {
    use DataType as D;
    match data_type {
        D::List(item) => {
            let (items, lengths, nulls) = items(values, item, column)?;
            let offsets = OffsetBuffer::from_lengths(lengths);
            Ok(Arc::new(ListArray::try_new(item.clone(), offsets, items, nulls).or_raise()?))
        }
        D::LargeList(item) => {
            let (items, lengths, nulls) = items(values, item, column)?;
            let offsets = OffsetBuffer::from_lengths(lengths);
            Ok(Arc::new(LargeListArray::try_new(item.clone(), offsets, items, nulls).or_raise()?))
        }
        D::FixedSizeList(item, width) => vectors(values, item, *width, column),
        D::Struct(fields) => structs(values, fields, column),
        plain => scalars(values, plain, column),
    }
}

/// What stands in the lists of some rows: the items, how many each has, and which rows have none.
type Items = (ArrayRef, Vec<usize>, Option<NullBuffer>);

fn items(values: &[Bound<'_, PyAny>], item: &FieldRef, column: &str) -> PyResult<Items> {
    let (mut all, mut lengths) = (Vec::new(), Vec::with_capacity(values.len()));
    for value in values {
        let mut length = 0_usize;
        if !value.is_none() {
            for part in parts(value).map_err(|_| cannot_hold(value, column, "lists"))? {
                all.push(part?);
                length = length.saturating_add(1);
            }
        }
        lengths.push(length);
    }
    Ok((array(&all, item.data_type(), column)?, lengths, nulls_of(values)))
}

/// What a list holds. A text is not a list of letters, nor a dict one of its keys.
fn parts<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyIterator>> {
    if value.is_instance_of::<PyString>() || value.is_instance_of::<PyDict>() {
        return Err(PyTypeError::new_err("no list"));
    }
    value.try_iter()
}

fn vectors(
    values: &[Bound<'_, PyAny>],
    item: &FieldRef,
    width: i32,
    column: &str,
) -> PyResult<ArrayRef> {
    let length = usize::try_from(width).unwrap_or(0);
    let py = values.first().map(Bound::py);
    let mut all = Vec::with_capacity(values.len().saturating_mul(length));
    for value in values {
        let before = all.len();
        if let (true, Some(py)) = (value.is_none(), py) {
            all.resize(before.saturating_add(length), py.None().into_bound(py));
            continue;
        }
        for part in parts(value).map_err(|_| cannot_hold(value, column, "vectors"))? {
            all.push(part?);
        }
        let found = all.len().saturating_sub(before);
        if found != length {
            return Err(PyValueError::new_err(format!(
                "column `{column}` has vectors of {length} values, and one of these has {found}"
            )));
        }
    }
    let items = array(&all, item.data_type(), column)?;
    let made = FixedSizeListArray::try_new_with_length(
        item.clone(),
        width,
        items,
        nulls_of(values),
        values.len(),
    );
    Ok(Arc::new(made.or_raise()?))
}

fn structs(values: &[Bound<'_, PyAny>], fields: &Fields, column: &str) -> PyResult<ArrayRef> {
    for value in values.iter().filter(|value| !value.is_none()) {
        let dict = value.cast::<PyDict>().map_err(|_| cannot_hold(value, column, "structs"))?;
        for name in dict.keys() {
            let name: String = name.extract()?;
            if fields.find(&name).is_none() {
                let message = format!("column `{column}` has no field `{name}`");
                return Err(PyValueError::new_err(message));
            }
        }
    }
    let mut arrays = Vec::with_capacity(fields.len());
    for field in fields {
        let mut below = Vec::with_capacity(values.len());
        for value in values {
            let none = || value.py().None().into_bound(value.py());
            below.push(match value.cast::<PyDict>() {
                Ok(dict) => dict.get_item(field.name())?.unwrap_or_else(none),
                Err(_) => none(),
            });
        }
        arrays.push(array(&below, field.data_type(), &format!("{column}.{}", field.name()))?);
    }
    let (fields, nulls) = (fields.clone(), nulls_of(values));
    let made = StructArray::try_new_with_length(fields, arrays, nulls, values.len());
    Ok(Arc::new(made.or_raise()?))
}

fn nulls_of(values: &[Bound<'_, PyAny>]) -> Option<NullBuffer> {
    let nulls: NullBuffer = values.iter().map(|value| !value.is_none()).collect::<Vec<_>>().into();
    (nulls.null_count() > 0).then_some(nulls)
}

fn cannot_hold(value: &Bound<'_, PyAny>, column: &str, what: &str) -> PyErr {
    let name = value.get_type().name().map_or_else(|_| "other".into(), |name| name.to_string());
    PyTypeError::new_err(format!(
        "column `{column}` has {what}, which a value of type {name} is none of"
    ))
}

fn scalars(values: &[Bound<'_, PyAny>], data_type: &DataType, column: &str) -> PyResult<ArrayRef> {
    let literals = values.iter().map(literal).collect::<PyResult<Vec<Literal>>>()?;
    if literals.iter().all(|literal| *literal == Literal::Null) {
        return Ok(new_null_array(data_type, literals.len()));
    }
    if let Some(found) = typed(&literals, data_type)? {
        return Ok(found);
    }
    for (value, literal) in values.iter().zip(&literals) {
        if typed(std::slice::from_ref(literal), data_type)?.is_none() {
            let shown: String = value.repr()?.to_string().chars().take(60).collect();
            let message =
                format!("column `{column}` is of type {data_type}, which does not hold {shown}");
            return Err(PyTypeError::new_err(message));
        }
    }
    Err(unsupported(&format!("values of Python for a column of type {data_type}; give Arrow rows")))
}

/// A value, which `lancet._columns` makes simple first where it must.
fn literal(value: &Bound<'_, PyAny>) -> PyResult<Literal> {
    match Literal::of(value) {
        Ok(literal) => Ok(literal),
        Err(_) => {
            let simple = value.py().import("lancet._columns")?.getattr("stored")?;
            Literal::of(&simple.call1((value,))?)
        }
    }
}

/// Values as an array of the type; none if one of them is no such value.
fn typed(values: &[Literal], data_type: &DataType) -> PyResult<Option<ArrayRef>> {
    use DataType as D;
    let texts = || {
        all(values, |value| match value {
            Literal::Text(text) => Some(text.as_str()),
            _ => None,
        })
    };
    let bytes = || {
        all(values, |value| match value {
            Literal::Bytes(bytes) => Some(bytes.as_slice()),
            _ => None,
        })
    };
    let found: Option<ArrayRef> = match data_type {
        D::Null => all(values, |_| None::<()>).map(|v| Arc::new(NullArray::new(v.len())) as _),
        D::Boolean => all(values, |value| match value {
            Literal::Bool(flag) => Some(*flag),
            _ => None,
        })
        .map(|values| Arc::new(BooleanArray::from(values)) as _),
        D::Utf8 => texts().map(|values| Arc::new(StringArray::from(values)) as _),
        D::LargeUtf8 => texts().map(|values| Arc::new(LargeStringArray::from(values)) as _),
        D::Binary => bytes().map(|values| Arc::new(BinaryArray::from(values)) as _),
        D::LargeBinary => bytes().map(|values| Arc::new(LargeBinaryArray::from(values)) as _),
        D::FixedSizeBinary(width) => match bytes() {
            Some(values) => {
                let made = FixedSizeBinaryArray::try_from_sparse_iter_with_size(
                    values.into_iter(),
                    *width,
                );
                Some(Arc::new(made.or_raise()?))
            }
            None => None,
        },
        D::Timestamp(_, zone) if has_other_zone(values, zone.is_some()) => {
            return Err(PyTypeError::new_err(match zone {
                Some(_) => "the column has a time zone: give datetimes that have one",
                None => "the column has no time zone: give datetimes that have none",
            }));
        }
        other => numbers(values, other),
    };
    Ok(found)
}

/// Whether an instant has a time zone, and the column has none, or the other way round.
fn has_other_zone(values: &[Literal], aware: bool) -> bool {
    values.iter().any(|value| matches!(value, Literal::Timestamp(.., zone) if *zone != aware))
}

/// Values that are numbers in Arrow.
fn numbers(values: &[Literal], data_type: &DataType) -> Option<ArrayRef> {
    use DataType as D;
    use TimeUnit as U;
    match data_type {
        D::Int8 => made::<Int8Type>(values, data_type, |v| whole(v)?.try_into().ok()),
        D::Int16 => made::<Int16Type>(values, data_type, |v| whole(v)?.try_into().ok()),
        D::Int32 => made::<Int32Type>(values, data_type, |v| whole(v)?.try_into().ok()),
        D::Int64 => made::<Int64Type>(values, data_type, |v| whole(v)?.try_into().ok()),
        D::UInt8 => made::<UInt8Type>(values, data_type, |v| whole(v)?.try_into().ok()),
        D::UInt16 => made::<UInt16Type>(values, data_type, |v| whole(v)?.try_into().ok()),
        D::UInt32 => made::<UInt32Type>(values, data_type, |v| whole(v)?.try_into().ok()),
        D::UInt64 => made::<UInt64Type>(values, data_type, |v| whole(v)?.try_into().ok()),
        D::Float16 => made::<Float16Type>(values, data_type, |v| v.float().map(f16::from_f64)),
        #[expect(clippy::cast_possible_truncation, reason = "rounded to the column's width")]
        D::Float32 => made::<Float32Type>(values, data_type, |v| v.float().map(|v| v as f32)),
        D::Float64 => made::<Float64Type>(values, data_type, Literal::float),
        D::Decimal32(p, s) => {
            made::<Decimal32Type>(values, data_type, |v| decimal(v, *p, *s)?.try_into().ok())
        }
        D::Decimal64(p, s) => {
            made::<Decimal64Type>(values, data_type, |v| decimal(v, *p, *s)?.try_into().ok())
        }
        D::Decimal128(p, s) => {
            made::<Decimal128Type>(values, data_type, |v| digits(v, *p, *s)?.to_i128())
        }
        D::Decimal256(p, s) => made::<Decimal256Type>(values, data_type, |v| digits(v, *p, *s)),
        D::Date32 => made::<Date32Type>(values, data_type, date),
        D::Date64 => {
            made::<Date64Type>(values, data_type, |v| i64::from(date(v)?).checked_mul(86_400_000))
        }
        D::Time32(U::Second) => {
            made::<Time32SecondType>(values, data_type, |v| time(v, U::Second)?.try_into().ok())
        }
        D::Time32(unit) => {
            made::<Time32MillisecondType>(values, data_type, |v| time(v, *unit)?.try_into().ok())
        }
        D::Time64(U::Nanosecond) => {
            made::<Time64NanosecondType>(values, data_type, |v| time(v, U::Nanosecond))
        }
        D::Time64(unit) => made::<Time64MicrosecondType>(values, data_type, |v| time(v, *unit)),
        D::Duration(unit) => match unit {
            U::Second => made::<DurationSecondType>(values, data_type, |v| span(v, *unit)),
            U::Millisecond => {
                made::<DurationMillisecondType>(values, data_type, |v| span(v, *unit))
            }
            U::Microsecond => {
                made::<DurationMicrosecondType>(values, data_type, |v| span(v, *unit))
            }
            U::Nanosecond => made::<DurationNanosecondType>(values, data_type, |v| span(v, *unit)),
        },
        D::Timestamp(unit, _) => match unit {
            U::Second => made::<TimestampSecondType>(values, data_type, |v| instant(v, *unit)),
            U::Millisecond => {
                made::<TimestampMillisecondType>(values, data_type, |v| instant(v, *unit))
            }
            U::Microsecond => {
                made::<TimestampMicrosecondType>(values, data_type, |v| instant(v, *unit))
            }
            U::Nanosecond => {
                made::<TimestampNanosecondType>(values, data_type, |v| instant(v, *unit))
            }
        },
        _ => None,
    }
}

fn made<T: ArrowPrimitiveType>(
    values: &[Literal],
    data_type: &DataType,
    pick: impl Fn(&Literal) -> Option<T::Native>,
) -> Option<ArrayRef> {
    let array: PrimitiveArray<T> = all(values, pick)?.into_iter().collect();
    Some(Arc::new(array.with_data_type(data_type.clone())))
}

/// A whole number.
fn whole(value: &Literal) -> Option<i128> {
    match value {
        Literal::Number(digits, 0) => digits.to_i128(),
        _ => None,
    }
}

/// The digits of a decimal of this precision and scale.
fn digits(value: &Literal, precision: u8, scale: i8) -> Option<i256> {
    let Literal::Number(digits, behind) = value else { return None };
    let more = u32::try_from(i16::from(scale).checked_sub(i16::from(*behind))?).ok()?;
    let ten = i256::from_i128(10);
    let digits = digits.checked_mul(ten.checked_pow(more)?)?;
    let bound = ten.checked_pow(precision.into())?;
    (digits < bound && digits > bound.checked_neg()?).then_some(digits)
}

fn decimal(value: &Literal, precision: u8, scale: i8) -> Option<i128> {
    digits(value, precision, scale)?.to_i128()
}

fn date(value: &Literal) -> Option<i32> {
    match value {
        Literal::Date(days) => Some(*days),
        _ => None,
    }
}

fn time(value: &Literal, unit: TimeUnit) -> Option<i64> {
    match value {
        Literal::Time(value, from) => in_unit(*value, *from, unit),
        _ => None,
    }
}

fn span(value: &Literal, unit: TimeUnit) -> Option<i64> {
    match value {
        Literal::Duration(value, from) => in_unit(*value, *from, unit),
        _ => None,
    }
}

fn instant(value: &Literal, unit: TimeUnit) -> Option<i64> {
    match value {
        Literal::Timestamp(value, from, _) => in_unit(*value, *from, unit),
        // Midnight of a day.
        Literal::Date(days) => in_unit(i64::from(*days).checked_mul(86_400)?, Unit::Seconds, unit),
        _ => None,
    }
}

/// A time in another unit, exactly.
fn in_unit(value: i64, from: Unit, to: TimeUnit) -> Option<i64> {
    let nanos_each = Unit::Nanos.per_second().checked_div(from.per_second())?;
    let nanos = i128::from(value).checked_mul(nanos_each.into())?;
    let each = match to {
        TimeUnit::Second => 1_000_000_000,
        TimeUnit::Millisecond => 1_000_000,
        TimeUnit::Microsecond => 1_000,
        TimeUnit::Nanosecond => 1,
    };
    (nanos.rem_euclid(each) == 0).then(|| nanos.div_euclid(each))?.try_into().ok()
}
