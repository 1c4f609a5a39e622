//! Rows as a table wants them: columns of the same types, by name, whatever their order and whatever they say of nulls that
//! are not there.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, BinaryArray, FixedSizeListArray, LargeListArray, ListArray, MapArray,
    StringArray, StructArray,
};
use arrow_schema::{DataType, Field, Fields};

use crate::error::{Error, Result};

/// An array as the field has it. `path` names it in errors.
pub(crate) fn conform(array: &ArrayRef, field: &Field, path: &str) -> Result<ArrayRef> {
    let conformed = conform_type(array, field, path)?;
    if !field.is_nullable() && conformed.logical_null_count() > 0 {
        return Err(Error::invalid(format!(
            "column `{path}` must not be null, but rows have nulls"
        )));
    }
    Ok(conformed)
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
            let (offsets, nulls) = (list.offsets().clone(), list.nulls().cloned());
            let values = below(list.values(), item)?;
            Arc::new(ListArray::try_new(item.clone(), offsets, values, nulls)?)
        }
        (LargeList(_), LargeList(item)) => {
            let list = array.as_list::<i64>();
            let (offsets, nulls) = (list.offsets().clone(), list.nulls().cloned());
            let values = below(list.values(), item)?;
            Arc::new(LargeListArray::try_new(item.clone(), offsets, values, nulls)?)
        }
        (FixedSizeList(_, found), FixedSizeList(item, size)) if found == size => {
            let list = array.as_fixed_size_list();
            let values = below(list.values(), item)?;
            let nulls = list.nulls().cloned();
            Arc::new(FixedSizeListArray::try_new(item.clone(), *size, values, nulls)?)
        }
        (Map(..), Map(entries, sorted)) => conform_map(array.as_map(), entries, *sorted, path)?,
        (Utf8View, Utf8) => Arc::new(array.as_string_view().iter().collect::<StringArray>()),
        (BinaryView, Binary) => Arc::new(array.as_binary_view().iter().collect::<BinaryArray>()),
        (found, _) => {
            return Err(Error::invalid(format!(
                "column `{path}` is of type {wanted} in the table, but of type {found} in the rows"
            )));
        }
    })
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
    let columns = map.entries().columns().iter().zip(fields);
    let columns =
        columns.map(|(array, field)| conform(array, field, &format!("{path}.{}", field.name())));
    let columns = columns.collect::<Result<Vec<_>>>()?;
    let made = StructArray::try_new(fields.clone(), columns, map.entries().nulls().cloned())?;
    let (offsets, nulls) = (map.offsets().clone(), map.nulls().cloned());
    Ok(Arc::new(MapArray::try_new(entries.clone(), offsets, made, nulls, sorted)?))
}

#[cfg(test)]
mod tests {
    use arrow_array::{Int32Array, Int64Array, StringViewArray};
    use arrow_buffer::{NullBuffer, OffsetBuffer};

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
}
