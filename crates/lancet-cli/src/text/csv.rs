//! Rows as CSV.

use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, Schema};

use super::Refused;
use crate::show::Show;

/// The header line of a CSV file. Fails on the first column that CSV cannot hold.
pub fn header(schema: &Schema, delimiter: u8) -> Result<Vec<u8>, String> {
    if let Some(nested) = schema.fields().iter().find(|f| f.data_type().is_nested()) {
        return Err(format!(
            "CSV cannot hold the nested column `{}` ({}); choose other columns, or JSON lines",
            nested.name(),
            nested.data_type()
        ));
    }
    let mut text = Vec::new();
    for (at, field) in schema.fields().iter().enumerate() {
        separate(at, delimiter, &mut text);
        let start = text.len();
        text.extend_from_slice(field.name().as_bytes());
        quote(start, delimiter, &mut text);
    }
    text.push(b'\n');
    Ok(text)
}

/// The rows of a batch, without a header line. Errors count from `first_row`.
pub fn rows(batch: &RecordBatch, delimiter: u8, first_row: u64) -> Result<Vec<u8>, String> {
    lines(batch, delimiter).map_err(|refused| refused.told(batch, first_row))
}

fn lines(batch: &RecordBatch, delimiter: u8) -> Result<Vec<u8>, Refused> {
    let mut columns = Vec::with_capacity(batch.num_columns());
    for (at, array) in batch.columns().iter().enumerate() {
        let show = Show::new(array.as_ref(), "").map_err(|e| Refused::of_column(at, e))?;
        columns.push((show, array.logical_nulls(), is_plain(array.data_type())));
    }
    let mut text = Vec::new();
    for row in 0..batch.num_rows() {
        for (at, (show, nulls, plain)) in columns.iter().enumerate() {
            separate(at, delimiter, &mut text);
            if nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
                // A line with nothing on it would be left out by those who read it.
                text.extend_from_slice(if columns.len() == 1 { b"\"\"" } else { b"" });
                continue;
            }
            let start = text.len();
            show.write(row, &mut text).map_err(|e| Refused::of_value(at, row, e))?;
            if !plain {
                quote(start, delimiter, &mut text);
            }
        }
        text.push(b'\n');
    }
    Ok(text)
}

/// Whether values of a type are neither empty nor hold what quotes are for.
fn is_plain(data_type: &DataType) -> bool {
    data_type.is_numeric() || data_type.is_temporal() || *data_type == DataType::Boolean
}

fn separate(at: usize, delimiter: u8, text: &mut Vec<u8>) {
    if at > 0 {
        text.push(delimiter);
    }
}

/// Puts the field that begins at `start` and is not null in quotes, if it is empty or would be cut.
fn quote(start: usize, delimiter: u8, text: &mut Vec<u8>) {
    let special = |byte: &u8| matches!(byte, b'"' | b'\n' | b'\r') || *byte == delimiter;
    let field = text.get(start..).unwrap_or_default();
    if !field.is_empty() && !field.iter().any(special) {
        return;
    }
    let field = text.split_off(start);
    text.push(b'"');
    for byte in field {
        text.extend_from_slice(if byte == b'"' { b"\"" } else { b"" });
        text.push(byte);
    }
    text.push(b'"');
}
