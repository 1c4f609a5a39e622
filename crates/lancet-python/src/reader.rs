//! Files.

use std::path::PathBuf;
use std::sync::Arc;

use lancet::{FileReader, Filter};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyDict;

use crate::batches::{Batches, Source};
use crate::blobs::Blobs;
use crate::data::Data;
use crate::errors::{looked_up, unknown_column};
use crate::filter::{filter, type_in};
use crate::memory::{FILE_BYTES, Memory, keep_memory};
use crate::options::{memory_of, read_options};
use crate::reports;
use crate::rows::row_numbers;
use crate::schema::Schema;
use crate::source::PySource;
use crate::work::{run, run_long};

/// Takes of more bytes than these, about, may take so long that Ctrl-C must be looked for.
const LONG_BYTES: u64 = 8 << 20;
/// And those of more rows.
const LONG_ROWS: u64 = 4096;

/// An open file.
#[pyclass(frozen, module = "lancet._lancet")]
#[derive(Debug)]
pub(crate) struct Reader {
    inner: FileReader,
    /// Of the rows that it reads.
    memory: Memory,
    /// Whether an object of Python reads it. Helpers would wait for the interpreter while one who holds it, a library that
    /// pulls a stream, waits for them: there are none.
    is_object: bool,
}

/// Columns of a file that were looked up.
#[pyclass(frozen, module = "lancet._lancet")]
#[derive(Debug)]
pub(crate) struct Projection {
    inner: lancet::Projection,
}

#[pymethods]
impl Projection {
    #[getter]
    fn schema(&self) -> Schema {
        Schema { inner: self.inner.schema() }
    }
}

/// How a scan is described.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct ScanOptions<'py> {
    pub(crate) rows: Option<Vec<(u64, u64)>>,
    pub(crate) filter: Option<Bound<'py, PyAny>>,
    pub(crate) limit: Option<u64>,
    pub(crate) batch_rows: Option<usize>,
    pub(crate) batch_bytes: Option<u64>,
    pub(crate) threads: Option<usize>,
    pub(crate) describe_blobs: bool,
}

/// A scan of a file or of a table as it is described: both have the same methods.
macro_rules! described {
    ($scan:expr, $options:expr, $num_rows:expr) => {{
        let (mut scan, options) = ($scan, $options);
        if let Some(rows) = options.rows {
            let all = lancet::RowRanges::from(0..$num_rows);
            scan = scan.select(crate::rows::ranges(rows).intersection(&all));
        }
        if let Some(limit) = options.limit {
            scan = scan.limit(limit);
        }
        if let Some(rows) = options.batch_rows {
            scan = scan.batch_rows(rows);
        }
        if let Some(bytes) = options.batch_bytes {
            scan = scan.batch_bytes(bytes);
        }
        if let Some(threads) = options.threads {
            scan = scan.threads(threads);
        }
        if options.describe_blobs {
            scan = scan.blobs_as_descriptions();
        }
        scan
    }};
}
pub(crate) use described;

impl Reader {
    /// The condition, with its values as the columns of this file have them.
    fn filter(&self, tree: &Bound<'_, PyAny>) -> PyResult<Filter> {
        filter(tree, &|name| {
            let found = self.columns(&[name.to_owned()])?;
            type_in(&found.schema(), name).ok_or_else(|| {
                let what = format!("`{name}` is inside a list, so a row has many of it");
                unknown_column(&what)
            })
        })
    }

    /// Looks up columns.
    fn columns(&self, names: &[String]) -> PyResult<lancet::Projection> {
        let file = self.inner.file();
        looked_up(names, &file.schema(), |names| file.project(names))
    }

    /// Whether a read of so many rows may take long.
    fn is_long(&self, rows: u64) -> bool {
        let bytes = self.inner.file().file_bytes();
        let row_bytes = bytes.checked_div(self.inner.num_rows()).unwrap_or(0);
        rows > LONG_ROWS || rows.saturating_mul(row_bytes) > LONG_BYTES
    }
}

#[pymethods]
impl Reader {
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf, options: &Bound<'_, PyDict>) -> PyResult<Self> {
        let (options, memory) = (read_options(options)?, memory_of(options)?);
        keep_memory(FILE_BYTES);
        let inner = run(py, || FileReader::open_with(path, options))?;
        Ok(Self { inner, memory, is_object: false })
    }

    #[staticmethod]
    fn from_bytes(
        py: Python<'_>,
        bytes: PyBackedBytes,
        options: &Bound<'_, PyDict>,
    ) -> PyResult<Self> {
        let options = read_options(options)?;
        let bytes = bytes::Bytes::from_owner(bytes);
        let inner = run(py, || FileReader::from_bytes(bytes, options))?;
        Ok(Self { inner, memory: Memory::Shared, is_object: false })
    }

    /// A file of so many bytes that an object reads: see `source`.
    #[staticmethod]
    fn from_object(
        py: Python<'_>,
        object: Py<PyAny>,
        size: u64,
        options: &Bound<'_, PyDict>,
    ) -> PyResult<Self> {
        let options = read_options(options)?.with_threads(1);
        let source = Arc::new(PySource { object, size });
        let inner = run(py, || FileReader::from_source(source, options))?;
        // The bytes that the object gives may be those that it holds.
        Ok(Self { inner, memory: Memory::Shared, is_object: true })
    }

    #[getter]
    fn num_rows(&self) -> u64 {
        self.inner.num_rows()
    }

    #[getter]
    fn version(&self) -> String {
        self.inner.version().to_string()
    }

    #[getter]
    fn file_bytes(&self) -> u64 {
        self.inner.file().file_bytes()
    }

    /// Looks up columns; all by default.
    #[pyo3(signature = (names=None))]
    fn project(&self, names: Option<Vec<String>>) -> PyResult<Projection> {
        let file = self.inner.file();
        let inner = match names {
            None => file.everything().clone(),
            Some(names) => self.columns(&names)?,
        };
        Ok(Projection { inner })
    }

    fn take(
        &self,
        py: Python<'_>,
        rows: &Bound<'_, PyAny>,
        columns: &Projection,
    ) -> PyResult<Data> {
        let rows = row_numbers(rows, self.inner.num_rows())?;
        let batch = if self.is_long(rows.len() as u64) {
            let (reader, columns) = (self.inner.clone(), columns.inner.clone());
            run_long(py, move || reader.take_columns(&rows, &columns))?
        } else {
            run(py, || self.inner.take_columns(&rows, &columns.inner))?
        };
        Ok(Data::of_batch(batch, self.memory))
    }

    fn scan(
        &self,
        py: Python<'_>,
        columns: &Projection,
        mut options: ScanOptions<'_>,
    ) -> PyResult<Batches> {
        if self.is_object {
            options.threads = Some(1);
        }
        let mut scan = self.inner.scan().columns(&columns.inner);
        let is_slow = options.filter.is_some();
        if let Some(tree) = &options.filter {
            scan = scan.filter(self.filter(tree)?);
        }
        scan = described!(scan, options, self.inner.num_rows());
        Ok(Batches::new(Source::File(run(py, || scan.build())?), is_slow, self.memory))
    }

    /// The rows outside of which none matches, as pairs.
    fn prune(&self, py: Python<'_>, tree: &Bound<'_, PyAny>) -> PyResult<Vec<(u64, u64)>> {
        let filter = self.filter(tree)?;
        let left = run(py, || self.inner.prune(&filter))?;
        Ok(left.iter().map(|rows| (rows.start, rows.end)).collect())
    }

    /// What zone maps say about columns; none for one without a map.
    fn statistics<'py>(
        &self,
        py: Python<'py>,
        columns: Vec<String>,
    ) -> PyResult<Vec<Option<Bound<'py, PyDict>>>> {
        self.columns(&columns)?;
        let maps = run(py, || self.inner.zone_maps(&columns))?;
        let report = |map: Option<Arc<lancet::ZoneMap>>| {
            map.map(|map| reports::statistics(py, &map.statistics())).transpose()
        };
        maps.into_iter().map(report).collect()
    }

    fn blobs(&self, py: Python<'_>, column: String) -> PyResult<Blobs> {
        self.columns(std::slice::from_ref(&column))?;
        Ok(Blobs::of_file(run(py, || self.inner.blobs(&column))?))
    }

    fn inspect<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        reports::file(py, &run(py, || self.inner.inspect())?)
    }

    fn verify<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let reader = self.inner.clone();
        reports::verification(py, &run_long(py, move || reader.verify())?)
    }

    /// The bytes of a global buffer; 0 is the schema.
    fn global_buffer(&self, py: Python<'_>, index: usize) -> PyResult<Vec<u8>> {
        if index >= self.inner.num_global_buffers() {
            let message = format!("the file has {} buffers", self.inner.num_global_buffers());
            return Err(PyValueError::new_err(message));
        }
        Ok(run(py, || self.inner.global_buffer(index))?.to_vec())
    }
}
