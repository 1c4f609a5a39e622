//! Plans of single columns, for the tests of what is written.

use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, Int32Array, ListArray};
use arrow_schema::{DataType, Field, Schema};

use super::WriteOptions;
use super::column::ColumnPlan;
use super::plan::plan_columns;
use crate::error::{Error, Result};

/// The plan of the only leaf of a column.
pub(super) fn plan(field: Field, options: &WriteOptions) -> ColumnPlan {
    plans(vec![field], options).unwrap().remove(0)
}

pub(super) fn plans(fields: Vec<Field>, options: &WriteOptions) -> Result<Vec<ColumnPlan>> {
    plan_columns(&Arc::new(Schema::new(fields)), options).map(|(_, plans)| plans)
}

/// A column named `n` of the type of an array.
pub(super) fn plan_of(array: &ArrayRef, options: &WriteOptions) -> ColumnPlan {
    plan(Field::new("n", array.data_type().clone(), true), options)
}

/// The numbers 0, 1, 2, …
pub(super) fn ints(count: usize) -> ArrayRef {
    Arc::new(Int32Array::from_iter_values(0..count as i32))
}

pub(super) fn int_field() -> Field {
    Field::new("n", DataType::Int32, false)
}

/// A list of one number, and then lists that are null.
pub(super) fn mostly_null_lists(count: usize) -> ArrayRef {
    let lists = (0..count).map(|i| (i == 0).then_some([Some(7)]));
    Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(lists))
}

/// What the caller is told about something that is refused.
pub(super) fn refused<T: std::fmt::Debug>(result: Result<T>) -> String {
    match result.unwrap_err() {
        Error::Invalid(what) | Error::Unsupported(what) => what,
        other => panic!("{other:?}"),
    }
}
