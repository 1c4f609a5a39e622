//! What values take in memory, whatever the buffers around them hold besides: slices and views share
//! buffers with rows that are not theirs.

use arrow_array::cast::AsArray;
use arrow_array::types::{BinaryViewType, ByteViewType, StringViewType};
use arrow_array::{Array, ArrayRef, GenericByteViewArray, OffsetSizeTrait, RecordBatch};
use arrow_schema::DataType;

/// Bytes of a view: a length, and the value or where it lies.
const VIEW_BYTES: u64 = 16;
/// Values up to this length stand in the view itself.
const INLINE_BYTES: u32 = 12;

/// Bytes of the values of all columns.
pub fn batch_bytes(batch: &RecordBatch) -> u64 {
    batch.columns().iter().map(value_bytes).sum()
}

/// Bytes of the values and of what belongs to them: validity, offsets, views.
pub fn value_bytes(array: &ArrayRef) -> u64 {
    match array.data_type() {
        DataType::Utf8View => validity(array) + views::<StringViewType>(array.as_string_view()),
        DataType::BinaryView => validity(array) + views::<BinaryViewType>(array.as_binary_view()),
        DataType::Struct(_) => {
            validity(array) + array.as_struct().columns().iter().map(value_bytes).sum::<u64>()
        }
        DataType::List(_) => validity(array) + items::<i32>(array),
        DataType::LargeList(_) => validity(array) + items::<i64>(array),
        DataType::FixedSizeList(_, len) => {
            let list = array.as_fixed_size_list();
            let len = usize::try_from(*len).unwrap_or(0).saturating_mul(list.len());
            let start = usize::try_from(list.value_offset(0)).unwrap_or(0);
            validity(array) + value_bytes(&list.values().slice(start, len))
        }
        _ => array.to_data().get_slice_memory_size().unwrap_or_default() as u64,
    }
}

fn validity(array: &ArrayRef) -> u64 {
    array.nulls().map_or(0, |_| array.len().div_ceil(8) as u64)
}

fn views<T: ByteViewType>(array: &GenericByteViewArray<T>) -> u64 {
    let long =
        array.lengths().zip(0..).filter(|(len, row)| *len > INLINE_BYTES && array.is_valid(*row));
    array.len() as u64 * VIEW_BYTES + long.map(|(len, _)| u64::from(len)).sum::<u64>()
}

/// Offsets, and the items they span.
fn items<O: OffsetSizeTrait>(array: &ArrayRef) -> u64 {
    let list = array.as_list::<O>();
    let offsets = list.value_offsets();
    let (Some(start), Some(end)) = (offsets.first(), offsets.last()) else { return 0 };
    let (start, end) = (start.as_usize(), end.as_usize());
    let items = list.values().slice(start, end.saturating_sub(start));
    size_of_val(offsets) as u64 + value_bytes(&items)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::builder::{ListBuilder, StringViewBuilder};
    use arrow_array::{Int64Array, StringArray, StringViewArray};

    use super::*;

    #[test]
    fn views_count_their_own_values() {
        let long = "a value that is no longer inline";
        let mut values = vec![Some(long); 1000];
        values[1] = Some("short");
        values[2] = None;
        let all = StringViewArray::from(values);
        let part: ArrayRef = Arc::new(all.slice(0, 4));
        // One byte of validity, four views, two long values.
        assert_eq!(value_bytes(&part), 1 + 4 * 16 + 2 * long.len() as u64);
    }

    #[test]
    fn lists_count_the_items_of_their_rows() {
        let mut lists = ListBuilder::new(StringViewBuilder::new());
        for row in 0..100 {
            lists.append_value((0..row % 3).map(|_| Some("x")));
        }
        let part: ArrayRef = Arc::new(lists.finish().slice(3, 3)); // 0, 1 and 2 items
        assert_eq!(value_bytes(&part), 4 * 4 + 3 * 16);
    }

    #[test]
    fn others_are_counted_as_arrow_does() {
        let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(0..100).slice(10, 5));
        assert_eq!(value_bytes(&numbers), 5 * 8);
        let words: ArrayRef = Arc::new(StringArray::from(vec!["one", "two"]).slice(1, 1));
        assert_eq!(value_bytes(&words), 2 * 4 + 3);
    }
}
