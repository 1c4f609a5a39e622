//! The values of one column against literals. What passes where the column is null is of no meaning.

use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Float16Type, Float32Type, Float64Type};
use arrow_array::{Array, ArrayRef};
use arrow_buffer::{ArrowNativeType, BooleanBuffer};
use arrow_data::ArrayData;
use arrow_schema::{DataType, IntervalUnit};
use half::f16;

use super::super::filter::Comparison;
use super::super::keys::{Keys, keys};
use super::packed::{Bytes, Kind, Test, Values};
use super::place::{Place, Ratio, Whole};
use crate::error::{Error, Result};

/// What a value that is not null has to be. Literals have no dictionaries around them.
#[derive(Debug, Clone, Copy)]
pub(super) enum Condition<'a> {
    /// Compared with one literal, which is not null.
    Compare(Comparison, &'a ArrayRef),
    /// Equal to one of some literals. Null equals nothing.
    OneOf(&'a ArrayRef),
    StartsWith(&'a [u8]),
}

/// The values of a column without a dictionary that pass.
pub(super) fn passing(
    name: &str,
    column: &ArrayRef,
    condition: &Condition<'_>,
) -> Result<BooleanBuffer> {
    use DataType as D;
    let len = column.len();
    let found = match column.data_type() {
        D::Boolean => booleans(column, condition),
        D::Int8 => whole::<i8>(column, condition),
        D::Int16 => whole::<i16>(column, condition),
        D::Int32
        | D::Date32
        | D::Time32(_)
        | D::Decimal32(..)
        | D::Interval(IntervalUnit::YearMonth) => whole::<i32>(column, condition),
        D::Int64
        | D::Date64
        | D::Time64(_)
        | D::Timestamp(..)
        | D::Duration(_)
        | D::Decimal64(..) => whole::<i64>(column, condition),
        D::UInt8 => whole::<u8>(column, condition),
        D::UInt16 => whole::<u16>(column, condition),
        D::UInt32 => whole::<u32>(column, condition),
        D::UInt64 => whole::<u64>(column, condition),
        D::Decimal128(..) => whole::<i128>(column, condition),
        D::Decimal256(..) => whole::<arrow_buffer::i256>(column, condition),
        D::Float16 => floats::<Float16Type>(column, condition, f16::INFINITY),
        D::Float32 => floats::<Float32Type>(column, condition, f32::INFINITY),
        D::Float64 => floats::<Float64Type>(column, condition, f64::INFINITY),
        D::Utf8 => {
            let column = column.as_string::<i32>();
            bytes(len, |row| column.value(row).as_bytes(), condition)
        }
        D::LargeUtf8 => {
            let column = column.as_string::<i64>();
            bytes(len, |row| column.value(row).as_bytes(), condition)
        }
        D::Utf8View => {
            let column = column.as_string_view();
            bytes(len, |row| column.value(row).as_bytes(), condition)
        }
        D::Binary => {
            let column = column.as_binary::<i32>();
            bytes(len, |row| column.value(row), condition)
        }
        D::LargeBinary => {
            let column = column.as_binary::<i64>();
            bytes(len, |row| column.value(row), condition)
        }
        D::BinaryView => {
            let column = column.as_binary_view();
            bytes(len, |row| column.value(row), condition)
        }
        D::FixedSizeBinary(_) => {
            let column = column.as_fixed_size_binary();
            bytes(len, |row| column.value(row), condition)
        }
        _ => None,
    };
    found.ok_or_else(|| {
        Error::unsupported(format!(
            "column `{name}` is of type {}, which a scan does not compare",
            column.data_type()
        ))
    })
}

/// The values of an array as they are held.
pub(super) fn native<N: ArrowNativeType>(data: &ArrayData) -> &[N] {
    data.buffer::<N>(0).get(..data.len()).unwrap_or_default()
}

fn whole<N>(column: &ArrayRef, condition: &Condition<'_>) -> Option<BooleanBuffer>
where
    N: ArrowNativeType + Whole,
{
    let places = |literals: &ArrayRef| {
        let Keys::Whole(numbers) = keys(literals)? else { return None };
        let ratio = Ratio::of(literals.data_type(), column.data_type())?;
        let numbers = numbers.into_iter().flatten();
        Some(numbers.map(move |literal| Place::of(literal, ratio).narrow::<N>()))
    };
    let test = match condition {
        Condition::Compare(op, literal) => Test::comparison(*op, places(literal)?.next()?),
        Condition::OneOf(literals) => {
            let value = |place| match place {
                Place::At(value) => Some(value),
                _ => None,
            };
            Test::one_of(places(literals)?.filter_map(value).collect())
        }
        Condition::StartsWith(_) => return None,
    };
    let data = column.to_data();
    Some(test.run(native::<N>(&data)))
}

fn booleans(column: &ArrayRef, condition: &Condition<'_>) -> Option<BooleanBuffer> {
    let test = match condition {
        Condition::Compare(op, literal) => {
            Test::comparison(*op, Place::At(literal.as_boolean_opt()?.iter().next()??))
        }
        Condition::OneOf(literals) => {
            Test::one_of(literals.as_boolean_opt()?.iter().flatten().collect())
        }
        Condition::StartsWith(_) => return None,
    };
    let passes = |value: bool| test.run(&[value][..]).count_set_bits() == 1;
    let values = column.as_boolean_opt()?.values();
    Some(match (passes(false), passes(true)) {
        (false, false) => BooleanBuffer::new_unset(values.len()),
        (false, true) => values.clone(),
        (true, false) => !values,
        (true, true) => BooleanBuffer::new_set(values.len()),
    })
}

/// NaN equals NaN and is above all numbers, and zeros are equal.
fn floats<T>(
    column: &ArrayRef,
    condition: &Condition<'_>,
    infinity: T::Native,
) -> Option<BooleanBuffer>
where
    T: ArrowPrimitiveType<Native: PartialOrd>,
{
    use Comparison as C;
    let values = &column.as_primitive_opt::<T>()?.values()[..];
    let is_nan = |value: &T::Native| value.partial_cmp(value).is_none();
    // NaN alone is not at most infinity.
    let nan_is = |wanted: bool| Test { kind: Kind::AtMost(infinity), negated: wanted };
    match condition {
        Condition::Compare(op, literal) => {
            let literal = literal.as_primitive_opt::<T>()?.iter().next()??;
            let test = match op {
                _ if !is_nan(&literal) => Test::comparison(*op, Place::At(literal)),
                C::Eq | C::GtEq => nan_is(true),
                C::NotEq | C::Lt => nan_is(false),
                C::LtEq => Test { kind: Kind::Never, negated: true },
                C::Gt => Test { kind: Kind::Never, negated: false },
            };
            Some(test.run(values))
        }
        Condition::OneOf(literals) => {
            let literals = literals.as_primitive_opt::<T>()?.iter().flatten();
            let (no_numbers, numbers): (Vec<_>, Vec<_>) = literals.partition(is_nan);
            let found = Test::one_of(numbers).run(values);
            Some(if no_numbers.is_empty() { found } else { &found | &nan_is(true).run(values) })
        }
        Condition::StartsWith(_) => None,
    }
}

fn bytes<'a>(
    len: usize,
    value: impl Fn(usize) -> &'a [u8],
    condition: &Condition<'a>,
) -> Option<BooleanBuffer> {
    let column = Bytes { len, value };
    Some(match condition {
        Condition::Compare(op, literal) => {
            let literal = byte_literals(literal)?.into_iter().next()??;
            Test::comparison(*op, Place::At(literal)).run(&column)
        }
        Condition::OneOf(literals) => {
            Test::one_of(byte_literals(literals)?.into_iter().flatten().collect()).run(&column)
        }
        Condition::StartsWith(prefix) => column.pack(|value| value.starts_with(prefix)),
    })
}

fn byte_literals(literals: &ArrayRef) -> Option<Vec<Option<&[u8]>>> {
    if let Some(fixed) = literals.as_fixed_size_binary_opt() {
        return Some(fixed.iter().collect());
    }
    match keys(literals)? {
        Keys::Bytes(values) => Some(values),
        _ => None,
    }
}
