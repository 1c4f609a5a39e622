//! The blobs of one column, read by the byte.

use std::ops::{Range, RangeBounds};

use bytes::Bytes;

use super::FileReader;
use crate::error::Result;
use crate::read::blobs::{BlobColumn, BlobDescription};

/// The blobs of one column: found by row, read by ranges of bytes, without loading the rest.
///
/// A read costs the chunk of 4 KiB or so that tells where the blob is, and the bytes asked for.
///
/// ```
/// # use std::sync::Arc;
/// # use arrow_array::{LargeBinaryArray, RecordBatch};
/// # use arrow_schema::{DataType, Field, Schema};
/// # use lancet::{FileReader, FileWriter, ReadOptions, WriteOptions};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let field = Field::new("video", DataType::LargeBinary, true)
///     .with_metadata([("lance-encoding:blob".into(), "true".into())].into());
/// let schema = Arc::new(Schema::new(vec![field]));
/// let videos = LargeBinaryArray::from_opt_vec(vec![Some(b"a long video"), None]);
/// # let batch = RecordBatch::try_new(schema.clone(), vec![Arc::new(videos)])?;
/// # let mut file = Vec::new();
/// # let mut writer = FileWriter::new(&mut file, schema, WriteOptions::default())?;
/// # writer.write(&batch)?;
/// # writer.finish_into()?;
/// // … written to a file, then:
/// let reader = FileReader::from_bytes(file, ReadOptions::default())?;
/// let videos = reader.blobs("video")?;
/// assert_eq!(videos.len(0)?, Some(12));
/// assert_eq!(videos.read(0, 2..6)?, "long");
/// assert_eq!(videos.read(0, 7..)?, "video");
/// assert_eq!(videos.len(1)?, None);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Blobs {
    reader: FileReader,
    column: BlobColumn,
}

impl Blobs {
    pub(super) fn new(reader: FileReader, column: BlobColumn) -> Self {
        Self { reader, column }
    }

    /// Number of rows.
    pub fn num_rows(&self) -> u64 {
        self.column.num_rows()
    }

    /// The size of a blob in bytes; `None` if it is null.
    pub fn len(&self, row: u64) -> Result<Option<u64>> {
        self.reader.run(self.column.len(row))
    }

    /// Bytes of a blob; `..` for all of them. A null has none to read.
    pub fn read(&self, row: u64, range: impl RangeBounds<u64>) -> Result<Bytes> {
        self.reader.run(self.column.read(row, range))
    }

    /// Bytes of blobs of some rows, which are found and read together and count as one read.
    pub fn read_ranges(&self, ranges: &[(u64, Range<u64>)]) -> Result<Vec<Bytes>> {
        self.reader.run(self.column.read_ranges(ranges))
    }

    /// Where the blobs of some rows lie, in the order asked for; `None` for null ones.
    pub fn descriptions(&self, rows: &[u64]) -> Result<Vec<Option<BlobDescription>>> {
        self.reader.run(self.column.descriptions(rows))
    }
}
