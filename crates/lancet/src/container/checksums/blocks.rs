//! Checksums of blocks: whatever part of a file is read, the blocks around it can be checked.
//!
//! All bytes before the table of checksums are cut into blocks of 4 KiB, from the first byte of the
//! file on; all bytes after it likewise, from the file descriptor on. The last block of each is as long as
//! what is left.

use std::ops::Range;

use xxhash_rust::xxh3::xxh3_64;

use crate::error::Error;
use crate::span::Span;

/// Bytes of a block.
const BLOCK_BYTES: usize = 4096;
/// The same, as positions are counted.
const BLOCK: u64 = BLOCK_BYTES as u64;
/// Bytes of the checksum of a block.
pub(super) const SUM_BYTES: u64 = 4;

/// The checksum of a block: the low half of its hash.
fn sum(block: &[u8]) -> [u8; 4] {
    let [a, b, c, d, ..] = xxh3_64(block).to_le_bytes();
    [a, b, c, d]
}

/// The checksums of bytes that come one after the other.
#[derive(Debug, Default)]
pub(crate) struct BlockSums {
    sums: Vec<u8>,
    /// The block that is not complete yet.
    begun: Vec<u8>,
}

impl BlockSums {
    /// The checksums of these bytes.
    pub(super) fn of(bytes: &[u8]) -> Vec<u8> {
        let mut sums = Self::default();
        sums.push(bytes);
        sums.finish()
    }

    /// Goes on with these bytes.
    pub(crate) fn push(&mut self, mut bytes: &[u8]) {
        if !self.begun.is_empty() {
            let missing = BLOCK_BYTES.saturating_sub(self.begun.len()).min(bytes.len());
            let (first, rest) = bytes.split_at_checked(missing).unwrap_or((bytes, &[]));
            self.begun.extend_from_slice(first);
            bytes = rest;
            if self.begun.len() == BLOCK_BYTES {
                self.sums.extend(sum(&self.begun));
                self.begun.clear();
            }
        }
        let blocks = bytes.chunks_exact(BLOCK_BYTES);
        self.begun.extend_from_slice(blocks.remainder());
        self.sums.extend(blocks.flat_map(sum));
    }

    /// All checksums.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        if !self.begun.is_empty() {
            self.sums.extend(sum(&self.begun));
        }
        self.sums
    }
}

/// How many blocks so many bytes have.
pub(super) fn num_blocks(bytes: u64) -> u64 {
    bytes.div_ceil(BLOCK)
}

/// Which bytes of a file have checksums, and where those are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BlockTable {
    /// Up to the table of checksums.
    data: Span,
    /// From the file descriptor to the end of the file.
    tail: Span,
    /// The checksums of the first and then of the second.
    sums: Span,
}

impl BlockTable {
    /// The checksums of these bytes, which lie from `position` on.
    pub(super) fn new(data: Span, tail: Span, position: u64) -> Option<Self> {
        let blocks = num_blocks(data.len()).checked_add(num_blocks(tail.len()))?;
        let sums = Span::at(position, blocks.checked_mul(SUM_BYTES)?)?;
        Some(Self { data, tail, sums })
    }

    /// Where all checksums are.
    pub(crate) fn sums(&self) -> Span {
        self.sums
    }

    /// Where the checksums with these numbers are, as far as there are such.
    pub(crate) fn sums_of(&self, numbers: Range<u64>) -> Span {
        let at = |number: u64| number.saturating_mul(SUM_BYTES).min(self.sums.len());
        self.sums.part(at(numbers.start)..at(numbers.end)).unwrap_or_default()
    }

    /// All bytes that have checksums.
    pub(crate) fn covered(&self) -> [Span; 2] {
        [self.data, self.tail]
    }

    /// Both stretches, and the number of the first checksum of each.
    fn stretches(&self) -> [(Span, u64); 2] {
        [(self.data, 0), (self.tail, num_blocks(self.data.len()))]
    }

    /// The span, and what is missing of the first and the last block that it has bytes of.
    pub(crate) fn whole_blocks(&self, span: Span) -> Span {
        let (mut start, mut end) = (span.start(), span.end());
        for (stretch, _) in self.stretches().iter().filter(|_| !span.is_empty()) {
            let within = |at: u64| at.checked_sub(stretch.start()).filter(|n| *n <= stretch.len());
            if let Some(inside) = within(start).filter(|n| *n < stretch.len()) {
                start = start.saturating_sub(inside % BLOCK);
            }
            if let Some(inside) = within(end).filter(|n| *n > 0) {
                let whole = inside.checked_next_multiple_of(BLOCK).unwrap_or(inside);
                end = stretch.start().saturating_add(whole.min(stretch.len()));
            }
        }
        Span::between(start, end)
    }

    /// The numbers of the checksums of all whole blocks of a span.
    pub(crate) fn numbers(&self, span: Span) -> impl Iterator<Item = Range<u64>> {
        self.stretches().into_iter().filter_map(move |(stretch, first)| {
            let (_, blocks) = whole_blocks_of(stretch, span)?;
            Some(first.checked_add(blocks.start)?..first.checked_add(blocks.end)?)
        })
    }

    /// Compares the whole blocks of bytes of the file with their checksums, which `sum_of` finds by their
    /// numbers. Returns those that are not as they were written.
    pub(crate) fn changed(
        &self,
        span: Span,
        bytes: &[u8],
        sum_of: impl Fn(u64) -> Option<[u8; 4]>,
    ) -> Vec<Span> {
        let mut changed = Vec::new();
        for (stretch, first) in self.stretches() {
            let Some((start, blocks)) = whole_blocks_of(stretch, span) else { continue };
            let skipped = Span::between(span.start(), start).memory_len();
            let bytes = bytes.get(skipped..).unwrap_or_default();
            let left = Span::between(start, stretch.end()).memory_len().min(bytes.len());
            let bytes = bytes.get(..left).unwrap_or_default();
            for (number, block) in blocks.zip(bytes.chunks(BLOCK_BYTES)) {
                if sum_of(first.saturating_add(number)) != Some(sum(block)) {
                    let at = number.saturating_mul(BLOCK);
                    let at = stretch.start().saturating_add(at);
                    changed.extend(Span::at(at, block.len() as u64));
                }
            }
        }
        changed
    }
}

/// The checksum with this number among some.
pub(crate) fn sum_at(sums: &[u8], number: u64) -> Option<[u8; 4]> {
    let start = usize::try_from(number.checked_mul(SUM_BYTES)?).ok()?;
    sums.get(start..)?.first_chunk().copied()
}

/// What is said of a block that is not as it was written.
pub(crate) fn changed_block(block: Span) -> Error {
    let rule =
        format!("the bytes {block} of the file, or their checksum, are not what was written");
    Error::corrupt(rule)
}

/// The blocks of a stretch that lie wholly in a span: where the first begins, and their numbers.
fn whole_blocks_of(stretch: Span, span: Span) -> Option<(u64, Range<u64>)> {
    let start = span.start().max(stretch.start()).checked_sub(stretch.start())?;
    let end = span.end().min(stretch.end()).checked_sub(stretch.start())?;
    let first = start.div_ceil(BLOCK);
    // The last block of all may be shorter.
    let last = if end == stretch.len() { end.div_ceil(BLOCK) } else { end / BLOCK };
    let at = stretch.start().checked_add(first.checked_mul(BLOCK)?)?;
    (first < last).then_some((at, first..last))
}

#[cfg(test)]
#[path = "blocks_tests.rs"]
mod tests;
