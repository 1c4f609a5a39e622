//! Batches of this Arrow as batches of the Arrow that `lance-file` is made with, and back, through
//! the C data interface: no values are copied.

use std::mem::transmute;

use anyhow::Result;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi, to_ffi};
use arrow_array::{Array, RecordBatch, StructArray};
use arrow_array58::ffi as ffi58;
use arrow_array58::{Array as Array58, RecordBatch as RecordBatch58, StructArray as StructArray58};

pub fn to_58(batch: &RecordBatch) -> Result<RecordBatch58> {
    let data = StructArray::from(batch.clone()).into_data();
    let (array, schema) = to_ffi(&data)?;
    // SAFETY: both versions lay these structs out as the C data interface says.
    let data = unsafe {
        let array = transmute::<FFI_ArrowArray, ffi58::FFI_ArrowArray>(array);
        let schema = transmute::<FFI_ArrowSchema, ffi58::FFI_ArrowSchema>(schema);
        ffi58::from_ffi(array, &schema)?
    };
    Ok(RecordBatch58::from(StructArray58::from(data)))
}

pub fn from_58(batch: RecordBatch58) -> Result<RecordBatch> {
    let data = StructArray58::from(batch).into_data();
    let (array, schema) = ffi58::to_ffi(&data)?;
    // SAFETY: as above.
    let data = unsafe {
        let array = transmute::<ffi58::FFI_ArrowArray, FFI_ArrowArray>(array);
        let schema = transmute::<ffi58::FFI_ArrowSchema, FFI_ArrowSchema>(schema);
        from_ffi(array, &schema)?
    };
    Ok(RecordBatch::from(StructArray::from(data)))
}
