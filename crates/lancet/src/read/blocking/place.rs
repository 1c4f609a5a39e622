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
//! Only files on disk are read so; other sources are asked for spans. Where rows are cold and near each other, what lies
//! between them is read, too, and let go.

use std::collections::HashSet;
use std::io::IoSliceMut;
use std::sync::Arc;

use arrow_array::RecordBatch;
use bytes::{Bytes, BytesMut};

use super::disk::FileSource;
use super::stream::runs;
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
    /// The lengths of what lies before each row and is not wanted, of its head and of its value.
    lengths: Vec<[usize; 3]>,
    heads: BytesMut,
    values: BytesMut,
}

impl PlacedRead {
    fn run(&mut self, source: &FileSource, pool: &Pool) -> Result<()> {
        let mut parts = Vec::with_capacity(self.lengths.len().saturating_mul(2));
        let mut gaps = pool.take_filled(sum(&self.lengths, |[gap, _, _]| *gap));
        let mut free_gaps = &mut gaps[..];
        let (mut free_heads, mut free_values) = (&mut self.heads[..], &mut self.values[..]);
        for [gap, head, value] in &self.lengths {
            if *gap > 0 {
                parts.push(cut(&mut free_gaps, *gap));
            }
            parts.push(cut(&mut free_heads, *head));
            parts.push(cut(&mut free_values, *value));
        }
        source.read_into(self.span.start(), &mut parts)?;
        pool.give_back(gaps);
        Ok(())
    }
}

/// The heads of the rows, and their values.
fn read_rows(
    source: &Arc<FileSource>,
    pool: &Arc<Pool>,
    rows: &LongValues,
    threads: usize,
) -> Result<(Vec<u8>, Vec<u8>)> {
    let mut reads = calls(rows.rows(), |_| false);
    let spans = |reads: &[PlacedRead]| reads.iter().map(|read| read.span).collect::<Vec<_>>();
    let is_cold = reads.len() > 1 && !source.has(&spans(&reads));
    if is_cold {
        let spans: Vec<Span> = rows.rows().map(|(span, ..)| span).collect();
        let runs = runs(&spans);
        let starts: HashSet<u64> =
            runs.iter().flat_map(|run| run.first()).map(Span::start).collect();
        reads = calls(rows.rows(), |span| !starts.contains(&span.start()));
    }
    let ahead = is_cold.then(|| source.ahead(&spans(&reads)));
    let (mut num_heads, mut num_bytes) = (0_usize, 0_usize);
    for read in &reads {
        num_heads = num_heads.saturating_add(sum(&read.lengths, |[_, head, _]| *head));
        num_bytes = num_bytes.saturating_add(sum(&read.lengths, |[_, _, value]| *value));
    }
    // One piece of memory in parts that threads can own, joined again without a copy.
    let mut heads = parts_of(vec![0; num_heads]);
    let mut values = parts_of(pool.take_filled(num_bytes));
    for read in &mut reads {
        let head_bytes = sum(&read.lengths, |[_, head, _]| *head);
        let value_bytes = sum(&read.lengths, |[_, _, value]| *value);
        read.heads = heads.split_to(head_bytes.min(heads.len()));
        read.values = values.split_to(value_bytes.min(values.len()));
    }
    let threads = if num_bytes >= PARALLEL_BYTES { threads } else { 1 };
    let (source, pool) = (source.clone(), pool.clone());
    in_parallel_mut(threads, &mut reads, move |read| {
        if let Some(ahead) = &ahead {
            ahead.pass(&source.file, read.span.start());
        }
        read.run(&source, &pool)
    })?;
    let (mut all_heads, mut all_values) = (BytesMut::new(), BytesMut::new());
    for read in reads {
        all_heads.unsplit(read.heads);
        all_values.unsplit(read.values);
    }
    drop((heads, values));
    Ok((all_heads.into(), all_values.into()))
}

/// The calls that read the rows, still without memory. A row that goes on behind the one before it is read with what lies
/// between them.
fn calls(
    rows: impl Iterator<Item = (Span, usize, usize)>,
    goes_on: impl Fn(&Span) -> bool,
) -> Vec<PlacedRead> {
    let mut reads: Vec<PlacedRead> = Vec::new();
    for (span, head, value) in rows {
        let end = reads.last().map_or(span.start(), |read| read.span.end());
        let is_next = end == span.start() || end < span.start() && goes_on(&span);
        let start = if is_next { end } else { span.start() };
        let gap = usize::try_from(span.start().saturating_sub(start)).unwrap_or(usize::MAX);
        let whole = Span::between(start, span.end());
        match reads.last_mut().filter(|read| is_next && read.span.len() < CALL_BYTES) {
            Some(read) => {
                read.span = read.span.to(&whole);
                read.lengths.push([gap, head, value]);
            }
            None => reads.push(PlacedRead {
                span: whole,
                lengths: vec![[gap, head, value]],
                heads: BytesMut::new(),
                values: BytesMut::new(),
            }),
        }
    }
    reads
}

fn sum(lengths: &[[usize; 3]], of: impl Fn(&[usize; 3]) -> usize) -> usize {
    lengths.iter().map(of).fold(0, usize::saturating_add)
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
