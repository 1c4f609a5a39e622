//! Floats in JSON.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float16Type, Float32Type, Float64Type};
use arrow_array::{Array, ArrowPrimitiveType};
use arrow_schema::DataType;
use serde_core::Serialize;

use super::json::Value;
use crate::show::numbers::integer;

/// From here on numbers have an exponent.
const LARGE: f64 = 1e10;
/// And those that would begin so.
const SMALL: &str = "0.00000";

/// A type of floats.
trait Float: ryu::Float + Into<f64> + Serialize + 'static {}
impl Float for f32 {}
impl Float for f64 {}

/// A writer of the floats of an array, if it is one of floats.
pub fn floats(array: &dyn Array) -> Option<Value<'_>> {
    match array.data_type() {
        DataType::Float16 => Some(of::<Float16Type, f32>(array, |value| value.to_f32())),
        DataType::Float32 => Some(of::<Float32Type, f32>(array, |value| value)),
        DataType::Float64 => Some(of::<Float64Type, f64>(array, |value| value)),
        _ => None,
    }
}

fn of<T: ArrowPrimitiveType, F: Float>(
    array: &dyn Array,
    widened: fn(T::Native) -> F,
) -> Value<'_> {
    let values: &[T::Native] = array.as_primitive::<T>().values();
    if values.iter().all(|value| widened(*value).into().is_finite()) {
        Box::new(move |row, out| {
            number(widened(values[row]), out);
            Ok(())
        })
    } else {
        Box::new(move |row, out| {
            named(widened(values[row]), out);
            Ok(())
        })
    }
}

/// A number among some that JSON has none for: those become strings.
fn named<F: Float>(value: F, out: &mut Vec<u8>) {
    let wide: f64 = value.into();
    if wide.is_nan() {
        out.extend_from_slice(b"\"NaN\"");
    } else if wide.is_infinite() {
        let name: &[u8] = if wide > 0.0 { b"\"Infinity\"" } else { b"\"-Infinity\"" };
        out.extend_from_slice(name);
    } else {
        let _ = serde_json::to_writer(out, &value); // a Vec takes everything
    }
}

/// The shortest digits that give the number back, with a point: `0.1`, `1.0`, `1.5e10`, `1.0e-6`.
fn number<F: Float>(value: F, out: &mut Vec<u8>) {
    let mut buffer = ryu::Buffer::new();
    let text = buffer.format_finite(value);
    let (sign, digits) = text.strip_prefix('-').map_or(("", text), |digits| ("-", digits));
    let parts = digits.split_once('e');
    if parts.is_none() && value.into().abs() < LARGE && !digits.starts_with(SMALL) {
        return out.extend_from_slice(text.as_bytes());
    }
    let (digits, exponent) = parts.unwrap_or((digits, "0"));
    let exponent = exponent.parse::<i32>().unwrap_or_default();
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    out.extend_from_slice(sign.as_bytes());
    let start = out.len();
    out.extend(whole.bytes().chain(fraction.bytes()).skip_while(|digit| *digit == b'0'));
    let zeros = (whole.len() + fraction.len()) as i32 - (out.len() - start) as i32;
    while out.len() > start + 1 && out.ends_with(b"0") {
        out.pop();
    }
    if out.len() == start + 1 {
        out.push(b'0');
    }
    out.insert(start + 1, b'.');
    out.push(b'e');
    integer(exponent + whole.len() as i32 - 1 - zeros, out);
}
