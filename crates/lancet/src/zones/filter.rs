//! Conditions on rows: zone maps say where they may hold, values where they do.

use std::collections::BTreeSet;
use std::fmt;

use arrow_array::{ArrayRef, Datum, make_array};

use crate::error::{Error, Result};

/// Conditions that nest deeper are not answered.
pub(super) const MAX_DEPTH: usize = 128;

/// How a column and a value are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Comparison {
    /// `=`
    Eq,
    /// `!=`
    NotEq,
    /// `<`
    Lt,
    /// `<=`
    LtEq,
    /// `>`
    Gt,
    /// `>=`
    GtEq,
}

/// A condition on the rows of a file; see [`FileReader::prune`](crate::FileReader::prune).
///
/// Columns are named as in [`Scan::columns`](crate::Scan::columns): nested ones with dots. A
/// comparison with null is null, and a condition that is null does not hold.
///
/// What compares with what is listed at [`FileReader::prune`](crate::FileReader::prune). Where a filter is
/// answered row by row, the answer is exact:
///
/// | values | order |
/// |---|---|
/// | integers, decimals | as numbers, whatever their widths and scales: 2 < 2.5 < 3 |
/// | dates, times, timestamps, durations | as times, whatever their units |
/// | floats | NaN equals NaN and is above all numbers, whatever its sign; −0 equals 0; as PostgreSQL and DuckDB have it |
/// | booleans | false < true |
/// | strings, binaries | by their bytes |
/// | null and `AND`, `OR`, `NOT` | as in SQL: null is true or false, one does not know which |
///
/// Conditions nest at most 128 deep: what lies deeper leaves out nothing for zone maps, is an error in a scan,
/// and [`Filter::Unknown`] in a clone. Any number of conditions can be joined by [`Filter::and`] and
/// [`Filter::or`], which nest no deeper for that; nor does a negation of a negation.
///
/// ```
/// use arrow_array::{Int64Array, StringArray};
/// use lancet::{Comparison, Filter};
///
/// let recent = Filter::compare("year", Comparison::GtEq, &Int64Array::new_scalar(2020));
/// let swiss = Filter::compare("doc.country", Comparison::Eq, &StringArray::new_scalar("CH"));
/// let filter = recent.and(!swiss.or(Filter::is_null("doc.country")));
/// assert_eq!(filter.columns().into_iter().collect::<Vec<_>>(), ["doc.country", "year"]);
/// ```
#[non_exhaustive]
pub enum Filter {
    /// A column compared with a value.
    Compare {
        /// The column.
        column: String,
        /// How.
        op: Comparison,
        /// An array of the one value.
        value: ArrayRef,
    },
    /// A column that equals one of some values; of none, false. If it equals none, null where it
    /// is null or one of the values is.
    InList {
        /// The column.
        column: String,
        /// The values.
        values: ArrayRef,
    },
    /// A column of strings or binaries that start with some bytes.
    StartsWith {
        /// The column.
        column: String,
        /// The bytes.
        prefix: Vec<u8>,
    },
    /// A column that is null.
    IsNull {
        /// The column.
        column: String,
    },
    /// A column of booleans that is true; of null, null.
    IsTrue {
        /// The column.
        column: String,
    },
    /// All of them; of none, true.
    And(Vec<Filter>),
    /// One of them; of none, false.
    Or(Vec<Filter>),
    /// The opposite; of null, null.
    Not(Box<Filter>),
    /// Whatever the row is.
    Constant(bool),
    /// A condition that cannot be said here: it may hold for any row. Only zone maps take it.
    Unknown,
}

impl Filter {
    /// A column compared with a value: an array of one, or a [`Scalar`](arrow_array::Scalar).
    pub fn compare(column: impl Into<String>, op: Comparison, value: &dyn Datum) -> Self {
        let value = make_array(value.get().0.to_data());
        Self::Compare { column: column.into(), op, value }
    }

    /// A column that equals one of some values.
    pub fn in_list(column: impl Into<String>, values: ArrayRef) -> Self {
        Self::InList { column: column.into(), values }
    }

    /// A column that starts with a prefix.
    pub fn starts_with(column: impl Into<String>, prefix: impl AsRef<[u8]>) -> Self {
        Self::StartsWith { column: column.into(), prefix: prefix.as_ref().to_vec() }
    }

    /// A column that is null.
    pub fn is_null(column: impl Into<String>) -> Self {
        Self::IsNull { column: column.into() }
    }

    /// A column that is not null.
    pub fn is_not_null(column: impl Into<String>) -> Self {
        !Self::is_null(column)
    }

    /// A column of booleans that is true.
    pub fn is_true(column: impl Into<String>) -> Self {
        Self::IsTrue { column: column.into() }
    }

    /// Both conditions.
    pub fn and(mut self, mut other: Self) -> Self {
        match (&mut self, &mut other) {
            (Self::And(all), Self::And(more)) => join(all, more),
            (Self::And(all), _) => all.push(other),
            // The order is no matter, and to push is quick.
            (_, Self::And(all)) => {
                all.push(self);
                return other;
            }
            _ => return Self::And(vec![self, other]),
        }
        self
    }

    /// One of two conditions.
    pub fn or(mut self, mut other: Self) -> Self {
        match (&mut self, &mut other) {
            (Self::Or(any), Self::Or(more)) => join(any, more),
            (Self::Or(any), _) => any.push(other),
            (_, Self::Or(any)) => {
                any.push(self);
                return other;
            }
            _ => return Self::Or(vec![self, other]),
        }
        self
    }

    /// The columns it names.
    pub fn columns(&self) -> BTreeSet<&str> {
        self.all().filter_map(Self::column).collect()
    }

    /// The columns of which it needs the values, not only whether they are null.
    pub fn value_columns(&self) -> BTreeSet<&str> {
        let is_value = |filter: &&Self| !matches!(filter, Self::IsNull { .. });
        self.all().filter(is_value).filter_map(Self::column).collect()
    }

    /// It and all conditions within it.
    fn all(&self) -> impl Iterator<Item = &Self> {
        let mut filters = vec![self];
        std::iter::from_fn(move || {
            let filter = filters.pop()?;
            filters.extend(filter.parts());
            Some(filter)
        })
    }

    /// The column that it is about itself.
    fn column(&self) -> Option<&str> {
        match self {
            Self::Compare { column, .. }
            | Self::InList { column, .. }
            | Self::StartsWith { column, .. }
            | Self::IsNull { column }
            | Self::IsTrue { column } => Some(column),
            Self::And(_) | Self::Or(_) | Self::Not(_) | Self::Constant(_) | Self::Unknown => None,
        }
    }

    /// The conditions that it is made of.
    fn parts(&self) -> &[Self] {
        match self {
            Self::And(parts) | Self::Or(parts) => parts,
            Self::Not(part) => std::slice::from_ref(part),
            _ => &[],
        }
    }

    /// An error if it nests too deep to be answered.
    pub(crate) fn check_depth(&self) -> Result<()> {
        let mut filters = vec![(self, 1)];
        while let Some((filter, depth)) = filters.pop() {
            if depth > MAX_DEPTH {
                return Err(Error::invalid(format!(
                    "the filter nests more than {MAX_DEPTH} deep; join conditions by `Filter::and` and \
                     `Filter::or` one after the other, which does not nest"
                )));
            }
            filters.extend(filter.parts().iter().map(|part| (part, depth.saturating_add(1))));
        }
        Ok(())
    }

    /// A copy of the upper levels; below them everything is unknown.
    fn copy(&self, levels: usize) -> Self {
        let Some(below) = levels.checked_sub(1) else { return Self::Unknown };
        let copies = |parts: &[Self]| parts.iter().map(|part| part.copy(below)).collect();
        match self {
            Self::Compare { column, op, value } => {
                Self::Compare { column: column.clone(), op: *op, value: value.clone() }
            }
            Self::InList { column, values } => {
                Self::InList { column: column.clone(), values: values.clone() }
            }
            Self::StartsWith { column, prefix } => {
                Self::StartsWith { column: column.clone(), prefix: prefix.clone() }
            }
            Self::IsNull { column } => Self::IsNull { column: column.clone() },
            Self::IsTrue { column } => Self::IsTrue { column: column.clone() },
            Self::And(parts) => Self::And(copies(parts)),
            Self::Or(parts) => Self::Or(copies(parts)),
            Self::Not(part) => Self::Not(Box::new(part.copy(below))),
            Self::Constant(truth) => Self::Constant(*truth),
            Self::Unknown => Self::Unknown,
        }
    }
}

/// Puts the conditions of two lists into the first, the longer one before the other.
fn join(all: &mut Vec<Filter>, more: &mut Vec<Filter>) {
    if more.len() > all.len() {
        std::mem::swap(all, more);
    }
    all.append(more);
}

impl std::ops::Not for Filter {
    type Output = Self;

    fn not(mut self) -> Self {
        match &mut self {
            Self::Not(part) => std::mem::replace(part, Self::Unknown),
            _ => Self::Not(Box::new(self)),
        }
    }
}

impl Clone for Filter {
    /// What nests more than 128 deep is unknown in the clone.
    fn clone(&self) -> Self {
        self.copy(MAX_DEPTH)
    }
}

/// Filters may nest deeper than a stack.
impl Drop for Filter {
    fn drop(&mut self) {
        let mut filters = Vec::new();
        take_nested(self, &mut filters);
        while let Some(mut filter) = filters.pop() {
            take_nested(&mut filter, &mut filters);
        }
    }
}

/// Takes the parts away from a filter, if they have parts themselves.
fn take_nested(filter: &mut Filter, out: &mut Vec<Filter>) {
    if filter.parts().iter().all(|part| part.parts().is_empty()) {
        return;
    }
    match filter {
        Filter::And(parts) | Filter::Or(parts) => out.append(parts),
        Filter::Not(part) => out.push(std::mem::replace(part, Filter::Unknown)),
        _ => {}
    }
}

impl fmt::Debug for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Shown { filter: self, levels: MAX_DEPTH }.fmt(f)
    }
}

/// The upper levels of a filter, to be shown.
struct Shown<'a> {
    filter: &'a Filter,
    levels: usize,
}

impl fmt::Debug for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(levels) = self.levels.checked_sub(1) else { return f.write_str("..") };
        let parts = self.filter.parts().iter();
        let list = || parts.map(|filter| Shown { filter, levels }).collect::<Vec<_>>();
        match self.filter {
            Filter::Compare { column, op, value } => f
                .debug_struct("Compare")
                .field("column", column)
                .field("op", op)
                .field("value", value)
                .finish(),
            Filter::InList { column, values } => {
                f.debug_struct("InList").field("column", column).field("values", values).finish()
            }
            Filter::StartsWith { column, prefix } => f
                .debug_struct("StartsWith")
                .field("column", column)
                .field("prefix", prefix)
                .finish(),
            Filter::IsNull { column } => f.debug_struct("IsNull").field("column", column).finish(),
            Filter::IsTrue { column } => f.debug_struct("IsTrue").field("column", column).finish(),
            Filter::And(_) => f.debug_tuple("And").field(&list()).finish(),
            Filter::Or(_) => f.debug_tuple("Or").field(&list()).finish(),
            Filter::Not(part) => {
                f.debug_tuple("Not").field(&Shown { filter: part, levels }).finish()
            }
            Filter::Constant(truth) => f.debug_tuple("Constant").field(truth).finish(),
            Filter::Unknown => f.write_str("Unknown"),
        }
    }
}

#[cfg(test)]
#[path = "filter_tests.rs"]
mod tests;
