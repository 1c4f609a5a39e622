//! Bounds and literals in forms that compare: whole numbers, floats, bytes.
//!
//! | type | key |
//! |---|---|
//! | booleans, integers, dates, times, timestamps, durations, decimals | a whole number, in the column's unit |
//! | floats | `f64`, which holds all of them |
//! | strings, binaries | their bytes |
//!
//! A literal of another type than the column's is converted if that is exact, whichever of the
//! two an engine would convert; otherwise it has no key and nothing is known about it.

use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal256Type, Float16Type, Float32Type, Float64Type};
use arrow_array::{Array, ArrayRef};
use arrow_buffer::{ArrowNativeType, i256};
use arrow_schema::{DataType, IntervalUnit, TimeUnit};
use arrow_select::take::take;

/// Values in the form in which they compare; none where they are null. NaN stays.
#[derive(Debug, Clone)]
pub(super) enum Keys<'a> {
    Whole(Vec<Option<i256>>),
    Float(Vec<Option<f64>>),
    Bytes(Vec<Option<&'a [u8]>>),
}

/// A key. Where engines differ about an order, both answers count as possible.
pub(super) trait Key: Copy {
    /// Whether some engine has it that `self < other`.
    fn may_be_less(self, other: Self) -> bool;
    /// Whether some engine has it that `self <= other`.
    fn may_be_at_most(self, other: Self) -> bool;
    /// Whether all engines agree that both are equal.
    fn is_same(self, other: Self) -> bool;
}

impl Key for i256 {
    fn may_be_less(self, other: Self) -> bool {
        self < other
    }

    fn may_be_at_most(self, other: Self) -> bool {
        self <= other
    }

    fn is_same(self, other: Self) -> bool {
        self == other
    }
}

impl Key for &[u8] {
    fn may_be_less(self, other: Self) -> bool {
        self < other
    }

    fn may_be_at_most(self, other: Self) -> bool {
        self <= other
    }

    fn is_same(self, other: Self) -> bool {
        self == other
    }
}

/// Zeros of both signs are equal, or ordered: engines differ. NaN does not come here.
impl Key for f64 {
    fn may_be_less(self, other: Self) -> bool {
        self.total_cmp(&other).is_lt()
    }

    fn may_be_at_most(self, other: Self) -> bool {
        self <= other || self.total_cmp(&other).is_le()
    }

    fn is_same(self, other: Self) -> bool {
        self.total_cmp(&other).is_eq()
    }
}

/// The keys of an array; none for types that have no zone maps.
pub(super) fn keys(array: &ArrayRef) -> Option<Keys<'_>> {
    use DataType as D;
    Some(match array.data_type() {
        D::Boolean => {
            let bits = array.as_boolean().iter();
            Keys::Whole(bits.map(|bit| bit.map(|bit| i256::from_i128(bit.into()))).collect())
        }
        D::Int8 => whole::<i8>(array),
        D::Int16 => whole::<i16>(array),
        D::Int32
        | D::Date32
        | D::Time32(_)
        | D::Decimal32(..)
        | D::Interval(IntervalUnit::YearMonth) => whole::<i32>(array),
        D::Int64
        | D::Date64
        | D::Time64(_)
        | D::Timestamp(..)
        | D::Duration(_)
        | D::Decimal64(..) => whole::<i64>(array),
        D::UInt8 => whole::<u8>(array),
        D::UInt16 => whole::<u16>(array),
        D::UInt32 => whole::<u32>(array),
        D::UInt64 => whole::<u64>(array),
        D::Decimal128(..) => whole::<i128>(array),
        D::Decimal256(..) => Keys::Whole(array.as_primitive::<Decimal256Type>().iter().collect()),
        D::Float16 => float(array.as_primitive::<Float16Type>().iter().map(|v| Some(v?.to_f64()))),
        D::Float32 => float(array.as_primitive::<Float32Type>().iter().map(|v| Some(v?.into()))),
        D::Float64 => float(array.as_primitive::<Float64Type>().iter()),
        D::Utf8 => text(array.as_string::<i32>().iter()),
        D::LargeUtf8 => text(array.as_string::<i64>().iter()),
        D::Utf8View => text(array.as_string_view().iter()),
        D::Binary => Keys::Bytes(array.as_binary::<i32>().iter().collect()),
        D::LargeBinary => Keys::Bytes(array.as_binary::<i64>().iter().collect()),
        D::BinaryView => Keys::Bytes(array.as_binary_view().iter().collect()),
        _ => return None,
    })
}

/// Of an array whose values are held as `N`.
fn whole<N: ArrowNativeType + Into<i128>>(array: &ArrayRef) -> Keys<'_> {
    let data = array.to_data();
    let values = data.buffer::<N>(0).iter().take(data.len()).enumerate();
    let key =
        |(row, value): (usize, &N)| data.is_valid(row).then(|| i256::from_i128((*value).into()));
    Keys::Whole(values.map(key).collect())
}

fn float<'a>(values: impl Iterator<Item = Option<f64>>) -> Keys<'a> {
    Keys::Float(values.collect())
}

fn text<'a>(values: impl Iterator<Item = Option<&'a str>>) -> Keys<'a> {
    Keys::Bytes(values.map(|value| value.map(str::as_bytes)).collect())
}

/// The type of the values of a dictionary, or the type itself.
pub(super) fn decoded_type(data_type: &DataType) -> &DataType {
    match data_type {
        DataType::Dictionary(_, values) => values,
        plain => plain,
    }
}

/// Literals without dictionaries around them; `None` if that fails.
pub(super) fn decoded(literals: &ArrayRef) -> Option<ArrayRef> {
    match literals.as_any_dictionary_opt() {
        Some(dictionary) => take(dictionary.values(), dictionary.keys(), None).ok(),
        None => Some(literals.clone()),
    }
}

/// The keys of literals in a column of type `column`. A literal that is not null but has no key
/// is in the second list as `false`.
pub(super) fn literal_keys<'a>(
    literals: &'a ArrayRef,
    column: &DataType,
) -> Option<(Keys<'a>, Vec<bool>)> {
    let from = literals.data_type();
    let found = keys(literals)?;
    let known = |keys: Keys<'a>| {
        let convertible = vec![true; literals.len()];
        Some((keys, convertible))
    };
    match (found, Kind::of(from)?, Kind::of(column)?) {
        (keys, ..) if from == column => known(keys),
        (keys @ Keys::Bytes(_), from, to) if from == to => known(keys),
        (Keys::Whole(values), Kind::Whole(from, per_unit), Kind::Whole(to, units))
            if from == to =>
        {
            Some(convert(values, Keys::Whole, |value| rescale(value, per_unit, units)))
        }
        (Keys::Float(values), Kind::Float(_), Kind::Float(digits)) => {
            Some(convert(values, Keys::Float, |value| in_digits(value, digits).then_some(value)))
        }
        (Keys::Whole(values), Kind::Whole(Unit::Number, 1), Kind::Float(digits)) => {
            Some(convert(values, Keys::Float, |value| small_float(value, digits)))
        }
        (Keys::Float(values), Kind::Float(53), Kind::Whole(Unit::Number, 1)) => {
            Some(convert(values, Keys::Whole, small_whole))
        }
        _ => None,
    }
}

fn convert<'a, T, U>(
    values: Vec<Option<T>>,
    wrap: fn(Vec<Option<U>>) -> Keys<'a>,
    one: impl Fn(T) -> Option<U>,
) -> (Keys<'a>, Vec<bool>) {
    let mut convertible = Vec::with_capacity(values.len());
    let mut keys = Vec::with_capacity(values.len());
    for value in values {
        let is_null = value.is_none();
        let key = value.and_then(&one);
        convertible.push(is_null || key.is_some());
        keys.push(key);
    }
    (wrap(keys), convertible)
}

/// What types are alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Whole numbers, so many to the unit.
    Whole(Unit, i64),
    /// Floats, with so many binary digits.
    Float(u32),
    Text,
    Binary,
}

/// What whole numbers count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Truth,
    Number,
    Day,
    TimeOfDay,
    /// Whether it is an instant or what a clock shows.
    Time {
        zoned: bool,
    },
    Duration,
}

impl Kind {
    pub(super) fn of(data_type: &DataType) -> Option<Self> {
        use DataType as D;
        let per_second = |unit: &TimeUnit| match unit {
            TimeUnit::Second => 1,
            TimeUnit::Millisecond => 1_000,
            TimeUnit::Microsecond => 1_000_000,
            TimeUnit::Nanosecond => 1_000_000_000,
        };
        Some(match data_type {
            D::Boolean => Self::Whole(Unit::Truth, 1),
            D::Int8
            | D::Int16
            | D::Int32
            | D::Int64
            | D::UInt8
            | D::UInt16
            | D::UInt32
            | D::UInt64 => Self::Whole(Unit::Number, 1),
            // Of scales that no `i64` holds, and negative ones, no literal of another type has a key.
            D::Decimal32(_, scale)
            | D::Decimal64(_, scale)
            | D::Decimal128(_, scale)
            | D::Decimal256(_, scale) => {
                let scale = u32::try_from(*scale).ok();
                let per_unit = scale.and_then(|scale| 10_i64.checked_pow(scale)).unwrap_or(0);
                Self::Whole(Unit::Number, per_unit)
            }
            D::Date32 => Self::Whole(Unit::Day, 1),
            D::Date64 => Self::Whole(Unit::Day, 86_400_000),
            D::Time32(unit) | D::Time64(unit) => Self::Whole(Unit::TimeOfDay, per_second(unit)),
            D::Timestamp(unit, zone) => {
                Self::Whole(Unit::Time { zoned: zone.is_some() }, per_second(unit))
            }
            D::Duration(unit) => Self::Whole(Unit::Duration, per_second(unit)),
            D::Float16 => Self::Float(11),
            D::Float32 => Self::Float(24),
            D::Float64 => Self::Float(53),
            D::Utf8 | D::LargeUtf8 | D::Utf8View => Self::Text,
            D::Binary | D::LargeBinary | D::BinaryView => Self::Binary,
            _ => return None,
        })
    }
}

/// Whether values of both types compare without a cast that could round: see
/// [`FileReader::prune`](crate::FileReader::prune).
pub(super) fn compares(literal: &DataType, column: &DataType) -> bool {
    match (Kind::of(literal), Kind::of(column)) {
        _ if literal == column => true,
        (Some(Kind::Whole(unit, _)), Some(Kind::Whole(other, _))) => unit == other,
        (Some(kind), Some(other)) => kind == other,
        _ => false,
    }
}

/// A whole number counted in another unit, if it is one there.
fn rescale(value: i256, per_unit: i64, units: i64) -> Option<i256> {
    let scaled = value.checked_mul(i256::from_i128(units.into()))?;
    let per_unit = i256::from_i128(per_unit.into());
    if units == 0 || per_unit == i256::ZERO || scaled.checked_rem(per_unit)? != i256::ZERO {
        return None;
    }
    scaled.checked_div(per_unit)
}

/// Whether a float is one of those with fewer binary digits. Infinities and NaN are.
fn in_digits(value: f64, digits: u32) -> bool {
    #[expect(clippy::cast_possible_truncation, reason = "the point is to see whether it is")]
    let narrow = value as f32;
    match digits {
        53 => true,
        24 => value.is_nan() || f64::from(narrow).to_bits() == value.to_bits(),
        // Of the 11-digit ones only those in reach of whole numbers are worth the trouble.
        _ => !value.is_finite() || value.fract() == 0.0 && value.abs() <= 2048.0,
    }
}

/// A whole number as a float of so many digits, if it is well within them.
fn small_float(value: i256, digits: u32) -> Option<f64> {
    let value = i32::try_from(value.to_i128()?).ok()?;
    let limit = 1_u32.checked_shl(digits).unwrap_or(u32::MAX);
    (value.unsigned_abs() < limit).then(|| value.into())
}

/// A float as a whole number, if it is one that engines do not round.
fn small_whole(value: f64) -> Option<i256> {
    let small = value.abs() < 9_007_199_254_740_992.0 && value.fract() == 0.0;
    #[expect(clippy::cast_possible_truncation, reason = "it is whole and below 2^53")]
    small.then(|| i256::from_i128((value as i64).into()))
}
