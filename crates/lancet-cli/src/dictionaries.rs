//! Dictionaries that only grow.
//!
//! Every batch of a scan may bring dictionaries of its own, but a column of an Arrow file has one,
//! to which batches can only add. So keys are renumbered into a dictionary that keeps what earlier
//! batches had and appends what is new.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, FixedSizeListArray, LargeListArray, ListArray, MapArray, RecordBatch,
    RecordBatchOptions, StructArray, UInt64Array, make_array,
};
use arrow_buffer::{ArrowNativeType, Buffer};
use arrow_data::ArrayData;
use arrow_schema::{ArrowError, DataType};
use arrow_select::{concat::concat, take::take};

use crate::keys::Keys;

/// The dictionaries of all columns so far, in the order in which a batch is walked.
#[derive(Debug, Default)]
pub struct Dictionaries {
    grown: Vec<Grown>,
}

#[derive(Debug)]
struct Grown {
    values: ArrayRef,
    positions: HashMap<Vec<u8>, u64>,
}

impl Dictionaries {
    /// The same rows, with dictionaries that extend those of the batches before.
    pub fn unify(&mut self, batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
        let mut next = 0;
        let columns = batch.columns().iter().map(|column| self.walk(column, &mut next));
        let columns = columns.collect::<Result<_, _>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        RecordBatch::try_new_with_options(batch.schema(), columns, &options)
    }

    fn walk(&mut self, array: &ArrayRef, next: &mut usize) -> Result<ArrayRef, ArrowError> {
        let nulls = array.nulls().cloned();
        Ok(match array.data_type() {
            DataType::Dictionary(..) => {
                let number = *next;
                *next += 1;
                self.renumber(array, number)?
            }
            DataType::Struct(fields) if !fields.is_empty() => {
                let children = array.as_struct().columns().iter();
                let children = children.map(|child| self.walk(child, next));
                let children = children.collect::<Result<_, _>>()?;
                Arc::new(StructArray::try_new(fields.clone(), children, nulls)?)
            }
            DataType::List(item) => {
                let list = array.as_list::<i32>();
                let (offsets, items) = (list.offsets().clone(), self.walk(list.values(), next)?);
                Arc::new(ListArray::try_new(item.clone(), offsets, items, nulls)?)
            }
            DataType::LargeList(item) => {
                let list = array.as_list::<i64>();
                let (offsets, items) = (list.offsets().clone(), self.walk(list.values(), next)?);
                Arc::new(LargeListArray::try_new(item.clone(), offsets, items, nulls)?)
            }
            DataType::FixedSizeList(item, size) => {
                let items = self.walk(array.as_fixed_size_list().values(), next)?;
                Arc::new(FixedSizeListArray::try_new(item.clone(), *size, items, nulls)?)
            }
            DataType::Map(entries, sorted) => {
                let map = array.as_map();
                let walked = self.walk(&(Arc::new(map.entries().clone()) as ArrayRef), next)?;
                let (offsets, walked) = (map.offsets().clone(), walked.as_struct().clone());
                Arc::new(MapArray::try_new(entries.clone(), offsets, walked, nulls, *sorted)?)
            }
            _ => array.clone(),
        })
    }

    fn renumber(&mut self, array: &ArrayRef, number: usize) -> Result<ArrayRef, ArrowError> {
        let dictionary = array.as_any_dictionary();
        if number == self.grown.len() {
            let none = dictionary.values().slice(0, 0);
            self.grown.push(Grown { values: none, positions: HashMap::new() });
        }
        let grown = &mut self.grown[number];
        let moved = grown.add(dictionary.values())?;
        // Where there are no values, all keys are nulls.
        let keys = if dictionary.values().is_empty() {
            vec![0; array.len()]
        } else {
            dictionary.normalized_keys()
        };
        let keys = keys.into_iter().map(|key| moved.get(key).copied().unwrap_or(0));
        let data = ArrayData::builder(array.data_type().clone())
            .len(array.len())
            .add_buffer(packed(keys, dictionary.keys().data_type())?)
            .nulls(dictionary.keys().nulls().cloned())
            .add_child_data(grown.values.to_data());
        Ok(make_array(data.build()?))
    }
}

/// Values as a dictionary of the type `to`, in which each of them stands once.
pub fn of_values(values: &ArrayRef, to: &DataType) -> Result<ArrayRef, ArrowError> {
    let DataType::Dictionary(key_type, _) = to else { return Ok(values.clone()) };
    let valid: Vec<u64> =
        (0..values.len()).filter(|i| values.is_valid(*i)).map(|i| i as u64).collect();
    let valid = take(values, &UInt64Array::from(valid), None)?;
    let mut grown = Grown { values: values.slice(0, 0), positions: HashMap::new() };
    let mut moved = grown.add(&valid)?.into_iter();
    let key = |index| if values.is_valid(index) { moved.next().unwrap_or(0) } else { 0 };
    let keys = packed((0..values.len()).map(key), key_type)?;
    let data = ArrayData::builder(to.clone())
        .len(values.len())
        .add_buffer(keys)
        .nulls(values.nulls().cloned())
        .add_child_data(grown.values.to_data());
    Ok(make_array(data.build()?))
}

/// Keys in the width of their type.
fn packed(keys: impl Iterator<Item = u64>, of: &DataType) -> Result<Buffer, ArrowError> {
    fn narrow<K: ArrowNativeType + TryFrom<u64>>(
        keys: impl Iterator<Item = u64>,
    ) -> Option<Buffer> {
        Some(Buffer::from_vec(keys.map(|key| key.try_into().ok()).collect::<Option<Vec<K>>>()?))
    }
    let packed = match of {
        DataType::Int8 => narrow::<i8>(keys),
        DataType::Int16 => narrow::<i16>(keys),
        DataType::Int32 => narrow::<i32>(keys),
        DataType::Int64 => narrow::<i64>(keys),
        DataType::UInt8 => narrow::<u8>(keys),
        DataType::UInt16 => narrow::<u16>(keys),
        DataType::UInt32 => narrow::<u32>(keys),
        _ => narrow::<u64>(keys),
    };
    packed.ok_or_else(|| {
        ArrowError::CastError(format!("the dictionary has more values than keys of {of} can tell"))
    })
}

impl Grown {
    /// Adds the values that are new; returns where each of `values` is.
    fn add(&mut self, values: &ArrayRef) -> Result<Vec<u64>, ArrowError> {
        let keys = Keys::new(values.as_ref())?;
        let mut fresh = Vec::new();
        let mut moved = Vec::with_capacity(values.len());
        let mut key = Vec::new();
        for index in 0..values.len() {
            key.clear();
            keys.write(index, &mut key);
            let known = self.positions.get(&key).copied();
            moved.push(known.unwrap_or_else(|| {
                let next = self.positions.len() as u64;
                self.positions.insert(key.clone(), next);
                fresh.push(index as u64);
                next
            }));
        }
        if !fresh.is_empty() {
            let fresh = take(values, &UInt64Array::from(fresh), None)?;
            self.values = concat(&[self.values.as_ref(), fresh.as_ref()])?;
        }
        Ok(moved)
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::types::Int8Type;
    use arrow_array::{DictionaryArray, StringArray};
    use arrow_schema::Field;

    use super::*;

    fn batch(values: &[Option<&str>]) -> RecordBatch {
        let array: DictionaryArray<Int8Type> = values.iter().copied().collect();
        let field = Arc::new(Field::new("d", array.data_type().clone(), true));
        let nested = StructArray::from(vec![(field, Arc::new(array.clone()) as ArrayRef)]);
        let columns = [("d", Arc::new(array) as ArrayRef), ("s", Arc::new(nested) as ArrayRef)];
        RecordBatch::try_from_iter(columns).unwrap()
    }

    fn plain(array: &ArrayRef) -> StringArray {
        let dictionary = array.as_any_dictionary();
        take(dictionary.values(), dictionary.keys(), None).unwrap().as_string().clone()
    }

    #[test]
    fn later_dictionaries_extend_earlier_ones() {
        let mut dictionaries = Dictionaries::default();
        let first = dictionaries.unify(&batch(&[Some("a"), None, Some("b")])).unwrap();
        let rows = batch(&[Some("c"), Some("b"), None]);
        let second = dictionaries.unify(&rows).unwrap();
        let of = |batch: &RecordBatch| batch.column(0).as_any_dictionary().values().clone();
        assert_eq!(of(&first).as_string::<i32>(), &StringArray::from(vec!["a", "b"]));
        assert_eq!(of(&second).as_string::<i32>(), &StringArray::from(vec!["a", "b", "c"]));
        assert_eq!(plain(second.column(0)), plain(rows.column(0)));
        let inner = |batch: &RecordBatch| plain(batch.column(1).as_struct().column(0));
        assert_eq!(inner(&second), inner(&rows));
    }

    #[test]
    fn values_stand_once_in_their_dictionary() {
        let to = DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::Utf8));
        let values = StringArray::from(vec![None, Some("b"), Some("a"), None, Some("b")]);
        let array = of_values(&(Arc::new(values.clone()) as ArrayRef), &to).unwrap();
        assert_eq!((array.data_type(), array.null_count()), (&to, 2));
        let dictionary = array.as_any_dictionary();
        assert_eq!(dictionary.values().as_string::<i32>(), &StringArray::from(vec!["b", "a"]));
        assert_eq!(plain(&array), values);
        let many = StringArray::from_iter_values((0..200).map(|i: i32| i.to_string()));
        assert!(of_values(&(Arc::new(many) as ArrayRef), &to).is_err());
    }

    #[test]
    fn keys_that_run_out_are_an_error() {
        let mut dictionaries = Dictionaries::default();
        let words: Vec<String> = (0..200).map(|i| i.to_string()).collect();
        let values = |range: std::ops::Range<usize>| -> Vec<Option<&str>> {
            words[range].iter().map(|word| Some(word.as_str())).collect()
        };
        dictionaries.unify(&batch(&values(0..100))).unwrap();
        assert!(dictionaries.unify(&batch(&values(100..200))).is_err());
    }
}
