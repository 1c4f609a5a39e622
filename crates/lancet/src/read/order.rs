//! Rows in the order asked for: they are read in that of the file.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions, UInt64Array, make_array};
use arrow_buffer::ArrowNativeType;
use arrow_data::ArrayData;
use arrow_data::transform::MutableArrayData;
use arrow_schema::{DataType, SchemaRef};
use arrow_select::concat::{concat, concat_batches};
use arrow_select::take::take as take_rows;

use super::gather::gathered;
use crate::budget::Budget;
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

/// Claims the memory of rows that are asked for more than once: where none is, their copy is not larger than what was read
/// for it.
pub(super) fn claim_repeated(
    parts: &[RecordBatch],
    order: Option<&UInt64Array>,
    budget: &Budget,
) -> Result<()> {
    let Some(order) = order else { return Ok(()) };
    let num_rows = parts.iter().map(RecordBatch::num_rows).fold(0, usize::saturating_add);
    if order.len() <= num_rows {
        return Ok(());
    }
    let mut times = vec![0_u64; num_rows];
    for row in order.values() {
        if let Some(times) = usize::try_from(*row).ok().and_then(|row| times.get_mut(row)) {
            *times = times.saturating_add(1);
        }
    }
    let mut times = times.as_slice();
    let mut bytes = 0_u64;
    for part in parts {
        let (these, later) = times.split_at_checked(part.num_rows()).unwrap_or((times, &[]));
        times = later;
        for column in part.columns() {
            let data = column.to_data();
            for (row, times) in these.iter().enumerate() {
                bytes = bytes.saturating_add(size_of(&data, row, 1).saturating_mul(*times));
            }
        }
    }
    budget.claim(bytes, "rows that are asked for several times")
}

/// Bytes of some values, about; of a dictionary those of the keys.
pub(super) fn size_of(data: &ArrayData, start: usize, len: usize) -> u64 {
    let values = |bytes: usize| (bytes as u64).saturating_mul(len as u64);
    let at = data.offset().saturating_add(start);
    let child = |child: usize, range: Range<usize>| {
        let len = range.end.saturating_sub(range.start);
        data.child_data().get(child).map_or(0, |child| size_of(child, range.start, len))
    };
    match data.data_type() {
        DataType::Null => 0,
        DataType::Boolean => len as u64,
        DataType::Utf8 | DataType::Binary => {
            let range = between::<i32>(data, at, len);
            values(4).saturating_add(range.end.saturating_sub(range.start) as u64)
        }
        DataType::LargeUtf8 | DataType::LargeBinary => {
            let range = between::<i64>(data, at, len);
            values(8).saturating_add(range.end.saturating_sub(range.start) as u64)
        }
        DataType::List(_) | DataType::Map(..) => {
            values(4).saturating_add(child(0, between::<i32>(data, at, len)))
        }
        DataType::LargeList(_) => values(8).saturating_add(child(0, between::<i64>(data, at, len))),
        DataType::FixedSizeList(_, size) => {
            let size = usize::try_from(*size).unwrap_or(0);
            let start = at.saturating_mul(size);
            child(0, start..start.saturating_add(len.saturating_mul(size)))
        }
        DataType::FixedSizeBinary(size) => values(usize::try_from(*size).unwrap_or(0)),
        DataType::Struct(fields) => (0..fields.len())
            .map(|field| child(field, at..at.saturating_add(len)))
            .fold(0, u64::saturating_add),
        DataType::Dictionary(keys, _) => values(keys.primitive_width().unwrap_or(8)),
        other => values(other.primitive_width().unwrap_or(16)),
    }
}

/// Where some values of variable length are.
fn between<O: ArrowNativeType>(data: &ArrayData, at: usize, len: usize) -> Range<usize> {
    let offsets = data.buffers().first().map_or(&[][..], |buffer| buffer.typed_data::<O>());
    let offset = |at: usize| offsets.get(at).map_or(0, |offset| offset.as_usize());
    offset(at)..offset(at.saturating_add(len))
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
