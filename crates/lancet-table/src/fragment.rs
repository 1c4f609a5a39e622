//! Fragments: ranges of rows, in the order of the table.

use crate::data_file::{DataFile, Rules};
use crate::deletion::DeletionFile;
use crate::error::{Problem, ensure};
use crate::proto;
use crate::row_ids::Stored;
use crate::unknown::{Kept, UnknownFields};

/// Rows of the table that lie in the same files.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fragment {
    /// Its number in the table; row addresses begin with it.
    pub id: u32,
    /// Its data files. No field is in two of them.
    pub files: Vec<DataFile>,
    /// The file of its deleted rows, if it has some.
    pub deletion_file: Option<DeletionFile>,
    /// Its rows, deleted ones included. Very old tables do not tell.
    pub physical_rows: Option<u64>,
    /// Its row ids, as stored. What they are is said by [`Manifest::row_ids`](crate::Manifest::row_ids).
    pub row_ids: Option<Stored>,
    /// The version in which each row was made, as stored.
    pub created: Option<Stored>,
    /// The version in which each row was last changed, as stored.
    pub last_updated: Option<Stored>,
    /// What else the manifest says of it.
    pub unknown: UnknownFields,
}

impl Fragment {
    /// Its deleted rows; `None` if only the deletion file tells.
    pub fn num_deleted_rows(&self) -> Option<u64> {
        self.deletion_file.as_ref().map_or(Some(0), |file| file.num_deleted_rows)
    }

    /// Its rows without the deleted ones; `None` if only the files tell.
    pub fn num_rows(&self) -> Option<u64> {
        self.physical_rows?.checked_sub(self.num_deleted_rows()?)
    }

    pub(crate) fn check(
        message: Kept<proto::DataFragment>,
        rules: &Rules<'_>,
    ) -> Result<Self, Problem> {
        let id = message.id;
        let checked = Self::check_inner(message, rules);
        checked.map_err(|problem| problem.within(&format!("fragment {id}")))
    }

    fn check_inner(message: Kept<proto::DataFragment>, rules: &Rules<'_>) -> Result<Self, Problem> {
        let Kept { message, unknown } = message;
        // The last number is kept free: the address of its last row would be that of no row.
        let id = u32::try_from(message.id).ok().filter(|id| *id < u32::MAX);
        let Some(id) = id else {
            return Err(Problem::corrupt("fragment ids must be below 2^32-1"));
        };
        if !message.overlays.is_empty() {
            return Err(Problem::unsupported("it has overlay files"));
        }
        let rows = message.physical_rows;
        ensure!(rows <= u64::from(u32::MAX), "it has {rows} rows; fragments have fewer than 2^32");
        ensure!(!message.files.is_empty(), "it has no data files");
        let files = message.files.into_iter().map(|file| DataFile::check(file, rules));
        let files = files.collect::<Result<Vec<_>, _>>()?;
        check_fields_once(&files)?;
        let physical_rows = (rows > 0).then_some(rows);
        let deletion_file = message
            .deletion_file
            .map(|file| DeletionFile::check(file, physical_rows, rules))
            .transpose()?;
        Ok(Self {
            id,
            deletion_file,
            physical_rows,
            row_ids: Stored::of_row_ids(message.row_ids, &files)?,
            created: Stored::of_created(message.created, &files)?,
            last_updated: Stored::of_last_updated(message.last_updated, &files)?,
            files,
            unknown,
        })
    }
}

/// Two columns for one field would leave it open which counts.
fn check_fields_once(files: &[DataFile]) -> Result<(), Problem> {
    // In the order of a schema that nobody changed they need no list of their own.
    if let [file] = files
        && file.fields.is_sorted_by(|one, next| one < next)
    {
        return Ok(());
    }
    let listed = files.iter().flat_map(|file| &file.fields).filter(|field| **field >= 0);
    let mut ids: Vec<i32> = listed.copied().collect();
    ids.sort_unstable();
    let twice = ids.iter().zip(ids.iter().skip(1)).find(|(one, next)| one == next);
    match twice {
        Some((field, _)) => {
            Err(Problem::corrupt(format!("field {field} is listed twice in its data files")))
        }
        None => Ok(()),
    }
}
