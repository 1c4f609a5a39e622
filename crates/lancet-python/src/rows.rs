//! Numbers and ranges of rows, from what Python has.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use lancet::RowRanges;
use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyInt, PyList, PySequence, PyString};

use crate::capsules::array_in;
use crate::errors::no_row;

/// What the numbers of rows are, for people.
const WHOLE: &str = "these are whole numbers from 0 to 2**64-1";

/// What becomes of a mask of true and false.
const OF_MASKS: &str = "; of a mask take `numpy.flatnonzero`";

/// The rows that a list, a range, an array of numpy or one of Arrow names; each is below `num_rows`.
pub(crate) fn row_numbers(object: &Bound<'_, PyAny>, num_rows: u64) -> PyResult<Vec<u64>> {
    let rows = whole_numbers(object)?;
    match rows.iter().find(|row| u64::try_from(**row).is_err() || **row >= i128::from(num_rows)) {
        Some(row) => Err(no_row(*row, num_rows)),
        None => Ok(rows.into_iter().map(|row| u64::try_from(row).unwrap_or(u64::MAX)).collect()),
    }
}

/// Row ids or addresses, which need not be there.
pub(crate) fn row_names(object: &Bound<'_, PyAny>) -> PyResult<Vec<u64>> {
    let name = |row: i128| {
        let failed = || {
            PyValueError::new_err(format!("{row} cannot be the id or address of a row; {WHOLE}"))
        };
        u64::try_from(row).map_err(|_| failed())
    };
    whole_numbers(object)?.into_iter().map(name).collect()
}

fn whole_numbers(object: &Bound<'_, PyAny>) -> PyResult<Vec<i128>> {
    let py = object.py();
    if object.is_exact_instance_of::<PyList>() {
        return of_sequence(object);
    }
    if let Some(interface) = object.getattr_opt(intern!(py, "__array_interface__"))?
        && let Some(rows) = of_interface(interface.cast::<PyDict>()?)?
    {
        return Ok(rows);
    }
    if object.hasattr(intern!(py, "__arrow_c_array__"))? {
        return of_arrow(&array_in(object)?.0);
    }
    // Tensors, and arrays that do not lie in one piece; series, and arrays of Arrow that are several.
    for method in [intern!(py, "tolist"), intern!(py, "to_list"), intern!(py, "to_pylist")] {
        if object.hasattr(method)? {
            return of_sequence(&object.call_method0(method)?);
        }
    }
    of_sequence(object)
}

fn of_sequence(object: &Bound<'_, PyAny>) -> PyResult<Vec<i128>> {
    let is_text = object.is_instance_of::<PyString>() || object.is_instance_of::<PyBytes>();
    if is_text || object.cast::<PySequence>().is_err() {
        let name = object.get_type().name()?;
        return Err(PyTypeError::new_err(format!(
            "rows are given by their numbers in a list, a range or an array, not by a value of type {name}; {WHOLE}"
        )));
    }
    let Ok(rows) = object.extract::<Vec<i64>>() else {
        return object.try_iter()?.map(|item| whole_number(&item?)).collect();
    };
    // True and False are whole numbers, too.
    for (at, _) in rows.iter().enumerate().filter(|(_, row)| matches!(row, 0 | 1)) {
        whole_number(&object.get_item(at)?)?;
    }
    Ok(rows.into_iter().map(i128::from).collect())
}

fn whole_number(item: &Bound<'_, PyAny>) -> PyResult<i128> {
    let is_flag = item.is_instance_of::<PyBool>();
    if let (false, Ok(row)) = (is_flag, item.extract::<i64>()) {
        return Ok(row.into());
    }
    if let (false, Ok(row)) = (is_flag, item.extract::<u64>()) {
        return Ok(row.into());
    }
    let (shown, name) = (item.repr()?, item.get_type().name()?);
    if !is_flag && item.is_instance_of::<PyInt>() {
        return Err(PyIndexError::new_err(format!("{shown} is the number of no row; {WHOLE}")));
    }
    let of_masks = if is_flag || name.to_str()?.starts_with("bool") { OF_MASKS } else { "" };
    Err(PyTypeError::new_err(format!(
        "{shown} of type {name} is not the number of a row; {WHOLE}{of_masks}"
    )))
}

/// The numbers that numpy says lie one after the other at an address; none where they do not.
fn of_interface(interface: &Bound<'_, PyDict>) -> PyResult<Option<Vec<i128>>> {
    let item = |name: &str| -> PyResult<Option<Bound<'_, PyAny>>> {
        Ok(interface.get_item(name)?.filter(|value| !value.is_none()))
    };
    let (Some(shape), Some(data), Some(typestr)) =
        (item("shape")?, item("data")?, item("typestr")?)
    else {
        return Ok(None);
    };
    if item("strides")?.is_some() {
        return Ok(None);
    }
    let (Ok((len,)), Ok((address, _))) =
        (shape.extract::<(usize,)>(), data.extract::<(usize, bool)>())
    else {
        return Ok(None);
    };
    let typestr: String = typestr.extract()?;
    /// The numbers of one type at an address.
    fn read<T: Copy + Into<i128>>(address: usize, len: usize) -> Vec<i128> {
        let start = std::ptr::with_exposed_provenance::<T>(address);
        // SAFETY: numpy says that so many numbers of the type lie there, and its array lives while it is asked.
        (0..len).map(|at| unsafe { start.add(at).read_unaligned() }.into()).collect()
    }
    if len == 0 {
        return Ok(Some(Vec::new()));
    }
    Ok(Some(match typestr.trim_start_matches(['<', '|', '=']) {
        "i8" => read::<i64>(address, len),
        "i4" => read::<i32>(address, len),
        "i2" => read::<i16>(address, len),
        "i1" => read::<i8>(address, len),
        "u8" => read::<u64>(address, len),
        "u4" => read::<u32>(address, len),
        "u2" => read::<u16>(address, len),
        "u1" => read::<u8>(address, len),
        // What is left is told by the first number that is none.
        _ => return Ok(None),
    }))
}

fn of_arrow(array: &ArrayRef) -> PyResult<Vec<i128>> {
    fn read<T: ArrowPrimitiveType>(array: &ArrayRef) -> Vec<i128>
    where
        T::Native: Into<i128>,
    {
        array.as_primitive::<T>().values().iter().map(|row| (*row).into()).collect()
    }
    if array.null_count() > 0 {
        return Err(PyValueError::new_err(format!("some numbers of rows are null; {WHOLE}")));
    }
    Ok(match array.data_type() {
        DataType::Int8 => read::<Int8Type>(array),
        DataType::Int16 => read::<Int16Type>(array),
        DataType::Int32 => read::<Int32Type>(array),
        DataType::Int64 => read::<Int64Type>(array),
        DataType::UInt8 => read::<UInt8Type>(array),
        DataType::UInt16 => read::<UInt16Type>(array),
        DataType::UInt32 => read::<UInt32Type>(array),
        DataType::UInt64 => read::<UInt64Type>(array),
        other => {
            let of_masks = if *other == DataType::Boolean { OF_MASKS } else { "" };
            return Err(PyTypeError::new_err(format!(
                "values of type {other} are not the numbers of rows; {WHOLE}{of_masks}"
            )));
        }
    })
}

/// Ranges of rows, as pairs.
pub(crate) fn ranges(pairs: Vec<(u64, u64)>) -> RowRanges {
    pairs.into_iter().map(|(start, stop)| start..stop).collect()
}
