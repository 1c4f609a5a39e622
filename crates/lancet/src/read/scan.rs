//! Scans: a range of rows as a sequence of batches.

use std::ops::Range;
use std::sync::Arc;

use arrow_schema::SchemaRef;

use super::FileReader;
use super::batches::Batches;
use super::projected::ProjectedColumns;
use super::read_request::{ReadRequest, Request, Wanted, check_range};
use crate::error::{Error, Result};

/// Fewer bytes are read on one thread unless a caller asks for more: they take some 700 us, at 1 GB/s.
const PARALLEL_BYTES: u64 = 768 << 10;

/// Describes a scan; [`Scan::build`] starts it.
///
/// ```
/// # use std::sync::Arc;
/// # use lancet::arrow::array::cast::AsArray;
/// # use lancet::arrow::array::types::Int64Type;
/// # use lancet::arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
/// # use lancet::{FileReader, FileWriter, ReadOptions, WriteOptions};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(0..50_000));
/// # let names = StringArray::from_iter_values((0..50_000).map(|i| format!("name {i}")));
/// # let batch = RecordBatch::try_from_iter([("id", ids), ("name", Arc::new(names) as _)])?;
/// # let mut writer = FileWriter::new(Vec::new(), batch.schema(), WriteOptions::default())?;
/// # writer.write(&batch)?;
/// # let reader = FileReader::from_bytes(writer.finish_into()?.1, ReadOptions::default())?;
/// let batches = reader
///     .scan()
///     .columns(["id"]) // all by default
///     .rows(10_000..30_000) // all by default
///     .batch_rows(4_096)
///     .build()?;
/// let mut sum = 0;
/// for batch in batches {
///     // Batches come in row order, whichever thread has read them.
///     let batch = batch?;
///     sum += batch["id"].as_primitive::<Int64Type>().values().iter().sum::<i64>();
/// }
/// assert_eq!(sum, (10_000..30_000).sum::<i64>());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct Scan {
    reader: FileReader,
    columns: Option<Vec<String>>,
    rows: Option<Range<u64>>,
    batch_rows: usize,
    batch_bytes: u64,
    threads: Option<usize>,
    describe_blobs: bool,
}

impl Scan {
    pub(super) fn new(reader: FileReader) -> Self {
        Self {
            reader,
            columns: None,
            rows: None,
            batch_rows: 8192,
            batch_bytes: 8 << 20,
            threads: None,
            describe_blobs: false,
        }
    }

    /// Reads only these columns; nested fields are named with dots.
    pub fn columns<S: AsRef<str>>(mut self, columns: impl IntoIterator<Item = S>) -> Self {
        self.columns = Some(columns.into_iter().map(|c| c.as_ref().to_owned()).collect());
        self
    }

    /// Reads only these rows.
    pub fn rows(mut self, rows: Range<u64>) -> Self {
        self.rows = Some(rows);
        self
    }

    /// Rows in a batch (8,192 by default). Batches of wide rows hold fewer, see
    /// [`Scan::batch_bytes`].
    pub fn batch_rows(mut self, rows: usize) -> Self {
        self.batch_rows = rows;
        self
    }

    /// Bytes in a batch, about (8 MiB by default): batches are cut to fewer rows where rows are
    /// wide, so that their memory stays in reach of the processor's caches.
    pub fn batch_bytes(mut self, bytes: u64) -> Self {
        self.batch_bytes = bytes;
        self
    }

    /// How many batches are read and decoded at the same time, by default what
    /// [`ReadOptions::with_threads`](crate::ReadOptions::with_threads) says, or one where there is
    /// little to read: one on the calling thread while it waits for a batch, the others ahead of it,
    /// on others. With 1, and without the feature `threads`, everything happens on the calling thread,
    /// when a batch is asked for.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads.max(1));
        self
    }

    /// Gives blobs as structs of `position` and `size` instead of their bytes, which are not read.
    pub fn blobs_as_descriptions(mut self) -> Self {
        self.describe_blobs = true;
        self
    }

    /// Checks the description and starts.
    pub fn build(self) -> Result<Batches> {
        let (reader, projection) = (self.reader.clone(), self.projection()?);
        reader.load_columns(&projection)?;
        let (asked, row_bytes) = (self.threads, reader.row_bytes_of(&projection));
        let requests = self.cut(projection)?;
        let num_rows = requests.rows.end.saturating_sub(requests.rows.start);
        let is_little = num_rows.saturating_mul(row_bytes) < PARALLEL_BYTES;
        let threads = asked.unwrap_or(if is_little { 1 } else { reader.threads });
        Ok(Batches::new(requests, threads, row_bytes))
    }

    /// What a driver of one's own has to read before [`Scan::requests`].
    pub fn request_columns(&self) -> Result<ReadRequest> {
        self.reader.request(&self.projection()?, Wanted::Metadata)
    }

    /// The batches of the scan, to be read by a driver of one's own.
    pub fn requests(self) -> Result<ScanRequests> {
        let projection = self.projection()?;
        if !self.reader.request(&projection, Wanted::Metadata)?.spans().is_empty() {
            return Err(Error::invalid("a scan begins with what `Scan::request_columns` reads"));
        }
        self.cut(projection)
    }

    fn projection(&self) -> Result<Arc<ProjectedColumns>> {
        let projection = match &self.columns {
            Some(columns) => self.reader.projection(columns)?,
            None => self.reader.everything.clone(),
        };
        if self.describe_blobs { projection.describe_blobs() } else { Ok(projection) }
    }

    /// Cuts the rows of columns that are loaded into batches.
    fn cut(self, projection: Arc<ProjectedColumns>) -> Result<ScanRequests> {
        if self.batch_rows == 0 {
            return Err(Error::invalid("a batch needs at least one row"));
        }
        let num_rows = self.reader.common_rows(&projection)?;
        let rows = self.rows.unwrap_or(0..num_rows);
        check_range(&rows, num_rows)?;
        let file = &self.reader.file;
        let row_bytes = self.reader.row_bytes_of(&projection);
        let asked_rows = self.batch_rows as u64;
        let batch_rows =
            self.batch_bytes.checked_div(row_bytes).unwrap_or(u64::MAX).clamp(1, asked_rows);
        let cuts = if batch_rows < asked_rows {
            file.page_ends_of_widest(&projection.leaves)
        } else {
            Vec::new()
        };
        Ok(ScanRequests { reader: self.reader, projection, rows, batch_rows, cuts })
    }
}

/// The reads that make up a scan, in row order.
#[derive(Debug)]
pub struct ScanRequests {
    pub(super) reader: FileReader,
    pub(super) projection: Arc<ProjectedColumns>,
    /// Rows nobody reads yet.
    pub(super) rows: Range<u64>,
    pub(super) batch_rows: u64,
    /// Rows at which batches end if they can, sorted: a batch that is one page of wide rows may be
    /// the bytes that were read.
    cuts: Vec<u64>,
}

impl ScanRequests {
    /// The schema of the batches.
    pub fn schema(&self) -> SchemaRef {
        self.projection.schema.clone()
    }

    /// The rows of the next batch that nobody reads yet.
    pub(super) fn next_rows(&mut self) -> Option<Range<u64>> {
        if self.rows.is_empty() {
            return None;
        }
        let start = self.rows.start;
        let end = start.saturating_add(self.batch_rows).min(self.rows.end);
        self.rows.start = self.page_end(start).map_or(end, |cut| cut.min(self.rows.end));
        Some(start..self.rows.start)
    }
}

impl ScanRequests {
    /// Where a batch from `start` on ends so that it shares no page with those after it; a page that
    /// is longer than a batch is cut into even parts. Many short batches would cost more than a copy.
    fn page_end(&self, start: u64) -> Option<u64> {
        let half = start.saturating_add(self.batch_rows / 2);
        let end = self.cuts.get(self.cuts.partition_point(|cut| *cut <= half))?;
        let rows = end.saturating_sub(start);
        let num_parts = rows.div_ceil(self.batch_rows.max(1)).max(1);
        Some(start.saturating_add(rows.div_ceil(num_parts)))
    }
}

impl Iterator for ScanRequests {
    type Item = Result<ReadRequest>;

    fn next(&mut self) -> Option<Self::Item> {
        let rows = self.next_rows()?;
        Some(self.reader.request(&self.projection, Wanted::Range(rows)))
    }
}
