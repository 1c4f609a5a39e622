//! What is known of files, as dicts.

use arrow_array::{Array, ArrayRef, make_array};
use arrow_buffer::Buffer;
use arrow_data::ArrayData;
use arrow_schema::{DataType, TimeUnit};
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
pub(crate) use dict;

pub(crate) fn statistics<'py>(
    py: Python<'py>,
    found: &ColumnStatistics,
) -> PyResult<Bound<'py, PyDict>> {
    let (min, max, exact) = bounds(py, [&found.min, &found.max], found.exact)?;
    Ok(dict!(py,
        "num_rows": found.num_rows,
        "null_count": found.null_count,
        "nan_count": found.nan_count,
        "counts_exact": true,
        "min": min,
        "max": max,
        "exact": exact,
    ))
}

/// The least value, the greatest, and whether both are values of the column.
type Bounds<'py> = (Option<Bound<'py, PyAny>>, Option<Bound<'py, PyAny>>, bool);

pub(crate) fn bounds<'py>(
    py: Python<'py>,
    [min, max]: [&Option<ArrayRef>; 2],
    mut exact: bool,
) -> PyResult<Bounds<'py>> {
    let mut value = |array: &Option<ArrayRef>, up: bool| {
        let Some(array) = array else { return PyResult::Ok(None) };
        let rounded = whole_micros(array, up);
        exact &= rounded.is_none();
        Ok(objects(py, rounded.as_ref().unwrap_or(array))?.pop())
    };
    let (min, max) = (value(min, false)?, value(max, true)?);
    Ok((min, max, exact))
}

/// A bound that has nanoseconds, which times of Python have not, rounded down or up; none where it can stay what it is.
fn whole_micros(array: &ArrayRef, up: bool) -> Option<ArrayRef> {
    use DataType as D;
    let (D::Timestamp(TimeUnit::Nanosecond, _)
    | D::Duration(TimeUnit::Nanosecond)
    | D::Time64(TimeUnit::Nanosecond)) = array.data_type()
    else {
        return None;
    };
    let data = array.to_data();
    let value = data.buffer::<i64>(0).first().copied().filter(|_| array.is_valid(0))?;
    let behind = value.rem_euclid(1_000);
    if behind == 0 {
        return None;
    }
    let below = value.saturating_sub(behind);
    // A day has no time of Python behind its last microsecond.
    let most =
        if matches!(array.data_type(), D::Time64(_)) { 86_399_999_999_000 } else { i64::MAX };
    let above = below.checked_add(1_000).filter(|above| *above <= most).unwrap_or(below);
    let rounded = Buffer::from_slice_ref([if up { above } else { below }]);
    let data = ArrayData::builder(array.data_type().clone()).len(1).add_buffer(rounded);
    data.build().ok().map(make_array)
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
