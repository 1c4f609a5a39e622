//! Arrow to one leaf: the validity and offsets on the way down, and the leaf array itself. Nothing is copied.
//!
//! A slice looks only at its own rows: below a list stand exactly the items between its first and its last offset, so
//! the slots of the layer inside are counted from the first offset, which need not be 0. Items of null lists and
//! values under null structs are still there; [`shred`](super::shred) leaves them out.
#![expect(
    clippy::arithmetic_side_effects,
    reason = "counts of arrays in memory, not numbers from a file"
)]

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, FixedSizeListArray, GenericListArray, MapArray, StructArray};
use arrow_array::{LargeListArray, ListArray, OffsetSizeTrait};
use arrow_buffer::{NullBuffer, OffsetBuffer};

use crate::error::{Error, Result};
use crate::levels::ListOffsets;

/// One step from a field to its child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// To the child of this number.
    Struct(usize),
    /// To the items of a list or large list.
    List,
    /// To the entries struct of a map; a `Struct` step to the key or the value follows.
    Map,
    /// To the structs of a fixed-size list.
    FixedSizeList,
}

/// One leaf of some rows.
#[derive(Debug, Clone)]
pub(crate) struct LeafPiece {
    /// Leaf (an item layer) outwards.
    pub(crate) nesting: Vec<NestingLayer>,
    /// The leaf, one value for each slot of layer 0.
    pub(crate) values: ArrayRef,
    pub(crate) num_rows: usize,
}

/// Validity is absent when no slot is null.
#[derive(Debug, Clone)]
pub(crate) enum NestingLayer {
    Item { validity: Option<NullBuffer> },
    List { validity: Option<NullBuffer>, offsets: ListOffsets },
    FixedSizeList { validity: Option<NullBuffer>, dimension: usize },
}

/// Walks from an array to one of its leaves.
pub(crate) fn extract(array: &ArrayRef, path: &[Step]) -> Result<LeafPiece> {
    let mut nesting = Vec::with_capacity(path.len() + 1);
    let mut values = Arc::clone(array);
    for step in path {
        let (layer, child) = descend(&values, *step)?;
        nesting.push(layer);
        values = child;
    }
    nesting.push(NestingLayer::Item { validity: some_null(values.logical_nulls().as_ref()) });
    nesting.reverse();

    let has_list = nesting.iter().any(|layer| matches!(layer, NestingLayer::List { .. }));
    let has_fixed = nesting.iter().any(|layer| matches!(layer, NestingLayer::FixedSizeList { .. }));
    if has_list && has_fixed {
        return Err(Error::unsupported("fixed-size lists of structs together with lists"));
    }
    Ok(LeafPiece { nesting, values, num_rows: array.len() })
}

fn descend(array: &ArrayRef, step: Step) -> Result<(NestingLayer, ArrayRef)> {
    let mismatch = || Error::invalid(format!("no step {step:?} into {}", array.data_type()));
    let validity = some_null(array.nulls());
    let any = array.as_any();
    match step {
        Step::Struct(child) => {
            let array = any.downcast_ref::<StructArray>().ok_or_else(mismatch)?;
            let child = array.columns().get(child).ok_or_else(mismatch)?;
            Ok((NestingLayer::Item { validity }, Arc::clone(child)))
        }
        Step::List => {
            let (offsets, items) = if let Some(array) = any.downcast_ref::<ListArray>() {
                (ListOffsets::Bits32(array.offsets().clone()), items(array))
            } else {
                let array = any.downcast_ref::<LargeListArray>().ok_or_else(mismatch)?;
                (ListOffsets::Bits64(array.offsets().clone()), items(array))
            };
            Ok((NestingLayer::List { validity, offsets }, items))
        }
        Step::Map => {
            let array = any.downcast_ref::<MapArray>().ok_or_else(mismatch)?;
            let (first, len) = span(array.offsets());
            let entries: ArrayRef = Arc::new(array.entries().slice(first, len));
            let offsets = ListOffsets::Bits32(array.offsets().clone());
            Ok((NestingLayer::List { validity, offsets }, entries))
        }
        Step::FixedSizeList => {
            let array = any.downcast_ref::<FixedSizeListArray>().ok_or_else(mismatch)?;
            let dimension = usize::try_from(array.value_length()).map_err(|_| mismatch())?;
            if dimension == 0 {
                return Err(Error::unsupported("fixed-size lists of structs without items"));
            }
            Ok((NestingLayer::FixedSizeList { validity, dimension }, Arc::clone(array.values())))
        }
    }
}

fn items<O: OffsetSizeTrait>(array: &GenericListArray<O>) -> ArrayRef {
    let (first, len) = span(array.offsets());
    array.values().slice(first, len)
}

/// First item and number of items of all lists together.
fn span<O: OffsetSizeTrait>(offsets: &OffsetBuffer<O>) -> (usize, usize) {
    let first = offsets.first().map_or(0, |offset| offset.as_usize());
    let last = offsets.last().map_or(0, |offset| offset.as_usize());
    (first, last - first)
}

fn some_null(validity: Option<&NullBuffer>) -> Option<NullBuffer> {
    validity.filter(|validity| validity.null_count() > 0).cloned()
}

#[cfg(test)]
mod tests {
    use arrow_array::builder::{Int32Builder, MapBuilder, StringBuilder};
    use arrow_array::{DictionaryArray, Int32Array, NullArray, StringArray};

    use super::*;
    use crate::levels::{Layer, shred};

    #[test]
    fn keys_and_values_of_a_map() {
        let mut map = MapBuilder::new(None, StringBuilder::new(), Int32Builder::new());
        for row in [
            Some(vec![("k", Some(1)), ("j", None)]),
            None,
            Some(vec![]),
            Some(vec![("z", Some(3))]),
        ] {
            for (key, value) in row.iter().flatten() {
                map.keys().append_value(key);
                map.values().append_option(*value);
            }
            map.append(row.is_some()).unwrap();
        }
        let map: ArrayRef = Arc::new(map.finish());
        let page =
            |child| shred(&[extract(&map, &[Step::Map, Step::Struct(child)]).unwrap()]).unwrap();
        let (keys, values) = (page(0), page(1));
        use Layer::{AllValidItem, NullAndEmptyList, NullableItem};
        assert_eq!(keys.layers, [AllValidItem, AllValidItem, NullAndEmptyList]);
        assert_eq!(keys.def.unwrap(), [0, 0, 1, 2, 0]);
        assert_eq!(values.layers, [NullableItem, AllValidItem, NullAndEmptyList]);
        assert_eq!(values.def.unwrap(), [0, 1, 2, 3, 0]);
        assert_eq!(keys.rep.unwrap(), [1, 0, 1, 1, 1]);
    }

    #[test]
    fn nulls_of_a_leaf_are_those_one_can_see() {
        let dictionary = Arc::new(StringArray::from(vec![Some("a"), None]));
        let keys = Int32Array::from(vec![Some(0), Some(1), None]);
        let array: ArrayRef = Arc::new(DictionaryArray::new(keys, dictionary));
        assert_eq!(shred(&[extract(&array, &[]).unwrap()]).unwrap().def.unwrap(), [0, 1, 1]);
        let array: ArrayRef = Arc::new(NullArray::new(2));
        assert_eq!(shred(&[extract(&array, &[]).unwrap()]).unwrap().def.unwrap(), [1, 1]);
    }

    #[test]
    fn a_path_must_fit_the_array() {
        let array: ArrayRef = Arc::new(Int32Array::from(vec![1]));
        for step in [Step::Struct(0), Step::List, Step::Map, Step::FixedSizeList] {
            assert!(matches!(extract(&array, &[step]), Err(Error::Invalid(_))));
        }
    }
}
