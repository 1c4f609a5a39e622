//! Rows of one or several arrays, in any order.

use arrow_array::{Array, ArrayRef, make_array};
use arrow_data::transform::MutableArrayData;
use arrow_schema::DataType;
use arrow_select::interleave::interleave;

use crate::error::Result;

/// Rows of several arrays of one type; each is named by its array and its place there.
pub(crate) fn gather(parts: &[ArrayRef], rows: &[(usize, usize)]) -> Result<ArrayRef> {
    if parts.first().is_some_and(|part| has_no_width(part.data_type())) {
        return gather_one_by_one(parts, rows);
    }
    let parts: Vec<&dyn Array> = parts.iter().map(AsRef::as_ref).collect();
    Ok(interleave(&parts, rows)?)
}

/// Arrow's kernels count bytes, and forget how many values there are where none has any.
fn gather_one_by_one(parts: &[ArrayRef], rows: &[(usize, usize)]) -> Result<ArrayRef> {
    let data: Vec<_> = parts.iter().map(|part| part.to_data()).collect();
    let mut out = MutableArrayData::new(data.iter().collect(), false, rows.len());
    for (part, row) in rows {
        out.try_extend(*part, *row, row.saturating_add(1))?;
    }
    Ok(make_array(out.freeze()))
}

/// Whether a type holds fixed-size binaries of 0 bytes.
pub(crate) fn has_no_width(data_type: &DataType) -> bool {
    match data_type {
        DataType::FixedSizeBinary(0) => true,
        DataType::Struct(fields) => fields.iter().any(|field| has_no_width(field.data_type())),
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::FixedSizeList(item, _)
        | DataType::Map(item, _) => has_no_width(item.data_type()),
        _ => false,
    }
}
