//! Reads whose bytes are compared with the checksums of the file.
//!
//! Whatever a read asks for, whole blocks around it are read instead, and the checksums of these blocks along
//! with them; what was asked for is cut out of them once they are found to be what was written:
//!
//! ```text
//! asked for           ▒▒▒      ▒▒▒▒▒▒▒▒▒▒▒
//! read        │░░░░░░░▒▒▒░░│░░░▒▒▒▒▒│▒▒▒▒▒▒░░│   and the checksums of three blocks
//! ```
//!
//! Checksums are read in segments, which stay in the search cache.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow_array::RecordBatch;
use bytes::Bytes;

use super::blocking::{Coalesced, coalesce};
use super::cache::{BLOCK_SUMS, CachedPage, PageKey};
use super::file::OpenFile;
use super::request::{Machine, Progress, Request};
use super::rows_read::RowsRead;
use super::steps::{check_lengths, unfinished};
use crate::budget::Budget;
use crate::container::checksums::Checksums;
use crate::container::checksums::blocks::{BlockTable, changed_block, sum_at};
use crate::error::{Locate, Result};
use crate::span::Span;

/// Checksums that are read and kept together.
const SEGMENT_SUMS: u64 = 1024;
/// Neighbouring blocks are read together, up to this many bytes.
const MAX_READ_BYTES: u64 = 16 << 20;

/// What reads of a file are compared with.
#[derive(Debug)]
pub(super) enum ReadChecksums {
    Blocks(BlockTable),
    /// Of a file of an older release: only reads of whole buffers can be checked.
    Buffers(Checksums),
}

/// A read in progress, whose bytes are checked before it gets them.
struct Checked<M> {
    file: Arc<OpenFile>,
    budget: Budget,
    machine: M,
    round: Result<Round>,
}

impl OpenFile {
    /// A request; what it reads is checked where the options say so.
    pub(super) fn request<T>(
        self: &Arc<Self>,
        machine: impl Machine<Output = T> + Send + 'static,
    ) -> Request<T> {
        if self.checksums.is_none() {
            return Request::new(machine);
        }
        Request::new(Checked::new(self.clone(), self.budget(), machine))
    }

    /// The same for rows, of whose memory the blocks around them take some.
    pub(super) fn request_rows(self: &Arc<Self>, read: RowsRead) -> Request<RecordBatch> {
        if self.checksums.is_none() {
            return Request::new(read);
        }
        Request::new(Checked::new(self.clone(), read.budget().clone(), read))
    }
}

impl<M: Machine> Checked<M> {
    fn new(file: Arc<OpenFile>, budget: Budget, machine: M) -> Self {
        let round = Round::new(&file, &budget, machine.spans());
        Self { file, budget, machine, round }
    }
}

impl<M: Machine> Machine for Checked<M> {
    type Output = M::Output;

    fn spans(&self) -> &[Span] {
        self.round.as_ref().map_or(&[], |round| &round.spans)
    }

    fn supply(&mut self, bytes: Vec<Bytes>) -> Result<()> {
        let round = std::mem::replace(&mut self.round, Err(unfinished()))?;
        self.machine.supply(round.check(&self.file, bytes)?)?;
        let next = Round::new(&self.file, &self.budget, self.machine.spans())?;
        self.round = Ok(next);
        Ok(())
    }

    fn brings_rows(&self) -> bool {
        self.machine.brings_rows()
    }

    fn progress(&self) -> Option<Progress> {
        self.machine.progress()
    }

    fn finish(self: Box<Self>) -> Result<M::Output> {
        self.round?;
        Box::new(self.machine).finish()
    }
}

/// What is read at once.
#[derive(Debug)]
pub(super) struct Round {
    /// What was asked for.
    wanted: Vec<Span>,
    /// The blocks around that; none where blocks have no checksums.
    blocks: Option<Coalesced>,
    /// The segments of checksums that are needed, and those of them that are known.
    segments: Vec<(u64, Option<Bytes>)>,
    /// What is to be read: blocks, then segments.
    pub(super) spans: Vec<Span>,
}

impl Round {
    pub(super) fn new(file: &OpenFile, budget: &Budget, wanted: &[Span]) -> Result<Self> {
        let wanted = wanted.to_vec();
        let Some(ReadChecksums::Blocks(table)) = &file.checksums else {
            let (blocks, segments, spans) = (None, Vec::new(), wanted.clone());
            return Ok(Self { wanted, blocks, segments, spans });
        };
        let around: Vec<Span> = wanted.iter().map(|span| table.whole_blocks(*span)).collect();
        let blocks = coalesce(&around, 0, MAX_READ_BYTES);
        let mut needed = BTreeSet::new();
        for numbers in blocks.reads.iter().flat_map(|read| table.numbers(*read)) {
            let last = numbers.end.saturating_sub(1) / SEGMENT_SUMS;
            needed.extend(numbers.start / SEGMENT_SUMS..=last);
        }
        let known = |segment| file.cache.get(segment_key(file, segment)?)?.into_block_sums();
        let segments: Vec<(u64, Option<Bytes>)> =
            needed.into_iter().map(|segment| (segment, known(segment))).collect();
        let mut spans = blocks.reads.clone();
        let missing = segments.iter().filter(|(_, sums)| sums.is_none());
        spans.extend(missing.map(|(segment, _)| segment_span(table, *segment)));
        let more = Span::total(&spans).saturating_sub(Span::total(&wanted));
        budget.claim(more, "the blocks around what is read, and their checksums")?;
        Ok(Self { wanted, blocks: Some(blocks), segments, spans })
    }

    /// Checks what was read. Returns the bytes of what was asked for.
    pub(super) fn check(self, file: &OpenFile, bytes: Vec<Bytes>) -> Result<Vec<Bytes>> {
        check_lengths(&self.spans, &bytes)?;
        match (&file.checksums, self.blocks) {
            (Some(ReadChecksums::Blocks(table)), Some(blocks)) => {
                let num_reads = blocks.reads.len().min(bytes.len());
                let (reads, sums) = bytes.split_at_checked(num_reads).unwrap_or_default();
                let segments = Segments::new(self.segments, sums);
                for (span, bytes) in blocks.reads.iter().zip(reads) {
                    let changed = table.changed(*span, bytes, |number| segments.sum(number));
                    changed.first().map_or(Ok(()), |block| damaged(file, *block))?;
                }
                segments.keep(file);
                blocks.cut(reads, &self.wanted)
            }
            (Some(ReadChecksums::Buffers(checksums)), _) => {
                let read = self.wanted.iter().zip(&bytes);
                read.into_iter().try_for_each(|(span, bytes)| checksums.check(*span, bytes))?;
                Ok(bytes)
            }
            _ => Ok(bytes),
        }
    }
}

/// What is said of a block, with its column if it belongs to one.
fn damaged(file: &OpenFile, block: Span) -> Result<()> {
    let damaged = Err(changed_block(block)).at(block.start());
    match file.column_at(block) {
        Some(column) => file.named(damaged.in_column(column)),
        None => damaged,
    }
}

/// Segments of checksums, by their numbers.
struct Segments(Vec<Segment>);

struct Segment {
    number: u64,
    sums: Bytes,
    /// Whether it was read for this round.
    is_new: bool,
}

impl Segments {
    fn new(needed: Vec<(u64, Option<Bytes>)>, read: &[Bytes]) -> Self {
        let mut read = read.iter();
        let segment = |(number, known): (u64, Option<Bytes>)| {
            let is_new = known.is_none();
            // A read may be larger than what is kept of it.
            let sums = known.or_else(|| read.next().map(|bytes| Bytes::copy_from_slice(bytes)))?;
            Some(Segment { number, sums, is_new })
        };
        Self(needed.into_iter().filter_map(segment).collect())
    }

    /// The checksum with this number.
    fn sum(&self, number: u64) -> Option<[u8; 4]> {
        let segment = number / SEGMENT_SUMS;
        let at = self.0.binary_search_by_key(&segment, |segment| segment.number).ok()?;
        sum_at(&self.0.get(at)?.sums, number % SEGMENT_SUMS)
    }

    /// Keeps what was read, now that it is known to be good.
    fn keep(self, file: &OpenFile) {
        for segment in self.0.into_iter().filter(|segment| segment.is_new) {
            if let Some(key) = segment_key(file, segment.number) {
                file.cache.insert(key, CachedPage::BlockSums(segment.sums));
            }
        }
    }
}

/// Where a segment of checksums is.
fn segment_span(table: &BlockTable, segment: u64) -> Span {
    let first = segment.saturating_mul(SEGMENT_SUMS);
    table.sums_of(first..first.saturating_add(SEGMENT_SUMS))
}

fn segment_key(file: &OpenFile, segment: u64) -> Option<PageKey> {
    Some(file.page_key(BLOCK_SUMS, u32::try_from(segment).ok()?))
}
