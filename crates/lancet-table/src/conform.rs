//! Rows as a table wants them: columns of the same types, by name, whatever their order, however they hold texts and bytes, and
//! whatever they say of nulls that are not there.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, FixedSizeListArray, LargeBinaryArray,
    LargeListArray, LargeStringArray, ListArray, MapArray, OffsetSizeTrait, StringArray,
    StructArray,
};
use arrow_buffer::{BooleanBufferBuilder, NullBuffer, OffsetBuffer};
use arrow_schema::{DataType, Field, Fields};
use arrow_select::filter::filter;

use crate::error::{Error, Result};

/// An array as the field has it. `path` names it in errors.
pub(crate) fn conform(array: &ArrayRef, field: &Field, path: &str) -> Result<ArrayRef> {
    let conformed = conform_type(array, field, path)?;
    if !field.is_nullable() && conformed.logical_null_count() > 0 {
        return Err(nulls_in(path));
    }
    Ok(conformed)
}

fn nulls_in(path: &str) -> Error {
    Error::invalid(format!("column `{path}` must not be null, but rows have nulls"))
}

fn conform_type(array: &ArrayRef, field: &Field, path: &str) -> Result<ArrayRef> {
    use DataType::*;
    let wanted = field.data_type();
    if array.data_type() == wanted {
        return Ok(array.clone());
    }
    let below = |values: &ArrayRef, item: &Field| conform(values, item, path);
    Ok(match (array.data_type(), wanted) {
        (Struct(_), Struct(fields)) => conform_struct(array.as_struct(), fields, path)?,
        (List(_), List(item)) => {
            let list = array.as_list::<i32>();
            let (offsets, values) = own_values(list.offsets(), list.values(), list.nulls())?;
            let (values, nulls) = (below(&values, item)?, list.nulls().cloned());
            Arc::new(ListArray::try_new(item.clone(), offsets, values, nulls)?)
        }
        (LargeList(_), LargeList(item)) => {
            let list = array.as_list::<i64>();
            let (offsets, values) = own_values(list.offsets(), list.values(), list.nulls())?;
            let (values, nulls) = (below(&values, item)?, list.nulls().cloned());
            Arc::new(LargeListArray::try_new(item.clone(), offsets, values, nulls)?)
        }
        (FixedSizeList(_, found), FixedSizeList(item, size)) if found == size => {
            let list = array.as_fixed_size_list();
            // Whether a null below a null counts is known above it.
            let values = conform_type(list.values(), item, path)?;
            let nulls = list.nulls().cloned();
            let made = FixedSizeListArray::try_new(item.clone(), *size, values, nulls);
            Arc::new(made.map_err(|error| match item.is_nullable() {
                true => Error::from(error),
                false => nulls_in(path),
            })?)
        }
        (Map(..), Map(entries, sorted)) => conform_map(array.as_map(), entries, *sorted, path)?,
        (Utf8 | LargeUtf8 | Utf8View, Utf8) => {
            short_enough(array, path)?;
            Arc::new(texts(array).collect::<StringArray>())
        }
        (Utf8 | LargeUtf8 | Utf8View, LargeUtf8) => {
            Arc::new(texts(array).collect::<LargeStringArray>())
        }
        (Binary | LargeBinary | BinaryView, Binary) => {
            short_enough(array, path)?;
            Arc::new(bytes(array).collect::<BinaryArray>())
        }
        (Binary | LargeBinary | BinaryView, LargeBinary) => {
            Arc::new(bytes(array).collect::<LargeBinaryArray>())
        }
        (found, _) => {
            return Err(Error::invalid(format!(
                "column `{path}` is of type {wanted} in the table, but of type {found} in the rows"
            )));
        }
    })
}

/// The values of lists that count: those of the rows at hand, without what lies below a null. Their offsets begin at 0.
fn own_values<O: OffsetSizeTrait>(
    offsets: &OffsetBuffer<O>,
    values: &ArrayRef,
    nulls: Option<&NullBuffer>,
) -> Result<(OffsetBuffer<O>, ArrayRef)> {
    let first = offsets.first().map_or(0, |first| first.as_usize());
    let last = offsets.last().map_or(0, |last| last.as_usize());
    let values = values.slice(first, last.saturating_sub(first));
    let is_valid = |row: usize| nulls.is_none_or(|nulls| nulls.is_valid(row));
    let lengths = || offsets.lengths().enumerate();
    if !lengths().any(|(row, length)| length > 0 && !is_valid(row)) {
        return Ok((OffsetBuffer::from_lengths(offsets.lengths()), values));
    }
    let mut counts = BooleanBufferBuilder::new(values.len());
    lengths().for_each(|(row, length)| counts.append_n(length, is_valid(row)));
    let own = lengths().map(|(row, length)| if is_valid(row) { length } else { 0 });
    let values = filter(&values, &BooleanArray::new(counts.finish(), None))?;
    Ok((OffsetBuffer::from_lengths(own), values))
}

/// The texts of an array, however they are held.
fn texts(array: &ArrayRef) -> Box<dyn Iterator<Item = Option<&str>> + '_> {
    match array.data_type() {
        DataType::LargeUtf8 => Box::new(array.as_string::<i64>().iter()),
        DataType::Utf8View => Box::new(array.as_string_view().iter()),
        _ => Box::new(array.as_string::<i32>().iter()),
    }
}

/// The bytes of an array, however they are held.
fn bytes(array: &ArrayRef) -> Box<dyn Iterator<Item = Option<&[u8]>> + '_> {
    match array.data_type() {
        DataType::LargeBinary => Box::new(array.as_binary::<i64>().iter()),
        DataType::BinaryView => Box::new(array.as_binary_view().iter()),
        _ => Box::new(array.as_binary::<i32>().iter()),
    }
}

/// An error where the values of an array are more than its smaller kind has offsets for.
fn short_enough(array: &ArrayRef, path: &str) -> Result<()> {
    let is_text = matches!(array.data_type(), DataType::LargeUtf8 | DataType::Utf8View);
    let total: u64 = match is_text {
        true => texts(array).flatten().map(|text| text.len() as u64).sum(),
        false => bytes(array).flatten().map(|value| value.len() as u64).sum(),
    };
    if i32::try_from(total).is_err() {
        return Err(Error::invalid(format!(
            "column `{path}` has {total} bytes in one batch; give batches of fewer rows"
        )));
    }
    Ok(())
}

fn conform_struct(array: &StructArray, fields: &Fields, path: &str) -> Result<ArrayRef> {
    let found = array.fields();
    if let Some(other) = found.iter().find(|other| fields.find(other.name()).is_none()) {
        let name = other.name();
        return Err(Error::invalid(format!("the table has no column `{path}.{name}`")));
    }
    let mut arrays = Vec::with_capacity(fields.len());
    for field in fields {
        let path = format!("{path}.{}", field.name());
        let Some(child) = array.column_by_name(field.name()) else {
            return Err(Error::invalid(format!("the rows have no column `{path}`")));
        };
        // Whether a null below a null counts is known above it.
        arrays.push(conform_type(child, field, &path)?);
    }
    let made = match fields.is_empty() {
        true => StructArray::new_empty_fields(array.len(), array.nulls().cloned()),
        false => StructArray::try_new(fields.clone(), arrays, array.nulls().cloned())
            .map_err(|error| Error::invalid(format!("column `{path}`: {error}")))?,
    };
    Ok(Arc::new(made))
}

fn conform_map(map: &MapArray, entries: &Arc<Field>, sorted: bool, path: &str) -> Result<ArrayRef> {
    let DataType::Struct(fields) = entries.data_type() else {
        return Err(Error::invalid(format!("column `{path}` is a map without keys and values")));
    };
    // Keys and values go by their places: their names differ among writers.
    let given = Arc::new(map.entries().clone()) as ArrayRef;
    let (offsets, given) = own_values(map.offsets(), &given, map.nulls())?;
    let given = given.as_struct();
    let columns = given.columns().iter().zip(fields);
    let columns =
        columns.map(|(array, field)| conform(array, field, &format!("{path}.{}", field.name())));
    let columns = columns.collect::<Result<Vec<_>>>()?;
    let made = StructArray::try_new(fields.clone(), columns, given.nulls().cloned())?;
    let nulls = map.nulls().cloned();
    Ok(Arc::new(MapArray::try_new(entries.clone(), offsets, made, nulls, sorted)?))
}

#[cfg(test)]
mod tests {
    use arrow_array::{BinaryViewArray, Int32Array, Int64Array, StringViewArray};

    use super::*;

    fn fields(list: Vec<Field>) -> Fields {
        list.into()
    }

    #[test]
    fn order_views_and_nullability_are_free() {
        let a = Arc::new(Int64Array::from(vec![1, 2])) as ArrayRef;
        let b = Arc::new(StringViewArray::from(vec![Some("x"), None])) as ArrayRef;
        let given = StructArray::new(
            fields(vec![
                Field::new("b", DataType::Utf8View, true),
                Field::new("a", DataType::Int64, true),
            ]),
            vec![b, a],
            None,
        );
        let wanted = DataType::Struct(fields(vec![
            Field::new("a", DataType::Int64, false),
            Field::new("b", DataType::Utf8, true),
        ]));
        let field = Field::new("s", wanted.clone(), false);
        let got = conform(&(Arc::new(given) as ArrayRef), &field, "s").unwrap();
        assert_eq!(got.data_type(), &wanted);
        assert_eq!(got.as_struct().column(0).as_ref(), &Int64Array::from(vec![1, 2]));
        assert_eq!(got.as_struct().column(1).as_string::<i32>().value(0), "x");
    }

    #[test]
    fn texts_and_bytes_are_held_as_the_table_has_them() {
        let values = [Some("x"), None, Some("a text of more than twelve bytes")];
        let texts: [ArrayRef; 3] = [
            Arc::new(values.iter().collect::<StringArray>()),
            Arc::new(values.iter().collect::<LargeStringArray>()),
            Arc::new(values.iter().collect::<StringViewArray>()),
        ];
        let binary = values.map(|value| value.map(str::as_bytes));
        let bytes: [ArrayRef; 3] = [
            Arc::new(binary.iter().collect::<BinaryArray>()),
            Arc::new(binary.iter().collect::<LargeBinaryArray>()),
            Arc::new(binary.iter().collect::<BinaryViewArray>()),
        ];
        for kinds in [texts, bytes] {
            let [small, large, _] = &kinds;
            for given in &kinds {
                for wanted in [small, large] {
                    let field = Field::new("c", wanted.data_type().clone(), true);
                    assert_eq!(
                        &conform(&given.slice(1, 2), &field, "c").unwrap(),
                        &wanted.slice(1, 2)
                    );
                }
            }
        }
    }

    #[test]
    fn errors_name_the_field() {
        let error =
            |array: ArrayRef, field: Field| conform(&array, &field, "c").unwrap_err().to_string();
        let numbers = || Arc::new(Int32Array::from(vec![Some(1), None])) as ArrayRef;
        let int32 = |nullable| Field::new("c", DataType::Int32, nullable);
        assert!(conform(&numbers(), &int32(true), "c").is_ok());
        assert_eq!(
            error(numbers(), int32(false)),
            "column `c` must not be null, but rows have nulls"
        );
        assert_eq!(
            error(numbers(), Field::new("c", DataType::Int64, true)),
            "column `c` is of type Int64 in the table, but of type Int32 in the rows"
        );
        let list = ListArray::new(
            Arc::new(int32(true)),
            OffsetBuffer::new(vec![0, 2].into()),
            numbers(),
            None,
        );
        let item = Arc::new(Field::new("item", DataType::Int32, false));
        let field = Field::new("c", DataType::List(item), true);
        assert!(error(Arc::new(list), field).contains("`c` must not be null"));
        let inner = fields(vec![Field::new("x", DataType::Int32, true)]);
        let given = Arc::new(StructArray::new(inner.clone(), vec![numbers()], None)) as ArrayRef;
        let wanted = fields(vec![Field::new("y", DataType::Int32, true)]);
        let field = Field::new("c", DataType::Struct(wanted), true);
        assert_eq!(error(given.clone(), field), "the table has no column `c.x`");
        let wanted = fields(vec![
            Field::new("x", DataType::Int32, true),
            Field::new("y", DataType::Int32, true),
        ]);
        let field = Field::new("c", DataType::Struct(wanted), true);
        assert_eq!(error(given, field), "the rows have no column `c.y`");
    }

    #[test]
    fn nulls_below_nulls_do_not_count() {
        let values = Arc::new(Int32Array::from(vec![Some(1), None])) as ArrayRef;
        let inner = fields(vec![Field::new("x", DataType::Int32, true)]);
        let nulls = NullBuffer::from(vec![true, false]);
        let given = Arc::new(StructArray::new(inner, vec![values], Some(nulls))) as ArrayRef;
        let strict = fields(vec![Field::new("x", DataType::Int32, false)]);
        let field = Field::new("s", DataType::Struct(strict), true);
        assert!(conform(&given, &field, "s").is_ok());
    }

    /// Lists, large lists and maps of texts, of which the first is null inside and the second is below a null.
    fn lists(texts: &[Option<&str>], lengths: &[usize], nulls: Vec<bool>) -> [ArrayRef; 3] {
        let values = Arc::new(texts.iter().collect::<StringViewArray>()) as ArrayRef;
        let item = Arc::new(Field::new("item", DataType::Utf8View, true));
        let nulls = Some(NullBuffer::from(nulls));
        let keys = Arc::new(Int32Array::from_iter_values(0..texts.len() as i32)) as ArrayRef;
        let entry = fields(vec![
            Field::new("k", DataType::Int32, false),
            Field::new("v", DataType::Utf8View, true),
        ]);
        let entries = StructArray::new(entry.clone(), vec![keys, values.clone()], None);
        let entry = Arc::new(Field::new("entries", DataType::Struct(entry), false));
        let small = OffsetBuffer::from_lengths(lengths.iter().copied());
        let large = OffsetBuffer::from_lengths(lengths.iter().copied());
        [
            Arc::new(ListArray::new(item.clone(), small.clone(), values.clone(), nulls.clone())),
            Arc::new(LargeListArray::new(item, large, values, nulls.clone())),
            Arc::new(MapArray::new(entry, small, entries, nulls, false)),
        ]
    }

    /// The fields of lists of texts that are never null.
    fn strict_lists() -> [Field; 3] {
        let item = Arc::new(Field::new("item", DataType::Utf8, false));
        let entry = fields(vec![
            Field::new("key", DataType::Int32, false),
            Field::new("value", DataType::Utf8, false),
        ]);
        let entry = Arc::new(Field::new("entries", DataType::Struct(entry), false));
        let kinds =
            [DataType::List(item.clone()), DataType::LargeList(item), DataType::Map(entry, false)];
        kinds.map(|kind| Field::new("c", kind, true))
    }

    #[test]
    fn only_the_values_of_a_slice_count() {
        let texts = [None, Some("a"), Some("b"), None, Some("c"), None];
        let given = lists(&texts, &[1, 2, 1, 1, 1], vec![true, true, false, true, true]);
        for (array, field) in given.iter().zip(strict_lists()) {
            // The null below a null list, and those before and behind, are no nulls of these rows.
            let got = conform(&array.slice(1, 3), &field, "c").unwrap();
            assert_eq!(got.data_type(), field.data_type());
            assert_eq!((got.len(), got.null_count(), got.is_null(1)), (3, 1, true));
            let (values, lengths): (ArrayRef, Vec<usize>) = match field.data_type() {
                DataType::List(_) => {
                    let list = got.as_list::<i32>();
                    (list.values().clone(), list.offsets().lengths().collect())
                }
                DataType::LargeList(_) => {
                    let list = got.as_list::<i64>();
                    (list.values().clone(), list.offsets().lengths().collect())
                }
                _ => (got.as_map().values().clone(), got.as_map().offsets().lengths().collect()),
            };
            let texts: Vec<_> = values.as_string::<i32>().iter().collect();
            assert_eq!((texts, lengths), (vec![Some("a"), Some("b"), Some("c")], vec![2, 0, 1]));
            let refused = conform(array, &field, "c").unwrap_err().to_string();
            assert!(refused.contains("must not be null"), "{refused}");
        }
    }

    #[test]
    fn vectors_of_a_slice_below_a_null() {
        let values = Arc::new(Int32Array::from(vec![None, None, Some(1), Some(2), None, None]));
        let item = Arc::new(Field::new("item", DataType::Int32, true));
        let nulls = Some(NullBuffer::from(vec![true, true, false]));
        let given = Arc::new(FixedSizeListArray::new(item, 2, values, nulls)) as ArrayRef;
        let item = Arc::new(Field::new("item", DataType::Int32, false));
        let field = Field::new("c", DataType::FixedSizeList(item, 2), true);
        let refused = conform(&given, &field, "c").unwrap_err().to_string();
        assert_eq!(refused, "column `c` must not be null, but rows have nulls");
        let got = conform(&given.slice(1, 2), &field, "c").unwrap();
        assert_eq!(got.data_type(), field.data_type());
        assert_eq!((got.len(), got.is_null(1)), (2, true));
    }
}
