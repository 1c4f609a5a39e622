//! The pages of one column that a read needs.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;

use super::columns::FileColumn;
use crate::codec::Scratch;
use crate::error::{Error, Locate, Result};
use crate::page::{LeafSink, Page, PageIndex, PageTask, SinkValues, count_rows};
use crate::rows::RowRanges;
use crate::schema::leaves::LeafColumnType;
use crate::schema::to_arrow::{LeafColumn, LeafValues};
use crate::span::Span;

/// A leaf column of a read.
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
    pub(super) rows: Vec<Range<u64>>,
    pub(super) index: Option<Arc<PageIndex>>,
    /// The data, where it is fetched together with the index.
    pub(super) data: Option<Bytes>,
    pub(super) task: Option<PageTask>,
}

impl PageRead {
    /// The data of a page of which every row is wanted.
    pub(super) fn whole(&self, page: &Page) -> Option<Span> {
        let all = [0..page.num_rows];
        page.data_span().filter(|_| self.rows == all)
    }

    /// Finds out which bytes of the page hold the rows, once its index is known.
    pub(super) fn plan(&mut self, page: &Page) -> Result<()> {
        let Some(index) = &self.index else { return Ok(()) };
        let task = page.plan(index, std::mem::take(&mut self.rows)).in_page(page.number)?;
        // A forged index may ask for less than the page.
        let fetched = page.data_span().filter(|span| [*span] == *task.spans);
        self.data.take_if(|_| fetched.is_none());
        self.task = Some(task);
        Ok(())
    }

    /// What is still to be fetched of the data.
    pub(super) fn data_spans(&self) -> &[Span] {
        match &self.task {
            Some(task) if self.data.is_none() => &task.spans,
            _ => &[],
        }
    }
}

impl LeafRead {
    /// The pages that hold the rows, with the rows counted from the start of each page.
    pub(super) fn new(
        column: Arc<FileColumn>,
        leaf: &LeafColumnType,
        rows: &RowRanges,
    ) -> Result<Self> {
        let pages = pages_of(&column, leaf, rows.ranges());
        Ok(Self { column, pages, sink: LeafSink::new(&leaf.leaf)? })
    }

    /// Whether the values may be the bytes of the one page that is read.
    pub(super) fn may_share(&self) -> bool {
        let [read] = self.pages.as_slice() else { return false };
        self.column.page(read.page).is_ok_and(Page::may_share)
    }

    /// About how many values the rows have.
    pub(super) fn num_values(&self) -> u64 {
        let of_page = |read: &PageRead| {
            let page = self.column.page(read.page).ok()?;
            Some(page.num_values_of(count_rows(&read.task.as_ref()?.rows)))
        };
        self.pages.iter().filter_map(of_page).fold(0, u64::saturating_add)
    }

    /// Takes the bytes of the data that was fetched, page by page.
    pub(super) fn take_data(&mut self, bytes: &mut impl Iterator<Item = Bytes>) -> Vec<Bytes> {
        let mut fetched = Vec::new();
        for page in &mut self.pages {
            match (page.data.take(), &page.task) {
                (Some(data), _) => fetched.push(data),
                (None, Some(task)) => fetched.extend(bytes.take(task.spans.len())),
                (None, None) => {}
            }
        }
        fetched
    }

    /// Decodes what [`LeafRead::take_data`] gave.
    pub(super) fn decode(&mut self, fetched: &[Bytes], scratch: &mut Scratch) -> Result<()> {
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
pub(in crate::read) fn leaf_column(sink: LeafSink) -> Result<LeafColumn> {
    let values = match sink.values {
        SinkValues::Plain(values) => LeafValues::Plain(values),
        SinkValues::Dictionary(values) => {
            LeafValues::Dictionary { keys: values.keys, dictionary: values.dictionary }
        }
        SinkValues::Blob(_) => return Err(Error::corrupt("blobs without their payloads")),
    };
    Ok(LeafColumn { values, layers: sink.assembler.finish()?, pool: sink.pool })
}

fn pages_of(column: &FileColumn, leaf: &LeafColumnType, rows: &[Range<u64>]) -> Vec<PageRead> {
    let mut pages: Vec<PageRead> = Vec::new();
    let mut first = 0_usize;
    for range in rows {
        let (mut start, end) = (leaf.first_entry(range.start), leaf.first_entry(range.end));
        // Ranges are sorted, so pages that lie before one lie before all later ones.
        let later = column.pages.get(first.saturating_add(1)..).unwrap_or_default();
        first = first.saturating_add(later.partition_point(|page| page.first_row <= start));
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
