//! The batches of a scan, one by one.

use std::sync::Mutex;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::capsules::{schema_out, stream_out};
use crate::data::Data;
use crate::errors::{Raise, internal};
use crate::memory::Memory;
use crate::schema::Schema;
use crate::work::{run, run_long};

/// Batches of a file, or of a table.
pub(crate) enum Source {
    File(lancet::Batches),
    Table(lancet_table::TableBatches),
}

impl Source {
    /// The next batch; the errors of both are Arrow's on the way, and come out as what they are.
    fn next(&mut self) -> Option<Result<RecordBatch, ArrowError>> {
        match self {
            Self::File(batches) => batches.next(),
            Self::Table(batches) => batches.next(),
        }
    }

    fn schema(&self) -> SchemaRef {
        match self {
            Self::File(batches) => batches.schema(),
            Self::Table(batches) => batches.schema(),
        }
    }

    fn into_reader(self) -> Box<dyn RecordBatchReader + Send> {
        match self {
            Self::File(batches) => Box::new(batches),
            Self::Table(batches) => Box::new(batches),
        }
    }
}

/// What a table says through Arrow.
fn raised(error: ArrowError) -> PyErr {
    match error {
        ArrowError::ExternalError(source) => match source.downcast::<lancet_table::Error>() {
            Ok(own) => own.raise(),
            Err(other) => ArrowError::ExternalError(other).raise(),
        },
        other => other.raise(),
    }
}

/// Where a scan stands.
enum State {
    Idle(Box<Source>),
    /// A thread reads the next batch. No lock is held meanwhile: a process that was forked would wait for it for ever.
    Busy,
    Done,
}

/// The batches of a scan, which is running.
#[pyclass(frozen, module = "lancet._lancet")]
pub(crate) struct Batches {
    schema: SchemaRef,
    state: Mutex<State>,
    /// Whether there may be long between two batches: a filter may leave nothing of very many rows.
    is_slow: bool,
    memory: Memory,
}

impl Batches {
    pub(crate) fn new(source: Source, is_slow: bool, memory: Memory) -> Self {
        let (schema, state) = (source.schema(), State::Idle(Box::new(source)));
        Self { schema, state: Mutex::new(state), is_slow, memory }
    }

    /// Puts a state in the place of another.
    fn swap(&self, state: State) -> PyResult<State> {
        let mut place = self.state.lock().map_err(|_| internal("the scan was given up"))?;
        Ok(std::mem::replace(&mut *place, state))
    }

    fn take(&self) -> PyResult<Option<Box<Source>>> {
        match self.swap(State::Busy)? {
            State::Idle(source) => Ok(Some(source)),
            State::Busy => {
                Err(PyValueError::new_err("another thread uses this scan; start one for each"))
            }
            State::Done => self.swap(State::Done).map(|_| None),
        }
    }

    /// The next batch, without the interpreter.
    fn advance(&self, py: Python<'_>) -> PyResult<Option<RecordBatch>> {
        let Some(mut source) = self.take()? else { return Ok(None) };
        let work = move || {
            let next = source.next();
            Ok::<_, lancet::Error>((next, source))
        };
        let done = if self.is_slow { run_long(py, work) } else { run(py, work) };
        let (next, source) = done.inspect_err(|_| drop(self.swap(State::Done)))?;
        match next {
            Some(Ok(batch)) => self.swap(State::Idle(source)).map(|_| Some(batch)),
            Some(Err(error)) => {
                self.swap(State::Done)?;
                Err(raised(error))
            }
            None => self.swap(State::Done).map(|_| None),
        }
    }
}

#[pymethods]
impl Batches {
    #[getter]
    fn schema(&self) -> Schema {
        Schema { inner: self.schema.clone() }
    }

    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Data>> {
        py.check_signals()?;
        Ok(self.advance(py)?.map(|batch| Data::of_batch(batch, self.memory)))
    }

    /// All batches that are left.
    fn rest(&self, py: Python<'_>) -> PyResult<Data> {
        let mut batches = Vec::new();
        while let Some(batch) = self.advance(py)? {
            batches.push(batch);
            py.check_signals()?;
        }
        Ok(Data { schema: self.schema.clone(), batches, memory: self.memory })
    }

    /// How many rows are left.
    fn count(&self, py: Python<'_>) -> PyResult<u64> {
        let mut rows = 0_u64;
        while let Some(batch) = self.advance(py)? {
            rows = rows.saturating_add(batch.num_rows() as u64);
            py.check_signals()?;
        }
        Ok(rows)
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_out(py, &self.schema)
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let source = self.take()?;
        self.swap(State::Done)?;
        let source = source.ok_or_else(|| PyValueError::new_err("the scan has been read"))?;
        stream_out(py, source.into_reader())
    }
}
