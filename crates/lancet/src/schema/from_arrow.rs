//! Arrow arrays to the values that codecs see.
//!
//! Slots that are null are stored as zeros or empty values: what lies under a null in memory is
//! nobody's business, and zeros compress.
#![expect(
    clippy::arithmetic_side_effects,
    reason = "counts of arrays in memory, not numbers from a file"
)]

use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::types::ByteArrayType;
use arrow_array::{Array, ArrayRef, GenericByteArray};
use arrow_buffer::{ArrowNativeType, NullBuffer};
use arrow_schema::DataType;

use crate::codec::{FixedSizeListValues, FixedValues, Values, VariableValues};
use crate::error::{Error, Result};

/// Appends a range of an array.
pub(crate) fn append(out: &mut Values, array: &ArrayRef, range: Range<usize>) -> Result<()> {
    let array = array.slice(range.start, range.len());
    match out {
        Values::Nothing { len } => *len += array.len(),
        Values::Fixed(fixed) => append_fixed(fixed, &array)?,
        Values::Variable(variable) => append_variable(variable, &array)?,
        Values::FixedSizeList(lists) => append_lists(lists, &array)?,
        Values::Struct { len, children } => {
            let parts = array.as_struct();
            for ((child, part), field) in
                children.iter_mut().zip(parts.columns()).zip(parts.fields())
            {
                refuse_nulls(part, array.nulls(), field.name())?;
                append(child, part, 0..part.len())?;
            }
            *len += array.len();
        }
    }
    Ok(())
}

fn append_fixed(out: &mut FixedValues, array: &ArrayRef) -> Result<()> {
    if let Some(booleans) = array.as_boolean_opt() {
        let bits = booleans.values();
        let valid = booleans.nulls().map(|nulls| bits & nulls.inner());
        let bits = valid.as_ref().unwrap_or(bits);
        return out.append_bits(bits.values(), bits.offset()..bits.offset() + bits.len());
    }
    let data = array.to_data();
    let Some((buffer, width)) = data.buffers().first().zip(out.width_bytes()) else {
        return Err(unexpected(array.data_type()));
    };
    let first = out.data().len();
    out.append_flat(buffer.as_slice(), data.offset()..data.offset() + data.len())?;
    if let Some(nulls) = array.nulls() {
        let appended = out.data_mut().split_at_mut(first).1;
        for (slot, valid) in appended.chunks_exact_mut(width.max(1)).zip(nulls.iter()) {
            if !valid {
                slot.fill(0);
            }
        }
    }
    Ok(())
}

fn append_variable(out: &mut VariableValues, array: &ArrayRef) -> Result<()> {
    match array.data_type() {
        DataType::Utf8 => append_spans(out, array.as_string::<i32>()),
        DataType::LargeUtf8 => append_spans(out, array.as_string::<i64>()),
        DataType::Utf8View => append_bytes(out, array.as_string_view().iter()),
        DataType::Binary => append_spans(out, array.as_binary::<i32>()),
        DataType::LargeBinary => append_spans(out, array.as_binary::<i64>()),
        DataType::BinaryView => append_bytes(out, array.as_binary_view().iter()),
        other => Err(unexpected(other)),
    }
}

/// Values that lie back to back, as they do where none is null.
fn append_spans<T: ByteArrayType>(
    out: &mut VariableValues,
    array: &GenericByteArray<T>,
) -> Result<()> {
    if array.null_count() > 0 {
        return append_bytes(out, array.iter());
    }
    let offsets = array.value_offsets().iter().map(|offset| offset.as_usize());
    out.append_spans(array.value_data(), offsets)
}

fn append_bytes<T: AsRef<[u8]>>(
    out: &mut VariableValues,
    values: impl Iterator<Item = Option<T>>,
) -> Result<()> {
    for value in values {
        out.push(value.as_ref().map_or(&[], |value| value.as_ref()))?;
    }
    Ok(())
}

fn append_lists(out: &mut FixedSizeListValues, array: &ArrayRef) -> Result<()> {
    let lists = array.as_fixed_size_list();
    let items = lists.values();
    let dimension = usize::try_from(lists.value_length()).unwrap_or(0);
    // An item under a null list counts as valid, so that it does not ask for a bitmap.
    let item_nulls = items.nulls().filter(|nulls| nulls.null_count() > 0).map(|nulls| {
        let masked = lists.nulls().map(|rows| rows.expand(dimension));
        let visible =
            masked.map_or_else(|| nulls.inner().clone(), |rows| nulls.inner() | &!rows.inner());
        NullBuffer::new(visible)
    });
    let item_nulls = item_nulls.filter(|nulls| nulls.null_count() > 0);
    let Some(nulls) = item_nulls else {
        return out.push_items(lists.len(), |values, _| append(values, items, 0..items.len()));
    };
    let validity = out.validity_mut()?;
    validity.append_bits(nulls.validity(), nulls.offset()..nulls.offset() + nulls.len())?;
    append(&mut out.items, items, 0..items.len())?;
    out.len += lists.len();
    Ok(())
}

/// A packed row has no room for the nulls of its fields.
fn refuse_nulls(field: &ArrayRef, rows: Option<&NullBuffer>, name: &str) -> Result<()> {
    let hidden = |i: usize| rows.is_some_and(|rows| rows.is_null(i));
    let nulls = field.logical_nulls();
    if nulls.is_some_and(|nulls| (0..field.len()).any(|i| nulls.is_null(i) && !hidden(i))) {
        return Err(Error::unsupported(format!(
            "field `{name}` of a packed struct holds nulls; remove `lance-encoding:packed` \
             from the struct's metadata"
        )));
    }
    Ok(())
}

fn unexpected(data_type: &DataType) -> Error {
    Error::invalid(format!("{data_type} is not the type of this column"))
}
