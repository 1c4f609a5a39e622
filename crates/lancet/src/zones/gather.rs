//! The values of a column to the bounds of its zones, in one pass over the arrays.
#![expect(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "counts rows of arrays in memory"
)]

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray, UInt32Array};
use arrow_buffer::{BooleanBufferBuilder, NullBuffer, i256};
use arrow_schema::{DataType, TimeUnit};
use half::f16;
use std::fmt::Debug;
use std::sync::Arc;

use super::keys::decoded_type;
use super::numbers::{Booleans, Numbers};
use super::strings::Strings;
use crate::error::{Error, Result};

/// The bounds of the zones of one type of values.
pub(super) trait Bounds: Debug + Send + Sync {
    /// Takes some values of the zone that is open; only those that are valid count.
    fn add(&mut self, values: &ArrayRef, valid: Option<&NullBuffer>) -> Result<()>;
    /// Ends the zone.
    fn close(&mut self);
    /// The bounds of all zones.
    fn finish(self: Box<Self>) -> Result<FoundBounds>;
}

/// Bounds of zones, one a zone.
#[derive(Debug)]
pub(super) struct FoundBounds {
    pub(super) min: ArrayRef,
    pub(super) max: ArrayRef,
    pub(super) nan_counts: Vec<u32>,
    pub(super) exact: Vec<bool>,
}

/// The columns of a zone map while rows come in.
#[derive(Debug)]
pub(crate) struct Gatherer {
    rows_per_zone: usize,
    bounds: Box<dyn Bounds>,
    null_counts: Vec<u32>,
    /// Rows and nulls of the zone that is open.
    rows: usize,
    nulls: usize,
}

impl Gatherer {
    /// For a column of this type, with bounds cut after `bound_bytes`; none if such columns have no
    /// zone maps.
    pub(crate) fn new(
        data_type: &DataType,
        rows_per_zone: u32,
        bound_bytes: usize,
    ) -> Option<Self> {
        let bounds = bounds_of(decoded_type(data_type), bound_bytes)?;
        let rows_per_zone = usize::try_from(rows_per_zone).ok().filter(|rows| *rows > 0)?;
        Some(Self { rows_per_zone, bounds, null_counts: Vec::new(), rows: 0, nulls: 0 })
    }

    /// Takes the next rows. `valid` says which of them are not null, structs around them included.
    pub(crate) fn push(&mut self, values: &ArrayRef, valid: Option<&NullBuffer>) -> Result<()> {
        let mut start = 0;
        while start < values.len() {
            let len = (self.rows_per_zone - self.rows).min(values.len() - start);
            let valid = valid.map(|valid| valid.slice(start, len));
            let nulls = valid.as_ref().map_or(0, NullBuffer::null_count);
            if nulls < len {
                let valid = valid.as_ref().filter(|_| nulls > 0);
                self.add(&values.slice(start, len), valid)?;
            }
            self.rows += len;
            self.nulls += nulls;
            start += len;
            if self.rows == self.rows_per_zone {
                self.close();
            }
        }
        Ok(())
    }

    /// Of dictionaries the entries that are used are looked at, each once.
    fn add(&mut self, values: &ArrayRef, valid: Option<&NullBuffer>) -> Result<()> {
        let Some(dictionary) = values.as_any_dictionary_opt() else {
            return self.bounds.add(values, valid);
        };
        let entries = dictionary.values();
        if entries.is_empty() {
            return Ok(()); // all rows are null
        }
        let mut used = BooleanBufferBuilder::new(entries.len());
        used.append_n(entries.len(), false);
        let keys = dictionary.normalized_keys();
        match valid {
            Some(valid) => valid.valid_indices().for_each(|row| used.set_bit(keys[row], true)),
            None => keys.iter().for_each(|key| used.set_bit(*key, true)),
        }
        self.bounds.add(entries, Some(&NullBuffer::new(used.finish())))
    }

    fn close(&mut self) {
        self.bounds.close();
        // A zone has at most 2^32 rows.
        self.null_counts.push(u32::try_from(self.nulls).unwrap_or(u32::MAX));
        (self.rows, self.nulls) = (0, 0);
    }

    /// The columns of the map: `min`, `max`, `null_count`, `nan_count`, `exact`.
    pub(crate) fn finish(mut self) -> Result<[ArrayRef; 5]> {
        if self.rows > 0 {
            self.close();
        }
        let FoundBounds { min, max, nan_counts, exact } = self.bounds.finish()?;
        Ok([
            min,
            max,
            Arc::new(UInt32Array::from(self.null_counts)),
            Arc::new(UInt32Array::from(nan_counts)),
            Arc::new(BooleanArray::from(exact)),
        ])
    }
}

/// Whether columns of this type have zone maps.
pub(crate) fn has_bounds(data_type: &DataType) -> bool {
    bounds_of(decoded_type(data_type), 0).is_some()
}

fn bounds_of(data_type: &DataType, bound_bytes: usize) -> Option<Box<dyn Bounds>> {
    use DataType as D;
    macro_rules! numbers {
        ($native:ty) => {
            Box::new(Numbers::<$native>::new(data_type, None))
        };
        ($native:ty, $nan:expr) => {
            Box::new(Numbers::<$native>::new(data_type, Some($nan)))
        };
    }
    Some(match data_type {
        D::Boolean => Box::new(Booleans::default()),
        D::Int8 => numbers!(i8),
        D::Int16 => numbers!(i16),
        D::Int32 | D::Date32 | D::Time32(TimeUnit::Second | TimeUnit::Millisecond) => numbers!(i32),
        D::Int64
        | D::Date64
        | D::Time64(TimeUnit::Microsecond | TimeUnit::Nanosecond)
        | D::Timestamp(..)
        | D::Duration(_) => numbers!(i64),
        D::UInt8 => numbers!(u8),
        D::UInt16 => numbers!(u16),
        D::UInt32 => numbers!(u32),
        D::UInt64 => numbers!(u64),
        // Quiet NaNs without sign, whatever the platform makes of `0.0 / 0.0`.
        D::Float16 => numbers!(f16, f16::from_bits(0x7e00)),
        D::Float32 => numbers!(f32, f32::from_bits(0x7fc0_0000)),
        D::Float64 => numbers!(f64, f64::from_bits(0x7ff8_0000_0000_0000)),
        D::Decimal128(..) => numbers!(i128),
        D::Decimal256(..) => numbers!(i256),
        D::Utf8 | D::LargeUtf8 | D::Binary | D::LargeBinary => {
            Box::new(Strings::new(data_type, bound_bytes))
        }
        _ => return None,
    })
}

/// Values of another type than the column has.
pub(super) fn unexpected(data_type: &DataType) -> Error {
    Error::invalid(format!("{data_type} is not the type of this column"))
}
