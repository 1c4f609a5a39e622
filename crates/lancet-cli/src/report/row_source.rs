//! Where shown rows come from: a file or a table. Blobs come described, and some of their bytes one by one.

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use bytes::Bytes;
use lancet::FileReader;
use lancet_table::{Table, TableBlobs};

/// A file or a table.
pub enum Source<'a> {
    File(&'a FileReader),
    Table(&'a Table),
}

/// Why rows cannot be read.
pub enum Failure {
    /// They would take more memory than a report may.
    TooLong,
    Other(String),
}

impl Source<'_> {
    pub fn schema(&self) -> SchemaRef {
        match self {
            Self::File(reader) => reader.schema(),
            Self::Table(table) => table.schema(),
        }
    }

    pub fn num_rows(&self) -> Result<u64, String> {
        match self {
            Self::File(reader) => Ok(reader.num_rows()),
            Self::Table(table) => table.num_rows().map_err(|error| error.to_string()),
        }
    }

    /// Rows of columns, or of all of them: those without a name cannot be asked for. Blobs are described.
    pub fn read(&self, columns: Option<&[&str]>, rows: &[u64]) -> Result<RecordBatch, Failure> {
        match self {
            Self::File(reader) => read_file(reader, columns, rows).map_err(|e| of_file(&e)),
            Self::Table(table) => read_table(table, columns, rows).map_err(|e| of_table(&e)),
        }
    }

    /// The blobs of a column, if it has some.
    pub fn blobs(&self, column: &str) -> Option<Blobs> {
        match self {
            Self::File(reader) => reader.blobs(column).ok().map(Blobs::File),
            Self::Table(table) => table.blobs(column).ok().map(Blobs::Table),
        }
    }
}

fn read_file(
    reader: &FileReader,
    columns: Option<&[&str]>,
    rows: &[u64],
) -> lancet::Result<RecordBatch> {
    let columns = match columns {
        Some(names) => reader.file().project(names)?,
        None => reader.file().project(..)?,
    };
    reader.take_columns(rows, columns.with_blobs_described()?)
}

fn read_table(
    table: &Table,
    columns: Option<&[&str]>,
    rows: &[u64],
) -> lancet_table::Result<RecordBatch> {
    let columns = match columns {
        Some(names) => table.project(names)?,
        None => table.project(..)?,
    };
    table.take(rows, columns.with_blobs_described())
}

fn of_file(error: &lancet::Error) -> Failure {
    match error {
        lancet::Error::Limit { .. } => Failure::TooLong,
        other => Failure::Other(other.to_string()),
    }
}

fn of_table(error: &lancet_table::Error) -> Failure {
    match error {
        lancet_table::Error::Limit { .. }
        | lancet_table::Error::Data { source: lancet::Error::Limit { .. }, .. } => Failure::TooLong,
        other => Failure::Other(other.to_string()),
    }
}

/// The blobs of a column.
pub enum Blobs {
    File(lancet::Blobs),
    Table(TableBlobs),
}

impl Blobs {
    /// How long a blob is; none for nulls.
    pub fn len(&self, row: u64) -> Result<Option<u64>, Failure> {
        match self {
            Self::File(blobs) => blobs.len(row).map_err(|error| of_file(&error)),
            Self::Table(blobs) => blobs.len(row).map_err(|error| of_table(&error)),
        }
    }

    /// The first bytes of a blob.
    pub fn read(&self, row: u64, bytes: u64) -> Result<Bytes, Failure> {
        match self {
            Self::File(blobs) => blobs.read(row, ..bytes).map_err(|error| of_file(&error)),
            Self::Table(blobs) => blobs.read(row, ..bytes).map_err(|error| of_table(&error)),
        }
    }
}
