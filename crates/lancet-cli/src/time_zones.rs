//! Time zones.
//!
//! | for | instants of | are told |
//! |---|---|---|
//! | people: tables, bounds | a zone whose rules are known | in that zone |
//! | people | a zone that nobody knows | in UTC: a name must not hide values |
//! | text files | an offset, as `+02:00` | with it |
//! | text files | a zone with a name | in UTC: offsets that change over the year would not read back as one type |

use std::sync::Arc;

use arrow_array::timezone::Tz;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Schema};

use crate::leaves;

const UTC: &str = "+00:00";

/// The rows, as they can be shown.
pub fn readable(batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    in_utc(batch, is_unknown)
}

/// The values, as they can be shown.
pub fn readable_array(array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    array_in_utc(array, is_unknown)
}

/// The rows, as text files hold them.
pub fn portable(batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    in_utc(batch, has_name)
}

/// The values, as text files hold them.
pub fn portable_array(array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    array_in_utc(array, has_name)
}

/// A zone whose times [`portable`] moves, at any depth of a type; UTC by its names is none.
pub fn moved_zone(data_type: &DataType) -> Option<&str> {
    match data_type {
        DataType::Timestamp(_, Some(zone)) => {
            let utc = ["UTC", "Etc/UTC", "GMT", "Z"].contains(&zone.as_ref());
            (!utc && has_name(zone)).then_some(zone)
        }
        DataType::List(field)
        | DataType::LargeList(field)
        | DataType::FixedSizeList(field, _)
        | DataType::Map(field, _) => moved_zone(field.data_type()),
        DataType::Struct(fields) => fields.iter().find_map(|field| moved_zone(field.data_type())),
        DataType::Dictionary(_, values) => moved_zone(values),
        _ => None,
    }
}

/// Which zones are replaced by UTC.
type Which = fn(&str) -> bool;

fn is_unknown(zone: &str) -> bool {
    zone.parse::<Tz>().is_err()
}

fn has_name(zone: &str) -> bool {
    !zone.starts_with(['+', '-']) || is_unknown(zone)
}

fn in_utc(batch: &RecordBatch, which: Which) -> Result<RecordBatch, ArrowError> {
    let schema = batch.schema();
    let fields: Vec<FieldRef> = schema.fields().iter().map(|f| field_in_utc(f, which)).collect();
    if fields.iter().eq(schema.fields()) {
        return Ok(batch.clone());
    }
    let columns = batch.columns().iter().map(|column| array_in_utc(column, which));
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns.collect::<Result<_, _>>()?)
}

fn array_in_utc(array: &ArrayRef, which: Which) -> Result<ArrayRef, ArrowError> {
    leaves::convert(array, &type_in_utc(array.data_type(), which), &leaves::relabel)
}

fn type_in_utc(data_type: &DataType, which: Which) -> DataType {
    let item = |field| field_in_utc(field, which);
    match data_type {
        DataType::Timestamp(unit, Some(zone)) if which(zone) => {
            DataType::Timestamp(*unit, Some(UTC.into()))
        }
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(item).collect()),
        DataType::List(field) => DataType::List(item(field)),
        DataType::LargeList(field) => DataType::LargeList(item(field)),
        DataType::FixedSizeList(field, len) => DataType::FixedSizeList(item(field), *len),
        DataType::Map(entries, sorted) => DataType::Map(item(entries), *sorted),
        DataType::Dictionary(keys, values) => {
            DataType::Dictionary(keys.clone(), Box::new(type_in_utc(values, which)))
        }
        other => other.clone(),
    }
}

fn field_in_utc(field: &FieldRef, which: Which) -> FieldRef {
    let told = type_in_utc(field.data_type(), which);
    if told == *field.data_type() {
        return field.clone();
    }
    Arc::new(Field::clone(field).with_data_type(told))
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
