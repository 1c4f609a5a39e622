//! Some rows of a file or table, spread over it: what they tell about the whole.

use std::collections::HashMap;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Fields, SchemaRef};
use lancet::{FileReader, FileReport, RowRanges};
use lancet_table::{Table, TableReport};

use super::facts::{ColumnFacts, Count};
use crate::analyze::{self, Statistics};

/// Values that are looked at, all columns together.
const MOST_VALUES: u64 = 2_000_000;
/// Bytes of the file that are read for it, about.
const MOST_BYTES: u64 = 64 << 20;
/// Fields inside each other: names may have dots of their own.
const MOST_DEPTH: usize = 64;
/// Bytes of Arrow data that are held.
const MOST_MEMORY: u64 = 256 << 20;
/// Some rows.
pub struct Sample {
    rows: analyze::Sample,
    /// Columns of the report that are one field each: their places there, and those of the field from the top down.
    columns: Vec<(usize, Vec<usize>)>,
}

impl Sample {
    /// Rows of a file; none if they cannot be read.
    pub fn of_file(
        reader: &FileReader,
        report: &FileReport,
        listed: &[usize],
        most_rows: u64,
    ) -> Option<Self> {
        let file_rows = reader.num_rows();
        let rows = chosen(file_rows, report.columns.len(), report.file_bytes, most_rows);
        let batches = reader.scan().select(rows).batch_rows(1_024).blobs_as_descriptions().build();
        let mut batches = batches.ok()?;
        let schema = batches.schema();
        let names: Vec<&str> = report.columns.iter().map(|column| column.name.as_str()).collect();
        let found = std::iter::from_fn(|| Some(batches.next_batch()?.ok()));
        Self::new(schema, file_rows, (&names, listed), found)
    }

    /// Rows of a table.
    pub fn of_table(
        table: &Table,
        report: &TableReport,
        listed: &[usize],
        most_rows: u64,
    ) -> Option<Self> {
        let table_rows = table.num_rows().ok()?;
        let columns = table.schema().fields().len();
        let rows = chosen(table_rows, columns, report.file_bytes, most_rows);
        let scan = table.scan().select(rows).batch_rows(1_024).blobs_as_descriptions();
        let mut batches = scan.build().ok()?;
        let schema = batches.schema();
        let names: Vec<&str> = report.columns.iter().map(|column| column.name.as_str()).collect();
        let found = std::iter::from_fn(|| Some(batches.next_batch()?.ok()));
        Self::new(schema, table_rows, (&names, listed), found)
    }

    /// None if a batch is. Columns are told by the names of all, and the places of those that are listed.
    fn new(
        schema: SchemaRef,
        file_rows: u64,
        (names, listed): (&[&str], &[usize]),
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
        let mut fields = Vec::new();
        collect(schema.fields(), "", &mut Vec::new(), &mut fields);
        // Of all columns those that are listed, by their places among these.
        let found = matched(names, &fields).into_iter();
        let columns =
            found.filter_map(|(place, path)| Some((listed.binary_search(&place).ok()?, path)));
        let columns = columns.collect();
        Some(Self { rows: analyze::Sample { schema, file_rows, batches }, columns })
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
            // A null is no value.
            let values = |distinct: u64| distinct.saturating_sub(u64::from(found.nulls > 0));
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
            column.distinct = distinct.filter(|_| is_value).map(values).map(counted);
            column.arrow_bytes = Some(scaled(found.bytes, found.rows, rows));
        }
    }

    /// The values of each column of the report that is one field, structs around it left away.
    pub fn of_columns(&self, columns: &[ColumnFacts]) -> Vec<(usize, ArrayRef)> {
        if self.rows.batches.is_empty() {
            return Vec::new();
        }
        let is_blob = |place: usize| {
            let forms = columns.get(place).map_or(&[][..], |column| &column.forms);
            forms.iter().any(|(form, _)| form.starts_with("blob"))
        };
        let values = |(place, path): &(usize, Vec<usize>)| {
            Some((*place, analyze::column_at(&self.rows, path).ok()?))
        };
        self.columns.iter().filter(|(place, _)| !is_blob(*place)).filter_map(values).collect()
    }

    /// The field of a column.
    pub fn field(&self, array: &ArrayRef) -> Field {
        Field::new("c", array.data_type().clone(), true)
    }
}

/// A field below structs: its names from the top down, joined with dots, and its places.
type Found = (String, Vec<usize>);

/// All fields below structs, in their order.
fn collect(fields: &Fields, prefix: &str, places: &mut Vec<usize>, found: &mut Vec<Found>) {
    for (place, field) in fields.iter().enumerate() {
        let name = match prefix {
            "" => field.name().clone(),
            prefix => format!("{prefix}.{}", field.name()),
        };
        places.push(place);
        match field.data_type() {
            DataType::Struct(children) if !children.is_empty() => {
                collect(children, &name, places, found);
            }
            _ => found.push((name, places.clone())),
        }
        places.pop();
    }
}

/// The fields that are one column each, with the places of those. A name that comes several times means its columns in
/// their order.
fn matched(names: &[&str], fields: &[Found]) -> Vec<(usize, Vec<usize>)> {
    let mut columns: HashMap<&str, Vec<usize>> = HashMap::new();
    for (place, name) in names.iter().enumerate() {
        columns.entry(name).or_default().push(place);
        // The one column of a list is called after its item, and that of a list of lists after the innermost.
        for (dot, _) in name.match_indices('.').take(MOST_DEPTH) {
            let list = name.get(..dot).unwrap_or_default();
            columns.entry(list).or_default().push(place);
        }
    }
    let mut same: HashMap<&str, Vec<&Vec<usize>>> = HashMap::new();
    for (name, path) in fields {
        same.entry(name).or_default().push(path);
    }
    let mut found = Vec::new();
    for (name, paths) in same {
        let Some(all) = columns.get(name) else { continue };
        let is_called = |place: &&usize| names.get(**place) == Some(&name);
        let mut own: Vec<usize> = all.iter().filter(is_called).copied().collect();
        if own.is_empty() {
            own.clone_from(all);
        } else if paths.len() == 1 {
            // In 2.0 the last of several columns of a field has its values.
            own.drain(..own.len() - 1);
        }
        if own.len() == paths.len() {
            found.extend(own.into_iter().zip(paths).map(|(place, path)| (place, path.clone())));
        }
    }
    found.sort_unstable();
    found
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

    #[test]
    fn columns_of_the_same_name_keep_their_values() {
        let field = |name: &str, path: &[usize]| (name.to_owned(), path.to_vec());
        let fields = [
            field("a", &[0]),
            field("s.a.b", &[1, 0]),
            field("a", &[2]),
            field("list", &[3]),
            field("lists", &[4]),
            field("list", &[5]),
        ];
        let names =
            ["a", "s.a.b", "a", "list.item", "lists.item.x", "lists.item.y", "list.item", "other"];
        let found = matched(&names, &fields);
        let expected: [(usize, &[usize]); 5] =
            [(0, &[0]), (1, &[1, 0]), (2, &[2]), (3, &[3]), (6, &[5])];
        assert_eq!(found, expected.map(|(place, path)| (place, path.to_vec())));
        // In 2.0 a field may have several columns.
        assert_eq!(matched(&["a", "a", "b"], &fields[..1]), [(1, vec![0])]);
    }
}
