//! Bytes from values: the smallest width for each miniblock, one minimum for each block.

use super::Layout;
use crate::bits::GROUP;
use crate::cursor::{push_uleb128, push_zigzag};
use crate::integer::Integer;

/// Appends the values of a page, in the layout that most writers use.
pub fn encode<T: Integer>(values: &[T], out: &mut Vec<u8>) {
    encode_with(T::LAYOUT, values, out);
}

/// Appends the values of a page in blocks of the caller's choice.
pub fn encode_with<T: Integer>(layout: Layout, values: &[T], out: &mut Vec<u8>) {
    push_uleb128(layout.block_size.into(), out);
    push_uleb128(layout.miniblocks.into(), out);
    push_uleb128(values.len() as u64, out);
    push_zigzag(values.first().copied().unwrap_or_default().widen(), out);
    let block_size = layout.block_size as usize;
    // A block needs the value before it as well.
    for start in (0..values.len().saturating_sub(1)).step_by(block_size) {
        let end = start.saturating_add(block_size).saturating_add(1).min(values.len());
        encode_block(layout, values.get(start..end).unwrap_or_default(), out);
    }
}

/// Appends a block: the deltas of `values`, of which the first is only the one to start from.
fn encode_block<T: Integer>(layout: Layout, values: &[T], out: &mut Vec<u8>) {
    let min_delta = deltas(values).fold(T::MAX, Ord::min);
    push_zigzag(min_delta.widen(), out);
    let miniblocks = layout.miniblocks as usize;
    let miniblock_size = layout.miniblock_size as usize;
    let widths_at = out.len();
    out.resize(widths_at.saturating_add(miniblocks), 0);
    for index in 0..values.len().saturating_sub(1).div_ceil(miniblock_size) {
        let start = index.saturating_mul(miniblock_size);
        let end = start.saturating_add(miniblock_size).saturating_add(1).min(values.len());
        let values = values.get(start..end).unwrap_or_default();
        let used = deltas(values)
            .fold(T::default(), |used, delta| used.or(delta.sub(min_delta)))
            .to_bits();
        let width = u64::BITS.saturating_sub(used.leading_zeros()).to_le_bytes()[0];
        if let Some(place) = out.get_mut(widths_at.saturating_add(index)) {
            *place = width;
        }
        let packed_at = out.len();
        let group_bytes = usize::from(width).saturating_mul(GROUP / 8);
        out.resize(
            packed_at.saturating_add((miniblock_size / GROUP).saturating_mul(group_bytes)),
            0,
        );
        T::pack(width, values, min_delta, out.get_mut(packed_at..).unwrap_or_default());
    }
}

/// The differences between neighbours.
fn deltas<T: Integer>(values: &[T]) -> impl Iterator<Item = T> {
    let after = values.get(1..).unwrap_or_default();
    values.iter().zip(after).map(|(before, after)| after.sub(*before))
}
