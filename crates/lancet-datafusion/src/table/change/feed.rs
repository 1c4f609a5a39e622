//! Batches from a query to a thread that may wait for the disk.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use datafusion::error::Result;
use datafusion::execution::SendableRecordBatchStream;
use futures::StreamExt;
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// Batches that wait to be written.
const WAITING: usize = 2;

enum Message {
    Batch(RecordBatch),
    /// There are no more: without this word the query has failed, or was given up.
    End,
}

/// The end of the query.
pub(super) struct Feed(Sender<Message>);

/// The end of who writes.
pub(super) struct Fed {
    schema: SchemaRef,
    batches: Receiver<Message>,
    ended: bool,
}

/// Both ends, for batches of a schema.
pub(super) fn feed(schema: SchemaRef) -> (Feed, Fed) {
    let (sender, batches) = channel(WAITING);
    (Feed(sender), Fed { schema, batches, ended: false })
}

impl Feed {
    /// Hands over all rows of a query, as long as somebody takes them. An error is one of the query.
    pub(super) async fn send(self, mut rows: SendableRecordBatchStream) -> Result<()> {
        while let Some(batch) = rows.next().await {
            if self.0.send(Message::Batch(batch?)).await.is_err() {
                return Ok(());
            }
        }
        let _ = self.0.send(Message::End).await;
        Ok(())
    }
}

impl Iterator for Fed {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        match self.batches.blocking_recv() {
            Some(Message::Batch(batch)) => Some(Ok(batch)),
            Some(Message::End) => {
                self.ended = true;
                None
            }
            None => {
                self.ended = true;
                Some(Err(lancet_table::Error::Cancelled.into()))
            }
        }
    }
}

impl RecordBatchReader for Fed {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}

/// Ends the work of a thread when nobody waits for it any more.
#[derive(Default)]
pub(super) struct GivenUp(Arc<AtomicBool>);

impl GivenUp {
    pub(super) fn flag(&self) -> Arc<AtomicBool> {
        self.0.clone()
    }
}

impl Drop for GivenUp {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
