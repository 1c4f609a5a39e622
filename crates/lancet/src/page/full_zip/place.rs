//! Rows cut into heads and values before anything is read.
//!
//! Where entries are strings outside of lists, stored as they are, a row is one entry, and the index
//! tells how long each is:
//!
//! ```text
//! entry = head [value]     head = [control word] [length], or only the control word of a null
//! ```
//!
//! So values can be read to where they belong in the result, and heads apart from them. What the heads
//! say is checked afterwards.

use std::ops::Range;

use super::super::{Page, PageTask};
use super::index::FullZipIndex;
use super::layout::{FullZipLayout, ZipWidth};
use crate::codec::Encoding;
use crate::span::Span;

/// Rows of a page whose values are read apart from their heads.
#[derive(Debug)]
pub(crate) struct PlacedRows {
    /// One row a span; it is decoded from the heads.
    pub(crate) task: PageTask,
    /// Bytes of the head of each row.
    heads: Vec<usize>,
}

impl PlacedRows {
    /// None for pages of another kind, and where the index has a row that cannot be: the usual way
    /// tells what is wrong with it.
    pub(crate) fn new(
        page: &Page,
        layout: &FullZipLayout,
        index: &FullZipIndex,
        rows: &[Range<u64>],
    ) -> Option<Self> {
        let (ZipWidth::Length { bytes }, Encoding::Variable { .. }) =
            (layout.width, &layout.values)
        else {
            return None;
        };
        if layout.bits_rep > 0 {
            return None;
        }
        let rows = rows.iter().flat_map(Range::clone);
        let rows: Vec<_> = rows.map(|row| row..row.saturating_add(1)).collect();
        let spans = index.plan(page, layout, &rows).ok()?;
        let control = layout.control_bytes();
        let full = control.saturating_add(bytes);
        let head = |span: &Span| match span.memory_len() {
            size if size >= full => Some(full),
            size => (size == control && control > 0).then_some(control),
        };
        let heads = spans.iter().map(head).collect::<Option<_>>()?;
        let task = PageTask { rows, spans, chunks: Vec::new(), placed: true };
        Some(Self { task, heads })
    }

    /// Where each row lies in the file, and how many bytes its head and its value have.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (Span, usize, usize)> {
        let rows = self.task.spans.iter().zip(&self.heads);
        rows.map(|(span, head)| (*span, *head, span.memory_len().saturating_sub(*head)))
    }
}

#[cfg(test)]
#[path = "place_tests.rs"]
mod tests;
