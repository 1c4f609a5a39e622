//! Rows as JSON.
//!
//! Numbers, decimals too, are numbers; `NaN` and the infinities, for which JSON has none, are strings, as are times and
//! bytes (in hex). Nulls are written, so that every object has every field.

use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, ListLikeArray, MapArray, RecordBatch, downcast_dictionary_array,
    downcast_integer_array, downcast_run_array,
};
use arrow_buffer::{ArrowNativeType, NullBuffer};
use arrow_schema::{ArrowError, DataType, Fields};

use super::Refused;
use super::floats::floats;
use crate::show::{OutOfRange, Show, hex, numbers};

/// The rows of a batch as objects, one per line.
pub(super) fn lines(batch: &RecordBatch) -> Result<Vec<u8>, Refused> {
    let schema = batch.schema();
    let mut columns = Vec::with_capacity(batch.num_columns());
    for (at, (field, values)) in schema.fields().iter().zip(batch.columns()).enumerate() {
        let values = Json::new(values.as_ref()).map_err(|e| Refused::of_column(at, e))?;
        columns.push((key(field.name()), values));
    }
    let mut text = Vec::new();
    for row in 0..batch.num_rows() {
        text.push(b'{');
        for (at, (name, values)) in columns.iter().enumerate() {
            separate(at, &mut text);
            text.extend_from_slice(name);
            values.write(row, &mut text).map_err(|e| Refused::of_value(at, row, e))?;
        }
        text.extend_from_slice(b"}\n");
    }
    Ok(text)
}

/// Writes the values of an array.
struct Json<'a> {
    nulls: Option<&'a NullBuffer>,
    value: Value<'a>,
}

/// Writes a value that is not null.
pub type Value<'a> = Box<dyn Fn(usize, &mut Vec<u8>) -> Result<(), OutOfRange> + 'a>;

impl<'a> Json<'a> {
    fn new(array: &'a dyn Array) -> Result<Self, ArrowError> {
        Ok(Self { nulls: array.nulls(), value: value(array)? })
    }

    fn write(&self, row: usize, out: &mut Vec<u8>) -> Result<(), OutOfRange> {
        if self.nulls.is_some_and(|nulls| nulls.is_null(row)) {
            return null(row, out);
        }
        (self.value)(row, out)
    }
}

fn value<'a>(array: &'a dyn Array) -> Result<Value<'a>, ArrowError> {
    use DataType as D;
    macro_rules! texts {
        ($array:expr) => {{
            let array = $array;
            Box::new(move |row, out| {
                string(array.value(row), out);
                Ok(())
            })
        }};
    }
    macro_rules! bytes {
        ($array:expr) => {{
            let array = $array;
            Box::new(move |row, out| {
                out.push(b'"');
                hex(array.value(row), out);
                out.push(b'"');
                Ok(())
            })
        }};
    }
    Ok(downcast_integer_array! {
        array => Box::new(move |row, out| {
            numbers::integer(array.value(row), out);
            Ok(())
        }),
        of @ (D::Float16 | D::Float32 | D::Float64) => floats(array).ok_or_else(|| unknown(of))?,
        D::Boolean => {
            let array = array.as_boolean();
            Box::new(move |row, out| {
                out.extend_from_slice(if array.value(row) { b"true" } else { b"false" });
                Ok(())
            })
        }
        D::Null => Box::new(null),
        D::Utf8 => texts!(array.as_string::<i32>()),
        D::LargeUtf8 => texts!(array.as_string::<i64>()),
        D::Utf8View => texts!(array.as_string_view()),
        D::Binary => bytes!(array.as_binary::<i32>()),
        D::LargeBinary => bytes!(array.as_binary::<i64>()),
        D::BinaryView => bytes!(array.as_binary_view()),
        D::FixedSizeBinary(_) => bytes!(array.as_fixed_size_binary()),
        D::Decimal32(..) | D::Decimal64(..) | D::Decimal128(..) | D::Decimal256(..) => {
            let show = Show::new(array, "")?;
            Box::new(move |row, out| show.write(row, out))
        }
        D::List(_) => lists(array.as_list::<i32>())?,
        D::LargeList(_) => lists(array.as_list::<i64>())?,
        D::ListView(_) => lists(array.as_list_view::<i32>())?,
        D::LargeListView(_) => lists(array.as_list_view::<i64>())?,
        D::FixedSizeList(..) => lists(array.as_fixed_size_list())?,
        D::Struct(of) => {
            let fields = fields(of, array.as_struct().columns())?;
            Box::new(move |row, out| {
                out.push(b'{');
                for (at, (name, values)) in fields.iter().enumerate() {
                    separate(at, out);
                    out.extend_from_slice(name);
                    values.write(row, out)?;
                }
                out.push(b'}');
                Ok(())
            })
        }
        D::Map(..) => maps(array.as_map())?,
        D::Dictionary(..) => downcast_dictionary_array! {
            array => {
                let (keys, values) = (array.keys().values(), Json::new(array.values().as_ref())?);
                Box::new(move |row, out| values.write(keys[row].as_usize(), out))
            },
            other => return Err(unknown(other))
        },
        D::RunEndEncoded(..) => downcast_run_array! {
            array => {
                let values = Json::new(array.values().as_ref())?;
                Box::new(move |row, out| values.write(array.get_physical_index(row), out))
            },
            other => return Err(unknown(other))
        },
        other if other.is_temporal() => {
            let show = Show::new(array, "")?;
            Box::new(move |row, out| {
                out.push(b'"');
                show.write(row, out)?;
                out.push(b'"');
                Ok(())
            })
        }
        other => return Err(unknown(other)),
    })
}

fn unknown(data_type: &DataType) -> ArrowError {
    let what = format!("Unsupported data type for JSON encoding: {data_type:?}");
    ArrowError::JsonError(what)
}

#[expect(clippy::unnecessary_wraps, reason = "it stands among those that fail")]
fn null(_: usize, out: &mut Vec<u8>) -> Result<(), OutOfRange> {
    out.extend_from_slice(b"null");
    Ok(())
}

fn string(text: &str, out: &mut Vec<u8>) {
    let _ = serde_json::to_writer(out, text); // a Vec takes everything
}

fn lists<L: ListLikeArray>(array: &L) -> Result<Value<'_>, ArrowError> {
    let items = Json::new(array.values().as_ref())?;
    Ok(Box::new(move |row, out| {
        out.push(b'[');
        for (at, item) in array.element_range(row).enumerate() {
            separate(at, out);
            items.write(item, out)?;
        }
        out.push(b']');
        Ok(())
    }))
}

/// Objects, whose keys have to be strings.
fn maps(array: &MapArray) -> Result<Value<'_>, ArrowError> {
    let of = array.keys().data_type();
    if !matches!(of, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View) {
        let what = format!("Only UTF8 keys supported by JSON MapArray Writer: got {of:?}");
        return Err(ArrowError::JsonError(what));
    }
    let refused = |what: &str| {
        Err(ArrowError::InvalidArgumentError(format!("Encountered nulls in MapArray {what}")))
    };
    if array.keys().null_count() > 0 {
        return refused("keys");
    }
    if array.entries().null_count() > 0 {
        return refused("entries");
    }
    let keys = Json::new(array.keys().as_ref())?;
    let values = Json::new(array.values().as_ref())?;
    let offsets = array.value_offsets();
    Ok(Box::new(move |row, out| {
        let entries = offsets[row].as_usize()..offsets[row + 1].as_usize();
        out.push(b'{');
        for (at, entry) in entries.enumerate() {
            separate(at, out);
            keys.write(entry, out)?;
            out.push(b':');
            values.write(entry, out)?;
        }
        out.push(b'}');
        Ok(())
    }))
}

/// The names of fields, with what stands behind them, and their values.
fn fields<'a>(
    fields: &Fields,
    columns: &'a [ArrayRef],
) -> Result<Vec<(Vec<u8>, Json<'a>)>, ArrowError> {
    let named = fields
        .iter()
        .zip(columns)
        .map(|(field, values)| Ok((key(field.name()), Json::new(values.as_ref())?)));
    named.collect()
}

/// The name of a field, with what stands behind it.
fn key(name: &str) -> Vec<u8> {
    let mut key = Vec::with_capacity(name.len() + 3);
    string(name, &mut key);
    key.push(b':');
    key
}

fn separate(at: usize, out: &mut Vec<u8>) {
    if at > 0 {
        out.push(b',');
    }
}
