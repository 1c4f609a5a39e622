//! What is known of files, as dicts.

use arrow_array::ArrayRef;
use lancet::{ColumnReport, ColumnStatistics, Corrupt, FileReport, Verification, WriteSummary};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::values::objects;

/// A dict of some names and values.
macro_rules! dict {
    ($py:expr, $($name:literal: $value:expr),* $(,)?) => {{
        let dict = PyDict::new($py);
        $(dict.set_item($name, $value)?;)*
        dict
    }};
}

pub(crate) fn statistics<'py>(
    py: Python<'py>,
    found: &ColumnStatistics,
) -> PyResult<Bound<'py, PyDict>> {
    let value = |array: &Option<ArrayRef>| match array {
        Some(array) => Ok(objects(py, array)?.pop()),
        None => PyResult::Ok(None),
    };
    Ok(dict!(py,
        "num_rows": found.num_rows,
        "null_count": found.null_count,
        "nan_count": found.nan_count,
        "min": value(&found.min)?,
        "max": value(&found.max)?,
        "exact": found.exact,
    ))
}

pub(crate) fn file<'py>(py: Python<'py>, report: &FileReport) -> PyResult<Bound<'py, PyDict>> {
    let columns = report.columns.iter().map(|found| column(py, found));
    Ok(dict!(py,
        "version": report.version.to_string(),
        "file_bytes": report.file_bytes,
        "num_rows": report.num_rows,
        "data_bytes": report.data_bytes,
        "metadata_bytes": report.metadata_bytes,
        "global_buffers": report.global_buffers.clone(),
        "columns": columns.collect::<PyResult<Vec<_>>>()?,
    ))
}

fn column<'py>(py: Python<'py>, report: &ColumnReport) -> PyResult<Bound<'py, PyDict>> {
    let pages = report.pages.iter().map(|page| {
        let buffers = page.buffers.iter().map(|buffer| {
            PyResult::Ok(dict!(py,
                "holds": &buffer.holds,
                "position": buffer.position,
                "bytes": buffer.bytes,
            ))
        });
        Ok(dict!(py,
            "num_rows": page.num_rows,
            "layout": &page.layout,
            "encoding": &page.encoding,
            "bytes": page.bytes,
            "buffers": buffers.collect::<PyResult<Vec<_>>>()?,
        ))
    });
    Ok(dict!(py,
        "index": report.index,
        "name": &report.name,
        "type": report.data_type.to_string(),
        "bytes": report.bytes,
        "zone_map_bytes": report.zone_map.as_ref().map(|map| map.bytes),
        "pages": pages.collect::<PyResult<Vec<_>>>()?,
    ))
}

pub(crate) fn verification<'py>(
    py: Python<'py>,
    found: &Verification,
) -> PyResult<Bound<'py, PyDict>> {
    let problem = |found: &Corrupt| {
        PyResult::Ok(dict!(py,
            "column": &found.column_name,
            "column_index": found.column,
            "page": found.page,
            "buffer": found.buffer,
            "offset": found.offset,
            "rule": &found.rule,
        ))
    };
    Ok(dict!(py,
        "problems": found.problems.iter().map(problem).collect::<PyResult<Vec<_>>>()?,
        "unread": found.unread.clone(),
        "num_pages": found.num_pages,
        "has_checksums": found.has_checksums,
        "num_checksums": found.num_checksums,
        "num_zone_maps": found.num_zone_maps,
    ))
}

pub(crate) fn summary<'py>(
    py: Python<'py>,
    summary: &WriteSummary,
) -> PyResult<Bound<'py, PyDict>> {
    let columns = summary.columns.iter().map(|column| {
        let pages = column.pages.iter().map(|page| {
            PyResult::Ok(dict!(py,
                "layout": page.layout,
                "encoding": &page.encoding,
                "bytes": page.bytes,
                "num_rows": page.rows,
                "reason": &page.reason,
            ))
        });
        Ok(dict!(py,
            "name": &column.name,
            "zone_map_bytes": column.zone_map_bytes,
            "pages": pages.collect::<PyResult<Vec<_>>>()?,
        ))
    });
    Ok(dict!(py,
        "num_rows": summary.num_rows,
        "file_bytes": summary.file_bytes,
        "num_pages": summary.num_pages,
        "columns": columns.collect::<PyResult<Vec<_>>>()?,
    ))
}
