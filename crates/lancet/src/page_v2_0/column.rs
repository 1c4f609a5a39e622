//! The checked pages of a column.
//!
//! | column of a | pages | column encoding |
//! |---|---|---|
//! | struct | one without buffers | `values` |
//! | list | ends of lists | `values` |
//! | leaf | arrays | `values`, or `blob` if the bytes lie elsewhere |
//!
//! `zone_index` may stand around any of them, and the oldest writers gave no encoding at all.

use std::ops::Range;

use prost::Message as _;

use super::array::Array;
use super::encoding::{Buffers, Parser, name};
use super::ends::Ends;
use crate::codec::ValueType;
use crate::container::zone_place::FoundPlace;
use crate::container::{Column, PageEncoding};
use crate::error::{Error, Locate, Result, ensure};
use crate::proto::encodings::array_encoding::ArrayEncoding as Message;
use crate::proto::encodings::{ArrayEncoding, ColumnEncoding, column_encoding};
use crate::schema::leaves::LeafType;
use crate::span::Span;

/// What the schema says about a column.
#[derive(Debug, Clone)]
pub(crate) enum Role {
    Struct,
    List,
    Leaf(LeafType),
}

/// A column whose metadata has been read and checked.
#[derive(Debug)]
pub(crate) struct ArrayColumn {
    pub(crate) number: u32,
    /// In row order; none without rows.
    pub(crate) pages: Vec<ArrayPage>,
    pub(crate) num_rows: u64,
    /// Items of all lists; 0 for other columns.
    pub(crate) num_items: u64,
    /// Whether its values lie elsewhere in the file.
    pub(super) is_blob: bool,
    /// Whether it has nothing but pages: no zone map, no blobs, no buffers of its own.
    pub(crate) is_plain: bool,
    pub(crate) zone_map: FoundPlace,
}

/// A page of a column.
#[derive(Debug)]
pub(crate) struct ArrayPage {
    /// Number of the page in the column, as stored.
    pub(crate) number: u32,
    pub(crate) first_row: u64,
    pub(crate) num_rows: u64,
    pub(crate) buffers: Vec<Span>,
    pub(super) content: Content,
}

/// What a page holds.
#[derive(Debug)]
pub(super) enum Content {
    Struct,
    /// Where the lists of the page end, and the number of its first item.
    List {
        ends: Ends,
        first_item: u64,
        num_items: u64,
    },
    Array(Array),
}

impl ArrayColumn {
    /// Checks the pages of a column against what the schema says about it.
    pub(crate) fn new(column: Column, number: u32, role: &Role, file: &[Span]) -> Result<Self> {
        let is_blob = is_blob(column.encoding.as_ref())?;
        let is_bytes = |leaf: &LeafType| leaf.values == ValueType::Variable { offset_bits: 64 };
        ensure!(
            !is_blob || matches!(role, Role::Leaf(leaf) if leaf.blob || is_bytes(leaf)),
            "blobs in a column that is not large binary"
        );
        let mut parsed = Self {
            number,
            pages: Vec::with_capacity(column.pages.len()),
            num_rows: column.num_rows,
            num_items: 0,
            is_blob,
            is_plain: column.zone_map.is_none() && !is_blob && column.buffers.is_empty(),
            zone_map: column.zone_map.clone(),
        };
        for page in column.pages {
            let PageEncoding::Array(bytes) = &page.encoding else {
                return Err(Error::corrupt("a page of another version")).in_page(page.number);
            };
            let message = ArrayEncoding::decode(bytes.as_slice())
                .map_err(|e| Error::corrupt(format!("the page encoding does not decode: {e}")));
            let buffers = Buffers { page: &page.buffers, column: &column.buffers, file };
            let content = message
                .and_then(|message| parsed.content(&message, role, page.num_rows, buffers))
                .in_page(page.number)?;
            parsed.pages.push(ArrayPage {
                number: page.number,
                first_row: page.first_row,
                num_rows: page.num_rows,
                buffers: page.buffers,
                content,
            });
        }
        let single = !matches!(role, Role::Struct) || parsed.pages.len() <= 1;
        ensure!(single, "a struct has {} pages instead of one", parsed.pages.len());
        Ok(parsed)
    }

    fn content(
        &mut self,
        message: &ArrayEncoding,
        role: &Role,
        num_rows: u64,
        buffers: Buffers<'_>,
    ) -> Result<Content> {
        let parser = Parser { buffers };
        Ok(match role {
            Role::Struct => {
                let found = message.array_encoding.as_ref();
                ensure!(
                    matches!(found, Some(Message::Struct(_))),
                    "the page of a struct is `{}`",
                    found.map_or("unknown", name)
                );
                ensure!(buffers.page.is_empty(), "the page of a struct has buffers");
                Content::Struct
            }
            Role::List => {
                let (ends, num_items) = parser.list(message, num_rows)?;
                let first_item = self.num_items;
                let sum = first_item.checked_add(num_items);
                self.num_items = sum.ok_or_else(|| Error::corrupt("too many items of lists"))?;
                Content::List { ends, first_item, num_items }
            }
            Role::Leaf(_) if self.is_blob => Content::Array(parser.blobs(message, num_rows)?),
            Role::Leaf(leaf) => {
                let bytes = ValueType::Variable { offset_bits: 64 };
                // Marked as blobs, but stored like other bytes.
                let values = if leaf.blob { &bytes } else { &leaf.values };
                Content::Array(parser.leaf(
                    message,
                    values,
                    leaf.keys.map(|keys| keys.bits),
                    num_rows,
                )?)
            }
        })
    }

    /// The pages that hold some rows, with the rows counted from the start of each page.
    pub(super) fn pages_of(&self, rows: &[Range<u64>]) -> Result<Vec<(usize, Vec<Range<u64>>)>> {
        let mut pages: Vec<(usize, Vec<Range<u64>>)> = Vec::new();
        for range in rows {
            ensure!(
                range.end <= self.num_rows,
                "rows {range:?} are wanted of {} rows",
                self.num_rows
            );
            let mut start = range.start;
            let first = self.pages.partition_point(|page| page.first_row <= start);
            for (i, page) in self.pages.iter().enumerate().skip(first.saturating_sub(1)) {
                if start >= range.end {
                    break;
                }
                let stop = range.end.min(page.first_row.saturating_add(page.num_rows));
                let local = |row: u64| row.saturating_sub(page.first_row);
                let part = local(start)..local(stop);
                start = stop;
                match pages.last_mut() {
                    Some((known, rows)) if *known == i => rows.push(part),
                    _ => pages.push((i, vec![part])),
                }
            }
        }
        Ok(pages)
    }

    pub(super) fn page(&self, i: usize) -> Result<&ArrayPage> {
        self.pages.get(i).ok_or_else(|| Error::corrupt(format!("page {i} is missing")))
    }

    /// Bytes of the buffers of all pages.
    pub(crate) fn stored_bytes(&self) -> u64 {
        Span::total(self.pages.iter().flat_map(|page| &page.buffers))
    }
}

impl ArrayPage {
    /// Whether no byte vouches for the number of rows.
    pub(crate) fn has_no_bytes(&self) -> bool {
        self.buffers.iter().all(Span::is_empty)
    }
}

/// Whether a column encoding says that values lie elsewhere.
fn is_blob(encoding: Option<&ColumnEncoding>) -> Result<bool> {
    let mut encoding = encoding;
    let mut blob = false;
    // Zone maps around blobs are the most there can be.
    for _ in 0..4 {
        match encoding.map(|e| &e.encoding) {
            None | Some(Some(column_encoding::Encoding::Values(_))) => return Ok(blob),
            Some(Some(column_encoding::Encoding::ZoneIndex(m))) => encoding = m.inner.as_deref(),
            Some(Some(column_encoding::Encoding::Blob(m))) => {
                ensure!(!blob, "blobs of blobs");
                blob = true;
                encoding = m.inner.as_deref();
            }
            Some(None) => return Err(Error::corrupt("the column encoding is unknown")),
        }
    }
    Err(Error::corrupt("column encodings nest too deep"))
}
