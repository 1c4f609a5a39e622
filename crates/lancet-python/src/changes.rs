//! Changes of the rows of a table. Each makes a version, and gives the table as it is then.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{RecordBatch, RecordBatchIterator, RecordBatchOptions, UInt64Array};
use arrow_schema::ArrowError;
use arrow_select::take::take;
use lancet::{Filter, Version};
use lancet_table::{Error, Table, TableChange, TableRows, TableWriteOptions};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::data::Data;
use crate::errors::{OrRaise, option};
use crate::parts::all_rows_in;
use crate::rows::{row_names, row_numbers};
use crate::table::TableReader;
use crate::work::run_change;
use crate::writer::write_options;

/// The column of the addresses of rows.
pub(crate) const ROW_ADDRESS: &str = "_rowaddr";
/// How often a change is worked out again because another writer was faster.
const ATTEMPTS: usize = 10;
/// Rows that get a value are made so many at a time.
const STEP: usize = 8192;

/// The options of changes: those of tables, and those of files.
pub(crate) fn change_options(options: &Bound<'_, PyDict>) -> PyResult<TableWriteOptions> {
    let (mut write, of_files) = (TableWriteOptions::default(), PyDict::new(options.py()));
    for (name, value) in options {
        if value.is_none() {
            continue;
        }
        let text: String = name.extract()?;
        write = match text.as_str() {
            "version" => {
                let version: String = option(&text, &value)?;
                write.with_storage_version(version.parse::<Version>().or_raise()?)
            }
            "stable_row_ids" => write.with_stable_row_ids(option(&text, &value)?),
            "max_rows_per_fragment" => write.with_max_rows_per_fragment(option(&text, &value)?),
            "max_bytes_per_file" => write.with_max_bytes_per_file(option(&text, &value)?),
            "message" => write.with_message(option::<String>(&text, &value)?),
            "attempts" => write.with_attempts(option(&text, &value)?),
            "timeout" => {
                let timeout = Duration::try_from_secs_f64(option(&text, &value)?);
                let failed = |e| PyValueError::new_err(format!("the timeout makes no sense: {e}"));
                write.with_commit_timeout(timeout.map_err(failed)?)
            }
            _ => {
                of_files.set_item(name, value)?;
                write
            }
        };
    }
    Ok(write.with_file_options(write_options(&of_files)?))
}

/// Runs a change on a copy of the handle, and gives the handle at the version that it made.
pub(crate) fn changed<T: Send + 'static>(
    py: Python<'_>,
    table: &TableReader,
    options: &Bound<'_, PyDict>,
    change: impl FnOnce(&mut Table, &TableWriteOptions, &AtomicBool) -> lancet_table::Result<T>
    + Send
    + 'static,
) -> PyResult<(TableReader, T)> {
    let (mut inner, options) = (table.inner.clone(), change_options(options)?);
    let (inner, done) = run_change(py, move |cancel| {
        let options = options.with_cancel(cancel.clone());
        let done = change(&mut inner, &options, &cancel)?;
        Ok((inner, done))
    })?;
    Ok((TableReader::new(py, inner)?, done))
}

/// Works a change out on a version, and again on the newest where others were faster with one that it does not go together
/// with.
pub(crate) fn worked_out<T>(
    table: &mut Table,
    mut change: impl FnMut(&mut Table) -> lancet_table::Result<T>,
) -> lancet_table::Result<T> {
    let mut attempt = 1;
    loop {
        match change(table) {
            Err(Error::Conflict(found)) if found.can_retry && attempt < ATTEMPTS => {
                attempt = attempt.saturating_add(1);
                *table = table.newest()?;
            }
            done => return done,
        }
    }
}

pub(crate) fn check(cancel: &AtomicBool) -> lancet_table::Result<()> {
    if cancel.load(Ordering::Relaxed) { Err(Error::Cancelled) } else { Ok(()) }
}

fn told<'py>(py: Python<'py>, change: &TableChange) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("version", change.version)?;
    dict.set_item("rows_inserted", change.rows_inserted)?;
    dict.set_item("rows_updated", change.rows_updated)?;
    dict.set_item("rows_deleted", change.rows_deleted)?;
    Ok(dict)
}

/// What a change of rows gives.
pub(crate) type Changed<'py> = PyResult<(TableReader, Bound<'py, PyDict>)>;

pub(crate) fn of_rows<'py>(
    py: Python<'py>,
    (table, change): (TableReader, TableChange),
) -> Changed<'py> {
    Ok((table, told(py, &change)?))
}

/// The rows that a change is about.
enum Which {
    Matching(Filter),
    These(TableRows),
}

impl Which {
    /// From a pair: what names the rows, and the names.
    fn of(table: &TableReader, (kind, rows): &(String, Bound<'_, PyAny>)) -> PyResult<Self> {
        Ok(match kind.as_str() {
            "filter" => Self::Matching(table.filter(rows)?),
            "rows" => Self::These(TableRows::Numbers(row_numbers(rows, table.num_rows)?)),
            "ids" => Self::These(TableRows::Ids(row_names(rows)?)),
            "addresses" => Self::These(TableRows::Addresses(row_names(rows)?)),
            other => return Err(PyTypeError::new_err(format!("rows are not named by {other}"))),
        })
    }

    fn find(&self, table: &Table, cancel: &AtomicBool) -> lancet_table::Result<TableRows> {
        match self {
            Self::Matching(filter) => matching(table, filter, cancel).map(TableRows::Addresses),
            Self::These(rows) => Ok(rows.clone()),
        }
    }

    /// The addresses of the rows, each once: so that it is known how many there are.
    fn addresses(&self, table: &Table, cancel: &AtomicBool) -> lancet_table::Result<Vec<u64>> {
        let found = match self {
            Self::Matching(filter) => return matching(table, filter, cancel),
            Self::These(TableRows::Numbers(rows)) => table.take(rows, [ROW_ADDRESS])?,
            Self::These(TableRows::Ids(ids)) => table.take_row_ids(ids, [ROW_ADDRESS])?,
            Self::These(TableRows::Addresses(rows)) => table.take_addresses(rows, [ROW_ADDRESS])?,
            Self::These(_) => return Err(Error::Invalid("rows are not named so".into())),
        };
        let mut seen = HashSet::with_capacity(found.num_rows());
        Ok(addresses_in(&found).into_iter().filter(|address| seen.insert(*address)).collect())
    }
}

/// The rows for which a condition holds, in the order of a scan.
fn matching(table: &Table, filter: &Filter, cancel: &AtomicBool) -> lancet_table::Result<Vec<u64>> {
    let mut found = Vec::new();
    let mut batches = table.scan().columns([ROW_ADDRESS]).filter(filter.clone()).build()?;
    while let Some(batch) = batches.next_batch() {
        check(cancel)?;
        found.extend(addresses_in(&batch?));
    }
    Ok(found)
}

/// The addresses of rows that were read, which are the last column.
pub(crate) fn addresses_in(batch: &RecordBatch) -> Vec<u64> {
    let column = batch.columns().last().and_then(|array| array.as_primitive_opt::<UInt64Type>());
    column.map(|addresses| addresses.values().to_vec()).unwrap_or_default()
}

/// Makes a table in a folder.
#[pyfunction]
pub(crate) fn create_table(
    py: Python<'_>,
    path: PathBuf,
    rows: &Bound<'_, PyAny>,
    options: &Bound<'_, PyDict>,
) -> PyResult<TableReader> {
    let (rows, options) = (all_rows_in(rows)?, change_options(options)?);
    let inner =
        run_change(py, move |cancel| Table::create_with(path, rows, &options.with_cancel(cancel)))?;
    TableReader::new(py, inner)
}

/// Adds rows.
#[pyfunction]
pub(crate) fn append_rows<'py>(
    py: Python<'py>,
    table: &TableReader,
    rows: &Bound<'py, PyAny>,
    options: &Bound<'py, PyDict>,
) -> Changed<'py> {
    let rows = all_rows_in(rows)?;
    table.check_columns(&rows.schema())?;
    let done = changed(py, table, options, |table, options, _| table.append_with(rows, options));
    of_rows(py, done?)
}

/// Replaces all rows, and the schema.
#[pyfunction]
pub(crate) fn overwrite_rows<'py>(
    py: Python<'py>,
    table: &TableReader,
    rows: &Bound<'py, PyAny>,
    options: &Bound<'py, PyDict>,
) -> Changed<'py> {
    let rows = all_rows_in(rows)?;
    let done = changed(py, table, options, |table, options, _| table.overwrite_with(rows, options));
    of_rows(py, done?)
}

/// Deletes rows; `predicate` says for people which.
#[pyfunction]
pub(crate) fn delete_rows<'py>(
    py: Python<'py>,
    table: &TableReader,
    rows: (String, Bound<'py, PyAny>),
    predicate: String,
    options: &Bound<'py, PyDict>,
) -> Changed<'py> {
    let rows = Which::of(table, &rows)?;
    let done = changed(py, table, options, move |table, options, cancel| match &rows {
        Which::Matching(_) => worked_out(table, |table| {
            let found = rows.find(table, cancel)?;
            table.delete_with(found, &predicate, options)
        }),
        // These are those of the version that is open, and of no other.
        Which::These(rows) => table.delete_with(rows.clone(), &predicate, options),
    });
    of_rows(py, done?)
}

/// Gives rows the values of one row.
#[pyfunction]
pub(crate) fn set_values<'py>(
    py: Python<'py>,
    table: &TableReader,
    rows: (String, Bound<'py, PyAny>),
    values: &Data,
    options: &Bound<'py, PyDict>,
) -> Changed<'py> {
    let rows = Which::of(table, &rows)?;
    let one = one_row(values)?;
    table.check_columns(&one.schema())?;
    let done = changed(py, table, options, move |table, options, cancel| {
        let set = |table: &mut Table| {
            let found = rows.addresses(table, cancel)?;
            let count = found.len();
            let starts = (0..count).step_by(STEP);
            let batches = starts.map(|start| repeated(&one, STEP.min(count.saturating_sub(start))));
            let batches = RecordBatchIterator::new(batches, one.schema());
            table.update_with(TableRows::Addresses(found), batches, options)
        };
        match &rows {
            Which::Matching(_) => worked_out(table, set),
            Which::These(_) => set(table),
        }
    });
    of_rows(py, done?)
}

/// Gives rows other values, of which there is a row for each.
#[pyfunction]
pub(crate) fn update_rows<'py>(
    py: Python<'py>,
    table: &TableReader,
    rows: (String, Bound<'py, PyAny>),
    values: &Bound<'py, PyAny>,
    options: &Bound<'py, PyDict>,
) -> Changed<'py> {
    let (rows, values) = (Which::of(table, &rows)?, all_rows_in(values)?);
    table.check_columns(&values.schema())?;
    let done = changed(py, table, options, move |table, options, cancel| {
        let found = rows.find(table, cancel)?;
        table.update_with(found, values, options)
    });
    of_rows(py, done?)
}

/// The one row of these rows.
pub(crate) fn one_row(values: &Data) -> PyResult<RecordBatch> {
    match values.batches.as_slice() {
        [one] if one.num_rows() == 1 => Ok(one.clone()),
        _ => Err(PyValueError::new_err("a constant is one row")),
    }
}

/// A row, so many times.
pub(crate) fn repeated(row: &RecordBatch, times: usize) -> Result<RecordBatch, ArrowError> {
    let first = UInt64Array::from(vec![0; times]);
    let arrays = row.columns().iter().map(|array| take(array, &first, None));
    let options = RecordBatchOptions::new().with_row_count(Some(times));
    let arrays = arrays.collect::<Result<Vec<_>, _>>()?;
    RecordBatch::try_new_with_options(row.schema(), arrays, &options)
}
