//! Opening a file: its end, and whatever of its beginning the schema needs.

use std::sync::Arc;

use bytes::Bytes;

use super::arrays;
use super::columns::FileColumns;
use super::file::{OpenFile, within};
use super::layouts::LayoutColumns;
use super::options::ReadOptions;
use super::projection::Projection;
use super::request::Request;
use super::steps::{Io, Steps};
use crate::container::{FileIndex, Tail, cost, tail_span};
use crate::error::{Error, Result, ensure};
use crate::schema::columns::{Node, columns_of, num_columns};
use crate::schema::projection::FileFields;
use crate::span::Span;
use crate::version::Version;

/// Bytes read at the end of a file in the hope that they hold all metadata.
const TAIL_BYTES: u64 = 16 << 10;

impl OpenFile {
    /// Opens a file of `size` bytes: one read if its end holds all metadata.
    pub fn open(size: u64, options: ReadOptions) -> Request<Arc<Self>> {
        Request::new(Steps::start(move |io| async move {
            let tail = io.read_one(tail_span(size, TAIL_BYTES)).await?;
            open(&io, size, tail, options).await
        }))
    }

    /// Opens a file of `size` bytes of which the last ones were read before; how many is the caller's guess.
    pub fn open_with_tail(size: u64, tail: Bytes, options: ReadOptions) -> Request<Arc<Self>> {
        Request::new(Steps::start(move |io| async move { open(&io, size, tail, options).await }))
    }

    /// A file whose index is known; `metadata_bytes` is what its schema takes.
    pub(super) async fn of_index(
        io: &Io,
        index: FileIndex,
        options: ReadOptions,
        metadata_bytes: u64,
    ) -> Result<Arc<Self>> {
        let (nodes, columns, needed) = match index.version {
            Version::V2_0 => {
                let (nodes, arrays) = arrays::columns_of(io, &index, &options).await?;
                let needed = arrays.len();
                (nodes, FileColumns::Arrays(arrays), needed)
            }
            Version::V2_1 | Version::V2_2 => {
                let nodes = columns_of(&index.schema)?;
                let needed = num_columns(&nodes);
                let columns = LayoutColumns::new(index.columns.len());
                (nodes, FileColumns::Layouts(columns), needed)
            }
        };
        let found = index.columns.len();
        ensure!(needed <= found, "the schema needs {needed} columns, but the file has {found}");
        check_nesting(&nodes, options.max_nesting)?;
        let fields = FileFields { schema: index.schema.clone(), nodes: nodes.clone() };
        let everything = Projection::new(&index.schema, fields)?;
        let mut file = Self::new(index, nodes, columns, everything, options, metadata_bytes);
        if file.options.verify_checksums || file.options.require_checksums {
            file.begin_to_check(io).await?;
        }
        Ok(Arc::new(file))
    }
}

async fn open(io: &Io, size: u64, tail: Bytes, options: ReadOptions) -> Result<Arc<OpenFile>> {
    let start = size.checked_sub(tail.len() as u64);
    let start = start.ok_or_else(|| Error::invalid("the end of a file is longer than the file"))?;
    let mut tail = Tail::parse(size, start, tail)?;
    loop {
        let spans = tail.missing(options.max_metadata_bytes);
        if spans.is_empty() {
            break;
        }
        within(Span::total(&spans), options.max_metadata_bytes, "the end of the file")?;
        let bytes = io.read(spans.clone()).await?;
        tail.supply(&spans, bytes)?;
    }
    let metadata_bytes = cost::descriptor_bytes(&tail.descriptor().unwrap_or_default());
    within(metadata_bytes, options.max_metadata_bytes, "the schema")?;
    OpenFile::of_index(io, tail.into_index()?, options, metadata_bytes).await
}

fn check_nesting(nodes: &[Node], max_nesting: usize) -> Result<()> {
    fn depth(node: &Node) -> usize {
        node.children().iter().map(depth).max().unwrap_or(0).saturating_add(1)
    }
    let found = nodes.iter().map(depth).max().unwrap_or(0);
    if found <= max_nesting {
        return Ok(());
    }
    Err(Error::Limit {
        what: "the schema".into(),
        unit: "levels of nesting",
        needed: found as u64,
        limit: max_nesting as u64,
        option: "max_nesting",
    })
}
