//! Files of a table, for those who look into them, and a check of all of them.

use std::path::PathBuf;
use std::sync::Arc;

use lancet::FileReader;

use crate::deletions::Deletions;
use crate::error::{Error, Problem, Result};
use crate::flags::Flags;
use crate::read::Reads;
use crate::row_ids::{RowIds, Stored};
use crate::storage::{Storage, ready};
use crate::table::Table;

/// What [`Table::verify`] found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TableVerification {
    /// What is wrong; empty if the version is sound.
    pub problems: Vec<TableProblem>,
    /// What could not be checked, because lancet does not read it.
    pub unread: Vec<TableProblem>,
    /// Data files that were checked.
    pub num_data_files: u64,
    /// Deletion files that were checked.
    pub num_deletion_files: u64,
}

/// Something that is wrong with a file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TableProblem {
    /// The file; the manifest for what is wrong with a fragment.
    pub file: String,
    /// What is wrong.
    pub what: String,
}

/// Files.
impl Table {
    /// Where a data file is: the fragment by its id, the file by its place there.
    pub fn data_file_path(&self, fragment: u32, file: usize) -> Result<PathBuf> {
        let fragment = self.at.reads.snapshot.fragment(self.place(fragment)?)?;
        let data_file = fragment.files.get(file).ok_or_else(|| {
            Error::invalid(format!("fragment {} has no data file {file}", fragment.id))
        })?;
        self.at.reads.folders.data_file(data_file.base, &data_file.path)
    }

    /// A data file, opened and compared with what the manifest says of it.
    pub fn open_data_file(&self, fragment: u32, file: usize) -> Result<FileReader> {
        Ok(ready(self.at.reads.open(self.place(fragment)?, file))?.handle.clone())
    }

    /// The deleted rows of a fragment.
    pub fn deletions(&self, fragment: u32) -> Result<Arc<Deletions>> {
        ready(self.at.reads.deletions(self.place(fragment)?))
    }

    fn place(&self, fragment: u32) -> Result<usize> {
        let place = self.at.reads.snapshot.place(fragment);
        place.ok_or_else(|| Error::invalid(format!("there is no fragment {fragment}")))
    }

    /// Checks every file of this version: deletion files, row ids and row versions, every rule of every data file, and that
    /// rows can be read. `progress` is told how many fragments are done.
    ///
    /// What is wrong with the table is in the result; errors are only those of reading it.
    pub fn verify(&self, mut progress: impl FnMut(usize)) -> Result<TableVerification> {
        let mut found = TableVerification::default();
        for place in 0..self.manifest().fragments.len() {
            let fragment = self.at.reads.snapshot.fragment(place)?;
            let is_read = found.note(ready(self.at.reads.deletions(place)))?.is_some();
            let counts = is_read && fragment.deletion_file.is_some();
            found.num_deletion_files = found.num_deletion_files.saturating_add(counts.into());
            let sequences = self.at.reads.check_sequences(place);
            found.note(sequences)?;
            for file in 0..fragment.files.len() {
                self.verify_file(place, file, &mut found)?;
            }
            // Columns of several files together, as a scan has them.
            let row = lancet::Rows::Ranges(
                (0..ready(self.at.reads.physical_rows(place)).unwrap_or(0).min(1)).into(),
            );
            let columns = self.project(..)?.with_blobs_described();
            if found.problems.is_empty() && found.unread.is_empty() {
                let read = ready(self.at.reads.read(place, &columns, &row));
                found.note(read)?;
            }
            progress(place.saturating_add(1));
        }
        if found.problems.is_empty() && self.manifest().reader_flags.contains(Flags::STABLE_ROW_IDS)
        {
            let index = ready(self.at.reads.row_index());
            found.note(index)?;
        }
        Ok(found)
    }

    fn verify_file(&self, place: usize, file: usize, found: &mut TableVerification) -> Result<()> {
        let opened = ready(self.at.reads.open(place, file));
        let Some(file) = found.note(opened)? else { return Ok(()) };
        let checked = file.handle.verify().map_err(|error| file.error(error));
        let Some(checked) = found.note(checked)? else { return Ok(()) };
        found.num_data_files = found.num_data_files.saturating_add(1);
        let name = file.path.display().to_string();
        let problem = |what: String| TableProblem { file: name.clone(), what };
        found.problems.extend(checked.problems.iter().map(|corrupt| problem(corrupt.to_string())));
        found.unread.extend(checked.unread.into_iter().map(problem));
        Ok(())
    }
}

impl<S: Storage> Reads<S> {
    /// Decodes the row ids and row versions of a fragment, as far as the manifest holds them.
    fn check_sequences(&self, place: usize) -> Result<()> {
        let fragment = self.snapshot.fragment(place)?;
        if let RowIds::Sequence(sequence) = self.snapshot.row_ids(place)?.as_ref() {
            let checked = sequence.check_unique();
            checked.map_err(|error| self.snapshot.problem(fragment, Problem::from(error)))?;
        }
        if let Some(Stored::Inline(bytes)) = &fragment.created {
            self.snapshot.created(place, bytes)?;
        }
        if let Some(Stored::Inline(bytes)) = &fragment.last_updated {
            self.snapshot.last_updated(place, bytes)?;
        }
        Ok(())
    }
}

impl TableVerification {
    /// Takes the value out of a result. What is wrong with the table becomes a problem; a failed read stays an error,
    /// unless it is that a file is missing.
    fn note<T>(&mut self, result: Result<T>) -> Result<Option<T>> {
        let problem = |file: String, what: String| TableProblem { file, what };
        match result {
            Ok(value) => return Ok(Some(value)),
            Err(Error::Corrupt { file, rule }) => self.problems.push(problem(file, rule)),
            Err(Error::Unsupported { file, what }) => self.unread.push(problem(file, what)),
            Err(Error::Data { file, source: lancet::Error::Unsupported(what) }) => {
                self.unread.push(problem(file, what));
            }
            Err(Error::Data { file, source: source @ lancet::Error::Corrupt(_) }) => {
                self.problems.push(problem(file, source.to_string()));
            }
            Err(Error::Io { context, source }) if source.kind() == std::io::ErrorKind::NotFound => {
                self.problems.push(problem(context, source.to_string()));
            }
            Err(other) => return Err(other),
        }
        Ok(None)
    }
}
