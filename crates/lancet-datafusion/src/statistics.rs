//! What is known of a file's columns without reading them.

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
        if let Some(column) = statistics.column_statistics.get_mut(index) {
            fill(column, &map.statistics(), table_schema.field(index).data_type());
        }
    }
    Ok(statistics)
}

fn exact(count: u64) -> Precision<usize> {
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

fn fill(column: &mut ColumnStatistics, known: &lancet::ColumnStatistics, data_type: &DataType) {
    column.null_count = exact(known.null_count);
    // Zones know numbers only, and not which zero it is; queries may ask for NaN and for -0.
    let float = data_type.is_floating();
    if float && known.nan_count != Some(0) {
        return;
    }
    let bound =
        |value: &Option<ArrayRef>| value.as_ref().and_then(|value| scalar(value, data_type));
    let (min, max) = (bound(&known.min), bound(&known.max));
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

fn scalar(value: &ArrayRef, data_type: &DataType) -> Option<ScalarValue> {
    if value.is_empty() || value.is_null(0) {
        return None;
    }
    ScalarValue::try_from_array(value, 0).ok()?.cast_to(data_type).ok()
}
