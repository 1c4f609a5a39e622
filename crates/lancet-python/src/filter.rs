//! Conditions, from what `lancet._expr` has made of them: tuples that begin with what they are.
//!
//! | tuple | condition |
//! |---|---|
//! | `("compare", column, op, value)` | `=`, `!=`, `<`, `<=`, `>`, `>=` |
//! | `("in", column, values)` | one of a list |
//! | `("prefix", column, bytes)` | begins with |
//! | `("null", column)`, `("true", column)` | is null, is true |
//! | `("and", parts)`, `("or", parts)`, `("not", part)` | conditions of conditions |

use arrow_schema::DataType;
use lancet::{Comparison, Filter};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::literals;

/// Conditions nest at most so deep, as in lancet.
const MAX_DEPTH: usize = 128;

/// The condition; `type_of` finds the type of a column, or raises that it is not there.
pub(crate) fn filter(
    tree: &Bound<'_, PyAny>,
    type_of: &impl Fn(&str) -> PyResult<DataType>,
) -> PyResult<Filter> {
    build(tree, type_of, 0)
}

fn build(
    tree: &Bound<'_, PyAny>,
    type_of: &impl Fn(&str) -> PyResult<DataType>,
    depth: usize,
) -> PyResult<Filter> {
    if depth >= MAX_DEPTH {
        return Err(PyValueError::new_err(format!("the filter nests more than {MAX_DEPTH} deep")));
    }
    let tuple = tree.cast::<PyTuple>()?;
    let tag: String = tuple.get_item(0)?.extract()?;
    let column = || tuple.get_item(1)?.extract::<String>();
    let parts = || -> PyResult<Vec<Filter>> {
        let parts: Vec<Bound<'_, PyAny>> = tuple.get_item(1)?.extract()?;
        parts.iter().map(|part| build(part, type_of, depth.saturating_add(1))).collect()
    };
    Ok(match tag.as_str() {
        "compare" => {
            let column = column()?;
            let op = comparison(&tuple.get_item(2)?.extract::<String>()?)?;
            let value = literals::array(&[tuple.get_item(3)?], &column, &type_of(&column)?)?;
            Filter::compare(column, op, &value.as_ref())
        }
        "in" => {
            let column = column()?;
            let values: Vec<Bound<'_, PyAny>> = tuple.get_item(2)?.extract()?;
            let data_type = type_of(&column)?;
            let values = match values.as_slice() {
                [] => literals::none(&data_type),
                some => literals::array(some, &column, &data_type)?,
            };
            Filter::in_list(column, values)
        }
        "prefix" => {
            let column = column()?;
            type_of(&column)?;
            Filter::starts_with(column, tuple.get_item(2)?.extract::<Vec<u8>>()?)
        }
        "null" => {
            let column = column()?;
            type_of(&column)?;
            Filter::is_null(column)
        }
        "true" => {
            let column = column()?;
            type_of(&column)?;
            Filter::is_true(column)
        }
        "and" => parts()?.into_iter().reduce(Filter::and).unwrap_or(Filter::Constant(true)),
        "or" => parts()?.into_iter().reduce(Filter::or).unwrap_or(Filter::Constant(false)),
        "not" => !build(&tuple.get_item(1)?, type_of, depth.saturating_add(1))?,
        other => return Err(PyValueError::new_err(format!("there is no condition `{other}`"))),
    })
}

fn comparison(op: &str) -> PyResult<Comparison> {
    Ok(match op {
        "=" | "==" => Comparison::Eq,
        "!=" => Comparison::NotEq,
        "<" => Comparison::Lt,
        "<=" => Comparison::LtEq,
        ">" => Comparison::Gt,
        ">=" => Comparison::GtEq,
        other => {
            return Err(PyValueError::new_err(format!(
                "there is no comparison `{other}`; there are =, ==, !=, <, <=, >, >=, in, not in"
            )));
        }
    })
}

/// The type of the field called `name` in a schema that was projected to it alone: what is below the structs around it.
pub(crate) fn type_in(schema: &arrow_schema::Schema, name: &str) -> Option<DataType> {
    let mut field = schema.fields().first()?.clone();
    let mut rest = name;
    loop {
        rest = match rest.strip_prefix(field.name().as_str()) {
            Some("") => return Some(field.data_type().clone()),
            Some(below) => below.strip_prefix('.')?,
            None => return None,
        };
        let DataType::Struct(children) = field.data_type() else { return None };
        let children = children.clone();
        field = children
            .iter()
            .find(|child| {
                rest.strip_prefix(child.name().as_str())
                    .is_some_and(|below| below.is_empty() || below.starts_with('.'))
            })?
            .clone();
    }
}
