//! Rows to a record batch, without any I/O of its own.
//!
//! A request says which spans of the file it needs next and goes on when it is handed their
//! bytes. Each round depends on the one before; rounds with nothing to read are skipped:
//!
//! ```text
//! column metadata ► page indexes ► data ► blob payloads ► record batch
//! ```
//!
//! A page that is read as a whole and whose index is not known yet gives both in one round.
//!
//! A driver is a loop:
//!
//! ```text
//! while !request.spans().is_empty() {
//!     let bytes = read(request.spans());
//!     request.supply(bytes)?;
//! }
//! request.finish()
//! ```

use std::ops::Range;
use std::sync::Arc;

use arrow_array::RecordBatch;
use bytes::Bytes;

use super::file::{FileColumn, OpenFile};
use super::projected::ProjectedColumns;
use crate::budget::Budget;
use crate::codec::Scratch;
use crate::error::{Error, Locate, Result};
use crate::page::{LeafSink, Page, PageIndex, PageTask, SinkValues, count_rows};
use crate::parallel::in_parallel_mut;
use crate::schema::leaves::LeafColumnType;
use crate::schema::to_arrow::{self, LeafColumn, LeafValues};

/// Decoding fewer bytes than this on several threads costs more than it gains.
pub(super) const PARALLEL_BYTES: usize = 1 << 20;

/// A read of some rows in progress.
#[derive(Debug)]
pub(crate) struct LayoutRequest {
    pub(super) file: Arc<OpenFile>,
    pub(super) projection: Arc<ProjectedColumns>,
    /// Sorted, disjoint, non-empty; `None` asks only for the column metadata.
    rows: Option<Vec<Range<u64>>>,
    /// What the read may still hold.
    pub(super) budget: Budget,
    /// How many threads may work on it.
    pub(super) threads: usize,
    pub(super) stage: Stage,
    pub(super) spans: Vec<Range<u64>>,
    /// Leaves whose column metadata is among the spans.
    pending: Vec<usize>,
    pub(super) leaves: Vec<LeafRead>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    Columns,
    Indexes,
    Data,
    Blobs,
    Done,
}

/// A leaf column of a request.
#[derive(Debug)]
pub(super) struct LeafRead {
    pub(super) column: Arc<FileColumn>,
    pub(super) pages: Vec<PageRead>,
    pub(super) sink: LeafSink,
}

/// A page that holds some of the rows.
#[derive(Debug)]
pub(super) struct PageRead {
    /// Position of the page among those of the column.
    pub(super) page: usize,
    rows: Vec<Range<u64>>,
    pub(super) index: Option<Arc<PageIndex>>,
    /// The data, where it is fetched together with the index.
    pub(super) data: Option<Bytes>,
    pub(super) task: Option<PageTask>,
}

impl PageRead {
    /// The data of a page of which every row is wanted.
    fn whole<'a>(&self, page: &'a Page) -> Option<&'a Range<u64>> {
        let all = [0..page.num_rows];
        page.data_span().filter(|_| self.rows == all)
    }
}

impl LayoutRequest {
    pub(crate) fn new(
        file: Arc<OpenFile>,
        projection: Arc<ProjectedColumns>,
        rows: Option<Vec<Range<u64>>>,
        budget: Budget,
        threads: usize,
    ) -> Result<Self> {
        let mut request = Self {
            file,
            projection,
            rows,
            budget,
            threads,
            stage: Stage::Columns,
            spans: Vec::new(),
            pending: Vec::new(),
            leaves: Vec::new(),
        };
        request.want_columns()?;
        request.skip_empty_rounds()?;
        Ok(request)
    }

    /// The spans of the file whose bytes are needed next; none when the request is complete.
    pub(crate) fn spans(&self) -> &[Range<u64>] {
        &self.spans
    }

    /// Hands over the bytes of [`LayoutRequest::spans`], in the same order.
    pub(crate) fn supply(&mut self, bytes: Vec<Bytes>) -> Result<()> {
        self.advance(bytes)?;
        self.skip_empty_rounds()
    }

    fn skip_empty_rounds(&mut self) -> Result<()> {
        while self.spans.is_empty() && self.stage != Stage::Done {
            self.advance(Vec::new())?;
        }
        Ok(())
    }

    fn advance(&mut self, bytes: Vec<Bytes>) -> Result<()> {
        self.file.check_fetched(&self.spans, &bytes)?;
        self.spans.clear();
        let mut bytes = bytes.into_iter();
        match self.stage {
            Stage::Columns => {
                self.load_columns(&mut bytes)?;
                if self.rows.is_none() {
                    self.stage = Stage::Done;
                    return Ok(());
                }
                self.want_indexes()?;
                self.stage = Stage::Indexes;
            }
            Stage::Indexes => {
                self.load_indexes(&mut bytes)?;
                self.want_data()?;
                self.stage = Stage::Data;
            }
            Stage::Data => {
                self.decode(&mut bytes)?;
                self.want_blobs()?;
                self.stage = Stage::Blobs;
            }
            Stage::Blobs => {
                self.fill_blobs(&mut bytes)?;
                self.stage = Stage::Done;
            }
            Stage::Done => {}
        }
        Ok(())
    }

    fn want_columns(&mut self) -> Result<()> {
        for (i, leaf) in self.projection.leaves.iter().enumerate() {
            if self.file.column(leaf.column).is_some() {
                continue;
            }
            match self.file.column_metadata(leaf.column)? {
                Ok(bytes) => {
                    self.file.load_column(leaf, &bytes)?;
                }
                Err(span) => {
                    self.spans.push(span);
                    self.pending.push(i);
                }
            }
        }
        Ok(())
    }

    fn load_columns(&mut self, bytes: &mut impl Iterator<Item = Bytes>) -> Result<()> {
        for leaf in self.pending.drain(..).filter_map(|i| self.projection.leaves.get(i)) {
            self.file.load_column(leaf, &next(bytes)?)?;
        }
        Ok(())
    }

    fn want_indexes(&mut self) -> Result<()> {
        let rows = self.rows.as_deref().unwrap_or_default();
        let file = self.file.clone();
        let cached_index = file.cached_indexes();
        for leaf in &self.projection.leaves {
            let column = self.file.column(leaf.column);
            let column = column.ok_or_else(|| Error::corrupt("a column was not loaded"))?;
            let mut pages = pages_of(&column, leaf, rows);
            for read in &mut pages {
                let page = column.page(read.page)?;
                read.index = cached_index(leaf.column, page.number);
                if read.index.is_none() {
                    self.spans.extend(page.index_spans());
                    self.spans.extend(read.whole(page).cloned());
                }
            }
            self.leaves.push(LeafRead { column, pages, sink: LeafSink::new(&leaf.leaf)? });
        }
        self.claim_spans("the indexes of the pages")
    }

    fn load_indexes(&mut self, bytes: &mut impl Iterator<Item = Bytes>) -> Result<()> {
        for (leaf, read) in self.projection.leaves.iter().zip(&mut self.leaves) {
            for page_read in read.pages.iter_mut().filter(|read| read.index.is_none()) {
                let page = read.column.page(page_read.page)?;
                let buffers: Vec<Bytes> = bytes.take(page.index_spans().len()).collect();
                let index = self.file.load_index(leaf, page, &buffers, &self.budget)?;
                page_read.index = Some(index);
                if page_read.whole(page).is_some() {
                    page_read.data = Some(next(bytes)?);
                }
            }
        }
        Ok(())
    }

    fn want_data(&mut self) -> Result<()> {
        for (leaf, read) in self.projection.leaves.iter().zip(&mut self.leaves) {
            for page_read in &mut read.pages {
                let page = read.column.page(page_read.page)?;
                let Some(index) = &page_read.index else { continue };
                let rows = std::mem::take(&mut page_read.rows);
                let task = page.plan(index, rows).in_page(page.number).in_column(leaf.column)?;
                // A forged index may ask for less than the page.
                let fetched = page.data_span().filter(|span| [(*span).clone()] == *task.spans);
                page_read.data.take_if(|_| fetched.is_none());
                page_read.task = Some(task);
            }
        }
        self.spans = self.data_spans();
        self.claim_spans("the data of the rows")
    }

    /// The spans of the data that is still to be fetched.
    pub(super) fn data_spans(&self) -> Vec<Range<u64>> {
        let pages = self.leaves.iter().flat_map(|leaf| &leaf.pages);
        let tasks = pages.filter(|page| page.data.is_none()).filter_map(|page| page.task.as_ref());
        tasks.flat_map(|task| task.spans.iter().cloned()).collect()
    }

    /// Pages may share their bytes, so the size of the file does not bound what they fetch.
    fn claim_spans(&self, what: &str) -> Result<()> {
        let sizes = self.spans.iter().map(|span| span.end.saturating_sub(span.start));
        self.budget.claim(sizes.fold(0, u64::saturating_add), what)
    }

    fn decode(&mut self, bytes: &mut impl Iterator<Item = Bytes>) -> Result<()> {
        let budget = self.budget.clone();
        let mut total = 0_usize;
        // Room is made for what the bytes may yield, as far as the budget goes for all columns.
        let mut most = usize::try_from(budget.left()).unwrap_or(usize::MAX);
        let mut fetched_of = Vec::with_capacity(self.leaves.len());
        for read in &mut self.leaves {
            let mut fetched: Vec<Bytes> = Vec::new();
            for page in &mut read.pages {
                match (page.data.take(), &page.task) {
                    (Some(data), _) => fetched.push(data),
                    (None, Some(task)) => fetched.extend(bytes.take(task.spans.len())),
                    (None, None) => {}
                }
            }
            let stored = fetched.iter().map(Bytes::len).sum();
            total = total.saturating_add(stored);
            if !read.may_share() {
                let pool = &self.file.pool;
                let reserved = read.sink.reserve(read.num_values(), stored, most, pool);
                most = most.saturating_sub(reserved);
            }
            fetched_of.push(fetched);
        }
        let columns = self.projection.leaves.iter().map(|leaf| leaf.column);
        let decode = move |column: u32, read: &mut LeafRead, fetched: Vec<Bytes>| {
            read.decode(&fetched, &mut Scratch::sharing(&budget)).in_column(column)
        };
        if total < PARALLEL_BYTES || self.threads <= 1 || self.leaves.len() <= 1 {
            let mut work = columns.zip(&mut self.leaves).zip(fetched_of);
            return work.try_for_each(|((column, read), fetched)| decode(column, read, fetched));
        }
        let leaves = std::mem::take(&mut self.leaves);
        let work = columns.zip(leaves).zip(fetched_of);
        let mut work: Vec<_> = work.map(|((column, read), f)| (column, read, f)).collect();
        let decoded = in_parallel_mut(self.threads, &mut work, move |(column, read, fetched)| {
            decode(*column, read, std::mem::take(fetched))
        });
        self.leaves = work.into_iter().map(|(_, read, _)| read).collect();
        decoded.map(drop)
    }

    fn want_blobs(&mut self) -> Result<()> {
        let data_end = self.file.index.data_end;
        for (leaf, read) in self.projection.leaves.iter().zip(&self.leaves) {
            let SinkValues::Blob(blobs) = &read.sink.values else { continue };
            let spans = blobs.spans.iter().filter(|span| !span.is_empty());
            for span in spans {
                if span.end > data_end {
                    let rule =
                        format!("a blob at {}..{} lies outside the data", span.start, span.end);
                    return Err(Error::corrupt(rule)).in_column(leaf.column);
                }
                if !leaf.described {
                    // Fetched, then copied into the column.
                    let size = span.end.saturating_sub(span.start);
                    self.budget.claim(size.saturating_mul(2), "the blobs of the rows")?;
                    self.spans.push(span.clone());
                }
            }
        }
        Ok(())
    }

    fn fill_blobs(&mut self, bytes: &mut impl Iterator<Item = Bytes>) -> Result<()> {
        for (leaf, read) in self.projection.leaves.iter().zip(&mut self.leaves) {
            let SinkValues::Blob(blobs) = &read.sink.values else { continue };
            if leaf.described {
                read.sink.values = SinkValues::Plain(blobs.as_values());
                continue;
            }
            read.sink.values = SinkValues::Plain(blobs.filled(bytes)?);
        }
        Ok(())
    }

    /// The rows, in file order.
    pub(crate) fn finish(self) -> Result<RecordBatch> {
        let num_rows = count_rows(self.rows.as_deref().unwrap_or_default());
        let mut leaves = Vec::with_capacity(self.leaves.len());
        for (leaf, read) in self.projection.leaves.iter().zip(self.leaves) {
            leaves.push(leaf_column(read.sink).in_column(leaf.column)?);
        }
        let mut leaves = leaves.into_iter();
        let nodes = self.projection.nodes.iter();
        let arrays =
            nodes.map(|node| to_arrow::build(node, &mut leaves)).collect::<Result<Vec<_>>>()?;
        self.projection.batch(arrays, num_rows)
    }
}

impl LeafRead {
    /// Whether the values may be the bytes of the one page that is read.
    fn may_share(&self) -> bool {
        let [read] = self.pages.as_slice() else { return false };
        self.column.page(read.page).is_ok_and(Page::may_share)
    }

    /// About how many values the rows have.
    fn num_values(&self) -> u64 {
        let of_page = |read: &PageRead| {
            let page = self.column.page(read.page).ok()?;
            Some(page.num_values_of(count_rows(&read.task.as_ref()?.rows)))
        };
        self.pages.iter().filter_map(of_page).fold(0, u64::saturating_add)
    }

    fn decode(&mut self, fetched: &[Bytes], scratch: &mut Scratch) -> Result<()> {
        let mut rest = fetched;
        for read in &self.pages {
            let page = self.column.page(read.page)?;
            let (Some(index), Some(task)) = (&read.index, &read.task) else { continue };
            let Some((bytes, later)) = rest.split_at_checked(task.spans.len()) else {
                return Err(Error::corrupt("a read returned too few buffers"));
            };
            rest = later;
            page.decode(index, task, bytes, &mut self.sink, scratch).in_page(page.number)?;
        }
        Ok(())
    }
}

/// What a sink has collected.
pub(super) fn leaf_column(sink: LeafSink) -> Result<LeafColumn> {
    let values = match sink.values {
        SinkValues::Plain(values) => LeafValues::Plain(values),
        SinkValues::Dictionary(values) => {
            LeafValues::Dictionary { keys: values.keys, dictionary: values.dictionary }
        }
        SinkValues::Blob(_) => return Err(Error::corrupt("blobs without their payloads")),
    };
    Ok(LeafColumn { values, layers: sink.assembler.finish()?, pool: sink.pool })
}

/// The pages that hold the rows, with the rows counted from the start of each page.
fn pages_of(column: &FileColumn, leaf: &LeafColumnType, rows: &[Range<u64>]) -> Vec<PageRead> {
    let mut pages: Vec<PageRead> = Vec::new();
    let mut first = 0_usize;
    for range in rows {
        let (mut start, end) = (leaf.first_entry(range.start), leaf.first_entry(range.end));
        // Ranges are sorted, so pages that lie before one lie before all later ones.
        let later = column.pages.get(first.saturating_add(1)..).unwrap_or_default();
        let passed = later.iter().take_while(|page| page.first_row <= start).count();
        first = first.saturating_add(passed);
        for (number, page) in column.pages.iter().enumerate().skip(first) {
            if start >= end || page.first_row >= end {
                break;
            }
            let page_end = page.first_row.saturating_add(page.num_rows);
            let stop = end.min(page_end);
            let local = start.saturating_sub(page.first_row)..stop.saturating_sub(page.first_row);
            start = stop;
            match pages.last_mut() {
                Some(read) if read.page == number => read.rows.push(local),
                _ => pages.push(PageRead {
                    page: number,
                    rows: vec![local],
                    index: None,
                    data: None,
                    task: None,
                }),
            }
        }
    }
    pages
}

fn next(bytes: &mut impl Iterator<Item = Bytes>) -> Result<Bytes> {
    bytes.next().ok_or_else(|| Error::corrupt("a read returned too few buffers"))
}
