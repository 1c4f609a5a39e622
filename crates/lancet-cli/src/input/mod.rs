//! Files of any known format as a stream of record batches.
//!
//! Batches are small by bytes, not only by rows, so that a wide table needs no more memory than
//! a narrow one.

mod arrow;
mod csv;
mod footer;
mod json;
mod kind;
mod leaf;
mod moments;
#[cfg(test)]
mod mutants;
mod numbers;
mod options;
mod parquet;
mod parse;
mod project;
mod rename;
mod row_groups;
mod source;
mod types;
mod window;
mod words;

use std::fs::File;
use std::path::{Path, PathBuf};

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, SchemaRef};
use lancet::{FileReader, RowRanges};

#[cfg(feature = "sql")]
use crate::error::Error;
use crate::error::{InFile, Result};
use crate::format::{Format, check_is_file};
use crate::guard::guarded;
use crate::rows::RowRange;
use kind::{Kind, Seen};
use leaf::{Cell, Leaf, Misfit};
pub use options::TextOptions;
pub use types::parse as data_type;

/// Bytes a batch aims at.
const BATCH_BYTES: u64 = 16 << 20;
/// Most rows of a batch.
pub const BATCH_ROWS: u64 = 8_192;
/// What a value of unknown length is taken for when batches are sized.
const GUESSED_BYTES: u64 = 64;
/// What a panic of a library is taken for.
const DAMAGED: &str = "the file is damaged, or holds something that lancet does not know";

/// What to read of a file.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// Column names, nested ones with dots; empty: all.
    pub columns: Vec<String>,
    /// Which rows.
    pub rows: RowRange,
}

/// The batches of a file.
pub type Batches = Box<dyn Iterator<Item = Result<RecordBatch>>>;

/// An open file.
pub struct Input {
    /// Schema of the batches.
    pub schema: SchemaRef,
    /// Rows of the whole file, where it says so.
    pub file_rows: Option<u64>,
    /// Rows that will come, where that is known.
    pub rows: Option<u64>,
    /// The selected rows, in order.
    pub batches: Batches,
}

/// Opens a part of a file, of the format that its ending says or that is given.
pub fn open_selection(
    path: &Path,
    format: Option<Format>,
    text: &TextOptions,
    selection: &Selection,
    quiet: bool,
) -> Result<Input> {
    let format = format.map_or_else(|| Format::from_path(path), Ok)?;
    text.check(format)?;
    check_is_file(path)?;
    let open = || match format {
        Format::Lance => open_lance(path, selection),
        Format::ArrowFile | Format::ArrowStream => arrow::open(path),
        Format::Parquet => parquet::open(path),
        Format::Csv | Format::Tsv => csv::open(path, format, text, quiet),
        Format::Json | Format::JsonLines => json::open(path, text, quiet),
    };
    let opened = guarded(DAMAGED, open).map_err(|e| e.about_once(path))?;
    let whole = Input { batches: guarded_batches(opened.batches, path), ..opened };
    match format {
        Format::Lance => Ok(whole), // which has read only what was selected
        _ => rename::renamed(whole, &text.rename)
            .and_then(|whole| window::narrow(whole, selection))
            .map_err(|e| e.about(path)),
    }
}

/// Looks at a file before a reader that believes what it reads: one that would fill the stack or the memory is
/// refused.
#[cfg(feature = "sql")]
pub fn look_at(file: File, path: &Path) -> Result<()> {
    guarded(DAMAGED, || {
        let looked = match Format::from_path(path) {
            Ok(Format::Lance) => Ok(()),
            Ok(Format::ArrowFile | Format::ArrowStream) => arrow::check(file),
            // Whatever it is called: the end tells.
            _ => parquet::check(file),
        };
        looked.map_err(Error::new)
    })
}

/// An array of one value of a type, out of its text.
pub fn value(text: &str, data_type: &DataType) -> Result<ArrayRef, String> {
    let mut leaf = Leaf::new(data_type, true);
    let pushed = leaf.push(Cell::Field(text), 0).and_then(|()| leaf.finish());
    pushed.map_err(|misfit| misfit.message)
}

/// The type that a value has in a CSV file.
pub fn type_of(text: &str) -> DataType {
    let mut seen = Seen::default();
    seen.see(Kind::of(text));
    seen.data_type()
}

fn open_lance(path: &Path, selection: &Selection) -> Result<Input> {
    let reader = FileReader::open(path).in_file(path)?;
    let file_bytes = path.metadata().map_or(0, |m| m.len());
    lance_rows(&reader, file_bytes, path, selection)
}

/// A part of a Lance file that is open; `path` is what messages call it.
pub fn lance_rows(
    reader: &FileReader,
    file_bytes: u64,
    path: &Path,
    selection: &Selection,
) -> Result<Input> {
    let rows = selection.rows.within(reader.num_rows()).map_err(|e| e.about(path))?;
    lance_scan(reader, file_bytes, path, &selection.columns, rows.into())
}

/// Some rows of a Lance file; `choose` is told how many there are.
pub fn lance_sample(
    path: &Path,
    columns: &[String],
    choose: impl FnOnce(u64) -> RowRanges,
) -> Result<Input> {
    check_is_file(path)?;
    let reader = FileReader::open(path).in_file(path)?;
    let file_bytes = path.metadata().map_or(0, |m| m.len());
    lance_scan(&reader, file_bytes, path, columns, choose(reader.num_rows()))
}

fn lance_scan(
    reader: &FileReader,
    file_bytes: u64,
    path: &Path,
    columns: &[String],
    rows: RowRanges,
) -> Result<Input> {
    let file_rows = reader.num_rows();
    let bytes_per_row = file_bytes.checked_div(file_rows).unwrap_or(0);
    let num_rows = rows.count();
    let mut scan =
        reader.scan().select(rows).batch_rows(batch_rows(&reader.schema(), bytes_per_row));
    if !columns.is_empty() {
        scan = scan.columns(columns);
    }
    let batches = scan.build().in_file(path)?;
    let schema = batches.schema();
    // Arrow's errors would say no more than that there is another one inside.
    let batches = batches.map(|batch| Ok::<_, lancet::Error>(batch?));
    Ok(Input {
        schema,
        file_rows: Some(file_rows),
        rows: Some(num_rows),
        batches: named(batches, path),
    })
}

fn stream(schema: SchemaRef, rows: Option<u64>, batches: Batches) -> Input {
    Input { schema, file_rows: rows, rows, batches }
}

fn open_file(path: &Path) -> Result<File> {
    File::open(path).in_file(path)
}

/// Adds the file name to the errors of a reader.
fn named<E: std::fmt::Display>(
    batches: impl Iterator<Item = Result<RecordBatch, E>> + 'static,
    path: &Path,
) -> Batches {
    let path = PathBuf::from(path);
    Box::new(batches.map(move |batch| batch.in_file(&path)))
}

/// Batches whose reader may panic; after that, none come.
fn guarded_batches(batches: Batches, path: &Path) -> Batches {
    let path = PathBuf::from(path);
    let mut batches = Some(batches);
    Box::new(std::iter::from_fn(move || {
        let next = || {
            let (mut reader, mut batch) = (batches.take(), None);
            if let Some(reader) = &mut reader {
                batch = reader.next();
            }
            batches = reader.filter(|_| matches!(batch, Some(Ok(_))));
            batch.transpose()
        };
        guarded(DAMAGED, next).map_err(|e| e.about_once(&path)).transpose()
    }))
}

/// What to say of a value in a text file that does not fit its column.
fn misfit_message(misfit: &Misfit, row: u64, line: u64, inferred_records: usize) -> String {
    let Misfit { column, message, given, .. } = misfit;
    let help = match *given {
        true => String::new(),
        false if inferred_records == usize::MAX => format!("; --types {column}=string keeps it"),
        false => format!(
            "; the schema comes from the first {inferred_records} records: \
             --types {column}=string keeps such values, --infer-rows all looks at every record"
        ),
    };
    format!("row {row} (line {line}), column `{column}`: {message}{help}")
}

/// Rows of a batch of about [`BATCH_BYTES`], where rows have at least `bytes_per_row`.
pub fn batch_rows(schema: &SchemaRef, bytes_per_row: u64) -> usize {
    let guessed = schema.fields().iter().map(|f| value_bytes(f.data_type())).sum::<u64>();
    let rows = BATCH_BYTES / guessed.max(bytes_per_row).max(1);
    usize::try_from(rows.clamp(1, BATCH_ROWS)).unwrap_or(1)
}

/// Bytes of one value: exact for fixed widths, a guess for the rest.
fn value_bytes(data_type: &DataType) -> u64 {
    match data_type {
        DataType::Null => 0,
        DataType::Boolean => 1,
        DataType::FixedSizeBinary(width) => u64::try_from(*width).unwrap_or(0),
        DataType::FixedSizeList(field, len) => {
            u64::try_from(*len).unwrap_or(0).saturating_mul(value_bytes(field.data_type()))
        }
        DataType::Struct(fields) => fields.iter().map(|f| value_bytes(f.data_type())).sum(),
        other => other
            .primitive_width()
            .and_then(|width| u64::try_from(width).ok())
            .unwrap_or(GUESSED_BYTES),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use arrow_schema::{Field, Schema};

    fn schema(columns: usize, data_type: DataType) -> SchemaRef {
        let field = |i| Field::new(format!("c{i}"), data_type.clone(), true);
        Arc::new(Schema::new((0..columns).map(field).collect::<Vec<_>>()))
    }

    #[test]
    fn wide_rows_make_short_batches() {
        assert_eq!(batch_rows(&schema(1, DataType::Int64), 0), 8_192);
        assert_eq!(batch_rows(&schema(1_000, DataType::Int64), 0), 2_097);
        let item = Arc::new(Field::new("item", DataType::Float32, true));
        assert_eq!(batch_rows(&schema(1, DataType::FixedSizeList(item, 4_096)), 0), 1_024);
        assert_eq!(batch_rows(&schema(1, DataType::Binary), 1 << 30), 1);
        assert_eq!(batch_rows(&schema(0, DataType::Null), 0), 8_192);
    }
}
