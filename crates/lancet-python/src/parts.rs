//! Rows that come in several parts, one after the other, as an iterator of Python gives them on the thread that has given it.

use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::capsules::rows_in;
use crate::work::in_caller;

/// The rows of anything that has Arrow rows, or that gives such one after the other.
pub(crate) fn all_rows_in(
    object: &Bound<'_, PyAny>,
) -> PyResult<Box<dyn RecordBatchReader + Send>> {
    let has_rows = object.hasattr("__arrow_c_stream__")? || object.hasattr("__arrow_c_array__")?;
    let (false, Ok(mut parts)) = (has_rows, object.try_iter()) else { return rows_in(object) };
    let Some(first) = parts.next() else {
        return Err(PyValueError::new_err("there are no rows, and nothing tells their columns"));
    };
    let current = rows_in(&first?)?;
    let schema = current.schema();
    Ok(Box::new(Parts {
        parts: Arc::new(parts.unbind().into_any()),
        current: Some(current),
        schema,
    }))
}

struct Parts {
    /// An iterator.
    parts: Arc<Py<PyAny>>,
    current: Option<Box<dyn RecordBatchReader + Send>>,
    schema: SchemaRef,
}

impl Parts {
    /// The rows of the next part.
    fn advance(&self) -> PyResult<Option<Box<dyn RecordBatchReader + Send>>> {
        let parts = self.parts.clone();
        in_caller(move |py| {
            let next = parts.bind(py).try_iter()?.next();
            next.map(|part| rows_in(&part?)).transpose()
        })
    }
}

impl Iterator for Parts {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(batch) = self.current.as_mut()?.next() {
                return Some(batch.and_then(|batch| conformed(batch, &self.schema)));
            }
            self.current = match self.advance() {
                Ok(next) => next,
                Err(raised) => {
                    self.current = None;
                    return Some(Err(ArrowError::ExternalError(Box::new(raised))));
                }
            };
        }
    }
}

impl RecordBatchReader for Parts {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}

/// A batch that has the columns of the first part.
fn conformed(batch: RecordBatch, schema: &SchemaRef) -> Result<RecordBatch, ArrowError> {
    if batch.schema_ref() == schema {
        return Ok(batch);
    }
    let same = batch.schema_ref().fields().len() == schema.fields().len();
    let names = batch.schema_ref().fields().iter().zip(schema.fields());
    if !same || names.clone().any(|(one, other)| one.name() != other.name()) {
        let message = "the parts have different columns; give all the same ones, in the same order";
        return Err(ArrowError::SchemaError(message.into()));
    }
    // Says what differs.
    RecordBatch::try_new(schema.clone(), batch.columns().to_vec())
}
