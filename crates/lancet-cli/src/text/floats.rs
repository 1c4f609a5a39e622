//! Floats in JSON.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float16Type, Float32Type, Float64Type};
use arrow_array::{Array, ArrowPrimitiveType};
use arrow_schema::DataType;

use super::json::Value;

/// A writer of the floats of an array, if it is one of floats.
pub fn floats(array: &dyn Array) -> Option<Value<'_>> {
    match array.data_type() {
        DataType::Float16 => Some(of::<Float16Type, f32>(array, |value| value.to_f32())),
        DataType::Float32 => Some(of::<Float32Type, f32>(array, |value| value)),
        DataType::Float64 => Some(of::<Float64Type, f64>(array, |value| value)),
        _ => None,
    }
}

fn of<T: ArrowPrimitiveType, F: ryu::Float + Into<f64> + 'static>(
    array: &dyn Array,
    widened: fn(T::Native) -> F,
) -> Value<'_> {
    let values: &[T::Native] = array.as_primitive::<T>().values();
    Box::new(move |row, out| number(widened(values[row]), out))
}

/// The shortest digits that give the number back, with a point; what JSON has no number for is a
/// string.
fn number<F: ryu::Float + Into<f64>>(value: F, out: &mut Vec<u8>) {
    let wide: f64 = value.into();
    if wide.is_nan() {
        out.extend_from_slice(b"\"NaN\"");
    } else if wide.is_infinite() {
        let name: &[u8] = if wide > 0.0 { b"\"Infinity\"" } else { b"\"-Infinity\"" };
        out.extend_from_slice(name);
    } else {
        out.extend_from_slice(ryu::Buffer::new().format_finite(value).as_bytes());
    }
}
