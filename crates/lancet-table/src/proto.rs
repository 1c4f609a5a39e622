//! The protobuf messages of a manifest (package `lance.table`), written by hand: no protoc, no build
//! script.
//!
//! Only what lancet looks at is here; other fields are kept as they are ([`Kept`]). What must be refused is
//! here too, so that it is seen. Maps are ordered, so that the same message always gives the same bytes.

use std::collections::BTreeMap;

use crate::unknown::{Kept, known};

/// One version of a table.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Manifest {
    #[prost(message, repeated, tag = "1")]
    pub(crate) fields: Vec<Kept<Field>>,
    #[prost(message, repeated, tag = "2")]
    pub(crate) fragments: Vec<Kept<DataFragment>>,
    #[prost(uint64, tag = "3")]
    pub(crate) version: u64,
    #[prost(btree_map = "string, bytes", tag = "5")]
    pub(crate) schema_metadata: BTreeMap<String, Vec<u8>>,
    /// Where in the file the indexes are listed.
    #[prost(uint64, optional, tag = "6")]
    pub(crate) index_section: Option<u64>,
    #[prost(message, optional, tag = "7")]
    pub(crate) timestamp: Option<Timestamp>,
    #[prost(string, tag = "8")]
    pub(crate) tag: String,
    #[prost(uint64, tag = "9")]
    pub(crate) reader_feature_flags: u64,
    #[prost(uint64, tag = "10")]
    pub(crate) writer_feature_flags: u64,
    #[prost(uint32, optional, tag = "11")]
    pub(crate) max_fragment_id: Option<u32>,
    #[prost(string, tag = "12")]
    pub(crate) transaction_file: String,
    #[prost(message, optional, tag = "13")]
    pub(crate) writer_version: Option<Kept<WriterVersion>>,
    #[prost(uint64, tag = "14")]
    pub(crate) next_row_id: u64,
    #[prost(message, optional, tag = "15")]
    pub(crate) data_format: Option<Kept<DataFormat>>,
    #[prost(btree_map = "string, string", tag = "16")]
    pub(crate) config: BTreeMap<String, String>,
    #[prost(message, repeated, tag = "18")]
    pub(crate) base_paths: Vec<Kept<BasePath>>,
    #[prost(btree_map = "string, string", tag = "19")]
    pub(crate) table_metadata: BTreeMap<String, String>,
    #[prost(string, optional, tag = "20")]
    pub(crate) branch: Option<String>,
    /// Where in the file the transaction is, as old writers say it.
    #[prost(uint64, optional, tag = "21")]
    pub(crate) old_transaction_section: Option<u64>,
    /// Refused: the list of fragments is elsewhere.
    #[prost(bytes = "vec", optional, tag = "22")]
    pub(crate) fragment_tree: Option<Vec<u8>>,
    /// Where in the file the transaction is.
    #[prost(uint64, optional, tag = "23")]
    pub(crate) transaction_section: Option<u64>,
    #[prost(int32, optional, tag = "24")]
    pub(crate) max_allocated_field_id: Option<i32>,
}

/// A time since 1970.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(crate) struct Timestamp {
    #[prost(int64, tag = "1")]
    pub(crate) seconds: i64,
    #[prost(int32, tag = "2")]
    pub(crate) nanos: i32,
}

/// The program that wrote the version.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct WriterVersion {
    #[prost(string, tag = "1")]
    pub(crate) library: String,
    #[prost(string, tag = "2")]
    pub(crate) version: String,
}

/// The format of the data files.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct DataFormat {
    #[prost(string, tag = "1")]
    pub(crate) file_format: String,
    #[prost(string, tag = "2")]
    pub(crate) version: String,
}

/// Another place where files of the table lie.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct BasePath {
    #[prost(uint32, tag = "1")]
    pub(crate) id: u32,
    #[prost(string, optional, tag = "2")]
    pub(crate) name: Option<String>,
    #[prost(bool, tag = "3")]
    pub(crate) is_dataset_root: bool,
    #[prost(string, tag = "4")]
    pub(crate) path: String,
}

/// One field of the flattened schema (package `lance.file`).
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Field {
    #[prost(string, tag = "2")]
    pub(crate) name: String,
    #[prost(int32, tag = "3")]
    pub(crate) id: i32,
    /// -1 for a top-level field.
    #[prost(int32, tag = "4")]
    pub(crate) parent_id: i32,
    #[prost(string, tag = "5")]
    pub(crate) logical_type: String,
    #[prost(bool, tag = "6")]
    pub(crate) nullable: bool,
    #[prost(string, tag = "9")]
    pub(crate) extension_name: String,
    #[prost(btree_map = "string, bytes", tag = "10")]
    pub(crate) metadata: BTreeMap<String, Vec<u8>>,
}

/// A range of rows.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct DataFragment {
    #[prost(uint64, tag = "1")]
    pub(crate) id: u64,
    #[prost(message, repeated, tag = "2")]
    pub(crate) files: Vec<Kept<DataFile>>,
    #[prost(message, optional, tag = "3")]
    pub(crate) deletion_file: Option<Kept<DeletionFile>>,
    /// Rows before deletions; 0 if not told.
    #[prost(uint64, tag = "4")]
    pub(crate) physical_rows: u64,
    #[prost(oneof = "RowIds", tags = "5, 6, 12")]
    pub(crate) row_ids: Option<RowIds>,
    #[prost(oneof = "LastUpdated", tags = "7, 8, 13")]
    pub(crate) last_updated: Option<LastUpdated>,
    #[prost(oneof = "Created", tags = "9, 10, 14")]
    pub(crate) created: Option<Created>,
    /// Refused: values that replace those of the data files.
    #[prost(bytes = "vec", repeated, tag = "11")]
    pub(crate) overlays: Vec<Vec<u8>>,
}

/// Where the row ids are.
#[derive(Clone, PartialEq, prost::Oneof)]
pub(crate) enum RowIds {
    #[prost(bytes = "vec", tag = "5")]
    Inline(Vec<u8>),
    #[prost(message, tag = "6")]
    External(ExternalFile),
    #[prost(message, tag = "12")]
    Column(Empty),
}

/// Where the versions of the last change are.
#[derive(Clone, PartialEq, prost::Oneof)]
pub(crate) enum LastUpdated {
    #[prost(bytes = "vec", tag = "7")]
    Inline(Vec<u8>),
    #[prost(message, tag = "8")]
    External(ExternalFile),
    #[prost(message, tag = "13")]
    Column(Empty),
}

/// Where the versions of creation are.
#[derive(Clone, PartialEq, prost::Oneof)]
pub(crate) enum Created {
    #[prost(bytes = "vec", tag = "9")]
    Inline(Vec<u8>),
    #[prost(message, tag = "10")]
    External(ExternalFile),
    #[prost(message, tag = "14")]
    Column(Empty),
}

/// A byte range of another file. Planned once, written by nobody.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct ExternalFile {
    #[prost(string, tag = "1")]
    pub(crate) path: String,
}

/// A mark.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(crate) struct Empty {}

/// A file with some columns of a fragment.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct DataFile {
    #[prost(string, tag = "1")]
    pub(crate) path: String,
    #[prost(int32, repeated, tag = "2")]
    pub(crate) fields: Vec<i32>,
    #[prost(int32, repeated, tag = "3")]
    pub(crate) column_indices: Vec<i32>,
    #[prost(uint32, tag = "4")]
    pub(crate) file_major_version: u32,
    #[prost(uint32, tag = "5")]
    pub(crate) file_minor_version: u32,
    /// 0 if not told.
    #[prost(uint64, tag = "6")]
    pub(crate) file_size_bytes: u64,
    /// 0 is a base like any other.
    #[prost(uint32, optional, tag = "7")]
    pub(crate) base_id: Option<u32>,
}

/// The deleted rows of a fragment.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(crate) struct DeletionFile {
    /// 0 is Arrow, 1 is Roaring.
    #[prost(int32, tag = "1")]
    pub(crate) file_type: i32,
    #[prost(uint64, tag = "2")]
    pub(crate) read_version: u64,
    #[prost(uint64, tag = "3")]
    pub(crate) id: u64,
    /// 0 if not told.
    #[prost(uint64, tag = "4")]
    pub(crate) num_deleted_rows: u64,
    #[prost(uint32, optional, tag = "7")]
    pub(crate) base_id: Option<u32>,
}

// The numbers of the fields above.
known! {
    Manifest: 1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 18, 19, 20, 21, 22, 23, 24;
    WriterVersion: 1, 2;
    DataFormat: 1, 2;
    BasePath: 1, 2, 3, 4;
    Field: 2, 3, 4, 5, 6, 9, 10;
    DataFragment: 1, 2, 3, 4, 5, 6, 12, 7, 8, 13, 9, 10, 14, 11;
    DataFile: 1, 2, 3, 4, 5, 6, 7;
    DeletionFile: 1, 2, 3, 4, 7;
}
