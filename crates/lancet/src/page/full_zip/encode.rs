//! Levels and values to a full-zip page.
#![expect(
    clippy::arithmetic_side_effects,
    reason = "sizes of values in memory, not of numbers from a file"
)]

use bytes::Bytes;

use super::super::encode::{EncodedPage, PageLevels};
use super::super::layout::Layout;
use super::layout::{FullZipLayout, ZipWidth};
use crate::codec::{Encoding, Values, per_value};
use crate::error::Result;
use crate::levels::Numbering;

/// Encodes a page: every row is found by itself later.
pub(crate) fn encode(
    levels: PageLevels<'_>,
    values: Values,
    encoding: Encoding,
) -> Result<EncodedPage> {
    let numbering = Numbering::new(levels.layers)?;
    // Levels that are all 0 are stored too: the reference miscounts rows without them.
    let largest_def = levels.def.map_or(0, |def| def.iter().copied().max().unwrap_or(0).max(1));
    let width = if per_value::is_variable(&encoding) {
        let wide = values.size_bytes() > u32::MAX as usize || values.has_wide_offsets();
        ZipWidth::Length { bytes: if wide { 8 } else { 4 } }
    } else {
        ZipWidth::Value { bytes: per_value::fixed_width_bytes(&encoding)? }
    };
    let layout = FullZipLayout {
        bits_rep: u16::BITS - numbering.max_rep.leading_zeros(),
        bits_def: u16::BITS - largest_def.leading_zeros(),
        width,
        num_entries: levels.num_entries as u64,
        num_values: values.len() as u64,
        values: encoding,
        layers: levels.layers.to_vec(),
    };
    let is_flat = layout.control_bytes() == 0 && matches!(layout.width, ZipWidth::Value { .. });
    let flat = if is_flat { values.into_flat_bytes() } else { Err(values) };
    let buffers = match flat {
        Ok(rows) => vec![Bytes::from_owner(rows)],
        Err(values) => {
            let (rows, starts) = zip(levels, &values, &layout, &numbering)?;
            let index = layout.has_index().then(|| Bytes::from(narrow(&starts, rows.len())));
            std::iter::once(Bytes::from(rows)).chain(index).collect()
        }
    };
    Ok(EncodedPage { layout: Layout::FullZip(layout), buffers, num_rows: levels.num_rows })
}

/// The zipped rows, and where each starts if there is an index.
fn zip(
    levels: PageLevels<'_>,
    values: &Values,
    layout: &FullZipLayout,
    numbering: &Numbering,
) -> Result<(Vec<u8>, Vec<usize>)> {
    let control_bytes = layout.control_bytes();
    let mut rows = Vec::with_capacity(values.size_bytes() + levels.num_entries * control_bytes);
    let mut starts = Vec::new();
    let mut value = 0;
    let level = |stream: Option<&[u16]>, entry: usize| {
        stream.and_then(|stream| stream.get(entry)).copied().unwrap_or(0)
    };
    for entry in 0..levels.num_entries {
        let (rep, def) = (level(levels.rep, entry), level(levels.def, entry));
        if layout.has_index() && rep == numbering.max_rep {
            starts.push(rows.len());
        }
        let word = (u32::from(rep) << layout.bits_def) | u32::from(def);
        rows.extend(word.to_le_bytes().into_iter().take(control_bytes));
        if !numbering.is_visible(def) {
            continue;
        }
        match layout.width {
            ZipWidth::Value { .. } => {
                per_value::encode_row(&layout.values, values, value, &mut rows)?;
            }
            ZipWidth::Length { bytes } if def == 0 => {
                let at = rows.len();
                rows.resize(at + bytes, 0);
                per_value::encode_row(&layout.values, values, value, &mut rows)?;
                let length = (rows.len() - at - bytes) as u64;
                if let Some(prefix) = rows.get_mut(at..at + bytes) {
                    prefix.copy_from_slice(length.to_le_bytes().split_at(bytes).0);
                }
            }
            ZipWidth::Length { .. } => {}
        }
        value += 1;
    }
    Ok((rows, starts))
}

/// Offsets in the smallest width that holds the end.
fn narrow(starts: &[usize], end: usize) -> Vec<u8> {
    let width = match end {
        0..=0xff => 1,
        0x100..=0xffff => 2,
        0x1_0000..=0xffff_ffff => 4,
        _ => 8,
    };
    let mut out = Vec::with_capacity((starts.len() + 1) * width);
    for offset in starts.iter().chain([&end]) {
        out.extend((*offset as u64).to_le_bytes().into_iter().take(width));
    }
    out
}

#[cfg(test)]
#[path = "encode_tests.rs"]
mod tests;
