//! The memory that rows lie in: whose it is, and how much.

use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, OffsetSizeTrait, RecordBatch};
use arrow_buffer::ArrowNativeType;
use arrow_schema::DataType;

/// Whose memory rows lie in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Memory {
    /// Lancet has made it for these rows: it does no harm if somebody writes to it.
    Own,
    /// It is that of `bytes`, of a mapped file, or of another library. Who writes to it changes these, or crashes.
    Shared,
}

/// More bytes than these go back to the system.
const MAX_KEPT_BYTES: usize = 16 << 20;
/// What a file with a large dictionary may take while it is open. Files are opened one after the other.
pub(crate) const FILE_BYTES: usize = 4 << 20;

/// Says that objects of so many bytes together are made, and that such may come again.
///
/// The allocator of glibc gives memory back as soon as 128 KiB of it are free, and has it filled with zeros by the system when
/// it asks for it again: 256 images of 20 KB took 2.7 ms this way, of which all but 0.8 were for that. Once one block was let
/// go that was larger, it keeps twice as much as that one had. Nobody writes to this one, so that it costs two calls.
pub(crate) fn keep_memory(bytes: usize) {
    static KEPT: AtomicUsize = AtomicUsize::new(0);
    let bytes = bytes.min(MAX_KEPT_BYTES);
    if KEPT.fetch_max(bytes, Ordering::Relaxed) < bytes {
        drop(black_box(Vec::<u8>::with_capacity(bytes)));
    }
}

/// The bytes that the rows of a batch take, of buffers that may hold more.
pub(crate) fn batch_bytes(batch: &RecordBatch) -> usize {
    batch.columns().iter().map(array_bytes).fold(0, usize::saturating_add)
}

/// The bytes that the values of an array take.
fn array_bytes(array: &ArrayRef) -> usize {
    match array.data_type() {
        DataType::List(_) => list_bytes::<i32>(array),
        DataType::LargeList(_) => list_bytes::<i64>(array),
        DataType::Map(..) => {
            let map = array.as_map();
            let (start, end) = bounds(map.value_offsets());
            let entries = map.entries().slice(start, end.saturating_sub(start));
            let entries = entries.columns().iter().map(array_bytes).fold(0, usize::saturating_add);
            entries.saturating_add(array.len().saturating_mul(size_of::<i32>()))
        }
        DataType::Struct(_) => {
            array.as_struct().columns().iter().map(array_bytes).fold(0, usize::saturating_add)
        }
        DataType::FixedSizeList(..) => array_bytes(array.as_fixed_size_list().values()),
        DataType::Utf8View => view_bytes(array.as_string_view().lengths()),
        DataType::BinaryView => view_bytes(array.as_binary_view().lengths()),
        _ => array.to_data().get_slice_memory_size().unwrap_or(0),
    }
}

fn list_bytes<O: OffsetSizeTrait>(array: &ArrayRef) -> usize {
    let list = array.as_list::<O>();
    let (start, end) = bounds(list.value_offsets());
    let items = list.values().slice(start, end.saturating_sub(start));
    array_bytes(&items).saturating_add(array.len().saturating_mul(size_of::<O>()))
}

/// Where the items of lists begin, and end.
fn bounds<O: ArrowNativeType>(offsets: &[O]) -> (usize, usize) {
    let at = |offset: Option<&O>| offset.map_or(0, |offset| offset.as_usize());
    (at(offsets.first()), at(offsets.last()))
}

fn view_bytes(lengths: impl Iterator<Item = u32>) -> usize {
    lengths.map(|length| (length as usize).saturating_add(16)).fold(0, usize::saturating_add)
}
