//! Some rows of a file or table, spread over it: what they tell about the whole.

use std::collections::HashMap;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{Field, SchemaRef};
use lancet::{FileReader, FileReport, RowRanges};
use lancet_table::Table;

use super::facts::{ColumnFacts, Count};
use crate::analyze::{self, Statistics};

/// Values that are looked at, all columns together.
const MOST_VALUES: u64 = 2_000_000;
/// Bytes of the file that are read for it, about.
const MOST_BYTES: u64 = 64 << 20;
/// Bytes of Arrow data that are held.
const MOST_MEMORY: u64 = 256 << 20;
/// Columns that are looked at.
const MOST_COLUMNS: usize = 2_000;

/// Some rows.
pub struct Sample {
    rows: analyze::Sample,
    /// Fields below structs, with their paths.
    fields: Vec<(String, Field)>,
}

impl Sample {
    /// Rows of a file; none if they cannot be read.
    pub fn of_file(reader: &FileReader, report: &FileReport, most_rows: u64) -> Option<Self> {
        let file_rows = reader.num_rows();
        let rows = chosen(file_rows, report.columns.len(), report.file_bytes, most_rows);
        let batches = reader.scan().select(rows).batch_rows(1_024).blobs_as_descriptions().build();
        let mut batches = batches.ok()?;
        let schema = batches.schema();
        Self::new(schema, file_rows, std::iter::from_fn(|| Some(batches.next_batch()?.ok())))
    }

    /// Rows of a table.
    pub fn of_table(table: &Table, file_bytes: u64, most_rows: u64) -> Option<Self> {
        let table_rows = table.num_rows().ok()?;
        let columns = table.schema().fields().len();
        let rows = chosen(table_rows, columns, file_bytes, most_rows);
        let scan = table.scan().select(rows).batch_rows(1_024).blobs_as_descriptions();
        let mut batches = scan.build().ok()?;
        let schema = batches.schema();
        Self::new(schema, table_rows, std::iter::from_fn(|| Some(batches.next_batch()?.ok())))
    }

    /// None if a batch is.
    fn new(
        schema: SchemaRef,
        file_rows: u64,
        all: impl Iterator<Item = Option<RecordBatch>>,
    ) -> Option<Self> {
        let (mut batches, mut bytes) = (Vec::new(), 0);
        for batch in all {
            let batch = batch?;
            bytes += analyze::memory::batch_bytes(&batch);
            batches.push(batch);
            if bytes > MOST_MEMORY {
                break;
            }
        }
        let fields = analyze::fields(&schema, &[]).ok()?;
        Some(Self { rows: analyze::Sample { schema, file_rows, batches }, fields })
    }

    /// How many rows there are.
    pub fn num_rows(&self) -> u64 {
        self.rows.rows()
    }

    /// Rows of the whole.
    pub fn file_rows(&self) -> u64 {
        self.rows.file_rows
    }

    /// Bytes that `rows` rows like these take in Arrow's memory.
    pub fn arrow_bytes(&self, rows: u64) -> u64 {
        let bytes: u64 = self.rows.batches.iter().map(analyze::memory::batch_bytes).sum();
        scaled(bytes, self.num_rows(), rows)
    }

    /// Says of columns what the rows tell.
    pub fn describe(&self, columns: &mut [ColumnFacts], rows: u64) {
        for (place, array) in self.of_columns(columns) {
            let Some(column) = columns.get_mut(place) else { continue };
            let found = Statistics::of(&array, array.len() as u64);
            let is_all = found.rows >= rows;
            let counted = |n: u64| if is_all { Count::Exact(n) } else { Count::About(n) };
            let nulls = counted(scaled(found.nulls, found.rows, rows));
            column.nulls = column.nulls.or(Some(nulls).filter(|_| found.rows > 0));
            let distinct = match found.distinct {
                // Where no value comes twice, none does among all rows.
                Some(distinct) if !is_all && distinct >= found.rows => Some(rows),
                Some(_) if !is_all => Statistics::of(&array, rows).distinct,
                known => known,
            };
            // Of lists it would be that of whole lists.
            let is_value = found.rows > 0 && !array.data_type().is_nested();
            column.distinct = distinct.filter(|_| is_value).map(counted);
            column.arrow_bytes = Some(scaled(found.bytes, found.rows, rows));
        }
    }

    /// The values of each column of the report that is one field, structs around it left away.
    pub fn of_columns(&self, columns: &[ColumnFacts]) -> Vec<(usize, ArrayRef)> {
        let places: HashMap<&str, usize> = columns
            .iter()
            .enumerate()
            .map(|(place, column)| (column.name.as_str(), place))
            .collect();
        let mut found = Vec::new();
        for (path, _) in self.fields.iter().take(MOST_COLUMNS) {
            // The one column of a list is called after its item.
            let below = format!("{path}.");
            let place = places.get(path.as_str()).copied().or_else(|| {
                let mut inside =
                    columns.iter().enumerate().filter(|(_, c)| c.name.starts_with(&below));
                let only = inside.next()?;
                inside.next().is_none().then_some(only.0)
            });
            let Some(place) = place else { continue };
            let is_blob = columns.get(place).is_some_and(|column| {
                column.forms.iter().any(|(form, _)| form.starts_with("blob"))
            });
            if is_blob || self.rows.batches.is_empty() {
                continue;
            }
            found.extend(analyze::column(&self.rows, path).ok().map(|array| (place, array)));
        }
        found
    }

    /// The field of a column.
    pub fn field(&self, array: &ArrayRef) -> Field {
        Field::new("c", array.data_type().clone(), true)
    }
}

/// The rows that are looked at.
fn chosen(rows: u64, columns: usize, bytes: u64, most_rows: u64) -> RowRanges {
    let by_values = MOST_VALUES / (columns as u64).max(1);
    let by_bytes = MOST_BYTES / bytes.checked_div(rows).unwrap_or(0).max(1);
    analyze::spread(rows, most_rows.min(by_values.max(64)).min(by_bytes.max(16)))
}

/// What is `part` of some rows, for more rows.
fn scaled(part: u64, of: u64, rows: u64) -> u64 {
    match of {
        0 => 0,
        of if of >= rows => part,
        of => (part as f64 * (rows as f64 / of as f64)).round() as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_bounded() {
        assert_eq!(chosen(100, 3, 1_000, 16_384).count(), 100);
        // Runs of rows have all the same length.
        assert!((1_900..=2_000).contains(&chosen(1_000_000, 1_000, 1 << 30, 16_384).count()));
        assert_eq!(chosen(1_000_000, 100_000, 1 << 30, 16_384).count(), 64);
        assert_eq!(chosen(1_000, 1, 1 << 40, 16_384).count(), 16);
        assert_eq!((scaled(5, 10, 100), scaled(5, 10, 10), scaled(5, 0, 9)), (50, 5, 0));
    }
}
