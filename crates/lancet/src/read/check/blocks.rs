//! Compares all blocks of a file with their checksums, and tells which buffers are damaged.

use std::collections::BTreeSet;

use super::verify::{PlacedPage, StepCount, Verification, compare};
use crate::container::checksums::blocks::{BlockTable, changed_block, sum_at};
use crate::container::checksums::{BufferChecksum, Checksums};
use crate::error::{Locate, Result};
use crate::read::file::OpenFile;
use crate::read::steps::Io;
use crate::span::Span;

/// Bytes that are read at once: a multiple of the size of a block.
const READ_BYTES: u64 = 1 << 20;

impl Verification {
    /// Compares all blocks, and says which buffers those belong to that have changed.
    pub(super) async fn compare_blocks(
        &mut self,
        file: &OpenFile,
        io: &Io,
        (checksums, blocks, sums): (&Checksums, &BlockTable, &[u8]),
        names: &BufferNames<'_>,
        steps: &mut StepCount,
    ) -> Result<()> {
        let sum_of = |number: u64| sum_at(sums, number);
        let mut told = BTreeSet::new();
        for stretch in blocks.covered() {
            let mut start = stretch.start();
            while start < stretch.end() {
                let span =
                    Span::between(start, start.saturating_add(READ_BYTES).min(stretch.end()));
                let bytes = io.read_one(span).await?;
                for block in blocks.changed(span, &bytes, sum_of) {
                    self.tell_changed(file, io, &checksums.buffers, block, names, &mut told)
                        .await?;
                }
                steps.add(span.len());
                start = span.end();
            }
        }
        Ok(())
    }

    /// Tells which buffers of a changed block are damaged; `told` are those that were told before.
    async fn tell_changed(
        &mut self,
        file: &OpenFile,
        io: &Io,
        buffers: &[BufferChecksum],
        block: Span,
        names: &BufferNames<'_>,
        told: &mut BTreeSet<u64>,
    ) -> Result<()> {
        let first = buffers.partition_point(|buffer| buffer.span.end() <= block.start());
        let of_block = buffers.get(first..).unwrap_or_default();
        let mut is_told = false;
        for buffer in of_block.iter().take_while(|buffer| buffer.span.start() < block.end()) {
            if told.contains(&buffer.span.start()) {
                is_told = true;
                continue;
            }
            let compared = match buffer.span.contains(&block) {
                true => Err(changed_block(block)),
                // Several buffers share the block, or there is padding.
                false => compare(file, io, buffer).await,
            };
            if compared.is_err() {
                told.insert(buffer.span.start());
                is_told = true;
            }
            self.note(names.place(compared, buffer.span))?;
        }
        if !is_told {
            self.note::<()>(Err(changed_block(block)).at(block.start()))?;
        }
        Ok(())
    }
}

/// The buffers of pages, by where they lie.
pub(super) struct BufferNames<'a> {
    /// Sorted: the buffer, its number, and its page.
    buffers: Vec<(Span, usize, &'a PlacedPage<'a>)>,
}

impl<'a> BufferNames<'a> {
    pub(super) fn new(pages: &'a [PlacedPage<'a>]) -> Self {
        let of_page = |page: &'a PlacedPage<'a>| {
            page.buffers.iter().enumerate().map(move |(i, span)| (*span, i, page))
        };
        let mut buffers: Vec<_> = pages.iter().flat_map(of_page).collect();
        buffers.sort_by_key(|(span, ..)| *span);
        Self { buffers }
    }

    /// Names the page buffer that lies at `span`, or the position in the file.
    pub(super) fn place<T>(&self, result: Result<T>, span: Span) -> Result<T> {
        if result.is_ok() {
            return result;
        }
        let at = self.buffers.partition_point(|(buffer, ..)| *buffer < span);
        match self.buffers.get(at).filter(|(buffer, ..)| *buffer == span) {
            Some((_, number, page)) => {
                result.in_buffer(*number).in_page(page.number).in_column(page.column)
            }
            None => result.at(span.start()),
        }
    }
}
