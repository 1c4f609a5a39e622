//! The protobuf messages of a transaction (package `lance.table`), written by hand as those of manifests are.
//!
//! Entries of indexes are kept as bytes: what is in them is the business of [`crate::indexes`]. So are fragments and data files,
//! which are read out of these as those of manifests are. In the published schema the
//! operations are alternatives; here each is an optional field, so that one that is not known is told from none.

use std::collections::BTreeMap;

use crate::proto::{BasePath, Field};
use crate::unknown::{Kept, known};

/// What made a version.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Transaction {
    #[prost(uint64, tag = "1")]
    pub(crate) read_version: u64,
    #[prost(string, tag = "2")]
    pub(crate) uuid: String,
    #[prost(string, tag = "3")]
    pub(crate) tag: String,
    #[prost(btree_map = "string, string", tag = "4")]
    pub(crate) properties: BTreeMap<String, String>,
    #[prost(message, optional, tag = "100")]
    pub(crate) append: Option<Kept<Append>>,
    #[prost(message, optional, tag = "101")]
    pub(crate) delete: Option<Kept<Delete>>,
    #[prost(message, optional, tag = "102")]
    pub(crate) overwrite: Option<Kept<Overwrite>>,
    #[prost(message, optional, tag = "103")]
    pub(crate) create_index: Option<Kept<CreateIndex>>,
    #[prost(message, optional, tag = "104")]
    pub(crate) rewrite: Option<Kept<Rewrite>>,
    #[prost(message, optional, tag = "105")]
    pub(crate) merge: Option<Kept<Merge>>,
    #[prost(message, optional, tag = "106")]
    pub(crate) restore: Option<Kept<Restore>>,
    #[prost(message, optional, tag = "107")]
    pub(crate) reserve_fragments: Option<Kept<ReserveFragments>>,
    #[prost(message, optional, tag = "108")]
    pub(crate) update: Option<Kept<Update>>,
    #[prost(message, optional, tag = "109")]
    pub(crate) project: Option<Kept<Project>>,
    #[prost(message, optional, tag = "110")]
    pub(crate) update_config: Option<Kept<UpdateConfig>>,
    #[prost(message, optional, tag = "111")]
    pub(crate) data_replacement: Option<Kept<DataReplacement>>,
    #[prost(message, optional, tag = "113")]
    pub(crate) clone: Option<Kept<CloneTable>>,
    #[prost(message, optional, tag = "114")]
    pub(crate) update_bases: Option<Kept<UpdateBases>>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Append {
    #[prost(bytes = "vec", repeated, tag = "1")]
    pub(crate) fragments: Vec<Vec<u8>>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Delete {
    #[prost(bytes = "vec", repeated, tag = "1")]
    pub(crate) updated_fragments: Vec<Vec<u8>>,
    #[prost(uint64, repeated, tag = "2")]
    pub(crate) deleted_fragment_ids: Vec<u64>,
    #[prost(string, tag = "3")]
    pub(crate) predicate: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Overwrite {
    #[prost(bytes = "vec", repeated, tag = "1")]
    pub(crate) fragments: Vec<Vec<u8>>,
    #[prost(message, repeated, tag = "2")]
    pub(crate) schema: Vec<Kept<Field>>,
    #[prost(btree_map = "string, bytes", tag = "3")]
    pub(crate) schema_metadata: BTreeMap<String, Vec<u8>>,
    #[prost(btree_map = "string, string", tag = "4")]
    pub(crate) config: BTreeMap<String, String>,
    #[prost(message, repeated, tag = "5")]
    pub(crate) bases: Vec<Kept<BasePath>>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct CreateIndex {
    #[prost(bytes = "vec", repeated, tag = "1")]
    pub(crate) new_indices: Vec<Vec<u8>>,
    #[prost(bytes = "vec", repeated, tag = "2")]
    pub(crate) removed_indices: Vec<Vec<u8>>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Rewrite {
    #[prost(message, repeated, tag = "3")]
    pub(crate) groups: Vec<Kept<RewriteGroup>>,
    /// Which index files became which; lancet rewrites none.
    #[prost(bytes = "vec", repeated, tag = "4")]
    pub(crate) rewritten_indices: Vec<Vec<u8>>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct RewriteGroup {
    #[prost(bytes = "vec", repeated, tag = "1")]
    pub(crate) old_fragments: Vec<Vec<u8>>,
    #[prost(bytes = "vec", repeated, tag = "2")]
    pub(crate) new_fragments: Vec<Vec<u8>>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Merge {
    #[prost(bytes = "vec", repeated, tag = "1")]
    pub(crate) fragments: Vec<Vec<u8>>,
    #[prost(message, repeated, tag = "2")]
    pub(crate) schema: Vec<Kept<Field>>,
    #[prost(btree_map = "string, bytes", tag = "3")]
    pub(crate) schema_metadata: BTreeMap<String, Vec<u8>>,
    #[prost(bool, tag = "4")]
    pub(crate) preserves_nullability: bool,
}

#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(crate) struct Restore {
    #[prost(uint64, tag = "1")]
    pub(crate) version: u64,
}

#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(crate) struct ReserveFragments {
    #[prost(uint32, tag = "1")]
    pub(crate) num_fragments: u32,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Update {
    #[prost(uint64, repeated, tag = "1")]
    pub(crate) removed_fragment_ids: Vec<u64>,
    #[prost(bytes = "vec", repeated, tag = "2")]
    pub(crate) updated_fragments: Vec<Vec<u8>>,
    #[prost(bytes = "vec", repeated, tag = "3")]
    pub(crate) new_fragments: Vec<Vec<u8>>,
    #[prost(uint32, repeated, tag = "4")]
    pub(crate) fields_modified: Vec<u32>,
    #[prost(uint32, repeated, tag = "6")]
    pub(crate) fields_moved: Vec<u32>,
    /// 0: rows moved; 1: columns rewritten in place.
    #[prost(int32, tag = "7")]
    pub(crate) mode: i32,
    #[prost(bytes = "vec", optional, tag = "8")]
    pub(crate) inserted_keys: Option<Vec<u8>>,
    /// Entries of a map from fragment ids to offsets that were changed in place.
    #[prost(bytes = "vec", repeated, tag = "10")]
    pub(crate) updated_offsets: Vec<Vec<u8>>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Project {
    #[prost(message, repeated, tag = "1")]
    pub(crate) schema: Vec<Kept<Field>>,
    #[prost(bool, tag = "2")]
    pub(crate) preserves_nullability: bool,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct UpdateConfig {
    #[prost(message, optional, tag = "6")]
    pub(crate) config: Option<UpdateMap>,
    #[prost(message, optional, tag = "7")]
    pub(crate) table_metadata: Option<UpdateMap>,
    #[prost(message, optional, tag = "8")]
    pub(crate) schema_metadata: Option<UpdateMap>,
    #[prost(btree_map = "int32, message", tag = "9")]
    pub(crate) field_metadata: BTreeMap<i32, UpdateMap>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct UpdateMap {
    #[prost(message, repeated, tag = "1")]
    pub(crate) entries: Vec<UpdateMapEntry>,
    #[prost(bool, tag = "2")]
    pub(crate) replace: bool,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct UpdateMapEntry {
    #[prost(string, tag = "1")]
    pub(crate) key: String,
    /// Absent: the key goes.
    #[prost(string, optional, tag = "2")]
    pub(crate) value: Option<String>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct DataReplacement {
    #[prost(message, repeated, tag = "1")]
    pub(crate) replacements: Vec<Kept<ReplacedFile>>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct ReplacedFile {
    #[prost(uint64, tag = "1")]
    pub(crate) fragment_id: u64,
    #[prost(bytes = "vec", optional, tag = "2")]
    pub(crate) new_file: Option<Vec<u8>>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct CloneTable {
    #[prost(bool, tag = "1")]
    pub(crate) is_shallow: bool,
    #[prost(string, optional, tag = "2")]
    pub(crate) ref_name: Option<String>,
    #[prost(uint64, tag = "3")]
    pub(crate) ref_version: u64,
    #[prost(string, tag = "4")]
    pub(crate) ref_path: String,
    #[prost(string, optional, tag = "5")]
    pub(crate) branch_name: Option<String>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct UpdateBases {
    #[prost(message, repeated, tag = "1")]
    pub(crate) new_bases: Vec<Kept<BasePath>>,
}

// The numbers of the fields above.
known! {
    Transaction: 1, 2, 3, 4, 100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 113, 114;
    Append: 1;
    Delete: 1, 2, 3;
    Overwrite: 1, 2, 3, 4, 5;
    CreateIndex: 1, 2;
    Rewrite: 3, 4;
    RewriteGroup: 1, 2;
    Merge: 1, 2, 3, 4;
    Restore: 1;
    ReserveFragments: 1;
    Update: 1, 2, 3, 4, 6, 7, 8, 10;
    Project: 1, 2;
    UpdateConfig: 6, 7, 8, 9;
    DataReplacement: 1;
    ReplacedFile: 1, 2;
    CloneTable: 1, 2, 3, 4, 5;
    UpdateBases: 1;
}
