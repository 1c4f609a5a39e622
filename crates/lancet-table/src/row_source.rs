//! Rows that come batch by batch, to be written.

use std::future::Future;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::SchemaRef;

use crate::error::{Error, Result};

/// Where rows come from.
pub(crate) trait RowSource {
    /// Their columns.
    fn schema(&self) -> SchemaRef;

    /// The next ones; none at the end.
    fn next(&mut self) -> impl Future<Output = Option<Result<RecordBatch>>>;
}

/// Rows that are there when they are asked for.
pub(crate) struct Given<R>(pub(crate) R);

impl<R: RecordBatchReader> RowSource for Given<R> {
    fn schema(&self) -> SchemaRef {
        self.0.schema()
    }

    async fn next(&mut self) -> Option<Result<RecordBatch>> {
        Some(self.0.next()?.map_err(Error::from))
    }
}

/// No rows.
pub(crate) struct Nothing(pub(crate) SchemaRef);

impl RowSource for Nothing {
    fn schema(&self) -> SchemaRef {
        self.0.clone()
    }

    async fn next(&mut self) -> Option<Result<RecordBatch>> {
        None
    }
}

/// Rows that are waited for.
#[cfg(feature = "object-store")]
pub(crate) struct Streamed<St> {
    pub(crate) schema: SchemaRef,
    pub(crate) stream: std::pin::Pin<Box<St>>,
}

#[cfg(feature = "object-store")]
impl<St, E> RowSource for Streamed<St>
where
    St: futures::Stream<Item = Result<RecordBatch, E>>,
    E: Into<Error>,
{
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    async fn next(&mut self) -> Option<Result<RecordBatch>> {
        use futures::StreamExt;
        Some(self.stream.next().await?.map_err(Into::into))
    }
}
