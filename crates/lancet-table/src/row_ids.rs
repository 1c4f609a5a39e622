//! The row ids of a fragment: where they are stored, and what they are.

use lancet_row_ids::RowIdSequence;

use crate::data_file::{CREATED_FIELD, DataFile, LAST_UPDATED_FIELD, ROW_ID_FIELD};
use crate::error::{Problem, Result};
use crate::fragment::Fragment;
use crate::manifest::Manifest;
use crate::proto;

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

impl Stored {
    pub(crate) fn of_row_ids(
        message: Option<proto::RowIds>,
        files: &[DataFile],
    ) -> Result<Option<Self>, Problem> {
        Ok(match message {
            None => None,
            Some(proto::RowIds::Inline(bytes)) => Some(Self::Inline(bytes)),
            Some(proto::RowIds::External(file)) => return Err(external("row ids", &file)),
            Some(proto::RowIds::Column(_)) => Some(hidden("row ids", ROW_ID_FIELD, files)?),
        })
    }

    pub(crate) fn of_created(
        message: Option<proto::Created>,
        files: &[DataFile],
    ) -> Result<Option<Self>, Problem> {
        let what = "versions of creation";
        Ok(match message {
            None => None,
            Some(proto::Created::Inline(bytes)) => Some(Self::Inline(bytes)),
            Some(proto::Created::External(file)) => return Err(external(what, &file)),
            Some(proto::Created::Column(_)) => Some(hidden(what, CREATED_FIELD, files)?),
        })
    }

    pub(crate) fn of_last_updated(
        message: Option<proto::LastUpdated>,
        files: &[DataFile],
    ) -> Result<Option<Self>, Problem> {
        let what = "versions of last change";
        Ok(match message {
            None => None,
            Some(proto::LastUpdated::Inline(bytes)) => Some(Self::Inline(bytes)),
            Some(proto::LastUpdated::External(file)) => return Err(external(what, &file)),
            Some(proto::LastUpdated::Column(_)) => Some(hidden(what, LAST_UPDATED_FIELD, files)?),
        })
    }
}

fn external(what: &str, file: &proto::ExternalFile) -> Problem {
    let path = file.path.escape_debug();
    Problem::unsupported(format!(
        "its {what} are in the other file `{path}`; known writers keep them in the manifest or in \
         a hidden column"
    ))
}

fn hidden(what: &str, field: i32, files: &[DataFile]) -> Result<Stored, Problem> {
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
