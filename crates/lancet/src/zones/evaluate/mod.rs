//! The rows for which a filter is true, by the values of its columns.
//!
//! Every node of the filter becomes a [`Truth`]: a bitmap of the rows for which it is true and one of
//! those for which it is false. A row in neither is null.
//!
//! | node | true | false |
//! |---|---|---|
//! | `a AND b` | both true | one is false |
//! | `a OR b` | one is true | both false |
//! | `NOT a` | `a` is false | `a` is true |
//! | of a column | the value is not null, and passes | the value is not null, and does not pass |
//! | `x IN (..)` | one is equal | none is equal, and none is null |
//!
//! | module | what |
//! |---|---|
//! | [`values`] | the values of one column against literals, by type |
//! | `place` | where a literal stands among the values of a column's type |
//! | `packed` | many values against few, bits out |

mod packed;
mod place;
#[cfg(test)]
mod tests;
mod values;

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray};
use arrow_buffer::{ArrowNativeType, BooleanBuffer, NullBuffer};
use arrow_schema::DataType;

use self::packed::Values;
use self::values::{Condition, native, passing};
use super::check::check;
use super::filter::{Comparison, Filter};
use super::keys::decoded;
use crate::error::{Error, Result};

/// The rows for which the filter is true: not false, not null. `column` finds the values of a
/// column, one for each of the `num_rows` rows.
pub(crate) fn matching(
    filter: &Filter,
    num_rows: usize,
    column: &dyn Fn(&str) -> Result<ArrayRef>,
) -> Result<BooleanBuffer> {
    filter.check_depth()?;
    Ok(Rows { num_rows, column }.evaluate(filter)?.yes)
}

/// What a condition comes to in each of some rows. No row is in both bitmaps.
#[derive(Debug, Clone)]
struct Truth {
    yes: BooleanBuffer,
    no: BooleanBuffer,
}

impl Truth {
    /// The same in all rows.
    fn constant(truth: Option<bool>, num_rows: usize) -> Self {
        let bits = |set| {
            if set { BooleanBuffer::new_set(num_rows) } else { BooleanBuffer::new_unset(num_rows) }
        };
        Self { yes: bits(truth == Some(true)), no: bits(truth == Some(false)) }
    }

    /// True where the bit is set, and null where a null is.
    fn of(bits: BooleanBuffer, nulls: Option<&NullBuffer>) -> Self {
        Self { no: !&bits, yes: bits }.where_valid(nulls)
    }

    fn where_valid(self, nulls: Option<&NullBuffer>) -> Self {
        match nulls {
            Some(nulls) => Self { yes: &self.yes & nulls.inner(), no: &self.no & nulls.inner() },
            None => self,
        }
    }

    fn and(&self, other: &Self) -> Self {
        Self { yes: &self.yes & &other.yes, no: &self.no | &other.no }
    }

    fn or(&self, other: &Self) -> Self {
        Self { yes: &self.yes | &other.yes, no: &self.no & &other.no }
    }

    fn not(self) -> Self {
        Self { yes: self.no, no: self.yes }
    }
}

/// The rows to evaluate filters for.
struct Rows<'a> {
    num_rows: usize,
    column: &'a dyn Fn(&str) -> Result<ArrayRef>,
}

impl Rows<'_> {
    fn evaluate(&self, filter: &Filter) -> Result<Truth> {
        match filter {
            Filter::Compare { column, op, value } => {
                self.compare(column, *op, value, &self.column_for(filter, column)?)
            }
            Filter::InList { column, values } => {
                self.in_list(column, values, &self.column_for(filter, column)?)
            }
            Filter::StartsWith { column, prefix } => {
                truth_of(column, &self.column_for(filter, column)?, &Condition::StartsWith(prefix))
            }
            Filter::IsNull { column } => {
                let nulls = self.column_for(filter, column)?.logical_nulls();
                Ok(match nulls {
                    Some(nulls) => Truth::of(!nulls.inner(), None),
                    None => Truth::constant(Some(false), self.num_rows),
                })
            }
            Filter::IsTrue { column } => {
                let yes: ArrayRef = Arc::new(BooleanArray::from(vec![true]));
                self.compare(column, Comparison::Eq, &yes, &self.column_for(filter, column)?)
            }
            Filter::And(parts) => {
                let all = Truth::constant(Some(true), self.num_rows);
                parts.iter().try_fold(all, |all, part| Ok(all.and(&self.evaluate(part)?)))
            }
            Filter::Or(parts) => {
                let none = Truth::constant(Some(false), self.num_rows);
                parts.iter().try_fold(none, |any, part| Ok(any.or(&self.evaluate(part)?)))
            }
            Filter::Not(part) => self.evaluate(part).map(Truth::not),
            Filter::Constant(truth) => Ok(Truth::constant(Some(*truth), self.num_rows)),
            Filter::Unknown => Err(Error::invalid(
                "a scan cannot answer a filter with `Filter::Unknown` in it: nothing says for which \
                 rows it holds",
            )),
        }
    }

    /// The values of a column, which the filter fits.
    fn column_for(&self, filter: &Filter, name: &str) -> Result<ArrayRef> {
        let column = (self.column)(name)?;
        if column.len() != self.num_rows {
            return Err(Error::invalid(format!(
                "column `{name}` has {} values for {} rows",
                column.len(),
                self.num_rows
            )));
        }
        check(filter, &|_| Ok(column.data_type().clone()))?;
        Ok(column)
    }

    fn compare(
        &self,
        name: &str,
        op: Comparison,
        value: &ArrayRef,
        column: &ArrayRef,
    ) -> Result<Truth> {
        let literal = plain(value)?;
        if literal.logical_null_count() > 0 {
            return Ok(Truth::constant(None, self.num_rows));
        }
        truth_of(name, column, &Condition::Compare(op, &literal))
    }

    /// Nothing is in a list of no values, not even null.
    fn in_list(&self, name: &str, values: &ArrayRef, column: &ArrayRef) -> Result<Truth> {
        if values.is_empty() {
            return Ok(Truth::constant(Some(false), self.num_rows));
        }
        let literals = plain(values)?;
        let nulls = literals.logical_null_count();
        if nulls == literals.len() {
            return Ok(Truth::constant(None, self.num_rows));
        }
        let mut truth = truth_of(name, column, &Condition::OneOf(&literals))?;
        if nulls > 0 {
            // What equals none of the others might equal that one.
            truth.no = BooleanBuffer::new_unset(self.num_rows);
        }
        Ok(truth)
    }
}

/// An array without a dictionary around it.
fn plain(array: &ArrayRef) -> Result<ArrayRef> {
    decoded(array).ok_or_else(|| Error::invalid("a dictionary has keys without values"))
}

/// What a condition comes to for the values of a column.
fn truth_of(name: &str, column: &ArrayRef, condition: &Condition<'_>) -> Result<Truth> {
    let Some(dictionary) = column.as_any_dictionary_opt() else {
        let bits = passing(name, column, condition)?;
        return Ok(Truth::of(bits, column.logical_nulls().as_ref()));
    };
    if dictionary.values().len() > column.len() {
        // Most values are of other rows.
        return truth_of(name, &plain(column)?, condition);
    }
    let truth = truth_of(name, dictionary.values(), condition)?;
    by_keys(dictionary.keys(), &truth)
}

/// The truth of rows by that of the values of a dictionary.
fn by_keys(keys: &dyn Array, truth: &Truth) -> Result<Truth> {
    use DataType as D;
    let found = match keys.data_type() {
        D::Int8 => look_up::<i8>(keys, truth),
        D::Int16 => look_up::<i16>(keys, truth),
        D::Int32 => look_up::<i32>(keys, truth),
        D::Int64 => look_up::<i64>(keys, truth),
        D::UInt8 => look_up::<u8>(keys, truth),
        D::UInt16 => look_up::<u16>(keys, truth),
        D::UInt32 => look_up::<u32>(keys, truth),
        D::UInt64 => look_up::<u64>(keys, truth),
        other => return Err(Error::invalid(format!("a dictionary has keys of type {other}"))),
    };
    Ok(found.where_valid(keys.nulls()))
}

/// Keys of rows that are null may be anything.
fn look_up<N: ArrowNativeType>(keys: &dyn Array, truth: &Truth) -> Truth {
    let data = keys.to_data();
    let keys = native::<N>(&data);
    let rows = |bits: &BooleanBuffer| {
        let bits: Vec<bool> = bits.iter().collect();
        keys.pack(|key: N| bits.get(key.as_usize()).copied().unwrap_or(false))
    };
    Truth { yes: rows(&truth.yes), no: rows(&truth.no) }
}
