//! Where the rows of a full-zip page start.

use std::ops::Range;

use bytes::Bytes;

use super::super::Page;
use super::layout::{FullZipLayout, ZipWidth};
use crate::error::{Error, Locate, Result, ensure};
use crate::span::Span;

/// The repetition index as stored, or nothing where rows are found by multiplication.
#[derive(Debug)]
pub(crate) struct FullZipIndex {
    offsets: Option<Bytes>,
    /// Bytes of one offset.
    width: usize,
}

impl FullZipIndex {
    /// Checks the index's size and ends; single offsets are checked when they are used.
    pub(crate) fn parse(page: &Page, layout: &FullZipLayout, buffers: &[Bytes]) -> Result<Self> {
        let stored = page.buffers.first().map_or(0, Span::len);
        if let Some(row_bytes) = row_bytes(layout) {
            ensure!(
                row_bytes.checked_mul(page.num_rows) == Some(stored),
                "{} rows of {row_bytes} bytes in a buffer of {stored}",
                page.num_rows
            );
            return Ok(Self { offsets: None, width: 0 });
        }
        let offsets = buffers.first().ok_or_else(|| Error::corrupt("the index is missing"))?;
        let count = page.num_rows.checked_add(1).and_then(|n| usize::try_from(n).ok());
        let width = count.and_then(|count| {
            let width = offsets.len().checked_div(count)?;
            (width.checked_mul(count) == Some(offsets.len())).then_some(width)
        });
        let width = match width {
            Some(width @ (1 | 2 | 4 | 8)) => width,
            _ => {
                return Err(Error::corrupt(format!(
                    "a repetition index of {} bytes for {} rows",
                    offsets.len(),
                    page.num_rows
                )))
                .in_buffer(1);
            }
        };
        let index = Self { offsets: Some(offsets.clone()), width };
        index.check_ends(page.num_rows, stored).in_buffer(1)?;
        Ok(index)
    }

    fn check_ends(&self, num_rows: u64, stored: u64) -> Result<()> {
        let (first, last) = (self.offset(0)?, self.offset(num_rows)?);
        ensure!(
            first == 0 && last == stored,
            "a repetition index from {first} to {last} for {stored} bytes"
        );
        Ok(())
    }

    /// Spans of the rows' bytes, one for each range.
    pub(crate) fn plan(
        &self,
        page: &Page,
        layout: &FullZipLayout,
        rows: &[Range<u64>],
    ) -> Result<Vec<Span>> {
        let buffer = page.buffers.first().ok_or_else(|| Error::corrupt("the rows are missing"))?;
        let position = |row: u64| match &self.offsets {
            None => Ok(row_bytes(layout).unwrap_or(0).saturating_mul(row)),
            Some(_) => self.offset(row),
        };
        rows.iter()
            .map(|range| buffer.part_of_buffer(position(range.start)?..position(range.end)?))
            .collect()
    }

    fn offset(&self, row: u64) -> Result<u64> {
        let start = usize::try_from(row).ok().and_then(|row| row.checked_mul(self.width));
        let bytes = start
            .and_then(|start| self.offsets.as_ref()?.get(start..start.checked_add(self.width)?));
        let bytes =
            bytes.ok_or_else(|| Error::corrupt(format!("row {row} is not in the index")))?;
        let mut word = [0; 8];
        for (to, from) in word.iter_mut().zip(bytes) {
            *to = *from;
        }
        Ok(u64::from_le_bytes(word))
    }

    pub(crate) fn size_bytes(&self) -> usize {
        self.offsets.as_ref().map_or(0, Bytes::len)
    }
}

/// Bytes of one row, where all rows are equally long.
pub(crate) fn row_bytes(layout: &FullZipLayout) -> Option<u64> {
    match layout.width {
        ZipWidth::Value { bytes } if !layout.has_index() => {
            u64::try_from(layout.control_bytes().saturating_add(bytes)).ok()
        }
        _ => None,
    }
}

#[cfg(test)]
#[path = "index_tests.rs"]
mod tests;
