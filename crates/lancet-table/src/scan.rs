//! Scans: many rows of a table as a sequence of batches.
//!
//! Fragments are looked at some at a time: their deletion files, and what zone maps leave of them. What is left is cut
//! into batches, none of which reaches over the end of a fragment. Some batches are read at a time, on several
//! threads, and given in order.

use std::collections::{HashSet, VecDeque};
use std::ops::Range;
use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use lancet::{Filter, RowRanges, Rows};

use crate::assemble::null_bytes;
use crate::columns::{TableColumns, TableProjection};
use crate::error::{Error, Result};
use crate::plan::{FragmentPlan, Part};
use crate::read::Reads;
use crate::scan_filter::TableFilter;
use crate::snapshot::rows_within;
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
    columns: TableColumns,
    fragments: Option<HashSet<u32>>,
    rows: Option<RowRanges>,
    filter: Option<Filter>,
    limit: Option<u64>,
    batch_rows: usize,
    batch_bytes: u64,
    threads: Option<usize>,
    described: bool,
}

impl Table {
    /// Starts to describe a scan.
    pub fn scan(&self) -> TableScan {
        TableScan {
            table: self.clone(),
            columns: TableColumns::All,
            fragments: None,
            rows: None,
            filter: None,
            limit: None,
            batch_rows: 8192,
            batch_bytes: 8 << 20,
            threads: None,
            described: false,
        }
    }
}

impl TableScan {
    /// Reads only these columns; all fields of the table by default.
    pub fn columns(mut self, columns: impl Into<TableColumns>) -> Self {
        self.columns = columns.into();
        self
    }

    /// Reads only these fragments, by their ids. Rows keep the numbers they have in the whole table.
    pub fn fragments(mut self, ids: impl IntoIterator<Item = u32>) -> Self {
        self.fragments = Some(ids.into_iter().collect());
        self
    }

    /// Reads only the rows with these numbers. Called again, only those that are in both.
    pub fn select(mut self, rows: impl Into<RowRanges>) -> Self {
        let rows = rows.into();
        self.rows = Some(self.rows.map_or(rows.clone(), |known| known.intersection(&rows)));
        self
    }

    /// Gives only the rows that make the filter true. Called again, those that make both true.
    ///
    /// Zone maps of every data file leave out what cannot match, then the columns of the filter are read, and of the
    /// others only the rows that it leaves.
    pub fn filter(mut self, filter: Filter) -> Self {
        self.filter = Some(match self.filter {
            Some(known) => known.and(filter),
            None => filter,
        });
        self
    }

    /// Gives only the first rows of those that the scan has.
    pub fn limit(mut self, rows: u64) -> Self {
        self.limit = Some(rows);
        self
    }

    /// Rows in a batch, at most (8,192 by default). Batches end with their fragment, so that some hold fewer.
    pub fn batch_rows(mut self, rows: usize) -> Self {
        self.batch_rows = rows;
        self
    }

    /// Bytes in a batch, about (8 MiB by default): batches are cut to fewer rows where rows are wide.
    pub fn batch_bytes(mut self, bytes: u64) -> Self {
        self.batch_bytes = bytes;
        self
    }

    /// How many batches are read at the same time, by default as many as the read options of the table say, or one
    /// where there is little to read. With 1, everything happens on the calling thread.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads.max(1));
        self
    }

    /// Gives blobs as where they lie instead of their bytes, which are not read.
    pub fn blobs_as_descriptions(mut self) -> Self {
        self.described = true;
        self
    }

    /// Checks the description and starts.
    pub fn build(self) -> Result<TableBatches> {
        if self.batch_rows == 0 {
            return Err(Error::invalid("a batch needs at least one row"));
        }
        let mut columns = self.table.project(self.columns.clone())?;
        if self.described {
            columns = columns.with_blobs_described();
        }
        let reads = self.table.reads.clone();
        let filter = match &self.filter {
            Some(filter) => Some(TableFilter::new(&reads.snapshot, filter.clone(), &columns)?),
            None => None,
        };
        let fragments = self.selected(&reads)?;
        let left: u64 = fragments.iter().map(|fragment| fragment.numbers.count()).sum();
        let limit = self.limit.filter(|_| filter.is_some());
        let work = Arc::new(Work {
            reads,
            columns,
            filter,
            batch_rows: self.batch_rows as u64,
            batch_bytes: self.batch_bytes,
        });
        Ok(TableBatches {
            work,
            threads: self.threads,
            left,
            fragments: if limit == Some(0) { VecDeque::new() } else { fragments },
            prepared: VecDeque::new(),
            ready: VecDeque::new(),
            limit,
        })
    }

    /// The fragments, with the rows of each that are wanted.
    fn selected(&self, reads: &Reads) -> Result<VecDeque<Selected>> {
        let starts = reads.starts()?;
        let num_rows = starts.last().copied().unwrap_or(0);
        let mut rows = self.rows.clone().unwrap_or_else(|| RowRanges::from(0..num_rows));
        if rows.end() > num_rows {
            let end = rows.end();
            return Err(Error::invalid(format!(
                "rows up to {end} are out of range: there are {num_rows} rows"
            )));
        }
        let ids = reads.snapshot.manifest.fragments.iter().map(|fragment| fragment.id);
        let bounds = starts.iter().zip(starts.iter().skip(1)).map(|(start, end)| *start..*end);
        let mut wanted: Vec<(usize, Range<u64>)> = Vec::new();
        for (place, (id, bounds)) in ids.zip(bounds).enumerate() {
            if self.fragments.as_ref().is_none_or(|ids| ids.contains(&id)) && !bounds.is_empty() {
                wanted.push((place, bounds));
            }
        }
        if self.fragments.is_some() {
            rows = rows.intersection(&wanted.iter().map(|(_, bounds)| bounds.clone()).collect());
        }
        if let Some(limit) = self.limit.filter(|_| self.filter.is_none()) {
            drop(rows.split_off(limit));
        }
        let mut selected = VecDeque::new();
        let is_all = rows.ranges() == [0..num_rows];
        for (place, bounds) in wanted {
            let numbers = if is_all {
                RowRanges::from(0..bounds.end.saturating_sub(bounds.start))
            } else {
                rows_within(&rows, bounds)
            };
            if !numbers.is_empty() {
                selected.push_back(Selected { place, numbers });
            }
        }
        Ok(selected)
    }
}

/// A fragment, and the numbers of the rows of it that are wanted.
#[derive(Debug, Clone)]
struct Selected {
    place: usize,
    numbers: RowRanges,
}

/// A fragment of which it is known what has to be read.
#[derive(Debug)]
struct Prepared {
    place: usize,
    /// Numbers of live rows that nobody reads yet.
    numbers: RowRanges,
    /// Offsets that zone maps leave; none if they leave all.
    pruned: Option<Arc<RowRanges>>,
    batch_rows: u64,
    row_bytes: u64,
}

/// Rows of a fragment that become one batch.
#[derive(Debug)]
struct Piece {
    place: usize,
    numbers: RowRanges,
    pruned: Option<Arc<RowRanges>>,
}

/// What all batches of a scan have in common.
struct Work {
    reads: Reads,
    columns: TableProjection,
    filter: Option<TableFilter>,
    batch_rows: u64,
    batch_bytes: u64,
}

impl Work {
    /// Finds out what has to be read of a fragment; nothing if zone maps rule it out.
    fn prepare(&self, fragment: Selected) -> Result<Option<Prepared>> {
        let Selected { place, numbers } = fragment;
        let pruned = match &self.filter {
            Some(filter) => filter.prune(&self.reads, place)?,
            None => None,
        };
        if pruned.as_ref().is_some_and(RowRanges::is_empty) {
            return Ok(None);
        }
        let row_bytes = self.row_bytes(place)?;
        let most = self.batch_bytes.checked_div(row_bytes).unwrap_or(u64::MAX);
        let batch_rows = most.clamp(1, self.batch_rows);
        let pruned = pruned.map(Arc::new);
        Ok(Some(Prepared { place, numbers, pruned, batch_rows, row_bytes }))
    }

    /// About how many bytes a row takes in memory.
    fn row_bytes(&self, place: usize) -> Result<u64> {
        let fragment = self.reads.snapshot.fragment(place)?;
        let plan = FragmentPlan::new(fragment, self.columns.nodes());
        let mut bytes = (self.columns.columns().len() as u64).saturating_mul(8);
        let missing = plan.parts.iter().zip(self.columns.nodes());
        let missing = missing.filter(|(part, _)| **part == Part::Missing);
        for (_, node) in missing {
            bytes = bytes.saturating_add(null_bytes(node.field.data_type()));
        }
        for wanted in &plan.files {
            let file = self.reads.open(place, wanted.file)?;
            let projection = file.project(&wanted.columns, self.columns.is_described())?;
            let open = file.reader.file();
            let prepared = file.reader.run(open.prepare(&projection));
            prepared.map_err(|error| file.error(error))?;
            bytes = bytes.saturating_add(open.row_bytes(&projection));
        }
        Ok(bytes)
    }

    fn read(&self, piece: &Piece) -> Result<RecordBatch> {
        let mut rows = self.reads.live_rows(piece.place, &piece.numbers)?;
        if let Some(pruned) = &piece.pruned {
            rows = rows.intersection(pruned);
        }
        if rows.is_empty() {
            return Ok(RecordBatch::new_empty(self.columns.schema()));
        }
        match &self.filter {
            Some(filter) => filter.read(&self.reads, piece.place, &self.columns, rows),
            None => self.reads.read(piece.place, &self.columns, &Rows::Ranges(rows)),
        }
    }
}

/// The batches of a scan of a table, in the order of its rows.
///
/// It is a [`RecordBatchReader`], so its errors are Arrow's; `?` makes them [`Error`]s again where a function returns
/// those.
pub struct TableBatches {
    work: Arc<Work>,
    /// As the caller wants it.
    threads: Option<usize>,
    /// Rows that are wanted in all.
    left: u64,
    fragments: VecDeque<Selected>,
    prepared: VecDeque<Prepared>,
    ready: VecDeque<Result<RecordBatch>>,
    /// How many rows are still wanted, where a filter tells only in the end how many there are.
    limit: Option<u64>,
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
        if self.ready.is_empty()
            && let Err(error) = self.read_some()
        {
            self.end();
            return Some(Err(error));
        }
        self.ready.pop_front()
    }

    /// Reads as many batches as there are threads, or two for each of several.
    fn read_some(&mut self) -> Result<()> {
        while self.prepared.is_empty() && !self.fragments.is_empty() {
            self.prepare_some()?;
        }
        let threads = self.threads();
        let most = if threads > 1 { threads.saturating_mul(2) } else { 1 };
        let mut pieces = Vec::with_capacity(most);
        while pieces.len() < most {
            match self.next_piece() {
                Some(piece) => pieces.push(piece),
                None if self.fragments.is_empty() => break,
                None => self.prepare_some()?,
            }
        }
        let work = self.work.clone();
        let read = move |piece: Piece| Ok(work.read(&piece));
        self.ready.extend(lancet::in_parallel(threads, pieces, read)?);
        Ok(())
    }

    fn next_piece(&mut self) -> Option<Piece> {
        let prepared = self.prepared.front_mut()?;
        let rest = prepared.numbers.split_off(prepared.batch_rows);
        let numbers = std::mem::replace(&mut prepared.numbers, rest);
        let piece = Piece { place: prepared.place, numbers, pruned: prepared.pruned.clone() };
        if prepared.numbers.is_empty() {
            self.prepared.pop_front();
        }
        Some(piece)
    }

    /// Looks at the next fragments.
    fn prepare_some(&mut self) -> Result<()> {
        // Without a filter there is little to wait for.
        let threads = self.threads.unwrap_or(self.work.reads.threads);
        let is_one = threads <= 1 || self.fragments.len() <= 2;
        let count = if is_one { 1 } else { threads.saturating_mul(2) };
        let next: Vec<Selected> = self.fragments.drain(..count.min(self.fragments.len())).collect();
        let work = self.work.clone();
        let prepare = move |fragment: Selected| Ok(work.prepare(fragment));
        let threads = if is_one { 1 } else { threads };
        for prepared in lancet::in_parallel(threads, next, prepare)? {
            self.prepared.extend(prepared?);
        }
        Ok(())
    }

    /// How many threads pay for what is to be read.
    fn threads(&self) -> usize {
        let row_bytes = self.prepared.front().map_or(0, |prepared| prepared.row_bytes);
        let is_little = self.left.saturating_mul(row_bytes) < PARALLEL_BYTES;
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
        self.ready.clear();
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
