//! The rules of repetition and definition levels in their slow, obvious form, and the tests that hold the fast
//! code against it.

mod arrays;
mod examples;
mod properties;

use crate::levels::{AssembledLayer, Layer, LayerKind, ListOffsets, Numbering};

/// A value of a column cut down to the path of one leaf. Maps and fixed-size lists are lists here.
#[derive(Debug, Clone, PartialEq)]
enum Value {
    Null,
    Leaf(i32),
    Struct(Box<Value>),
    List(Vec<Value>),
}

use Value::{Leaf, List, Null, Struct};

/// One entry; `value` is there when it owns a slot that is not null.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Entry {
    rep: u16,
    def: u16,
    value: Option<i32>,
}

/// The layers of a page with the numbers of their levels.
struct Levels<'a> {
    kinds: &'a [LayerKind],
    null: Vec<Option<u16>>,
    empty: Vec<Option<u16>>,
    /// List number, for list layers.
    list: Vec<u16>,
    numbering: Numbering,
}

impl<'a> Levels<'a> {
    fn new(kinds: &'a [LayerKind], layers: &[Layer]) -> Self {
        let (mut null, mut empty, mut list) = (vec![], vec![], vec![]);
        let (mut next, mut lists) = (0, 0);
        let mut take = |wanted: bool| {
            next += u16::from(wanted);
            wanted.then_some(next)
        };
        for layer in layers {
            use Layer::*;
            null.push(take(matches!(layer, NullableItem | NullableList | NullAndEmptyList)));
            empty.push(take(matches!(layer, EmptyableList | NullAndEmptyList)));
            lists += u16::from(layer.is_list());
            list.push(lists);
        }
        Self { kinds, null, empty, list, numbering: Numbering::new(layers).unwrap() }
    }

    /// Entries that one slot of the layer stands for, when nothing inside is a list.
    fn width(&self, layer: usize) -> usize {
        let dimension = |kind: &LayerKind| match kind {
            LayerKind::FixedSizeList { dimension } => *dimension as usize,
            _ => 1,
        };
        self.kinds[..=layer].iter().map(dimension).product()
    }

    /// Values to levels.
    fn walk(&self, value: &Value, layer: usize, rep: u16, out: &mut Vec<Entry>) {
        match (value, self.kinds[layer]) {
            (Null, _) => {
                let def = self.null[layer].unwrap();
                out.extend(vec![Entry { rep, def, value: None }; self.width(layer)]);
            }
            (Leaf(value), LayerKind::Item) => {
                assert_eq!(layer, 0);
                out.push(Entry { rep, def: 0, value: Some(*value) });
            }
            (Struct(child), LayerKind::Item) => self.walk(child, layer - 1, rep, out),
            (List(items), LayerKind::FixedSizeList { .. }) => {
                items.iter().for_each(|item| self.walk(item, layer - 1, rep, out));
            }
            (List(items), LayerKind::List { .. }) if items.is_empty() => {
                out.push(Entry { rep, def: self.empty[layer].unwrap(), value: None });
            }
            (List(items), LayerKind::List { .. }) => {
                for (i, item) in items.iter().enumerate() {
                    let rep = if i == 0 { rep } else { self.list[layer] - 1 };
                    self.walk(item, layer - 1, rep, out);
                }
            }
            other => panic!("value does not fit its layer: {other:?}"),
        }
    }
}

/// The layers that a page of these rows has.
fn layers_of(kinds: &[LayerKind], rows: &[Value]) -> Vec<Layer> {
    fn look(kinds: &[LayerKind], value: &Value, layer: usize, seen: &mut [(bool, bool)]) {
        let is_list = matches!(kinds[layer], LayerKind::List { .. });
        match value {
            Null => {
                seen[layer].0 = true;
                if layer > 0 && !is_list {
                    look(kinds, &Null, layer - 1, seen);
                }
            }
            Leaf(_) => {}
            Struct(child) => look(kinds, child, layer - 1, seen),
            List(items) => {
                seen[layer].1 |= items.is_empty();
                items.iter().for_each(|item| look(kinds, item, layer - 1, seen));
            }
        }
    }
    let mut seen = vec![(false, false); kinds.len()];
    rows.iter().for_each(|row| look(kinds, row, kinds.len() - 1, &mut seen));
    let layer = |(kind, seen): (&LayerKind, &(bool, bool))| match (kind, seen) {
        (LayerKind::List { .. }, (false, false)) => Layer::AllValidList,
        (LayerKind::List { .. }, (true, false)) => Layer::NullableList,
        (LayerKind::List { .. }, (false, true)) => Layer::EmptyableList,
        (LayerKind::List { .. }, (true, true)) => Layer::NullAndEmptyList,
        (_, (false, _)) => Layer::AllValidItem,
        (_, (true, _)) => Layer::NullableItem,
    };
    kinds.iter().zip(&seen).map(layer).collect()
}

/// Levels to values: the n-th slot of the leaf becomes `Leaf(n)`. `None` if the levels describe no nesting.
struct Parser<'a> {
    levels: &'a Levels<'a>,
    entries: &'a [(u16, u16)],
    next_slot: i32,
}

impl Parser<'_> {
    fn rows(mut self) -> Option<Vec<Value>> {
        let mut rows = Vec::new();
        while !self.entries.is_empty() {
            let top = self.levels.kinds.len() - 1;
            rows.push(self.value(top, self.levels.numbering.max_rep)?);
        }
        Some(rows)
    }

    /// Takes an entry if its levels are these; returns its slot.
    fn take(&mut self, rep: u16, def: u16) -> Option<i32> {
        let (first, rest) = self.entries.split_first()?;
        if *first != (rep, def) {
            return None;
        }
        self.entries = rest;
        let slot = self.next_slot;
        self.next_slot += i32::from(def <= self.levels.numbering.max_visible);
        Some(slot)
    }

    fn value(&mut self, layer: usize, rep: u16) -> Option<Value> {
        let (found, def) = *self.entries.first()?;
        if found != rep {
            return None;
        }
        if self.levels.null[layer] == Some(def) {
            for _ in 0..self.levels.width(layer) {
                self.take(rep, def)?;
            }
            return Some(Null);
        }
        Some(match self.levels.kinds[layer] {
            LayerKind::Item if layer == 0 => Leaf(self.take(rep, 0)?),
            LayerKind::Item => Struct(Box::new(self.value(layer - 1, rep)?)),
            LayerKind::FixedSizeList { dimension } => {
                List((0..dimension).map(|_| self.value(layer - 1, rep)).collect::<Option<_>>()?)
            }
            LayerKind::List { .. } if self.levels.empty[layer] == Some(def) => {
                self.take(rep, def)?;
                List(vec![])
            }
            LayerKind::List { .. } => {
                let again = self.levels.list[layer] - 1;
                let mut items = vec![self.value(layer - 1, rep)?];
                while self.entries.first().is_some_and(|(rep, _)| *rep == again) {
                    items.push(self.value(layer - 1, again)?);
                }
                List(items)
            }
        })
    }
}

/// The rows of assembled layers over the values of the leaf.
fn rows_of(layers: &[AssembledLayer], values: &[i32]) -> Vec<Value> {
    let AssembledLayer::Item { len, .. } = &layers[0] else { panic!("the leaf is an item") };
    assert_eq!(*len, values.len(), "slots of the leaf");
    let top = layers.len() - 1;
    (0..len_of(&layers[top])).map(|slot| value_at(layers, values, top, slot)).collect()
}

fn len_of(layer: &AssembledLayer) -> usize {
    match layer {
        AssembledLayer::Item { len, .. }
        | AssembledLayer::List { len, .. }
        | AssembledLayer::FixedSizeList { len, .. } => *len,
    }
}

fn is_null(layer: &AssembledLayer, slot: usize) -> bool {
    let (AssembledLayer::Item { validity, len }
    | AssembledLayer::List { validity, len, .. }
    | AssembledLayer::FixedSizeList { validity, len, .. }) = layer;
    assert!(validity.as_ref().is_none_or(|validity| validity.len() == *len));
    validity.as_ref().is_some_and(|validity| validity.is_null(slot))
}

fn value_at(layers: &[AssembledLayer], values: &[i32], layer: usize, slot: usize) -> Value {
    if is_null(&layers[layer], slot) {
        return Null;
    }
    let child = |slot| value_at(layers, values, layer - 1, slot);
    match &layers[layer] {
        AssembledLayer::Item { .. } if layer == 0 => Leaf(values[slot]),
        AssembledLayer::Item { .. } => Struct(Box::new(child(slot))),
        AssembledLayer::FixedSizeList { dimension, .. } => {
            List((slot * dimension..(slot + 1) * dimension).map(child).collect())
        }
        AssembledLayer::List { len, offsets, .. } => {
            let offsets: Vec<usize> = match offsets {
                ListOffsets::Bits32(offsets) => offsets.iter().map(|o| *o as usize).collect(),
                ListOffsets::Bits64(offsets) => offsets.iter().map(|o| *o as usize).collect(),
            };
            assert_eq!(offsets.len(), len + 1);
            assert_eq!(offsets[*len], len_of(&layers[layer - 1]), "items of all lists");
            List((offsets[slot]..offsets[slot + 1]).map(child).collect())
        }
    }
}
