//! Numbers as numpy and DLPack have them: a pointer, a shape and a type, without a copy.
//!
//! numpy takes them by `__array_interface__`, others by `__dlpack__`. Both keep the memory alive as long as they use it. numpy
//! does not write to it; others may, and get a copy of what is not theirs to write to.

use std::ffi::{CStr, c_void};
use std::ptr;

use arrow_array::cast::AsArray;
use arrow_array::types::Date32Type;
use arrow_array::{Array, ArrayRef, FixedSizeListArray};
use arrow_buffer::Buffer;
use arrow_schema::{DataType, TimeUnit};
use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyTuple};

use crate::memory::Memory;

/// Numbers in memory: one after the other, the last dimension first.
#[pyclass(frozen, module = "lancet._lancet")]
#[derive(Debug, Clone)]
pub(crate) struct Tensor {
    memory: Buffer,
    shape: Vec<usize>,
    /// As numpy names it.
    typestr: String,
    /// As DLPack names it: a code and bits; none for what it does not know.
    dlpack: Option<(u8, u8)>,
    whose: Memory,
}

/// For each row a byte that is 0 or 1.
pub(crate) fn flags(bytes: Vec<u8>) -> Tensor {
    let shape = vec![bytes.len()];
    let dlpack = Some((6, 8));
    Tensor { memory: bytes.into(), shape, typestr: "|b1".into(), dlpack, whose: Memory::Own }
}

/// The numbers of an array, whatever they are where it is null; none if it has no numbers.
pub(crate) fn tensor(array: &ArrayRef, whose: Memory) -> Option<Tensor> {
    match array.data_type() {
        DataType::FixedSizeList(_, width) => {
            let lists = array.as_fixed_size_list();
            let items = lists.values();
            let width = usize::try_from(*width).ok()?;
            if has_null_items(lists, width) {
                return None;
            }
            let items = items.slice(0, lists.len().checked_mul(width)?);
            let mut found = tensor(&items, whose)?;
            let inner = found.shape.split_off(1);
            found.shape = [lists.len(), width].into_iter().chain(inner).collect();
            Some(found)
        }
        DataType::Boolean => {
            let bits = array.as_boolean().values();
            Some(flags(bits.iter().map(u8::from).collect()))
        }
        DataType::Date32 => {
            // numpy counts days in 64 bits.
            let days =
                array.as_primitive::<Date32Type>().values().iter().map(|day| i64::from(*day));
            let days: Vec<i64> = days.collect();
            let shape = vec![days.len()];
            Some(Tensor {
                memory: days.into(),
                shape,
                typestr: typestr('M', 8, "[D]"),
                dlpack: None,
                whose: Memory::Own,
            })
        }
        plain => {
            let (letter, bytes, unit, code) = number(plain)?;
            let data = array.to_data();
            let start = data.offset().checked_mul(bytes)?;
            let len = data.len().checked_mul(bytes)?;
            let memory = data.buffers().first()?.slice_with_length(start, len);
            let dlpack = code.zip(u8::try_from(bytes.checked_mul(8)?).ok());
            let typestr = typestr(letter, bytes, unit);
            Some(Tensor { memory, shape: vec![data.len()], typestr, dlpack, whose })
        }
    }
}

/// Whether a list that is there has an item that is not.
fn has_null_items(lists: &FixedSizeListArray, width: usize) -> bool {
    let Some(items) = lists.values().logical_nulls().filter(|nulls| nulls.null_count() > 0) else {
        return false;
    };
    (0..lists.len()).filter(|row| lists.is_valid(*row)).any(|row| {
        let start = row.saturating_mul(width);
        items.slice(start, width).null_count() > 0
    })
}

fn typestr(letter: char, bytes: usize, unit: &str) -> String {
    let order = match bytes {
        1 => '|',
        _ if cfg!(target_endian = "little") => '<',
        _ => '>',
    };
    format!("{order}{letter}{bytes}{unit}")
}

/// The letter of a type in numpy, its bytes, its unit, and its code in DLPack.
fn number(data_type: &DataType) -> Option<(char, usize, &'static str, Option<u8>)> {
    use DataType as D;
    let unit = |unit: &TimeUnit| match unit {
        TimeUnit::Second => "[s]",
        TimeUnit::Millisecond => "[ms]",
        TimeUnit::Microsecond => "[us]",
        TimeUnit::Nanosecond => "[ns]",
    };
    Some(match data_type {
        D::Int8 => ('i', 1, "", Some(0)),
        D::Int16 => ('i', 2, "", Some(0)),
        D::Int32 => ('i', 4, "", Some(0)),
        D::Int64 => ('i', 8, "", Some(0)),
        D::UInt8 => ('u', 1, "", Some(1)),
        D::UInt16 => ('u', 2, "", Some(1)),
        D::UInt32 => ('u', 4, "", Some(1)),
        D::UInt64 => ('u', 8, "", Some(1)),
        D::Float16 => ('f', 2, "", Some(2)),
        D::Float32 => ('f', 4, "", Some(2)),
        D::Float64 => ('f', 8, "", Some(2)),
        D::Timestamp(scale, _) => ('M', 8, unit(scale), None),
        D::Duration(scale) => ('m', 8, unit(scale), None),
        D::Date64 => ('M', 8, "[ms]", None),
        _ => return None,
    })
}

#[pymethods]
impl Tensor {
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let interface = PyDict::new(py);
        interface.set_item("version", 3)?;
        interface.set_item("typestr", &self.typestr)?;
        interface.set_item("shape", PyTuple::new(py, &self.shape)?)?;
        interface.set_item("data", (self.memory.as_ptr() as usize, true))?;
        Ok(interface)
    }

    /// A tensor of the processor: DLPack calls it device 1.
    fn __dlpack_device__(&self) -> (i32, i32) {
        (1, 0)
    }

    #[pyo3(signature = (*, stream=None, max_version=None, dl_device=None, copy=None))]
    fn __dlpack__<'py>(
        &self,
        py: Python<'py>,
        stream: Option<Bound<'py, PyAny>>,
        max_version: Option<Bound<'py, PyAny>>,
        dl_device: Option<(i32, i32)>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = (stream, max_version);
        if dl_device.is_some_and(|device| device != (1, 0)) {
            return Err(PyBufferError::new_err("the numbers are in the memory of the processor"));
        }
        let Some((code, bits)) = self.dlpack else {
            let message = format!("DLPack has no type {}; use `to_numpy`", self.typestr);
            return Err(PyBufferError::new_err(message));
        };
        // Tensors can be written to, and what takes them need not ask first.
        let memory = match (copy, self.whose) {
            (Some(false), Memory::Shared) => {
                return Err(PyBufferError::new_err(
                    "the numbers lie in memory that must not be written to; take a copy, or use `to_numpy`",
                ));
            }
            (Some(true), _) | (_, Memory::Shared) => Buffer::from(self.memory.as_slice()),
            _ => self.memory.clone(),
        };
        managed(py, memory, &self.shape, code, bits)
    }
}

/// `DLTensor`, as DLPack lays it out.
#[repr(C)]
struct DlTensor {
    data: *mut c_void,
    device_type: i32,
    device_id: i32,
    ndim: i32,
    code: u8,
    bits: u8,
    lanes: u16,
    shape: *mut i64,
    strides: *mut i64,
    byte_offset: u64,
}

/// `DLManagedTensor`, and behind it what it points to.
#[repr(C)]
struct DlManaged {
    tensor: DlTensor,
    manager: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut DlManaged)>,
    shape: Vec<i64>,
    memory: Buffer,
}

const DLTENSOR: &CStr = c"dltensor";

unsafe extern "C" fn delete(managed: *mut DlManaged) {
    // SAFETY: the consumer calls it once, with what `managed` has made by `Box::into_raw`.
    drop(unsafe { Box::from_raw(managed) });
}

/// A capsule that nobody took is not renamed: then what is in it goes with it.
unsafe extern "C" fn destroy(capsule: *mut ffi::PyObject) {
    // SAFETY: Python calls it with the capsule, which has a `DlManaged` under this name.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, DLTENSOR.as_ptr()) == 1 {
            delete(ffi::PyCapsule_GetPointer(capsule, DLTENSOR.as_ptr()).cast());
        }
    }
}

fn managed<'py>(
    py: Python<'py>,
    memory: Buffer,
    shape: &[usize],
    code: u8,
    bits: u8,
) -> PyResult<Bound<'py, PyCapsule>> {
    let shape: Vec<i64> = shape.iter().map(|n| i64::try_from(*n).unwrap_or(0)).collect();
    let mut managed = Box::new(DlManaged {
        tensor: DlTensor {
            data: memory.as_ptr().cast_mut().cast(),
            device_type: 1,
            device_id: 0,
            ndim: i32::try_from(shape.len()).unwrap_or(0),
            code,
            bits,
            lanes: 1,
            shape: ptr::null_mut(),
            strides: ptr::null_mut(),
            byte_offset: 0,
        },
        manager: ptr::null_mut(),
        deleter: Some(delete),
        shape,
        memory,
    });
    managed.tensor.shape = managed.shape.as_mut_ptr();
    let pointer = ptr::NonNull::from(Box::leak(managed)).cast();
    // SAFETY: the pointer stays valid until `delete`, which `destroy` or the consumer calls.
    unsafe { PyCapsule::new_with_pointer_and_destructor(py, pointer, DLTENSOR, Some(destroy)) }
}
