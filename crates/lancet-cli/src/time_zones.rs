//! Time zones: instants of zones that have no known rules are shown as those of UTC, so that a name
//! nobody knows hides no values.

use std::sync::Arc;

use arrow_array::timezone::Tz;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Schema};

const UTC: &str = "+00:00";

/// The rows, as they can be shown.
pub fn readable(batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    let schema = batch.schema();
    let fields: Vec<FieldRef> = schema.fields().iter().map(known_field).collect();
    if fields.iter().eq(schema.fields()) {
        return Ok(batch.clone());
    }
    let columns = batch.columns().iter().map(readable_array).collect::<Result<Vec<_>, _>>()?;
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)
}

/// The values, as they can be shown.
pub fn readable_array(array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    let shown = known(array.data_type());
    if shown == *array.data_type() { Ok(array.clone()) } else { arrow_cast::cast(array, &shown) }
}

/// The type with UTC instead of unknown zones, at any depth.
fn known(data_type: &DataType) -> DataType {
    match data_type {
        DataType::Timestamp(unit, Some(zone)) if zone.parse::<Tz>().is_err() => {
            DataType::Timestamp(*unit, Some(UTC.into()))
        }
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(known_field).collect()),
        DataType::List(item) => DataType::List(known_field(item)),
        DataType::LargeList(item) => DataType::LargeList(known_field(item)),
        DataType::FixedSizeList(item, len) => DataType::FixedSizeList(known_field(item), *len),
        DataType::Map(entries, sorted) => DataType::Map(known_field(entries), *sorted),
        DataType::Dictionary(keys, values) => {
            DataType::Dictionary(keys.clone(), Box::new(known(values)))
        }
        other => other.clone(),
    }
}

fn known_field(field: &FieldRef) -> FieldRef {
    let shown = known(field.data_type());
    if shown == *field.data_type() {
        return field.clone();
    }
    Arc::new(Field::clone(field).with_data_type(shown))
}

#[cfg(test)]
mod tests {
    use arrow_array::{StructArray, TimestampSecondArray};

    use super::*;

    #[test]
    fn only_unknown_zones_change() {
        let instants = |zone: &str| -> ArrayRef {
            Arc::new(TimestampSecondArray::from(vec![Some(86_400), None]).with_timezone(zone))
        };
        for zone in ["UTC", "+02:00", "Europe/Zurich"] {
            assert_eq!(&readable_array(&instants(zone)).unwrap(), &instants(zone), "{zone}");
        }
        let nowhere = instants("Nowhere/At_All");
        assert_eq!(&readable_array(&nowhere).unwrap(), &instants(UTC));
        let nested = |instants: ArrayRef| -> ArrayRef {
            let field = Field::new("at", instants.data_type().clone(), true);
            Arc::new(StructArray::from(vec![(Arc::new(field), instants)]))
        };
        assert_eq!(&readable_array(&nested(nowhere)).unwrap(), &nested(instants(UTC)));
    }
}
