//! Rows in memory: some batches of one schema.

use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::SchemaRef;
use arrow_select::concat::concat_batches;
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};

use crate::capsules::{batch_out, batches_out, rows_in};
use crate::column::Column;
use crate::errors::{OrRaise, no_column};
use crate::memory::{Memory, batch_bytes};
use crate::schema::Schema;
use crate::work::run;

/// Rows in memory.
#[pyclass(frozen, module = "lancet._lancet")]
#[derive(Debug)]
pub(crate) struct Data {
    pub(crate) schema: SchemaRef,
    pub(crate) batches: Vec<RecordBatch>,
    pub(crate) memory: Memory,
}

impl Data {
    pub(crate) fn of_batch(batch: RecordBatch, memory: Memory) -> Self {
        Self { schema: batch.schema(), batches: vec![batch], memory }
    }

    fn rows(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }
}

#[pymethods]
impl Data {
    /// All rows of anything that has Arrow rows.
    #[staticmethod]
    fn from_arrow(py: Python<'_>, object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let mut reader = rows_in(object)?;
        let schema = reader.schema();
        let mut batches = Vec::new();
        loop {
            let (next, back) = run(py, move || {
                let next = reader.next().transpose()?;
                Ok::<_, arrow_schema::ArrowError>((next, reader))
            })?;
            reader = back;
            match next {
                Some(batch) => batches.push(batch),
                None => return Ok(Self { schema, batches, memory: Memory::Shared }),
            }
            py.check_signals()?;
        }
    }

    /// One batch of columns: a name, what the values are, and the values; see `columns`. Lists become what the schema
    /// says of their columns.
    #[staticmethod]
    #[pyo3(signature = (columns, schema=None))]
    fn from_columns(
        columns: Vec<(String, String, Bound<'_, PyAny>)>,
        schema: Option<&Schema>,
    ) -> PyResult<Self> {
        let batch = crate::columns::batch(columns, schema.map(|schema| &schema.inner))?;
        Ok(Self::of_batch(batch, Memory::Shared))
    }

    #[getter]
    fn num_rows(&self) -> usize {
        self.rows()
    }

    #[getter]
    fn num_batches(&self) -> usize {
        self.batches.len()
    }

    /// Bytes of memory that the rows take.
    #[getter]
    fn nbytes(&self) -> usize {
        self.batches.iter().map(batch_bytes).fold(0, usize::saturating_add)
    }

    #[getter]
    fn schema(&self) -> Schema {
        Schema { inner: self.schema.clone() }
    }

    /// A column by its place.
    fn column(&self, index: usize) -> PyResult<Column> {
        let field = self.schema.fields().get(index).cloned();
        let field = field.ok_or_else(|| PyIndexError::new_err("there is no such column"))?;
        let arrays = self.batches.iter().filter_map(|batch| batch.columns().get(index).cloned());
        Ok(Column { field, arrays: arrays.collect(), memory: self.memory })
    }

    /// Some columns by their places.
    fn columns(&self, indexes: Vec<usize>) -> PyResult<Self> {
        let schema = Arc::new(self.schema.project(&indexes).or_raise()?);
        let batches = self.batches.iter().map(|batch| batch.project(&indexes));
        let batches = batches.collect::<Result<_, _>>().or_raise()?;
        Ok(Self { schema, batches, memory: self.memory })
    }

    /// A column by its name, nested ones with dots.
    fn named(&self, name: &str) -> PyResult<Column> {
        let names = self.schema.fields().iter().map(|field| field.name());
        if let Some(index) = names.clone().position(|known| known == name) {
            return self.column(index);
        }
        for (index, known) in names.enumerate() {
            let rest = name.strip_prefix(known.as_str()).and_then(|rest| rest.strip_prefix('.'));
            if let Some(found) = rest.map(|rest| self.column(index)?.child(rest)) {
                return found;
            }
        }
        Err(no_column(name, "", &self.schema))
    }

    /// The one batch at a place.
    fn batch(&self, index: usize) -> PyResult<Self> {
        let batch = self.batches.get(index).cloned();
        let batch = batch.ok_or_else(|| PyIndexError::new_err("there is no such batch"))?;
        Ok(Self::of_batch(batch, self.memory))
    }

    /// Some rows; those beyond the end are left out.
    fn slice(&self, start: usize, len: usize) -> Self {
        let (mut skip, mut left) = (start, len);
        let mut batches = Vec::new();
        for batch in &self.batches {
            let rows = batch.num_rows();
            let from = skip.min(rows);
            skip = skip.saturating_sub(rows);
            let count = left.min(rows.saturating_sub(from));
            if count > 0 {
                batches.push(batch.slice(from, count));
                left = left.saturating_sub(count);
            }
        }
        Self { schema: self.schema.clone(), batches, memory: self.memory }
    }

    /// The same rows as one batch.
    fn combine(&self, py: Python<'_>) -> PyResult<Self> {
        if let [batch] = self.batches.as_slice() {
            return Ok(Self::of_batch(batch.clone(), self.memory));
        }
        let batch = run(py, || concat_batches(&self.schema, &self.batches))?;
        Ok(Self::of_batch(batch, self.memory))
    }

    /// Whether both have the same columns with the same values, however they are cut into batches.
    fn equals(&self, py: Python<'_>, other: &Self) -> PyResult<bool> {
        if self.schema != other.schema || self.rows() != other.rows() {
            return Ok(false);
        }
        let (one, other) = (self.combine(py)?, other.combine(py)?);
        Ok(py.detach(|| one.batches == other.batches))
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        crate::capsules::schema_out(py, &self.schema)
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A wish, which one may leave to the consumer.
        let _ = requested_schema;
        batches_out(py, self.schema.clone(), self.batches.clone())
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let _ = requested_schema;
        match self.batches.as_slice() {
            [batch] => batch_out(py, batch),
            _ => Err(PyValueError::new_err("these rows are several batches: ask for a stream")),
        }
    }
}
