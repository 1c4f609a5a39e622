//! Scans: many rows as a sequence of reads.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;

use super::file::OpenFile;
use super::projection::{Columns, Projection};
use super::request::Request;
use super::rows_read::{RowsRead, check_ranges};
use super::scan_filter::ScanFilter;
use super::steps::{Io, Steps};
use super::zone_maps;
use crate::error::{Error, Result};
use crate::rows::{RowRanges, Rows};
use crate::zones::filter::Filter;

/// Describes a scan for a driver with I/O of its own: drive [`ScanPlan::requests`], then each request that it
/// comes to. The blocking [`Scan`](crate::Scan) has the same methods and an example.
#[derive(Debug, Clone)]
#[must_use]
pub struct ScanPlan {
    file: Arc<OpenFile>,
    columns: Columns,
    rows: Option<RowRanges>,
    filter: Option<Filter>,
    limit: Option<u64>,
    batch_rows: usize,
    batch_bytes: u64,
    describe_blobs: bool,
}

impl ScanPlan {
    pub(super) fn new(file: Arc<OpenFile>) -> Self {
        Self {
            file,
            columns: Columns::All,
            rows: None,
            filter: None,
            limit: None,
            batch_rows: 8192,
            batch_bytes: 8 << 20,
            describe_blobs: false,
        }
    }

    /// Reads only these columns.
    pub fn columns(mut self, columns: impl Into<Columns>) -> Self {
        self.columns = columns.into();
        self
    }

    /// Reads only these rows: a range, or [`RowRanges`]. Called again, only those that are in both.
    pub fn select(mut self, rows: impl Into<RowRanges>) -> Self {
        let rows = rows.into();
        self.rows = Some(self.rows.map_or(rows.clone(), |known| known.intersection(&rows)));
        self
    }

    /// Gives only the rows that make the filter true. Called again, those that make both true.
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

    /// Rows in a batch, at most (8,192 by default).
    pub fn batch_rows(mut self, rows: usize) -> Self {
        self.batch_rows = rows;
        self
    }

    /// Bytes in a batch, about (8 MiB by default).
    pub fn batch_bytes(mut self, bytes: u64) -> Self {
        self.batch_bytes = bytes;
        self
    }

    /// Gives blobs as structs of `position` and `size` instead of their bytes, which are not read.
    pub fn blobs_as_descriptions(mut self) -> Self {
        self.describe_blobs = true;
        self
    }

    /// Reads the metadata of the columns, and the zone maps of those of the filter; then the requests are
    /// known that make up the scan.
    pub fn requests(self) -> Request<ScanRequests> {
        let file = self.file.clone();
        file.request(Steps::start(|io| async move { self.plan(&io).await }))
    }

    async fn plan(self, io: &Io) -> Result<ScanRequests> {
        if self.batch_rows == 0 {
            return Err(Error::invalid("a batch needs at least one row"));
        }
        let file = self.file;
        let mut columns = file.project(self.columns)?;
        if self.describe_blobs {
            columns = columns.with_blobs_described()?;
        }
        let filter = match self.filter {
            Some(filter) => {
                let leaves = zone_maps::of_filter(&file, &filter)?;
                let filter = ScanFilter::new(&file, filter, &columns)?;
                file.load_together(io, &filter.all_columns()).await?;
                Some((filter, leaves))
            }
            None => None,
        };
        let num_rows = file.load_columns(io, &columns).await?;
        let mut rows = self.rows.unwrap_or_else(|| RowRanges::from(0..num_rows));
        check_ranges(&rows, num_rows)?;
        let filter = match filter {
            Some((filter, leaves)) => {
                let left = zone_maps::prune_rows(&file, io, filter.filter(), leaves).await?;
                rows = rows.intersection(&left);
                check_ranges(&rows, file.load_columns(io, filter.columns()).await?)?;
                Some(Arc::new(filter))
            }
            None => {
                if let Some(limit) = self.limit {
                    drop(rows.split_off(limit));
                }
                None
            }
        };
        let filter_bytes = filter.as_ref().map_or(0, |f| file.row_bytes(f.columns()));
        let row_bytes = file.row_bytes(&columns).saturating_add(filter_bytes);
        let asked_rows = self.batch_rows as u64;
        let batch_rows =
            self.batch_bytes.checked_div(row_bytes).unwrap_or(u64::MAX).clamp(1, asked_rows);
        let cuts = if batch_rows < asked_rows { file.page_ends(&columns) } else { Vec::new() };
        let limit = self.limit.filter(|_| filter.is_some());
        if limit == Some(0) {
            rows = RowRanges::new();
        }
        let reads = Arc::new(ScanReads { file, columns, filter, threads: 1 });
        let num_rows = rows.count();
        let rows = rows.ranges().to_vec().into();
        let batch_bytes = self.batch_bytes;
        Ok(ScanRequests { reads, rows, num_rows, batch_rows, batch_bytes, row_bytes, cuts, limit })
    }
}

/// The reads that make up a scan, in the order of its rows.
///
/// Where the scan has a filter, what they come to may be empty.
#[derive(Debug)]
pub struct ScanRequests {
    pub(super) reads: Arc<ScanReads>,
    /// Rows nobody reads yet.
    rows: VecDeque<Range<u64>>,
    /// How many there were in the beginning.
    pub(super) num_rows: u64,
    pub(super) batch_rows: u64,
    /// Bytes of a batch, about.
    pub(super) batch_bytes: u64,
    /// Bytes of a row, about.
    pub(super) row_bytes: u64,
    /// Rows at which batches end if they can, sorted: a batch that is one page of wide rows may be
    /// the bytes that were read.
    cuts: Vec<u64>,
    limit: Option<u64>,
}

/// What the reads of a scan have in common.
#[derive(Debug)]
pub(super) struct ScanReads {
    file: Arc<OpenFile>,
    pub(super) columns: Projection,
    filter: Option<Arc<ScanFilter>>,
    /// How many threads may work on one read.
    pub(super) threads: usize,
}

impl ScanReads {
    /// The read of some rows.
    pub(super) fn request(self: &Arc<Self>, rows: RowRanges) -> Result<Request<RecordBatch>> {
        self.request_within(rows, u64::MAX)
    }

    /// The same, with an error if rows without a filter take more than so many bytes.
    pub(super) fn request_within(
        self: &Arc<Self>,
        rows: RowRanges,
        most: u64,
    ) -> Result<Request<RecordBatch>> {
        let (file, columns) = (self.file.clone(), self.columns.clone());
        if let Some(filter) = self.filter.clone() {
            let read = |io| async move { filter.read(&io, &file, &columns, rows).await };
            return Ok(self.file.request(Steps::start(read)));
        }
        let (rows, budget) = (Rows::Ranges(rows), self.file.budget_within(most));
        let read = RowsRead::new(file, columns, rows, budget, self.threads)?;
        Ok(self.file.request_rows(read))
    }

    pub(super) fn has_filter(&self) -> bool {
        self.filter.is_some()
    }

    /// Bytes of a row that are values of different lengths: those may take more in memory than in the file.
    pub(super) fn text_bytes(&self) -> u64 {
        self.file.text_bytes(&self.columns)
    }

    /// Whether batches may be longer than their rows tell.
    pub(super) fn has_blobs(&self) -> bool {
        self.columns.leaves().iter().any(|leaf| leaf.leaf.blob && !leaf.described)
    }
}

impl ScanRequests {
    /// The schema of the batches.
    pub fn schema(&self) -> SchemaRef {
        self.reads.columns.schema()
    }

    /// How many rows of all batches together are wanted, where the requests do not keep to that
    /// themselves: a filter tells only in the end how many rows there are.
    pub fn limit(&self) -> Option<u64> {
        self.limit
    }

    /// Has the requests from now on read so many rows: fewer than were planned where rows turn out to be wide, or more
    /// where they turn out to be narrow and a request costs much.
    pub fn set_batch_rows(&mut self, rows: u64) {
        self.batch_rows = rows.max(1);
    }

    /// Rows that a request reads, at most.
    pub fn batch_rows(&self) -> u64 {
        self.batch_rows
    }

    /// Bytes of a row in memory, about.
    pub fn row_bytes(&self) -> u64 {
        self.row_bytes
    }

    /// Whether the rows of several requests may be read as well by one.
    pub(super) fn may_join(&self) -> bool {
        self.cuts.is_empty() && !self.reads.has_filter() && !self.reads.has_blobs()
    }

    /// The rows of the next batch that nobody reads yet.
    pub(super) fn next_rows(&mut self) -> Option<RowRanges> {
        let start = self.rows.front()?.start;
        let cut = self.page_end(start);
        let mut room = if cut.is_some() { u64::MAX } else { self.batch_rows };
        let mut batch = RowRanges::new();
        while let Some(range) = self.rows.front_mut().filter(|_| room > 0) {
            let end = range.end.min(range.start.saturating_add(room)).min(cut.unwrap_or(u64::MAX));
            if end <= range.start {
                break;
            }
            room = room.saturating_sub(end.saturating_sub(range.start));
            batch.push(range.start..end);
            range.start = end;
            if range.is_empty() {
                self.rows.pop_front();
            }
        }
        Some(batch)
    }

    /// Where a batch from `start` on ends so that it shares no page with those after it; a page that
    /// is longer than a batch is cut into even parts. Many short batches would cost more than a copy.
    fn page_end(&self, start: u64) -> Option<u64> {
        let half = start.saturating_add(self.batch_rows / 2);
        let end = self.cuts.get(self.cuts.partition_point(|cut| *cut <= half))?;
        let rows = end.saturating_sub(start);
        let num_parts = rows.div_ceil(self.batch_rows.max(1)).max(1);
        Some(start.saturating_add(rows.div_ceil(num_parts)))
    }

    /// So many threads may work on one read.
    pub(super) fn set_threads(&mut self, threads: usize) {
        if let Some(reads) = Arc::get_mut(&mut self.reads) {
            reads.threads = threads;
        }
    }

    /// Nothing more is wanted.
    pub(super) fn end(&mut self) {
        self.rows.clear();
    }
}

impl Iterator for ScanRequests {
    type Item = Result<Request<RecordBatch>>;

    fn next(&mut self) -> Option<Self::Item> {
        let rows = self.next_rows()?;
        Some(self.reads.request(rows))
    }
}
