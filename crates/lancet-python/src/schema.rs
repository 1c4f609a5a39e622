//! What rows are made of.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_schema::{Field, SchemaRef};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::capsules::{field_in, schema_in, schema_of_stream, schema_out};

/// The fields of rows.
#[pyclass(frozen, module = "lancet._lancet")]
#[derive(Debug)]
pub(crate) struct Schema {
    pub(crate) inner: SchemaRef,
}

impl Schema {
    fn field(&self, index: usize) -> PyResult<&Field> {
        let field = self.inner.fields().get(index);
        field.map(AsRef::as_ref).ok_or_else(|| PyIndexError::new_err("there is no such field"))
    }
}

#[pymethods]
impl Schema {
    /// The schema of anything that has one.
    #[staticmethod]
    fn from_arrow(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self { inner: schema_in(object)? })
    }

    /// One field of a type of another library.
    #[staticmethod]
    fn of_type(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let fields = vec![field_in(object)?];
        Ok(Self { inner: Arc::new(arrow_schema::Schema::new(fields)) })
    }

    /// The schema of a stream, which is not touched otherwise.
    #[staticmethod]
    fn of_stream(capsule: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self { inner: schema_of_stream(capsule)? })
    }

    #[getter]
    fn names(&self) -> Vec<&str> {
        self.inner.fields().iter().map(|field| field.name().as_str()).collect()
    }

    #[getter]
    fn metadata(&self) -> HashMap<String, String> {
        self.inner.metadata().clone()
    }

    /// The type of a field, in words.
    fn type_of(&self, index: usize) -> PyResult<String> {
        Ok(self.field(index)?.data_type().to_string())
    }

    fn is_nullable(&self, index: usize) -> PyResult<bool> {
        Ok(self.field(index)?.is_nullable())
    }

    fn metadata_of(&self, index: usize) -> PyResult<HashMap<String, String>> {
        Ok(self.field(index)?.metadata().clone())
    }

    fn equals(&self, other: &Self) -> bool {
        self.inner == other.inner
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_out(py, &self.inner)
    }
}
