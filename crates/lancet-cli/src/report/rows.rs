//! The first rows and some others, as a report shows them.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::DataType;
use lancet::FileReader;
use lancet_table::Table;

use super::facts::cut;
use super::image::Image;
use crate::show::Show;
use crate::time_zones;

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
}

impl ShownRows {
    /// Rows that cannot be read.
    pub fn failed(message: String) -> Self {
        Self { failure: Some(message), ..Self::default() }
    }

    fn new(batch: &RecordBatch, numbers: &[u64], all_columns: usize) -> Result<Self, String> {
        let batch = &time_zones::readable(batch).map_err(|error| error.to_string())?;
        let schema = batch.schema();
        let columns = schema.fields().iter();
        let columns = columns.map(|f| (cut(f.name(), 60), cut(&f.data_type().to_string(), 60)));
        let mut room = Image::ROOM;
        let mut rows: Vec<(u64, Vec<Cell>)> = numbers
            .iter()
            .map(|number| (*number, Vec::with_capacity(batch.num_columns())))
            .collect();
        for column in batch.columns() {
            let show = Show::new(column.as_ref(), "null").map_err(|error| error.to_string())?;
            for (row, (_, cells)) in rows.iter_mut().enumerate().take(column.len()) {
                cells.push(cell(column, row, &show, &mut room));
            }
        }
        let more_columns = all_columns.saturating_sub(batch.num_columns());
        Ok(Self { columns: columns.collect(), more_columns, rows, failure: None })
    }
}

/// Rows of a file.
pub fn of_file(reader: &FileReader) -> Result<ShownRows, String> {
    let schema = reader.schema();
    let names: Vec<&str> = first_names(&schema);
    let numbers = numbers(reader.num_rows());
    // All of them first: columns without a name cannot be asked for.
    let batch = match names.len() == schema.fields().len() {
        true => reader.take(&numbers),
        false => reader.take_columns(&numbers, &names),
    };
    let batch = batch.map_err(|error| error.to_string())?;
    ShownRows::new(&batch, &numbers, schema.fields().len())
}

/// Rows of a table.
pub fn of_table(table: &Table) -> Result<ShownRows, String> {
    let schema = table.schema();
    let names: Vec<&str> = first_names(&schema);
    let numbers = numbers(table.num_rows().map_err(|error| error.to_string())?);
    let batch = match names.len() == schema.fields().len() {
        true => table.take(&numbers, ..),
        false => table.take(&numbers, names.as_slice()),
    };
    let batch = batch.map_err(|error| error.to_string())?;
    ShownRows::new(&batch, &numbers, schema.fields().len())
}

fn first_names(schema: &arrow_schema::Schema) -> Vec<&str> {
    schema.fields().iter().take(MOST_COLUMNS).map(|field| field.name().as_str()).collect()
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
        && let Some(image) = Image::of(bytes, room)
    {
        return Cell::Image(image);
    }
    if let Some((points, len)) = vector(column, row) {
        return Cell::Vector(points, len);
    }
    match show.text(row) {
        Ok(text) => Cell::Text(cut(&text, MOST_CHARS)),
        Err(error) => Cell::Text(cut(&error.to_string(), MOST_CHARS)),
    }
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
    use arrow_array::{BinaryArray, Int64Array, StringArray};

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

    #[test]
    fn values_are_short() {
        let mut vectors = FixedSizeListBuilder::new(Float32Builder::new(), 100);
        (0..100).for_each(|i| vectors.values().append_value(i as f32));
        vectors.append(true);
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("n", Arc::new(Int64Array::from(vec![None::<i64>]))),
            ("s", Arc::new(StringArray::from(vec!["é".repeat(1_000)]))),
            ("v", Arc::new(vectors.finish())),
            ("b", Arc::new(BinaryArray::from(vec![b"\x89PNG\r\n\x1a\nxx".as_slice()]))),
        ];
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let shown = ShownRows::new(&batch, &[7], 9).unwrap();
        let (number, cells) = &shown.rows[0];
        assert_eq!((*number, shown.more_columns), (7, 5));
        assert_eq!(cells[0], Cell::Null);
        assert!(matches!(&cells[1], Cell::Text(text) if text.chars().count() == MOST_CHARS));
        assert!(matches!(&cells[2], Cell::Vector(points, 100) if points.len() <= MOST_POINTS));
        assert!(matches!(&cells[3], Cell::Image(_)));
    }
}
