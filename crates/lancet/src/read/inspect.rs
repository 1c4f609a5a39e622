//! What a file is made of, as data.

use crate::container::Version;

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

/// One column of a file: the values of one leaf of the schema.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ColumnReport {
    /// Column number.
    pub index: u32,
    /// Names from the top-level field down to the leaf, joined with dots.
    pub name: String,
    /// The leaf's type.
    pub data_type: arrow_schema::DataType,
    /// Bytes of all pages.
    pub bytes: u64,
    /// The pages, in row order.
    pub pages: Vec<PageReport>,
}

/// One page of a column.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PageReport {
    /// Rows of the page.
    pub num_rows: u64,
    /// `mini-block`, `full-zip`, `constant` or `blob`.
    pub layout: String,
    /// The encoding tree in words, outermost first.
    pub encoding: String,
    /// Bytes of all buffers.
    pub bytes: u64,
    /// The buffers, in file order.
    pub buffers: Vec<BufferReport>,
}

/// One buffer of a page.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct BufferReport {
    /// What it holds: chunk words, chunks, dictionary, repetition index, levels, values.
    pub holds: String,
    /// Where it starts in the file.
    pub position: u64,
    /// Its size.
    pub bytes: u64,
}
