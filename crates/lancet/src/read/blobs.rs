//! The blobs of one column, read by the byte.

use std::fmt;
use std::ops::{Bound, Range, RangeBounds};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{UInt8Type, UInt64Type};
use arrow_array::{Array, StructArray};
use bytes::Bytes;

use super::FileReader;
use super::projected::ProjectedColumns;
use super::read_request::Wanted;
use crate::budget::Budget;
use crate::error::{Error, Result, ensure};
use crate::schema::columns::{LeafKind, Node, is_blob};
use crate::schema::descriptions::describe_blobs;
use crate::schema::projection::project;

/// The kind of blobs whose bytes lie in the file itself.
const INLINE: u8 = 0;

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
#[derive(Clone)]
pub struct Blobs {
    reader: FileReader,
    /// The column and the structs around it, blobs described.
    projection: Arc<ProjectedColumns>,
    num_rows: u64,
    /// Structs around the column.
    depth: usize,
}

/// Where the bytes of a blob lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct BlobDescription {
    /// Offset of the first byte.
    pub position: u64,
    /// Number of bytes.
    pub size: u64,
    /// 0 for blobs in the file itself. Blobs of the second kind (extension `lance.blob.v2`) may
    /// lie elsewhere: 1 in a part of a side file, 2 in a side file of its own, 3 at an address,
    /// 4 and 5 in managed objects. A scan of their column tells where.
    pub kind: u8,
}

impl Blobs {
    pub(super) fn new(reader: &FileReader, column: &str) -> Result<Self> {
        let file = &reader.file;
        let projection = project(&file.index.schema, &file.nodes, [column])?;
        let mut depth = 0_usize;
        let mut nodes = projection.nodes.as_slice();
        while let [Node::Struct { children, .. }] = nodes {
            nodes = children;
            depth = depth.saturating_add(1);
        }
        match nodes {
            [Node::Leaf(leaf)]
                if leaf.kind == LeafKind::Blob
                    || leaf.kind == LeafKind::PackedStruct && is_blob(&leaf.stored) => {}
            _ => return Err(Error::invalid(format!("`{column}` is not a blob column"))),
        }
        let projection = ProjectedColumns::new(describe_blobs(&projection))?;
        let num_rows = reader.load_columns(&projection)?;
        Ok(Self { reader: reader.clone(), projection, num_rows, depth })
    }

    /// Number of rows.
    pub fn num_rows(&self) -> u64 {
        self.num_rows
    }

    /// The size of a blob in bytes; `None` if it is null.
    pub fn len(&self, row: u64) -> Result<Option<u64>> {
        Ok(self.description(row)?.map(|blob| blob.size))
    }

    /// Bytes of a blob; `..` for all of them. A null has none to read.
    pub fn read(&self, row: u64, range: impl RangeBounds<u64>) -> Result<Bytes> {
        let blob = self.description(row)?;
        let blob = blob.ok_or_else(|| Error::invalid(format!("the blob of row {row} is null")))?;
        if blob.kind != INLINE {
            return Err(Error::unsupported(format!(
                "the blob of row {row} lies outside the file (kind {}); scan its column for where",
                blob.kind
            )));
        }
        let span = blob.span(range).map_err(|size| {
            Error::invalid(format!("the range lies outside the blob of row {row}: {size} bytes"))
        })?;
        if span.is_empty() {
            return Ok(Bytes::new());
        }
        let file = &self.reader.file;
        ensure!(
            span.end <= file.index.data_end,
            "a blob at {}..{} lies outside the data",
            span.start,
            span.end
        );
        let bytes = span.end.saturating_sub(span.start);
        Budget::new(file.options.memory_limit).claim(bytes, "a blob")?;
        let read = file.source.read(std::slice::from_ref(&span))?.pop();
        read.ok_or_else(|| Error::invalid("the source returned nothing for a span"))
    }

    /// Where the blobs of some rows lie, in the order asked for; `None` for null ones.
    pub fn descriptions(&self, rows: &[u64]) -> Result<Vec<Option<BlobDescription>>> {
        let request = self.reader.request(&self.projection, Wanted::Rows(rows.to_vec()))?;
        let batch = self.reader.run(request)?;
        let mut array = batch.columns().first().ok_or_else(unexpected)?;
        let mut around = Vec::with_capacity(self.depth);
        for _ in 0..self.depth {
            let parent = array.as_struct_opt().ok_or_else(unexpected)?;
            around.push(parent);
            array = parent.columns().first().ok_or_else(unexpected)?;
        }
        let blobs = array.as_struct_opt().ok_or_else(unexpected)?;
        around.push(blobs);
        let (positions, sizes) = (numbers(blobs, "position")?, numbers(blobs, "size")?);
        let kinds = blobs.column_by_name("kind").and_then(|c| c.as_primitive_opt::<UInt8Type>());
        let describe = |i: usize| {
            let valid = around.iter().all(|array| array.is_valid(i));
            valid.then(|| BlobDescription {
                position: positions.get(i).copied().unwrap_or(0),
                size: sizes.get(i).copied().unwrap_or(0),
                kind: kinds.map_or(INLINE, |kinds| kinds.value(i)),
            })
        };
        Ok((0..blobs.len()).map(describe).collect())
    }

    fn description(&self, row: u64) -> Result<Option<BlobDescription>> {
        self.descriptions(&[row])?.pop().ok_or_else(unexpected)
    }
}

impl BlobDescription {
    /// The span of a range of the blob's bytes, or the blob's size if it does not reach so far.
    fn span(&self, range: impl RangeBounds<u64>) -> Result<Range<u64>, u64> {
        let start = match range.start_bound() {
            Bound::Included(start) => Some(*start),
            Bound::Excluded(before) => before.checked_add(1),
            Bound::Unbounded => Some(0),
        };
        let end = match range.end_bound() {
            Bound::Included(last) => last.checked_add(1),
            Bound::Excluded(end) => Some(*end),
            Bound::Unbounded => Some(self.size),
        };
        let (Some(start), Some(end)) = (start, end) else { return Err(self.size) };
        let place = |offset: u64| self.position.checked_add(offset).ok_or(self.size);
        if start > end || end > self.size {
            return Err(self.size);
        }
        Ok(place(start)?..place(end)?)
    }
}

fn numbers<'a>(blobs: &'a StructArray, name: &str) -> Result<&'a [u64]> {
    let column = blobs.column_by_name(name).and_then(|c| c.as_primitive_opt::<UInt64Type>());
    Ok(column.ok_or_else(unexpected)?.values())
}

fn unexpected() -> Error {
    Error::corrupt("blob descriptions that are not positions and sizes")
}

impl fmt::Debug for Blobs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Blobs").field("num_rows", &self.num_rows).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_stay_inside_the_blob() {
        let blob = BlobDescription { position: 100, size: 10, kind: INLINE };
        assert_eq!(blob.span(..), Ok(100..110));
        assert_eq!(blob.span(3..=4), Ok(103..105));
        assert_eq!(blob.span((Bound::Excluded(3), Bound::Unbounded)), Ok(104..110));
        assert_eq!(blob.span(10..), Ok(110..110));
        let (start, end) = (5, 4);
        assert_eq!(blob.span(start..end), Err(10));
        assert_eq!(blob.span(..11), Err(10));
        assert_eq!(blob.span(..=u64::MAX), Err(10));
        let forged = BlobDescription { position: u64::MAX, size: 10, kind: INLINE };
        assert_eq!(forged.span(1..2), Err(10));
    }
}
