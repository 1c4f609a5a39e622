//! Arrays of other libraries as Arrow's own code takes them.
//!
//! Where it would lose something, or panic, it is done here.

use std::ffi::CStr;

use arrow_array::ffi::{FFI_ArrowArray, from_ffi_and_data_type};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{Array, RecordBatch, RecordBatchOptions, RecordBatchReader, StructArray};
use arrow_data::ArrayData;
use arrow_schema::{ArrowError, DataType, SchemaRef};

/// The batches of a stream of another library. Arrow's own reader forgets which rows are null.
pub(crate) struct Stream {
    pub(crate) stream: FFI_ArrowArrayStream,
    pub(crate) schema: SchemaRef,
}

impl Stream {
    fn error(&mut self) -> ArrowError {
        let message = self.stream.get_last_error.map_or(std::ptr::null(), |last| {
            // SAFETY: a stream that has failed may be asked why.
            unsafe { last(&raw mut self.stream) }
        });
        let message = if message.is_null() {
            "the stream of rows failed, and does not say why".into()
        } else {
            // SAFETY: the interface promises a text that ends with a zero, until the stream is asked for more.
            unsafe { CStr::from_ptr(message) }.to_string_lossy().into_owned()
        };
        ArrowError::CDataInterface(message)
    }
}

impl Iterator for Stream {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut array = FFI_ArrowArray::empty();
        // SAFETY: the stream is ours, and has not been released.
        let code = unsafe { self.stream.get_next?(&raw mut self.stream, &raw mut array) };
        if code != 0 {
            return Some(Err(self.error()));
        }
        if array.is_released() {
            return None;
        }
        let rows = DataType::Struct(self.schema.fields().clone());
        // SAFETY: the interface promises an array of the type of the stream.
        let data = unsafe { from_ffi_and_data_type(array, rows) };
        Some(data.and_then(|data| {
            let rows = StructArray::from(unsliced(data));
            batch_of(&rows, self.schema.clone())
        }))
    }
}

impl RecordBatchReader for Stream {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}

/// The same values, with no offset in a struct, nor in a vector: Arrow adds up those of structs inside each other, and panics.
pub(crate) fn unsliced(data: ArrayData) -> ArrayData {
    let len = data.len();
    if data.child_data().is_empty() { data } else { part_of(&data, 0, len) }
}

/// Some of the values of an array.
fn part_of(data: &ArrayData, start: usize, len: usize) -> ArrayData {
    let below = data.offset().saturating_add(start);
    let of_each = |items: usize| {
        let (start, len) = (below.saturating_mul(items), len.saturating_mul(items));
        data.child_data().iter().map(move |child| part_of(child, start, len)).collect()
    };
    let children: Vec<ArrayData> = match data.data_type() {
        DataType::Struct(_) => of_each(1),
        DataType::FixedSizeList(_, width) => of_each(usize::try_from(*width).unwrap_or(0)),
        _ if data.child_data().is_empty() => return data.slice(start, len),
        _ => {
            // Which of the items they have is in a buffer.
            let children = data.child_data().iter().cloned().map(unsliced).collect();
            let data = data.slice(start, len).into_builder().child_data(children);
            // SAFETY: the children have the same values as before.
            return unsafe { data.build_unchecked() };
        }
    };
    let nulls = data.nulls().map(|nulls| nulls.slice(start, len));
    let data = ArrayData::builder(data.data_type().clone()).len(len).nulls(nulls);
    // SAFETY: the children have the values that the offset has meant, and as many as there must be.
    unsafe { data.child_data(children).build_unchecked() }
}

/// The rows of an array of structs.
pub(crate) fn batch_of(rows: &StructArray, schema: SchemaRef) -> Result<RecordBatch, ArrowError> {
    if rows.null_count() > 0 {
        let message = "rows that are null cannot be stored; fill or drop them";
        return Err(ArrowError::InvalidArgumentError(message.into()));
    }
    let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
    RecordBatch::try_new_with_options(schema, rows.columns().to_vec(), &options)
}
