//! The row ids of a fragment: where they are stored, and what they are.

use lancet_row_ids::RowIdSequence;
use prost::Message;

use crate::data_file::{CREATED_FIELD, DataFile, LAST_UPDATED_FIELD, ROW_ID_FIELD};
use crate::error::{Problem, Result};
use crate::fragment::Fragment;
use crate::manifest::Manifest;
use crate::proto;
use crate::wire::{Part, unreadable};

/// Where a number for each row is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stored {
    /// In the manifest: a serialized sequence.
    Inline(Vec<u8>),
    /// In a hidden column.
    Column {
        /// The data file, by its place in the fragment.
        file: usize,
        /// The column of that file.
        column: u32,
    },
}

/// What identifies the rows of a fragment.
#[derive(Debug, Clone, PartialEq)]
pub enum RowIds {
    /// Their addresses: the table has no stable row ids.
    Addresses,
    /// The ids of all rows in order, deleted ones included.
    Sequence(RowIdSequence),
    /// The values of a hidden column.
    Column {
        /// The data file, by its place in the fragment.
        file: usize,
        /// The column of that file.
        column: u32,
    },
}

impl Manifest {
    /// The row ids of one of its fragments.
    ///
    /// Sequences are decoded here, not when the manifest is parsed: most reads do not need them.
    pub fn row_ids(&self, fragment: &Fragment) -> Result<RowIds> {
        if !self.has_stable_row_ids() {
            return Ok(RowIds::Addresses);
        }
        let found = match &fragment.row_ids {
            Some(Stored::Inline(bytes)) => sequence(bytes, fragment).map(RowIds::Sequence),
            Some(Stored::Column { file, column }) => {
                Ok(RowIds::Column { file: *file, column: *column })
            }
            None => Err(Problem::corrupt("it has no row ids")),
        };
        let part = format!("fragment {}", fragment.id);
        found.map_err(|problem| problem.within(&part).in_file(&self.file))
    }
}

fn sequence(bytes: &[u8], fragment: &Fragment) -> Result<RowIdSequence, Problem> {
    let sequence = RowIdSequence::decode(bytes)?;
    if let Some(rows) = fragment.physical_rows {
        sequence.check_len(rows)?;
    }
    Ok(sequence)
}

/// Which numbers of its rows a fragment has stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StoredNumbers {
    RowIds,
    Created,
    LastUpdated,
}

impl StoredNumbers {
    fn words(self) -> &'static str {
        match self {
            Self::RowIds => "row ids",
            Self::Created => "versions of creation",
            Self::LastUpdated => "versions of last change",
        }
    }

    /// The field id of their hidden column.
    fn field(self) -> i32 {
        match self {
            Self::RowIds => ROW_ID_FIELD,
            Self::Created => CREATED_FIELD,
            Self::LastUpdated => LAST_UPDATED_FIELD,
        }
    }
}

impl Stored {
    /// What the last of those parts of a fragment says that tell where its numbers are.
    pub(crate) fn decode(
        part: &Part<'_>,
        what: StoredNumbers,
        files: &[DataFile],
    ) -> Result<Self, Problem> {
        let bytes = part.bytes()?;
        match part.field {
            5 | 7 | 9 => Ok(Self::Inline(bytes.to_vec())),
            6 | 8 | 10 => {
                let file = proto::ExternalFile::decode(bytes).map_err(unreadable)?;
                let (what, path) = (what.words(), file.path.escape_debug());
                Err(Problem::unsupported(format!(
                    "its {what} are in the other file `{path}`; known writers keep them in the manifest or in \
                     a hidden column"
                )))
            }
            _ => hidden(what, files),
        }
    }
}

fn hidden(what: StoredNumbers, files: &[DataFile]) -> Result<Stored, Problem> {
    let (what, field) = (what.words(), what.field());
    let columns = files.iter().enumerate().filter_map(|(file, data_file)| {
        data_file.column_of(field).map(|column| Stored::Column { file, column })
    });
    let found: Vec<Stored> = columns.collect();
    match <[Stored; 1]>::try_from(found) {
        Ok([one]) => Ok(one),
        Err(found) => Err(Problem::corrupt(format!(
            "its {what} are said to be in the hidden column {field}, but {} data files have it",
            found.len()
        ))),
    }
}
