//! Conditions on rows: zone maps say where they may hold, values where they do.

use std::collections::BTreeSet;

use arrow_array::{ArrayRef, Datum, make_array};

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
/// ```
/// use arrow_array::{Int64Array, StringArray};
/// use lancet::{Comparison, Filter};
///
/// let recent = Filter::compare("year", Comparison::GtEq, &Int64Array::new_scalar(2020));
/// let swiss = Filter::compare("doc.country", Comparison::Eq, &StringArray::new_scalar("CH"));
/// let filter = recent.and(!swiss.or(Filter::is_null("doc.country")));
/// assert_eq!(filter.columns().into_iter().collect::<Vec<_>>(), ["doc.country", "year"]);
/// ```
#[derive(Debug, Clone)]
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
    pub fn and(self, other: Self) -> Self {
        match self {
            Self::And(mut all) => {
                all.push(other);
                Self::And(all)
            }
            first => Self::And(vec![first, other]),
        }
    }

    /// One of two conditions.
    pub fn or(self, other: Self) -> Self {
        match self {
            Self::Or(mut any) => {
                any.push(other);
                Self::Or(any)
            }
            first => Self::Or(vec![first, other]),
        }
    }

    /// The columns it names.
    pub fn columns(&self) -> BTreeSet<&str> {
        let mut columns = BTreeSet::new();
        self.collect_columns(&mut columns);
        columns
    }

    fn collect_columns<'a>(&'a self, out: &mut BTreeSet<&'a str>) {
        match self {
            Self::Compare { column, .. }
            | Self::InList { column, .. }
            | Self::StartsWith { column, .. }
            | Self::IsNull { column }
            | Self::IsTrue { column } => {
                out.insert(column);
            }
            Self::And(parts) | Self::Or(parts) => {
                parts.iter().for_each(|part| part.collect_columns(out));
            }
            Self::Not(part) => part.collect_columns(out),
            Self::Constant(_) | Self::Unknown => {}
        }
    }
}

impl std::ops::Not for Filter {
    type Output = Self;

    fn not(self) -> Self {
        Self::Not(Box::new(self))
    }
}
