//! One value of any Arrow type as text, as people read it and CSV holds it.
//!
//! What the type asks for is found out once for an array; a value then costs one call and no memory of its own. The text
//! is that of Arrow's own display, which the tests compare it with: that one is built on kernels which convert everything
//! to everything, and they would be most of this program.

mod intervals;
mod nested;
pub mod numbers;
mod times;

#[cfg(test)]
pub mod samples;
#[cfg(test)]
mod tests;

use arrow_array::cast::AsArray;
use arrow_array::{Array, downcast_dictionary_array, downcast_integer_array, downcast_run_array};
use arrow_buffer::NullBuffer;
use arrow_schema::{ArrowError, DataType};

/// Writes the text of a value that is not null.
type Value<'a> = Box<dyn Fn(usize, &mut Vec<u8>) -> Result<(), OutOfRange> + 'a>;

/// A date, a time or a duration too far away to be told as one.
#[derive(Debug)]
pub struct OutOfRange {
    /// What is stored.
    pub number: i64,
    error: ArrowError,
}

impl std::fmt::Display for OutOfRange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.error.fmt(f)
    }
}

impl From<OutOfRange> for ArrowError {
    fn from(value: OutOfRange) -> Self {
        value.error
    }
}

/// Writes the values of an array.
pub struct Show<'a> {
    nulls: Option<&'a NullBuffer>,
    null: &'a str,
    value: Value<'a>,
}

impl<'a> Show<'a> {
    /// A writer of the values of an array; `null` is what nulls are told as.
    pub fn new(array: &'a dyn Array, null: &'a str) -> Result<Self, ArrowError> {
        Ok(Self { nulls: array.nulls(), null, value: value(array, null)? })
    }

    /// Appends the text of a value, or a part of it if it fails.
    pub fn write(&self, row: usize, out: &mut Vec<u8>) -> Result<(), OutOfRange> {
        if self.nulls.is_some_and(|nulls| nulls.is_null(row)) {
            out.extend_from_slice(self.null.as_bytes());
            return Ok(());
        }
        (self.value)(row, out)
    }

    /// The text of a value.
    pub fn text(&self, row: usize) -> Result<String, ArrowError> {
        let mut text = Vec::new();
        self.write(row, &mut text)?;
        String::from_utf8(text).map_err(|error| ArrowError::ParseError(error.to_string()))
    }

    /// Appends the text of a value for people: one that has no date does not hide those around it.
    pub fn tell(&self, row: usize, out: &mut Vec<u8>) {
        let start = out.len();
        if let Err(OutOfRange { number, .. }) = self.write(row, out) {
            out.truncate(start);
            out.extend_from_slice(format!("{number} (out of range)").as_bytes());
        }
    }

    /// The text of a value for people.
    pub fn told(&self, row: usize) -> String {
        let mut text = Vec::new();
        self.tell(row, &mut text);
        String::from_utf8_lossy(&text).into_owned()
    }
}

fn value<'a>(array: &'a dyn Array, null: &'a str) -> Result<Value<'a>, ArrowError> {
    use DataType as D;
    macro_rules! bytes {
        ($array:expr) => {{
            let array = $array;
            Box::new(move |row, out| {
                hex(array.value(row), out);
                Ok(())
            })
        }};
    }
    macro_rules! text {
        ($array:expr) => {{
            let array = $array;
            Box::new(move |row, out| {
                out.extend_from_slice(array.value(row).as_bytes());
                Ok(())
            })
        }};
    }
    Ok(downcast_integer_array! {
        array => numbers::integers(array),
        D::Float16 | D::Float32 | D::Float64 => numbers::floats(array)?,
        D::Decimal32(..) | D::Decimal64(..) | D::Decimal128(..) | D::Decimal256(..) => {
            numbers::decimals(array)?
        }
        D::Null => Box::new(move |_, out| {
            out.extend_from_slice(null.as_bytes());
            Ok(())
        }),
        D::Boolean => {
            let array = array.as_boolean();
            Box::new(move |row, out| {
                out.extend_from_slice(if array.value(row) { b"true" } else { b"false" });
                Ok(())
            })
        }
        D::Utf8 => text!(array.as_string::<i32>()),
        D::LargeUtf8 => text!(array.as_string::<i64>()),
        D::Utf8View => text!(array.as_string_view()),
        D::Binary => bytes!(array.as_binary::<i32>()),
        D::LargeBinary => bytes!(array.as_binary::<i64>()),
        D::BinaryView => bytes!(array.as_binary_view()),
        D::FixedSizeBinary(_) => bytes!(array.as_fixed_size_binary()),
        D::Interval(_) => intervals::intervals(array)?,
        D::List(_) => nested::lists(array.as_list::<i32>(), null)?,
        D::LargeList(_) => nested::lists(array.as_list::<i64>(), null)?,
        D::ListView(_) => nested::lists(array.as_list_view::<i32>(), null)?,
        D::LargeListView(_) => nested::lists(array.as_list_view::<i64>(), null)?,
        D::FixedSizeList(..) => nested::lists(array.as_fixed_size_list(), null)?,
        D::Struct(_) => nested::structs(array.as_struct(), null)?,
        D::Map(..) => nested::maps(array.as_map(), null)?,
        D::Union(fields, mode) => nested::unions(array.as_union(), fields, *mode, null)?,
        D::Dictionary(..) => downcast_dictionary_array! {
            array => nested::dictionaries(array, null)?,
            other => return Err(unknown(other))
        },
        D::RunEndEncoded(..) => downcast_run_array! {
            array => nested::runs(array, null)?,
            other => return Err(unknown(other))
        },
        other if other.is_temporal() => times::times(array)?,
        other => return Err(unknown(other)),
    })
}

fn unknown(data_type: &DataType) -> ArrowError {
    ArrowError::NotYetImplemented(format!("formatting {data_type} is not yet supported"))
}

/// Bytes as two digits each.
pub fn hex(bytes: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |half: u8| DIGITS.get(usize::from(half)).copied().unwrap_or_default();
    out.extend(bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]));
}
