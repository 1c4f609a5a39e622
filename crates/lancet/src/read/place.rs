//! Long values, read to where they belong in the result.
//!
//! A page of strings that lie there as they are has an index that tells how long each value is before
//! anything is read. Where values are long, each is read right to its place, on all threads, and only
//! the heads of the rows (control words and lengths) are decoded:
//!
//! ```text
//! file     … head value … head value head value …
//!               │    │       │    │     │    │        one read where rows are neighbours
//! memory   heads: head head head     values: value value value
//! ```
//!
//! Only the blocking reader does so, for takes from files on disk; other drivers read spans.
//!
//! Heads that say something else than the index are no error here: the rows are then read and decoded
//! as all others are, which tells what is wrong.

use std::io::IoSliceMut;
use std::ops::Range;

use bytes::Bytes;

use super::request::{LayoutRequest, LeafRead, PARALLEL_BYTES, PageRead, Stage};
use super::source::FileSource;
use crate::codec::Scratch;
use crate::error::Result;
use crate::page::full_zip::PlacedRows;
use crate::page::{LeafSink, count_rows};
use crate::parallel::in_parallel;
use crate::pool::Pool;

/// Shorter values, on average, are read together and copied: calls cost more than that.
const LONG_BYTES: u64 = 4 << 10;
/// Fewer bytes are not worth the preparations.
const MIN_BYTES: u64 = 64 << 10;
/// A call reads about this many bytes at most, so that there is work for all threads.
const CALL_BYTES: u64 = 512 << 10;
/// More bytes may be more than offsets can count, which the usual way tells.
const MAX_BYTES: u64 = i32::MAX as u64;

impl LayoutRequest {
    /// Reads the long values of the round, and takes their spans from those that are to be read.
    pub(super) fn place_values(&mut self, source: &FileSource) -> Result<()> {
        // Checksums are those of spans as a whole.
        if self.stage != Stage::Data || self.file.checksums.is_some() {
            return Ok(());
        }
        let pool = &self.file.pool;
        let mut any = false;
        for (leaf, read) in self.projection.leaves.iter().zip(&mut self.leaves) {
            let Some(pages) = placed_rows(read) else { continue };
            let (heads, values) = read_rows(source, pool, &pages)?;
            read.sink.place(values, pool);
            if decode(read, &pages, heads, &mut Scratch::sharing(&self.budget)).is_ok() {
                read.pages.clear();
                any = true;
            } else {
                read.sink = LeafSink::new(&leaf.leaf)?;
            }
        }
        if any {
            self.spans = self.data_spans();
        }
        Ok(())
    }
}

/// The rows of a leaf, if its values are to be read to their places.
fn placed_rows(read: &LeafRead) -> Option<Vec<PlacedRows>> {
    let (mut num_rows, mut num_bytes) = (0_u64, 0_u64);
    for page in &read.pages {
        let task = page.task.as_ref().filter(|_| page.data.is_none())?;
        num_rows = num_rows.saturating_add(count_rows(&task.rows));
        num_bytes = num_bytes.saturating_add(count_rows(&task.spans));
    }
    let long = num_rows.saturating_mul(LONG_BYTES).max(MIN_BYTES)..=MAX_BYTES;
    if !long.contains(&num_bytes) {
        return None;
    }
    let place = |read: &LeafRead, page: &PageRead| {
        read.column.page(page.page).ok()?.place(page.index.as_deref()?, page.task.as_ref()?)
    };
    read.pages.iter().map(|page| place(read, page)).collect()
}

/// One call: rows that are neighbours in the file, as heads and values in turn.
struct RowsRead<'a> {
    span: Range<u64>,
    parts: Vec<IoSliceMut<'a>>,
}

/// The heads of the rows, and their values.
fn read_rows(source: &FileSource, pool: &Pool, pages: &[PlacedRows]) -> Result<(Vec<u8>, Vec<u8>)> {
    let rows = || pages.iter().flat_map(PlacedRows::rows);
    let sum = |a: usize, b: usize| a.saturating_add(b);
    let mut heads = vec![0; rows().map(|(_, head, _)| head).fold(0, sum)];
    let mut values = pool.take_filled(rows().map(|(_, _, value)| value).fold(0, sum));
    let num_bytes = values.len();
    let mut reads: Vec<RowsRead<'_>> = Vec::new();
    let (mut free_heads, mut free_values) = (heads.as_mut_slice(), values.as_mut_slice());
    for (span, head, value) in rows() {
        let parts = [cut(&mut free_heads, head), cut(&mut free_values, value)];
        match reads.last_mut() {
            Some(read)
                if read.span.end == span.start
                    && read.span.end.saturating_sub(read.span.start) < CALL_BYTES =>
            {
                read.span.end = span.end;
                read.parts.extend(parts);
            }
            _ => reads.push(RowsRead { span: span.clone(), parts: parts.into() }),
        }
    }
    let run = |mut read: RowsRead<'_>| source.read_into(read.span.start, &mut read.parts);
    if num_bytes >= PARALLEL_BYTES {
        in_parallel(reads, run)?;
    } else {
        reads.into_iter().try_for_each(run)?;
    }
    Ok((heads, values))
}

/// The first `len` bytes of what is free.
fn cut<'a>(free: &mut &'a mut [u8], len: usize) -> IoSliceMut<'a> {
    let all = std::mem::take(free);
    let (part, rest) = all.split_at_mut(len.min(all.len()));
    *free = rest;
    IoSliceMut::new(part)
}

fn decode(
    read: &mut LeafRead,
    pages: &[PlacedRows],
    heads: Vec<u8>,
    scratch: &mut Scratch,
) -> Result<()> {
    let mut heads = Bytes::from(heads);
    for (page_read, rows) in read.pages.iter().zip(pages) {
        let page = read.column.page(page_read.page)?;
        let Some(index) = &page_read.index else { continue };
        let rows_heads = rows.rows().map(|(_, head, _)| heads.split_to(head.min(heads.len())));
        let fetched: Vec<Bytes> = rows_heads.collect();
        page.decode(index, &rows.task, &fetched, &mut read.sink, scratch)?;
    }
    Ok(())
}

#[cfg(test)]
#[path = "place_tests.rs"]
mod tests;
