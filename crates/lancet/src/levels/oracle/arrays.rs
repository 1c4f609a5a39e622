//! Random values, and Arrow arrays that hold them in every awkward way: slices, offsets that do not start at 0, items
//! under null lists, values under null structs.

use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, FixedSizeListArray, GenericListArray, Int32Array, MapArray, OffsetSizeTrait,
    StructArray,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{DataType, Field};

use super::{Leaf, List, Null, Struct, Value};
use crate::levels::{LayerKind, Step};

/// One layer of a schema, outermost first; the leaf follows the last one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Node {
    Struct,
    /// The struct of key and value inside a map.
    Entries,
    List,
    LargeList,
    Map,
    Fixed(usize),
}

/// Chances in 100 of a null and of an empty list at one layer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Chance {
    null: u64,
    empty: u64,
}

pub(super) struct Rng(pub(super) u64);

impl Rng {
    pub(super) fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % n
    }

    pub(super) fn hits(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}

/// A random schema: up to five nodes, fixed-size lists and lists not in the same one.
pub(super) fn random_nodes(rng: &mut Rng) -> Vec<Node> {
    let with_fixed = rng.hits(25);
    let mut nodes = Vec::new();
    for _ in 0..rng.below(6) {
        match rng.below(5) {
            0 | 1 => nodes.push(Node::Struct),
            _ if with_fixed => {
                nodes.push(Node::Fixed(1 + rng.below(3) as usize));
                nodes.push(Node::Struct);
            }
            2 => nodes.push(Node::List),
            3 => nodes.push(Node::LargeList),
            _ => nodes.extend([Node::Map, Node::Entries]),
        }
    }
    nodes
}

/// Chances for each node and the leaf; often zero, so that all variants of layers come up.
pub(super) fn random_chances(nodes: &[Node], rng: &mut Rng) -> Vec<Chance> {
    let mut chance = || [0, 0, 5, 50][rng.below(4) as usize];
    let mut chances: Vec<Chance> =
        (0..=nodes.len()).map(|_| Chance { null: chance(), empty: chance() }).collect();
    for (chance, node) in chances.iter_mut().zip(nodes) {
        if *node == Node::Entries {
            chance.null = 0;
        }
    }
    chances
}

/// Leaf outwards.
pub(super) fn kinds(nodes: &[Node]) -> Vec<LayerKind> {
    let kind = |node: &Node| match node {
        Node::Struct | Node::Entries => LayerKind::Item,
        Node::List | Node::Map => LayerKind::List { large: false },
        Node::LargeList => LayerKind::List { large: true },
        Node::Fixed(dimension) => LayerKind::FixedSizeList { dimension: *dimension as u64 },
    };
    std::iter::once(LayerKind::Item).chain(nodes.iter().rev().map(kind)).collect()
}

/// Outermost first. Structs have the path as their second child.
pub(super) fn steps(nodes: &[Node]) -> Vec<Step> {
    let step = |node: &Node| match node {
        Node::Struct | Node::Entries => Step::Struct(1),
        Node::List | Node::LargeList => Step::List,
        Node::Map => Step::Map,
        Node::Fixed(_) => Step::FixedSizeList,
    };
    nodes.iter().map(step).collect()
}

pub(super) fn random_value(nodes: &[Node], chances: &[Chance], rng: &mut Rng) -> Value {
    if rng.hits(chances[0].null) {
        return Null;
    }
    let Some(node) = nodes.first() else { return Leaf(rng.below(1000) as i32) };
    let items = match node {
        Node::Struct | Node::Entries => {
            return Struct(Box::new(random_value(&nodes[1..], &chances[1..], rng)));
        }
        Node::Fixed(dimension) => *dimension as u64,
        _ if rng.hits(chances[0].empty) => 0,
        _ => 1 + rng.below(4),
    };
    List((0..items).map(|_| random_value(&nodes[1..], &chances[1..], rng)).collect())
}

/// The values as an Arrow array, with garbage wherever Arrow allows it.
pub(super) fn array(
    nodes: &[Node],
    chances: &[Chance],
    values: &[Value],
    rng: &mut Rng,
) -> ArrayRef {
    let (before, after) = if rng.hits(50) { (rng.below(70), rng.below(3)) } else { (0, 0) };
    let mut garbage =
        |n: u64| -> Vec<Value> { (0..n).map(|_| random_value(nodes, chances, rng)).collect() };
    let padded = [garbage(before), values.to_vec(), garbage(after)].concat();
    whole_array(nodes, chances, &padded, rng).slice(before as usize, values.len())
}

fn whole_array(nodes: &[Node], chances: &[Chance], values: &[Value], rng: &mut Rng) -> ArrayRef {
    let some_null = values.contains(&Null);
    let nulls = (some_null || rng.hits(30))
        .then(|| values.iter().map(|value| *value != Null).collect::<NullBuffer>());
    let Some(node) = nodes.first() else {
        let number = |value: &Value| if let Leaf(n) = value { *n } else { -7 };
        let numbers: Vec<i32> = values.iter().map(number).collect();
        return Arc::new(Int32Array::new(numbers.into(), nulls));
    };
    let (inner, chances) = (&nodes[1..], &chances[1..]);
    match node {
        Node::Struct | Node::Entries => {
            let mut child = |value: &Value| match value {
                Struct(child) => (**child).clone(),
                _ => random_value(inner, chances, rng),
            };
            let children: Vec<Value> = values.iter().map(&mut child).collect();
            let child = array(inner, chances, &children, rng);
            let other: ArrayRef = Arc::new(Int32Array::from(vec![0; values.len()]));
            let fields = vec![
                Field::new("other", DataType::Int32, false),
                Field::new("child", child.data_type().clone(), true),
            ];
            let nulls = nulls.filter(|_| *node == Node::Struct);
            Arc::new(StructArray::new(fields.into(), vec![other, child], nulls))
        }
        Node::Fixed(dimension) => {
            let mut items = Vec::new();
            for value in values {
                match value {
                    List(list) => items.extend_from_slice(list),
                    _ => items.extend((0..*dimension).map(|_| random_value(inner, chances, rng))),
                }
            }
            let child = array(inner, chances, &items, rng);
            let field = Arc::new(Field::new("item", child.data_type().clone(), true));
            Arc::new(FixedSizeListArray::new(field, *dimension as i32, child, nulls))
        }
        Node::List => list_array::<i32>(inner, chances, values, nulls, rng),
        Node::LargeList => list_array::<i64>(inner, chances, values, nulls, rng),
        Node::Map => {
            let (offsets, entries) = list_items::<i32>(inner, chances, values, rng);
            let field = Arc::new(Field::new("entries", entries.data_type().clone(), false));
            let entries = entries.as_any().downcast_ref::<StructArray>().unwrap().clone();
            Arc::new(MapArray::new(field, offsets, entries, nulls, false))
        }
    }
}

fn list_array<O: OffsetSizeTrait>(
    inner: &[Node],
    chances: &[Chance],
    values: &[Value],
    nulls: Option<NullBuffer>,
    rng: &mut Rng,
) -> ArrayRef {
    let (offsets, items) = list_items::<O>(inner, chances, values, rng);
    let field = Arc::new(Field::new("item", items.data_type().clone(), true));
    Arc::new(GenericListArray::<O>::new(field, offsets, items, nulls))
}

fn list_items<O: OffsetSizeTrait>(
    inner: &[Node],
    chances: &[Chance],
    values: &[Value],
    rng: &mut Rng,
) -> (OffsetBuffer<O>, ArrayRef) {
    let hidden = |most: u64, rng: &mut Rng| -> Vec<Value> {
        (0..rng.below(most)).map(|_| random_value(inner, chances, rng)).collect()
    };
    let mut items = hidden(3, rng);
    let mut offsets = vec![O::usize_as(items.len())];
    for value in values {
        match value {
            List(list) => items.extend_from_slice(list),
            _ => items.extend(hidden(3, rng)),
        }
        offsets.push(O::usize_as(items.len()));
    }
    items.extend(hidden(3, rng));
    (OffsetBuffer::new(offsets.into()), array(inner, chances, &items, rng))
}
