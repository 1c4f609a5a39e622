//! Long values of a read, for drivers that can read to a place in memory.
//!
//! A page of strings that lie there as they are has an index that tells how long each value is before
//! anything is read. Where values are long, a driver may read each right to its place; only the heads of the
//! rows (control words and lengths) are then decoded.
//!
//! Heads that say something else than the index are no error here: the rows are then read and decoded
//! as all others are, which tells what is wrong.

use bytes::Bytes;

use super::leaf_read::{LeafRead, PageRead};
use super::read::{LayoutRead, Stage};
use crate::codec::Scratch;
use crate::error::Result;
use crate::page::full_zip::PlacedRows;
use crate::page::{LeafSink, count_rows};
use crate::span::Span;

/// Shorter values, on average, are read together and copied: calls cost more than that.
const LONG_BYTES: u64 = 4 << 10;
/// Fewer bytes are not worth the preparations.
const MIN_BYTES: u64 = 64 << 10;
/// More bytes may be more than offsets can count, which the usual way tells.
const MAX_BYTES: u64 = i32::MAX as u64;

/// The rows of a leaf whose values are long.
#[derive(Debug)]
pub(in crate::read) struct LongValues {
    /// Position of the leaf among those of the read.
    leaf: usize,
    pages: Vec<PlacedRows>,
}

impl LongValues {
    /// The rows in the order of the file: where each is, and how long its head and its value are.
    pub(in crate::read) fn rows(&self) -> impl Iterator<Item = (Span, usize, usize)> {
        self.pages.iter().flat_map(PlacedRows::rows)
    }
}

impl LayoutRead {
    /// The long values among what is to be read next. What is not supplied by
    /// [`LayoutRead::supply_long_values`] stays among the spans.
    pub(in crate::read) fn long_values(&self) -> Vec<LongValues> {
        if self.stage != Stage::Data {
            return Vec::new();
        }
        let leaves = self.leaves.iter().enumerate();
        leaves
            .filter_map(|(leaf, read)| Some(LongValues { leaf, pages: placed_rows(read)? }))
            .collect()
    }

    /// Takes all heads and all values, one after the other; their spans are then no longer asked for.
    pub(in crate::read) fn supply_long_values(
        &mut self,
        rows: &LongValues,
        heads: Bytes,
        values: Vec<u8>,
    ) -> Result<()> {
        let leaf = self.projection.leaves().get(rows.leaf).zip(self.leaves.get_mut(rows.leaf));
        let Some((leaf, read)) = leaf else { return Ok(()) };
        read.sink.place(values, &self.file.pool);
        let mut scratch = Scratch::sharing(&self.budget);
        if decode(read, &rows.pages, heads, &mut scratch).is_ok() {
            read.pages.clear();
            self.name_data_spans();
        } else {
            read.sink = LeafSink::new(&leaf.leaf)?;
        }
        Ok(())
    }
}

/// The rows of a leaf, if its values are long.
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
    let place = |page: &PageRead| {
        read.column.page(page.page).ok()?.place(page.index.as_deref()?, page.task.as_ref()?)
    };
    read.pages.iter().map(place).collect()
}

fn decode(
    read: &mut LeafRead,
    pages: &[PlacedRows],
    mut heads: Bytes,
    scratch: &mut Scratch,
) -> Result<()> {
    for (page_read, rows) in read.pages.iter().zip(pages) {
        let page = read.column.page(page_read.page)?;
        let Some(index) = &page_read.index else { continue };
        let rows_heads = rows.rows().map(|(_, head, _)| heads.split_to(head.min(heads.len())));
        let fetched: Vec<Bytes> = rows_heads.collect();
        page.decode(index, &rows.task, &fetched, &mut read.sink, scratch)?;
    }
    Ok(())
}
