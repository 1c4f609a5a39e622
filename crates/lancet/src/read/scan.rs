//! Scans: a range of rows as a sequence of batches.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;

use super::FileReader;
use super::projected::ProjectedColumns;
use super::read_request::{ReadRequest, Request, Wanted, check_range};
use crate::error::{Error, Result};
use crate::parallel::{is_helper, lock, num_threads, spawn};

/// Describes a scan; [`Scan::build`] starts it.
///
/// ```
/// # use std::sync::Arc;
/// # use lancet::arrow::array::cast::AsArray;
/// # use lancet::arrow::array::types::Int64Type;
/// # use lancet::arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
/// # use lancet::{FileReader, FileWriter, ReadOptions, WriteOptions};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(0..50_000));
/// # let names = StringArray::from_iter_values((0..50_000).map(|i| format!("name {i}")));
/// # let batch = RecordBatch::try_from_iter([("id", ids), ("name", Arc::new(names) as _)])?;
/// # let mut writer = FileWriter::new(Vec::new(), batch.schema(), WriteOptions::default())?;
/// # writer.write(&batch)?;
/// # let reader = FileReader::from_bytes(writer.finish_into()?.1, ReadOptions::default())?;
/// let batches = reader
///     .scan()
///     .columns(["id"]) // all by default
///     .rows(10_000..30_000) // all by default
///     .batch_rows(4_096)
///     .build()?;
/// let mut sum = 0;
/// for batch in batches {
///     // Batches come in row order, whichever thread has read them.
///     let batch = batch?;
///     sum += batch["id"].as_primitive::<Int64Type>().values().iter().sum::<i64>();
/// }
/// assert_eq!(sum, (10_000..30_000).sum::<i64>());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct Scan {
    reader: FileReader,
    columns: Option<Vec<String>>,
    rows: Option<Range<u64>>,
    batch_rows: usize,
    batch_bytes: u64,
    threads: Option<usize>,
    describe_blobs: bool,
}

impl Scan {
    pub(super) fn new(reader: FileReader) -> Self {
        Self {
            reader,
            columns: None,
            rows: None,
            batch_rows: 8192,
            batch_bytes: 8 << 20,
            threads: None,
            describe_blobs: false,
        }
    }

    /// Reads only these columns; nested fields are named with dots.
    pub fn columns<S: AsRef<str>>(mut self, columns: impl IntoIterator<Item = S>) -> Self {
        self.columns = Some(columns.into_iter().map(|c| c.as_ref().to_owned()).collect());
        self
    }

    /// Reads only these rows.
    pub fn rows(mut self, rows: Range<u64>) -> Self {
        self.rows = Some(rows);
        self
    }

    /// Rows in a batch (8,192 by default). Batches of wide rows hold fewer, see
    /// [`Scan::batch_bytes`].
    pub fn batch_rows(mut self, rows: usize) -> Self {
        self.batch_rows = rows;
        self
    }

    /// Bytes in a batch, about (8 MiB by default): batches are cut to fewer rows where rows are
    /// wide, so that their memory stays in reach of the processor's caches.
    pub fn batch_bytes(mut self, bytes: u64) -> Self {
        self.batch_bytes = bytes;
        self
    }

    /// How many batches are read and decoded at the same time (by default as many as rayon has
    /// threads): one on the calling thread while it waits for a batch, the others on rayon's. With 1,
    /// and without the feature `threads`, everything happens on the calling thread, when a batch is
    /// asked for.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads);
        self
    }

    /// Gives blobs as structs of `position` and `size` instead of their bytes, which are not read.
    pub fn blobs_as_descriptions(mut self) -> Self {
        self.describe_blobs = true;
        self
    }

    /// Checks the description and starts.
    pub fn build(self) -> Result<Batches> {
        let (reader, projection) = (self.reader.clone(), self.projection()?);
        reader.load_columns(&projection)?;
        let threads = self.threads.unwrap_or_else(num_threads);
        let others = if is_helper() { 0 } else { threads.saturating_sub(1) };
        let row_bytes = reader.row_bytes_of(&projection);
        let requests = self.cut(projection.clone())?;
        // A thread that sleeps between short batches wakes too late for the next one.
        let has_blobs = projection.leaves.iter().any(|leaf| leaf.leaf.blob && !leaf.described);
        let is_short =
            requests.batch_rows.saturating_mul(row_bytes) <= SHORT_BATCH_BYTES && !has_blobs;
        let most = match others {
            0 => 0,
            _ if is_short => others.saturating_mul(6),
            _ => others.saturating_add(1),
        };
        let queue =
            Arc::new(Queue { reader, projection, max_workers: others, jobs: Mutex::default() });
        Ok(Batches { requests, queue, most, reading: VecDeque::new() })
    }

    /// What a driver of one's own has to read before [`Scan::requests`].
    pub fn request_columns(&self) -> Result<ReadRequest> {
        self.reader.request(&self.projection()?, Wanted::Metadata)
    }

    /// The batches of the scan, to be read by a driver of one's own.
    pub fn requests(self) -> Result<ScanRequests> {
        let projection = self.projection()?;
        if !self.reader.request(&projection, Wanted::Metadata)?.spans().is_empty() {
            return Err(Error::invalid("a scan begins with what `Scan::request_columns` reads"));
        }
        self.cut(projection)
    }

    fn projection(&self) -> Result<Arc<ProjectedColumns>> {
        let projection = match &self.columns {
            Some(columns) => self.reader.projection(columns)?,
            None => self.reader.everything.clone(),
        };
        if self.describe_blobs { projection.describe_blobs() } else { Ok(projection) }
    }

    /// Cuts the rows of columns that are loaded into batches.
    fn cut(self, projection: Arc<ProjectedColumns>) -> Result<ScanRequests> {
        if self.batch_rows == 0 {
            return Err(Error::invalid("a batch needs at least one row"));
        }
        let num_rows = self.reader.common_rows(&projection)?;
        let rows = self.rows.unwrap_or(0..num_rows);
        check_range(&rows, num_rows)?;
        let file = &self.reader.file;
        let row_bytes = self.reader.row_bytes_of(&projection);
        let asked_rows = self.batch_rows as u64;
        let batch_rows =
            self.batch_bytes.checked_div(row_bytes).unwrap_or(u64::MAX).clamp(1, asked_rows);
        let cuts = if batch_rows < asked_rows {
            file.page_ends_of_widest(&projection.leaves)
        } else {
            Vec::new()
        };
        Ok(ScanRequests { reader: self.reader, projection, rows, batch_rows, cuts })
    }
}

/// The reads that make up a scan, in row order.
#[derive(Debug)]
pub struct ScanRequests {
    reader: FileReader,
    projection: Arc<ProjectedColumns>,
    /// Rows nobody reads yet.
    rows: Range<u64>,
    batch_rows: u64,
    /// Rows at which batches end if they can, sorted: a batch that is one page of wide rows may be
    /// the bytes that were read.
    cuts: Vec<u64>,
}

impl ScanRequests {
    /// The schema of the batches.
    pub fn schema(&self) -> SchemaRef {
        self.projection.schema.clone()
    }

    /// The rows of the next batch that nobody reads yet.
    fn next_rows(&mut self) -> Option<Range<u64>> {
        if self.rows.is_empty() {
            return None;
        }
        let start = self.rows.start;
        let end = start.saturating_add(self.batch_rows).min(self.rows.end);
        self.rows.start = self.page_end(start).map_or(end, |cut| cut.min(self.rows.end));
        Some(start..self.rows.start)
    }
}

impl ScanRequests {
    /// Where a batch from `start` on ends so that it shares no page with those after it; a page that
    /// is longer than a batch is cut into even parts. Many short batches would cost more than a copy.
    fn page_end(&self, start: u64) -> Option<u64> {
        let half = start.saturating_add(self.batch_rows / 2);
        let end = self.cuts.get(self.cuts.partition_point(|cut| *cut <= half))?;
        let rows = end.saturating_sub(start);
        let num_parts = rows.div_ceil(self.batch_rows.max(1)).max(1);
        Some(start.saturating_add(rows.div_ceil(num_parts)))
    }
}

impl Iterator for ScanRequests {
    type Item = Result<ReadRequest>;

    fn next(&mut self) -> Option<Self::Item> {
        let rows = self.next_rows()?;
        Some(self.reader.request(&self.projection, Wanted::Range(rows)))
    }
}

/// Batches of up to this many bytes are read further ahead.
const SHORT_BATCH_BYTES: u64 = 1 << 20;

/// The batches of a scan, in row order.
#[derive(Debug)]
pub struct Batches {
    requests: ScanRequests,
    queue: Arc<Queue>,
    /// How many batches may wait to be asked for.
    most: usize,
    /// Batches that nobody asked for yet, in row order.
    reading: VecDeque<Receiver<Result<RecordBatch>>>,
}

impl Batches {
    /// The schema of the batches.
    pub fn schema(&self) -> SchemaRef {
        self.requests.schema()
    }

    fn read_ahead(&mut self) {
        while self.reading.len() < self.most {
            let Some(rows) = self.requests.next_rows() else { return };
            let (sender, receiver) = sync_channel(1);
            self.queue.push(Job { rows, sender });
            self.reading.push_back(receiver);
        }
    }

    fn next_batch(&mut self) -> Option<Result<RecordBatch>> {
        self.read_ahead();
        let Some(receiver) = self.reading.pop_front() else {
            let request = self.requests.next()?;
            return Some(request.and_then(|request| self.requests.reader.run(request)));
        };
        loop {
            match receiver.try_recv() {
                Ok(batch) => return Some(batch),
                // A thread that sleeps may find the others on its core when it wakes: it reads, too.
                Err(_) if self.queue.work() => {}
                Err(_) => break,
            }
        }
        Some(receiver.recv().unwrap_or_else(|_| {
            Err(Error::invalid("a thread that read a batch ended without one"))
        }))
    }
}

impl Drop for Batches {
    fn drop(&mut self) {
        self.queue.clear();
    }
}

/// Batches to be read, by any thread.
#[derive(Debug)]
struct Queue {
    reader: FileReader,
    projection: Arc<ProjectedColumns>,
    /// How many of rayon's threads may work on it at the same time.
    max_workers: usize,
    jobs: Mutex<Jobs>,
}

#[derive(Debug, Default)]
struct Jobs {
    waiting: VecDeque<Job>,
    num_workers: usize,
}

/// A batch to be read.
#[derive(Debug)]
struct Job {
    rows: Range<u64>,
    sender: SyncSender<Result<RecordBatch>>,
}

impl Queue {
    fn push(self: &Arc<Self>, job: Job) {
        let mut jobs = lock(&self.jobs);
        jobs.waiting.push_back(job);
        if jobs.num_workers < self.max_workers {
            jobs.num_workers = jobs.num_workers.saturating_add(1);
            let queue = self.clone();
            spawn(move || queue.work_to_the_end());
        }
    }

    fn clear(&self) {
        lock(&self.jobs).waiting.clear();
    }

    /// Reads the next batch, if one waits to be read.
    fn work(&self) -> bool {
        let job = lock(&self.jobs).waiting.pop_front();
        job.map(|job| self.read(job)).is_some()
    }

    fn work_to_the_end(&self) {
        loop {
            let mut jobs = lock(&self.jobs);
            let Some(job) = jobs.waiting.pop_front() else {
                jobs.num_workers = jobs.num_workers.saturating_sub(1);
                return;
            };
            drop(jobs);
            self.read(job);
        }
    }

    fn read(&self, job: Job) {
        // Nobody listens any more when the scan was dropped.
        let _ = job.sender.send(self.reader.read(&self.projection, job.rows));
    }
}

impl Iterator for Batches {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = self.next_batch();
        if let Some(Err(_)) = batch {
            // After an error there is nothing sensible to go on with.
            self.requests.rows.start = self.requests.rows.end;
            self.reading.clear();
            self.queue.clear();
        }
        batch
    }
}
