//! The batches of a scan: read ahead by helpers, and by the caller where none is ready.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};

use super::batch::{AHEAD, announce_batch, read_batch};
use super::source::Source;
use super::window::{Window, Windows};
use crate::error::{Error, Result};
use crate::parallel::{Job, ask, lock, num_ahead, withdraw};
use crate::read::scan_plan::{ScanReads, ScanRequests};
use crate::rows::RowRanges;
use crate::span::Span;

/// So many batches in a row of which a filter leaves nothing are not given to the caller.
const MAX_SKIPPED: usize = 1_000;

/// The batches of a scan, in the order of its rows.
///
/// It is a [`RecordBatchReader`], so its errors are Arrow's; `?` makes them [`Error`]s again where a function
/// returns those.
///
/// A panic of whoever reads a batch ([`Source`](crate::Source)) goes on in the caller that asks for it.
pub struct Batches {
    requests: ScanRequests,
    windows: Windows,
    /// Batches that were read together with the one given last.
    ready: VecDeque<Result<RecordBatch>>,
    /// Rows behind those that have to be read batch by batch.
    apart: RowRanges,
    /// How many rows are still wanted, where a filter tells only in the end how many there are.
    limit: Option<u64>,
    queue: Arc<Queue>,
    /// How many windows may wait to be asked for.
    most: usize,
    /// Windows that nobody asked for yet, in row order.
    reading: VecDeque<(RowRanges, Receiver<Done>)>,
    /// Windows that were announced and that this thread, alone, reads next, and the spans of the last of them.
    announced: VecDeque<RowRanges>,
    before: Vec<Span>,
    /// The rows of the window that was begun last.
    last: RowRanges,
    /// The process whose helpers read them.
    process: u32,
}

/// A window, or the panic of whoever read it.
type Done = thread::Result<Window>;

impl Batches {
    /// A scan on at most so many threads.
    pub(super) fn new(source: Arc<dyn Source>, mut requests: ScanRequests, threads: usize) -> Self {
        let num_batches = usize::try_from(requests.num_rows.div_ceil(requests.batch_rows.max(1)));
        let num_batches = num_batches.unwrap_or(usize::MAX);
        // Threads that are left over share the columns of each batch.
        requests.set_threads(threads.checked_div(num_batches).unwrap_or(1).max(1));
        let num_helpers = threads.min(num_batches).saturating_sub(1);
        let batch_bytes = match requests.reads.has_blobs() {
            true => u64::MAX,
            false => requests.batch_rows.saturating_mul(requests.row_bytes),
        };
        let most = num_ahead(num_helpers, batch_bytes);
        let limit = requests.limit();
        let windows = Windows::new(&requests, threads);
        let of_batch = windows.of_batch();
        let queue = Queue::new(source, requests.reads.clone(), of_batch, num_helpers);
        let (reading, process) = (VecDeque::new(), std::process::id());
        let (announced, before) = (VecDeque::new(), Vec::new());
        let (ready, apart, last) = (VecDeque::new(), RowRanges::new(), RowRanges::new());
        Self {
            requests,
            windows,
            ready,
            apart,
            limit,
            queue,
            most,
            reading,
            announced,
            before,
            last,
            process,
        }
    }

    /// The schema of the batches.
    pub fn schema(&self) -> SchemaRef {
        self.requests.schema()
    }

    fn read_ahead(&mut self) {
        let has_waited = self.most > 0 && self.queue.source.has_waited();
        // Those that are announced wait for somebody to read them.
        let most = self.most.saturating_add(if has_waited { AHEAD } else { 0 });
        while self.reading.len() < most {
            let Some(rows) = self.windows.next_rows(&mut self.requests) else { return };
            self.read(rows);
        }
    }

    fn read(&mut self, rows: RowRanges) {
        let (sender, receiver) = sync_channel(1);
        let after = std::mem::replace(&mut self.last, rows.clone());
        self.queue.push(Batch { rows: rows.clone(), after, is_announced: false, sender });
        self.reading.push_back((rows, receiver));
    }

    /// In a child process nobody works on what was begun in the parent: it is begun again. Nothing of
    /// the old queue is touched, in which a helper may have held a lock at the fork.
    fn begin_again_in_a_child(&mut self) {
        // Who has no helpers need not ask the system.
        if self.most == 0 || self.process == std::process::id() {
            return;
        }
        self.process = std::process::id();
        let (source, reads) = (self.queue.source.clone(), self.requests.reads.clone());
        let of_batch = self.windows.of_batch();
        let queue = Queue::new(source, reads, of_batch, self.queue.max_helpers);
        std::mem::forget(std::mem::replace(&mut self.queue, queue));
        for (rows, receiver) in std::mem::take(&mut self.reading) {
            std::mem::forget(receiver);
            self.read(rows);
        }
    }

    fn read_next(&mut self) -> Option<Result<RecordBatch>> {
        if let Some(batch) = self.ready.pop_front() {
            return Some(batch);
        }
        if self.apart.is_empty() {
            let window = self.read_window()?;
            if let Some(bytes) = self.windows.learn(&window) {
                self.most = num_ahead(self.queue.max_helpers, bytes);
            }
            (self.ready, self.apart) = (window.batches, window.apart);
        }
        if self.apart.is_empty() { self.ready.pop_front() } else { Some(self.read_apart()) }
    }

    /// One batch of rows that could not be read together.
    fn read_apart(&mut self) -> Result<RecordBatch> {
        let (batch_rows, _) = self.windows.of_batch();
        let later = self.apart.split_off(batch_rows);
        let rows = std::mem::replace(&mut self.apart, later);
        let (source, reads) = (self.queue.source.as_ref(), &self.requests.reads);
        read_batch(source, reads, rows, u64::MAX, false, |_| {})
    }

    fn read_window(&mut self) -> Option<Window> {
        self.begin_again_in_a_child();
        self.read_ahead();
        let Some((_, receiver)) = self.reading.pop_front() else {
            return self.read_alone();
        };
        let done = loop {
            match receiver.try_recv() {
                Ok(done) => break Some(done),
                // A thread that sleeps may find the others on its core when it wakes: it reads, too.
                Err(_) if self.queue.work() => {}
                // A helper has begun to read it.
                Err(_) => break receiver.recv().ok(),
            }
        };
        match done {
            Some(Ok(window)) => Some(window),
            Some(Err(panic)) => {
                self.end();
                resume_unwind(panic)
            }
            None => {
                Some(Window::failed(Error::invalid("a thread that read a batch ended without one")))
            }
        }
    }

    fn read_alone(&mut self) -> Option<Window> {
        let announced = self.announced.pop_front();
        let is_announced = announced.is_some();
        let rows = announced.or_else(|| self.windows.next_rows(&mut self.requests))?;
        let (source, reads) = (self.queue.source.clone(), self.requests.reads.clone());
        let of_batch = self.windows.of_batch();
        let tell_next = |spans: &[Span]| self.announce(spans);
        Some(Window::read(source.as_ref(), &reads, rows, of_batch, is_announced, tell_next))
    }

    /// Announces the next batches; the one before them has read these spans.
    fn announce(&mut self, spans: &[Span]) {
        if self.announced.is_empty() {
            self.before = spans.to_vec();
        }
        while self.announced.len() < AHEAD {
            let Some(rows) = self.windows.next_rows(&mut self.requests) else { return };
            let (source, reads) = (self.queue.source.as_ref(), &self.requests.reads);
            announce_batch(source, reads, rows.clone(), &mut self.before);
            self.announced.push_back(rows);
        }
    }

    /// The next batch, with the errors of this crate. Where a filter leaves nothing of very many rows, it
    /// has none: that is when one can stop.
    pub fn next_batch(&mut self) -> Option<Result<RecordBatch>> {
        let mut batch = self.read_next()?;
        for _ in 0..MAX_SKIPPED {
            if !matches!(&batch, Ok(batch) if batch.num_rows() == 0) {
                break;
            }
            batch = self.read_next()?;
        }
        if batch.is_err() {
            // After an error there is nothing sensible to go on with.
            self.end();
        }
        Some(batch.map(|batch| self.limited(batch)))
    }

    /// As much of a batch as is still wanted.
    fn limited(&mut self, batch: RecordBatch) -> RecordBatch {
        let Some(left) = &mut self.limit else { return batch };
        let num_rows = usize::try_from(*left).unwrap_or(usize::MAX).min(batch.num_rows());
        *left = left.saturating_sub(num_rows as u64);
        if *left == 0 {
            self.end();
        }
        batch.slice(0, num_rows)
    }

    fn end(&mut self) {
        self.requests.end();
        self.ready.clear();
        self.apart = RowRanges::new();
        self.announced.clear();
        self.reading.clear();
        self.queue.clear();
    }
}

impl Iterator for Batches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_batch().map(|batch| batch.map_err(ArrowError::from))
    }
}

impl RecordBatchReader for Batches {
    fn schema(&self) -> SchemaRef {
        self.requests.schema()
    }
}

impl std::fmt::Debug for Batches {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Batches").field("requests", &self.requests).finish_non_exhaustive()
    }
}

impl Drop for Batches {
    fn drop(&mut self) {
        if self.most == 0 {
            return;
        }
        if self.process == std::process::id() {
            self.queue.clear();
        } else {
            std::mem::forget(std::mem::take(&mut self.reading));
        }
    }
}

/// Batches to be read, by any thread.
struct Queue {
    source: Arc<dyn Source>,
    reads: Arc<ScanReads>,
    /// Rows and bytes of a batch.
    of_batch: (u64, u64),
    /// How many helpers may work on it at the same time.
    max_helpers: usize,
    state: Mutex<State>,
    /// The batch that was announced last: its rows and spans.
    before: Mutex<(RowRanges, Vec<Span>)>,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Batch>,
    /// Helpers that were asked and have not gone.
    num_helpers: usize,
}

/// A batch to be read.
#[derive(Debug)]
struct Batch {
    rows: RowRanges,
    /// The rows of the batch before it, whoever reads that.
    after: RowRanges,
    is_announced: bool,
    sender: SyncSender<Done>,
}

impl Queue {
    fn new(
        source: Arc<dyn Source>,
        reads: Arc<ScanReads>,
        of_batch: (u64, u64),
        max_helpers: usize,
    ) -> Arc<Self> {
        let (state, before) = Default::default();
        Arc::new(Self { source, reads, of_batch, max_helpers, state, before })
    }

    fn push(self: &Arc<Self>, batch: Batch) {
        let mut state = lock(&self.state);
        state.waiting.push_back(batch);
        if state.num_helpers >= self.max_helpers {
            return;
        }
        state.num_helpers = state.num_helpers.saturating_add(1);
        drop(state);
        let job: Arc<dyn Job> = self.clone();
        if ask(&job, 1) == 0 {
            self.leave(&mut lock(&self.state));
        }
    }

    /// Nobody reads what nobody waits for.
    fn clear(self: &Arc<Self>) {
        let job: Arc<dyn Job> = self.clone();
        withdraw(&job);
        let waiting = std::mem::take(&mut lock(&self.state).waiting);
        drop(waiting);
    }

    /// Reads the next batch, if one waits to be read.
    fn work(&self) -> bool {
        let batch = lock(&self.state).waiting.pop_front();
        batch.map(|batch| self.read(batch)).is_some()
    }

    fn read(&self, Batch { rows, is_announced, sender, .. }: Batch) {
        let source = self.source.as_ref();
        let tell_next = |_: &[Span]| self.announce();
        let done = catch_unwind(AssertUnwindSafe(|| {
            Window::read(source, &self.reads, rows, self.of_batch, is_announced, tell_next)
        }));
        // Nobody listens any more when the scan was dropped.
        let _ = sender.send(done);
    }

    /// Announces the batches that are read next.
    ///
    /// What each of them is compared with is the batch before it in the file, which another thread may be reading. Beside
    /// any other one, half of a scan of vectors on two threads seemed to jump and was announced, which comes in pages of
    /// 4 KiB where the system reads ahead with larger ones: 122 ms instead of 112.
    fn announce(&self) {
        // Another thread is at it.
        let Ok(mut before) = self.before.try_lock() else { return };
        let (last, spans) = &mut *before;
        for _ in 0..AHEAD {
            let mut state = lock(&self.state);
            let mut next = state.waiting.iter_mut().take(AHEAD);
            let Some(batch) = next.find(|batch| !batch.is_announced) else { return };
            batch.is_announced = true;
            let (rows, after) = (batch.rows.clone(), batch.after.clone());
            drop(state);
            if *last != after {
                // What is wrong with it is told to whoever reads it.
                let Ok(request) = self.reads.request(after) else { return };
                *spans = request.spans().to_vec();
            }
            announce_batch(self.source.as_ref(), &self.reads, rows.clone(), spans);
            *last = rows;
        }
    }

    fn leave(&self, state: &mut State) {
        state.num_helpers = state.num_helpers.saturating_sub(1);
    }
}

impl Job for Queue {
    fn help(&self) {
        loop {
            let mut state = lock(&self.state);
            let Some(batch) = state.waiting.pop_front() else {
                return self.leave(&mut state);
            };
            drop(state);
            self.read(batch);
        }
    }
}
