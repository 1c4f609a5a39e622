//! The reads of a scan: how many rows they have, and how many are under way.
//!
//! A read costs at least the latency of a request, so short ones are expensive; but how many rows make a long one is
//! known only once some were decoded. The first reads go by what their rows take in the file, and not too far; the next
//! ones by what came before them.

use arrow_array::RecordBatch;
use arrow_schema::DataType;
use futures::future::BoxFuture;
use futures::stream::FuturesOrdered;
use futures::{FutureExt, Stream, StreamExt, stream};
use lancet::ScanRequests;

use crate::error::Result;
use crate::reader::Reader;

/// The first reads have this many times the rows of a batch, at most.
const FIRST_BATCHES: u64 = 16;
/// The next ones have this many times the rows of those before them, at most.
const GROWTH: u64 = 4;
/// Reads that are under way, at most.
const MAX_READS: usize = 16;

/// What a scan holds, about.
#[derive(Debug)]
pub(crate) struct ReadSize {
    /// Bytes of a read.
    pub(crate) bytes: u64,
    /// How many of such reads are under way.
    pub(crate) ahead: usize,
    /// Whether a filter leaves rows out, so that what comes does not tell what was read.
    pub(crate) has_filter: bool,
}

/// The reads of a scan, in the order of its rows.
pub(crate) struct Reads {
    reader: Reader,
    requests: ScanRequests,
    size: ReadSize,
    /// Rows of a batch.
    least_rows: u64,
    under_way: FuturesOrdered<BoxFuture<'static, Result<RecordBatch>>>,
    /// How many may be.
    most: usize,
}

impl Reads {
    pub(crate) fn new(reader: Reader, mut requests: ScanRequests, size: ReadSize) -> Self {
        let planned = requests.batch_rows();
        let fit = size.bytes.checked_div(requests.row_bytes()).unwrap_or(planned).max(planned);
        // What has no fixed size may be much longer in memory than in the file.
        let is_fixed = requests.schema().fields().iter().all(|field| is_fixed(field.data_type()));
        let most = if is_fixed { u64::MAX } else { planned.saturating_mul(FIRST_BATCHES) };
        requests.set_batch_rows(fit.min(most));
        let most = size.ahead.max(1);
        Self { reader, requests, size, least_rows: planned, under_way: FuturesOrdered::new(), most }
    }

    pub(crate) fn stream(self) -> impl Stream<Item = Result<RecordBatch>> {
        stream::unfold(self, |mut reads| async move { Some((reads.next().await?, reads)) })
    }

    async fn next(&mut self) -> Option<Result<RecordBatch>> {
        while self.under_way.len() < self.most {
            let Some(request) = self.requests.next() else { break };
            let reader = self.reader.clone();
            self.under_way.push_back(async move { reader.run(request?).await }.boxed());
        }
        let read = self.under_way.next().await?;
        if let Ok(batch) = &read {
            self.learn(batch.num_rows() as u64, batch.get_array_memory_size() as u64);
        }
        Some(read)
    }

    /// Sizes the next reads by what the last one came to.
    fn learn(&mut self, rows: u64, bytes: u64) {
        if rows == 0 || self.size.has_filter {
            return;
        }
        let least = self.least_rows;
        let most = self.requests.batch_rows().saturating_mul(GROWTH).max(least);
        let fit = self.size.bytes.saturating_mul(rows).checked_div(bytes).unwrap_or(least);
        self.requests.set_batch_rows(fit.clamp(least, most));
        let ahead = self.size.ahead.max(1);
        let held = self.size.bytes.saturating_mul(ahead as u64);
        let most = held.checked_div(bytes).and_then(|most| usize::try_from(most).ok());
        self.most = most.unwrap_or(ahead).clamp(ahead, MAX_READS.max(ahead));
    }
}

/// Whether values of a type take as many bytes in memory as they say in the file.
pub fn is_fixed(data_type: &DataType) -> bool {
    match data_type {
        DataType::FixedSizeList(item, _) => is_fixed(item.data_type()),
        DataType::Struct(fields) => fields.iter().all(|field| is_fixed(field.data_type())),
        DataType::Boolean | DataType::FixedSizeBinary(_) => true,
        other => other.is_primitive(),
    }
}
