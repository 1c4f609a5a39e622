//! The program `lancet`.

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs the program with these arguments, its name first; what it comes to is an exit code.
#[pyfunction]
pub(crate) fn run(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| lancet_cli::run_for_code(arguments))
}
