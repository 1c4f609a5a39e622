//! Blob fields as descriptions: where the bytes of each blob lie, instead of the bytes.
//!
//! A described blob is a struct of `position` and `size`, both u64, null where the blob is.

use std::sync::Arc;

use arrow_schema::{DataType, Field, FieldRef, Fields, Schema};

use super::columns::{BLOB_KEY, Leaf, LeafKind, Node};
use super::projection::FileFields;

/// The same fields, blobs described.
pub(crate) fn describe_blobs(projection: &FileFields) -> FileFields {
    let nodes: Vec<Node> = projection.nodes.iter().map(describe).collect();
    let fields: Fields = nodes.iter().map(|node| node.field().clone()).collect();
    let metadata = projection.schema.metadata().clone();
    FileFields { schema: Arc::new(Schema::new_with_metadata(fields, metadata)), nodes }
}

/// Whether the leaf is a blob of which only the description is wanted.
pub(crate) fn is_described(leaf: &Leaf) -> bool {
    leaf.kind == LeafKind::Blob && matches!(leaf.field.data_type(), DataType::Struct(_))
}

/// Blobs stand at the top or in structs, never below lists.
fn describe(node: &Node) -> Node {
    match node {
        Node::Leaf(leaf) if leaf.kind == LeafKind::Blob => {
            let number = |name| Field::new(name, DataType::UInt64, false);
            let fields = Fields::from(vec![number("position"), number("size")]);
            let mut metadata = leaf.field.metadata().clone();
            metadata.remove(BLOB_KEY);
            let field = leaf.field.as_ref().clone().with_data_type(DataType::Struct(fields));
            Node::Leaf(Leaf { field: Arc::new(field.with_metadata(metadata)), ..leaf.clone() })
        }
        Node::Struct { field, children } => {
            let children: Vec<Node> = children.iter().map(describe).collect();
            let fields: Fields = children.iter().map(|child| child.field().clone()).collect();
            let field: FieldRef =
                Arc::new(field.as_ref().clone().with_data_type(DataType::Struct(fields)));
            Node::Struct { field, children }
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::columns::{columns_of, leaves};

    #[test]
    fn only_blobs_change_their_type() {
        let marks = [(BLOB_KEY, "true"), ("k", "v")].map(|(k, v)| (k.to_owned(), v.to_owned()));
        let blob = Field::new("b", DataType::LargeBinary, true).with_metadata(marks.into());
        let plain = Field::new("p", DataType::LargeBinary, true);
        let inner = Field::new("s", DataType::Struct(vec![plain, blob].into()), true);
        let schema = Arc::new(Schema::new(vec![inner]));
        let nodes = columns_of(&schema).unwrap();
        let described = describe_blobs(&FileFields { schema, nodes });
        let found: Vec<bool> = leaves(&described.nodes).into_iter().map(is_described).collect();
        assert_eq!(found, [false, true]);
        let DataType::Struct(fields) = described.schema.field(0).data_type() else { panic!() };
        assert_eq!(*fields[0].data_type(), DataType::LargeBinary);
        assert_eq!(fields[1].data_type().to_string().matches("UInt64").count(), 2);
        assert_eq!(*fields[1].metadata(), [("k".to_owned(), "v".to_owned())].into());
    }
}
