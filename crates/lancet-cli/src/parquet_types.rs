//! Arrow types that Parquet has no name for, as the nearest that it has.
//!
//! Without this, seconds and `date64` are written as bare integers, and only readers that look at the Arrow schema in
//! the footer know what they are.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_buffer::ArrowNativeType;
use arrow_data::ArrayData;
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Schema, SchemaRef, TimeUnit};

use crate::leaves;

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
    leaves::convert(array, data_type, &leaf).map_err(|error| match error {
        ArrowError::CastError(message) => message,
        other => other.to_string(),
    })
}

fn leaf(data: ArrayData, to: &DataType) -> Result<ArrayData, ArrowError> {
    match (data.data_type(), to) {
        (DataType::Date64, DataType::Date32) => mapped(&data, to, day),
        (DataType::Timestamp(..), _) => mapped(&data, to, |seconds: i64| {
            seconds.checked_mul(1_000).ok_or_else(|| format!("{seconds} s as milliseconds"))
        }),
        (DataType::Time32(_), _) => mapped(&data, to, |seconds: i32| {
            seconds.checked_mul(1_000).ok_or_else(|| format!("{seconds} s as milliseconds"))
        }),
        (from, _) => Err(ArrowError::CastError(format!("{from} as {to}"))),
    }
}

fn day(milliseconds: i64) -> Result<i32, String> {
    if milliseconds % leaves::DAY != 0 {
        return Err(format!(
            "the date64 {milliseconds} has a time of day, which a date in Parquet cannot have"
        ));
    }
    let day = milliseconds / leaves::DAY;
    i32::try_from(day).map_err(|_| format!("the date64 {milliseconds} is too far for Parquet"))
}

/// The values that are not null, each made another.
fn mapped<A: ArrowNativeType, B: ArrowNativeType>(
    data: &ArrayData,
    to: &DataType,
    map: impl Fn(A) -> Result<B, String>,
) -> Result<ArrayData, ArrowError> {
    let values = data.buffer::<A>(0).iter().take(data.len()).enumerate();
    let values =
        values.map(|(row, value)| if data.is_valid(row) { map(*value) } else { Ok(B::default()) });
    let values = values.collect::<Result<Vec<B>, _>>().map_err(ArrowError::CastError)?;
    leaves::held(values, data.nulls().cloned(), to)
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
    use arrow_array::cast::AsArray;
    use arrow_array::{Date64Array, StructArray, Time32SecondArray, TimestampSecondArray};

    use super::*;

    #[test]
    fn seconds_become_milliseconds_at_any_depth() {
        let times: ArrayRef = Arc::new(TimestampSecondArray::from(vec![Some(7), None]));
        let clock: ArrayRef = Arc::new(Time32SecondArray::from(vec![1, 2]));
        let dates: ArrayRef = Arc::new(Date64Array::from(vec![leaves::DAY, -leaves::DAY]));
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
