//! The blocking writer.

use std::path::Path;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;

use crate::container::Version;
use crate::error::{Error, Result};

/// How a file is written.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct WriteOptions {
    /// Format version to write.
    pub version: Version,
    /// A column's page is cut when it holds this many bytes of values.
    pub page_bytes: u64,
}

impl Default for WriteOptions {
    fn default() -> Self {
        Self { version: Version::V2_2, page_bytes: 8 << 20 }
    }
}

/// Writes a Lance file batch by batch. Nothing appears under the final name before
/// [`FileWriter::finish`].
#[derive(Debug)]
pub struct FileWriter<W: std::io::Write = std::io::BufWriter<std::fs::File>> {
    sink: std::marker::PhantomData<W>,
}

impl FileWriter {
    /// Starts a file on disk.
    pub fn create(
        path: impl AsRef<Path>,
        schema: SchemaRef,
        options: WriteOptions,
    ) -> Result<Self> {
        let _ = (path.as_ref(), schema, options);
        Err(Error::unsupported("stub"))
    }
}

impl<W: std::io::Write> FileWriter<W> {
    /// Appends rows.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let _ = batch;
        Err(Error::unsupported("stub"))
    }
    /// Adds a global buffer; returns its number (1, 2, …).
    pub fn add_global_buffer(&mut self, bytes: &[u8]) -> Result<usize> {
        let _ = bytes;
        Err(Error::unsupported("stub"))
    }
    /// Writes what is left and the metadata, and makes the file appear.
    pub fn finish(self) -> Result<WriteSummary> {
        Err(Error::unsupported("stub"))
    }
}

/// What was written.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct WriteSummary {
    /// Rows of the file.
    pub num_rows: u64,
    /// Size of the file.
    pub file_bytes: u64,
    /// Pages of all columns.
    pub num_pages: u64,
}
