//! Decoded leaves to Arrow arrays.

use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, FixedSizeListArray, LargeListArray, ListArray, MapArray, NullArray,
    StructArray, make_array,
};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer};
use arrow_data::ArrayData;
use arrow_schema::{ArrowError, DataType, Field};

use super::byte_array::byte_array;
use super::columns::{Leaf, LeafKind, Node};
use crate::codec::{FixedValues, Values};
use crate::error::{Error, Result, ensure};
use crate::levels::{AssembledLayer, ListOffsets};
use crate::pool::Pool;

/// A decoded leaf column: its values and the layers above them, from the leaf outwards.
#[derive(Debug)]
pub(crate) struct LeafColumn {
    pub(crate) values: LeafValues,
    pub(crate) layers: Vec<AssembledLayer>,
    /// Where the bytes of strings go once nobody needs them.
    pub(crate) pool: Option<Arc<Pool>>,
}

/// The values of a leaf column.
#[derive(Debug)]
pub(crate) enum LeafValues {
    Plain(Values),
    Dictionary { keys: FixedValues, dictionary: Values },
}

/// An array and the layers that still enclose it.
struct Nested {
    array: ArrayRef,
    outer: Outer,
}

/// The layers around an array. A struct without fields stores none: it knows only its length.
type Outer = Option<std::vec::IntoIter<AssembledLayer>>;

/// The next layer outwards.
fn next_layer(outer: &mut Outer) -> Option<AssembledLayer> {
    outer.as_mut()?.next()
}

/// Builds the array of a field from its leaf columns, which come in column order.
pub(crate) fn build(
    node: &Node,
    leaves: &mut impl Iterator<Item = LeafColumn>,
) -> Result<ArrayRef> {
    Ok(nested(node, leaves)?.array)
}

fn nested(node: &Node, leaves: &mut dyn Iterator<Item = LeafColumn>) -> Result<Nested> {
    match node {
        Node::Leaf(leaf) => {
            let column = leaves.next().ok_or_else(|| Error::corrupt("a column is missing"))?;
            let mut outer = column.layers.into_iter();
            let Some(AssembledLayer::Item { len, validity }) = outer.next() else {
                return Err(disagree("the leaf"));
            };
            let array: ArrayRef = match (&leaf.kind, column.values) {
                (LeafKind::EmptyStruct, _) => Arc::new(StructArray::new_empty_fields(len, None)),
                (LeafKind::PackedStruct, LeafValues::Plain(values)) => {
                    packed_array(leaf, values, validity)?
                }
                (_, LeafValues::Plain(values)) => {
                    leaf_array(leaf.field.data_type(), values, validity, column.pool.as_ref())?
                }
                (_, LeafValues::Dictionary { keys, dictionary }) => {
                    dictionary_array(leaf.field.data_type(), keys, dictionary, validity)?
                }
            };
            ensure!(array.len() == len, "{} values where the levels count {len}", array.len());
            let outer = (leaf.kind != LeafKind::EmptyStruct).then_some(outer);
            Ok(Nested { array, outer })
        }
        Node::Struct { field, children } => {
            let mut arrays = Vec::with_capacity(children.len());
            let mut outer: Outer = None;
            for child in children {
                let part = nested(child, leaves)?;
                arrays.push(part.array);
                match (&outer, part.outer) {
                    (Some(known), Some(other)) => ensure!(
                        agree(known.as_slice(), other.as_slice()),
                        "the columns of struct `{}` disagree on its nesting",
                        field.name()
                    ),
                    (None, found) => outer = found,
                    (Some(_), None) => {}
                }
            }
            let validity = match (next_layer(&mut outer), &outer) {
                (Some(AssembledLayer::Item { validity, .. }), _) => validity,
                (None, None) => None,
                _ => return Err(disagree("a struct")),
            };
            let DataType::Struct(fields) = field.data_type() else {
                return Err(disagree("a struct"));
            };
            let array = StructArray::try_new(fields.clone(), arrays, validity).map_err(refused)?;
            Ok(Nested { array: Arc::new(array), outer })
        }
        Node::List { field, child, .. } => list(field, nested(child, leaves)?),
        Node::Map { field, child } => map(field, nested(child, leaves)?),
        Node::FixedSizeList { field, child, .. } => {
            let Nested { array, mut outer } = nested(child, leaves)?;
            let (
                Some(AssembledLayer::FixedSizeList { dimension, validity, .. }),
                DataType::FixedSizeList(item, size),
            ) = (next_layer(&mut outer), field.data_type())
            else {
                return Err(disagree("a fixed-size list"));
            };
            ensure!(usize::try_from(*size) == Ok(dimension), "lists of {dimension}, not {size}");
            let array = FixedSizeListArray::try_new(item.clone(), *size, array, validity);
            Ok(Nested { array: Arc::new(array.map_err(refused)?), outer })
        }
    }
}

fn list(field: &Field, child: Nested) -> Result<Nested> {
    let Nested { array, mut outer } = child;
    let Some(AssembledLayer::List { validity, offsets, .. }) = next_layer(&mut outer) else {
        return Err(disagree("a list"));
    };
    Ok(Nested { array: list_array(field, offsets, array, validity)?, outer })
}

/// Lists of either width.
pub(crate) fn list_array(
    field: &Field,
    offsets: ListOffsets,
    items: ArrayRef,
    validity: Option<NullBuffer>,
) -> Result<ArrayRef> {
    Ok(match (field.data_type(), offsets) {
        (DataType::List(item), ListOffsets::Bits32(offsets)) => {
            Arc::new(ListArray::try_new(item.clone(), offsets, items, validity).map_err(refused)?)
        }
        (DataType::LargeList(item), ListOffsets::Bits64(offsets)) => Arc::new(
            LargeListArray::try_new(item.clone(), offsets, items, validity).map_err(refused)?,
        ),
        _ => return Err(disagree("a list")),
    })
}

fn map(field: &Field, entries: Nested) -> Result<Nested> {
    let Nested { array, mut outer } = entries;
    let (
        Some(AssembledLayer::List { validity, offsets: ListOffsets::Bits32(offsets), .. }),
        DataType::Map(entries, sorted),
        Some(array),
    ) = (next_layer(&mut outer), field.data_type(), array.as_any().downcast_ref::<StructArray>())
    else {
        return Err(disagree("a map"));
    };
    let array = MapArray::try_new(entries.clone(), offsets, array.clone(), validity, *sorted);
    Ok(Nested { array: Arc::new(array.map_err(refused)?), outer })
}

/// Whether two leaves of one struct saw the same nesting above it.
fn agree(a: &[AssembledLayer], b: &[AssembledLayer]) -> bool {
    a.len() == b.len()
        && a.iter().zip(b).all(|(a, b)| match (a, b) {
            (AssembledLayer::Item { len: a, .. }, AssembledLayer::Item { len: b, .. }) => a == b,
            (
                AssembledLayer::FixedSizeList { len: a, .. },
                AssembledLayer::FixedSizeList { len: b, .. },
            ) => a == b,
            (
                AssembledLayer::List { len: a_len, offsets: a, .. },
                AssembledLayer::List { len: b_len, offsets: b, .. },
            ) => a_len == b_len && a == b,
            _ => false,
        })
}

fn leaf_array(
    data_type: &DataType,
    values: Values,
    validity: Option<NullBuffer>,
    pool: Option<&Arc<Pool>>,
) -> Result<ArrayRef> {
    let data = match (data_type, values) {
        (DataType::Null, values) => return Ok(Arc::new(NullArray::new(values.len()))),
        (_, Values::Fixed(fixed)) => {
            let data = ArrayData::builder(data_type.clone()).len(fixed.len()).nulls(validity);
            data.add_buffer(fixed.into_buffer())
        }
        (_, Values::Variable(variable)) => {
            let bytes = match pool {
                Some(pool) => pool.lend(variable.bytes).into(),
                None => Buffer::from_vec(variable.bytes),
            };
            return byte_array(data_type, variable.offsets, bytes, validity);
        }
        (DataType::FixedSizeList(item, _), Values::FixedSizeList(list)) => {
            let item_validity = list.item_validity.map(null_buffer);
            let items = leaf_array(item.data_type(), *list.items, item_validity, None)?;
            let data = ArrayData::builder(data_type.clone()).len(list.len).nulls(validity);
            data.add_child_data(items.to_data())
        }
        (DataType::Struct(fields), Values::Struct { len, children }) => {
            ensure!(fields.len() == children.len(), "a packed struct lacks fields");
            let mut data = ArrayData::builder(data_type.clone()).len(len).nulls(validity);
            for (field, child) in fields.iter().zip(children) {
                let child = leaf_array(field.data_type(), child, None, None)?;
                data = data.add_child_data(child.to_data());
            }
            data
        }
        (_, values) => {
            return Err(Error::corrupt(format!(
                "{} values do not make a {data_type}",
                values.len()
            )));
        }
    };
    Ok(make_array(data.build().map_err(refused)?))
}

/// A packed struct is decoded as a whole; only the children that were asked for are kept.
fn packed_array(leaf: &Leaf, values: Values, validity: Option<NullBuffer>) -> Result<ArrayRef> {
    let array = leaf_array(leaf.stored.data_type(), values, validity, None)?;
    let (DataType::Struct(fields), Some(stored)) =
        (leaf.field.data_type(), array.as_any().downcast_ref::<StructArray>())
    else {
        return Err(disagree("a packed struct"));
    };
    let kept = fields.iter().map(|field| stored.column_by_name(field.name()).cloned());
    let kept = kept.collect::<Option<Vec<_>>>().ok_or_else(|| disagree("a packed struct"))?;
    let array = StructArray::try_new(fields.clone(), kept, stored.nulls().cloned());
    Ok(Arc::new(array.map_err(refused)?))
}

fn dictionary_array(
    data_type: &DataType,
    keys: FixedValues,
    mut dictionary: Values,
    validity: Option<NullBuffer>,
) -> Result<ArrayRef> {
    // Slots below a null list are not null themselves, so their key needs an entry.
    if dictionary.len() == 0 && keys.len() > 0 {
        dictionary.push_default(1)?;
    }
    let DataType::Dictionary(_, value_type) = data_type else {
        return Err(disagree("a dictionary"));
    };
    let dictionary = leaf_array(value_type, dictionary, None, None)?;
    let data = ArrayData::builder(data_type.clone()).len(keys.len()).nulls(validity);
    let data = data.add_buffer(keys.into_buffer()).add_child_data(dictionary.to_data());
    Ok(make_array(data.build().map_err(refused)?))
}

fn null_buffer(bits: FixedValues) -> NullBuffer {
    let len = bits.len();
    NullBuffer::new(BooleanBuffer::new(bits.into_buffer(), 0, len))
}

/// What Arrow refuses to build from a file's bytes is the file's fault.
pub(crate) fn refused(error: ArrowError) -> Error {
    Error::corrupt(match error {
        ArrowError::InvalidArgumentError(text) => text,
        other => other.to_string(),
    })
}

fn disagree(what: &str) -> Error {
    Error::corrupt(format!("the levels of {what} do not fit the schema"))
}
