//! Scans: rows as a stream of batches.

use std::ops::Range;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use futures::stream::BoxStream;
use futures::{StreamExt, stream};
use lancet::{Columns, Filter, RowRanges, ScanPlan};

use crate::error::Result;
use crate::given::given;
use crate::reader::Reader;
use crate::reads::{ReadSize, Reads};

/// Describes a scan; [`Scan::stream`] starts it. [`lancet::Scan`] says more of each method.
#[derive(Debug, Clone)]
#[must_use]
pub struct Scan {
    reader: Reader,
    plan: ScanPlan,
    batch_rows: usize,
    batch_bytes: u64,
    has_filter: bool,
    ahead: usize,
}

impl Scan {
    pub(crate) fn new(reader: Reader) -> Self {
        let plan = reader.file().scan();
        let (batch_rows, batch_bytes, ahead) = (8_192, 8 << 20, 4);
        Self { reader, plan, batch_rows, batch_bytes, has_filter: false, ahead }
    }

    fn with(self, change: impl FnOnce(ScanPlan) -> ScanPlan) -> Self {
        Self { plan: change(self.plan), ..self }
    }

    /// Reads only these columns: names (those of nested fields with dots), or a
    /// [`Projection`](lancet::Projection).
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
    pub fn filter(mut self, filter: Filter) -> Self {
        self.has_filter = true;
        self.with(|plan| plan.filter(filter))
    }

    /// Gives only the first rows of those that the scan has.
    pub fn limit(self, rows: u64) -> Self {
        self.with(|plan| plan.limit(rows))
    }

    /// Rows in a batch, at most (8,192 by default); wide rows make shorter batches, and so does a filter.
    pub fn batch_rows(mut self, rows: usize) -> Self {
        self.batch_rows = rows;
        self
    }

    /// Bytes that are read at a time, about (8 MiB by default), and that a batch has at most. Where rows are narrow
    /// that is several batches.
    pub fn batch_bytes(mut self, bytes: u64) -> Self {
        self.batch_bytes = bytes;
        self.with(|plan| plan.batch_bytes(bytes))
    }

    /// Gives blobs as structs of `position` and `size` instead of their bytes, which are not read.
    pub fn blobs_as_descriptions(self) -> Self {
        self.with(ScanPlan::blobs_as_descriptions)
    }

    /// How many reads of [`Scan::batch_bytes`] are under way at the same time (4 by default): what a scan holds is about
    /// their bytes. Of shorter reads there are more.
    pub fn ahead(mut self, reads: usize) -> Self {
        self.ahead = reads;
        self
    }

    /// Reads the metadata of the columns and starts.
    pub async fn stream(self) -> Result<Batches> {
        let Self { reader, plan, batch_rows, batch_bytes, has_filter, ahead } = self;
        let requests = reader.run(plan.batch_rows(batch_rows).requests()).await?;
        let (schema, left) = (requests.schema(), requests.limit());
        let size = ReadSize { bytes: batch_bytes, ahead, has_filter };
        let reads = Reads::new(reader, requests, size).stream();
        Ok(Batches { schema, batches: given(reads, batch_rows, left) })
    }
}

/// The batches of a scan, in the order of its rows.
pub struct Batches {
    schema: SchemaRef,
    batches: BoxStream<'static, Result<RecordBatch>>,
}

impl Batches {
    /// The schema of the batches.
    pub fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}

impl stream::Stream for Batches {
    type Item = Result<RecordBatch>;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Self::Item>> {
        self.batches.poll_next_unpin(context)
    }
}

impl std::fmt::Debug for Batches {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Batches").field("schema", &self.schema).finish_non_exhaustive()
    }
}
