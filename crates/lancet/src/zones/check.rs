//! Whether a filter fits the columns it names: a comparison that could never leave out a row because of
//! a slip of the keyboard is an error, not a slow read.

use arrow_array::Array;
use arrow_schema::DataType;

use super::filter::Filter;
use super::keys::{compares, decoded_type};
use crate::error::{Error, Result};

/// Fails if a column is not there or is compared with what it does not compare with. `type_of` finds
/// the type of a column.
pub(crate) fn check(filter: &Filter, type_of: &impl Fn(&str) -> Result<DataType>) -> Result<()> {
    filter.check_depth()?;
    check_parts(filter, type_of)
}

fn check_parts(filter: &Filter, type_of: &impl Fn(&str) -> Result<DataType>) -> Result<()> {
    use DataType as D;
    match filter {
        Filter::Compare { column, value, .. } => {
            if value.len() != 1 {
                return Err(Error::invalid(format!(
                    "column `{column}` is compared with {} values; give one, or use `in_list`",
                    value.len()
                )));
            }
            check_types(column, &type_of(column)?, value.data_type())
        }
        Filter::InList { column, values } => {
            check_types(column, &type_of(column)?, values.data_type())
        }
        Filter::StartsWith { column, .. } => match decoded_type(&type_of(column)?) {
            D::Utf8 | D::LargeUtf8 | D::Utf8View | D::Binary | D::LargeBinary | D::BinaryView => {
                Ok(())
            }
            found => Err(Error::invalid(format!(
                "column `{column}` is of type {found}; only strings and binaries start with a prefix"
            ))),
        },
        Filter::IsNull { column } => type_of(column).map(drop),
        Filter::IsTrue { column } => match decoded_type(&type_of(column)?) {
            D::Boolean => Ok(()),
            found => Err(Error::invalid(format!(
                "column `{column}` is of type {found}; only a Boolean column is true or false"
            ))),
        },
        Filter::And(parts) | Filter::Or(parts) => {
            parts.iter().try_for_each(|part| check_parts(part, type_of))
        }
        Filter::Not(part) => check_parts(part, type_of),
        Filter::Constant(_) | Filter::Unknown => Ok(()),
    }
}

fn check_types(name: &str, column: &DataType, literal: &DataType) -> Result<()> {
    let (column, literal) = (decoded_type(column), decoded_type(literal));
    if *literal == DataType::Null || compares(literal, column) {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "column `{name}` is of type {column} and does not compare with a value of type {literal}; \
         give a value of type {column}"
    )))
}
