//! Errors of lancet as exceptions of Python. The classes are in `lancet._errors`.

use arrow_schema::{ArrowError, DataType, Field, Schema};
use lancet::{Corrupt, Error};
use pyo3::conversion::FromPyObjectOwned;
use pyo3::exceptions::{PyIndexError, PyKeyboardInterrupt, PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};

/// An exception of the package, with its fields.
fn exception(py: Python<'_>, class: &str, message: &str, fields: &Bound<'_, PyDict>) -> PyErr {
    static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let made = || {
        let module =
            MODULE.get_or_try_init(py, || PyResult::Ok(py.import("lancet._errors")?.unbind()))?;
        let class = module.bind(py).getattr(class)?.cast_into::<PyType>()?;
        class.call((message,), Some(fields))
    };
    match made() {
        Ok(value) => PyErr::from_value(value),
        Err(error) => error,
    }
}

/// An exception of the package that says no more than its message.
fn plain(py: Python<'_>, class: &str, message: &str) -> PyErr {
    exception(py, class, message, &PyDict::new(py))
}

/// A fault of lancet.
pub(crate) fn internal(message: &str) -> PyErr {
    Python::attach(|py| plain(py, "Error", message))
}

/// Something that lancet does not do.
pub(crate) fn unsupported(message: &str) -> PyErr {
    Python::attach(|py| plain(py, "UnsupportedError", message))
}

/// A column that is not there.
pub(crate) fn unknown_column(message: &str) -> PyErr {
    Python::attach(|py| plain(py, "UnknownColumnError", message))
}

/// A column that is not among those of a schema, whose names the message has, near ones first. `place` says whose they
/// are.
pub(crate) fn no_column(name: &str, place: &str, known: &Schema) -> PyErr {
    let mut names = Vec::new();
    known.fields().iter().for_each(|field| paths_of(field, "", &mut names));
    let top: Vec<&String> = known.fields().iter().map(|field| field.name()).collect();
    Python::attach(|py| {
        let made = || {
            let errors = py.import("lancet._errors")?;
            errors.call_method1("no_column", (name, place, names, top))
        };
        made().map_or_else(|error| error, PyErr::from_value)
    })
}

/// The names of a field and of those inside it, with dots.
fn paths_of(field: &Field, above: &str, out: &mut Vec<String>) {
    let path = format!("{above}{}", field.name());
    if let DataType::Struct(fields) = field.data_type() {
        let above = format!("{path}.");
        // Deep ones of long names would cost their square.
        if above.len() < 400 {
            fields.iter().for_each(|field| paths_of(field, &above, out));
        }
    }
    out.push(path);
}

/// Looks columns up by their names.
pub(crate) fn looked_up<T, E: Raise + IsInvalid>(
    names: &[String],
    known: &Schema,
    look: impl Fn(&[String]) -> Result<T, E>,
) -> PyResult<T> {
    look(names).map_err(|error| {
        let Some(what) = error.invalid() else { return error.raise() };
        match names.iter().find(|name| look(std::slice::from_ref(*name)).is_err()) {
            Some(name) if what.starts_with("there is no field") => no_column(name, "", known),
            _ => unknown_column(what),
        }
    })
}

/// The same exception, which says what a value was given for.
pub(crate) fn given_for(py: Python<'_>, what: &str, error: &PyErr) -> PyErr {
    PyErr::from_type(error.get_type(py), format!("{what}: {}", error.value(py)))
}

/// The value of an option.
pub(crate) fn option<'py, T: FromPyObjectOwned<'py>>(
    name: &str,
    value: &Bound<'py, PyAny>,
) -> PyResult<T> {
    let failed = |error: T::Error| given_for(value.py(), &format!("`{name}`"), &error.into());
    value.extract().map_err(failed)
}

/// A row that is not there.
pub(crate) fn no_row(row: i128, num_rows: u64) -> PyErr {
    PyIndexError::new_err(format!(
        "row {row} is out of range: there are {num_rows} rows, counted from 0"
    ))
}

fn corrupt(py: Python<'_>, file: Option<&str>, found: &Corrupt) -> PyErr {
    let fields = PyDict::new(py);
    let fill = || -> PyResult<()> {
        fields.set_item("column", &found.column_name)?;
        fields.set_item("column_index", found.column)?;
        fields.set_item("page", found.page)?;
        fields.set_item("buffer", found.buffer)?;
        fields.set_item("offset", found.offset)?;
        fields.set_item("rule", &found.rule)?;
        fields.set_item("file", file)
    };
    match fill() {
        Ok(()) => exception(py, "CorruptFileError", &in_file(file, found.to_string()), &fields),
        Err(error) => error,
    }
}

fn limit(py: Python<'_>, message: &str, option: &str, needed: u64, limit: u64) -> PyErr {
    let fields = PyDict::new(py);
    let fill = || -> PyResult<()> {
        fields.set_item("option", option)?;
        fields.set_item("needed", needed)?;
        fields.set_item("limit", limit)
    };
    match fill() {
        Ok(()) => exception(py, "LimitError", message, &fields),
        Err(error) => error,
    }
}

/// A change that others were in the way of.
fn conflict(message: &str, fill: impl FnOnce(&Bound<'_, PyDict>) -> PyResult<()>) -> PyErr {
    Python::attach(|py| {
        let fields = PyDict::new(py);
        match fill(&fields) {
            Ok(()) => exception(py, "ConflictError", message, &fields),
            Err(error) => error,
        }
    })
}

/// What Arrow says of rows that came from outside is a mistake of the caller, or what other code has raised.
fn arrow(error: ArrowError) -> PyErr {
    match error {
        ArrowError::ExternalError(source) => match source.downcast::<PyErr>() {
            Ok(raised) => *raised,
            Err(other) => PyValueError::new_err(other.to_string()),
        },
        other => PyValueError::new_err(other.to_string()),
    }
}

fn in_file(file: Option<&str>, message: String) -> String {
    match file {
        Some(file) => format!("{file}: {message}"),
        None => message,
    }
}

/// The exception that a failed call of the system is. One that came out of Python comes out again as it was.
fn io(context: &str, source: std::io::Error) -> PyErr {
    let code = source.raw_os_error();
    let text = source.to_string();
    if let Some(inner) = source.into_inner() {
        return match inner.downcast::<PyErr>() {
            Ok(raised) => *raised,
            Err(_) => PyOSError::new_err(format!("{context}: {text}")),
        };
    }
    // The code is an attribute already, and the file is in the context.
    let text = text.split(" (os error").next().unwrap_or_default();
    match code {
        Some(code) => PyOSError::new_err((code, format!("{context}: {text}"))),
        None => PyOSError::new_err(format!("{context}: {text}")),
    }
}

/// An exception for what is wrong with a file; `file` is its name, where it is one of several.
fn raised(file: Option<&str>, error: Error) -> PyErr {
    Python::attach(|py| match error {
        Error::Corrupt(found) => corrupt(py, file, &found),
        Error::Unsupported(_) => plain(py, "UnsupportedError", &in_file(file, error.to_string())),
        Error::Limit { option, needed, limit: most, .. } => {
            limit(py, &in_file(file, error.to_string()), option, needed, most)
        }
        Error::Invalid(what) => PyValueError::new_err(what),
        Error::Io { context, source } => io(&context, source),
        other => plain(py, "Error", &in_file(file, other.to_string())),
    })
}

/// Errors that become exceptions.
pub(crate) trait Raise: Sized {
    fn raise(self) -> PyErr;
}

impl Raise for Error {
    fn raise(self) -> PyErr {
        raised(None, self)
    }
}

impl Raise for lancet_table::Error {
    fn raise(self) -> PyErr {
        use lancet_table::Error as E;
        let message = self.to_string();
        match self {
            E::Corrupt { file, rule } => Python::attach(|py| {
                let mut found = Corrupt::default();
                found.rule = rule;
                corrupt(py, Some(&file), &found)
            }),
            E::Data { source: Error::Arrow(error), .. } => arrow(error),
            E::Data { file, source } => raised(Some(&file), source),
            E::Unsupported { .. } => unsupported(&message),
            E::Limit { needed, limit: most, option, .. } => {
                Python::attach(|py| limit(py, &message, option, needed, most))
            }
            // What allows that is called otherwise in Python.
            E::Invalid(what) => {
                PyValueError::new_err(what.replace("`TableOptions::with_base`", "`bases=[…]`"))
            }
            E::Io { context, source } => io(&context, source),
            E::Conflict(found) => conflict(&message, |fields| {
                fields.set_item("operation", found.ours)?;
                fields.set_item("version", found.version)?;
                fields.set_item("other_operation", found.theirs)?;
                fields.set_item("can_retry", found.can_retry)
            }),
            E::Busy { version, .. } => conflict(&message, |fields| {
                fields.set_item("version", version)?;
                fields.set_item("can_retry", true)
            }),
            E::Uncertain { version, .. } => Python::attach(|py| {
                let fields = PyDict::new(py);
                match fields.set_item("version", version) {
                    Ok(()) => exception(py, "UncertainCommitError", &message, &fields),
                    Err(error) => error,
                }
            }),
            E::Cancelled => PyKeyboardInterrupt::new_err(message),
            _ => internal(&message),
        }
    }
}

impl Raise for ArrowError {
    fn raise(self) -> PyErr {
        match Error::from(self) {
            Error::Arrow(error) => arrow(error),
            other => other.raise(),
        }
    }
}

/// Results whose errors become exceptions.
pub(crate) trait OrRaise<T> {
    fn or_raise(self) -> PyResult<T>;
}

impl<T, E: Raise> OrRaise<T> for std::result::Result<T, E> {
    fn or_raise(self) -> PyResult<T> {
        self.map_err(E::raise)
    }
}

/// Errors of which one is that the caller asked for what is not there.
pub(crate) trait IsInvalid {
    fn invalid(&self) -> Option<&str>;
}

impl IsInvalid for Error {
    fn invalid(&self) -> Option<&str> {
        match self {
            Self::Invalid(what) => Some(what),
            _ => None,
        }
    }
}

impl IsInvalid for lancet_table::Error {
    fn invalid(&self) -> Option<&str> {
        match self {
            Self::Invalid(what) => Some(what),
            _ => None,
        }
    }
}
