//! Several batches of narrow rows, read at once and cut apart.
//!
//! ```text
//! read      │ 1 │ 2 · 3 │ 4 · 5 · 6 · 7 │ 8 · …       windows, ever longer ones
//! given      1   2   3   4   5   6   7   8            batches, as if each had been read alone
//! ```
//!
//! To find out what to read, and to hand it from one thread to another, costs as much for a few rows as for many. A column of
//! numbers below 5,000 takes 0.25 ms a million rows this way instead of 0.46.
//!
//! How wide rows are in memory is known once some of them were read. Batches of wide ones have fewer rows from then on.

use std::collections::VecDeque;
use std::sync::Arc;

use arrow_array::RecordBatch;

use super::batch::read_batch;
use super::source::Source;
use crate::error::{Error, Result};
use crate::read::order::size_of;
use crate::read::scan_plan::{ScanReads, ScanRequests};
use crate::rows::RowRanges;
use crate::span::Span;

/// Bytes of a window in memory, about: what is decoded stays in reach of a core's caches.
const WINDOW_BYTES: u64 = 512 << 10;
/// Batches of a window, at most.
const MOST_BATCHES: u64 = 16;
/// A window may take so many times the bytes of a batch, and so many in any case: rows that are wider than those before them
/// are read batch by batch.
const MOST_TIMES: u64 = 4;
const ROOM: u64 = 8 << 20;

/// Where rows may turn out to be many times as wide as they are in the file, the first batch is so much shorter.
const FIRST_PART: u64 = 8;
/// Text may take so many times the bytes that it has in the file.
const TEXT_GROWS: u64 = 10;
/// After so many windows only one in so many is looked at.
const LOOKS: u64 = 8;

/// How long the windows of a scan are.
#[derive(Debug)]
pub(super) struct Windows {
    /// Rows of a batch, at most.
    most_rows: u64,
    /// Rows of the next batches: fewer where they turned out to be wide.
    batch_rows: u64,
    batch_bytes: u64,
    /// Batches of the next window.
    num: u64,
    /// Batches that a window may have.
    most: u64,
    /// Windows that were read.
    num_read: u64,
    /// Whether those that were read tell of the next ones.
    learns: bool,
}

impl Windows {
    /// Windows of a scan on so many threads, which all are to have something to do.
    pub(super) fn new(requests: &ScanRequests, threads: usize) -> Self {
        let (most_rows, batch_bytes) = (requests.batch_rows.max(1), requests.batch_bytes);
        let num_batches = requests.num_rows.div_ceil(most_rows);
        let threads = u64::try_from(threads).unwrap_or(u64::MAX);
        let shared = match threads {
            0 | 1 => MOST_BATCHES,
            _ => num_batches.checked_div(threads.saturating_mul(4)).unwrap_or(1),
        };
        let bytes = requests.row_bytes.saturating_mul(most_rows);
        let learns = !requests.reads.has_filter() && !requests.reads.has_blobs();
        let most = if requests.may_join() { shared.clamp(1, fitting(bytes)) } else { 1 };
        // Short batches of many columns read the same chunks again, so that it has to be worth its while.
        let text = requests.reads.text_bytes().saturating_mul(TEXT_GROWS - 1);
        let may_be = requests.row_bytes.saturating_add(text).saturating_mul(most_rows);
        let is_a_guess = learns && may_be > batch_bytes.saturating_mul(MOST_TIMES);
        let batch_rows = if is_a_guess { most_rows.div_ceil(FIRST_PART) } else { most_rows };
        // Whoever asks for one batch only does not wait for more of them.
        Self { most_rows, batch_rows, batch_bytes, num: 1, most, num_read: 0, learns }
    }

    /// The rows of the next window.
    pub(super) fn next_rows(&self, requests: &mut ScanRequests) -> Option<RowRanges> {
        requests.set_batch_rows(self.batch_rows.saturating_mul(self.num));
        requests.next_rows()
    }

    /// The rows and bytes of a batch, at most. Only batches of so many rows are read several at once.
    pub(super) fn of_batch(&self) -> (u64, u64) {
        (self.most_rows, self.batch_bytes)
    }

    /// Has the next windows be longer or shorter, as those fit that were read. Returns how many bytes the next one has,
    /// about, if there was something to be learnt.
    pub(super) fn learn(&mut self, window: &Window) -> Option<u64> {
        if !window.apart.is_empty() {
            // Rows may be wide from here on: each batch is one, and the next ones are looked at.
            (self.num, self.most, self.num_read) = (1, 1, 0);
            return Some(u64::MAX);
        }
        self.num_read = self.num_read.saturating_add(1);
        // What is wrong with a window of several batches is wrong many times.
        let is_one = self.num == 1;
        if !self.learns || is_one && self.num_read > LOOKS && !self.num_read.is_multiple_of(LOOKS) {
            return None;
        }
        let Some(Ok(first)) = window.batches.front() else { return None };
        let num_rows = u64::try_from(first.num_rows()).unwrap_or(u64::MAX);
        if num_rows.saturating_mul(2) < self.batch_rows {
            // What is left at an end: most of its bytes are not those of rows.
            return None;
        }
        let sizes = first.columns().iter().map(|c| size_of(&c.to_data(), 0, first.num_rows()));
        let bytes = sizes.fold(0, u64::saturating_add);
        let row_bytes = bytes.checked_div(num_rows).unwrap_or(0).max(1);
        let fitting_rows = self.batch_bytes.checked_div(row_bytes).unwrap_or(0).max(1);
        let batch_bytes = row_bytes.saturating_mul(self.batch_rows);
        if batch_bytes > self.batch_bytes.saturating_mul(3) / 2 {
            (self.batch_rows, self.num) = (fitting_rows.min(self.most_rows), 1);
        } else if self.batch_rows < self.most_rows {
            let more = self.batch_rows.saturating_mul(2).min(fitting_rows).min(self.most_rows);
            self.batch_rows = self.batch_rows.max(more);
        } else {
            self.num = self.num.saturating_mul(2).min(fitting(batch_bytes)).min(self.most);
        }
        Some(row_bytes.saturating_mul(self.batch_rows).saturating_mul(self.num))
    }
}

/// How many batches of so many bytes make up a window.
fn fitting(batch_bytes: u64) -> u64 {
    WINDOW_BYTES.checked_div(batch_bytes).unwrap_or(u64::MAX).clamp(1, MOST_BATCHES)
}

/// The batches of a window that was read.
#[derive(Debug)]
pub(super) struct Window {
    pub(super) batches: VecDeque<Result<RecordBatch>>,
    /// Its rows, if they have to be read batch by batch.
    pub(super) apart: RowRanges,
}

impl Window {
    /// Reads a window of batches that have so many rows and bytes. `tell_next` is called as by [`read_batch`].
    pub(super) fn read(
        source: &dyn Source,
        reads: &Arc<ScanReads>,
        rows: RowRanges,
        (batch_rows, batch_bytes): (u64, u64),
        is_announced: bool,
        tell_next: impl FnMut(&[Span]),
    ) -> Self {
        let is_one = rows.count() <= batch_rows;
        let apart = if is_one { RowRanges::new() } else { rows.clone() };
        let room = batch_bytes.saturating_mul(MOST_TIMES).max(ROOM);
        let most = if is_one { u64::MAX } else { room };
        let error = match read_batch(source, reads, rows, most, is_announced, tell_next) {
            Ok(window) => return Self::cut(window, batch_rows),
            Err(error) => error,
        };
        if is_one || matches!(error, Error::Io { .. }) {
            return Self::failed(error);
        }
        // Batches before the one in which something is wrong are given, and a limit is one of each batch. Nor are wide rows
        // to lie in memory together.
        Self { batches: VecDeque::new(), apart }
    }

    /// Nothing was read.
    pub(super) fn failed(error: Error) -> Self {
        Self { batches: [Err(error)].into(), apart: RowRanges::new() }
    }

    fn cut(window: RecordBatch, batch_rows: u64) -> Self {
        let step = usize::try_from(batch_rows).unwrap_or(usize::MAX);
        let len = window.num_rows();
        if len <= step {
            return Self { batches: [Ok(window)].into(), apart: RowRanges::new() };
        }
        let starts = (0..len).step_by(step);
        let cut = |start: usize| Ok(window.slice(start, step.min(len.saturating_sub(start))));
        Self { batches: starts.map(cut).collect(), apart: RowRanges::new() }
    }
}
