//! The blocking reader.
pub mod inspect;

use std::ops::Range;
use std::path::Path;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use bytes::Bytes;

use crate::container::Version;
use crate::error::{Error, Result};

/// How a file is read.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ReadOptions {
    /// Most bytes a read may hold at once beyond the result's own size.
    pub memory_limit: u64,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self { memory_limit: 4 << 30 }
    }
}

/// An open Lance file. Cheap to clone; all methods take `&self` and need no runtime.
#[derive(Debug, Clone)]
pub struct FileReader {}

impl FileReader {
    /// Opens a file on disk.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path, ReadOptions::default())
    }
    /// Opens a file on disk with options.
    pub fn open_with(path: impl AsRef<Path>, options: ReadOptions) -> Result<Self> {
        let _ = (path.as_ref(), options);
        Err(Error::unsupported("stub"))
    }
    /// Opens a file that is in memory.
    pub fn from_bytes(bytes: impl Into<Bytes>, options: ReadOptions) -> Result<Self> {
        let _ = (bytes.into(), options);
        Err(Error::unsupported("stub"))
    }
    /// Format version of the file.
    pub fn version(&self) -> Version {
        Version::V2_2
    }
    /// The schema, with field and schema metadata.
    pub fn schema(&self) -> SchemaRef {
        arrow_schema::Schema::empty().into()
    }
    /// Number of rows.
    pub fn num_rows(&self) -> u64 {
        0
    }
    /// Number of global buffers (number 0 holds the schema).
    pub fn num_global_buffers(&self) -> usize {
        0
    }
    /// The bytes of a global buffer.
    pub fn global_buffer(&self, index: usize) -> Result<Bytes> {
        let _ = index;
        Err(Error::unsupported("stub"))
    }
    /// All columns of the given rows, in the order asked for; duplicates are allowed.
    pub fn take(&self, rows: &[u64]) -> Result<RecordBatch> {
        let _ = rows;
        Err(Error::unsupported("stub"))
    }
    /// Some columns of the given rows; nested fields are named with dots.
    pub fn take_columns<S: AsRef<str>>(
        &self,
        rows: &[u64],
        columns: impl IntoIterator<Item = S>,
    ) -> Result<RecordBatch> {
        let _ = (rows, columns.into_iter().count());
        Err(Error::unsupported("stub"))
    }
    /// Starts to describe a scan.
    pub fn scan(&self) -> Scan {
        Scan {}
    }
    /// What the file is made of. Reads the metadata of all columns.
    pub fn inspect(&self) -> Result<inspect::FileReport> {
        Err(Error::unsupported("stub"))
    }
}

/// Describes a scan; [`Scan::build`] starts it.
#[derive(Debug, Clone)]
#[must_use]
pub struct Scan {}

impl Scan {
    /// Reads only these columns; nested fields are named with dots.
    pub fn columns<S: AsRef<str>>(self, columns: impl IntoIterator<Item = S>) -> Self {
        let _ = columns.into_iter().count();
        self
    }
    /// Reads only these rows.
    pub fn rows(self, rows: Range<u64>) -> Self {
        let _ = rows;
        self
    }
    /// Rows in a batch (8,192 unless told).
    pub fn batch_rows(self, rows: usize) -> Self {
        let _ = rows;
        self
    }
    /// Checks the description and starts.
    pub fn build(self) -> Result<Batches> {
        Err(Error::unsupported("stub"))
    }
}

/// The batches of a scan, in row order.
#[derive(Debug)]
pub struct Batches {}

impl Batches {
    /// The schema of the batches.
    pub fn schema(&self) -> SchemaRef {
        arrow_schema::Schema::empty().into()
    }
}

impl Iterator for Batches {
    type Item = Result<RecordBatch>;
    fn next(&mut self) -> Option<Self::Item> {
        None
    }
}
