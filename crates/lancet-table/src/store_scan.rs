//! Scans of tables in object stores: rows as a stream of batches.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use futures::stream::{self, BoxStream, Stream, StreamExt};
use lancet::{Filter, RowRanges};
use lancet_object_store::given;

use crate::columns::TableColumns;
use crate::error::Result;
use crate::scan::describe_scan;
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
        Ok(StoreBatches { schema, batches: given(reads, batch_rows, left) })
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
