//! Files of a table, for those who look into them, and a check of all of them.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lancet::{FileReader, Verification};

use crate::deletions::Deletions;
use crate::error::{Error, Problem, Result};
use crate::names::Versions;
use crate::opening;
use crate::options::{At, TableOptions};
use crate::read::Reads;
use crate::row_ids::{RowIds, Stored};
use crate::storage::{Disk, Storage, ready};
use crate::table::Table;

/// What [`Table::verify`] found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TableVerification {
    /// What is wrong; empty if the version is sound.
    pub problems: Vec<TableProblem>,
    /// What could not be checked, because lancet does not read it.
    pub unread: Vec<TableProblem>,
    /// Versions that were checked.
    pub num_versions: u64,
    /// Data files that were checked.
    pub num_data_files: u64,
    /// Deletion files that were checked.
    pub num_deletion_files: u64,
    /// Pages that were checked.
    pub num_pages: u64,
    /// Buffers whose checksum was compared.
    pub num_checksums: u64,
    /// Data files that have no checksums.
    pub num_without_checksums: u64,
    /// Zone maps that were checked.
    pub num_zone_maps: u64,
}

/// Something that is wrong with a file.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct TableProblem {
    /// The file; the manifest for what is wrong with a fragment.
    pub file: String,
    /// What is wrong.
    pub what: String,
}

impl TableProblem {
    /// Something that is wrong with a file.
    pub fn new(file: impl Into<String>, what: impl Into<String>) -> Self {
        Self { file: file.into(), what: what.into() }
    }
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
    /// rows can be read. `progress` is told how many bytes of data files are done.
    ///
    /// What is wrong with the table is in the result; errors are only those of reading it.
    pub fn verify(&self, progress: impl FnMut(VerifyProgress)) -> Result<TableVerification> {
        let mut verifier = Verifier::new(progress, 1);
        verifier.check(self)?;
        Ok(verifier.found)
    }

    /// Checks all versions of the table in a folder, or of the branch that the options name, each data file once. A version
    /// that does not open is a problem like others, and tags must name versions that are there.
    pub fn verify_all(
        folder: impl AsRef<Path>,
        options: TableOptions,
        progress: impl FnMut(VerifyProgress),
    ) -> Result<TableVerification> {
        let folder = folder.as_ref();
        let branch = match &options.at {
            At::Branch(name) | At::BranchVersion(name, _) if name != "main" => Some(name.clone()),
            _ => None,
        };
        let mut verifier = Verifier::new(progress, 0);
        let versions = ready(opening::versions(&Disk, folder, branch.as_deref()));
        let Some(versions) = verifier.note(versions)? else { return Ok(verifier.found) };
        if versions.numbers().is_empty() {
            return Err(Error::invalid(format!("{}: the table has no versions", folder.display())));
        }
        verifier.at.num_versions = versions.numbers().len();
        let mut last: Option<Self> = None;
        for (place, number) in versions.numbers().iter().enumerate() {
            verifier.at.version = place;
            let at = match &branch {
                Some(name) => At::BranchVersion(name.clone(), *number),
                None => At::Version(*number),
            };
            let opened = match &last {
                Some(other) => other.checkout(at),
                None => Self::open_with(folder, options.clone().with_version(at)),
            };
            let Some(table) = verifier.note(opened)? else { continue };
            verifier.check(&table)?;
            last = Some(table);
        }
        if let Some(table) = &last {
            verifier.check_tags(table, &versions, branch.as_deref())?;
        }
        Ok(verifier.found)
    }
}

/// How far a check has come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct VerifyProgress {
    /// Which version is looked at, counted from 0.
    pub version: usize,
    /// How many versions there are.
    pub num_versions: usize,
    /// Bytes of data files of that version that are done.
    pub done: u64,
    /// Bytes of all its data files that were not checked with versions before.
    pub all: u64,
}

/// What was checked so far.
struct Verifier<P> {
    found: TableVerification,
    /// Data files that need not be checked again.
    checked: HashSet<PathBuf>,
    deletion_files: HashSet<PathBuf>,
    noted: HashSet<TableProblem>,
    progress: P,
    at: VerifyProgress,
}

impl<P: FnMut(VerifyProgress)> Verifier<P> {
    fn new(progress: P, num_versions: usize) -> Self {
        Self {
            found: TableVerification::default(),
            checked: HashSet::new(),
            deletion_files: HashSet::new(),
            noted: HashSet::new(),
            progress,
            at: VerifyProgress { num_versions, ..VerifyProgress::default() },
        }
    }

    /// Takes the value out of a result. What is wrong with the table becomes a problem; a failed read stays an error,
    /// unless it is that a file is missing.
    fn note<T>(&mut self, result: Result<T>) -> Result<Option<T>> {
        let (is_unread, file, what) = match result {
            Ok(value) => return Ok(Some(value)),
            Err(Error::Corrupt { file, rule }) => (false, file, rule),
            Err(Error::Unsupported { file, what }) => (true, file, what),
            Err(Error::Data { file, source: lancet::Error::Unsupported(what) }) => {
                (true, file, what)
            }
            Err(Error::Data { file, source: source @ lancet::Error::Corrupt(_) }) => {
                (false, file, source.to_string())
            }
            Err(Error::Io { context, source }) if source.kind() == std::io::ErrorKind::NotFound => {
                (false, context, source.to_string())
            }
            Err(other) => return Err(other),
        };
        let problem = TableProblem::new(file, what);
        // Several versions may say the same.
        if self.noted.insert(problem.clone()) {
            let list = if is_unread { &mut self.found.unread } else { &mut self.found.problems };
            list.push(problem);
        }
        Ok(None)
    }

    /// Checks one version.
    fn check(&mut self, table: &Table) -> Result<()> {
        let before = self.found.len();
        let fragments = &table.manifest().fragments;
        let is_new = |fragment: u32, file: usize| {
            table.data_file_path(fragment, file).is_ok_and(|path| !self.checked.contains(&path))
        };
        self.at.done = 0;
        self.at.all = fragments
            .iter()
            .flat_map(|fragment| fragment.files.iter().enumerate().map(|file| (fragment.id, file)))
            .filter(|(fragment, (place, _))| is_new(*fragment, *place))
            .filter_map(|(_, (_, file))| file.size_bytes)
            .fold(0, u64::saturating_add);
        for place in 0..fragments.len() {
            self.check_fragment(table, place)?;
        }
        let has_stable_ids = table.manifest().has_stable_row_ids();
        if self.found.len() == before && has_stable_ids {
            let index = ready(table.at.reads.row_index());
            self.note(index)?;
        }
        self.found.num_versions = self.found.num_versions.saturating_add(1);
        Ok(())
    }

    fn check_fragment(&mut self, table: &Table, place: usize) -> Result<()> {
        let reads = &table.at.reads;
        let before = self.found.len();
        let fragment = reads.snapshot.fragment(place)?;
        let is_read = self.note(ready(reads.deletions(place)))?.is_some();
        if let Some(file) = fragment.deletion_file.as_ref().filter(|_| is_read) {
            let path = reads.folders.deletion_file(file.base, &file.file_name(fragment.id))?;
            self.deletion_files.insert(path);
            self.found.num_deletion_files = self.deletion_files.len() as u64;
        }
        self.note(reads.check_sequences(place))?;
        for file in 0..fragment.files.len() {
            self.check_file(table, place, file)?;
        }
        // Columns of several files together, as a scan has them.
        let num_rows = ready(reads.physical_rows(place)).unwrap_or(0).min(1);
        let columns = table.project(..)?.with_blobs_described();
        if self.found.len() == before {
            let row = lancet::Rows::Ranges((0..num_rows).into());
            self.note(ready(reads.read(place, &columns, &row)))?;
        }
        Ok(())
    }

    fn check_file(&mut self, table: &Table, place: usize, file: usize) -> Result<()> {
        let opened = ready(table.at.reads.open(place, file));
        let Some(file) = self.note(opened)? else { return Ok(()) };
        if !self.checked.insert(file.path.clone()) {
            return Ok(());
        }
        let (mut at, start, size) = (self.at, self.at.done, file.file().file_bytes());
        let progress = &mut self.progress;
        let checked = file.handle.verify_with(|step| {
            // Bytes that are looked at several times count as often there.
            let share = u128::from(size).saturating_mul(step.done.into());
            let share = share.checked_div(step.all.into()).unwrap_or(0);
            let share = u64::try_from(share).unwrap_or(size);
            at.done = start.saturating_add(share).min(at.all);
            progress(at);
        });
        self.at.done = start.saturating_add(size).min(at.all);
        let checked = checked.map_err(|error| file.error(error));
        let Some(checked) = self.note(checked)? else { return Ok(()) };
        self.found.add(&file.path.display().to_string(), checked);
        Ok(())
    }

    /// Tags of the branch name versions that are there.
    fn check_tags(
        &mut self,
        table: &Table,
        versions: &Versions,
        branch: Option<&str>,
    ) -> Result<()> {
        let tags = self.note(table.tags())?.unwrap_or_default();
        for tag in tags.iter().filter(|tag| tag.branch.as_deref() == branch) {
            if versions.get(tag.version).is_none() {
                let what = format!("it names version {}, which is not there", tag.version);
                self.found.problems.push(TableProblem::new(format!("tag `{}`", tag.name), what));
            }
        }
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
    /// How much was found to be wrong or unread.
    fn len(&self) -> usize {
        self.problems.len().saturating_add(self.unread.len())
    }

    /// Adds what was found in a data file.
    fn add(&mut self, file: &str, found: Verification) {
        let add = |sum: &mut u64, more: u64| *sum = sum.saturating_add(more);
        add(&mut self.num_data_files, 1);
        add(&mut self.num_pages, found.num_pages);
        add(&mut self.num_checksums, found.num_checksums);
        add(&mut self.num_without_checksums, (!found.has_checksums).into());
        add(&mut self.num_zone_maps, found.num_zone_maps);
        let problem = |what: String| TableProblem::new(file, what);
        self.problems.extend(found.problems.iter().map(|corrupt| problem(corrupt.to_string())));
        self.unread.extend(found.unread.into_iter().map(problem));
    }
}
