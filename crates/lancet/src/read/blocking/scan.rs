//! Scans, on the calling thread and others.

use std::ops::Range;

use super::FileReader;
use super::batches::Batches;
use crate::error::Result;
use crate::read::projection::Columns;
use crate::read::scan_plan::ScanPlan;
use crate::rows::RowRanges;
use crate::zones::filter::Filter;

/// Fewer bytes are read on one thread by default: they take some 700 us, at 1 GB/s.
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
    plan: ScanPlan,
    threads: Option<usize>,
}

impl Scan {
    pub(super) fn new(reader: FileReader) -> Self {
        let plan = reader.file.scan();
        Self { reader, plan, threads: None }
    }

    fn with(self, change: impl FnOnce(ScanPlan) -> ScanPlan) -> Self {
        Self { plan: change(self.plan), ..self }
    }

    /// Reads only these columns: names (those of nested fields with dots), or a
    /// [`Projection`](crate::Projection).
    pub fn columns(self, columns: impl Into<Columns>) -> Self {
        self.with(|plan| plan.columns(columns))
    }

    /// Reads only a range of rows; see [`Scan::select`] for several.
    pub fn rows(self, rows: Range<u64>) -> Self {
        self.select(rows)
    }

    /// Reads only these rows: a range, or [`RowRanges`]. Called again, only those that are in both.
    pub fn select(self, rows: impl Into<RowRanges>) -> Self {
        self.with(|plan| plan.select(rows))
    }

    /// Gives only the rows that make the filter true. Called again, those that make both true.
    ///
    /// Zone maps leave out what cannot match, then the columns of the filter are read, and of the others
    /// only the rows that it leaves. The scan gives the columns asked for, whether the filter names them or
    /// not. [`FileReader::prune`] says which values compare with which columns.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use lancet::arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
    /// # use lancet::{Comparison, FileReader, FileWriter, Filter, ReadOptions, WriteOptions};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(0..50_000));
    /// # let names = StringArray::from_iter_values((0..50_000).map(|i| format!("name {i}")));
    /// # let batch = RecordBatch::try_from_iter([("id", ids), ("name", Arc::new(names) as _)])?;
    /// # let mut writer = FileWriter::new(Vec::new(), batch.schema(), WriteOptions::default())?;
    /// # writer.write(&batch)?;
    /// # let reader = FileReader::from_bytes(writer.finish_into()?.1, ReadOptions::default())?;
    /// let late = Filter::compare("id", Comparison::Gt, &Int64Array::new_scalar(49_990));
    /// let names = reader.scan().columns(["name"]).filter(late).limit(3).build()?;
    /// let batches = names.collect::<Result<Vec<_>, _>>()?;
    /// assert_eq!(batches[0]["name"].as_ref(), &StringArray::from(vec![
    ///     "name 49991", "name 49992", "name 49993",
    /// ]));
    /// # Ok(())
    /// # }
    /// ```
    pub fn filter(self, filter: Filter) -> Self {
        self.with(|plan| plan.filter(filter))
    }

    /// Gives only the first rows of those that the scan has.
    pub fn limit(self, rows: u64) -> Self {
        self.with(|plan| plan.limit(rows))
    }

    /// Rows in a batch, at most (8,192 by default). Batches of wide rows hold fewer, see
    /// [`Scan::batch_bytes`], and so do those that a filter has left.
    pub fn batch_rows(self, rows: usize) -> Self {
        self.with(|plan| plan.batch_rows(rows))
    }

    /// Bytes in a batch, about (8 MiB by default): batches are cut to fewer rows where rows are
    /// wide, so that their memory stays in reach of the processor's caches.
    pub fn batch_bytes(self, bytes: u64) -> Self {
        self.with(|plan| plan.batch_bytes(bytes))
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
    pub fn blobs_as_descriptions(self) -> Self {
        self.with(ScanPlan::blobs_as_descriptions)
    }

    /// Checks the description and starts.
    pub fn build(self) -> Result<Batches> {
        let requests = self.reader.run(self.plan.requests())?;
        let bytes = requests.num_rows.saturating_mul(requests.row_bytes);
        let is_little = bytes < PARALLEL_BYTES;
        let threads = self.threads.unwrap_or(if is_little { 1 } else { self.reader.threads });
        Ok(Batches::new(self.reader.source, requests, threads))
    }
}
