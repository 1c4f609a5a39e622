//! The blobs of one column, read by the byte.

use std::ops::{Range, RangeBounds};

use bytes::Bytes;
use lancet::{BlobColumn, BlobDescription};

use crate::error::Result;
use crate::reader::Reader;

/// The blobs of one column: found by row, read by ranges of bytes, without loading the rest. The verbs are
/// those of [`lancet::Blobs`].
#[derive(Debug, Clone)]
pub struct Blobs {
    reader: Reader,
    column: BlobColumn,
}

impl Blobs {
    pub(crate) fn new(reader: Reader, column: BlobColumn) -> Self {
        Self { reader, column }
    }

    /// Number of rows.
    pub fn num_rows(&self) -> u64 {
        self.column.num_rows()
    }

    /// The size of a blob in bytes; `None` if it is null.
    pub async fn len(&self, row: u64) -> Result<Option<u64>> {
        self.reader.run(self.column.len(row)).await
    }

    /// Bytes of a blob; `..` for all of them. A null has none to read.
    pub async fn read(&self, row: u64, range: impl RangeBounds<u64>) -> Result<Bytes> {
        let request = self.column.read(row, range);
        self.reader.run(request).await
    }

    /// Bytes of blobs of some rows, which are found and read together and count as one read.
    pub async fn read_ranges(&self, ranges: &[(u64, Range<u64>)]) -> Result<Vec<Bytes>> {
        self.reader.run(self.column.read_ranges(ranges)).await
    }

    /// Where the blobs of some rows lie, in the order asked for; `None` for null ones.
    pub async fn descriptions(&self, rows: &[u64]) -> Result<Vec<Option<BlobDescription>>> {
        self.reader.run(self.column.descriptions(rows)).await
    }
}
