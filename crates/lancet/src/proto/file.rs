//! Package `lance.file`: the file descriptor and the schema.

use std::collections::BTreeMap;

/// What the file holds: global buffer 0.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct FileDescriptor {
    #[prost(message, optional, tag = "1")]
    pub(crate) schema: Option<Schema>,
    /// Rows of the file.
    #[prost(uint64, tag = "2")]
    pub(crate) length: u64,
}

/// The fields of the file, flattened.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Schema {
    #[prost(message, repeated, tag = "1")]
    pub(crate) fields: Vec<Field>,
    #[prost(btree_map = "string, bytes", tag = "5")]
    pub(crate) metadata: BTreeMap<String, Vec<u8>>,
}

/// One field of the flattened tree.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Field {
    /// Never written, ignored.
    #[prost(enumeration = "field::Type", tag = "1")]
    pub(crate) r#type: i32,
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
    /// Written for old readers, ignored.
    #[prost(enumeration = "Encoding", tag = "7")]
    pub(crate) encoding: i32,
    /// Never written, ignored.
    #[prost(message, optional, tag = "8")]
    pub(crate) dictionary: Option<Dictionary>,
    #[prost(string, tag = "9")]
    pub(crate) extension_name: String,
    #[prost(btree_map = "string, bytes", tag = "10")]
    pub(crate) metadata: BTreeMap<String, Vec<u8>>,
    #[prost(bool, tag = "12")]
    pub(crate) unenforced_primary_key: bool,
    /// Counts from 1; 0 is unset.
    #[prost(uint32, tag = "13")]
    pub(crate) unenforced_primary_key_position: u32,
    /// Never written.
    #[prost(bool, tag = "14")]
    pub(crate) unenforced_clustering_key: bool,
    /// Counts from 1; 0 is unset.
    #[prost(uint32, tag = "15")]
    pub(crate) unenforced_clustering_key_position: u32,
}

pub(crate) mod field {
    /// The place of a field in the tree, as old files told it.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
    #[repr(i32)]
    pub(crate) enum Type {
        Parent = 0,
        Repeated = 1,
        Leaf = 2,
    }
}

/// How old files encoded a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
pub(crate) enum Encoding {
    None = 0,
    Plain = 1,
    VarBinary = 2,
    Dictionary = 3,
}

/// Where old files kept the values of a dictionary.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Dictionary {
    #[prost(int64, tag = "1")]
    pub(crate) offset: i64,
    #[prost(int64, tag = "2")]
    pub(crate) length: i64,
}
