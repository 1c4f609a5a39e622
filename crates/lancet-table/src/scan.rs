//! Scans of tables on disk, on the calling thread and others.
//!
//! Helpers read some batches ahead of the caller, who reads one itself where none is ready; they are given in order.

use std::collections::VecDeque;
use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use lancet::{Filter, InOrder, RowRanges};

use crate::columns::TableColumns;
use crate::error::{Error, Result};
use crate::scan_plan::{Piece, Prepared, ScanPlan, Selected, Work};
use crate::storage::{Disk, ready};
use crate::table::Table;

/// Fewer bytes are read on one thread by default.
const PARALLEL_BYTES: u64 = 768 << 10;
/// So many batches in a row of which a filter leaves nothing are not given to the caller.
const MAX_SKIPPED: usize = 1_000;

/// Describes a scan of a table; [`TableScan::build`] starts it.
#[derive(Debug, Clone)]
#[must_use]
pub struct TableScan {
    table: Table,
    plan: ScanPlan,
    threads: Option<usize>,
}

impl Table {
    /// Starts to describe a scan.
    pub fn scan(&self) -> TableScan {
        TableScan { table: self.clone(), plan: ScanPlan::default(), threads: None }
    }
}

/// The methods that describe a scan, wherever the table lies.
macro_rules! describe_scan {
    ($scan:ident) => {
        impl $scan {
            /// Reads only these columns; all fields of the table by default.
            pub fn columns(mut self, columns: impl Into<TableColumns>) -> Self {
                self.plan.columns = columns.into();
                self
            }

            /// Reads only these fragments, by their ids; fails if there is none with such an id. Rows keep the numbers
            /// they have in the whole table.
            pub fn fragments(mut self, ids: impl IntoIterator<Item = u32>) -> Self {
                self.plan.fragments = Some(ids.into_iter().collect());
                self
            }

            /// Reads only the rows with these numbers. Called again, only those that are in both.
            pub fn select(mut self, rows: impl Into<RowRanges>) -> Self {
                self.plan.select(rows.into());
                self
            }

            /// Gives only the rows that make the filter true. Called again, those that make both true.
            ///
            /// Zone maps of every data file leave out what cannot match, then the columns of the filter are read,
            /// and of the others only the rows that it leaves.
            pub fn filter(mut self, filter: Filter) -> Self {
                self.plan.filter(filter);
                self
            }

            /// Gives only the first rows of those that the scan has.
            pub fn limit(mut self, rows: u64) -> Self {
                self.plan.limit = Some(rows);
                self
            }

            /// Rows in a batch, at most (8,192 by default). Batches end with their fragment, so that some hold fewer.
            pub fn batch_rows(mut self, rows: usize) -> Self {
                self.plan.batch_rows = rows;
                self
            }

            /// Bytes in a batch, about (8 MiB by default): batches are cut to fewer rows where rows are wide.
            pub fn batch_bytes(mut self, bytes: u64) -> Self {
                self.plan.batch_bytes = bytes;
                self
            }

            /// Gives blobs as where they lie instead of their bytes, which are not read.
            pub fn blobs_as_descriptions(mut self) -> Self {
                self.plan.described = true;
                self
            }
        }
    };
}
#[cfg(feature = "object-store")]
pub(crate) use describe_scan;

describe_scan!(TableScan);

impl TableScan {
    /// How many batches are read at the same time, by default as many as the read options of the table say, or one
    /// where there is little to read. With 1, everything happens on the calling thread.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads.max(1));
        self
    }

    /// Checks the description and starts.
    pub fn build(self) -> Result<TableBatches> {
        let started = ready(self.plan.start(&self.table.at))?;
        Ok(TableBatches {
            work: started.work,
            threads: self.threads,
            left: started.num_rows,
            row_bytes: 0,
            fragments: started.fragments,
            prepared: VecDeque::new(),
            ahead: None,
            failed: None,
            limit: started.limit,
        })
    }
}

/// The batches of a scan of a table, in the order of its rows.
///
/// It is a [`RecordBatchReader`], so its errors are Arrow's; `?` makes them [`Error`]s again where a function returns
/// those.
pub struct TableBatches {
    work: Arc<Work<Disk>>,
    /// As the caller wants it.
    threads: Option<usize>,
    /// Rows that are wanted in all.
    left: u64,
    /// About how many bytes a row takes.
    row_bytes: u64,
    fragments: VecDeque<Selected>,
    prepared: VecDeque<Prepared>,
    /// Batches that nobody asked for yet.
    ahead: Option<Ahead>,
    /// Why no more fragments can be read; it comes when all rows before them have come.
    failed: Option<Error>,
    /// How many rows are still wanted, where a filter tells only in the end how many there are.
    limit: Option<u64>,
}

struct Ahead {
    batches: InOrder<Piece, Result<RecordBatch>>,
    /// How many may wait to be asked for.
    most: usize,
}

impl TableBatches {
    /// The schema of the batches.
    pub fn schema(&self) -> SchemaRef {
        self.work.columns.schema()
    }

    /// The next batch, with the errors of this crate. Where a filter leaves nothing of very many rows, it has none: that
    /// is when one can stop.
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

    fn read_next(&mut self) -> Option<Result<RecordBatch>> {
        self.read_ahead();
        match self.ahead.as_mut().and_then(|ahead| ahead.batches.take()) {
            Some(batch) => Some(batch),
            None => self.failed.take().map(Err),
        }
    }

    /// Has as many batches read as may wait.
    fn read_ahead(&mut self) {
        loop {
            if self.ahead.as_ref().is_some_and(|ahead| ahead.batches.len() >= ahead.most) {
                return;
            }
            if let Some(piece) = self.next_piece() {
                self.begun().batches.push(piece);
            } else if self.fragments.is_empty() {
                return;
            } else if let Err(error) = self.prepare_some() {
                self.fragments.clear();
                self.failed = Some(error);
            }
        }
    }

    /// The batches that are read. How many threads pay is known when the first fragment is.
    fn begun(&mut self) -> &mut Ahead {
        let threads = self.threads();
        let (work, row_bytes) = (self.work.clone(), self.row_bytes);
        self.ahead.get_or_insert_with(|| {
            let num_helpers = threads.saturating_sub(1);
            let batch_bytes = match work.reads_blobs() {
                true => u64::MAX,
                false => work.batch_rows().saturating_mul(row_bytes),
            };
            let most = lancet::num_ahead(num_helpers, batch_bytes).max(1);
            let read = move |piece: Piece| ready(work.read(&piece));
            Ahead { batches: InOrder::new(num_helpers, read), most }
        })
    }

    fn next_piece(&mut self) -> Option<Piece> {
        while let Some(prepared) = self.prepared.front_mut() {
            match prepared.next_piece() {
                Some(piece) => {
                    self.row_bytes = prepared.row_bytes;
                    return Some(piece);
                }
                None => self.prepared.pop_front(),
            };
        }
        None
    }

    /// Looks at the next fragments.
    fn prepare_some(&mut self) -> Result<()> {
        // Without a filter there is little to wait for.
        let threads = self.threads.unwrap_or(self.work.reads.threads);
        let is_one = threads <= 1 || self.fragments.len() <= 2;
        let count = if is_one { 1 } else { threads.saturating_mul(2) };
        let next: Vec<Selected> = self.fragments.drain(..count.min(self.fragments.len())).collect();
        let work = self.work.clone();
        if next.len() > 1 {
            work.reads.announce(next.iter().map(|fragment| fragment.place), &work.columns)?;
        }
        let prepare = move |fragment: Selected| Ok(ready(work.prepare(fragment)));
        let threads = if is_one { 1 } else { threads };
        for prepared in lancet::in_parallel(threads, next, prepare)? {
            self.prepared.extend(prepared?);
        }
        Ok(())
    }

    /// How many threads pay for what is to be read.
    fn threads(&self) -> usize {
        let is_little = self.left.saturating_mul(self.row_bytes) < PARALLEL_BYTES;
        self.threads.unwrap_or(if is_little { 1 } else { self.work.reads.threads })
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
        self.fragments.clear();
        self.prepared.clear();
        self.failed = None;
        if let Some(ahead) = &mut self.ahead {
            ahead.batches.clear();
        }
    }
}

impl Iterator for TableBatches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_batch().map(|batch| batch.map_err(ArrowError::from))
    }
}

impl RecordBatchReader for TableBatches {
    fn schema(&self) -> SchemaRef {
        self.work.columns.schema()
    }
}

impl std::fmt::Debug for TableBatches {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TableBatches").field("columns", &self.work.columns).finish_non_exhaustive()
    }
}
