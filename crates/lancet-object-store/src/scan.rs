//! Scans: rows as a stream of batches.

use std::ops::Range;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use futures::stream::BoxStream;
use futures::{StreamExt, stream};
use lancet::{Columns, Filter, RowRanges, ScanPlan};

use crate::error::Result;
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
        let batches = reads.flat_map(move |read| stream::iter(cut(read, batch_rows)));
        let given = Given { batches: batches.boxed(), left };
        Ok(Batches { schema, batches: stream::unfold(given, Given::next).boxed() })
    }
}

/// The batches of a read.
fn cut(read: Result<RecordBatch>, batch_rows: usize) -> Vec<Result<RecordBatch>> {
    let batch = match read {
        Ok(batch) if batch.num_rows() > batch_rows => batch,
        read => return vec![read],
    };
    let starts = (0..batch.num_rows()).step_by(batch_rows.max(1));
    let rows = |start: usize| batch_rows.min(batch.num_rows().saturating_sub(start));
    starts.map(|start| Ok(batch.slice(start, rows(start)))).collect()
}

/// So many batches in a row of which a filter leaves nothing are not given to the caller.
const MAX_SKIPPED: usize = 1_000;

/// What a scan still gives.
struct Given {
    batches: BoxStream<'static, Result<RecordBatch>>,
    /// How many rows are still wanted, where a filter tells only in the end how many there are.
    left: Option<u64>,
}

impl Given {
    async fn next(mut self) -> Option<(Result<RecordBatch>, Self)> {
        if self.left == Some(0) {
            return None;
        }
        let mut batch = self.batches.next().await?;
        for _ in 0..MAX_SKIPPED {
            if !matches!(&batch, Ok(batch) if batch.num_rows() == 0) {
                break;
            }
            batch = self.batches.next().await?;
        }
        if batch.is_err() {
            // After an error there is nothing sensible to go on with.
            self.left = Some(0);
        }
        let batch = batch.map(|batch| {
            let Some(left) = &mut self.left else { return batch };
            let num_rows = usize::try_from(*left).unwrap_or(usize::MAX).min(batch.num_rows());
            *left = left.saturating_sub(num_rows as u64);
            batch.slice(0, num_rows)
        });
        Some((batch, self))
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
