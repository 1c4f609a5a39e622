//! The first rows and some others, as a report shows them.
//!
//! Rows may be very long, and columns damaged: what cannot be read hides nothing else.

use std::collections::HashSet;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BinaryArray};
use arrow_schema::{DataType, FieldRef};

use super::facts::cut;
use super::image::{self, Image};
use super::row_source::{Blobs, Failure, Source};
use crate::show::Show;
use crate::{time_zones, units};

/// Columns that are shown.
const MOST_COLUMNS: usize = 40;
/// The first rows.
const FIRST: u64 = 8;
/// Others.
const OTHERS: u64 = 5;
/// Longest text of a value.
const MOST_CHARS: usize = 120;
/// Lists of fewer numbers are shown as such.
const LEAST_VECTOR: usize = 8;
/// Points of a vector's line.
const MOST_POINTS: usize = 48;
/// Bytes of a long blob that are read: enough to tell what it is.
const BLOB_HEAD: u64 = 32;

/// Rows of a file or table.
#[derive(Default)]
pub struct ShownRows {
    /// Names and types.
    pub columns: Vec<(String, String)>,
    /// Columns that are not shown.
    pub more_columns: usize,
    /// The numbers of rows, with their values.
    pub rows: Vec<(u64, Vec<Cell>)>,
    /// Why there are none.
    pub failure: Option<String>,
}

/// A value.
#[derive(Debug, PartialEq)]
pub enum Cell {
    Null,
    Text(String),
    /// A list of numbers, some of them, and how many there are.
    Vector(Vec<f32>, usize),
    Image(Image),
    /// Why it is not shown.
    Unread(&'static str),
}

/// A column of which rows were read, or why they were not.
struct Column {
    field: FieldRef,
    values: Result<ArrayRef, Failure>,
}

impl ShownRows {
    /// Rows that cannot be read.
    pub fn failed(message: String) -> Self {
        Self { failure: Some(message), ..Self::default() }
    }

    fn new(columns: &[Column], numbers: &[u64], source: &Source<'_>) -> Self {
        let mut room = Image::ROOM;
        let mut rows: Vec<(u64, Vec<Cell>)> =
            numbers.iter().map(|number| (*number, Vec::with_capacity(columns.len()))).collect();
        for column in columns {
            let cells = cells(column, numbers, source, &mut room);
            rows.iter_mut().zip(cells).for_each(|((_, row), cell)| row.push(cell));
        }
        let name = |column: &Column| {
            (cut(column.field.name(), 60), cut(&column.field.data_type().to_string(), 60))
        };
        let names = columns.iter().map(name);
        let more_columns = source.schema().fields().len().saturating_sub(columns.len());
        Self { columns: names.collect(), more_columns, rows, failure: None }
    }
}

/// Rows of a file or table.
pub fn of(source: &Source<'_>) -> Result<ShownRows, String> {
    let numbers = numbers(source.num_rows()?);
    let columns = columns(source, &numbers)?;
    Ok(ShownRows::new(&columns, &numbers, source))
}

/// The first columns: together, or one by one where some cannot be read.
fn columns(source: &Source<'_>, numbers: &[u64]) -> Result<Vec<Column>, String> {
    let schema = source.schema();
    let all = schema.fields();
    let mut names = HashSet::new();
    // Of fields with the same name only the first can be asked for; all of a file may be.
    let fields: Vec<FieldRef> = match all.len() <= MOST_COLUMNS {
        true => all.iter().cloned().collect(),
        false => {
            all.iter().filter(|f| names.insert(f.name())).take(MOST_COLUMNS).cloned().collect()
        }
    };
    let asked: Vec<&str> = fields.iter().map(|field| field.name().as_str()).collect();
    let asked = Some(asked.as_slice()).filter(|names| names.len() < all.len());
    let failure = match source.read(asked, numbers) {
        Ok(batch) => {
            let values = batch.columns().iter().cloned().map(Ok);
            let read = fields.into_iter().zip(values);
            return Ok(read.map(|(field, values)| Column { field, values }).collect());
        }
        Err(failure) => failure,
    };
    let is_named =
        |field: &FieldRef| fields.iter().filter(|f| f.name() == field.name()).count() == 1;
    let read_one = |field: &FieldRef| {
        if !is_named(field) {
            return Err(Failure::Other("another column has its name".into()));
        }
        let batch = source.read(Some(&[field.name().as_str()]), numbers)?;
        batch.columns().first().cloned().ok_or_else(|| Failure::Other("it has no values".into()))
    };
    let columns: Vec<Column> = fields
        .iter()
        .map(|field| Column { field: field.clone(), values: read_one(field) })
        .collect();
    match (columns.iter().any(|column| column.values.is_ok()), failure) {
        (false, Failure::Other(message)) => Err(message),
        _ => Ok(columns),
    }
}

/// The values of a column.
fn cells(column: &Column, numbers: &[u64], source: &Source<'_>, room: &mut usize) -> Vec<Cell> {
    let values = match &column.values {
        Ok(values) => values,
        Err(failure) => return numbers.iter().map(|_| unread(failure)).collect(),
    };
    // Blobs have come as what they are not.
    let is_described = values.data_type() != column.field.data_type();
    if is_described && column.field.data_type() == &DataType::LargeBinary {
        let blobs = source.blobs(column.field.name());
        return numbers.iter().map(|row| blob_cell(blobs.as_ref(), *row, room)).collect();
    }
    let Ok(values) = time_zones::readable_array(values) else {
        return numbers.iter().map(|_| Cell::Unread("cannot be shown")).collect();
    };
    match Show::new(values.as_ref(), "null") {
        Ok(show) => (0..values.len()).map(|row| cell(&values, row, &show, room)).collect(),
        Err(error) => {
            let text = cut(&error.to_string(), MOST_CHARS);
            (0..values.len()).map(|_| Cell::Text(text.clone())).collect()
        }
    }
}

fn unread(failure: &Failure) -> Cell {
    Cell::Unread(match failure {
        Failure::TooLong => "too long",
        Failure::Other(_) => "cannot be read",
    })
}

/// A blob: of long ones only the beginning is read.
fn blob_cell(blobs: Option<&Blobs>, row: u64, room: &mut usize) -> Cell {
    let Some(blobs) = blobs else { return Cell::Unread("cannot be read") };
    let len = match blobs.len(row) {
        Ok(Some(len)) => len,
        Ok(None) => return Cell::Null,
        Err(failure) => return unread(&failure),
    };
    let read = if len <= image::MOST_BYTES as u64 { len } else { BLOB_HEAD };
    let bytes = match blobs.read(row, read) {
        Ok(bytes) => bytes,
        Err(failure) => return unread(&failure),
    };
    if let Some(image) = Image::of(&bytes, len, room) {
        return Cell::Image(image);
    }
    let shown = BinaryArray::from_iter_values([&bytes]);
    let text = Show::new(&shown, "null").and_then(|show| show.text(0)).unwrap_or_default();
    match read < len {
        true => Cell::Text(format!("{text}… ({})", units::bytes(len))),
        false => Cell::Text(cut(&text, MOST_CHARS)),
    }
}

/// The first rows and some others, the same in every run.
fn numbers(rows: u64) -> Vec<u64> {
    let mut numbers: Vec<u64> = (0..rows.min(FIRST)).collect();
    if rows > FIRST {
        // Steps of the golden ratio fall everywhere.
        let step = |i: u64| FIRST + i.wrapping_mul(0x9e37_79b9_7f4a_7c15) % (rows - FIRST);
        numbers.extend((1..=OTHERS.min(rows - FIRST)).map(step));
    }
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

fn cell(column: &ArrayRef, row: usize, show: &Show<'_>, room: &mut usize) -> Cell {
    if column.is_null(row) {
        return Cell::Null;
    }
    if let Some(bytes) = binary(column, row)
        && let Some(image) = Image::of(bytes, bytes.len() as u64, room)
    {
        return Cell::Image(image);
    }
    if let Some((points, len)) = vector(column, row) {
        return Cell::Vector(points, len);
    }
    Cell::Text(cut(&show.told(row), MOST_CHARS))
}

fn binary(column: &ArrayRef, row: usize) -> Option<&[u8]> {
    Some(match column.data_type() {
        DataType::Binary => column.as_binary::<i32>().value(row),
        DataType::LargeBinary => column.as_binary::<i64>().value(row),
        DataType::BinaryView => column.as_binary_view().value(row),
        _ => return None,
    })
}

/// A list of numbers, as some of them.
fn vector(column: &ArrayRef, row: usize) -> Option<(Vec<f32>, usize)> {
    let items = match column.data_type() {
        DataType::FixedSizeList(..) => column.as_fixed_size_list().value(row),
        DataType::List(_) => column.as_list::<i32>().value(row),
        DataType::LargeList(_) => column.as_list::<i64>().value(row),
        _ => return None,
    };
    if items.len() < LEAST_VECTOR || !items.data_type().is_numeric() {
        return None;
    }
    let step = items.len().div_ceil(MOST_POINTS);
    let show = Show::new(items.as_ref(), "nan").ok()?;
    let value = |at: usize| show.text(at).ok()?.parse::<f32>().ok();
    let points: Option<Vec<f32>> = (0..items.len()).step_by(step).map(value).collect();
    Some((points?, items.len()))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::builder::{FixedSizeListBuilder, Float32Builder};
    use arrow_array::{Int64Array, LargeBinaryArray, RecordBatch, StringArray};
    use arrow_schema::{Field, Schema};
    use lancet::{FileReader, FileWriter, ReadOptions, WriteOptions};

    use super::*;

    #[test]
    fn rows_are_the_first_and_some_others() {
        assert_eq!(numbers(0), [0; 0]);
        assert_eq!(numbers(3), [0, 1, 2]);
        assert_eq!(numbers(9), [0, 1, 2, 3, 4, 5, 6, 7, 8]);
        let many = numbers(u64::MAX);
        assert_eq!((many.len(), &many[..8]), (13, &[0, 1, 2, 3, 4, 5, 6, 7][..]));
        assert!(many[8] > 1 << 50);
    }

    fn reader(columns: Vec<(Field, ArrayRef)>, memory_limit: u64) -> FileReader {
        let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) = columns.into_iter().unzip();
        let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).unwrap();
        let mut writer =
            FileWriter::new(Vec::new(), batch.schema(), WriteOptions::default()).unwrap();
        writer.write(&batch).unwrap();
        let (_, bytes) = writer.finish_into().unwrap();
        let options = ReadOptions::default().with_memory_limit(memory_limit);
        FileReader::from_bytes(bytes, options).unwrap()
    }

    fn plain(name: &str, values: ArrayRef) -> (Field, ArrayRef) {
        (Field::new(name, values.data_type().clone(), true), values)
    }

    fn blobs(name: &str, values: &[&[u8]]) -> (Field, ArrayRef) {
        let (field, values) =
            plain(name, Arc::new(LargeBinaryArray::from_iter_values(values.iter().copied())));
        let blob = [("lance-encoding:blob".to_owned(), "true".to_owned())].into();
        (field.with_metadata(blob), values)
    }

    const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\0\x01\0\0\0\x01";

    #[test]
    fn values_are_short() {
        let mut vectors = FixedSizeListBuilder::new(Float32Builder::new(), 100);
        (0..100).for_each(|i| vectors.values().append_value(i as f32));
        vectors.append(true);
        let reader = reader(
            vec![
                plain("n", Arc::new(Int64Array::from(vec![None::<i64>]))),
                plain("s", Arc::new(StringArray::from(vec!["é".repeat(1_000)]))),
                plain("v", Arc::new(vectors.finish())),
                plain("b", Arc::new(BinaryArray::from(vec![PNG]))),
            ],
            1 << 30,
        );
        let shown = of(&Source::File(&reader)).unwrap();
        let (_, cells) = &shown.rows[0];
        assert_eq!(cells[0], Cell::Null);
        assert!(matches!(&cells[1], Cell::Text(text) if text.chars().count() == MOST_CHARS));
        assert!(matches!(&cells[2], Cell::Vector(points, 100) if points.len() <= MOST_POINTS));
        assert!(matches!(&cells[3], Cell::Image(image) if image.data.is_some()));
    }

    /// Together they are more than may be held, and so is every one of them.
    #[test]
    fn long_blobs_are_told_and_short_ones_shown() {
        let long = [PNG, &[7; 300_000]].concat();
        let other = vec![7; 300_000];
        let values = [&long[..], PNG, &other, b"abc", b""];
        let reader = reader(
            vec![
                plain("id", Arc::new(Int64Array::from_iter_values(0..5))),
                blobs("image", &values),
            ],
            200_000,
        );
        let shown = of(&Source::File(&reader)).unwrap();
        assert_eq!(shown.columns[1], ("image".into(), "LargeBinary".into()));
        let cells: Vec<&Cell> = shown.rows.iter().map(|(_, cells)| &cells[1]).collect();
        assert!(
            matches!(cells[0], Cell::Image(image) if image.data.is_none() && image.about == "PNG image, 1 × 1, 300.0 kB"),
            "{cells:?}"
        );
        assert!(matches!(cells[1], Cell::Image(image) if image.data.is_some()), "{cells:?}");
        assert_eq!(cells[2], &Cell::Text(format!("{}… (300.0 kB)", "07".repeat(32))));
        assert_eq!(cells[3], &Cell::Text("616263".into()));
        assert_eq!(cells[4], &Cell::Text(String::new()));
        assert_eq!(shown.rows[3].1[0], Cell::Text("3".into()));
    }

    /// A column that cannot be read hides no other.
    #[test]
    fn long_values_are_told() {
        let long: ArrayRef =
            Arc::new(BinaryArray::from_iter_values((0..5).map(|i| vec![i; 300_000])));
        let reader = reader(
            vec![plain("id", Arc::new(Int64Array::from_iter_values(0..5))), plain("long", long)],
            200_000,
        );
        let shown = of(&Source::File(&reader)).unwrap();
        for (number, cells) in &shown.rows {
            assert_eq!(cells[..], [Cell::Text(number.to_string()), Cell::Unread("too long")]);
        }
    }
}
