//! The program `lancet`.

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs the program with these arguments, its name first; what it comes to is an exit code.
#[cfg(feature = "program")]
#[pyfunction]
pub(crate) fn run(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| lancet_cli::run_for_code(arguments))
}

/// Says that there is no program in this build.
#[cfg(not(feature = "program"))]
#[pyfunction]
pub(crate) fn run(arguments: Vec<OsString>) -> PyResult<u8> {
    drop(arguments);
    let message = "the program is not part of this build; `cargo install --path crates/lancet-cli` installs it";
    Err(crate::errors::unsupported(message))
}
