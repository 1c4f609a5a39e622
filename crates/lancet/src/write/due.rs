//! Pages that are due: rows on their way from the columns to the file.
//!
//! They are encoded in rounds, each of as many pages as the memory limit has room for, and written in
//! the order of the columns.

use std::collections::VecDeque;
use std::sync::Arc;

use arrow_array::ArrayRef;
use bytes::Bytes;

use super::array_pages::LeafPlan;
use super::column::ColumnPlan;
use super::entries::PageEntries;
use super::options::{ENCODING_FACTOR, WriteOptions};
use super::summary::{ExplainedPage, PageSummary};
use crate::error::Result;
use crate::levels::LeafPiece;
use crate::page_v2_0::encode::{self, EncodedArray};
use crate::parallel::in_parallel;
use crate::proto::any;

/// Fewer bytes are encoded on one thread: they take some 600 us, at the 100 MB/s of numbers and strings
/// that hardly compress.
const PARALLEL_BYTES: u64 = 64 << 10;

/// Rows of a column that become a page, or several if one cannot hold them.
#[derive(Debug)]
pub(super) struct DuePage {
    pub(super) column: usize,
    /// About how many bytes they are.
    pub(super) bytes: u64,
    pub(super) rows: DueRows,
}

/// Rows, and how they are encoded.
#[derive(Debug)]
pub(super) enum DueRows {
    Layout { plan: Arc<ColumnPlan>, roots: Vec<ArrayRef>, pieces: Vec<LeafPiece> },
    Array { plan: Arc<LeafPlan>, arrays: Vec<ArrayRef> },
    Lists { lengths: Vec<u64>, valid: Vec<bool> },
    Blobs(Vec<[u64; 2]>),
    Structs(u64),
}

/// A page that is encoded, with what to say about it.
pub(super) struct ReadyPage {
    pub(super) buffers: Vec<Bytes>,
    pub(super) num_rows: u64,
    /// Whether the file tells at which row it starts.
    pub(super) is_placed: bool,
    pub(super) encoding: Vec<u8>,
    pub(super) summary: PageSummary,
}

/// What became of a due page.
pub(super) struct ReadyPages {
    pub(super) column: usize,
    pub(super) pages: Vec<ReadyPage>,
    pub(super) entries: PageEntries,
}

impl DuePage {
    fn encode(self) -> Result<ReadyPages> {
        let mut entries = PageEntries::default();
        let pages = match self.rows {
            DueRows::Layout { plan, roots, pieces } => {
                let mut pages = Vec::new();
                plan.encode(&roots, &pieces, &mut entries, &mut pages)?;
                pages.into_iter().map(ReadyPage::from).collect()
            }
            DueRows::Array { plan, arrays } => {
                let mut pages = Vec::new();
                plan.encode(&arrays, &mut entries, &mut pages)?;
                pages.into_iter().map(ReadyPage::from).collect()
            }
            DueRows::Lists { lengths, valid } => vec![encode::lists(&lengths, &valid).into()],
            DueRows::Blobs(descriptions) => vec![encode::blobs(&descriptions).into()],
            DueRows::Structs(rows) => vec![encode::structs(rows).into()],
        };
        Ok(ReadyPages { column: self.column, pages, entries })
    }
}

/// Encodes pages and hands them on, in their order.
pub(super) fn encode_all(
    due: Vec<DuePage>,
    options: &WriteOptions,
    mut ready: impl FnMut(ReadyPages) -> Result<()>,
) -> Result<()> {
    let bytes = due.iter().map(|page| page.bytes).fold(0, u64::saturating_add);
    let threads = options.threads_for(bytes, PARALLEL_BYTES);
    let mut due = VecDeque::from(due);
    while !due.is_empty() {
        let (round, threads) = next_round(&mut due, options.encoding_limit(), threads);
        in_parallel(threads, round, DuePage::encode)?.into_iter().try_for_each(&mut ready)?;
    }
    Ok(())
}

/// The pages that are encoded together, at least one, and on how many threads: their own bytes and what
/// encoding takes on each thread stay within the limit. Half of it is for threads.
fn next_round(due: &mut VecDeque<DuePage>, limit: u64, threads: usize) -> (Vec<DuePage>, usize) {
    let (mut round, mut bytes, mut largest, mut fitting) = (Vec::new(), 0_u64, 0_u64, threads);
    while let Some(page) = due.front() {
        let (more, scratch) = (bytes.saturating_add(page.bytes), largest.max(page.bytes));
        let scratch_of_thread = scratch.saturating_mul(ENCODING_FACTOR);
        let fits = (limit / 2).checked_div(scratch_of_thread).unwrap_or(u64::MAX);
        let threads = usize::try_from(fits).unwrap_or(usize::MAX).clamp(1, threads);
        let scratch_in_all = scratch_of_thread.saturating_mul(threads as u64);
        if !round.is_empty() && more.saturating_add(scratch_in_all) > limit {
            break;
        }
        (bytes, largest, fitting) = (more, scratch, threads);
        round.extend(due.pop_front());
    }
    (round, fitting)
}

impl From<ExplainedPage> for ReadyPage {
    fn from(ExplainedPage { page, summary }: ExplainedPage) -> Self {
        let encoding = any::wrap(&page.layout.to_message());
        let (buffers, num_rows) = (page.buffers, page.num_rows);
        Self { buffers, num_rows, is_placed: true, encoding, summary }
    }
}

impl From<EncodedArray> for ReadyPage {
    fn from(page: EncodedArray) -> Self {
        let (encoding, num_rows) = (any::wrap(&page.message), page.num_rows);
        let summary = PageSummary::of_array(&page);
        let buffers = page.buffers.into_iter().map(Bytes::from).collect();
        Self { buffers, num_rows, is_placed: false, encoding, summary }
    }
}

#[cfg(test)]
#[path = "due_tests.rs"]
mod tests;
