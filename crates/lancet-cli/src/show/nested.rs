//! Values that hold others, as text.

use arrow_array::types::{ArrowDictionaryKeyType, RunEndIndexType};
use arrow_array::{DictionaryArray, ListLikeArray, MapArray, RunArray, StructArray, UnionArray};
use arrow_buffer::ArrowNativeType;
use arrow_schema::{ArrowError, UnionFields, UnionMode};

use super::{Show, Value};

/// `[1, 2]`
pub fn lists<'a, L: ListLikeArray>(array: &'a L, null: &'a str) -> Result<Value<'a>, ArrowError> {
    let items = Show::new(array.values().as_ref(), null)?;
    Ok(Box::new(move |row, out| {
        out.push(b'[');
        for (at, item) in array.element_range(row).enumerate() {
            separate(at, out);
            items.tell(item, out);
        }
        out.push(b']');
        Ok(())
    }))
}

/// `{a: 1, b: 2}`
pub fn structs<'a>(array: &'a StructArray, null: &'a str) -> Result<Value<'a>, ArrowError> {
    let fields = array.fields().iter().zip(array.columns());
    let fields = fields.map(|(field, values)| Ok((field, Show::new(values.as_ref(), null)?)));
    let fields = fields.collect::<Result<Vec<_>, ArrowError>>()?;
    Ok(Box::new(move |row, out| {
        out.push(b'{');
        for (at, (field, values)) in fields.iter().enumerate() {
            separate(at, out);
            out.extend_from_slice(field.name().as_bytes());
            out.extend_from_slice(b": ");
            values.tell(row, out);
        }
        out.push(b'}');
        Ok(())
    }))
}

/// `{key: value}`
pub fn maps<'a>(array: &'a MapArray, null: &'a str) -> Result<Value<'a>, ArrowError> {
    let keys = Show::new(array.keys().as_ref(), null)?;
    let values = Show::new(array.values().as_ref(), null)?;
    let offsets = array.value_offsets();
    Ok(Box::new(move |row, out| {
        out.push(b'{');
        for (at, entry) in (offsets[row].as_usize()..offsets[row + 1].as_usize()).enumerate() {
            separate(at, out);
            keys.tell(entry, out);
            out.extend_from_slice(b": ");
            values.tell(entry, out);
        }
        out.push(b'}');
        Ok(())
    }))
}

/// `{name=value}`
pub fn unions<'a>(
    array: &'a UnionArray,
    fields: &'a UnionFields,
    mode: UnionMode,
    null: &'a str,
) -> Result<Value<'a>, ArrowError> {
    let fields = fields.iter().map(|(id, field)| {
        Ok((id, field.name().as_bytes(), Show::new(array.child(id).as_ref(), null)?))
    });
    let fields = fields.collect::<Result<Vec<_>, ArrowError>>()?;
    Ok(Box::new(move |row, out| {
        let wanted = array.type_id(row);
        let at = if mode == UnionMode::Dense { array.value_offset(row) } else { row };
        if let Some((_, name, values)) = fields.iter().find(|(id, ..)| *id == wanted) {
            out.push(b'{');
            out.extend_from_slice(name);
            out.push(b'=');
            values.tell(at, out);
            out.push(b'}');
        }
        Ok(())
    }))
}

pub fn dictionaries<'a, K: ArrowDictionaryKeyType>(
    array: &'a DictionaryArray<K>,
    null: &'a str,
) -> Result<Value<'a>, ArrowError> {
    let values = Show::new(array.values().as_ref(), null)?;
    let keys = array.keys().values();
    Ok(Box::new(move |row, out| values.write(keys[row].as_usize(), out)))
}

pub fn runs<'a, R: RunEndIndexType>(
    array: &'a RunArray<R>,
    null: &'a str,
) -> Result<Value<'a>, ArrowError> {
    let values = Show::new(array.values().as_ref(), null)?;
    Ok(Box::new(move |row, out| values.write(array.get_physical_index(row), out)))
}

fn separate(at: usize, out: &mut Vec<u8>) {
    if at > 0 {
        out.extend_from_slice(b", ");
    }
}
