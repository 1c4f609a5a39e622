//! Numbers as text.

use std::io::Write;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type, Float16Type, Float32Type,
    Float64Type,
};
use arrow_array::{Array, ArrowPrimitiveType, PrimitiveArray};
use arrow_schema::{ArrowError, DataType};

use super::{Value, unknown};

pub fn integers<T>(array: &PrimitiveArray<T>) -> Value<'_>
where
    T: ArrowPrimitiveType<Native: itoa::Integer>,
{
    Box::new(move |row, out| {
        integer(array.value(row), out);
        Ok(())
    })
}

pub fn integer(value: impl itoa::Integer, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

pub fn floats(array: &dyn Array) -> Result<Value<'_>, ArrowError> {
    macro_rules! shortest {
        ($type:ty) => {{
            let array = array.as_primitive::<$type>();
            Box::new(move |row, out| {
                out.extend_from_slice(ryu::Buffer::new().format(array.value(row)).as_bytes());
                Ok(())
            })
        }};
    }
    Ok(match array.data_type() {
        DataType::Float16 => {
            let array = array.as_primitive::<Float16Type>();
            Box::new(move |row, out| {
                let _ = write!(out, "{}", array.value(row)); // a Vec takes everything
                Ok(())
            })
        }
        DataType::Float32 => shortest!(Float32Type),
        DataType::Float64 => shortest!(Float64Type),
        other => return Err(unknown(other)),
    })
}

pub fn decimals(array: &dyn Array) -> Result<Value<'_>, ArrowError> {
    macro_rules! units {
        ($type:ty, $precision:expr, $scale:expr) => {{
            let array = array.as_primitive::<$type>();
            let (precision, scale) = (usize::from(*$precision), *$scale);
            Box::new(move |row, out| {
                decimal(itoa::Buffer::new().format(array.value(row)), precision, scale, out);
                Ok(())
            })
        }};
    }
    Ok(match array.data_type() {
        DataType::Decimal32(precision, scale) => units!(Decimal32Type, precision, scale),
        DataType::Decimal64(precision, scale) => units!(Decimal64Type, precision, scale),
        DataType::Decimal128(precision, scale) => units!(Decimal128Type, precision, scale),
        DataType::Decimal256(precision, scale) => {
            let array = array.as_primitive::<Decimal256Type>();
            let (precision, scale) = (usize::from(*precision), *scale);
            Box::new(move |row, out| {
                decimal(&array.value(row).to_string(), precision, scale, out);
                Ok(())
            })
        }
        other => return Err(unknown(other)),
    })
}

/// Units of `10^-scale`. Digits beyond the precision, which no sound array has, are cut.
fn decimal(units: &str, precision: usize, scale: i8, out: &mut Vec<u8>) {
    let (sign, digits) = match units.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", units),
    };
    let digits = digits.as_bytes();
    let places = usize::from(scale.unsigned_abs());
    let kept = digits.get(..precision).unwrap_or(digits);
    out.extend_from_slice(sign.as_bytes());
    if scale <= 0 {
        out.extend_from_slice(kept);
        out.extend(std::iter::repeat_n(b'0', places));
    } else if let Some(whole) = kept.len().checked_sub(places).filter(|whole| *whole > 0) {
        out.extend_from_slice(kept.get(..whole).unwrap_or_default());
        out.push(b'.');
        out.extend_from_slice(kept.get(whole..).unwrap_or_default());
    } else {
        out.extend_from_slice(b"0.");
        out.extend(std::iter::repeat_n(b'0', places.saturating_sub(digits.len())));
        out.extend_from_slice(digits);
    }
}
