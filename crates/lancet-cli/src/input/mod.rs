//! Files of any known format as a stream of record batches.
//!
//! Batches are small by bytes, not only by rows, so that a wide table needs no more memory than
//! a narrow one.

mod infer;
mod window;

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{DataType, SchemaRef};
use lancet::FileReader;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use crate::error::{InFile, Result};
use crate::format::{Format, check_is_file};
use crate::rows::RowRange;

/// Bytes a batch aims at.
const BATCH_BYTES: u64 = 16 << 20;
/// Most rows of a batch.
pub const BATCH_ROWS: u64 = 8_192;
/// What a value of unknown length is taken for when batches are sized.
const GUESSED_BYTES: u64 = 64;
/// Records that decide the schema of CSV and JSON lines.
const INFERRED_RECORDS: usize = 10_000;

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

/// Opens a part of a file.
pub fn open_selection(path: &Path, selection: &Selection) -> Result<Input> {
    check_is_file(path)?;
    open_as(path, Format::from_path(path)?, selection)
}

/// Opens a part of a file whose name does not have to tell the format.
pub fn open_as(path: &Path, format: Format, selection: &Selection) -> Result<Input> {
    let whole = match format {
        Format::Lance => return open_lance(path, selection),
        Format::ArrowFile | Format::ArrowStream => open_arrow(path)?,
        Format::Parquet => open_parquet(path)?,
        Format::Csv => open_csv(path)?,
        Format::JsonLines => open_json_lines(path)?,
    };
    window::narrow(whole, selection).map_err(|e| e.about(path))
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
    let file_rows = reader.num_rows();
    let rows = selection.rows.within(file_rows).map_err(|e| e.about(path))?;
    let bytes_per_row = file_bytes.checked_div(file_rows).unwrap_or(0);
    let mut scan =
        reader.scan().rows(rows.clone()).batch_rows(batch_rows(&reader.schema(), bytes_per_row));
    if !selection.columns.is_empty() {
        scan = scan.columns(&selection.columns);
    }
    let batches = scan.build().in_file(path)?;
    Ok(Input {
        schema: batches.schema(),
        file_rows: Some(file_rows),
        rows: Some(rows.end - rows.start),
        batches: named(batches, path),
    })
}

fn open_arrow(path: &Path) -> Result<Input> {
    let mut file = open_file(path)?;
    let mut magic = [0; 6];
    let found = read_up_to(&mut file, &mut magic).in_file(path)?;
    file.seek(SeekFrom::Start(0)).in_file(path)?;
    if magic.get(..found) == Some(b"ARROW1") {
        let reader = arrow_ipc::reader::FileReader::try_new_buffered(file, None).in_file(path)?;
        Ok(stream(reader.schema(), None, named(reader, path)))
    } else {
        let reader = arrow_ipc::reader::StreamReader::try_new_buffered(file, None).in_file(path)?;
        Ok(stream(reader.schema(), None, named(reader, path)))
    }
}

fn open_parquet(path: &Path) -> Result<Input> {
    let builder = ParquetRecordBatchReaderBuilder::try_new(open_file(path)?).in_file(path)?;
    let schema = builder.schema().clone();
    let rows = u64::try_from(builder.metadata().file_metadata().num_rows()).unwrap_or(0);
    let bytes: i64 = builder.metadata().row_groups().iter().map(|g| g.total_byte_size()).sum();
    let bytes_per_row = u64::try_from(bytes).unwrap_or(0).checked_div(rows).unwrap_or(0);
    let reader =
        builder.with_batch_size(batch_rows(&schema, bytes_per_row)).build().in_file(path)?;
    Ok(stream(schema, Some(rows), named(reader, path)))
}

fn open_csv(path: &Path) -> Result<Input> {
    let format = arrow_csv::reader::Format::default().with_header(true);
    let (schema, _) =
        format.infer_schema(open_text(path)?, Some(INFERRED_RECORDS)).in_file(path)?;
    let schema = Arc::new(infer::without_nulls(&schema));
    let reader = arrow_csv::ReaderBuilder::new(schema.clone())
        .with_format(format)
        .with_batch_size(batch_rows(&schema, 0))
        .build_buffered(open_text(path)?)
        .in_file(path)?;
    Ok(stream(schema, None, inferred(reader, path)))
}

fn open_json_lines(path: &Path) -> Result<Input> {
    let schema =
        infer::json_lines_schema(open_text(path)?, INFERRED_RECORDS).map_err(|e| e.about(path))?;
    let schema = Arc::new(schema);
    let reader = arrow_json::ReaderBuilder::new(schema.clone())
        .with_batch_size(batch_rows(&schema, 0))
        .with_coerce_primitive(true)
        .with_strict_mode(true) // a column that was not inferred is an error, not silence
        .build(open_text(path)?)
        .in_file(path)?;
    Ok(stream(schema, None, inferred(reader, path)))
}

fn stream(schema: SchemaRef, rows: Option<u64>, batches: Batches) -> Input {
    Input { schema, file_rows: rows, rows, batches }
}

fn open_file(path: &Path) -> Result<File> {
    File::open(path).in_file(path)
}

/// A text file behind its byte order mark, if it has one.
fn open_text(path: &Path) -> Result<BufReader<File>> {
    let mut file = open_file(path)?;
    let mut mark = [0; 3];
    let found = read_up_to(&mut file, &mut mark).in_file(path)?;
    if mark.get(..found) != Some(b"\xEF\xBB\xBF") {
        file.seek(SeekFrom::Start(0)).in_file(path)?;
    }
    Ok(BufReader::with_capacity(1 << 18, file))
}

fn read_up_to(file: &mut File, buffer: &mut [u8]) -> std::io::Result<usize> {
    let mut found = 0;
    while let Some(rest) = buffer.get_mut(found..).filter(|rest| !rest.is_empty()) {
        match file.read(rest)? {
            0 => break,
            n => found += n,
        }
    }
    Ok(found)
}

/// Adds the file name to the errors of a reader.
fn named<E: std::fmt::Display>(
    batches: impl Iterator<Item = Result<RecordBatch, E>> + 'static,
    path: &Path,
) -> Batches {
    let path = PathBuf::from(path);
    Box::new(batches.map(move |batch| batch.in_file(&path)))
}

/// As [`named`], and says where the schema came from, since that is what a failing value broke.
fn inferred<E: std::fmt::Display>(
    batches: impl Iterator<Item = Result<RecordBatch, E>> + 'static,
    path: &Path,
) -> Batches {
    let note =
        |error| format!("{error} (the schema comes from the first {INFERRED_RECORDS} records)");
    named(batches.map(move |batch| batch.map_err(note)), path)
}

/// Rows of a batch of about [`BATCH_BYTES`], where rows have at least `bytes_per_row`.
fn batch_rows(schema: &SchemaRef, bytes_per_row: u64) -> usize {
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
