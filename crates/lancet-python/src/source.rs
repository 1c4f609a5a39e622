//! Bytes that objects of Python give, and take.

use std::io;

use bytes::Bytes;
use lancet::{Error, Source, Span, coalesce};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

/// Spans closer than this are asked for together: a call into Python costs more than the gap.
const MERGE_GAP: u64 = 16 << 10;
/// But no more than this at once.
const MERGE_BYTES: u64 = 8 << 20;

/// An object with a method `read_ranges`, which takes pairs of start and end and gives as many bytes objects.
pub(crate) struct PySource {
    pub(crate) object: Py<PyAny>,
    pub(crate) size: u64,
}

/// What was raised goes through lancet as an error of I/O, and comes out as it was.
pub(crate) fn as_io(error: PyErr) -> io::Error {
    io::Error::other(error)
}

fn failed(source: io::Error) -> Error {
    Error::Io { context: "cannot read".into(), source }
}

/// Runs with the interpreter, unless it is gone: threads may outlive it.
fn attached<T>(act: impl FnOnce(Python<'_>) -> PyResult<T>) -> io::Result<T> {
    match Python::try_attach(act) {
        Some(done) => done.map_err(as_io),
        None => Err(io::Error::other("Python is ending")),
    }
}

impl PySource {
    fn ask(&self, spans: &[Span]) -> io::Result<Vec<Bytes>> {
        attached(|py| {
            let ranges: Vec<(u64, u64)> = spans.iter().map(|s| (s.start(), s.end())).collect();
            let parts = self.object.bind(py).call_method1("read_ranges", (ranges,))?;
            let parts: Vec<PyBackedBytes> = parts.extract()?;
            Ok(parts.into_iter().map(Bytes::from_owner).collect())
        })
    }
}

impl Source for PySource {
    fn size_bytes(&self) -> u64 {
        self.size
    }

    fn read(&self, spans: &[Span]) -> lancet::Result<Vec<Bytes>> {
        let plan = coalesce(spans, MERGE_GAP, MERGE_BYTES);
        let parts = self.ask(&plan.reads).map_err(failed)?;
        let wanted = plan.reads.iter().map(|span| span.len());
        let given = parts.iter().map(|part| part.len() as u64);
        if !wanted.eq(given) {
            let short = io::Error::new(io::ErrorKind::UnexpectedEof, "fewer bytes than asked for");
            return Err(failed(short));
        }
        plan.cut(&parts, spans)
    }
}

/// An object with a method `write`.
pub(crate) struct PySink {
    pub(crate) object: Py<PyAny>,
}

impl io::Write for PySink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        attached(|py| {
            let written = self.object.bind(py).call_method1("write", (PyBytes::new(py, bytes),))?;
            // Raw files say how much they took; some objects say nothing.
            Ok(written.extract::<usize>().unwrap_or(bytes.len()).min(bytes.len()))
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        attached(|py| match self.object.bind(py).getattr_opt("flush")? {
            Some(flush) => flush.call0().map(drop),
            None => Ok(()),
        })
    }
}
