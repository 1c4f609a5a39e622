//! Arrow data from and to other libraries: structures of C in capsules, as the PyCapsule interface of Arrow has it.
//!
//! Nothing is copied. A structure in a capsule is released when the capsule goes, unless somebody has taken it.

use std::ffi::CStr;
use std::ptr::NonNull;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi, to_ffi};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{
    Array, ArrayRef, RecordBatch, RecordBatchIterator, RecordBatchReader, StructArray, make_array,
};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};

use crate::errors::OrRaise;
use crate::imported::{Stream, batch_of, unsliced};
use crate::work::next_in_stream;

const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";
const STREAM: &CStr = c"arrow_array_stream";

/// A schema for others.
pub(crate) fn schema_out<'py>(py: Python<'py>, schema: &Schema) -> PyResult<Bound<'py, PyCapsule>> {
    PyCapsule::new_with_value(py, FFI_ArrowSchema::try_from(schema).or_raise()?, SCHEMA)
}

/// An array for others, with its field.
pub(crate) fn array_out<'py>(
    py: Python<'py>,
    array: &ArrayRef,
    field: &Field,
) -> PyResult<Bound<'py, PyTuple>> {
    let (array, _) = to_ffi(&array.to_data()).or_raise()?;
    let schema = FFI_ArrowSchema::try_from(field).or_raise()?;
    let schema = PyCapsule::new_with_value(py, schema, SCHEMA)?;
    PyTuple::new(py, [schema, PyCapsule::new_with_value(py, array, ARRAY)?])
}

/// A batch for others: a struct of its columns.
pub(crate) fn batch_out<'py>(
    py: Python<'py>,
    batch: &RecordBatch,
) -> PyResult<Bound<'py, PyTuple>> {
    let fields = batch.schema_ref().fields().clone();
    let array = StructArray::try_new_with_length(
        fields.clone(),
        batch.columns().to_vec(),
        None,
        batch.num_rows(),
    );
    let field = Field::new("", DataType::Struct(fields), false)
        .with_metadata(batch.schema_ref().metadata().clone());
    let array: ArrayRef = Arc::new(array.or_raise()?);
    array_out(py, &array, &field)
}

/// Batches for others.
pub(crate) fn stream_out<'py>(
    py: Python<'py>,
    reader: Box<dyn RecordBatchReader + Send>,
) -> PyResult<Bound<'py, PyCapsule>> {
    let stream = FFI_ArrowArrayStream::new(Box::new(Careful(reader)));
    PyCapsule::new_with_value(py, stream, STREAM)
}

/// Batches in memory for others.
pub(crate) fn batches_out<'py>(
    py: Python<'py>,
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
) -> PyResult<Bound<'py, PyCapsule>> {
    let batches = batches.into_iter().map(Ok::<_, ArrowError>);
    stream_out(py, Box::new(RecordBatchIterator::new(batches, schema)))
}

/// A reader that hands neither panics nor Ctrl-C to code of C.
struct Careful(Box<dyn RecordBatchReader + Send>);

impl Iterator for Careful {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        next_in_stream(|| self.0.next())
    }
}

impl RecordBatchReader for Careful {
    fn schema(&self) -> SchemaRef {
        self.0.schema()
    }
}

/// The structure in a capsule.
fn structure<T>(capsule: &Bound<'_, PyAny>, name: &CStr) -> PyResult<NonNull<T>> {
    let capsule = capsule.cast::<PyCapsule>().map_err(|_| {
        PyTypeError::new_err("the Arrow interface gave something else than a capsule")
    })?;
    Ok(capsule.pointer_checked(Some(name))?.cast())
}

/// Whether an object has Arrow rows.
fn has(object: &Bound<'_, PyAny>, method: &str) -> PyResult<bool> {
    object.hasattr(method)
}

/// The batches of anything that has Arrow rows: a stream, or one array of structs.
pub(crate) fn rows_in(object: &Bound<'_, PyAny>) -> PyResult<Box<dyn RecordBatchReader + Send>> {
    if has(object, "__arrow_c_stream__")? {
        let capsule = object.call_method0("__arrow_c_stream__")?;
        let stream = structure::<FFI_ArrowArrayStream>(&capsule, STREAM)?;
        let schema = stream_schema(stream)?;
        // SAFETY: the interface promises a stream behind this name. It is taken out of the capsule, which
        // then has an empty one.
        let stream = unsafe { FFI_ArrowArrayStream::from_raw(stream.as_ptr()) };
        return Ok(Box::new(Stream { stream, schema }));
    }
    if has(object, "__arrow_c_array__")? {
        let (array, field) = array_in(object)?;
        let Some(rows) = array.as_struct_opt() else {
            return Err(PyTypeError::new_err(format!(
                "an array of type {} is no table; give one with named columns",
                array.data_type()
            )));
        };
        let schema = Schema::new_with_metadata(rows.fields().clone(), field.metadata().clone());
        let batch = batch_of(rows, Arc::new(schema)).or_raise()?;
        let schema = batch.schema();
        return Ok(Box::new(RecordBatchIterator::new([Ok(batch)], schema)));
    }
    let name = object.get_type().name()?;
    Err(PyTypeError::new_err(format!(
        "{name} has no Arrow rows; give a table, a data frame or a batch (anything with \
         `__arrow_c_stream__` or `__arrow_c_array__`), for a LazyFrame its `collect()`"
    )))
}

/// The one array of an object, and its field.
pub(crate) fn array_in(object: &Bound<'_, PyAny>) -> PyResult<(ArrayRef, Field)> {
    let (schema, array): (Bound<'_, PyAny>, Bound<'_, PyAny>) =
        object.call_method0("__arrow_c_array__")?.extract()?;
    let schema = structure::<FFI_ArrowSchema>(&schema, SCHEMA)?;
    let array = structure::<FFI_ArrowArray>(&array, ARRAY)?;
    // SAFETY: the interface promises structures behind these names. The array is taken out of the capsule, which then
    // has an empty one; the schema is only looked at, while the capsule lives.
    let (data, field) = unsafe {
        let array = FFI_ArrowArray::from_raw(array.as_ptr());
        let schema = schema.as_ref();
        (from_ffi(array, schema).or_raise()?, Field::try_from(schema).or_raise()?)
    };
    Ok((make_array(unsliced(data)), field))
}

/// The one field that an object is, or has: a type, or a field.
pub(crate) fn field_in(object: &Bound<'_, PyAny>) -> PyResult<Field> {
    if !has(object, "__arrow_c_schema__")? {
        let name = object.get_type().name()?;
        return Err(PyTypeError::new_err(format!(
            "{name} is no type of Arrow; give one of pyarrow"
        )));
    }
    let capsule = object.call_method0("__arrow_c_schema__")?;
    let schema = structure::<FFI_ArrowSchema>(&capsule, SCHEMA)?;
    // SAFETY: the interface promises a schema behind this name; it is only looked at, while the capsule lives.
    unsafe { Field::try_from(schema.as_ref()) }.or_raise()
}

/// The schema of anything that has one.
pub(crate) fn schema_in(object: &Bound<'_, PyAny>) -> PyResult<SchemaRef> {
    if has(object, "__arrow_c_schema__")? {
        let capsule = object.call_method0("__arrow_c_schema__")?;
        let schema = structure::<FFI_ArrowSchema>(&capsule, SCHEMA)?;
        // SAFETY: the interface promises a schema behind this name; it is only looked at, while the capsule lives.
        return schema_of(unsafe { schema.as_ref() });
    }
    if has(object, "__arrow_c_stream__")? || has(object, "__arrow_c_array__")? {
        return Ok(rows_in(object)?.schema());
    }
    let name = object.get_type().name()?;
    Err(PyTypeError::new_err(format!(
        "{name} is no schema; give one of lancet, pyarrow, nanoarrow or arro3, or rows"
    )))
}

/// The schema of the stream in a capsule, which stays there.
pub(crate) fn schema_of_stream(capsule: &Bound<'_, PyAny>) -> PyResult<SchemaRef> {
    stream_schema(structure::<FFI_ArrowArrayStream>(capsule, STREAM)?)
}

fn stream_schema(stream: NonNull<FFI_ArrowArrayStream>) -> PyResult<SchemaRef> {
    let stream = stream.as_ptr();
    let mut schema = FFI_ArrowSchema::empty();
    // SAFETY: the interface promises a stream behind this name, which may be asked for its schema at any time.
    let code = unsafe {
        match (*stream).get_schema {
            Some(get_schema) => get_schema(stream, &raw mut schema),
            None => return Err(PyValueError::new_err("the stream has been read")),
        }
    };
    if code != 0 {
        return Err(PyValueError::new_err("the rows have no schema that can be told"));
    }
    schema_of(&schema)
}

fn schema_of(schema: &FFI_ArrowSchema) -> PyResult<SchemaRef> {
    // Rows are structs.
    if schema.format() != "+s" {
        return Err(PyTypeError::new_err(
            "these are the values of one column, which has no name: give a table, or a dict like {\"name\": values}",
        ));
    }
    Ok(Arc::new(Schema::try_from(schema).or_raise()?))
}
