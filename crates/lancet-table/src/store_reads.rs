//! The reads of a scan of a table in a store: which rows they have, and how many are under way.
//!
//! Fragments are looked at ahead of the reads, so that those never wait for files to be opened. A read costs at least the
//! latency of a request, so it has as many rows as fit; how many bytes those have is known only once some were decoded. The
//! first reads go by what their rows take in the files, and not too far; the next ones by what came before them.

use std::collections::VecDeque;
use std::sync::Arc;
use std::task::{Context, Poll};

use arrow_array::RecordBatch;
use futures::future::BoxFuture;
use futures::stream::FuturesOrdered;
use futures::{FutureExt, StreamExt};
use lancet_object_store::is_fixed;

use crate::error::Result;
use crate::scan_plan::{Prepared, Selected, Work};
use crate::store::Store;
use crate::together::CONCURRENT;

/// The first reads have this many rows, at most.
const FIRST_ROWS: u64 = 16 * 8_192;
/// The next ones have this many times the rows of those before them, at most.
const GROWTH: u64 = 4;

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
pub(crate) struct StoreReads {
    work: Arc<Work<Store>>,
    size: ReadSize,
    fragments: VecDeque<Selected>,
    preparing: FuturesOrdered<BoxFuture<'static, Result<Option<Prepared>>>>,
    prepared: VecDeque<Result<Prepared>>,
    reading: FuturesOrdered<BoxFuture<'static, Result<Read>>>,
    /// Bytes that are being read, about.
    held: u64,
    /// Rows of a read, at most.
    most_rows: u64,
    /// Bytes of a row, as far as the last read told.
    row_bytes: u64,
}

/// Rows, and the bytes that they were taken for.
struct Read {
    batch: RecordBatch,
    expected: u64,
}

impl StoreReads {
    pub(crate) fn new(
        work: Arc<Work<Store>>,
        fragments: VecDeque<Selected>,
        size: ReadSize,
    ) -> Self {
        // What has no fixed size may be much longer in memory than in the file.
        let schema = work.columns.schema();
        let all_fixed = schema.fields().iter().all(|field| is_fixed(field.data_type()));
        let most_rows = if all_fixed { u64::MAX } else { FIRST_ROWS };
        let (preparing, reading) = (FuturesOrdered::new(), FuturesOrdered::new());
        let (prepared, held, row_bytes) = (VecDeque::new(), 0, 0);
        Self { work, size, fragments, preparing, prepared, reading, held, most_rows, row_bytes }
    }

    pub(crate) fn poll_next(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<RecordBatch>>> {
        self.look_ahead(context);
        while self.begin_read() {
            self.look_ahead(context);
        }
        match self.reading.poll_next_unpin(context) {
            Poll::Ready(Some(read)) => Poll::Ready(Some(read.map(|read| self.learn(read)))),
            Poll::Ready(None) if self.preparing.is_empty() => Poll::Ready(None),
            Poll::Ready(None) | Poll::Pending => Poll::Pending,
        }
    }

    /// Looks at the next fragments, some at a time.
    fn look_ahead(&mut self, context: &mut Context<'_>) {
        loop {
            while self.preparing.len().saturating_add(self.prepared.len()) < CONCURRENT {
                let Some(fragment) = self.fragments.pop_front() else { break };
                let work = self.work.clone();
                self.preparing.push_back(async move { work.prepare(fragment).await }.boxed());
            }
            match self.preparing.poll_next_unpin(context) {
                Poll::Ready(Some(found)) => self.prepared.extend(found.transpose()),
                Poll::Ready(None) | Poll::Pending => return,
            }
        }
    }

    /// Begins the next read, if it is known what to read and there is room for it.
    fn begin_read(&mut self) -> bool {
        let prepared = match self.prepared.front_mut() {
            Some(Ok(prepared)) => prepared,
            Some(Err(_)) => {
                // It comes when all rows before it have come.
                if let Some(Err(error)) = self.prepared.pop_front() {
                    self.reading.push_back(async { Err(error) }.boxed());
                }
                return true;
            }
            None => return false,
        };
        let row_bytes = prepared.row_bytes.max(self.row_bytes).max(1);
        let rows = self.size.bytes.checked_div(row_bytes).unwrap_or(1).clamp(1, self.most_rows);
        let expected = rows.min(prepared.num_rows()).saturating_mul(row_bytes);
        let under_way = self.reading.len();
        let most = self.size.bytes.saturating_mul(self.size.ahead as u64);
        let has_room = under_way < CONCURRENT && self.held.saturating_add(expected) <= most;
        if under_way >= self.size.ahead && !has_room {
            return false;
        }
        let Some(piece) = prepared.next_piece_of(rows) else {
            self.prepared.pop_front();
            return true;
        };
        self.held = self.held.saturating_add(expected);
        let work = self.work.clone();
        let read = async move { Ok(Read { batch: work.read(&piece).await?, expected }) };
        self.reading.push_back(read.boxed());
        true
    }

    /// Sizes the next reads by what the last one came to.
    fn learn(&mut self, Read { batch, expected }: Read) -> RecordBatch {
        self.held = self.held.saturating_sub(expected);
        let rows = batch.num_rows() as u64;
        if rows > 0 && !self.size.has_filter {
            self.row_bytes = (batch.get_array_memory_size() as u64).div_ceil(rows);
            self.most_rows = rows.max(self.most_rows.min(FIRST_ROWS)).saturating_mul(GROWTH);
        }
        batch
    }
}
