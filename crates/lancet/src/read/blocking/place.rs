//! Long values, read to where they belong in the result.
//!
//! Where a read tells how long each value is before it is read, long ones are read right to their places, on
//! all threads, and only the heads of the rows (control words and lengths) are decoded:
//!
//! ```text
//! file     … head value … head value head value …
//!               │    │       │    │     │    │        one read where rows are neighbours
//! memory   heads: head head head     values: value value value
//! ```
//!
//! Only files on disk are read so; other sources are asked for spans.

use std::io::IoSliceMut;
use std::sync::Arc;

use arrow_array::RecordBatch;
use bytes::{Bytes, BytesMut};

use super::disk::FileSource;
use super::{FileReader, run};
use crate::error::Result;
use crate::parallel::in_parallel_mut;
use crate::pool::Pool;
use crate::read::layouts::LongValues;
use crate::read::request::Machine;
use crate::read::rows_read::RowsRead;
use crate::span::Span;

/// A call reads about this many bytes at most, so that there is work for all threads.
const CALL_BYTES: u64 = 512 << 10;
/// Fewer bytes are read on the calling thread.
const PARALLEL_BYTES: usize = 1 << 20;

impl FileReader {
    /// Drives a read of rows.
    pub(super) fn run_rows(&self, read: RowsRead) -> Result<RecordBatch> {
        self.run_rows_then(read, |_| {})
    }

    /// The same; if its source has waited, `tell_next` is called with the spans of the rows before they are decoded.
    pub(super) fn run_rows_then(
        &self,
        mut read: RowsRead,
        mut tell_next: impl FnMut(&[Span]),
    ) -> Result<RecordBatch> {
        if self.file.checksums.is_some() {
            // Checksums are those of blocks, of which values are parts.
            return run(self.source.as_ref(), self.file.request_rows(read));
        }
        while !read.spans().is_empty() {
            if let Some(disk) = &self.disk {
                read_long_values(disk, &mut read)?;
            }
            let bytes = self.source.read_scattered(read.spans())?;
            if read.brings_rows() && self.source.has_waited() {
                tell_next(read.spans());
            }
            read.supply(bytes)?;
        }
        read.batch()
    }
}

/// Reads the long values of a round; their spans are then no longer asked for.
fn read_long_values(disk: &Arc<FileSource>, read: &mut RowsRead) -> Result<()> {
    for rows in read.long_values() {
        let (heads, values) = read_rows(disk, read.pool(), &rows, read.threads())?;
        read.supply_long_values(&rows, heads.into(), values)?;
    }
    Ok(())
}

/// One call: rows that are neighbours in the file, as heads and values in turn.
struct PlacedRead {
    span: Span,
    /// The lengths of the head and of the value of each row.
    lengths: Vec<(usize, usize)>,
    heads: BytesMut,
    values: BytesMut,
}

impl PlacedRead {
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
    rows: &LongValues,
    threads: usize,
) -> Result<(Vec<u8>, Vec<u8>)> {
    let mut reads = calls(rows.rows());
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
    let ahead = match reads.len() {
        0 | 1 => None,
        _ => source.ahead(&reads.iter().map(|read| read.span).collect::<Vec<_>>()),
    };
    let threads = if num_bytes >= PARALLEL_BYTES { threads } else { 1 };
    let source = source.clone();
    in_parallel_mut(threads, &mut reads, move |read| {
        if let Some(ahead) = &ahead {
            ahead.pass(&source.file, read.span.start());
        }
        read.run(&source)
    })?;
    let (mut all_heads, mut all_values) = (BytesMut::new(), BytesMut::new());
    for read in reads {
        all_heads.unsplit(read.heads);
        all_values.unsplit(read.values);
    }
    drop((heads, values));
    Ok((all_heads.into(), all_values.into()))
}

/// The calls that read the rows, still without memory.
fn calls(rows: impl Iterator<Item = (Span, usize, usize)>) -> Vec<PlacedRead> {
    let mut reads: Vec<PlacedRead> = Vec::new();
    for (span, head, value) in rows {
        match reads.last_mut() {
            Some(read) if read.span.end() == span.start() && read.span.len() < CALL_BYTES => {
                read.span = read.span.to(&span);
                read.lengths.push((head, value));
            }
            _ => reads.push(PlacedRead {
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

#[cfg(test)]
#[path = "place_tests.rs"]
mod tests;
