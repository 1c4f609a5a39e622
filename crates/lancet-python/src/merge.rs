//! Upserts: rows update those of a table that have the same keys, and the others are added.
//!
//! The rows are in memory. Of the table only the columns of the key are read.

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float16Type, Float32Type, Float64Type};
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchIterator, UInt64Array};
use arrow_buffer::NullBuffer;
use arrow_schema::{ArrowError, DataType, Schema, SchemaRef};
use arrow_select::take::{take, take_record_batch};
use half::f16;
use lancet_table::{Error, Table, TableChange, TableRows, TableWriteOptions};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::changes::{Changed, ROW_ADDRESS, addresses_in, changed, check, of_rows, worked_out};
use crate::data::Data;
use crate::errors::no_column;
use crate::table::TableReader;
use crate::values::objects;
use crate::work::run_change;

/// What becomes of the rows that are merged.
#[derive(Clone, Copy)]
struct Wanted {
    update: bool,
    insert: bool,
}

/// Merges rows by keys.
#[pyfunction]
pub(crate) fn merge_rows<'py>(
    py: Python<'py>,
    table: &TableReader,
    rows: &Data,
    on: Vec<String>,
    wanted: (bool, bool),
    options: &Bound<'py, PyDict>,
) -> Changed<'py> {
    check_keys(&rows.schema, &table.inner.schema(), &on)?;
    table.check_columns(&rows.schema)?;
    let source = Source { schema: rows.schema.clone(), batches: rows.batches.clone(), on };
    let (update, insert) = wanted;
    let wanted = Wanted { update, insert };
    let (source, keys) = run_change(py, move |cancel| {
        let keys = source.keys(&cancel)?;
        Ok((source, keys))
    })?;
    let keys = keys.map_err(|rows| source.doubled(py, rows))?;
    let done = changed(py, table, options, move |table, options, cancel| {
        worked_out(table, |table| {
            let matches = source.find(table, &keys, wanted, cancel)?;
            source.merge(table, matches, options)
        })
    });
    of_rows(py, done?)
}

/// Fails where keys cannot be compared.
fn check_keys(rows: &Schema, table: &Schema, on: &[String]) -> PyResult<()> {
    let find = |schema: &Schema, name: &str, place: &str| {
        let field = schema.field_with_name(name).map(|field| field.data_type().clone());
        field.map_err(|_| no_column(name, place, schema))
    };
    if on.is_empty() {
        return Err(PyValueError::new_err("`on` names at least one column"));
    }
    for name in on {
        let (here, there) =
            (find(rows, name, " in the rows")?, find(table, name, " in the table")?);
        if plain(&here) != plain(&there) {
            return Err(PyTypeError::new_err(format!(
                "column `{name}` is of type {there} in the table, but of type {here} in the rows"
            )));
        }
    }
    Ok(())
}

/// The type that keys go by: how texts and dictionaries are held is no matter.
fn plain(data_type: &DataType) -> &DataType {
    match data_type {
        DataType::Dictionary(_, values) => plain(values),
        DataType::LargeUtf8 | DataType::Utf8View => &DataType::Utf8,
        DataType::LargeBinary | DataType::BinaryView => &DataType::Binary,
        other => other,
    }
}

struct Source {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
    on: Vec<String>,
}

/// Rows by their keys: the number of the batch, and the row in it.
type ByKey = HashMap<Vec<u8>, Place>;

/// A row by its batch and its place there.
type Place = (usize, u64);

/// What was found.
struct Matches {
    /// For each batch the rows that update, and the addresses of those that they update.
    updates: Vec<(Vec<u64>, Vec<u64>)>,
    /// For each batch the rows that are new.
    inserts: Vec<Vec<u64>>,
}

impl Source {
    /// The rows by their keys, or two that have the same one. A key with a null equals no other.
    fn keys(&self, cancel: &AtomicBool) -> lancet_table::Result<Result<ByKey, [Place; 2]>> {
        let mut found = ByKey::new();
        for (number, batch) in self.batches.iter().enumerate() {
            check(cancel)?;
            let columns = self.on.iter().filter_map(|name| batch.column_by_name(name).cloned());
            let keys = Keys::new(&columns.collect::<Vec<_>>())?;
            let mut key = Vec::new();
            for row in 0..batch.num_rows() {
                if !keys.write(row, &mut key) {
                    continue;
                }
                let place = (number, row as u64);
                if let Some(first) = found.insert(key.clone(), place) {
                    return Ok(Err([first, place]));
                }
            }
        }
        Ok(Ok(found))
    }

    /// Says which rows have the same key, and which that is.
    fn doubled(&self, py: Python<'_>, [one, other]: [Place; 2]) -> PyErr {
        let number = |(batch, row): Place| {
            let before = self.batches.iter().take(batch);
            before.map(|batch| batch.num_rows() as u64).fold(row, u64::saturating_add)
        };
        let shown = |name: &String| -> Option<String> {
            let column = self.batches.get(one.0)?.column_by_name(name)?;
            let value = objects(py, &column.slice(usize::try_from(one.1).ok()?, 1)).ok()?;
            Some(format!("{name} = {}", value.first()?.repr().ok()?))
        };
        let key = self.on.iter().filter_map(shown).collect::<Vec<_>>().join(", ");
        PyValueError::new_err(format!(
            "rows {} and {} have the same key: {key}; a row of the table cannot get two values, so leave one of \
             them out",
            number(one),
            number(other)
        ))
    }

    /// Finds the rows of the table that have the keys. A key may come several times there.
    fn find(
        &self,
        table: &Table,
        keys: &ByKey,
        wanted: Wanted,
        cancel: &AtomicBool,
    ) -> lancet_table::Result<Matches> {
        let columns = self.on.iter().map(String::as_str).chain([ROW_ADDRESS]);
        let mut updates = vec![(Vec::new(), Vec::new()); self.batches.len()];
        let mut is_new: Vec<Vec<bool>> =
            self.batches.iter().map(|batch| vec![true; batch.num_rows()]).collect();
        let mut batches = table.scan().columns(columns.collect::<Vec<_>>()).build()?;
        let mut key = Vec::new();
        while let Some(batch) = batches.next_batch() {
            check(cancel)?;
            let batch = batch?;
            let addresses = addresses_in(&batch);
            let columns = batch.columns().get(..self.on.len()).unwrap_or_default();
            let theirs = Keys::new(columns)?;
            for (row, address) in addresses.into_iter().enumerate() {
                if !theirs.write(row, &mut key) {
                    continue;
                }
                let Some((number, row)) = keys.get(key.as_slice()) else { continue };
                if let Some((rows, addresses)) = updates.get_mut(*number) {
                    rows.push(*row);
                    addresses.push(address);
                }
                let place = usize::try_from(*row).unwrap_or(usize::MAX);
                if let Some(flag) = is_new.get_mut(*number).and_then(|rows| rows.get_mut(place)) {
                    *flag = false;
                }
            }
        }
        if !wanted.update {
            updates.clear();
        }
        let new = |rows: &Vec<bool>| {
            let rows = rows.iter().enumerate().filter(|(_, new)| **new && wanted.insert);
            rows.map(|(row, _)| row as u64).collect()
        };
        Ok(Matches { updates, inserts: is_new.iter().map(new).collect() })
    }

    fn merge(
        &self,
        table: &mut Table,
        matches: Matches,
        options: &TableWriteOptions,
    ) -> lancet_table::Result<TableChange> {
        let (changed, addresses): (Vec<_>, Vec<_>) = matches.updates.into_iter().unzip();
        let addresses = addresses.concat();
        let is_new = matches.inserts.iter().any(|rows| !rows.is_empty());
        let (rows, new) = (TableRows::Addresses(addresses.clone()), self.picked(matches.inserts));
        // Rows that only update need not have all columns.
        match (addresses.is_empty(), is_new) {
            (_, false) => table.update_with(rows, self.picked(changed), options),
            (true, true) => table.append_with(new, options),
            (false, true) => table.merge_with(rows, self.picked(changed), new, options),
        }
    }

    /// Some rows of each batch, one may come several times.
    fn picked(
        &self,
        rows: Vec<Vec<u64>>,
    ) -> RecordBatchIterator<impl Iterator<Item = Result<RecordBatch, ArrowError>> + use<>> {
        let batches = self.batches.clone().into_iter().zip(rows);
        let picked = batches
            .filter(|(_, rows)| !rows.is_empty())
            .map(|(batch, rows)| take_record_batch(&batch, &UInt64Array::from(rows)));
        RecordBatchIterator::new(picked, self.schema.clone())
    }
}

/// Appends the bytes of a value.
type Value = Box<dyn Fn(usize, &mut Vec<u8>)>;

/// The keys of rows as bytes, which are equal where the keys are.
struct Keys {
    values: Vec<Value>,
    nulls: Option<NullBuffer>,
}

impl Keys {
    fn new(columns: &[ArrayRef]) -> lancet_table::Result<Self> {
        let mut keys = Self { values: Vec::with_capacity(columns.len()), nulls: None };
        for column in columns {
            let nulls = column.logical_nulls();
            keys.nulls = NullBuffer::union(keys.nulls.as_ref(), nulls.as_ref());
            keys.values.push(value(column)?);
        }
        Ok(keys)
    }

    /// Puts the key of a row into `out`; false if a part of it is null.
    fn write(&self, row: usize, out: &mut Vec<u8>) -> bool {
        out.clear();
        if self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
            return false;
        }
        self.values.iter().for_each(|value| value(row, out));
        true
    }
}

/// The bytes of the values of a column, with their length where it is not always the same.
fn value(array: &ArrayRef) -> lancet_table::Result<Value> {
    use DataType as D;
    macro_rules! sized {
        ($array:expr) => {{
            let array = $array.clone();
            Box::new(move |row, out: &mut Vec<u8>| {
                let bytes: &[u8] = array.value(row).as_ref();
                out.extend_from_slice(&bytes.len().to_le_bytes());
                out.extend_from_slice(bytes);
            })
        }};
    }
    // Those that are equal in conditions have the same bytes: zeros, and all that are no number.
    macro_rules! float {
        ($type:ty, $zero:expr, $nan:expr) => {{
            let array = array.as_primitive::<$type>().clone();
            Box::new(move |row, out: &mut Vec<u8>| {
                let value = array.value(row);
                let value = if value == $zero { $zero } else { value };
                let value = if value.is_nan() { $nan } else { value };
                out.extend_from_slice(&value.to_le_bytes());
            })
        }};
    }
    Ok(match array.data_type() {
        D::Float16 => float!(Float16Type, f16::ZERO, f16::NAN),
        D::Float32 => float!(Float32Type, 0.0, f32::NAN),
        D::Float64 => float!(Float64Type, 0.0, f64::NAN),
        D::Boolean => {
            let array = array.as_boolean().clone();
            Box::new(move |row, out| out.push(array.value(row).into()))
        }
        D::Utf8 => sized!(array.as_string::<i32>()),
        D::LargeUtf8 => sized!(array.as_string::<i64>()),
        D::Utf8View => sized!(array.as_string_view()),
        D::Binary => sized!(array.as_binary::<i32>()),
        D::LargeBinary => sized!(array.as_binary::<i64>()),
        D::BinaryView => sized!(array.as_binary_view()),
        D::FixedSizeBinary(_) => sized!(array.as_fixed_size_binary()),
        D::Dictionary(..) => {
            let unknown = || Error::Invalid("a dictionary is none".into());
            let found = array.as_any_dictionary_opt().ok_or_else(unknown)?;
            value(&take(found.values(), found.keys(), None)?)?
        }
        plain => {
            let data = array.to_data();
            let (Some(width), Some(values)) = (plain.primitive_width(), data.buffers().first())
            else {
                return Err(Error::Invalid(format!("values of type {plain} are no keys")));
            };
            let (values, first) = (values.clone(), data.offset());
            Box::new(move |row, out| {
                let start = first.saturating_add(row).saturating_mul(width);
                let bytes = values.get(start..start.saturating_add(width));
                out.extend_from_slice(bytes.unwrap_or_default());
            })
        }
    })
}
