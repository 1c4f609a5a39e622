//! What is known of columns without reading them.

use std::cmp::Ordering;

use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, Schema, SchemaRef};
use datafusion::common::stats::Precision;
use datafusion::common::{ColumnStatistics, ScalarValue, Statistics};
use datafusion::error::Result;
use lancet_object_store::Reader;

use crate::bounds::{Bound, roomy};
use crate::external;

/// Numbers of rows and nulls, and smallest and largest values where there are zone maps.
pub(crate) async fn of_file(
    reader: &Reader,
    table_schema: &SchemaRef,
    file_bytes: u64,
) -> Result<Statistics> {
    let mut statistics = Statistics::new_unknown(table_schema);
    statistics.num_rows = exact(reader.num_rows());
    statistics.total_byte_size = exact(file_bytes).to_inexact();
    statistics.calculate_total_byte_size(table_schema);
    let names = shared_columns(table_schema, &reader.schema());
    let maps = reader.zone_maps(&names).await.map_err(external)?;
    for (name, map) in names.into_iter().zip(maps) {
        let (Some(map), Ok(index)) = (map, table_schema.index_of(name)) else { continue };
        let (mut known, data_type) = (Known::default(), table_schema.field(index).data_type());
        if known.add(&map.statistics(), data_type)
            && let Some(column) = statistics.column_statistics.get_mut(index)
        {
            fill(column, &known, data_type);
        }
    }
    Ok(statistics)
}

/// What zone maps say of a column, of one file or of several.
#[derive(Debug, Clone)]
pub(crate) struct Known {
    nulls: u64,
    /// None if a map does not say.
    nans: Option<u64>,
    min: Option<ScalarValue>,
    max: Option<ScalarValue>,
    /// Whether no value lies outside the bounds, as far as they are known.
    bounded: (bool, bool),
    /// Whether both bounds are values of the column.
    pub(crate) exact: bool,
    /// Whether as many rows are null as were counted.
    pub(crate) exact_nulls: bool,
}

impl Default for Known {
    fn default() -> Self {
        let (min, max, bounded) = (None, None, (true, true));
        Self { nulls: 0, nans: Some(0), min, max, bounded, exact: true, exact_nulls: true }
    }
}

impl Known {
    /// Adds rows that are null.
    pub(crate) fn add_nulls(&mut self, rows: u64) {
        self.nulls = self.nulls.saturating_add(rows);
    }

    /// Adds what another map says; false if it is one of another type.
    pub(crate) fn add(&mut self, map: &lancet::ColumnStatistics, data_type: &DataType) -> bool {
        let decoded = match data_type {
            DataType::Dictionary(_, values) => values,
            plain => plain,
        };
        let fits = |bound: &Option<ArrayRef>| {
            bound.as_ref().is_none_or(|bound| bound.data_type() == decoded)
        };
        if !fits(&map.min) || !fits(&map.max) {
            return false;
        }
        self.add_nulls(map.null_count);
        self.nans = self.nans.zip(map.nan_count).map(|(a, b)| a.saturating_add(b));
        self.exact &= map.exact;
        if map.null_count < map.num_rows {
            let (min, max) = (bound(&map.min, data_type), bound(&map.max, data_type));
            self.bounded.0 &= min.is_some();
            self.bounded.1 &= max.is_some();
            self.min = outer(self.min.take(), min, Ordering::Less);
            self.max = outer(self.max.take(), max, Ordering::Greater);
        }
        true
    }
}

/// That of two bounds which is further out.
fn outer(
    one: Option<ScalarValue>,
    other: Option<ScalarValue>,
    further: Ordering,
) -> Option<ScalarValue> {
    match (one, other) {
        (Some(one), Some(other)) if other.partial_cmp(&one) == Some(further) => Some(other),
        (Some(one), _) => Some(one),
        (None, other) => other,
    }
}

pub(crate) fn exact(count: u64) -> Precision<usize> {
    usize::try_from(count).map_or(Precision::Absent, Precision::Exact)
}

/// Columns that are in the file as they are in the table.
fn shared_columns<'a>(table: &'a Schema, file: &Schema) -> Vec<&'a str> {
    let same = |name: &str, data_type: &DataType| {
        file.column_with_name(name).is_some_and(|(_, field)| field.data_type() == data_type)
    };
    let fields = table.fields().iter().filter(|field| same(field.name(), field.data_type()));
    fields.map(|field| field.name().as_str()).collect()
}

/// Notes what is known of a column.
pub(crate) fn fill(column: &mut ColumnStatistics, known: &Known, data_type: &DataType) {
    let nulls = exact(known.nulls);
    column.null_count = if known.exact_nulls { nulls } else { nulls.to_inexact() };
    // Zones know numbers only, and not which zero it is; queries may ask for NaN and for -0.
    let float = data_type.is_floating();
    if float && known.nans != Some(0) {
        return;
    }
    let min = known.min.clone().filter(|_| known.bounded.0);
    let max = known.max.clone().filter(|_| known.bounded.1);
    let (min, max) = match (&min, &max) {
        (Some(low), Some(high)) => roomy(low, high),
        _ => (Bound::kept(min), Bound::kept(max)),
    };
    let precision = |bound: Bound| match bound {
        Bound::Kept(value) if known.exact && !float => Precision::Exact(value),
        Bound::Kept(value) | Bound::Widened(value) => Precision::Inexact(value),
        Bound::Unknown => Precision::Absent,
    };
    column.min_value = precision(min);
    column.max_value = precision(max);
}

fn bound(value: &Option<ArrayRef>, data_type: &DataType) -> Option<ScalarValue> {
    value.as_ref().and_then(|value| scalar(value, data_type))
}

fn scalar(value: &ArrayRef, data_type: &DataType) -> Option<ScalarValue> {
    if value.is_empty() || value.is_null(0) {
        return None;
    }
    ScalarValue::try_from_array(value, 0).ok()?.cast_to(data_type).ok()
}
