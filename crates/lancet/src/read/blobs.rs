//! The blobs of one column, read by the byte.

use std::ops::{Bound, Range, RangeBounds};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{UInt8Type, UInt64Type};
use arrow_array::{Array, RecordBatch, StructArray};
use bytes::Bytes;

use super::file::OpenFile;
use super::projection::Projection;
use super::request::Request;
use super::steps::{Io, Steps};
use crate::error::{Error, Result, ensure};
use crate::rows::Rows;
use crate::schema::columns::{LeafKind, Node, is_blob};
use crate::span::Span;

/// The kind of blobs whose bytes lie in the file itself.
const INLINE: u8 = 0;

/// The blobs of one column, for drivers with I/O of their own; [`OpenFile::blobs`] finds them. The blocking
/// [`Blobs`](crate::Blobs) have the same methods.
#[derive(Debug, Clone)]
pub struct BlobColumn {
    file: Arc<OpenFile>,
    /// The column and the structs around it, blobs described.
    columns: Projection,
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

impl BlobColumn {
    /// The column with this name, whose metadata is not loaded yet.
    pub(super) fn new(file: &Arc<OpenFile>, column: &str) -> Result<Self> {
        Self::of(file, file.project([column])?, &format!("`{column}`"))
    }

    /// The one column of a projection, which errors call `name`.
    pub(super) fn of(file: &Arc<OpenFile>, columns: Projection, name: &str) -> Result<Self> {
        let mut depth = 0_usize;
        let mut nodes = columns.nodes();
        while let [Node::Struct { children, .. }] = nodes {
            nodes = children;
            depth = depth.saturating_add(1);
        }
        match nodes {
            [Node::Leaf(leaf)]
                if leaf.kind == LeafKind::Blob
                    || leaf.kind == LeafKind::PackedStruct && is_blob(&leaf.stored) => {}
            _ => return Err(Error::invalid(format!("{name} is not a blob column"))),
        }
        let columns = columns.with_blobs_described()?;
        Ok(Self { file: file.clone(), columns, num_rows: 0, depth })
    }

    /// Loads what is known of the column.
    pub(super) async fn load(mut self, io: &Io) -> Result<Self> {
        self.num_rows = self.file.load_columns(io, &self.columns).await?;
        Ok(self)
    }

    /// Number of rows.
    pub fn num_rows(&self) -> u64 {
        self.num_rows
    }

    /// The size of a blob in bytes; `None` if it is null.
    pub fn len(&self, row: u64) -> Request<Option<u64>> {
        let blobs = self.clone();
        self.file.request(Steps::start(move |io| async move {
            Ok(blobs.describe(&io, &[row]).await?.pop().flatten().map(|blob| blob.size))
        }))
    }

    /// Bytes of a blob; `..` for all of them. A null has none to read.
    pub fn read(&self, row: u64, range: impl RangeBounds<u64>) -> Request<Bytes> {
        let blobs = self.clone();
        let range = (range.start_bound().cloned(), range.end_bound().cloned());
        let read = move |io| async move { blobs.read_range(&io, row, range).await };
        self.file.request(Steps::start(read))
    }

    /// Where the blobs of some rows lie, in the order asked for; `None` for null ones.
    pub fn descriptions(&self, rows: &[u64]) -> Request<Vec<Option<BlobDescription>>> {
        let (blobs, rows) = (self.clone(), rows.to_vec());
        self.file.request(Steps::start(move |io| async move { blobs.describe(&io, &rows).await }))
    }

    /// Bytes of blobs of some rows, which are found and read together and count as one read.
    pub fn read_ranges(&self, ranges: &[(u64, Range<u64>)]) -> Request<Vec<Bytes>> {
        let (blobs, ranges) = (self.clone(), ranges.to_vec());
        self.file.request(Steps::start(move |io| async move { blobs.read_all(&io, ranges).await }))
    }

    async fn read_range(
        &self,
        io: &Io,
        row: u64,
        range: (Bound<u64>, Bound<u64>),
    ) -> Result<Bytes> {
        let blob = self.describe(io, &[row]).await?.pop().flatten();
        let span = self.span(row, blob, range)?;
        if span.is_empty() {
            return Ok(Bytes::new());
        }
        self.file.budget().claim(span.len(), "a blob")?;
        io.read_one(span).await
    }

    async fn read_all(&self, io: &Io, ranges: Vec<(u64, Range<u64>)>) -> Result<Vec<Bytes>> {
        let rows: Vec<u64> = ranges.iter().map(|(row, _)| *row).collect();
        let blobs = self.describe(io, &rows).await?;
        let mut spans = Vec::with_capacity(ranges.len());
        for ((row, range), blob) in ranges.into_iter().zip(blobs) {
            let range = (Bound::Included(range.start), Bound::Excluded(range.end));
            spans.push(self.span(row, blob, range)?);
        }
        self.file.budget().claim(Span::total(&spans), "the blobs")?;
        let some: Vec<Span> = spans.iter().copied().filter(|span| !span.is_empty()).collect();
        let mut read = io.read(some).await?.into_iter();
        let bytes = |span: &Span| match span.is_empty() {
            true => Bytes::new(),
            false => read.next().unwrap_or_default(),
        };
        Ok(spans.iter().map(bytes).collect())
    }

    /// Where a part of a blob lies.
    fn span(
        &self,
        row: u64,
        blob: Option<BlobDescription>,
        range: (Bound<u64>, Bound<u64>),
    ) -> Result<Span> {
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
        if !span.is_empty() {
            let end = self.file.index.data_end;
            ensure!(span.end() <= end, "a blob at {span} lies outside the data");
        }
        Ok(span)
    }

    async fn describe(&self, io: &Io, rows: &[u64]) -> Result<Vec<Option<BlobDescription>>> {
        let read = self.file.read_rows(&self.columns, Rows::List(rows.to_vec()))?;
        descriptions(&io.run(read).await?, self.depth)
    }
}

/// What a batch of one column of described blobs says.
fn descriptions(batch: &RecordBatch, depth: usize) -> Result<Vec<Option<BlobDescription>>> {
    let mut array = batch.columns().first().ok_or_else(unexpected)?;
    let mut around = Vec::with_capacity(depth);
    for _ in 0..depth {
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

impl BlobDescription {
    /// The span of a range of the blob's bytes, or the blob's size if it does not reach so far.
    fn span(&self, range: impl RangeBounds<u64>) -> Result<Span, u64> {
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
        let blob = Span::at(self.position, self.size);
        blob.and_then(|blob| blob.part(start..end)).ok_or(self.size)
    }
}

fn numbers<'a>(blobs: &'a StructArray, name: &str) -> Result<&'a [u64]> {
    let column = blobs.column_by_name(name).and_then(|c| c.as_primitive_opt::<UInt64Type>());
    Ok(column.ok_or_else(unexpected)?.values())
}

fn unexpected() -> Error {
    Error::corrupt("blob descriptions that are not positions and sizes")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(start: u64, end: u64) -> Span {
        Span::new(start, end).unwrap()
    }

    #[test]
    fn ranges_stay_inside_the_blob() {
        let blob = BlobDescription { position: 100, size: 10, kind: INLINE };
        assert_eq!(blob.span(..), Ok(span(100, 110)));
        assert_eq!(blob.span(3..=4), Ok(span(103, 105)));
        assert_eq!(blob.span((Bound::Excluded(3), Bound::Unbounded)), Ok(span(104, 110)));
        assert_eq!(blob.span(10..), Ok(span(110, 110)));
        let (start, end) = (5, 4);
        assert_eq!(blob.span(start..end), Err(10));
        assert_eq!(blob.span(..11), Err(10));
        assert_eq!(blob.span(..=u64::MAX), Err(10));
        let forged = BlobDescription { position: u64::MAX, size: 10, kind: INLINE };
        assert_eq!(forged.span(1..2), Err(10));
    }
}
