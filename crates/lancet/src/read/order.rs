//! Rows in the order asked for: they are read in that of the file.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions, UInt64Array, make_array};
use arrow_data::transform::MutableArrayData;
use arrow_schema::{DataType, SchemaRef};
use arrow_select::concat::{concat, concat_batches};
use arrow_select::take::take as take_rows;

use super::gather::gathered;
use crate::error::Result;
use crate::pool::Pool;

/// Sorts the rows and drops duplicates; returns where each of them went.
pub(super) fn sort(rows: &mut Vec<u64>) -> UInt64Array {
    let mut by_row: Vec<(u64, usize)> = rows.iter().copied().zip(0..).collect();
    by_row.sort_unstable();
    let mut went_to = vec![0; by_row.len()];
    rows.clear();
    for (row, position) in by_row {
        if rows.last() != Some(&row) {
            rows.push(row);
        }
        if let Some(place) = went_to.get_mut(position) {
            *place = rows.len().saturating_sub(1) as u64;
        }
    }
    went_to.into()
}

/// The rows of a batch in the order asked for; `order` says where each of them is, if that is
/// another one.
pub(super) fn in_order(
    batch: RecordBatch,
    order: Option<UInt64Array>,
    pool: &Arc<Pool>,
) -> Result<RecordBatch> {
    let Some(order) = order else { return Ok(batch) };
    let column = |column: &ArrayRef| match gathered(&[column], order.values(), pool) {
        Some(column) => Ok(column),
        None => reordered(column, &order),
    };
    let columns = batch.columns().iter().map(column).collect::<Result<_>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(order.len()));
    Ok(RecordBatch::try_new_with_options(batch.schema(), columns, &options)?)
}

/// The rows of several batches in the order asked for, of which `order` says as [`in_order`] has it. What is long is copied
/// once.
pub(super) fn put_together(
    schema: &SchemaRef,
    parts: &[RecordBatch],
    order: Option<UInt64Array>,
    pool: &Arc<Pool>,
) -> Result<RecordBatch> {
    let Some(order) = order else { return Ok(concat_batches(schema, parts)?) };
    let mut columns = Vec::with_capacity(schema.fields().len());
    for at in 0..schema.fields().len() {
        let arrays: Vec<&ArrayRef> =
            parts.iter().filter_map(|part| part.columns().get(at)).collect();
        columns.push(match gathered(&arrays, order.values(), pool) {
            Some(column) => column,
            None => {
                let arrays: Vec<&dyn Array> = arrays.iter().map(|array| &***array).collect();
                reordered(&concat(&arrays)?, &order)?
            }
        });
    }
    let options = RecordBatchOptions::new().with_row_count(Some(order.len()));
    Ok(RecordBatch::try_new_with_options(schema.clone(), columns, &options)?)
}

/// Rows of a column, by their positions.
pub(super) fn reordered(column: &ArrayRef, order: &UInt64Array) -> Result<ArrayRef> {
    if !has_no_width(column.data_type()) {
        return Ok(take_rows(column, order, None)?);
    }
    // Arrow's kernel counts bytes, and forgets how many values there are where none has any.
    let data = column.to_data();
    let mut out = MutableArrayData::new(vec![&data], false, order.len());
    for &row in order.values() {
        let row = usize::try_from(row).unwrap_or(usize::MAX);
        out.try_extend(0, row, row.saturating_add(1))?;
    }
    Ok(make_array(out.freeze()))
}

/// Whether a type holds fixed-size binaries of 0 bytes, whose number Arrow's kernels lose.
pub fn has_no_width(data_type: &DataType) -> bool {
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
