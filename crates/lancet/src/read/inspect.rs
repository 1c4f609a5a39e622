//! What a file is made of, as data.

use std::ops::Range;

use arrow_schema::DataType;

use super::file::OpenFile;
use super::projected::ProjectedColumns;
use crate::error::Result;
use crate::page::Page;
use crate::schema::columns::Node;
use crate::version::Version;

/// What a file is made of.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct FileReport {
    /// Format version.
    pub version: Version,
    /// Size of the file.
    pub file_bytes: u64,
    /// Rows of the file.
    pub num_rows: u64,
    /// Bytes of the pages of all columns.
    pub data_bytes: u64,
    /// Bytes of the schema, the column metadata, the tables and the footer.
    pub metadata_bytes: u64,
    /// Sizes of the global buffers; number 0 is the schema.
    pub global_buffers: Vec<u64>,
    /// One entry for each column of the file.
    pub columns: Vec<ColumnReport>,
}

/// One column of a file: the values of one leaf of the schema. In 2.0 structs and lists have
/// columns too.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ColumnReport {
    /// Column number.
    pub index: u32,
    /// Names from the top-level field down to the leaf, joined with dots.
    pub name: String,
    /// The leaf's type.
    pub data_type: DataType,
    /// Bytes of all pages.
    pub bytes: u64,
    /// The pages, in row order.
    pub pages: Vec<PageReport>,
    /// The zone map, if it has one.
    pub zone_map: Option<BufferReport>,
}

/// One page of a column.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PageReport {
    /// Rows of the page.
    pub num_rows: u64,
    /// `mini-block`, `full-zip`, `constant` or `blob`; in 2.0 `array`, `list`, `struct` or `blob`.
    pub layout: String,
    /// The encoding tree in words, outermost first.
    pub encoding: String,
    /// Bytes of all buffers.
    pub bytes: u64,
    /// The buffers, in file order.
    pub buffers: Vec<BufferReport>,
}

/// One buffer of a page, or of a column.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct BufferReport {
    /// What it holds: chunk words, chunks, dictionary, repetition index, levels, values, zone map.
    pub holds: String,
    /// Where it starts in the file.
    pub position: u64,
    /// Its size.
    pub bytes: u64,
}

/// Describes a file whose columns are all loaded.
pub(super) fn report(file: &OpenFile, projection: &ProjectedColumns) -> Result<FileReport> {
    let mut names = Vec::new();
    for node in &projection.nodes {
        name_leaves(node, "", &mut names);
    }
    let mut columns = Vec::new();
    for (leaf, (name, data_type)) in projection.leaves.iter().zip(names) {
        let Some(column) = file.column(leaf.column) else { continue };
        let pages: Vec<PageReport> = column.pages.iter().map(page_report).collect();
        let bytes = pages.iter().map(|page| page.bytes).sum();
        let zone_map = zone_map(file, leaf.column);
        columns.push(ColumnReport { index: leaf.column, name, data_type, bytes, pages, zone_map });
    }
    Ok(FileReport::new(file, columns))
}

impl FileReport {
    pub(super) fn new(file: &OpenFile, columns: Vec<ColumnReport>) -> Self {
        let size = |span: &Range<u64>| span.end.saturating_sub(span.start);
        let index = &file.index;
        Self {
            version: index.version,
            file_bytes: index.file_bytes,
            num_rows: index.num_rows,
            data_bytes: columns.iter().map(|column| column.bytes).sum(),
            metadata_bytes: index.file_bytes.saturating_sub(index.data_end),
            global_buffers: index.global_buffers.iter().map(size).collect(),
            columns,
        }
    }
}

impl PageReport {
    /// `holds` says what each buffer holds.
    pub(super) fn new(
        num_rows: u64,
        (layout, encoding): (&str, String),
        buffers: &[Range<u64>],
        holds: Vec<&str>,
    ) -> Self {
        let buffers = buffers.iter().zip(holds).map(|(span, holds)| BufferReport {
            holds: holds.into(),
            position: span.start,
            bytes: span.end.saturating_sub(span.start),
        });
        let buffers: Vec<BufferReport> = buffers.collect();
        let bytes = buffers.iter().map(|buffer| buffer.bytes).sum();
        Self { num_rows, layout: layout.into(), encoding, bytes, buffers }
    }
}

/// The zone map of a column that is loaded, as far as it can be found.
pub(super) fn zone_map(file: &OpenFile, column: u32) -> Option<BufferReport> {
    let (place, _) = file.zone_place(column)?;
    let place = place.ok()?;
    let holds = format!("zone map, {} rows a zone", place.rows_per_zone);
    Some(BufferReport { holds, position: place.span.start, bytes: place.size_bytes() })
}

fn name_leaves(node: &Node, prefix: &str, names: &mut Vec<(String, DataType)>) {
    let name = match prefix {
        "" => node.field().name().clone(),
        prefix => format!("{prefix}.{}", node.field().name()),
    };
    match node {
        Node::Leaf(leaf) => names.push((name, leaf.field.data_type().clone())),
        Node::Struct { children, .. } => {
            children.iter().for_each(|child| name_leaves(child, &name, names));
        }
        Node::List { child, .. } | Node::Map { child, .. } | Node::FixedSizeList { child, .. } => {
            name_leaves(child, &name, names);
        }
    }
}

fn page_report(page: &Page) -> PageReport {
    let layout = &page.layout;
    PageReport::new(page.num_rows, layout.describe(), &page.buffers, layout.buffer_names())
}
