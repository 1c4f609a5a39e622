//! Lists of a fixed number of items, of any depth; the items at the bottom are flat.
//!
//! A layer may have a validity bitmap for its items (1 = valid). `d1`, `d2`, … are the sizes of the
//! layers, outermost first.
//!
//! | where | `n` rows are |
//! |---|---|
//! | chunk | a buffer of `ceil(n * d1 / 8)` bytes for a bitmap of layer 1, one of `ceil(n * d1 * d2 / 8)` bytes for layer 2, …, then a buffer of all items |
//! | row, block | for each row `ceil(d1 / 8)` bytes of bitmap, `ceil(d1 * d2 / 8)` bytes, …, then its items |
//!
//! Layers without a bitmap have no bytes for it. In rows the items may be `Constant`: they are all
//! null and only the bitmaps are there.

use std::ops::Range;

use super::flat::{self, RowParts};
use super::{Encoding, FixedSizeListValues, Values, byte_len, mismatch, product, size};
use crate::error::{Error, Result, ensure};

/// One layer of an encoding.
#[derive(Clone, Copy)]
pub(super) struct ListLayer<'a> {
    has_validity: bool,
    values: &'a Encoding,
    /// Items of this layer in one row of the outermost layer.
    items_per_row: usize,
}

impl<'a> ListLayer<'a> {
    /// The layer that `encoding` describes, inside one of which a row has `lists_per_row`.
    fn new(encoding: &'a Encoding, lists_per_row: usize) -> Result<Self> {
        let Encoding::FixedSizeList { items_per_value, has_validity, values } = encoding else {
            return Err(Error::corrupt(format!("\"{encoding}\" is no fixed-size list")));
        };
        ensure!(*items_per_value > 0, "a fixed-size list has no items");
        let items_per_row = product(lists_per_row, size(*items_per_value)?)?;
        Ok(Self { has_validity: *has_validity, values, items_per_row })
    }

    fn check(self, list: &FixedSizeListValues, lists_per_row: usize) -> Result<()> {
        let expected = product(lists_per_row, size(list.dimension)?)?;
        ensure!(
            self.items_per_row == expected,
            "the lists of a row have {} items instead of {expected}",
            self.items_per_row
        );
        Ok(())
    }
}

/// Bytes of one row.
pub(super) fn row_bytes(encoding: &Encoding) -> Result<usize> {
    let mut bytes = 0_usize;
    let mut layer = ListLayer::new(encoding, 1)?;
    loop {
        let validity = if layer.has_validity { layer.items_per_row.div_ceil(8) } else { 0 };
        let items = match layer.values {
            Encoding::Flat { bits } => {
                let width = byte_len(layer.items_per_row, *bits)?;
                ensure!(
                    bits.is_multiple_of(8) || layer.items_per_row.is_multiple_of(8),
                    "the {} items of a row do not fill whole bytes",
                    layer.items_per_row
                );
                Some(width)
            }
            Encoding::Constant => {
                ensure!(layer.has_validity, "items that are all null have no validity");
                Some(0)
            }
            Encoding::FixedSizeList { .. } => None,
            values => return Err(Error::corrupt(format!("list items cannot be \"{values}\""))),
        };
        let sum = bytes.checked_add(validity).and_then(|b| b.checked_add(items.unwrap_or(0)));
        bytes = sum.ok_or_else(|| Error::corrupt("a row of lists does not fit into memory"))?;
        match items {
            Some(_) => return Ok(bytes),
            None => layer = ListLayer::new(layer.values, layer.items_per_row)?,
        }
    }
}

/// Appends the rows `ranges` of a chunk.
pub(super) fn decode_chunk(
    encoding: &Encoding,
    buffers: &[&[u8]],
    num_rows: usize,
    ranges: &[Range<usize>],
    out: &mut FixedSizeListValues,
) -> Result<()> {
    decode_layer(encoding, buffers, num_rows, ranges, 1, out)
}

fn decode_layer(
    encoding: &Encoding,
    mut buffers: &[&[u8]],
    num_rows: usize,
    ranges: &[Range<usize>],
    lists_per_row: usize,
    out: &mut FixedSizeListValues,
) -> Result<()> {
    let layer = ListLayer::new(encoding, lists_per_row)?;
    layer.check(out, lists_per_row)?;
    let scale = layer.items_per_row;
    let picked = ranges.iter().map(Range::len).fold(0, usize::saturating_add);
    if layer.has_validity {
        let Some((validity, rest)) = buffers.split_first() else {
            return Err(Error::corrupt("the validity buffer of list items is missing"));
        };
        flat::decode_ranges(validity, num_rows, scale, ranges, out.validity_mut()?)?;
        buffers = rest;
    } else if let Some(validity) = &mut out.item_validity {
        validity.push_ones(product(picked, scale)?)?;
    }
    match (layer.values, &mut *out.items) {
        (Encoding::Flat { bits }, Values::Fixed(items)) if *bits == items.bits() => match buffers {
            [data] => flat::decode_ranges(data, num_rows, scale, ranges, items)?,
            _ => {
                return Err(Error::corrupt(format!(
                    "list items have {} data buffers instead of 1",
                    buffers.len()
                )));
            }
        },
        (values @ Encoding::FixedSizeList { .. }, Values::FixedSizeList(items)) => {
            decode_layer(values, buffers, num_rows, ranges, scale, items)?;
        }
        (values, _) => return Err(mismatch(values, "the items of this list")),
    }
    out.len = out.len.saturating_add(product(picked, lists_per_row)?);
    Ok(())
}

/// Appends rows that lie in a full-zip page or in a block.
pub(super) fn decode_rows(
    encoding: &Encoding,
    rows: RowParts<'_>,
    out: &mut FixedSizeListValues,
) -> Result<()> {
    decode_row_layer(encoding, rows, 1, out)
}

fn decode_row_layer(
    encoding: &Encoding,
    mut rows: RowParts<'_>,
    lists_per_row: usize,
    out: &mut FixedSizeListValues,
) -> Result<()> {
    let layer = ListLayer::new(encoding, lists_per_row)?;
    layer.check(out, lists_per_row)?;
    let per_row = layer.items_per_row;
    let num_items = product(rows.num_rows, per_row)?;
    if layer.has_validity {
        let width = per_row.div_ceil(8);
        let validity = out.validity_mut()?;
        if matches!(layer.values, Encoding::Constant) {
            let _fits = rows.parts(width)?;
            validity.push_zeros(num_items)?;
        } else {
            rows.parts(width)?.try_for_each(|part| validity.append_bits(part, 0..per_row))?;
        }
        rows = rows.skipping(width);
    } else if let Some(validity) = &mut out.item_validity {
        validity.push_ones(num_items)?;
    }
    match (layer.values, &mut *out.items) {
        (Encoding::Flat { bits }, Values::Fixed(items)) if *bits == items.bits() => {
            rows.append_to(byte_len(per_row, *bits)?, per_row, items)?;
        }
        (Encoding::Constant, items) => items.push_default(num_items)?,
        (values @ Encoding::FixedSizeList { .. }, Values::FixedSizeList(items)) => {
            decode_row_layer(values, rows, per_row, items)?;
        }
        (values, _) => return Err(mismatch(values, "the items of this list")),
    }
    out.len = out.len.saturating_add(product(rows.num_rows, lists_per_row)?);
    Ok(())
}

/// Appends rows whose items at the bottom are all null, for which old files store no bytes.
pub(super) fn push_null_items(num_rows: usize, out: &mut FixedSizeListValues) -> Result<()> {
    let num_items = product(num_rows, size(out.dimension)?)?;
    if let Values::FixedSizeList(items) = &mut *out.items {
        push_null_items(num_items, items)?;
        if let Some(validity) = &mut out.item_validity {
            validity.push_ones(num_items)?;
        }
    } else {
        out.validity_mut()?.push_zeros(num_items)?;
        out.items.push_default(num_items)?;
    }
    out.len = out.len.saturating_add(num_rows);
    Ok(())
}

/// Appends the bits `range` of the item validity, from bit 0 of a new byte on.
fn encode_validity(
    list: &FixedSizeListValues,
    range: Range<usize>,
    out: &mut Vec<u8>,
) -> Result<()> {
    let mut bits = super::FixedValues::new(1);
    match &list.item_validity {
        Some(validity) => bits.append_range(validity, range)?,
        None => bits.push_ones(range.len())?,
    }
    out.extend_from_slice(bits.data());
    Ok(())
}

/// Writes the rows `range` into the buffers of a chunk.
pub(super) fn encode_chunk(
    encoding: &Encoding,
    list: &FixedSizeListValues,
    range: Range<usize>,
    out: &mut [Vec<u8>],
) -> Result<()> {
    let layer = ListLayer::new(encoding, 1)?;
    layer.check(list, 1)?;
    let items =
        product(range.start, layer.items_per_row)?..product(range.end, layer.items_per_row)?;
    let Some((first, rest)) = out.split_first_mut() else {
        return Err(Error::invalid("a fixed-size list has too few buffers"));
    };
    if layer.has_validity {
        encode_validity(list, items.clone(), first)?;
    }
    match (layer.values, &*list.items) {
        (Encoding::Flat { .. }, Values::Fixed(values)) => {
            let data = if layer.has_validity { rest.first_mut() } else { Some(first) };
            let data = data.ok_or_else(|| Error::invalid("a list has too few buffers"))?;
            flat::encode(values, items, data)
        }
        (values, Values::FixedSizeList(inner)) => {
            let out = if layer.has_validity { rest } else { out };
            encode_chunk(values, inner, items, out)
        }
        (values, _) => Err(mismatch(values, "the items of this list")),
    }
}

/// Appends the bytes of the lists `range`, which are one row or a part of one.
pub(super) fn encode_row(
    encoding: &Encoding,
    list: &FixedSizeListValues,
    range: Range<usize>,
    out: &mut Vec<u8>,
) -> Result<()> {
    let layer = ListLayer::new(encoding, 1)?;
    layer.check(list, 1)?;
    let items =
        product(range.start, layer.items_per_row)?..product(range.end, layer.items_per_row)?;
    if layer.has_validity {
        encode_validity(list, items.clone(), out)?;
    }
    match (layer.values, &*list.items) {
        (Encoding::Constant, _) => Ok(()),
        (Encoding::Flat { .. }, Values::Fixed(values)) => flat::encode(values, items, out),
        (values, Values::FixedSizeList(inner)) => encode_row(values, inner, items, out),
        (values, _) => Err(mismatch(values, "the items of this list")),
    }
}

#[cfg(test)]
#[path = "fixed_size_list_tests.rs"]
mod tests;
