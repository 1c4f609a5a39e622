//! Scans: a range of rows as a stream of batches.

use std::ops::Range;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use futures::stream::BoxStream;
use futures::{StreamExt, stream};

use crate::error::Result;
use crate::reader::Reader;

/// Describes a scan; [`Scan::stream`] starts it.
#[derive(Debug, Clone)]
#[must_use]
pub struct Scan {
    reader: Reader,
    scan: lancet::Scan,
    ahead: usize,
}

impl Scan {
    pub(crate) fn new(reader: Reader) -> Self {
        let scan = reader.file.scan();
        Self { reader, scan, ahead: 4 }
    }

    /// Reads only these columns; nested fields are named with dots.
    pub fn columns<S: AsRef<str>>(mut self, columns: impl IntoIterator<Item = S>) -> Self {
        self.scan = self.scan.columns(columns);
        self
    }

    /// Reads only these rows.
    pub fn rows(mut self, rows: Range<u64>) -> Self {
        self.scan = self.scan.rows(rows);
        self
    }

    /// Rows in a batch (8,192 by default); wide rows make shorter batches.
    pub fn batch_rows(mut self, rows: usize) -> Self {
        self.scan = self.scan.batch_rows(rows);
        self
    }

    /// Bytes in a batch, about (8 MiB by default).
    pub fn batch_bytes(mut self, bytes: u64) -> Self {
        self.scan = self.scan.batch_bytes(bytes);
        self
    }

    /// How many batches are read at the same time (4 by default): what a scan holds is about this
    /// many times the size of a batch.
    pub fn ahead(mut self, batches: usize) -> Self {
        self.ahead = batches;
        self
    }

    /// Reads the metadata of the columns and starts.
    pub async fn stream(self) -> Result<Batches> {
        let Self { reader, scan, ahead } = self;
        reader.run(scan.request_columns()?).await?;
        let requests = scan.requests()?;
        let schema = requests.schema();
        let batches = stream::iter(requests).map(move |request| {
            let reader = reader.clone();
            async move { reader.run(request?).await }
        });
        Ok(Batches { schema, batches: batches.buffered(ahead.max(1)).boxed() })
    }
}

/// The batches of a scan, in row order.
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
