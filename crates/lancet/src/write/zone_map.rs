//! The zone map of a column as the buffer that holds it: a small file of 2.0, see
//! [`crate::zones`].

use std::sync::Arc;

use arrow_array::{Array, ArrayRef};
use arrow_schema::{Field, Schema};

use super::WriteOptions;
use super::array_pages::LeafPlan;
use super::entries::PageEntries;
use super::plan::plan_columns;
use crate::container::write::{WrittenPage, encode_column, encode_inner_tail};
use crate::error::Result;
use crate::proto::any;
use crate::span::Span;
use crate::version::Version;
use crate::zones::gather::Gatherer;

/// A map is written if it takes at most this part of the bytes that it is measured by, or of the
/// number of rows.
const SHARE_OF_BYTES: u64 = 50;
const SHARE_OF_ROWS: u64 = 64;
/// No map is smaller.
const LEAST_BYTES: u64 = 512;

/// The map of a column, if it is not too large beside `stored` bytes or its rows.
pub(super) fn encode(
    zones: Option<Gatherer>,
    stored: u64,
    num_rows: u64,
) -> Result<Option<Vec<u8>>> {
    let most = (stored / SHARE_OF_BYTES).max(num_rows / SHARE_OF_ROWS);
    let Some(zones) = zones.filter(|_| most >= LEAST_BYTES) else { return Ok(None) };
    let columns = zones.finish()?;
    let bytes = encode_columns(&columns)?;
    let worth = !columns[0].is_empty() && bytes.len() as u64 <= most;
    Ok(worth.then_some(bytes))
}

/// Columns of equal length as a file without schema; buffers lie back to back.
fn encode_columns(columns: &[ArrayRef]) -> Result<Vec<u8>> {
    let fields = columns.iter().map(|column| Field::new("", column.data_type().clone(), true));
    let fields = fields.enumerate().map(|(i, field)| field.with_name(i.to_string()));
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let options = WriteOptions { version: Version::V2_0, ..WriteOptions::default() };
    let (_, plans) = plan_columns(&schema, &options)?;
    let mut out = Vec::new();
    let mut metadata = Vec::with_capacity(columns.len());
    for (plan, column) in plans.into_iter().zip(columns) {
        let (mut encoded, mut pages) = (Vec::new(), Vec::new());
        let column = std::slice::from_ref(column);
        LeafPlan::new(plan).encode(column, &mut PageEntries::default(), &mut encoded)?;
        for page in encoded {
            let mut buffers = Vec::with_capacity(page.buffers.len());
            for buffer in &page.buffers {
                let start = out.len() as u64;
                out.extend_from_slice(buffer);
                buffers.push(Span::between(start, out.len() as u64));
            }
            let encoding = any::wrap(&page.message);
            pages.push(WrittenPage { buffers, length: page.num_rows, priority: 0, encoding });
        }
        metadata.push(encode_column(&pages, false, None));
    }
    let tail = encode_inner_tail(&metadata, out.len() as u64)?;
    out.extend_from_slice(&tail);
    Ok(out)
}

#[cfg(test)]
#[path = "zone_map_tests.rs"]
mod tests;
