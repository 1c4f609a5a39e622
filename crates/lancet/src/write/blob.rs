//! Blob columns: payloads go into the file at once, descriptions of them into pages.

use std::io::Write;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{Array, ArrayRef, StructArray, UInt64Array};
use arrow_schema::{DataType, Field, Fields};

use super::sink::Sink;
use crate::error::{Error, Result};
use crate::levels::LeafPiece;
use crate::page::blob;
use crate::page::encode::{EncodedPage, PageLevels};
use crate::page::rules::Rules;

/// Writes the payloads of an array and returns where they lie, as `position` and `size`.
pub(super) fn store(
    array: &ArrayRef,
    column: &str,
    sink: &mut Sink<impl Write>,
) -> Result<ArrayRef> {
    let Some(values) = array.as_binary_opt::<i64>() else {
        return Err(Error::unsupported(format!(
            "column `{column}`: blobs of type {}; cast it to LargeBinary",
            array.data_type()
        )));
    };
    let (mut positions, mut sizes) = (Vec::new(), Vec::new());
    for value in values {
        let value = value.unwrap_or_default();
        positions.push(if value.is_empty() { 0 } else { sink.write_buffer(value)?.start() });
        sizes.push(value.len() as u64);
    }
    let field = |name: &str| Field::new(name, DataType::UInt64, false);
    let fields = Fields::from(vec![field("position"), field("size")]);
    let columns = [positions, sizes].map(|c| Arc::new(UInt64Array::from(c)) as ArrayRef);
    Ok(Arc::new(StructArray::try_new(fields, columns.to_vec(), None)?))
}

/// Encodes what [`store`] returned.
pub(super) fn encode_page(
    pieces: &[LeafPiece],
    levels: PageLevels<'_>,
    rules: Rules,
) -> Result<EncodedPage> {
    let (mut positions, mut sizes) = (Vec::new(), Vec::new());
    for piece in pieces {
        for (column, out) in
            piece.values.as_struct().columns().iter().zip([&mut positions, &mut sizes])
        {
            out.extend_from_slice(column.as_primitive::<UInt64Type>().values());
        }
    }
    blob::encode(levels, &positions, &sizes, rules)
}
