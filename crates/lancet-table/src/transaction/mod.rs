//! Transactions: what a version did to the one before, as values.
//!
//! Every version file holds the transaction that made it. A writer that has read an older version looks at those of the
//! versions in between: they tell whether its own change still makes sense (`rebase`).

mod message;
pub(crate) mod proto;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::data_file::DataFile;
use crate::fields::Field;
use crate::fragment::Fragment;
use crate::indexes::IndexEntry;
use crate::manifest::BasePath;
use crate::unknown::UnknownFields;

/// The folder of the transaction files, below that of the table.
pub const TRANSACTIONS_DIR: &str = "_transactions";
/// The property that holds a message for people.
pub const COMMIT_MESSAGE: &str = "__lance_commit_message";

/// What made a version.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Transaction {
    /// The version that its writer had read; 0 if there was none.
    pub read_version: u64,
    /// What tells it from others, as text.
    pub uuid: String,
    /// A name of the version, in old tables.
    pub tag: String,
    /// What its writer noted; see [`COMMIT_MESSAGE`].
    pub properties: BTreeMap<String, String>,
    /// What it did.
    pub operation: Operation,
    /// What else it says.
    pub unknown: UnknownFields,
}

impl Transaction {
    /// A transaction of this program.
    pub fn new(read_version: u64, uuid: String, operation: Operation) -> Self {
        Self {
            read_version,
            uuid,
            tag: String::new(),
            properties: BTreeMap::new(),
            operation,
            unknown: UnknownFields::default(),
        }
    }

    /// The name of its file in [`TRANSACTIONS_DIR`].
    pub fn file_name(&self) -> String {
        format!("{}-{}.txn", self.read_version, self.uuid)
    }
}

/// What a transaction does.
///
/// New fragments have the id 0 until they are committed: ids are given in every attempt anew.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Operation {
    /// Adds rows.
    Append(Append),
    /// Marks rows as deleted.
    Delete(Delete),
    /// Replaces all rows and the schema.
    Overwrite(Overwrite),
    /// Adds and removes indexes.
    CreateIndex(CreateIndex),
    /// Puts rows into other files: compaction.
    Rewrite(Rewrite),
    /// Adds columns, or columns of other types.
    Merge(Merge),
    /// Brings back an older version.
    Restore(Restore),
    /// Reserves ids of fragments.
    ReserveFragments(ReserveFragments),
    /// Changes rows.
    Update(Update),
    /// Drops, renames and reorders columns.
    Project(Project),
    /// Changes settings and metadata.
    UpdateConfig(UpdateConfig),
    /// Replaces data files.
    DataReplacement(DataReplacement),
    /// Begins a table with the rows of another.
    Clone(CloneTable),
    /// Adds base paths.
    UpdateBases(UpdateBases),
    /// Something that lancet does not know, or nothing.
    Unknown,
}

/// See [`Operation::Append`].
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Append {
    /// The new rows, without ids and versions.
    pub fragments: Vec<Fragment>,
    pub(crate) unknown: UnknownFields,
}

/// See [`Operation::Delete`].
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Delete {
    /// Fragments with their new deletion files.
    pub updated: Vec<Fragment>,
    /// Fragments of which no row is left.
    pub deleted: Vec<u64>,
    /// Which rows, for people.
    pub predicate: String,
    pub(crate) unknown: UnknownFields,
}

/// See [`Operation::Overwrite`].
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Overwrite {
    /// The new rows.
    pub fragments: Vec<Fragment>,
    /// The new schema, with ids.
    pub fields: Vec<Field>,
    /// Its Arrow metadata.
    pub schema_metadata: BTreeMap<String, Vec<u8>>,
    /// Settings to add.
    pub config: BTreeMap<String, String>,
    /// Base paths to begin with.
    pub bases: Vec<BasePath>,
    pub(crate) unknown: UnknownFields,
}

/// See [`Operation::CreateIndex`].
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct CreateIndex {
    /// Indexes that are there from now on.
    pub new: Vec<IndexEntry>,
    /// Indexes that go.
    pub removed: Vec<IndexEntry>,
    pub(crate) unknown: UnknownFields,
}

/// See [`Operation::Rewrite`].
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Rewrite {
    /// Which fragments became which.
    pub groups: Vec<RewriteGroup>,
    pub(crate) rewritten_indexes: Vec<Vec<u8>>,
    pub(crate) unknown: UnknownFields,
}

/// Fragments whose rows went into others.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct RewriteGroup {
    /// Fragments that go.
    pub old: Vec<Fragment>,
    /// Where their live rows are now, with row ids and versions.
    pub new: Vec<Fragment>,
    pub(crate) unknown: UnknownFields,
}

/// See [`Operation::Merge`].
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Merge {
    /// All fragments of the table, with their new files.
    pub fragments: Vec<Fragment>,
    /// The new schema.
    pub fields: Vec<Field>,
    /// Its Arrow metadata.
    pub schema_metadata: BTreeMap<String, Vec<u8>>,
    /// Whether no field forbids nulls that allowed them before.
    pub preserves_nullability: bool,
    pub(crate) unknown: UnknownFields,
}

/// See [`Operation::Restore`].
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Restore {
    /// The version that comes back.
    pub version: u64,
    pub(crate) unknown: UnknownFields,
}

/// See [`Operation::ReserveFragments`].
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ReserveFragments {
    /// How many ids.
    pub count: u32,
    pub(crate) unknown: UnknownFields,
}

/// See [`Operation::Update`].
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Update {
    /// Fragments of which no row is left.
    pub removed: Vec<u64>,
    /// Fragments with their new deletion files, or new data files.
    pub updated: Vec<Fragment>,
    /// Where changed and new rows are. With stable row ids these carry the ids of the changed rows, which come first.
    pub new: Vec<Fragment>,
    /// Fields whose values changed in place.
    pub fields_modified: Vec<u32>,
    /// Fields whose values changed in rows that moved.
    pub fields_moved: Vec<u32>,
    /// Whether columns were rewritten in place; else rows moved.
    pub in_place: bool,
    /// A filter of the keys that were inserted, as bytes.
    pub inserted_keys: Option<Vec<u8>>,
    pub(crate) updated_offsets: Vec<Vec<u8>>,
    pub(crate) unknown: UnknownFields,
}

/// See [`Operation::Project`].
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Project {
    /// The new schema.
    pub fields: Vec<Field>,
    /// Whether no field forbids nulls that allowed them before.
    pub preserves_nullability: bool,
    pub(crate) unknown: UnknownFields,
}

/// See [`Operation::UpdateConfig`].
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct UpdateConfig {
    /// Changes of the settings.
    pub config: Option<UpdateMap>,
    /// Changes of the notes about the table.
    pub table_metadata: Option<UpdateMap>,
    /// Changes of the metadata of the schema.
    pub schema_metadata: Option<UpdateMap>,
    /// Changes of the metadata of fields, by their ids.
    pub field_metadata: BTreeMap<i32, UpdateMap>,
    pub(crate) unknown: UnknownFields,
}

/// Changes of a map.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UpdateMap {
    /// New values of keys; keys without go.
    pub entries: Vec<(String, Option<String>)>,
    /// Whether all else goes.
    pub replace: bool,
}

/// See [`Operation::DataReplacement`].
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct DataReplacement {
    /// New data files by the ids of their fragments.
    pub files: Vec<(u64, DataFile)>,
    pub(crate) unknown: UnknownFields,
}

/// See [`Operation::Clone`].
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct CloneTable {
    /// Whether files stay where they are.
    pub is_shallow: bool,
    /// The tag or branch that was cloned.
    pub ref_name: Option<String>,
    /// The version that was cloned.
    pub ref_version: u64,
    /// The table that was cloned.
    pub ref_path: String,
    /// The branch that this begins.
    pub branch_name: Option<String>,
    pub(crate) unknown: UnknownFields,
}

/// See [`Operation::UpdateBases`].
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct UpdateBases {
    /// Base paths to add.
    pub bases: Vec<BasePath>,
    pub(crate) unknown: UnknownFields,
}

impl Update {
    /// Whether columns of rows that stay where they are were rewritten. Older writers name the fields, but no mode.
    pub(crate) fn is_in_place(&self) -> bool {
        self.in_place || !self.fields_modified.is_empty() || !self.updated_offsets.is_empty()
    }
}

impl Operation {
    /// Its name in the format.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Append(_) => "Append",
            Self::Delete(_) => "Delete",
            Self::Overwrite(_) => "Overwrite",
            Self::CreateIndex(_) => "CreateIndex",
            Self::Rewrite(_) => "Rewrite",
            Self::Merge(_) => "Merge",
            Self::Restore(_) => "Restore",
            Self::ReserveFragments(_) => "ReserveFragments",
            Self::Update(_) => "Update",
            Self::Project(_) => "Project",
            Self::UpdateConfig(_) => "UpdateConfig",
            Self::DataReplacement(_) => "DataReplacement",
            Self::Clone(_) => "Clone",
            Self::UpdateBases(_) => "UpdateBases",
            Self::Unknown => "an unknown operation",
        }
    }

    /// What it is for who asked for it, in words.
    pub fn words(&self) -> &'static str {
        match self {
            Self::Append(_) => "append",
            Self::Delete(_) => "delete",
            Self::Overwrite(_) => "overwrite",
            Self::CreateIndex(_) => "create an index",
            Self::Rewrite(_) => "compact",
            Self::Merge(_) => "add or retype columns",
            Self::Restore(_) => "restore",
            Self::ReserveFragments(_) => "reserve fragments",
            Self::Update(_) => "update or merge rows",
            Self::Project(_) => "drop, rename or reorder columns",
            Self::UpdateConfig(_) => "change settings",
            Self::DataReplacement(_) => "replace data files",
            Self::Clone(_) => "clone",
            Self::UpdateBases(_) => "add base paths",
            Self::Unknown => "an unknown operation",
        }
    }

    /// The fragments of the version before that it changes or removes. Merges and the like, which replace all of them,
    /// name none.
    pub(crate) fn touched(&self) -> BTreeSet<u64> {
        let ids = |fragments: &[Fragment]| -> Vec<u64> {
            fragments.iter().map(|fragment| fragment.id.into()).collect()
        };
        match self {
            Self::Delete(delete) => [ids(&delete.updated), delete.deleted.clone()].concat(),
            Self::Update(update) => [ids(&update.updated), update.removed.clone()].concat(),
            Self::Rewrite(rewrite) => {
                rewrite.groups.iter().flat_map(|group| ids(&group.old)).collect()
            }
            Self::DataReplacement(replaced) => {
                replaced.files.iter().map(|(fragment, _)| *fragment).collect()
            }
            _ => Vec::new(),
        }
        .into_iter()
        .collect()
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
