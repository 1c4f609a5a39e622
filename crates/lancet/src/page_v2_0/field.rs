//! Reads rows of a field: of all its columns, those of items once it is known which are wanted.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::{ArrayRef, StructArray};
use arrow_schema::DataType;
use bytes::Bytes;

use super::column::Role;
use super::columns::Columns;
use super::count_in;
use super::index::ArrayIndex;
use super::leaf::LeafRead;
use super::list::ListRead;
use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::schema::byte_array::byte_array;
use crate::schema::columns::{Leaf, LeafKind, Node};
use crate::schema::descriptions::is_described;
use crate::schema::to_arrow::{list_array, refused};
use crate::span::Span;

/// What reads need of their file.
pub(crate) struct Shared<'a> {
    pub(crate) columns: &'a Columns,
    /// The index of a page, by column and page number, if it is known.
    pub(crate) find: &'a dyn Fn(u32, u32) -> Option<Arc<ArrayIndex>>,
    /// Keeps the index of a page.
    pub(crate) keep: &'a dyn Fn(u32, u32, Arc<ArrayIndex>),
    pub(crate) budget: &'a Budget,
    /// Where the data of the file ends.
    pub(crate) data_end: u64,
}

/// A read in progress. The node it is for, with the number of structs and lists around it, is
/// handed to it each time.
#[derive(Debug)]
pub(crate) enum FieldRead {
    Leaf(LeafRead),
    /// A struct without fields.
    Empty(usize),
    Struct(Vec<FieldRead>),
    List {
        ends: ListRead,
        items: Option<Box<FieldRead>>,
    },
    /// Strings as lists of bytes.
    SplitStrings {
        ends: ListRead,
        bytes: Option<LeafRead>,
    },
}

impl FieldRead {
    /// Starts to read rows, which are sorted and disjoint.
    pub(crate) fn new(
        node: &Node,
        depth: usize,
        rows: &[Range<u64>],
        shared: &Shared<'_>,
    ) -> Result<Self> {
        let number = shared.columns.of_node(node, depth)?;
        Ok(match node {
            Node::Leaf(leaf) if leaf.kind == LeafKind::EmptyStruct => Self::Empty(count_in(rows)?),
            Node::Leaf(_) => {
                let column = shared.columns.loaded(number)?;
                match shared.columns.role(number)? {
                    Role::Leaf(leaf) => Self::Leaf(LeafRead::new(column, leaf, rows, shared)?),
                    _ => Self::SplitStrings { ends: ListRead::new(column, rows)?, bytes: None },
                }
            }
            Node::Struct { children, .. } => {
                let depth = depth.saturating_add(1);
                let children = children.iter().map(|child| Self::new(child, depth, rows, shared));
                Self::Struct(children.collect::<Result<_>>()?)
            }
            Node::List { .. } => {
                let ends = ListRead::new(shared.columns.loaded(number)?, rows)?;
                Self::List { ends, items: None }
            }
            Node::Map { .. } | Node::FixedSizeList { .. } => return Err(mismatch()),
        })
    }

    pub(crate) fn is_done(&self) -> bool {
        match self {
            Self::Leaf(leaf) => leaf.is_done(),
            Self::Empty(_) => true,
            Self::Struct(children) => children.iter().all(Self::is_done),
            Self::List { items, .. } => items.as_ref().is_some_and(|items| items.is_done()),
            Self::SplitStrings { bytes, .. } => bytes.as_ref().is_some_and(LeafRead::is_done),
        }
    }

    /// Adds the spans whose bytes are needed next.
    pub(crate) fn wants(&self, node: &Node, out: &mut Vec<Span>) -> Result<()> {
        match (self, node) {
            (Self::Empty(_), _) => Ok(()),
            (Self::Leaf(read), Node::Leaf(leaf)) => read.wants(is_described(leaf), out),
            (Self::Struct(reads), Node::Struct { children, .. }) => {
                let mut reads = reads.iter().zip(children);
                reads.try_for_each(|(read, child)| read.wants(child, out))
            }
            (Self::List { ends, items: None }, _) => ends.wants(out),
            (Self::List { items: Some(items), .. }, Node::List { child, .. }) => {
                items.wants(child, out)
            }
            (Self::SplitStrings { ends, bytes: None }, _) => ends.wants(out),
            (Self::SplitStrings { bytes: Some(bytes), .. }, _) => bytes.wants(false, out),
            _ => Err(mismatch()),
        }
    }

    /// Takes the bytes of [`FieldRead::wants`] out of `bytes`.
    pub(crate) fn supply(
        &mut self,
        node: &Node,
        depth: usize,
        bytes: &mut dyn Iterator<Item = Bytes>,
        shared: &Shared<'_>,
    ) -> Result<()> {
        let below = depth.saturating_add(1);
        match (self, node) {
            (Self::Empty(_), _) => Ok(()),
            (Self::Leaf(read), Node::Leaf(leaf)) => read.supply(bytes, is_described(leaf), shared),
            (Self::Struct(reads), Node::Struct { children, .. }) => {
                let mut reads = reads.iter_mut().zip(children);
                reads.try_for_each(|(read, child)| read.supply(child, below, bytes, shared))
            }
            (Self::List { ends, items }, Node::List { child, .. }) => match items {
                Some(items) => items.supply(child, below, bytes, shared),
                None => {
                    let lists = ends.supply(bytes, shared.budget)?;
                    *items = Some(Box::new(Self::new(child, below, &lists.items, shared)?));
                    Ok(())
                }
            },
            (Self::SplitStrings { ends, bytes: read }, Node::Leaf(leaf)) => match read {
                Some(read) => read.supply(bytes, false, shared),
                None => {
                    let lists = ends.supply(bytes, shared.budget)?;
                    let column = shared.columns.bytes_column(leaf.column);
                    let column = shared.columns.loaded(column.ok_or_else(mismatch)?)?;
                    let Role::Leaf(leaf) = shared.columns.role(column.number)? else {
                        return Err(mismatch());
                    };
                    *read = Some(LeafRead::new(column, leaf, &lists.items, shared)?);
                    Ok(())
                }
            },
            _ => Err(mismatch()),
        }
    }

    /// The rows as an array.
    pub(crate) fn finish(self, node: &Node) -> Result<ArrayRef> {
        match (self, node) {
            (Self::Empty(len), Node::Leaf(_)) => {
                Ok(Arc::new(StructArray::new_empty_fields(len, None)))
            }
            (Self::Leaf(read), Node::Leaf(leaf)) => read.finish(leaf),
            (Self::Struct(reads), Node::Struct { field, children }) => {
                let parts = reads.into_iter().zip(children);
                let parts = parts.map(|(read, child)| read.finish(child));
                let DataType::Struct(fields) = field.data_type() else { return Err(mismatch()) };
                let array =
                    StructArray::try_new(fields.clone(), parts.collect::<Result<_>>()?, None);
                Ok(Arc::new(array.map_err(refused)?))
            }
            (Self::List { ends, items: Some(items) }, Node::List { field, large, child }) => {
                let items = items.finish(child)?;
                let (offsets, nulls) = ends.into_lists()?.finish(*large)?;
                list_array(field, offsets, items, nulls)
            }
            (Self::SplitStrings { ends, bytes: Some(bytes) }, Node::Leaf(leaf)) => {
                split_strings(leaf, ends, bytes)
            }
            _ => Err(mismatch()),
        }
    }
}

fn split_strings(leaf: &Leaf, ends: ListRead, bytes: LeafRead) -> Result<ArrayRef> {
    let data_type = leaf.field.data_type();
    let large = matches!(data_type, DataType::LargeUtf8 | DataType::LargeBinary);
    let lists = ends.into_lists()?;
    let (offsets, nulls) = lists.finish(large)?;
    byte_array(data_type, offsets, bytes.into_bytes()?.into_buffer(), nulls)
}

fn mismatch() -> Error {
    Error::corrupt("the columns do not fit the schema")
}
