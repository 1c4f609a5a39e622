//! Reads rows of one column by itself, to see whether they can be read.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;

use super::column::{ArrayColumn, Role};
use super::field::Shared;
use super::leaf::LeafRead;
use super::list::ListRead;
use crate::error::Result;
use crate::schema::columns::{Leaf, Node};
use crate::span::Span;

/// A read in progress.
#[derive(Debug)]
pub(crate) enum ColumnRead {
    Leaf { read: Box<LeafRead>, number: u32, is_blob: bool },
    List { read: ListRead, is_done: bool },
}

impl ColumnRead {
    /// `None` for structs, which have nothing to read.
    pub(crate) fn new(
        column: &Arc<ArrayColumn>,
        rows: &Range<u64>,
        shared: &Shared<'_>,
    ) -> Result<Option<Self>> {
        let rows = std::slice::from_ref(rows);
        let (number, is_blob) = (column.number, column.is_blob);
        Ok(match shared.columns.role(number)? {
            Role::Struct => None,
            Role::List => {
                let read = ListRead::new(column.clone(), rows)?;
                Some(Self::List { read, is_done: false })
            }
            Role::Leaf(leaf) => {
                let read = Box::new(LeafRead::new(column.clone(), leaf, rows, shared)?);
                Some(Self::Leaf { read, number, is_blob })
            }
        })
    }

    pub(crate) fn is_done(&self) -> bool {
        match self {
            Self::Leaf { read, .. } => read.is_done(),
            Self::List { is_done, .. } => *is_done,
        }
    }

    /// Adds the spans whose bytes are needed next. Payloads of blobs are not wanted.
    pub(crate) fn wants(&self, out: &mut Vec<Span>) -> Result<()> {
        match self {
            Self::Leaf { read, .. } => read.wants(true, out),
            Self::List { read, .. } => read.wants(out),
        }
    }

    /// Takes the bytes of [`ColumnRead::wants`] out of `bytes`.
    pub(crate) fn supply(
        &mut self,
        bytes: &mut dyn Iterator<Item = Bytes>,
        shared: &Shared<'_>,
    ) -> Result<()> {
        match self {
            Self::Leaf { read, .. } => read.supply(bytes, true, shared),
            Self::List { read, is_done } => {
                *is_done = true;
                read.supply(bytes, shared.budget).map(|_| ())
            }
        }
    }

    /// Makes an array of the values of a leaf.
    pub(crate) fn finish(self, node: &Node) -> Result<()> {
        match (self, node) {
            (Self::Leaf { read, number, is_blob: false }, Node::Leaf(leaf)) => {
                let Leaf { column, .. } = leaf;
                if *column == number {
                    read.finish(leaf).map(|_| ())
                } else {
                    // The bytes of strings that have two columns.
                    read.into_bytes().map(|_| ())
                }
            }
            _ => Ok(()),
        }
    }
}
