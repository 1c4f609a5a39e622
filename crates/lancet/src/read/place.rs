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
use std::sync::Arc;

use bytes::{Bytes, BytesMut};

use super::request::{LayoutRequest, LeafRead, PARALLEL_BYTES, PageRead, Stage};
use super::source::FileSource;
use crate::codec::Scratch;
use crate::error::Result;
use crate::page::full_zip::PlacedRows;
use crate::page::{LeafSink, count_rows};
use crate::parallel::in_parallel_mut;
use crate::pool::Pool;
use crate::span::Span;

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
    pub(super) fn place_values(&mut self, source: &Arc<FileSource>) -> Result<()> {
        // Checksums are those of spans as a whole.
        if self.stage != Stage::Data || self.file.checksums.is_some() {
            return Ok(());
        }
        let pool = &self.file.pool;
        let mut any = false;
        for (leaf, read) in self.projection.leaves.iter().zip(&mut self.leaves) {
            let Some(pages) = placed_rows(read) else { continue };
            let (heads, values) = read_rows(source, pool, &pages, self.threads)?;
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
        num_bytes = num_bytes.saturating_add(Span::total(&task.spans));
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
struct RowsRead {
    span: Span,
    /// The lengths of the head and of the value of each row.
    lengths: Vec<(usize, usize)>,
    heads: BytesMut,
    values: BytesMut,
}

impl RowsRead {
    fn run(&mut self, source: &FileSource) -> Result<()> {
        let mut parts = Vec::with_capacity(self.lengths.len().saturating_mul(2));
        let (mut free_heads, mut free_values) = (&mut self.heads[..], &mut self.values[..]);
        for (head, value) in &self.lengths {
            parts.push(cut(&mut free_heads, *head));
            parts.push(cut(&mut free_values, *value));
        }
        source.read_into(self.span.start(), &mut parts)
    }
}

/// The heads of the rows, and their values.
fn read_rows(
    source: &Arc<FileSource>,
    pool: &Pool,
    pages: &[PlacedRows],
    threads: usize,
) -> Result<(Vec<u8>, Vec<u8>)> {
    let mut reads = calls(pages);
    let sum = |sizes: &dyn Fn(&(usize, usize)) -> usize| {
        let lengths = reads.iter().flat_map(|read| &read.lengths);
        lengths.map(sizes).fold(0, usize::saturating_add)
    };
    let (num_heads, num_bytes) = (sum(&|(head, _)| *head), sum(&|(_, value)| *value));
    // One piece of memory in parts that threads can own, joined again without a copy.
    let mut heads = parts_of(vec![0; num_heads]);
    let mut values = parts_of(pool.take_filled(num_bytes));
    for read in &mut reads {
        let (mut head_bytes, mut value_bytes) = (0_usize, 0_usize);
        for (head, value) in &read.lengths {
            head_bytes = head_bytes.saturating_add(*head);
            value_bytes = value_bytes.saturating_add(*value);
        }
        read.heads = heads.split_to(head_bytes.min(heads.len()));
        read.values = values.split_to(value_bytes.min(values.len()));
    }
    let threads = if num_bytes >= PARALLEL_BYTES { threads } else { 1 };
    let source = source.clone();
    in_parallel_mut(threads, &mut reads, move |read| read.run(&source))?;
    let (mut all_heads, mut all_values) = (BytesMut::new(), BytesMut::new());
    for read in reads {
        all_heads.unsplit(read.heads);
        all_values.unsplit(read.values);
    }
    drop((heads, values));
    Ok((all_heads.into(), all_values.into()))
}

/// The calls that read the rows, still without memory.
fn calls(pages: &[PlacedRows]) -> Vec<RowsRead> {
    let mut reads: Vec<RowsRead> = Vec::new();
    for (span, head, value) in pages.iter().flat_map(PlacedRows::rows) {
        match reads.last_mut() {
            Some(read) if read.span.end() == span.start() && read.span.len() < CALL_BYTES => {
                read.span = Span::between(read.span.start(), span.end());
                read.lengths.push((head, value));
            }
            _ => reads.push(RowsRead {
                span,
                lengths: vec![(head, value)],
                heads: BytesMut::new(),
                values: BytesMut::new(),
            }),
        }
    }
    reads
}

fn parts_of(memory: Vec<u8>) -> BytesMut {
    Bytes::from(memory).into()
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
