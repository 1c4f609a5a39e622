//! The batches of a scan: read ahead by helpers, and by the caller where none is ready.

use std::collections::VecDeque;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;

use super::FileReader;
use super::projected::ProjectedColumns;
use super::scan::ScanRequests;
use crate::error::{Error, Result};
use crate::parallel::{Job, ask, lock, withdraw};

/// Batches of up to this many bytes are read further ahead.
const SHORT_BATCH_BYTES: u64 = 1 << 20;

/// The batches of a scan, in row order.
///
/// A panic of whoever reads a batch ([`Source`](crate::Source)) goes on in the caller that asks for it.
#[derive(Debug)]
pub struct Batches {
    requests: ScanRequests,
    queue: Arc<Queue>,
    /// How many batches may wait to be asked for.
    most: usize,
    /// Batches that nobody asked for yet, in row order.
    reading: VecDeque<(Range<u64>, Receiver<Done>)>,
    /// The process whose helpers read them.
    process: u32,
}

/// A batch, or the panic of whoever read it.
type Done = thread::Result<Result<RecordBatch>>;

impl Batches {
    /// A scan on at most so many threads.
    pub(super) fn new(mut requests: ScanRequests, threads: usize, row_bytes: u64) -> Self {
        let num_rows = requests.rows.end.saturating_sub(requests.rows.start);
        let num_batches = usize::try_from(num_rows.div_ceil(requests.batch_rows.max(1)));
        let num_batches = num_batches.unwrap_or(usize::MAX);
        // Threads that are left over share the columns of each batch.
        requests.reader.threads = threads.checked_div(num_batches).unwrap_or(1).max(1);
        let num_helpers = threads.min(num_batches).saturating_sub(1);
        // A thread that sleeps between short batches wakes too late for the next one.
        let has_blobs =
            requests.projection.leaves.iter().any(|leaf| leaf.leaf.blob && !leaf.described);
        let is_short =
            requests.batch_rows.saturating_mul(row_bytes) <= SHORT_BATCH_BYTES && !has_blobs;
        let most = match num_helpers {
            0 => 0,
            _ if is_short => num_helpers.saturating_mul(6),
            _ => num_helpers.saturating_add(1),
        };
        let queue = Queue::new(&requests, num_helpers);
        Self { requests, queue, most, reading: VecDeque::new(), process: std::process::id() }
    }

    /// The schema of the batches.
    pub fn schema(&self) -> SchemaRef {
        self.requests.schema()
    }

    fn read_ahead(&mut self) {
        while self.reading.len() < self.most {
            let Some(rows) = self.requests.next_rows() else { return };
            self.read(rows);
        }
    }

    fn read(&mut self, rows: Range<u64>) {
        let (sender, receiver) = sync_channel(1);
        self.queue.push(Batch { rows: rows.clone(), sender });
        self.reading.push_back((rows, receiver));
    }

    /// In a child process nobody works on what was begun in the parent: it is begun again. Nothing of
    /// the old queue is touched, in which a helper may have held a lock at the fork.
    fn begin_again_in_a_child(&mut self) {
        let process = std::process::id();
        if self.most == 0 || self.process == process {
            return;
        }
        self.process = process;
        let queue = Queue::new(&self.requests, self.queue.max_helpers);
        std::mem::forget(std::mem::replace(&mut self.queue, queue));
        for (rows, receiver) in std::mem::take(&mut self.reading) {
            std::mem::forget(receiver);
            self.read(rows);
        }
    }

    fn next_batch(&mut self) -> Option<Result<RecordBatch>> {
        self.begin_again_in_a_child();
        self.read_ahead();
        let Some((_, receiver)) = self.reading.pop_front() else {
            let request = self.requests.next()?;
            return Some(request.and_then(|request| self.requests.reader.run(request)));
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
            Some(Ok(batch)) => Some(batch),
            Some(Err(panic)) => {
                self.end();
                resume_unwind(panic)
            }
            None => Some(Err(Error::invalid("a thread that read a batch ended without one"))),
        }
    }

    fn end(&mut self) {
        self.requests.rows.start = self.requests.rows.end;
        self.reading.clear();
        self.queue.clear();
    }
}

impl Iterator for Batches {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = self.next_batch();
        if let Some(Err(_)) = batch {
            // After an error there is nothing sensible to go on with.
            self.end();
        }
        batch
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
#[derive(Debug)]
struct Queue {
    reader: FileReader,
    projection: Arc<ProjectedColumns>,
    /// How many helpers may work on it at the same time.
    max_helpers: usize,
    state: Mutex<State>,
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
    rows: Range<u64>,
    sender: SyncSender<Done>,
}

impl Queue {
    fn new(requests: &ScanRequests, max_helpers: usize) -> Arc<Self> {
        let (reader, projection) = (requests.reader.clone(), requests.projection.clone());
        Arc::new(Self { reader, projection, max_helpers, state: Mutex::default() })
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

    fn read(&self, Batch { rows, sender }: Batch) {
        let done = catch_unwind(AssertUnwindSafe(|| self.reader.read(&self.projection, rows)));
        // Nobody listens any more when the scan was dropped.
        let _ = sender.send(done);
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
