//! Text as values of a type that was given: nulls where a text is none.

use std::sync::Arc;

use arrow_array::timezone::Tz;
use arrow_array::types::{ArrowPrimitiveType, Float16Type};
use arrow_array::{ArrayRef, BooleanArray, LargeStringArray, StringArray, make_array};
use arrow_buffer::{ArrowNativeType, NullBuffer, i256};
use arrow_schema::{ArrowError, DataType, TimeUnit};

use super::kind::UTC;
use super::moments;
use super::numbers::{float, integer};
use crate::{dictionaries, leaves};

/// Whether text can be read as values of a type.
pub fn is_read_as(data_type: &DataType) -> bool {
    let none = StringArray::from(Vec::<&str>::new());
    parse(&none, data_type).is_ok()
}

/// All texts as values of one of the types that `--types` has a name for.
pub fn parse(text: &StringArray, data_type: &DataType) -> Result<ArrayRef, ArrowError> {
    use DataType as D;
    match data_type {
        D::Utf8 => Ok(Arc::new(text.clone())),
        D::LargeUtf8 => Ok(Arc::new(text.iter().collect::<LargeStringArray>())),
        D::Boolean => {
            Ok(Arc::new(text.iter().map(|text| boolean(text?)).collect::<BooleanArray>()))
        }
        D::Int8 => numbers(text, data_type, integer::<i8>),
        D::Int16 => numbers(text, data_type, integer::<i16>),
        D::Int32 => numbers(text, data_type, integer::<i32>),
        D::Int64 => numbers(text, data_type, integer::<i64>),
        D::UInt8 => numbers(text, data_type, integer::<u8>),
        D::UInt16 => numbers(text, data_type, integer::<u16>),
        D::UInt32 => numbers(text, data_type, integer::<u32>),
        D::UInt64 => numbers(text, data_type, integer::<u64>),
        D::Float16 => numbers(text, data_type, |text| {
            float::<f64>(text).map(<Float16Type as ArrowPrimitiveType>::Native::from_f64)
        }),
        D::Float32 => numbers(text, data_type, float::<f32>),
        D::Float64 => numbers(text, data_type, float::<f64>),
        D::Date32 => numbers(text, data_type, moments::days),
        D::Date64 => {
            numbers(text, data_type, |text| Some(i64::from(moments::days(text)?) * leaves::DAY))
        }
        D::Time32(unit) => numbers(text, data_type, |text| {
            time_of_day(text, *unit)
                .map_or_else(|| text.parse::<i32>().ok(), |time| time.try_into().ok())
        }),
        D::Time64(unit) => {
            numbers(text, data_type, |text| time_of_day(text, *unit).or_else(|| text.parse().ok()))
        }
        D::Timestamp(unit, zone) => {
            // Named zones need a table of zones; UTC does not.
            let zone = zone.as_deref().filter(|zone| *zone != UTC).unwrap_or("+00:00");
            let zone: Tz = zone.parse()?;
            numbers(text, data_type, |text| instant(text, *unit, &zone))
        }
        D::Decimal128(precision, scale) => numbers(text, data_type, |text| {
            decimal(text, *precision, *scale).and_then(i256::to_i128)
        }),
        D::Decimal256(precision, scale) => {
            numbers(text, data_type, |text| decimal(text, *precision, *scale))
        }
        D::Dictionary(_, values) => dictionaries::of_values(&parse(text, values)?, data_type),
        other => Err(ArrowError::NotYetImplemented(format!("text as {other}"))),
    }
}

/// An array of a type whose values are held as `N`.
fn numbers<N: ArrowNativeType>(
    text: &StringArray,
    data_type: &DataType,
    parse: impl Fn(&str) -> Option<N>,
) -> Result<ArrayRef, ArrowError> {
    let parsed: Vec<Option<N>> = text.iter().map(|text| parse(text?)).collect();
    let values: Vec<N> = parsed.iter().map(|value| value.unwrap_or_default()).collect();
    let nulls = NullBuffer::from_iter(parsed.iter().map(Option::is_some));
    Ok(make_array(leaves::held(values, Some(nulls), data_type)?))
}

/// The words that databases know.
fn boolean(text: &str) -> Option<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "t" | "true" | "y" | "yes" | "on" | "1" => Some(true),
        "f" | "false" | "n" | "no" | "off" | "0" => Some(false),
        _ => None,
    }
}

fn time_of_day(text: &str, unit: TimeUnit) -> Option<i64> {
    let nanos = moments::since_midnight(text)?;
    Some(match unit {
        TimeUnit::Second => nanos / 1_000_000_000,
        TimeUnit::Millisecond => nanos / 1_000_000,
        TimeUnit::Microsecond => nanos / 1_000,
        TimeUnit::Nanosecond => nanos,
    })
}

fn instant(text: &str, unit: TimeUnit, zone: &Tz) -> Option<i64> {
    let instant = moments::instant(text, zone)?;
    match unit {
        TimeUnit::Second => Some(instant.timestamp()),
        TimeUnit::Millisecond => Some(instant.timestamp_millis()),
        TimeUnit::Microsecond => Some(instant.timestamp_micros()),
        TimeUnit::Nanosecond => instant.timestamp_nanos_opt(),
    }
}

/// A sign, digits and digits behind a point, as units of `10^-scale`. Nothing is rounded.
fn decimal(text: &str, precision: u8, scale: i8) -> Option<i256> {
    let (negative, digits) = match text.as_bytes() {
        [b'-', ..] => (true, text.get(1..)?),
        [b'+', ..] => (false, text.get(1..)?),
        _ => (false, text),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let fraction = fraction.trim_end_matches('0');
    let zeros = usize::try_from(scale).ok()?.checked_sub(fraction.len())?;
    let whole_digits = whole.trim_start_matches('0');
    if digits.trim_matches(['0', '.']).is_empty() && !digits.contains('0')
        || whole_digits.len() > precision.into()
    {
        return None;
    }
    let ten = i256::from_i128(10);
    let mut units = i256::ZERO;
    let padding = std::iter::repeat_n(b'0', zeros);
    for byte in whole_digits.bytes().chain(fraction.bytes()).chain(padding) {
        let digit = byte.checked_sub(b'0').filter(|digit| *digit < 10)?;
        units = units.checked_mul(ten)?.checked_add(i256::from_i128(digit.into()))?;
    }
    let limit = ten.checked_pow(precision.into())?;
    let units = (units < limit).then_some(units)?;
    if negative { units.checked_neg() } else { Some(units) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_exact_or_refused() {
        let units =
            |text, precision, scale| decimal(text, precision, scale).map(|units| units.to_string());
        assert_eq!(units("-12.5", 10, 2).unwrap(), "-1250");
        assert_eq!(units("+.50", 10, 2).unwrap(), "50");
        assert_eq!(units("007.", 3, 0).unwrap(), "7");
        assert_eq!(units("0", 1, 0).unwrap(), "0");
        assert_eq!(units("9".repeat(76).as_str(), 76, 0).unwrap(), "9".repeat(76));
        let long = "1".repeat(300);
        for (text, precision, scale) in [
            ("", 5, 2),
            ("-", 5, 2),
            (".", 5, 2),
            ("1.234", 5, 2),
            ("1e2", 5, 2),
            ("1.5e-3", 5, 3),
            ("1.2.3", 5, 4),
            (" 1", 5, 2),
            ("1000", 5, 2),
            ("--1", 5, 2),
            (long.as_str(), 76, 0),
        ] {
            assert_eq!(decimal(text, precision, scale), None, "{text}");
        }
    }

    #[test]
    fn what_is_no_value_becomes_null() {
        let text = StringArray::from(vec![Some("1"), Some("x"), None, Some("300")]);
        let bytes = parse(&text, &DataType::UInt8).unwrap();
        let valid: Vec<bool> = (0..4).map(|row| bytes.is_valid(row)).collect();
        assert_eq!(valid, [true, false, false, false]);
        let text = StringArray::from(vec!["Yes", "0", "maybe"]);
        let booleans = parse(&text, &DataType::Boolean).unwrap();
        assert_eq!(
            booleans.as_any().downcast_ref::<BooleanArray>().unwrap(),
            &BooleanArray::from(vec![Some(true), Some(false), None])
        );
    }
}
