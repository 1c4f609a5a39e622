//! One page of one leaf column: how its buffers are laid out, which bytes a set of rows needs,
//! and how those bytes become levels and values. Pages plan and decode; they never read.
//!
//! ```text
//! Page { layout, buffers } ──index_spans──► bytes ──parse_index──► PageIndex (cacheable)
//!      ──plan(rows)──► PageTask { spans } ──► bytes ──decode──► LeafSink
//! ```
//!
//! Rows are sorted, disjoint, non-empty ranges, counted from the start of the page.
#![cfg_attr(
    not(test),
    deny(
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects,
        clippy::cast_possible_truncation
    )
)]

pub(crate) mod blob;
pub(crate) mod constant;
mod describe;
pub(crate) mod dictionary;
pub(crate) mod encode;
mod encodings;
pub(crate) mod full_zip;
pub(crate) mod layout;
pub(crate) mod mini_block;
pub(crate) mod rules;
#[cfg(test)]
pub(crate) mod sample_pages;
mod sink;
#[cfg(test)]
pub(crate) mod test_pages;

use std::ops::Range;

use bytes::Bytes;

pub(crate) use layout::Layout;
pub(crate) use sink::{LeafSink, SinkValues};

use crate::codec::Scratch;
use crate::error::{Result, ensure};
use crate::levels::Layer;
use crate::schema::leaves::LeafType;
use crate::span::Span;

/// A page: its checked description and where its buffers lie in the file.
#[derive(Debug)]
pub(crate) struct Page {
    /// Number of the page in the column, as stored.
    pub(crate) number: u32,
    /// Number of the page's first row in the column.
    pub(crate) first_row: u64,
    /// Rows of the page.
    pub(crate) num_rows: u64,
    /// Spans of the buffers in the file.
    pub(crate) buffers: Vec<Span>,
    /// What the buffers hold.
    pub(crate) layout: Layout,
}

/// What must be known about a page before single rows can be found in it.
#[derive(Debug)]
pub(crate) enum PageIndex {
    MiniBlock(mini_block::MiniBlockIndex),
    FullZip(full_zip::FullZipIndex),
    Constant(constant::ConstantIndex),
}

/// Work on one page: the rows wanted and the spans of the file that hold them.
#[derive(Debug)]
pub(crate) struct PageTask {
    pub(crate) rows: Vec<Range<u64>>,
    pub(crate) spans: Vec<Span>,
    /// For mini-block pages: the chunks of each span.
    chunks: Vec<Range<usize>>,
    /// For full-zip pages: only the heads of the rows come as bytes, one row a span; their values
    /// are in the sink.
    placed: bool,
}

impl Page {
    /// The buffers that [`Page::parse_index`] needs; often none.
    pub(crate) fn index_spans(&self) -> Vec<Span> {
        let buffers = match &self.layout {
            Layout::MiniBlock(layout) => layout.index_buffers(),
            Layout::Blob(layout) => layout.inner.index_buffers(),
            Layout::FullZip(layout) => layout.index_buffers(),
            Layout::Constant(_) => (0..self.buffers.len()).collect(),
        };
        buffers.into_iter().filter_map(|i| self.buffers.get(i).copied()).collect()
    }

    /// About how many values some rows have: rather too many than too few.
    pub(crate) fn num_values_of(&self, num_rows: u64) -> u64 {
        let num_values = match &self.layout {
            Layout::MiniBlock(layout) if layout.rep.is_some() => layout.num_values,
            Layout::FullZip(layout) if layout.bits_rep > 0 => layout.num_values,
            _ => return num_rows,
        };
        let mean = num_rows.saturating_mul(num_values).checked_div(self.num_rows).unwrap_or(0);
        mean.saturating_add(mean / 16)
    }

    /// Whether all rows are the same and none has bytes, so that there may be any number of them.
    pub(crate) fn rows_are_alike(&self) -> bool {
        match &self.layout {
            Layout::Constant(layout) => {
                let has_levels = |layer: &Layer| layer.is_list() || layer.num_def_levels() > 0;
                !layout.has_levels || !layout.layers.iter().any(has_levels)
            }
            Layout::FullZip(layout) => full_zip::row_bytes(layout) == Some(0),
            Layout::MiniBlock(_) | Layout::Blob(_) => false,
        }
    }

    /// Whether the bytes of rows may be their values as Arrow has them.
    pub(crate) fn may_share(&self) -> bool {
        matches!(&self.layout, Layout::FullZip(layout)
            if full_zip::row_bytes(layout).is_some() && layout.control_bytes() == 0)
    }

    /// The buffer that holds the values of all rows; none where they come with the index.
    pub(crate) fn data_span(&self) -> Option<Span> {
        match &self.layout {
            Layout::MiniBlock(_) | Layout::Blob(_) => self.buffers.get(1).copied(),
            Layout::FullZip(_) => self.buffers.first().copied(),
            Layout::Constant(_) => None,
        }
    }

    /// Parses the bytes of [`Page::index_spans`].
    pub(crate) fn parse_index(
        &self,
        leaf: &LeafType,
        buffers: &[Bytes],
        scratch: &mut Scratch,
    ) -> Result<PageIndex> {
        match &self.layout {
            Layout::MiniBlock(layout) => {
                mini_block::MiniBlockIndex::parse(self, layout, &leaf.values, buffers, scratch)
                    .map(PageIndex::MiniBlock)
            }
            Layout::Blob(layout) => mini_block::MiniBlockIndex::parse(
                self,
                &layout.inner,
                &blob::description_type(),
                buffers,
                scratch,
            )
            .map(PageIndex::MiniBlock),
            Layout::FullZip(layout) => {
                full_zip::FullZipIndex::parse(self, layout, buffers).map(PageIndex::FullZip)
            }
            Layout::Constant(layout) => {
                constant::ConstantIndex::parse(self, layout, leaf, buffers, scratch)
                    .map(PageIndex::Constant)
            }
        }
    }

    /// Which spans of the file the rows need.
    pub(crate) fn plan(&self, index: &PageIndex, rows: Vec<Range<u64>>) -> Result<PageTask> {
        let (spans, chunks) = match (index, &self.layout) {
            (PageIndex::MiniBlock(index), _) => index.plan(self, &rows)?,
            (PageIndex::FullZip(index), Layout::FullZip(layout)) => {
                (index.plan(self, layout, &rows)?, Vec::new())
            }
            _ => (Vec::new(), Vec::new()),
        };
        Ok(PageTask { rows, spans, chunks, placed: false })
    }

    /// The rows of a task one by one, cut into heads and values; none unless the values are stored as
    /// they are and the index tells how long each one is.
    pub(crate) fn place(&self, index: &PageIndex, task: &PageTask) -> Option<full_zip::PlacedRows> {
        match (index, &self.layout) {
            (PageIndex::FullZip(index), Layout::FullZip(layout)) => {
                full_zip::PlacedRows::new(self, layout, index, &task.rows)
            }
            _ => None,
        }
    }

    /// Decodes the bytes of a task's spans and appends its rows to the sink.
    pub(crate) fn decode(
        &self,
        index: &PageIndex,
        task: &PageTask,
        fetched: &[Bytes],
        sink: &mut LeafSink,
        scratch: &mut Scratch,
    ) -> Result<()> {
        ensure!(fetched.len() == task.spans.len(), "a read returned too few buffers");
        match (index, &self.layout) {
            (PageIndex::MiniBlock(index), Layout::MiniBlock(layout)) => {
                index.decode(layout, task, fetched, sink, scratch)
            }
            (PageIndex::MiniBlock(index), Layout::Blob(layout)) => {
                blob::decode(index, layout, task, fetched, sink, scratch)
            }
            (PageIndex::FullZip(_), Layout::FullZip(layout)) => {
                full_zip::decode(layout, task, fetched, sink, scratch)
            }
            (PageIndex::Constant(index), Layout::Constant(layout)) => {
                index.decode(layout, task, sink, scratch)
            }
            _ => Err(crate::Error::corrupt("the page index belongs to another layout")),
        }
    }
}

impl PageIndex {
    /// Bytes the index holds in memory.
    pub(crate) fn size_bytes(&self) -> usize {
        std::mem::size_of::<Self>().saturating_add(match self {
            Self::MiniBlock(index) => index.size_bytes(),
            Self::FullZip(index) => index.size_bytes(),
            Self::Constant(index) => index.size_bytes(),
        })
    }
}

/// The part of `rows` inside `window`, shifted so that the window starts at 0.
fn clip(rows: &[Range<u64>], window: Range<u64>, out: &mut Vec<Range<usize>>) {
    out.clear();
    let first = rows.partition_point(|r| r.end <= window.start);
    for range in rows.get(first..).unwrap_or_default() {
        if range.start >= window.end {
            break;
        }
        let start = range.start.max(window.start).saturating_sub(window.start);
        let end = range.end.min(window.end).saturating_sub(window.start);
        if let (Ok(start), Ok(end)) = (usize::try_from(start), usize::try_from(end)) {
            out.push(start..end);
        }
    }
}

/// Number of rows in sorted, disjoint ranges.
pub(crate) fn count_rows(rows: &[Range<u64>]) -> u64 {
    rows.iter().map(|r| r.end.saturating_sub(r.start)).fold(0, u64::saturating_add)
}

#[cfg(test)]
#[path = "page_tests.rs"]
mod tests;
