//! Blobs: long values, read by ranges of bytes.

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::no_row;
use crate::work::{run, run_long};

/// The blobs of one column.
#[pyclass(frozen, module = "lancet._lancet")]
#[derive(Debug)]
pub(crate) struct Blobs {
    inner: Inner,
    num_rows: u64,
}

#[derive(Debug, Clone)]
enum Inner {
    File(lancet::Blobs),
    Table(lancet_table::TableBlobs),
}

impl Blobs {
    pub(crate) fn of_file(blobs: lancet::Blobs) -> Self {
        let num_rows = blobs.num_rows();
        Self { inner: Inner::File(blobs), num_rows }
    }

    pub(crate) fn of_table(blobs: lancet_table::TableBlobs, num_rows: u64) -> Self {
        Self { inner: Inner::Table(blobs), num_rows }
    }

    fn check(&self, row: u64) -> PyResult<()> {
        if row < self.num_rows { Ok(()) } else { Err(no_row(row.into(), self.num_rows)) }
    }
}

#[pymethods]
impl Blobs {
    #[getter]
    fn num_rows(&self) -> u64 {
        self.num_rows
    }

    /// The size of a blob in bytes; `None` if it is null.
    fn size(&self, py: Python<'_>, row: u64) -> PyResult<Option<u64>> {
        self.check(row)?;
        match &self.inner {
            Inner::File(blobs) => run(py, || blobs.len(row)),
            Inner::Table(blobs) => run(py, || blobs.len(row)),
        }
    }

    /// Bytes of a blob.
    fn read<'py>(
        &self,
        py: Python<'py>,
        row: u64,
        start: u64,
        stop: u64,
    ) -> PyResult<Bound<'py, PyBytes>> {
        self.check(row)?;
        let bytes = match &self.inner {
            Inner::File(blobs) => run(py, || blobs.read(row, start..stop))?,
            Inner::Table(blobs) => run(py, || blobs.read(row, start..stop))?,
        };
        Ok(PyBytes::new(py, &bytes))
    }

    /// Bytes of blobs, for each row from start to stop, which are read together.
    fn read_ranges<'py>(
        &self,
        py: Python<'py>,
        ranges: Vec<(u64, u64, u64)>,
    ) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        ranges.iter().try_for_each(|(row, ..)| self.check(*row))?;
        let ranges: Vec<_> = ranges.into_iter().map(|(row, from, to)| (row, from..to)).collect();
        let parts = match self.inner.clone() {
            Inner::File(blobs) => run_long(py, move || blobs.read_ranges(&ranges))?,
            Inner::Table(blobs) => run_long(py, move || blobs.read_ranges(&ranges))?,
        };
        Ok(parts.iter().map(|bytes| PyBytes::new(py, bytes)).collect())
    }
}
