//! What a file is made of, as data.

use std::collections::BTreeMap;

use arrow_schema::DataType;

use crate::container::FileIndex;
use crate::container::footer::FOOTER_BYTES;
use crate::error::Result;
use crate::page::Page;
use crate::page_v2_0::Columns;
use crate::page_v2_0::column::ArrayPage;
use crate::read::columns::FileColumns;
use crate::read::file::OpenFile;
use crate::read::layouts::LayoutColumns;
use crate::schema::columns::Node;
use crate::span::Span;
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
    /// What lies outside of the columns, by position: global buffers, the metadata of columns, tables, footer.
    pub parts: Vec<BufferReport>,
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
pub(in crate::read) fn report(file: &OpenFile, checksums: Option<Span>) -> Result<FileReport> {
    let columns = match &file.columns {
        FileColumns::Layouts(columns) => layout_columns(file, columns),
        FileColumns::Arrays(columns) => array_columns(file, columns)?,
    };
    Ok(FileReport::new(file, columns, checksums))
}

fn layout_columns(file: &OpenFile, columns: &LayoutColumns) -> Vec<ColumnReport> {
    let mut names = Vec::new();
    for node in &file.nodes {
        name_leaves(node, "", &mut names);
    }
    let mut reports = Vec::new();
    for (leaf, (name, data_type)) in file.everything().leaves().iter().zip(names) {
        let Some(column) = columns.get(leaf.column) else { continue };
        let pages = column.pages.iter().map(layout_page).collect();
        reports.push(ColumnReport::new(file, leaf.column, (name, data_type), pages));
    }
    reports
}

fn layout_page(page: &Page) -> PageReport {
    let layout = &page.layout;
    PageReport::new(page.num_rows, layout.describe(), &page.buffers, layout.buffer_names())
}

fn array_columns(file: &OpenFile, columns: &Columns) -> Result<Vec<ColumnReport>> {
    let mut names = BTreeMap::new();
    for node in &file.nodes {
        name_columns(columns, node, 0, "", &mut names)?;
    }
    let mut reports = Vec::new();
    for (index, name) in names {
        let Some(column) = columns.get(index) else { continue };
        let pages = column.pages.iter().map(array_page).collect();
        reports.push(ColumnReport::new(file, index, name, pages));
    }
    Ok(reports)
}

fn array_page(page: &ArrayPage) -> PageReport {
    PageReport::new(page.num_rows, page.describe(), &page.buffers, page.buffer_names())
}

impl FileReport {
    fn new(file: &OpenFile, columns: Vec<ColumnReport>, checksums: Option<Span>) -> Self {
        let index = &file.index;
        Self {
            version: index.version,
            file_bytes: index.file_bytes,
            num_rows: index.num_rows,
            data_bytes: columns.iter().map(|column| column.bytes).sum(),
            metadata_bytes: index.file_bytes.saturating_sub(index.data_end),
            global_buffers: index.global_buffers.iter().map(Span::len).collect(),
            parts: parts(index, checksums),
            columns,
        }
    }
}

impl ColumnReport {
    fn new(
        file: &OpenFile,
        index: u32,
        (name, data_type): (String, DataType),
        pages: Vec<PageReport>,
    ) -> Self {
        let bytes = pages.iter().map(|page| page.bytes).sum();
        let zone_map = zone_map(file, index);
        Self { index, name, data_type, bytes, pages, zone_map }
    }
}

impl PageReport {
    /// Layout and encoding in words, with the layout said once.
    pub fn form(&self) -> String {
        if self.encoding.starts_with(&self.layout) {
            self.encoding.clone()
        } else if self.encoding.is_empty() {
            self.layout.clone()
        } else {
            format!("{}: {}", self.layout, self.encoding)
        }
    }

    /// `holds` says what each buffer holds.
    fn new(
        num_rows: u64,
        (layout, encoding): (&str, String),
        buffers: &[Span],
        holds: Vec<&str>,
    ) -> Self {
        let buffers = buffers.iter().zip(holds).map(|(span, holds)| BufferReport {
            holds: holds.into(),
            position: span.start(),
            bytes: span.len(),
        });
        let buffers: Vec<BufferReport> = buffers.collect();
        let bytes = buffers.iter().map(|buffer| buffer.bytes).sum();
        Self { num_rows, layout: layout.into(), encoding, bytes, buffers }
    }
}

/// What lies outside of the columns.
fn parts(index: &FileIndex, checksums: Option<Span>) -> Vec<BufferReport> {
    let part = |holds: String, span: Span| BufferReport {
        holds,
        position: span.start(),
        bytes: span.len(),
    };
    let global = index.global_buffers.iter().enumerate().map(|(number, span)| match number {
        0 => part("schema".into(), *span),
        _ if checksums == Some(*span) => part("checksums".into(), *span),
        _ => part(format!("global buffer {number}"), *span),
    });
    let mut parts: Vec<BufferReport> = global.collect();
    let columns = index.columns.iter().enumerate();
    parts.extend(columns.map(|(number, span)| part(format!("metadata of column {number}"), *span)));
    let [columns, buffers] = index.tables;
    parts.push(part("table of columns".into(), columns));
    parts.push(part("table of global buffers".into(), buffers));
    let footer = index.file_bytes.saturating_sub(FOOTER_BYTES);
    parts.push(part("footer".into(), Span::between(footer, index.file_bytes)));
    parts.retain(|part| part.bytes > 0);
    parts.sort_by_key(|part| part.position);
    parts
}

/// The zone map of a column that is loaded, as far as it can be found.
fn zone_map(file: &OpenFile, column: u32) -> Option<BufferReport> {
    let (place, _) = file.zone_place(column)?;
    let place = place.ok()?;
    let holds = format!("zone map, {} rows a zone", place.rows_per_zone);
    Some(BufferReport { holds, position: place.span.start(), bytes: place.span.len() })
}

fn name_leaves(node: &Node, prefix: &str, names: &mut Vec<(String, DataType)>) {
    let name = dotted(prefix, node);
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

/// Names of the columns of 2.0, structs and lists included.
fn name_columns(
    columns: &Columns,
    node: &Node,
    depth: usize,
    prefix: &str,
    names: &mut BTreeMap<u32, (String, DataType)>,
) -> Result<()> {
    let name = dotted(prefix, node);
    for child in node.children() {
        name_columns(columns, child, depth.saturating_add(1), &name, names)?;
    }
    for column in columns.own(node, depth)? {
        names.insert(column, (name.clone(), node.field().data_type().clone()));
    }
    Ok(())
}

fn dotted(prefix: &str, node: &Node) -> String {
    match prefix {
        "" => node.field().name().clone(),
        prefix => format!("{prefix}.{}", node.field().name()),
    }
}
