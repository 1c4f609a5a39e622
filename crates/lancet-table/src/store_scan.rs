//! Scans of tables in object stores: rows as a stream of batches.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use futures::stream::{self, BoxStream, Stream, StreamExt};
use lancet::{Filter, RowRanges};

use crate::columns::TableColumns;
use crate::error::Result;
use crate::scan::{MAX_SKIPPED, describe_scan};
use crate::scan_plan::ScanPlan;
use crate::store_reads::{ReadSize, StoreReads};
use crate::store_table::StoreTable;

/// Describes a scan of a table in a store; [`StoreScan::stream`] starts it.
#[derive(Debug, Clone)]
#[must_use]
pub struct StoreScan {
    table: StoreTable,
    plan: ScanPlan,
    ahead: usize,
}

describe_scan!(StoreScan);

impl StoreScan {
    pub(crate) fn new(table: StoreTable) -> Self {
        Self { table, plan: ScanPlan::default(), ahead: 4 }
    }

    /// How many reads of [`StoreScan::batch_bytes`] are under way at the same time (4 by default): what a scan holds is
    /// about their bytes. Where rows are narrow a read is several batches; of shorter reads, as of small fragments, there
    /// are more.
    pub fn ahead(mut self, reads: usize) -> Self {
        self.ahead = reads.max(1);
        self
    }

    /// Checks the description and starts.
    pub async fn stream(self) -> Result<StoreBatches> {
        let (batch_rows, ahead) = (self.plan.batch_rows, self.ahead);
        let size = ReadSize {
            bytes: self.plan.batch_bytes,
            ahead,
            has_filter: self.plan.filter.is_some(),
        };
        let started = self.plan.start(&self.table.at).await?;
        let (schema, left) = (started.work.columns.schema(), started.limit);
        let mut reads = StoreReads::new(started.work, started.fragments, size);
        let reads = stream::poll_fn(move |context| reads.poll_next(context));
        let batches = reads.flat_map(move |read| stream::iter(cut(read, batch_rows)));
        let given = Given { batches: batches.boxed(), left };
        Ok(StoreBatches { schema, batches: stream::unfold(given, Given::next).boxed() })
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

/// The batches of a scan of a table in a store, in the order of its rows.
pub struct StoreBatches {
    schema: SchemaRef,
    batches: BoxStream<'static, Result<RecordBatch>>,
}

impl StoreBatches {
    /// The schema of the batches.
    pub fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}

impl Stream for StoreBatches {
    type Item = Result<RecordBatch>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.batches.poll_next_unpin(context)
    }
}

impl fmt::Debug for StoreBatches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoreBatches").field("schema", &self.schema).finish_non_exhaustive()
    }
}
