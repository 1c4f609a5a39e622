//! What is known of tables, as dicts.

use lancet_table::{
    DataFileReport, Error, FragmentReport, TableColumnReport, TableColumnStatistics,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::reports::{bounds, dict};
use crate::table::TableReader;
use crate::work::run_long;

/// What the zone maps say about columns, by their names; none for one of which a fragment says nothing.
#[pyfunction]
pub(crate) fn table_statistics<'py>(
    py: Python<'py>,
    table: &TableReader,
    columns: Vec<String>,
) -> PyResult<Bound<'py, PyDict>> {
    table.columns(&columns)?;
    let (inner, names) = (table.inner.clone(), columns.clone());
    let found = run_long(py, move || inner.statistics(names, |_| {}))?;
    let all = PyDict::new(py);
    for name in columns {
        let column = found.iter().find(|column| column.name == name);
        all.set_item(name, column.map(|column| statistics(py, column)).transpose()?.flatten())?;
    }
    Ok(all)
}

fn statistics<'py>(
    py: Python<'py>,
    column: &TableColumnStatistics,
) -> PyResult<Option<Bound<'py, PyDict>>> {
    let Some(known) = &column.known else { return Ok(None) };
    let (min, max, exact) = bounds(py, [&known.min, &known.max], known.exact)?;
    Ok(Some(dict!(py,
        "num_rows": known.num_rows,
        "null_count": known.null_count,
        "nan_count": known.nan_count,
        "counts_exact": known.counts_exact,
        "min": min,
        "max": max,
        "exact": exact,
    )))
}

/// What a version is made of.
#[pyfunction]
pub(crate) fn inspect_table<'py>(
    py: Python<'py>,
    table: &TableReader,
) -> PyResult<Bound<'py, PyDict>> {
    let inner = table.inner.clone();
    let found = run_long(py, move || inner.inspect(|_| {}))?;
    let fragments = found.fragments.iter().map(|found| fragment(py, found));
    let columns = found.columns.iter().map(|found| column(py, found));
    Ok(dict!(py,
        "num_rows": found.num_rows,
        "num_deleted_rows": found.num_deleted_rows,
        "file_bytes": found.file_bytes,
        "data_bytes": found.page_bytes,
        "zone_map_bytes": found.zone_map_bytes,
        "side_bytes": found.side_bytes,
        "deletion_bytes": found.deletion_bytes,
        "fragments": fragments.collect::<PyResult<Vec<_>>>()?,
        "columns": columns.collect::<PyResult<Vec<_>>>()?,
    ))
}

fn fragment<'py>(py: Python<'py>, found: &FragmentReport) -> PyResult<Bound<'py, PyDict>> {
    let files = found.files.iter().map(|found| file(py, found));
    Ok(dict!(py,
        "id": found.id,
        "num_physical_rows": found.num_physical_rows,
        "num_deleted_rows": found.num_deleted_rows,
        "deletion_bytes": found.deletion_file.as_ref().map_or(0, |file| file.bytes),
        "files": files.collect::<PyResult<Vec<_>>>()?,
    ))
}

fn file<'py>(py: Python<'py>, found: &DataFileReport) -> PyResult<Bound<'py, PyDict>> {
    Ok(dict!(py,
        "name": &found.name,
        "version": found.version.to_string(),
        "bytes": found.bytes,
        "num_columns": found.num_columns,
        "unused_bytes": found.unused_bytes,
        "side_bytes": found.side_bytes,
    ))
}

fn column<'py>(py: Python<'py>, found: &TableColumnReport) -> PyResult<Bound<'py, PyDict>> {
    Ok(dict!(py,
        "name": &found.name,
        "type": found.data_type.as_ref().map(ToString::to_string),
        "num_files": found.num_files,
        "num_pages": found.num_pages,
        "num_rows": found.num_rows,
        "bytes": found.bytes,
        "zone_map_bytes": found.zone_map_bytes,
        "encodings": found.forms.clone(),
    ))
}

/// Bytes of all data files.
#[pyfunction]
pub(crate) fn table_bytes(py: Python<'_>, table: &TableReader) -> PyResult<u64> {
    let fragments = table.inner.manifest().fragments.iter();
    let mut sizes = fragments.flat_map(|fragment| &fragment.files).map(|file| file.size_bytes);
    let told = sizes.try_fold(0_u64, |sum, size| Some(sum.saturating_add(size?)));
    match told {
        Some(bytes) => Ok(bytes),
        // Manifests of old writers do not tell.
        None => {
            let inner = table.inner.clone();
            run_long(py, move || Ok::<_, Error>(inner.inspect(|_| {})?.file_bytes))
        }
    }
}
