//! New files.

use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use lancet::{FileWriter, NewFile, Profile, Version, WriteOptions, WriteSummary};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::capsules::rows_in;
use crate::errors::{OrRaise, internal, option};
use crate::memory::batch_bytes;
use crate::reports::summary;
use crate::schema::Schema;
use crate::source::PySink;
use crate::work::{run, run_long, run_until_cancelled};

/// Batches are handed over in pieces of about this many bytes, so that Ctrl-C need not wait for a large one.
const PIECE_BYTES: usize = 32 << 20;
/// A file of fewer bytes is written at once: nothing is encoded until it ends.
const SHORT_BYTES: u64 = 4 << 20;

/// A file that is being written.
#[pyclass(frozen, module = "lancet._lancet")]
pub(crate) struct Writer {
    schema: SchemaRef,
    state: Mutex<State>,
}

enum State {
    Open {
        target: Target,
        bytes: u64,
    },
    /// A thread writes. It has the file; if it is left behind, so is the file.
    Busy,
    Closed,
}

/// Where a file goes.
enum Target {
    Path(Box<FileWriter<NewFile>>),
    Object(Box<FileWriter<PySink>>),
}

impl Target {
    fn write(&mut self, batch: &RecordBatch) -> lancet::Result<()> {
        match self {
            Self::Path(writer) => writer.write(batch),
            Self::Object(writer) => writer.write(batch),
        }
    }

    /// Makes the file complete, and appear unless it was cancelled.
    fn finish(self, cancel: &AtomicBool) -> lancet::Result<Option<WriteSummary>> {
        match self {
            Self::Path(writer) => {
                let (summary, file) = writer.finish_into()?;
                if cancel.load(Ordering::Relaxed) {
                    return Ok(None);
                }
                file.publish()?;
                Ok(Some(summary))
            }
            Self::Object(writer) => {
                let (summary, mut sink) = writer.finish_into()?;
                let failed = |source| lancet::Error::Io { context: "cannot write".into(), source };
                sink.flush().map_err(failed)?;
                Ok(Some(summary))
            }
        }
    }
}

impl Writer {
    fn swap(&self, state: State) -> PyResult<State> {
        let mut place = self.state.lock().map_err(|_| internal("the writer was given up"))?;
        Ok(std::mem::replace(&mut *place, state))
    }

    fn take(&self) -> PyResult<(Target, u64)> {
        match self.swap(State::Busy)? {
            State::Open { target, bytes } => Ok((target, bytes)),
            State::Busy => {
                Err(PyValueError::new_err("another thread writes to this file; let one do it"))
            }
            State::Closed => {
                self.swap(State::Closed)?;
                Err(PyValueError::new_err("the file is closed"))
            }
        }
    }

    /// Writes a piece of a batch. After an error, and after Ctrl-C, the file is given up.
    fn write_piece(&self, py: Python<'_>, piece: RecordBatch) -> PyResult<()> {
        let (mut target, bytes) = self.take()?;
        let bytes = bytes.saturating_add(batch_bytes(&piece) as u64);
        let work = move || {
            let done = target.write(&piece);
            Ok::<_, lancet::Error>((done, target))
        };
        let done = if bytes < SHORT_BYTES { run(py, work) } else { run_long(py, work) };
        let (done, target) = done.inspect_err(|_| drop(self.swap(State::Closed)))?;
        // A batch that does not fit was not begun; the writer itself knows when it was.
        self.swap(State::Open { target, bytes })?;
        done.or_raise()
    }
}

/// Batches as the writer gets them.
fn pieces(batch: &RecordBatch) -> impl Iterator<Item = RecordBatch> {
    let rows = batch.num_rows();
    let bytes = batch_bytes(batch);
    let count = bytes.div_ceil(PIECE_BYTES).max(1);
    let step = rows.div_ceil(count).max(1);
    // A batch without rows is one, too: what is wrong with it must be told.
    let starts = (0..rows.max(1)).step_by(step);
    starts.map(move |start| batch.slice(start, step.min(rows.saturating_sub(start))))
}

/// The options of `lancet.write_table`.
pub(crate) fn write_options(options: &Bound<'_, PyDict>) -> PyResult<WriteOptions> {
    let mut write = WriteOptions::default();
    for (name, value) in options {
        if value.is_none() {
            continue;
        }
        let name: String = name.extract()?;
        write =
            match name.as_str() {
                "version" => write
                    .with_version(option::<String>(&name, &value)?.parse::<Version>().or_raise()?),
                "profile" => write
                    .with_profile(option::<String>(&name, &value)?.parse::<Profile>().or_raise()?),
                "page_bytes" => write.with_page_bytes(option(&name, &value)?),
                "memory_limit" => write.with_memory_limit(option(&name, &value)?),
                "checksums" => write.with_checksums(option(&name, &value)?),
                "zone_maps" => write.with_zone_maps(option(&name, &value)?),
                "threads" => write.with_threads(option(&name, &value)?),
                "columns" => {
                    for (column, settings) in value.cast::<PyDict>()? {
                        let column = write.column(column.extract::<String>()?);
                        for (key, setting) in settings.cast::<PyDict>()? {
                            let key = key.extract::<String>()?.replace('_', "-");
                            column.set(&key, &setting.extract::<String>()?).or_raise()?;
                        }
                    }
                    write
                }
                other => return Err(PyTypeError::new_err(format!("there is no option `{other}`"))),
            };
    }
    Ok(write)
}

#[pymethods]
impl Writer {
    #[staticmethod]
    fn create(
        py: Python<'_>,
        path: PathBuf,
        schema: &Schema,
        options: &Bound<'_, PyDict>,
    ) -> PyResult<Self> {
        let (options, schema) = (write_options(options)?, schema.inner.clone());
        let of_file = schema.clone();
        let writer = run(py, || FileWriter::create(path, of_file, options))?;
        let state = State::Open { target: Target::Path(Box::new(writer)), bytes: 0 };
        Ok(Self { schema, state: Mutex::new(state) })
    }

    /// Writes into an object with a method `write`.
    #[staticmethod]
    fn to_object(
        py: Python<'_>,
        object: Py<PyAny>,
        schema: &Schema,
        options: &Bound<'_, PyDict>,
    ) -> PyResult<Self> {
        let (options, schema) = (write_options(options)?, schema.inner.clone());
        let of_file = schema.clone();
        let writer = run(py, || FileWriter::new(PySink { object }, of_file, options))?;
        let state = State::Open { target: Target::Object(Box::new(writer)), bytes: 0 };
        Ok(Self { schema, state: Mutex::new(state) })
    }

    #[getter]
    fn schema(&self) -> Schema {
        Schema { inner: self.schema.clone() }
    }

    /// Writes all rows of anything that has some; returns how many.
    fn write(&self, py: Python<'_>, rows: &Bound<'_, PyAny>) -> PyResult<u64> {
        let reader = Arc::new(Mutex::new(rows_in(rows)?));
        let mut count = 0_u64;
        loop {
            let reader = reader.clone();
            // The other library may take long for a batch.
            let next = run(py, move || {
                let mut reader = reader.lock().map_err(|_| {
                    arrow_schema::ArrowError::ExternalError("the rows were given up".into())
                })?;
                reader.next().transpose()
            })?;
            let Some(batch) = next else { return Ok(count) };
            count = count.saturating_add(batch.num_rows() as u64);
            for piece in pieces(&batch) {
                self.write_piece(py, piece)?;
                py.check_signals()?;
            }
        }
    }

    /// Makes the file complete, and appear.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (target, _) = self.take()?;
        let done = run_until_cancelled(py, "the file was finished before", move |cancel| {
            target.finish(&cancel)
        });
        self.swap(State::Closed)?;
        summary(py, &done?)
    }

    /// Leaves nothing behind.
    fn abandon(&self) -> PyResult<()> {
        self.swap(State::Closed).map(drop)
    }
}
