//! Deletion files: which one holds the deleted rows of a fragment. Their contents are not read here.

use crate::data_file::Rules;
use crate::error::{Problem, ensure};
use crate::proto;
use crate::unknown::{Kept, UnknownFields};

/// The folder of the deletion files, below that of the table.
pub const DELETIONS_DIR: &str = "_deletions";

/// What a deletion file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeletionKind {
    /// An Arrow IPC file with the offsets of the deleted rows.
    Arrow,
    /// A Roaring bitmap of them.
    Roaring,
}

/// The deletion file of a fragment.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeletionFile {
    /// What it is.
    pub kind: DeletionKind,
    /// The version that its writer had read.
    pub read_version: u64,
    /// What tells it from others of that version.
    pub id: u64,
    /// How many rows it deletes, if the manifest tells it.
    pub num_deleted_rows: Option<u64>,
    /// The base path it lies under; `None` for the table's own folder.
    pub base: Option<u32>,
    /// What else the manifest says of it.
    pub unknown: UnknownFields,
}

impl DeletionFile {
    /// Its name in [`DELETIONS_DIR`].
    pub fn file_name(&self, fragment: u32) -> String {
        let ending = match self.kind {
            DeletionKind::Arrow => "arrow",
            DeletionKind::Roaring => "bin",
        };
        format!("{fragment}-{}-{}.{ending}", self.read_version, self.id)
    }

    pub(crate) fn check(
        message: Kept<proto::DeletionFile>,
        physical_rows: Option<u64>,
        rules: &Rules<'_>,
    ) -> Result<Self, Problem> {
        let checked = Self::check_inner(message, physical_rows, rules);
        checked.map_err(|problem| problem.within("deletion file"))
    }

    fn check_inner(
        message: Kept<proto::DeletionFile>,
        physical_rows: Option<u64>,
        rules: &Rules<'_>,
    ) -> Result<Self, Problem> {
        let Kept { message, unknown } = message;
        let kind = match message.file_type {
            0 => DeletionKind::Arrow,
            1 => DeletionKind::Roaring,
            other => {
                let what = format!("its type is {other}; lancet knows 0 (Arrow) and 1 (Roaring)");
                return Err(Problem::Unsupported(what));
            }
        };
        let deleted = message.num_deleted_rows;
        let rows = physical_rows.unwrap_or(u64::MAX);
        ensure!(deleted <= rows, "it deletes {deleted} of {rows} rows");
        rules.check_base(message.base_id)?;
        Ok(Self {
            kind,
            read_version: message.read_version,
            id: message.id,
            num_deleted_rows: (deleted > 0).then_some(deleted),
            base: message.base_id,
            unknown,
        })
    }
}
