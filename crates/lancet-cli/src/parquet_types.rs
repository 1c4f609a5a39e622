//! Arrow types that Parquet has no name for, as the nearest that it has.
//!
//! Without this, seconds and `date64` are written as bare integers, and only readers that look at the Arrow schema in
//! the footer know what they are.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Date64Type;
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{DataType, Field, FieldRef, Schema, SchemaRef, TimeUnit};

const DAY_MILLISECONDS: i64 = 86_400_000;

/// The schema that a Parquet file of such batches has.
pub fn schema(schema: &Schema) -> SchemaRef {
    let fields: Vec<FieldRef> = schema.fields().iter().map(field).collect();
    Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
}

/// The same rows with the types of that schema.
pub fn batch(batch: &RecordBatch) -> Result<RecordBatch, String> {
    let schema = schema(&batch.schema());
    let mut columns = Vec::with_capacity(batch.num_columns());
    for (array, field) in batch.columns().iter().zip(schema.fields()) {
        let column = column(array, field.data_type());
        columns.push(column.map_err(|e| format!("column `{}`: {e}", field.name()))?);
    }
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(schema, columns, &options).map_err(|e| e.to_string())
}

fn column(array: &ArrayRef, data_type: &DataType) -> Result<ArrayRef, String> {
    if array.data_type() == data_type {
        return Ok(array.clone());
    }
    if let Some(dates) = array.as_primitive_opt::<Date64Type>() {
        let within = dates.iter().flatten().find(|date| date % DAY_MILLISECONDS != 0);
        if let Some(within) = within {
            return Err(format!(
                "the date64 {within} has a time of day, which a date in Parquet cannot have"
            ));
        }
    }
    let strict = CastOptions { safe: false, ..CastOptions::default() };
    cast_with_options(array, data_type, &strict).map_err(|error| error.to_string())
}

fn field(field: &FieldRef) -> FieldRef {
    Arc::new(Field::clone(field).with_data_type(data_type(field.data_type())))
}

fn data_type(of: &DataType) -> DataType {
    match of {
        DataType::Timestamp(TimeUnit::Second, zone) => {
            DataType::Timestamp(TimeUnit::Millisecond, zone.clone())
        }
        DataType::Time32(TimeUnit::Second) => DataType::Time32(TimeUnit::Millisecond),
        DataType::Date64 => DataType::Date32,
        DataType::List(item) => DataType::List(field(item)),
        DataType::LargeList(item) => DataType::LargeList(field(item)),
        DataType::FixedSizeList(item, len) => DataType::FixedSizeList(field(item), *len),
        DataType::Map(entries, sorted) => DataType::Map(field(entries), *sorted),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(field).collect()),
        DataType::Dictionary(keys, values) => {
            DataType::Dictionary(keys.clone(), Box::new(data_type(values)))
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::{Date64Array, StructArray, Time32SecondArray, TimestampSecondArray};

    use super::*;

    #[test]
    fn seconds_become_milliseconds_at_any_depth() {
        let times: ArrayRef = Arc::new(TimestampSecondArray::from(vec![Some(7), None]));
        let clock: ArrayRef = Arc::new(Time32SecondArray::from(vec![1, 2]));
        let dates: ArrayRef =
            Arc::new(Date64Array::from(vec![DAY_MILLISECONDS, -DAY_MILLISECONDS]));
        let flat = RecordBatch::try_from_iter([("t", times), ("c", clock), ("d", dates)]).unwrap();
        let nested: ArrayRef = Arc::new(StructArray::from(flat.clone()));
        let nested = RecordBatch::try_from_iter([("s", nested)]).unwrap();
        let flat = batch(&flat).unwrap();
        let types: Vec<_> =
            flat.schema().fields().iter().map(|f| f.data_type().to_string()).collect();
        assert_eq!(types, ["Timestamp(ms)", "Time32(ms)", "Date32"]);
        let inner = batch(&nested).unwrap();
        assert_eq!(inner.column(0).as_struct().columns(), flat.columns());
    }

    #[test]
    fn what_would_be_lost_is_refused() {
        let dates: ArrayRef = Arc::new(Date64Array::from(vec![0, 1]));
        let dates = RecordBatch::try_from_iter([("d", dates)]).unwrap();
        assert!(batch(&dates).unwrap_err().starts_with("column `d`: the date64 1 has a time"));
        let far: ArrayRef = Arc::new(TimestampSecondArray::from(vec![i64::MAX]));
        assert!(batch(&RecordBatch::try_from_iter([("t", far)]).unwrap()).is_err());
    }
}
