//! The zone map of a column as the buffer that holds it: a small file of 2.0, see
//! [`crate::zones`].

use std::sync::Arc;

use arrow_array::{Array, ArrayRef};
use arrow_schema::{Field, Schema};

use super::WriteOptions;
use super::array_pages::LeafPlan;
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
        let mut pages = Vec::new();
        for page in LeafPlan::new(plan).encode(std::slice::from_ref(column), 0, u64::MAX)? {
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
mod tests {
    use arrow_array::cast::AsArray;
    use arrow_array::types::{Int32Type, UInt32Type};
    use arrow_array::{BooleanArray, Int32Array};
    use arrow_schema::DataType;

    use super::*;

    fn hex(text: &str) -> Vec<u8> {
        text.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect()
    }

    #[test]
    fn the_example_byte_for_byte() {
        let mut zones = Gatherer::new(&DataType::Int32, 4, 64).unwrap();
        let rows = [Some(5), None, Some(2), Some(9), None, None, None, None, Some(7), Some(7)];
        for part in [&rows[..3], &rows[3..9], &rows[9..]] {
            let part: ArrayRef = Arc::new(Int32Array::from(part.to_vec()));
            zones.push(&part, part.nulls()).unwrap();
        }
        let columns = zones.finish().unwrap();
        assert_eq!(
            columns[0].as_primitive::<Int32Type>(),
            &Int32Array::from(vec![Some(2), None, Some(7)])
        );
        assert_eq!(columns[3].as_primitive::<UInt32Type>().values(), &[0, 0, 0]);
        assert_eq!(columns[4].as_boolean(), &BooleanArray::from(vec![true; 3]));

        let file = encode_columns(&columns[..3]).unwrap();
        assert_eq!(file.len(), 465);
        let data = "05 02 00 00 00 00 00 00 00 07 00 00 00 05 09 00 00 00 00 00 00 00 07 00 00 00 \
                    01 00 00 00 04 00 00 00 00 00 00 00";
        assert_eq!(file[..0x26], hex(data));
        let table = "26 00 00 00 00 00 00 00 75 00 00 00 00 00 00 00 \
                     9b 00 00 00 00 00 00 00 75 00 00 00 00 00 00 00 \
                     10 01 00 00 00 00 00 00 69 00 00 00 00 00 00 00";
        assert_eq!(file[0x179..0x1a9], hex(table));
        let footer = "26 00 00 00 00 00 00 00 79 01 00 00 00 00 00 00 a9 01 00 00 00 00 00 00 \
                      00 00 00 00 03 00 00 00 02 00 00 00 4c 41 4e 43";
        assert_eq!(file[0x1a9..], hex(footer));
        // Metadata of the second column: `values`, one page of 3 rows at bytes 13 and 14.
        let mut second = hex("0a 29 12 27 0a 25 0a 1f");
        second.extend_from_slice(b"/lance.encodings.ColumnEncoding");
        second
            .extend(hex("12 02 0a 00 12 48 0a 02 0d 0e 12 02 01 0c 18 03 22 3c 12 3a 0a 38 0a 1e"));
        second.extend_from_slice(b"/lance.encodings.ArrayEncoding");
        second
            .extend(hex("12 16 12 14 12 12 0a 06 0a 04 08 01 12 00 12 08 0a 06 08 20 12 02 08 01"));
        assert_eq!(file[0x9b..0x110], second);
    }
}
