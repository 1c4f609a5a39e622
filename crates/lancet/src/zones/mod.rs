//! Zone maps: for every 8,192 rows of a column the least and the greatest value, the nulls and the
//! NaNs, so that a reader with a filter can leave out rows it need not look at.
//!
//! A map is a buffer of its column, found by the column encoding (`container/zone_place.rs`):
//!
//! ```text
//! ColumnEncoding    zone_index { rows_per_zone, zone_map_buffer { index, column }, inner: values }
//!                   in 2.0 followed by a record `values`, which other readers take instead
//! the buffer        a file of format 2.0 without schema, buffers back to back; one row a zone
//!                   min: T?, max: T?, null_count: u32, nan_count: u32, exact: bool
//! ```
//!
//! `T` is the type of the column, or of the values of its dictionary. Columns that have maps: those
//! of booleans, numbers, decimals, dates, times, strings and binaries with nothing but structs
//! around them. A leaf is null where one of these is.
//!
//! | bound | rule |
//! |---|---|
//! | of a zone that is all null | null |
//! | of floats | NaN is no number: `max` is NaN where there is one; `min` is NaN if there is no number, or a NaN whose sign is set, which some orders have below all numbers |
//! | zeros | `min` is −0, `max` is +0 |
//! | of more than 64 bytes | cut, at a character; `max` with its last character counted up; null if there is none to count up; `exact` is false |
//!
//! A map that breaks a rule is no map: see [`ZoneMap`]. A map that keeps all rules and lies is
//! found by `verify` only.
//!
//! | module | what |
//! |---|---|
//! | [`gather`], `numbers`, [`strings`] | values to bounds, for writing |
//! | [`map`] | a map in memory, checked |
//! | [`filter`], [`check`] | conditions, and whether they fit the columns |
//! | [`prune`], `keys`, `outcomes` | conditions and maps to ranges of rows |
//! | [`evaluate`] | conditions and values to rows |

#![cfg_attr(
    not(test),
    deny(
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects,
        clippy::cast_possible_truncation
    )
)]

pub(crate) mod check;
pub(crate) mod evaluate;
pub(crate) mod filter;
pub(crate) mod gather;
mod keys;
pub(crate) mod map;
mod numbers;
#[cfg(test)]
mod oracle;
mod outcomes;
pub(crate) mod prune;
mod strings;
#[cfg(test)]
mod tests;

/// Rows of a zone that is written.
pub(crate) const ROWS_PER_ZONE: u32 = 8192;
/// Bytes of the longest bound that is written as it is.
pub(crate) const BOUND_BYTES: usize = 64;
