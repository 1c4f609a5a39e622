//! Changes of the columns, the files and the names of a table.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use arrow_array::{Array, ArrayRef};
use arrow_schema::Field;
use lancet_table::{CleanupOptions, CompactOptions, Error, Table, TableWriteOptions};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::capsules::array_in;
use crate::changes::{changed, one_row, repeated};
use crate::column::Column;
use crate::data::Data;
use crate::memory::Memory;
use crate::parts::all_rows_in;
use crate::schema::Schema;
use crate::table::TableReader;
use crate::work::{in_caller, run, run_long};

/// Adds columns that are null.
#[pyfunction]
pub(crate) fn add_null_columns(
    py: Python<'_>,
    table: &TableReader,
    schema: &Schema,
    options: &Bound<'_, PyDict>,
) -> PyResult<TableReader> {
    let schema = schema.inner.clone();
    let add = move |table: &mut Table, options: &TableWriteOptions, _: &AtomicBool| {
        table.add_null_columns(&schema, options)
    };
    changed(py, table, options, add).map(|(table, ())| table)
}

/// Adds columns that have the values of one row in all rows.
#[pyfunction]
pub(crate) fn add_constant_columns(
    py: Python<'_>,
    table: &TableReader,
    values: &Data,
    options: &Bound<'_, PyDict>,
) -> PyResult<TableReader> {
    let row = one_row(values)?;
    let add = move |table: &mut Table, options: &TableWriteOptions, _: &AtomicBool| {
        let none: [&str; 0] = [];
        let made = |rows: &arrow_array::RecordBatch| Ok(repeated(&row, rows.num_rows())?);
        table.add_columns(row.schema(), none, made, options)
    };
    changed(py, table, options, add).map(|(table, ())| table)
}

/// Adds columns that have a row for each row of the table.
#[pyfunction]
pub(crate) fn add_columns(
    py: Python<'_>,
    table: &TableReader,
    values: &Bound<'_, PyAny>,
    options: &Bound<'_, PyDict>,
) -> PyResult<TableReader> {
    let values = all_rows_in(values)?;
    let add = move |table: &mut Table, options: &TableWriteOptions, _: &AtomicBool| {
        table.add_column_values(values, options)
    };
    changed(py, table, options, add).map(|(table, ())| table)
}

#[pyfunction]
pub(crate) fn drop_columns(
    py: Python<'_>,
    table: &TableReader,
    names: Vec<String>,
    options: &Bound<'_, PyDict>,
) -> PyResult<TableReader> {
    let drop = move |table: &mut Table, options: &TableWriteOptions, _: &AtomicBool| {
        table.drop_columns(&names, options)
    };
    changed(py, table, options, drop).map(|(table, ())| table)
}

#[pyfunction]
pub(crate) fn rename_column(
    py: Python<'_>,
    table: &TableReader,
    name: String,
    to: String,
    options: &Bound<'_, PyDict>,
) -> PyResult<TableReader> {
    let rename = move |table: &mut Table, options: &TableWriteOptions, _: &AtomicBool| {
        table.rename_column(&name, &to, options)
    };
    changed(py, table, options, rename).map(|(table, ())| table)
}

#[pyfunction]
pub(crate) fn reorder_columns(
    py: Python<'_>,
    table: &TableReader,
    names: Vec<String>,
    options: &Bound<'_, PyDict>,
) -> PyResult<TableReader> {
    let reorder = move |table: &mut Table, options: &TableWriteOptions, _: &AtomicBool| {
        table.reorder_columns(&names, options)
    };
    changed(py, table, options, reorder).map(|(table, ())| table)
}

#[pyfunction]
pub(crate) fn set_nullable(
    py: Python<'_>,
    table: &TableReader,
    name: String,
    nullable: bool,
    options: &Bound<'_, PyDict>,
) -> PyResult<TableReader> {
    let set = move |table: &mut Table, options: &TableWriteOptions, _: &AtomicBool| {
        table.set_nullable(&name, nullable, options)
    };
    changed(py, table, options, set).map(|(table, ())| table)
}

/// Gives a column the type of the one field of a schema; `convert` makes an Arrow array of a column.
#[pyfunction]
pub(crate) fn retype_column(
    py: Python<'_>,
    table: &TableReader,
    name: String,
    to: &Schema,
    convert: Py<PyAny>,
    options: &Bound<'_, PyDict>,
) -> PyResult<TableReader> {
    let [field] = to.inner.fields().as_ref() else {
        return Err(PyValueError::new_err("a column has one type"));
    };
    let (to, convert) = (field.data_type().clone(), Arc::new(convert));
    let retype = move |table: &mut Table, options: &TableWriteOptions, _: &AtomicBool| {
        let converted = |array: &ArrayRef| converted(&convert, &name, array);
        table.retype_column(&name, &to, converted, options)
    };
    changed(py, table, options, retype).map(|(table, ())| table)
}

/// What a function of Python makes of a column, on the thread that has given it.
fn converted(
    convert: &Arc<Py<PyAny>>,
    name: &str,
    array: &ArrayRef,
) -> lancet_table::Result<ArrayRef> {
    let field = Field::new(name, array.data_type().clone(), true).into();
    let column = Column { field, arrays: vec![array.clone()], memory: Memory::Own };
    let convert = convert.clone();
    let made = in_caller(move |py| Ok(array_in(&convert.bind(py).call1((column,))?)?.0));
    // What was raised comes out as it was.
    made.map_err(|raised| Error::from(arrow_schema::ArrowError::ExternalError(Box::new(raised))))
}

/// What a compaction aims at: rows of a fragment, and the share of deleted rows.
#[pyfunction]
pub(crate) fn compact<'py>(
    py: Python<'py>,
    table: &TableReader,
    target_rows: Option<u64>,
    deleted_share: Option<f64>,
    options: &Bound<'py, PyDict>,
) -> PyResult<(TableReader, Bound<'py, PyDict>)> {
    let mut plan = CompactOptions::default();
    if let Some(rows) = target_rows {
        plan = plan.with_target_rows(rows);
    }
    if let Some(share) = deleted_share {
        plan = plan.with_deleted_share(share);
    }
    let compact = move |table: &mut Table, options: &TableWriteOptions, _: &AtomicBool| {
        table.compact(&plan, options)
    };
    let (table, done) = changed(py, table, options, compact)?;
    let dict = PyDict::new(py);
    dict.set_item("version", done.version)?;
    dict.set_item("fragments_removed", done.fragments_removed)?;
    dict.set_item("fragments_added", done.fragments_added)?;
    dict.set_item("rows", done.rows)?;
    dict.set_item("deleted_rows", done.deleted_rows)?;
    dict.set_item("bytes", done.bytes)?;
    let lost: Vec<(String, u64)> =
        done.indexes.into_iter().map(|index| (index.name, index.rows)).collect();
    dict.set_item("indexes", lost)?;
    Ok((table, dict))
}

#[pyfunction]
pub(crate) fn restore(
    py: Python<'_>,
    table: &TableReader,
    options: &Bound<'_, PyDict>,
) -> PyResult<TableReader> {
    let restore =
        |table: &mut Table, options: &TableWriteOptions, _: &AtomicBool| table.restore(options);
    changed(py, table, options, restore).map(|(table, ())| table)
}

/// Removes old versions: those of so many seconds.
#[pyfunction]
pub(crate) fn cleanup<'py>(
    py: Python<'py>,
    table: &TableReader,
    older_than: Option<f64>,
    keep_versions: Option<usize>,
    dry_run: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let mut plan = CleanupOptions::default().with_dry_run(dry_run);
    if let Some(seconds) = older_than {
        let age = Duration::try_from_secs_f64(seconds);
        let failed = |e| PyValueError::new_err(format!("the age makes no sense: {e}"));
        plan = plan.with_older_than(age.map_err(failed)?);
    }
    if let Some(versions) = keep_versions {
        plan = plan.with_keep_versions(versions);
    }
    let table = table.inner.clone();
    let done = run_long(py, move || table.cleanup(&plan))?;
    let dict = PyDict::new(py);
    dict.set_item("versions", done.versions)?;
    dict.set_item("files", done.files)?;
    dict.set_item("bytes", done.bytes)?;
    dict.set_item("young_files", done.young_files)?;
    dict.set_item("dry_run", done.dry_run)?;
    Ok(dict)
}

/// Names the open version; `move_it` if the tag may be there.
#[pyfunction]
pub(crate) fn create_tag(
    py: Python<'_>,
    table: &TableReader,
    name: String,
    move_it: bool,
) -> PyResult<()> {
    run(py, || match move_it {
        true => table.inner.move_tag(&name),
        false => table.inner.create_tag(&name),
    })
}

#[pyfunction]
pub(crate) fn delete_tag(py: Python<'_>, table: &TableReader, name: String) -> PyResult<()> {
    run(py, || table.inner.delete_tag(&name))
}

#[pyfunction]
pub(crate) fn create_branch(
    py: Python<'_>,
    table: &TableReader,
    name: String,
) -> PyResult<TableReader> {
    let inner = run(py, || table.inner.create_branch(&name))?;
    TableReader::new(py, inner)
}

#[pyfunction]
pub(crate) fn delete_branch(py: Python<'_>, table: &TableReader, name: String) -> PyResult<()> {
    run(py, || table.inner.delete_branch(&name))
}

#[pyfunction]
pub(crate) fn shallow_clone(
    py: Python<'_>,
    table: &TableReader,
    path: PathBuf,
) -> PyResult<TableReader> {
    let inner = run(py, || table.inner.shallow_clone(&path))?;
    TableReader::new(py, inner)
}
