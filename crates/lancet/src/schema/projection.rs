//! Names into fields and columns.
//!
//! A name is a path of field names with dots between. Lists and maps may be stepped through by the
//! name of their item or entries, or silently: `l.item.x` and `l.x` are the same field. A field
//! whose own name has dots is found too, and wins over the split. Asking for a field gives all
//! below it; the order is the order asked for; what is asked for twice comes once.

use std::borrow::Borrow;
use std::collections::{BTreeMap, HashMap};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arrow_schema::{DataType, Field, FieldRef, Fields, Schema, SchemaRef};

use super::columns::{Leaf, LeafKind, Node};
use crate::error::{Error, Result};

/// Fields of a file that has more are looked up in a table.
const MANY_FIELDS: usize = 64;

/// Some fields of a file.
#[derive(Debug, Clone)]
pub(crate) struct FileFields {
    pub(crate) schema: SchemaRef,
    /// The fields with their column numbers in the file.
    pub(crate) nodes: Vec<Node>,
}

/// What is wanted of a field.
enum Wanted {
    All,
    Some(Children),
}

/// Some children of a field by index, in the order asked for.
#[derive(Default)]
struct Children {
    list: Vec<(usize, Wanted)>,
    /// Where each of them is in the list: there may be very many.
    places: BTreeMap<usize, usize>,
}

/// The fields at the top of a file by their names: to look at all of very many for each read would take longer than
/// the read. Files with few fields have none here.
#[derive(Debug)]
pub(crate) struct FieldNames(HashMap<NamedField, usize>);

impl FieldNames {
    pub(crate) fn of(nodes: &[Node]) -> Self {
        if nodes.len() <= MANY_FIELDS {
            return Self(HashMap::new());
        }
        // Of fields with the same name the first is meant.
        let fields = nodes.iter().enumerate().rev();
        Self(fields.map(|(index, node)| (NamedField(node.field().clone()), index)).collect())
    }
}

/// A field that equals others of its name.
#[derive(Debug)]
struct NamedField(FieldRef);

impl Borrow<str> for NamedField {
    fn borrow(&self) -> &str {
        self.0.name()
    }
}

impl Hash for NamedField {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.name().hash(state);
    }
}

impl PartialEq for NamedField {
    fn eq(&self, other: &Self) -> bool {
        self.0.name() == other.0.name()
    }
}

impl Eq for NamedField {}

/// Picks the fields called `names` out of the schema and its columns.
pub(crate) fn project<S: AsRef<str>>(
    schema: &Schema,
    nodes: &[Node],
    known: Option<&FieldNames>,
    names: impl IntoIterator<Item = S>,
) -> Result<FileFields> {
    let mut paths = Vec::new();
    for name in names {
        let name = name.as_ref();
        paths.push(match known.and_then(|known| known.0.get(name)) {
            Some(index) => vec![*index],
            None => locate(nodes, name)?,
        });
    }
    Ok(project_paths(schema, nodes, paths))
}

/// Picks fields by their indexes from the top down.
pub(crate) fn project_paths(
    schema: &Schema,
    nodes: &[Node],
    paths: impl IntoIterator<Item = Vec<usize>>,
) -> FileFields {
    let mut wanted = Children::default();
    paths.into_iter().for_each(|path| want(&mut wanted, &path));
    let nodes = pick(nodes, &wanted, keep);
    let fields: Fields = nodes.iter().map(|node| node.field().clone()).collect();
    let schema = Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()));
    FileFields { schema, nodes }
}

/// Indexes from the top down to the field called `name`, or an error that knows near names.
pub(crate) fn locate(nodes: &[Node], name: &str) -> Result<Vec<usize>> {
    find(nodes, name).ok_or_else(|| unknown(nodes, name))
}

/// The type of the field called `name`, if a row has one value of it.
pub(crate) fn type_of(nodes: &[Node], name: &str) -> Result<DataType> {
    let path = locate(nodes, name)?;
    let mut path = path.into_iter();
    let mut node = path.next().and_then(|index| nodes.get(index));
    for index in path {
        node = match node {
            Some(Node::Struct { children, .. }) => children.get(index),
            Some(Node::Leaf(leaf)) => {
                let field = packed_children(leaf).and_then(|fields| fields.get(index));
                return field.map(|f| f.data_type().clone()).ok_or_else(|| unknown(nodes, name));
            }
            _ => {
                return Err(Error::invalid(format!(
                    "`{name}` is inside a list, so a row has many of it; name a field that has \
                     nothing but structs around it"
                )));
            }
        };
    }
    node.map(|node| node.field().data_type().clone()).ok_or_else(|| unknown(nodes, name))
}

/// Indexes from the top down to the field called `name`.
fn find(nodes: &[Node], name: &str) -> Option<Vec<usize>> {
    if let Some(index) = nodes.iter().position(|node| node.field().name() == name) {
        return Some(vec![index]);
    }
    let below = |(index, node): (usize, &Node)| {
        let rest = name.strip_prefix(node.field().name().as_str())?.strip_prefix('.')?;
        prepend(index, find_below(node, rest)?)
    };
    nodes.iter().enumerate().find_map(below)
}

/// Indexes from the children of `node` down to the field called `name`.
fn find_below(node: &Node, name: &str) -> Option<Vec<usize>> {
    let named = find(node.children(), name);
    match node {
        Node::Leaf(leaf) => {
            Some(vec![packed_children(leaf)?.iter().position(|f| f.name() == name)?])
        }
        Node::Struct { .. } => named,
        // The item or the entries need not be named.
        Node::List { child, .. } | Node::Map { child, .. } | Node::FixedSizeList { child, .. } => {
            named.or_else(|| prepend(0, find_below(child, name)?))
        }
    }
}

/// The children of a packed struct, which have no columns of their own.
fn packed_children(leaf: &Leaf) -> Option<&Fields> {
    match (leaf.kind, leaf.field.data_type()) {
        (LeafKind::PackedStruct, DataType::Struct(fields)) => Some(fields),
        _ => None,
    }
}

fn prepend(index: usize, mut path: Vec<usize>) -> Option<Vec<usize>> {
    path.insert(0, index);
    Some(path)
}

fn want(wanted: &mut Children, path: &[usize]) {
    let Some((&index, rest)) = path.split_first() else { return };
    let place = *wanted.places.entry(index).or_insert_with(|| {
        wanted.list.push((index, Wanted::Some(Children::default())));
        wanted.list.len().saturating_sub(1)
    });
    let Some((_, entry)) = wanted.list.get_mut(place) else { return };
    match entry {
        Wanted::All => {}
        whole if rest.is_empty() => *whole = Wanted::All,
        Wanted::Some(children) => want(children, rest),
    }
}

fn pick(
    nodes: &[Node],
    wanted: &Children,
    keep: impl Fn(&Node, &Wanted) -> Option<Node>,
) -> Vec<Node> {
    wanted.list.iter().filter_map(|(index, wanted)| keep(nodes.get(*index)?, wanted)).collect()
}

/// The wanted part of a node.
fn keep(node: &Node, wanted: &Wanted) -> Option<Node> {
    let Wanted::Some(wanted) = wanted else { return Some(node.clone()) };
    let mut children = pick(node.children(), wanted, keep);
    let retyped = |data_type| {
        let field: &Field = node.field();
        Arc::new(field.clone().with_data_type(data_type))
    };
    if let Node::Leaf(leaf) = node {
        let children = packed_children(leaf)?;
        let kept = wanted.list.iter().filter_map(|(index, _)| children.get(*index).cloned());
        let field = retyped(DataType::Struct(kept.collect()));
        return Some(Node::Leaf(Leaf { field, ..leaf.clone() }));
    }
    if let Node::Struct { .. } = node {
        let fields: Fields = children.iter().map(|child| child.field().clone()).collect();
        return Some(Node::Struct { field: retyped(DataType::Struct(fields)), children });
    }
    let child = Box::new(children.pop()?);
    let item: FieldRef = child.field().clone();
    Some(match node {
        Node::Leaf(_) | Node::Struct { .. } => node.clone(),
        Node::List { large: false, .. } => {
            Node::List { field: retyped(DataType::List(item)), large: false, child }
        }
        Node::List { large: true, .. } => {
            Node::List { field: retyped(DataType::LargeList(item)), large: true, child }
        }
        Node::Map { .. } => keep_map(*child, retyped),
        Node::FixedSizeList { field, dimension, .. } => {
            let DataType::FixedSizeList(_, n) = field.data_type() else { return None };
            let field = retyped(DataType::FixedSizeList(item, *n));
            Node::FixedSizeList { field, dimension: *dimension, child }
        }
    })
}

/// A map stays one while both key and value are wanted, in this order; with one of them it becomes
/// a list of entries, since Arrow has no such map.
fn keep_map(entries: Node, retyped: impl Fn(DataType) -> FieldRef) -> Node {
    match entries {
        Node::Struct { field, mut children } if children.len() == 2 => {
            children.sort_by_key(first_column);
            let fields: Fields = children.iter().map(|child| child.field().clone()).collect();
            let entries: Field = field.as_ref().clone().with_data_type(DataType::Struct(fields));
            let entries = Arc::new(entries);
            let child = Box::new(Node::Struct { field: entries.clone(), children });
            Node::Map { field: retyped(DataType::Map(entries, false)), child }
        }
        half => {
            let field = retyped(DataType::List(half.field().clone()));
            Node::List { field, large: false, child: Box::new(half) }
        }
    }
}

fn first_column(node: &Node) -> Option<u32> {
    match node {
        Node::Leaf(leaf) => Some(leaf.column),
        _ => node.children().iter().filter_map(first_column).min(),
    }
}

fn unknown(nodes: &[Node], name: &str) -> Error {
    let near = near_names(nodes, name);
    if !near.is_empty() {
        return Error::invalid(format!(
            "there is no field `{name}`; did you mean {}?",
            near.join(" or ")
        ));
    }
    let mut some: Vec<_> =
        nodes.iter().take(SHOWN).map(|n| format!("`{}`", n.field().name())).collect();
    if nodes.len() > SHOWN {
        some.push("…".into());
    }
    Error::invalid(format!("there is no field `{name}`; the fields are {}", some.join(", ")))
}

/// How many names an error shows.
const SHOWN: usize = 5;
/// Names longer than this are not compared.
const COMPARED_CHARS: usize = 100;

/// The names that differ least from `name`, if few letters are enough.
fn near_names(nodes: &[Node], name: &str) -> Vec<String> {
    let mut paths = Vec::new();
    nodes.iter().for_each(|node| paths_of(node, "", &mut paths));
    let lower = name.to_lowercase();
    let length = lower.chars().count();
    if length > COMPARED_CHARS {
        return Vec::new();
    }
    let most = (length / 3).clamp(1, 3);
    let mut near: Vec<_> = paths
        .into_iter()
        .filter(|path| path.chars().count().abs_diff(length) <= most)
        .map(|path| (distance(&lower, &path.to_lowercase()), path))
        .filter(|(distance, _)| *distance <= most)
        .collect();
    near.sort();
    near.into_iter().take(SHOWN).map(|(_, path)| format!("`{path}`")).collect()
}

/// All names below a node, without those of items and entries.
fn paths_of(node: &Node, above: &str, out: &mut Vec<String>) {
    let name = node.field().name();
    let path = if above.is_empty() { name.clone() } else { format!("{above}.{name}") };
    // Deep trees of long names would cost their square.
    if path.len() > COMPARED_CHARS.saturating_mul(4) {
        return;
    }
    let mut node = node;
    while let Node::List { child, .. }
    | Node::Map { child, .. }
    | Node::FixedSizeList { child, .. } = node
    {
        node = child;
    }
    node.children().iter().for_each(|child| paths_of(child, &path, out));
    out.push(path);
}

/// Letters to insert, delete or replace to turn one name into the other.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = i;
        let mut left = i.saturating_add(1);
        for (cell, y) in row.iter_mut().skip(1).zip(&b) {
            let replaced = diagonal.saturating_add(usize::from(x != *y));
            diagonal = *cell;
            left = replaced.min(left.saturating_add(1)).min(cell.saturating_add(1));
            *cell = left;
        }
        if let Some(first) = row.first_mut() {
            *first = i.saturating_add(1);
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
#[path = "projection_tests.rs"]
mod tests;
