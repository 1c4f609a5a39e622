//! Values of Python that columns are compared with, as Arrow has them.
//!
//! `lancet._expr` hands over `None`, bools, ints, floats, texts and bytes as they are, and these as tuples:
//!
//! | tuple | what |
//! |---|---|
//! | `("decimal", text)` | a decimal |
//! | `("date", days)` | a day since 1970 |
//! | `("time", n, unit)` | a time of day |
//! | `("duration", n, unit)` | a time span |
//! | `("timestamp", n, unit, aware)` | an instant; `aware` if it has a time zone |
//!
//! The type of the column decides: a number that is compared with floats becomes a float of their width, as numpy and
//! polars have it.

use std::sync::Arc;

use arrow_array::types::{
    DurationMicrosecondType, DurationMillisecondType, DurationNanosecondType, DurationSecondType,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType,
};
use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal256Array, FixedSizeBinaryArray,
    Float16Array, Float32Array, Float64Array, Int64Array, NullArray, PrimitiveArray, StringArray,
    Time32MillisecondArray, Time32SecondArray, Time64MicrosecondArray, Time64NanosecondArray,
    UInt64Array, new_null_array,
};
use arrow_buffer::i256;
use arrow_schema::DataType;
use half::f16;
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyFloat, PyInt, PyString, PyTuple};

use crate::errors::OrRaise;

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Literal {
    Null,
    Bool(bool),
    /// The digits, the sign among them, and how many of them stand behind the point.
    Number(i256, u8),
    Float(f64),
    Text(String),
    Bytes(Vec<u8>),
    Date(i32),
    Time(i64, Unit),
    Duration(i64, Unit),
    Timestamp(i64, Unit, bool),
}

/// From the coarsest to the finest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Unit {
    Seconds,
    Millis,
    Micros,
    Nanos,
}

impl Unit {
    fn named(name: &str) -> PyResult<Self> {
        match name {
            "s" => Ok(Self::Seconds),
            "ms" => Ok(Self::Millis),
            "us" => Ok(Self::Micros),
            "ns" => Ok(Self::Nanos),
            _ => Err(PyTypeError::new_err(format!("times in units of {name} do not compare"))),
        }
    }

    pub(crate) fn per_second(self) -> i64 {
        match self {
            Self::Seconds => 1,
            Self::Millis => 1_000,
            Self::Micros => 1_000_000,
            Self::Nanos => 1_000_000_000,
        }
    }
}

impl Literal {
    pub(crate) fn of(value: &Bound<'_, PyAny>) -> PyResult<Self> {
        if value.is_none() {
            return Ok(Self::Null);
        }
        if let Ok(flag) = value.cast::<PyBool>() {
            return Ok(Self::Bool(flag.is_true()));
        }
        if value.is_instance_of::<PyInt>() {
            // Members of enums are shown by their names.
            let digits = value.py().get_type::<PyInt>().call_method1("__repr__", (value,))?;
            return number(&digits.extract::<String>()?);
        }
        if let Ok(float) = value.cast::<PyFloat>() {
            return Ok(Self::Float(float.value()));
        }
        if let Ok(text) = value.cast::<PyString>() {
            // What it is shown as may be something else, as for members of enums.
            return Ok(Self::Text(text.to_str()?.to_owned()));
        }
        if let Ok(bytes) = value.cast::<PyBytes>() {
            return Ok(Self::Bytes(bytes.as_bytes().to_vec()));
        }
        if let Ok(tuple) = value.cast::<PyTuple>() {
            return Self::tagged(tuple);
        }
        let name = value.get_type().name()?;
        Err(PyTypeError::new_err(format!("columns do not compare with a value of type {name}")))
    }

    fn tagged(tuple: &Bound<'_, PyTuple>) -> PyResult<Self> {
        let tag: String = tuple.get_item(0)?.extract()?;
        let whole = || tuple.get_item(1)?.extract::<i64>();
        let unit = || Unit::named(&tuple.get_item(2)?.extract::<String>()?);
        match tag.as_str() {
            "decimal" => number(&tuple.get_item(1)?.extract::<String>()?),
            "date" => Ok(Self::Date(tuple.get_item(1)?.extract()?)),
            "time" => Ok(Self::Time(whole()?, unit()?)),
            "duration" => Ok(Self::Duration(whole()?, unit()?)),
            "timestamp" => Ok(Self::Timestamp(whole()?, unit()?, tuple.get_item(3)?.extract()?)),
            _ => Err(PyTypeError::new_err("columns do not compare with tuples")),
        }
    }

    /// What a column of floats is compared with.
    pub(crate) fn float(&self) -> Option<f64> {
        match self {
            Self::Float(value) => Some(*value),
            Self::Number(digits, scale) => {
                // The nearest float to the decimal, as its text has it.
                format!("{digits}e-{scale}").parse().ok()
            }
            _ => None,
        }
    }
}

/// The number of a text like `-12.50`.
fn number(text: &str) -> PyResult<Literal> {
    let (whole, behind) = text.split_once('.').unwrap_or((text, ""));
    let digits = i256::from_string(&format!("{whole}{behind}"));
    match (digits, u8::try_from(behind.len())) {
        (Some(digits), Ok(scale)) if scale <= 76 => Ok(Literal::Number(digits, scale)),
        _ => Err(PyOverflowError::new_err(format!(
            "{} has more than the 76 digits that columns compare with",
            text.chars().take(40).collect::<String>()
        ))),
    }
}

/// The values as an array that compares with a column of this type.
pub(crate) fn array(
    values: &[Bound<'_, PyAny>],
    column: &str,
    data_type: &DataType,
) -> PyResult<ArrayRef> {
    let literals: Vec<Literal> = values.iter().map(Literal::of).collect::<PyResult<_>>()?;
    if literals.iter().all(|literal| *literal == Literal::Null) {
        return Ok(Arc::new(NullArray::new(literals.len())));
    }
    let data_type = match data_type {
        DataType::Dictionary(_, values) => values,
        plain => plain,
    };
    typed(&literals, data_type)?.ok_or_else(|| {
        let shown = values.iter().find(|value| !value.is_none());
        let name =
            shown.and_then(|value| value.get_type().name().ok().map(|name| name.to_string()));
        PyTypeError::new_err(format!(
            "column `{column}` is of type {data_type} and does not compare with a value of type {}",
            name.unwrap_or_default()
        ))
    })
}

/// All values as one kind; none if one of them is of another.
pub(crate) fn all<'a, T>(
    literals: &'a [Literal],
    pick: impl Fn(&'a Literal) -> Option<T>,
) -> Option<Vec<Option<T>>> {
    let pick = |literal: &'a Literal| match literal {
        Literal::Null => Some(None),
        other => pick(other).map(Some),
    };
    literals.iter().map(pick).collect()
}

fn typed(literals: &[Literal], data_type: &DataType) -> PyResult<Option<ArrayRef>> {
    use DataType as D;
    let floats = || all(literals, Literal::float);
    let found: Option<ArrayRef> = match data_type {
        D::Float16 => floats().map(|values| {
            let values = values.into_iter().map(|value| value.map(f16::from_f64));
            Arc::new(values.collect::<Float16Array>()) as ArrayRef
        }),
        D::Float32 => floats().map(|values| {
            #[expect(clippy::cast_possible_truncation, reason = "rounded to the column's width")]
            let values = values.into_iter().map(|value| value.map(|value| value as f32));
            Arc::new(values.collect::<Float32Array>()) as ArrayRef
        }),
        D::Float64 => floats().map(|values| Arc::new(Float64Array::from(values)) as ArrayRef),
        D::Boolean => all(literals, |literal| match literal {
            Literal::Bool(flag) => Some(*flag),
            _ => None,
        })
        .map(|values| Arc::new(BooleanArray::from(values)) as ArrayRef),
        D::Utf8 | D::LargeUtf8 | D::Utf8View => all(literals, |literal| match literal {
            Literal::Text(text) => Some(text.as_str()),
            _ => None,
        })
        .map(|values| Arc::new(StringArray::from(values)) as ArrayRef),
        D::Binary | D::LargeBinary | D::BinaryView => all(literals, |literal| match literal {
            Literal::Bytes(bytes) => Some(bytes.as_slice()),
            _ => None,
        })
        .map(|values| Arc::new(BinaryArray::from(values)) as ArrayRef),
        D::FixedSizeBinary(width) => fixed_bytes(literals, *width)?,
        D::Date32 | D::Date64 => all(literals, |literal| match literal {
            Literal::Date(days) => Some(*days),
            _ => None,
        })
        .map(|values| Arc::new(Date32Array::from(values)) as ArrayRef),
        D::Time32(_) | D::Time64(_) => times(literals),
        D::Duration(_) => durations(literals),
        D::Timestamp(_, zone) => timestamps(literals, zone.is_some())?,
        integers if integers.is_integer() || is_decimal(integers) => numbers(literals)?,
        _ => None,
    };
    Ok(found)
}

/// Bytes, all as long as those of the column.
fn fixed_bytes(literals: &[Literal], width: i32) -> PyResult<Option<ArrayRef>> {
    let values = all(literals, |literal| match literal {
        Literal::Bytes(bytes) => Some(bytes.as_slice()),
        _ => None,
    });
    let Some(values) = values else { return Ok(None) };
    let is_other = |bytes: &&[u8]| i32::try_from(bytes.len()) != Ok(width);
    if let Some(other) = values.iter().flatten().copied().find(is_other) {
        return Err(PyValueError::new_err(format!(
            "the column has values of {width} bytes, and one of these has {}",
            other.len()
        )));
    }
    let array = FixedSizeBinaryArray::try_from_sparse_iter_with_size(values.into_iter(), width);
    Ok(Some(Arc::new(array.or_raise()?)))
}

fn is_decimal(data_type: &DataType) -> bool {
    use DataType as D;
    matches!(data_type, D::Decimal32(..) | D::Decimal64(..) | D::Decimal128(..) | D::Decimal256(..))
}

/// Whole numbers and decimals, which compare with each other exactly.
fn numbers(literals: &[Literal]) -> PyResult<Option<ArrayRef>> {
    let exact = |literal: &Literal| match literal {
        Literal::Number(digits, scale) => Some(Ok((*digits, *scale))),
        // The shortest text of a float is what people have typed.
        Literal::Float(value) if value.is_finite() => {
            Some(number(&format!("{value}")).map(|n| match n {
                Literal::Number(digits, scale) => (digits, scale),
                _ => (i256::ZERO, 0),
            }))
        }
        _ => None,
    };
    let Some(values) = all(literals, exact) else { return Ok(None) };
    let values: Vec<Option<(i256, u8)>> =
        values.into_iter().map(Option::transpose).collect::<PyResult<_>>()?;
    let most = values.iter().flatten().map(|(_, scale)| *scale).max().unwrap_or(0);
    if most == 0 {
        let whole = |value: &Option<(i256, u8)>| value.map(|(digits, _)| digits);
        let narrow: Option<Vec<Option<i64>>> = values
            .iter()
            .map(|value| whole(value).map(|v| v.to_i128().and_then(|v| i64::try_from(v).ok())))
            .map(|value| value.map_or(Some(None), |narrow| narrow.map(Some)))
            .collect();
        if let Some(narrow) = narrow {
            return Ok(Some(Arc::new(Int64Array::from(narrow))));
        }
        let unsigned: Option<Vec<Option<u64>>> = values
            .iter()
            .map(|value| whole(value).map(|v| v.to_i128().and_then(|v| u64::try_from(v).ok())))
            .map(|value| value.map_or(Some(None), |narrow| narrow.map(Some)))
            .collect();
        if let Some(unsigned) = unsigned {
            return Ok(Some(Arc::new(UInt64Array::from(unsigned))));
        }
    }
    let ten = i256::from_i128(10);
    let scaled = |value: Option<(i256, u8)>| {
        value.map(|(digits, scale)| {
            let factor = ten.checked_pow(u32::from(most.saturating_sub(scale)));
            factor.and_then(|factor| digits.checked_mul(factor)).ok_or_else(|| {
                PyOverflowError::new_err("a number has more digits than columns compare with")
            })
        })
    };
    let values: Vec<Option<i256>> =
        values.into_iter().map(|value| scaled(value).transpose()).collect::<PyResult<_>>()?;
    let scale = i8::try_from(most).unwrap_or(i8::MAX);
    let array = Decimal256Array::from(values).with_precision_and_scale(76, scale);
    Ok(Some(Arc::new(array.map_err(|e| PyOverflowError::new_err(e.to_string()))?)))
}

/// The values in the finest of their units; none where one does not fit, or there are none.
fn in_common_unit(values: &[Option<(i64, Unit)>]) -> Option<(Unit, Vec<Option<i64>>)> {
    let finest = values.iter().flatten().map(|(_, unit)| *unit).max()?;
    let converted = |value: &Option<(i64, Unit)>| match value {
        Some((value, unit)) => {
            let factor = finest.per_second().checked_div(unit.per_second())?;
            Some(Some(value.checked_mul(factor)?))
        }
        None => Some(None),
    };
    Some((finest, values.iter().map(converted).collect::<Option<_>>()?))
}

fn times(literals: &[Literal]) -> Option<ArrayRef> {
    let values = all(literals, |literal| match literal {
        Literal::Time(value, unit) => Some((*value, *unit)),
        _ => None,
    })?;
    let (unit, values) = in_common_unit(&values)?;
    let values = values.into_iter();
    let narrow = |value: Option<i64>| value.and_then(|value| i32::try_from(value).ok());
    Some(match unit {
        Unit::Seconds => Arc::new(values.map(narrow).collect::<Time32SecondArray>()),
        Unit::Millis => Arc::new(values.map(narrow).collect::<Time32MillisecondArray>()),
        Unit::Micros => Arc::new(values.collect::<Time64MicrosecondArray>()),
        Unit::Nanos => Arc::new(values.collect::<Time64NanosecondArray>()),
    })
}

fn durations(literals: &[Literal]) -> Option<ArrayRef> {
    let values = all(literals, |literal| match literal {
        Literal::Duration(value, unit) => Some((*value, *unit)),
        _ => None,
    })?;
    let (unit, values) = in_common_unit(&values)?;
    let values = values.into_iter();
    Some(match unit {
        Unit::Seconds => Arc::new(values.collect::<PrimitiveArray<DurationSecondType>>()),
        Unit::Millis => Arc::new(values.collect::<PrimitiveArray<DurationMillisecondType>>()),
        Unit::Micros => Arc::new(values.collect::<PrimitiveArray<DurationMicrosecondType>>()),
        Unit::Nanos => Arc::new(values.collect::<PrimitiveArray<DurationNanosecondType>>()),
    })
}

/// Instants; those of a column with a time zone need one, too.
fn timestamps(literals: &[Literal], aware: bool) -> PyResult<Option<ArrayRef>> {
    const DAY: i64 = 86_400;
    let values = all(literals, |literal| match literal {
        Literal::Timestamp(value, unit, zone) => Some((*value, *unit, *zone)),
        // Midnight of a day.
        Literal::Date(days) => Some((i64::from(*days).saturating_mul(DAY), Unit::Seconds, false)),
        _ => None,
    });
    let Some(values) = values else { return Ok(None) };
    if values.iter().flatten().any(|(.., zone)| *zone != aware) {
        return Err(PyTypeError::new_err(match aware {
            true => "the column has a time zone: compare it with a datetime that has one",
            false => "the column has no time zone: compare it with a datetime that has none",
        }));
    }
    let values: Vec<_> =
        values.into_iter().map(|value| value.map(|(value, unit, _)| (value, unit))).collect();
    let Some((unit, values)) = in_common_unit(&values) else { return Ok(None) };
    let zone: Option<Arc<str>> = aware.then(|| "UTC".into());
    let values = values.into_iter();
    Ok(Some(match unit {
        Unit::Seconds => Arc::new(
            values.collect::<PrimitiveArray<TimestampSecondType>>().with_timezone_opt(zone),
        ),
        Unit::Millis => Arc::new(
            values.collect::<PrimitiveArray<TimestampMillisecondType>>().with_timezone_opt(zone),
        ),
        Unit::Micros => Arc::new(
            values.collect::<PrimitiveArray<TimestampMicrosecondType>>().with_timezone_opt(zone),
        ),
        Unit::Nanos => Arc::new(
            values.collect::<PrimitiveArray<TimestampNanosecondType>>().with_timezone_opt(zone),
        ),
    }))
}

/// Nothing, as the type of a column: `in` a list without values.
pub(crate) fn none(data_type: &DataType) -> ArrayRef {
    new_null_array(data_type, 0)
}
