//! The leaf columns of a tree of fields: what their pages hold, and what rows they make.

use super::columns::{LeafKind, Node};
use super::descriptions::is_described;
use super::value_type::{key_type, value_type};
use crate::codec::{KeyType, ValueType};
use crate::error::{Result, ensure};
use crate::levels::LayerKind;

/// What the pages of one leaf column hold.
#[derive(Debug, Clone)]
pub(crate) struct LeafType {
    /// One value; for dictionary columns one dictionary entry.
    pub(crate) values: ValueType,
    /// The keys when the leaf is an Arrow dictionary.
    pub(crate) keys: Option<KeyType>,
    /// Payloads lie outside the pages.
    pub(crate) blob: bool,
    /// Layers from the leaf outwards.
    pub(crate) kinds: Vec<LayerKind>,
}

/// One column of the file and what the schema says about it.
#[derive(Debug, Clone)]
pub(crate) struct LeafColumnType {
    pub(crate) column: u32,
    pub(crate) leaf: LeafType,
    /// A blob of which only the description is wanted.
    pub(crate) described: bool,
    /// Page lengths count this many entries a row (fixed-size lists of structs).
    entries_per_row: u64,
}

impl LeafColumnType {
    /// Whether its values have different lengths.
    pub(crate) fn is_text(&self) -> bool {
        matches!(self.leaf.values, ValueType::Variable { .. })
    }

    /// Rows that a number of entries make up.
    pub(crate) fn rows_of_entries(&self, entries: u64) -> Result<u64> {
        ensure!(
            entries.is_multiple_of(self.entries_per_row),
            "{entries} entries do not make whole rows of {}",
            self.entries_per_row
        );
        Ok(entries.checked_div(self.entries_per_row).unwrap_or(0))
    }

    /// The entry at which a row starts.
    pub(crate) fn first_entry(&self, row: u64) -> u64 {
        row.saturating_mul(self.entries_per_row)
    }
}

/// The leaves of a schema tree, in the order in which they are assembled.
pub(crate) fn leaves_of(nodes: &[Node]) -> Result<Vec<LeafColumnType>> {
    let mut leaves = Vec::new();
    let mut outer = Vec::new();
    for node in nodes {
        collect(node, &mut outer, 1, &mut leaves)?;
    }
    Ok(leaves)
}

/// `outer` holds the layers around the node, the outermost first.
fn collect(
    node: &Node,
    outer: &mut Vec<LayerKind>,
    entries_per_row: u64,
    leaves: &mut Vec<LeafColumnType>,
) -> Result<()> {
    match node {
        Node::Leaf(leaf) => {
            let outer = match leaf.kind {
                // Structs without fields store no nesting.
                LeafKind::EmptyStruct => &[][..],
                _ => outer.as_slice(),
            };
            let kinds = [LayerKind::Item].into_iter().chain(outer.iter().rev().copied()).collect();
            let leaf_type = LeafType {
                values: value_type(leaf)?,
                keys: key_type(leaf.field.data_type()),
                blob: leaf.kind == LeafKind::Blob,
                kinds,
            };
            leaves.push(LeafColumnType {
                column: leaf.column,
                leaf: leaf_type,
                described: is_described(leaf),
                entries_per_row,
            });
        }
        Node::Struct { children, .. } => {
            outer.push(LayerKind::Item);
            for child in children {
                collect(child, outer, entries_per_row, leaves)?;
            }
            outer.pop();
        }
        Node::List { large, child, .. } => {
            outer.push(LayerKind::List { large: *large });
            collect(child, outer, entries_per_row, leaves)?;
            outer.pop();
        }
        Node::Map { child, .. } => {
            outer.push(LayerKind::List { large: false });
            collect(child, outer, entries_per_row, leaves)?;
            outer.pop();
        }
        Node::FixedSizeList { dimension, child, .. } => {
            outer.push(LayerKind::FixedSizeList { dimension: *dimension });
            let entries_per_row = entries_per_row.saturating_mul(*dimension);
            collect(child, outer, entries_per_row, leaves)?;
            outer.pop();
        }
    }
    Ok(())
}
