//! Exact comparison: types, names, nullability, metadata, nulls, and values by their bits.
//!
//! What Arrow leaves free does not count: what lies under a null, offsets and slices, and how a
//! dictionary orders its entries.

use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray, Int64Array, OffsetSizeTrait, RecordBatch};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{DataType, Field, Schema};
use arrow_select::filter::filter;
use arrow_select::take::take;

/// The first difference between two batches.
pub fn batches(got: &RecordBatch, want: &RecordBatch) -> Result<(), String> {
    schemas(&got.schema(), &want.schema())?;
    if got.num_rows() != want.num_rows() {
        return Err(format!("{} rows instead of {}", got.num_rows(), want.num_rows()));
    }
    for (index, field) in want.schema().fields().iter().enumerate() {
        arrays(field.name(), got.column(index), want.column(index))?;
    }
    Ok(())
}

/// The first difference between two schemas.
pub fn schemas(got: &Schema, want: &Schema) -> Result<(), String> {
    let names = |schema: &Schema| -> Vec<String> {
        schema.fields().iter().map(|field| field.name().clone()).collect()
    };
    if names(got) != names(want) {
        return Err(format!("columns {:?} instead of {:?}", names(got), names(want)));
    }
    for (got, want) in got.fields().iter().zip(want.fields()) {
        fields(want.name(), got, want)?;
    }
    if got.metadata() != want.metadata() {
        return Err(format!(
            "schema metadata {:?} instead of {:?}",
            got.metadata(),
            want.metadata()
        ));
    }
    Ok(())
}

fn fields(path: &str, got: &Field, want: &Field) -> Result<(), String> {
    if got.is_nullable() != want.is_nullable() {
        return Err(format!("{path}: nullable is {}", got.is_nullable()));
    }
    if got.metadata() != want.metadata() {
        return Err(format!(
            "{path}: metadata {:?} instead of {:?}",
            got.metadata(),
            want.metadata()
        ));
    }
    if got.data_type() != want.data_type() {
        return Err(format!(
            "{path}: type {:?} instead of {:?}",
            got.data_type(),
            want.data_type()
        ));
    }
    Ok(())
}

fn arrays(path: &str, got: &ArrayRef, want: &ArrayRef) -> Result<(), String> {
    if got.len() != want.len() {
        return Err(format!("{path}: {} values instead of {}", got.len(), want.len()));
    }
    // Of the array, not of the field: a struct array carries its own fields.
    if got.data_type() != want.data_type() {
        return Err(format!(
            "{path}: array of {:?} instead of {:?}",
            got.data_type(),
            want.data_type()
        ));
    }
    let (valid_got, valid_want) = (validity(got), validity(want));
    if let Some(row) = (0..got.len()).find(|&row| valid_got.value(row) != valid_want.value(row)) {
        let word = if valid_got.value(row) { "valid" } else { "null" };
        return Err(format!("{path}: value {row} of {} is {word}", got.len()));
    }
    let keep = |array: &ArrayRef| match valid_want.true_count() == want.len() {
        true => array.clone(),
        false => filter(array, &valid_want).unwrap(),
    };
    values(path, &keep(got), &keep(want))
}

fn validity(array: &ArrayRef) -> BooleanArray {
    match array.logical_nulls() {
        Some(nulls) => BooleanArray::new(nulls.into_inner(), None),
        None => BooleanArray::from(vec![true; array.len()]),
    }
}

/// Compares arrays that hold no nulls.
fn values(path: &str, got: &ArrayRef, want: &ArrayRef) -> Result<(), String> {
    match want.data_type() {
        DataType::Null => Ok(()),
        DataType::Struct(fields) => {
            for (index, field) in fields.iter().enumerate() {
                let child = format!("{path}.{}", field.name());
                arrays(&child, got.as_struct().column(index), want.as_struct().column(index))?;
            }
            Ok(())
        }
        DataType::List(_) => {
            let items =
                |a: &ArrayRef| flat(a.as_list::<i32>().offsets(), a.as_list::<i32>().values());
            lists(path, items(got), items(want))
        }
        DataType::LargeList(_) => {
            let items =
                |a: &ArrayRef| flat(a.as_list::<i64>().offsets(), a.as_list::<i64>().values());
            lists(path, items(got), items(want))
        }
        DataType::Map(_, _) => {
            let entries =
                |a: &ArrayRef| -> ArrayRef { std::sync::Arc::new(a.as_map().entries().clone()) };
            let items = |a: &ArrayRef| flat(a.as_map().offsets(), &entries(a));
            lists(path, items(got), items(want))
        }
        DataType::FixedSizeList(_, _) => arrays(
            &format!("{path}[]"),
            got.as_fixed_size_list().values(),
            want.as_fixed_size_list().values(),
        ),
        DataType::Dictionary(_, _) => {
            let decoded = |a: &ArrayRef| {
                let dictionary = a.as_any_dictionary();
                take(dictionary.values(), dictionary.keys(), None).unwrap()
            };
            arrays(path, &decoded(got), &decoded(want))
        }
        // Arrow compares these byte by byte, so that NaN equals itself and 0.0 is not -0.0.
        _ if got.to_data() == want.to_data() => Ok(()),
        _ => {
            let differs =
                |row: &usize| got.slice(*row, 1).to_data() != want.slice(*row, 1).to_data();
            let row = (0..want.len()).find(differs).unwrap_or_default();
            Err(format!(
                "{path}: valid value {row} is {:?} instead of {:?}",
                got.slice(row, 1),
                want.slice(row, 1)
            ))
        }
    }
}

/// The length of every list, and the items they really hold.
fn flat<O: OffsetSizeTrait>(offsets: &OffsetBuffer<O>, items: &ArrayRef) -> (Int64Array, ArrayRef) {
    let ends = |list: &[O]| -> Range<usize> { list[0].as_usize()..list[1].as_usize() };
    let lengths = offsets.windows(2).map(|list| ends(list).len() as i64).collect();
    // Lists that are null were filtered out, so what remains may have gaps, or not start at 0.
    let indices: Int64Array = offsets.windows(2).flat_map(ends).map(|i| i as i64).collect();
    (lengths, take(items, &indices, None).unwrap())
}

fn lists(
    path: &str,
    got: (Int64Array, ArrayRef),
    want: (Int64Array, ArrayRef),
) -> Result<(), String> {
    let pairs = got.0.values().iter().zip(want.0.values());
    if let Some((row, (got, want))) = pairs.enumerate().find(|(_, (got, want))| got != want) {
        return Err(format!("{path}: valid list {row} has {got} items instead of {want}"));
    }
    arrays(&format!("{path}[]"), &got.1, &want.1)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::builder::{Int32Builder, ListBuilder};
    use arrow_array::types::Int8Type;
    use arrow_array::{
        DictionaryArray, Float64Array, Int32Array, ListArray, StringArray, StructArray,
    };
    use arrow_buffer::NullBuffer;
    use arrow_schema::Fields;

    use super::*;

    fn differ(got: impl Array + 'static, want: impl Array + 'static) -> bool {
        arrays("c", &(Arc::new(got) as ArrayRef), &(Arc::new(want) as ArrayRef)).is_err()
    }

    #[test]
    fn floats_count_by_their_bits() {
        let floats = |value: f64| Float64Array::from(vec![1.0, value]);
        assert!(!differ(floats(f64::NAN), floats(f64::NAN)));
        assert!(differ(floats(0.0), floats(-0.0)));
        assert!(differ(floats(f64::NAN), floats(f64::from_bits(f64::NAN.to_bits() + 1))));
    }

    #[test]
    fn what_lies_under_a_null_does_not_count() {
        let valid = || Some(NullBuffer::from(vec![true, false, true]));
        let numbers =
            |hidden: i32, last: i32| Int32Array::new(vec![1, hidden, last].into(), valid());
        assert!(!differ(numbers(2, 3), numbers(9, 3)));
        assert!(differ(numbers(2, 3), numbers(2, 4)));

        let fields = Fields::from(vec![Field::new("x", DataType::Int32, true)]);
        let rows = |hidden: Option<i32>| {
            let child = Int32Array::from(vec![Some(1), hidden, Some(3)]);
            StructArray::new(fields.clone(), vec![Arc::new(child)], valid())
        };
        assert!(!differ(rows(None), rows(Some(7))));
    }

    #[test]
    fn lists_differ_by_validity_length_and_item() {
        let list = |rows: Vec<Option<Vec<i32>>>| -> ListArray {
            let mut builder = ListBuilder::new(Int32Builder::new());
            for row in rows {
                builder.append_option(row.map(|row| row.into_iter().map(Some)));
            }
            builder.finish()
        };
        let want = || list(vec![Some(vec![1, 2]), None, Some(vec![]), Some(vec![3])]);
        assert!(!differ(want(), want()));
        let longer = list(vec![Some(vec![9]), Some(vec![1, 2]), None, Some(vec![]), Some(vec![3])]);
        assert!(!differ(longer.slice(1, 4), want()));
        assert!(differ(list(vec![Some(vec![1, 2]), None, None, Some(vec![3])]), want()));
        assert!(differ(list(vec![Some(vec![1]), None, Some(vec![2]), Some(vec![3])]), want()));
        assert!(differ(list(vec![Some(vec![1, 2]), None, Some(vec![]), Some(vec![4])]), want()));
    }

    #[test]
    fn dictionaries_count_by_their_values() {
        let dictionary = |keys: Vec<Option<i8>>, entries: Vec<Option<&str>>| {
            DictionaryArray::<Int8Type>::new(keys.into(), Arc::new(StringArray::from(entries)))
        };
        let want = || dictionary(vec![Some(0), Some(1), None], vec![Some("a"), Some("b")]);
        let entry_is_null = vec![Some("b"), Some("a"), None];
        assert!(!differ(dictionary(vec![Some(1), Some(0), Some(2)], entry_is_null), want()));
        assert!(differ(
            dictionary(vec![Some(1), Some(0), None], vec![Some("a"), Some("b")]),
            want()
        ));
    }

    #[test]
    fn schemas_differ_by_name_nullability_type_and_metadata() {
        let schema = |field: Field| Schema::new(vec![field]);
        let want = || Field::new("a", DataType::Int32, true);
        let noted = [("k".to_string(), "v".to_string())];
        assert!(schemas(&schema(want()), &schema(want())).is_ok());
        for other in [
            want().with_name("b"),
            want().with_nullable(false),
            want().with_data_type(DataType::UInt32),
            want().with_metadata(noted.clone().into()),
        ] {
            assert!(schemas(&schema(other), &schema(want())).is_err());
        }
        assert!(schemas(&schema(want()).with_metadata(noted.into()), &schema(want())).is_err());
    }
}
