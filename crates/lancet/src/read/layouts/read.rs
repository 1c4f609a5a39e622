//! Rows of columns whose metadata is loaded, to a record batch.
//!
//! Each round depends on the one before; rounds with nothing to read are skipped:
//!
//! ```text
//! page indexes ► data ► blob payloads ► record batch
//! ```
//!
//! A page that is read as a whole and whose index is not known yet gives both in one round.

use std::sync::Arc;

use arrow_array::RecordBatch;
use bytes::Bytes;

use super::columns::LayoutColumns;
use super::leaf_read::{LeafRead, PageRead, leaf_column};
use crate::budget::Budget;
use crate::codec::Scratch;
use crate::error::{Error, Locate, Result};
use crate::page::SinkValues;
use crate::parallel::in_parallel_mut;
use crate::read::file::OpenFile;
use crate::read::projection::Projection;
use crate::read::steps::check_lengths;
use crate::rows::RowRanges;
use crate::schema::to_arrow;
use crate::span::Span;

/// Decoding fewer bytes than this on several threads costs more than it gains.
const PARALLEL_BYTES: usize = 1 << 20;

/// A read of some rows in progress.
#[derive(Debug)]
pub(in crate::read) struct LayoutRead {
    pub(super) file: Arc<OpenFile>,
    pub(super) projection: Projection,
    rows: RowRanges,
    /// What the read may still hold.
    pub(super) budget: Budget,
    /// How many threads may work on it.
    threads: usize,
    pub(super) stage: Stage,
    pub(super) spans: Vec<Span>,
    pub(super) leaves: Vec<LeafRead>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    Indexes,
    Data,
    Blobs,
    Done,
}

impl LayoutRead {
    pub(in crate::read) fn new(
        file: Arc<OpenFile>,
        columns: &LayoutColumns,
        projection: Projection,
        rows: RowRanges,
        budget: Budget,
        threads: usize,
    ) -> Result<Self> {
        let mut leaves = Vec::with_capacity(projection.leaves().len());
        for leaf in projection.leaves() {
            let column = columns.get(leaf.column);
            let column = column.ok_or_else(|| Error::corrupt("a column was not loaded"))?;
            leaves.push(LeafRead::new(column, leaf, &rows)?);
        }
        let (stage, spans) = (Stage::Indexes, Vec::new());
        let mut read = Self { file, projection, rows, budget, threads, stage, spans, leaves };
        read.want_indexes()?;
        read.skip_empty_rounds()?;
        Ok(read)
    }

    /// The spans of the file whose bytes are needed next; none when the read is complete.
    pub(in crate::read) fn spans(&self) -> &[Span] {
        &self.spans
    }

    /// Whether the spans are those of rows: with the indexes of pages only whole pages come.
    pub(in crate::read) fn brings_rows(&self) -> bool {
        let is_whole = |read: &LeafRead, page_read: &PageRead| {
            let page = read.column.page(page_read.page);
            page_read.index.is_none() && page.is_ok_and(|page| page_read.whole(page).is_some())
        };
        let is_read = |read: &LeafRead| read.pages.iter().all(|page| is_whole(read, page));
        self.stage != Stage::Indexes || self.leaves.iter().all(is_read)
    }

    /// Takes the bytes of [`LayoutRead::spans`], in the same order.
    pub(in crate::read) fn supply(&mut self, bytes: Vec<Bytes>) -> Result<()> {
        check_lengths(&self.spans, &bytes)?;
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
        self.spans.clear();
        let mut bytes = bytes.into_iter();
        match self.stage {
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

    fn want_indexes(&mut self) -> Result<()> {
        let cached_index = self.file.cached_indexes();
        for (leaf, read) in self.projection.leaves().iter().zip(&mut self.leaves) {
            for page_read in &mut read.pages {
                let page = read.column.page(page_read.page)?;
                page_read.index = cached_index(leaf.column, page.number);
                if page_read.index.is_none() {
                    self.spans.extend(page.index_spans());
                    self.spans.extend(page_read.whole(page));
                }
            }
        }
        self.claim_spans("the indexes of the pages")
    }

    fn load_indexes(&mut self, bytes: &mut impl Iterator<Item = Bytes>) -> Result<()> {
        for (leaf, read) in self.projection.leaves().iter().zip(&mut self.leaves) {
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
        for (leaf, read) in self.projection.leaves().iter().zip(&mut self.leaves) {
            for page_read in &mut read.pages {
                page_read.plan(read.column.page(page_read.page)?).in_column(leaf.column)?;
            }
        }
        self.name_data_spans();
        self.claim_spans("the data of the rows")
    }

    /// The data that is still to be fetched.
    pub(super) fn name_data_spans(&mut self) {
        let pages = self.leaves.iter().flat_map(|leaf| &leaf.pages);
        self.spans.clear();
        self.spans.extend(pages.flat_map(|page| page.data_spans()));
    }

    /// Pages may share their bytes, so the size of the file does not bound what they fetch.
    fn claim_spans(&self, what: &str) -> Result<()> {
        self.budget.claim(Span::total(&self.spans), what)
    }

    fn decode(&mut self, bytes: &mut impl Iterator<Item = Bytes>) -> Result<()> {
        let budget = self.budget.clone();
        let mut total = 0_usize;
        // Room is made for what the bytes may yield, as far as the budget goes for all columns.
        let mut most = usize::try_from(budget.left()).unwrap_or(usize::MAX);
        let mut fetched_of = Vec::with_capacity(self.leaves.len());
        for read in &mut self.leaves {
            let fetched = read.take_data(bytes);
            let stored = fetched.iter().map(Bytes::len).sum();
            total = total.saturating_add(stored);
            if !read.may_share() {
                let num_values = read.num_values();
                let reserved = read.sink.reserve(num_values, stored, most, &self.file.pool);
                most = most.saturating_sub(reserved);
            }
            fetched_of.push(fetched);
        }
        let columns = self.projection.leaves().iter().map(|leaf| leaf.column);
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
        for (leaf, read) in self.projection.leaves().iter().zip(&self.leaves) {
            let SinkValues::Blob(blobs) = &read.sink.values else { continue };
            for span in blobs.spans.iter().filter(|span| !span.is_empty()) {
                if span.end() > data_end {
                    let rule = format!("a blob at {span} lies outside the data");
                    return Err(Error::corrupt(rule)).in_column(leaf.column);
                }
                if !leaf.described {
                    // Fetched, then copied into the column.
                    self.budget.claim(span.len().saturating_mul(2), "the blobs of the rows")?;
                    self.spans.push(*span);
                }
            }
        }
        Ok(())
    }

    fn fill_blobs(&mut self, bytes: &mut impl Iterator<Item = Bytes>) -> Result<()> {
        for (leaf, read) in self.projection.leaves().iter().zip(&mut self.leaves) {
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
    pub(in crate::read) fn finish(self) -> Result<RecordBatch> {
        let mut leaves = Vec::with_capacity(self.leaves.len());
        for (leaf, read) in self.projection.leaves().iter().zip(self.leaves) {
            leaves.push(leaf_column(read.sink).in_column(leaf.column)?);
        }
        let mut leaves = leaves.into_iter();
        let nodes = self.projection.nodes().iter();
        let arrays =
            nodes.map(|node| to_arrow::build(node, &mut leaves)).collect::<Result<Vec<_>>>()?;
        self.projection.batch(arrays, self.rows.count())
    }
}

fn next(bytes: &mut impl Iterator<Item = Bytes>) -> Result<Bytes> {
    bytes.next().ok_or_else(|| Error::corrupt("a read returned too few buffers"))
}
