//! One batch of a scan, read while those after it are on their way.
//!
//! ```text
//! device    ▒▒ batch 1 ▒▒▒▒▒ batch 2 ▒▒▒▒▒▒ batch 3 ▒▒▒▒▒▒
//! thread    waits ·······│ decodes 1 │··│ decodes 2 │···│ decodes 3
//!                        └ announces 2  └ announces 3
//! ```
//!
//! Only a source that has waited is told: one whose bytes are at hand would pay for nothing.

use std::sync::Arc;

use arrow_array::RecordBatch;

use super::drive;
use super::source::Source;
use crate::error::Result;
use crate::read::scan_plan::ScanReads;
use crate::rows::RowRanges;
use crate::span::Span;

/// So many batches are announced before they are read: one that is decoded soon, and one so that the device does not rest.
pub(super) const AHEAD: usize = 2;

/// Reads a batch, of so many bytes at most. `tell_next` is called with the spans of its rows once they are read, and before they are decoded.
pub(super) fn read_batch(
    source: &dyn Source,
    reads: &Arc<ScanReads>,
    rows: RowRanges,
    most: u64,
    is_announced: bool,
    mut tell_next: impl FnMut(&[Span]),
) -> Result<RecordBatch> {
    // What was announced is on its way. A filter leaves rows that lie apart, of which nobody knew.
    let mut is_known = is_announced && !reads.has_filter();
    drive(reads.request_within(rows, most)?, |request| {
        let spans = request.spans();
        let is_known = std::mem::take(&mut is_known);
        let bytes = if is_known { source.read(spans)? } else { source.read_scattered(spans)? };
        if request.brings_rows() && source.has_waited() {
            tell_next(spans);
        }
        Ok(bytes)
    })
}

/// Announces a batch that comes after one that has read the spans `before`, which are then those of this one.
pub(super) fn announce_batch(
    source: &dyn Source,
    reads: &Arc<ScanReads>,
    rows: RowRanges,
    before: &mut Vec<Span>,
) {
    // What is wrong with it is told when it is read.
    let Ok(request) = reads.request(rows) else { return };
    source.announce(request.spans(), before);
    before.clear();
    before.extend_from_slice(request.spans());
}
