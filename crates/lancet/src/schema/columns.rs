//! Which fields own a column, in 2.1 and 2.2.
//!
//! Columns are numbered by walking the tree of fields from the top, parents before children. Only
//! leaves own one: fields without child fields (structs without fields too), packed structs and
//! blobs. Lists, maps, structs and fixed-size lists of structs live in the levels of the leaves.

use arrow_schema::{DataType, Field, FieldRef, Schema};

use super::{EXTENSION_NAME, MAX_DEPTH};
use crate::error::{Error, Result};

/// The key that marks blobs, whatever its value.
pub(crate) const BLOB_KEY: &str = "lance-encoding:blob";
/// The extension of blobs of the second kind.
pub(crate) const BLOB_V2: &str = "lance.blob.v2";
/// The keys that mark packed structs.
pub(crate) const PACKED_KEYS: [&str; 2] = ["lance-encoding:packed", "packed"];

/// A field and its columns.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Node {
    Leaf(Leaf),
    Struct {
        field: FieldRef,
        children: Vec<Node>,
    },
    List {
        field: FieldRef,
        large: bool,
        child: Box<Node>,
    },
    /// The child is the struct of the entries.
    Map {
        field: FieldRef,
        child: Box<Node>,
    },
    /// The child is a struct; other fixed-size lists are leaves.
    FixedSizeList {
        field: FieldRef,
        dimension: u64,
        child: Box<Node>,
    },
}

/// A field that owns a column.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Leaf {
    /// The field as it was asked for: of a packed struct perhaps only some children.
    pub(crate) field: FieldRef,
    /// The field as it is stored.
    pub(crate) stored: FieldRef,
    pub(crate) column: u32,
    pub(crate) kind: LeafKind,
}

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LeafKind {
    /// Values of the field's type; fixed-size lists of them and dictionaries too.
    Values,
    /// All children of a struct in one column.
    PackedStruct,
    /// Where the bytes are.
    Blob,
    /// Nothing.
    EmptyStruct,
}

impl Node {
    pub(crate) fn field(&self) -> &FieldRef {
        match self {
            Self::Leaf(leaf) => &leaf.field,
            Self::Struct { field, .. }
            | Self::List { field, .. }
            | Self::Map { field, .. }
            | Self::FixedSizeList { field, .. } => field,
        }
    }

    /// The fields below that have columns of their own.
    pub(crate) fn children(&self) -> &[Node] {
        match self {
            Self::Leaf(_) => &[],
            Self::Struct { children, .. } => children,
            Self::List { child, .. }
            | Self::Map { child, .. }
            | Self::FixedSizeList { child, .. } => std::slice::from_ref(child),
        }
    }

    /// Adds the leaves below, in column order, to `leaves`.
    pub(crate) fn collect_leaves<'a>(&'a self, leaves: &mut Vec<&'a Leaf>) {
        match self {
            Self::Leaf(leaf) => leaves.push(leaf),
            _ => self.children().iter().for_each(|child| child.collect_leaves(leaves)),
        }
    }
}

/// The leaves of all nodes, in column order.
pub(crate) fn leaves(nodes: &[Node]) -> Vec<&Leaf> {
    let mut leaves = Vec::new();
    nodes.iter().for_each(|node| node.collect_leaves(&mut leaves));
    leaves
}

/// The fields of the schema with their columns.
pub(crate) fn columns_of(schema: &Schema) -> Result<Vec<Node>> {
    let mut next = 0;
    schema.fields().iter().map(|field| node(field, &mut next, 0)).collect()
}

/// How many columns the schema needs.
pub(crate) fn num_columns(nodes: &[Node]) -> usize {
    leaves(nodes).len()
}

fn node(field: &FieldRef, next: &mut u32, depth: usize) -> Result<Node> {
    if depth >= MAX_DEPTH {
        return Err(Error::unsupported(format!("fields nested deeper than {MAX_DEPTH}")));
    }
    let leaf = |next: &mut u32, kind| -> Result<Node> {
        let column = *next;
        *next = next
            .checked_add(1)
            .ok_or_else(|| Error::unsupported("a schema with more than 2^32 columns"))?;
        Ok(Node::Leaf(Leaf { field: field.clone(), stored: field.clone(), column, kind }))
    };
    let child =
        |child: &FieldRef, next: &mut u32| node(child, next, depth.saturating_add(1)).map(Box::new);
    Ok(match field.data_type() {
        DataType::Struct(fields) if fields.is_empty() => leaf(next, LeafKind::EmptyStruct)?,
        DataType::Struct(_) if is_packed(field) || is_blob(field) => {
            // A blob of the second kind is a packed struct that tells where its bytes are.
            leaf(next, LeafKind::PackedStruct)?
        }
        DataType::Struct(fields) => {
            let children = fields.iter().map(|child| node(child, next, depth.saturating_add(1)));
            Node::Struct { field: field.clone(), children: children.collect::<Result<_>>()? }
        }
        DataType::List(item) => {
            Node::List { field: field.clone(), large: false, child: child(item, next)? }
        }
        DataType::LargeList(item) => {
            Node::List { field: field.clone(), large: true, child: child(item, next)? }
        }
        DataType::Map(entries, _) => {
            Node::Map { field: field.clone(), child: child(entries, next)? }
        }
        DataType::FixedSizeList(item, dimension)
            if matches!(item.data_type(), DataType::Struct(_)) =>
        {
            let dimension = u64::try_from(*dimension).map_err(|_| {
                Error::unsupported(format!("a fixed-size list of {dimension} items"))
            })?;
            Node::FixedSizeList { field: field.clone(), dimension, child: child(item, next)? }
        }
        DataType::LargeBinary if is_blob(field) => leaf(next, LeafKind::Blob)?,
        _ => leaf(next, LeafKind::Values)?,
    })
}

pub(crate) fn is_blob(field: &Field) -> bool {
    field.metadata().contains_key(BLOB_KEY) || is_blob_v2(field)
}

pub(crate) fn is_blob_v2(field: &Field) -> bool {
    field.metadata().get(EXTENSION_NAME).is_some_and(|name| name == BLOB_V2)
}

/// Writers of all ages spelled the mark in several ways.
pub(crate) fn is_packed(field: &Field) -> bool {
    PACKED_KEYS.iter().any(|key| field.metadata().get(*key).is_some_and(|value| is_truthy(value)))
}

pub(crate) fn is_truthy(value: &str) -> bool {
    ["1", "true", "on", "yes", "y"].iter().any(|truthy| value.eq_ignore_ascii_case(truthy))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn marked(name: &str, data_type: DataType, key: &str, value: &str) -> Field {
        Field::new(name, data_type, true).with_metadata([(key.into(), value.into())].into())
    }

    fn list(item: Field) -> DataType {
        DataType::List(Arc::new(item))
    }

    fn structure(fields: Vec<Field>) -> DataType {
        DataType::Struct(fields.into())
    }

    /// The worked example of the format.
    fn example() -> Schema {
        use DataType::*;
        let field = |name: &str, data_type| Field::new(name, data_type, true);
        let packed = || structure(vec![field("m", Int32), field("n", Int32)]);
        let t = structure(vec![field("u", Int8), field("v", Utf8)]);
        let w = structure(vec![field("x", Int16), field("y", list(field("y.item", Int64)))]);
        Schema::new(vec![
            field("a", Int32),
            field("s", structure(vec![field("t", t), field("w", list(field("item", w)))])),
            marked("pk", packed(), "lance-encoding:packed", "TRUE"),
            marked("bl", LargeBinary, BLOB_KEY, "false"),
            field("fs", FixedSizeList(Arc::new(field("item", Float32)), 2)),
            field("em", structure(vec![])),
            field("lp", list(marked("lp.item", packed(), "packed", "true"))),
            field("d", Dictionary(Int8.into(), Utf8.into())),
            field("z", Boolean),
        ])
    }

    #[test]
    fn only_leaves_own_columns() {
        let nodes = columns_of(&example()).unwrap();
        let seen: Vec<_> =
            leaves(&nodes).iter().map(|l| (l.column, l.field.name().clone(), l.kind)).collect();
        let names = ["a", "u", "v", "x", "y.item", "pk", "bl", "fs", "em", "lp.item", "d", "z"];
        use LeafKind::*;
        let kinds = [
            Values,
            Values,
            Values,
            Values,
            Values,
            PackedStruct,
            Blob,
            Values,
            EmptyStruct,
            PackedStruct,
            Values,
            Values,
        ];
        let expected: Vec<_> = (0u32..)
            .zip(names)
            .zip(kinds)
            .map(|((column, name), kind)| (column, name.to_string(), kind))
            .collect();
        assert_eq!(seen, expected);
        assert_eq!(num_columns(&nodes), 12);
    }

    #[test]
    fn maps_and_fixed_size_lists_of_structs_own_none() {
        let entries = structure(vec![
            Field::new("key", DataType::Utf8, false),
            Field::new("value", DataType::Int32, true),
        ]);
        let map = DataType::Map(Arc::new(Field::new("entries", entries.clone(), false)), false);
        let fsl = DataType::FixedSizeList(Arc::new(Field::new("item", entries, true)), 3);
        let schema = Schema::new(vec![Field::new("m", map, true), Field::new("f", fsl, true)]);
        let nodes = columns_of(&schema).unwrap();
        assert_eq!(leaves(&nodes).iter().map(|l| l.column).collect::<Vec<_>>(), [0, 1, 2, 3]);
        assert!(matches!(&nodes[0], Node::Map { child, .. }
            if matches!(child.as_ref(), Node::Struct { children, .. } if children.len() == 2)));
        assert!(matches!(nodes[1], Node::FixedSizeList { dimension: 3, .. }));
    }

    #[test]
    fn marks() {
        for (value, packed) in [("y", true), ("On", true), ("1", true), ("false", false)] {
            assert_eq!(is_packed(&marked("p", DataType::Null, "packed", value)), packed);
        }
        assert!(is_blob(&marked("b", DataType::LargeBinary, EXTENSION_NAME, BLOB_V2)));
        assert!(!is_blob(&Field::new("b", DataType::LargeBinary, true)));
        // The mark of packed structs means nothing elsewhere.
        let list = marked("l", list(Field::new("item", DataType::Int8, true)), "packed", "true");
        assert!(matches!(columns_of(&Schema::new(vec![list])).unwrap()[0], Node::List { .. }));
    }

    #[test]
    fn depth_is_limited() {
        let nest = |depth: usize| {
            let field = (0..depth).fold(Field::new("leaf", DataType::Int8, true), |inner, _| {
                Field::new("s", structure(vec![inner]), true)
            });
            columns_of(&Schema::new(vec![field]))
        };
        assert!(nest(MAX_DEPTH - 1).is_ok());
        assert!(matches!(nest(MAX_DEPTH), Err(Error::Unsupported(_))));
    }
}
