//! Fragments: ranges of rows, in the order of the table.

use std::sync::Arc;

use prost::Message;
use smallvec::SmallVec;

use crate::data_file::{DataFile, LastColumns, Rules};
use crate::deletion::DeletionFile;
use crate::error::{Problem, ensure};
use crate::proto;
use crate::row_ids::{Stored, StoredNumbers};
use crate::unknown::{Kept, UnknownFields};
use crate::wire::{Part, Parts, unreadable};

/// Rows of the table that lie in the same files.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fragment {
    /// Its number in the table; row addresses begin with it.
    pub id: u32,
    /// Its data files. No field is in two of them. Most fragments have one, which lies here, and not elsewhere in memory.
    pub files: SmallVec<[DataFile; 1]>,
    /// The file of its deleted rows, if it has some. Most fragments have none.
    pub deletion_file: Option<Box<DeletionFile>>,
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

    /// Has lists of fields that are those of another fragment once in memory: a table of many fragments has few different ones.
    pub(crate) fn share_lists(&mut self, other: &Self) {
        for (file, other) in self.files.iter_mut().zip(&other.files) {
            share(&mut file.fields, &other.fields);
            share(&mut file.columns, &other.columns);
        }
    }

    /// The fragment that a message stands for.
    pub(crate) fn decode<'a>(
        message: &'a [u8],
        rules: &Rules<'_>,
        last: &mut LastColumns<'a>,
    ) -> Result<Arc<Self>, Problem> {
        let decoded = Self::decode_inner(message, rules, last);
        decoded.map_err(|problem| match id_of(message) {
            Some(id) => problem.within(&format!("fragment {id}")),
            None => problem,
        })
    }

    fn decode_inner<'a>(
        message: &'a [u8],
        rules: &Rules<'_>,
        last: &mut LastColumns<'a>,
    ) -> Result<Arc<Self>, Problem> {
        let (mut id, mut rows, mut files) = (0, 0, SmallVec::new());
        let mut deletions: Option<Kept<proto::DeletionFile>> = None;
        let (mut row_ids, mut updated, mut created) = (None, None, None);
        let mut unknown = UnknownFields::default();
        let mut parts = Parts::new(message);
        while let Some(part) = parts.next()? {
            match part.field {
                1 => id = part.number()?,
                2 => files.push(DataFile::decode(part.bytes()?, rules, last)?),
                3 => {
                    let merged = deletions.get_or_insert_default().merge(part.bytes()?);
                    merged.map_err(unreadable)?;
                }
                4 => rows = part.number()?,
                5 | 6 | 12 => row_ids = Some(part),
                7 | 8 | 13 => updated = Some(part),
                9 | 10 | 14 => created = Some(part),
                11 => return Err(Problem::unsupported("it has overlay files")),
                _ => unknown.keep(&part),
            }
        }
        // The last number is kept free: the address of its last row would be that of no row.
        let id = u32::try_from(id).ok().filter(|id| *id < u32::MAX);
        let Some(id) = id else {
            return Err(Problem::corrupt("fragment ids must be below 2^32-1"));
        };
        ensure!(rows <= u64::from(u32::MAX), "it has {rows} rows; fragments have fewer than 2^32");
        ensure!(!files.is_empty(), "it has no data files");
        check_fields_once(&files)?;
        let physical_rows = (rows > 0).then_some(rows);
        let checked = |file| DeletionFile::check(file, physical_rows, rules).map(Box::new);
        let deletion_file = deletions.map(checked).transpose()?;
        Ok(Arc::new(Self {
            id,
            deletion_file,
            physical_rows,
            row_ids: stored(row_ids, StoredNumbers::RowIds, &files)?,
            created: stored(created, StoredNumbers::Created, &files)?,
            last_updated: stored(updated, StoredNumbers::LastUpdated, &files)?,
            files,
            unknown,
        }))
    }
}

/// Most fragments have no stored numbers, which is not worth a call.
#[inline(always)]
fn stored(
    part: Option<Part<'_>>,
    what: StoredNumbers,
    files: &[DataFile],
) -> Result<Option<Stored>, Problem> {
    let Some(part) = part else { return Ok(None) };
    Stored::decode(&part, what, files).map(Some)
}

fn share(list: &mut Arc<[i32]>, other: &Arc<[i32]>) {
    if !Arc::ptr_eq(list, other) && list == other {
        *list = other.clone();
    }
}

/// Fragments of a version, to be changed or to be listed in a transaction.
pub(crate) fn owned(fragments: &[Arc<Fragment>]) -> Vec<Fragment> {
    fragments.iter().map(|fragment| Fragment::clone(fragment)).collect()
}

/// The id of a fragment that is wrong elsewhere.
fn id_of(message: &[u8]) -> Option<u64> {
    let (mut parts, mut id) = (Parts::new(message), 0);
    while let Ok(Some(part)) = parts.next() {
        if part.field == 1 {
            id = part.number().ok()?;
        }
    }
    Some(id)
}

/// Two columns for one field would leave it open which counts.
fn check_fields_once(files: &[DataFile]) -> Result<(), Problem> {
    // In the order of a schema that nobody changed they need no list of their own.
    if let [file] = files
        && file.fields.is_sorted_by(|one, next| one < next)
    {
        return Ok(());
    }
    let listed = files.iter().flat_map(|file| file.fields.iter()).filter(|field| **field >= 0);
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
