//! New rows: tables that begin, grow, or begin again.
//!
//! Data files are written first, under names that nobody has; nothing of it is visible before the commit. What cannot be
//! committed is removed again, and what is left of a process that was killed is found by a cleanup.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_schema::Schema;
use lancet::Version;

use crate::commit::{already_there, commit_first};
use crate::data_file::FileVersion;
use crate::data_writer::{FragmentWriter, remove_files};
use crate::error::{Error, Problem, Result};
use crate::fields::next_field_id;
use crate::file_schema::{FileSchema, fields_of};
use crate::fragment::Fragment;
use crate::manifest::Manifest;
use crate::names::{VERSIONS_DIR, VersionName};
use crate::next::Given;
use crate::opening::Opened;
use crate::random;
use crate::rebase::Pending;
use crate::row_source::RowSource;
use crate::storage::{Storage, Unsynced};
use crate::transaction::{Append, Operation, Overwrite, Transaction};
use crate::write_options::TableWriteOptions;

/// What a change did to a table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TableChange {
    /// The version of the table now. A change of no rows makes no version.
    pub version: u64,
    /// Rows that are new.
    pub rows_inserted: u64,
    /// Rows that have other values.
    pub rows_updated: u64,
    /// Rows that are gone.
    pub rows_deleted: u64,
}

/// Makes a table.
pub(crate) async fn create<S: Storage>(
    storage: S,
    root: PathBuf,
    rows: impl RowSource,
    options: &TableWriteOptions,
) -> Result<(Opened<S>, TableChange)> {
    let names = storage.list(&root.join(VERSIONS_DIR)).await?.unwrap_or_default();
    if names.iter().any(|name| VersionName::parse(name).is_some()) {
        return Err(already_there(&root));
    }
    let version = options.version.unwrap_or_default();
    let (new, num_rows, unsynced) =
        new_contents(&storage, &root, rows, 0, version, options).await?;
    let fragments = new.fragments.clone();
    let transaction = Transaction::new(0, random::uuid(), Operation::Overwrite(new));
    let mut pending = Pending::new(transaction);
    pending.given = Given {
        stable_row_ids: options.stable_row_ids,
        data_format: Some(FileVersion::of(version)),
        restored: None,
    };
    let committed = commit_first(storage.clone(), root.clone(), pending, unsynced, options).await;
    let opened = unless_lost(&storage, &root, &fragments, committed).await?;
    let version = opened.manifest().version;
    Ok((opened, TableChange { version, rows_inserted: num_rows, ..TableChange::default() }))
}

impl<S: Storage> Opened<S> {
    /// Adds rows.
    pub(crate) async fn append(
        &self,
        rows: impl RowSource,
        options: &TableWriteOptions,
    ) -> Result<(Self, TableChange)> {
        let (storage, root) = (self.storage(), self.root.as_path());
        let version = self.storage_version(options)?;
        let schema = FileSchema::of_rows(&self.reads.snapshot.schema, &rows.schema(), version)?;
        let (fragments, unsynced) = write_rows(storage, root, rows, schema, options).await?;
        let rows_inserted = num_rows(&fragments);
        let mut change = TableChange { rows_inserted, ..TableChange::default() };
        if fragments.is_empty() {
            change.version = self.manifest().version;
            return Ok((self.clone(), change));
        }
        let append = Append { fragments: fragments.clone(), ..Append::default() };
        let pending = Pending::new(self.transaction(Operation::Append(append)));
        let committed = self.commit_with(pending, unsynced, options).await;
        let opened = unless_lost(storage, root, &fragments, committed).await?;
        change.version = opened.manifest().version;
        Ok((opened, change))
    }

    /// Replaces all rows and the schema.
    pub(crate) async fn overwrite(
        &self,
        rows: impl RowSource,
        options: &TableWriteOptions,
    ) -> Result<(Self, TableChange)> {
        let (storage, root) = (self.storage(), self.root.as_path());
        let version = self.storage_version(options)?;
        let manifest = self.manifest();
        let first_id = match manifest.max_field_id {
            Some(_) => self.checked(next_field_id(manifest))?,
            None => 0,
        };
        let (new, rows_inserted, unsynced) =
            new_contents(storage, root, rows, first_id, version, options).await?;
        let fragments = new.fragments.clone();
        let mut pending = Pending::new(self.transaction(Operation::Overwrite(new)));
        pending.given.data_format = Some(FileVersion::of(version));
        let committed = self.commit_with(pending, unsynced, options).await;
        let opened = unless_lost(storage, root, &fragments, committed).await?;
        let rows_deleted = manifest.num_rows().unwrap_or(0);
        let version = opened.manifest().version;
        Ok((opened, TableChange { version, rows_inserted, rows_deleted, rows_updated: 0 }))
    }

    /// A transaction on top of this version.
    pub(crate) fn transaction(&self, operation: Operation) -> Transaction {
        Transaction::new(self.manifest().version, random::uuid(), operation)
    }

    /// The version of new data files; an error if the table cannot be written at all.
    pub(crate) fn storage_version(&self, options: &TableWriteOptions) -> Result<Version> {
        let manifest = self.manifest();
        self.checked(manifest.check_writable())?;
        if let Some(version) = options.version {
            return Ok(version);
        }
        let Some(version) = data_format(manifest) else { return Ok(Version::default()) };
        let writable = version.writable().ok_or_else(|| {
            Problem::unsupported(format!(
                "its data files are of format {version}; lancet writes 2.0 to 2.2"
            ))
        });
        self.checked(writable)
    }

    pub(crate) fn checked<T>(&self, result: Result<T, Problem>) -> Result<T> {
        result.map_err(|problem| problem.in_file(&self.manifest().file))
    }
}

/// The version of the data files; old manifests do not tell it.
fn data_format(manifest: &Manifest) -> Option<FileVersion> {
    let first = || manifest.fragments.iter().flat_map(|fragment| &fragment.files).next();
    manifest.data_format.or_else(|| first().map(|file| file.version))
}

/// The files of a whole table.
async fn new_contents<S: Storage>(
    storage: &S,
    root: &Path,
    rows: impl RowSource,
    first_id: i32,
    version: Version,
    options: &TableWriteOptions,
) -> Result<(Overwrite, u64, Unsynced)> {
    let schema = rows.schema();
    let fields = fields_of(&schema, version, first_id)?;
    let file_schema = FileSchema::new(&fields, version)?;
    let (fragments, unsynced) = write_rows(storage, root, rows, file_schema, options).await?;
    let num_rows = num_rows(&fragments);
    let schema_metadata = bytes_of_metadata(&schema);
    let new = Overwrite { fragments, fields, schema_metadata, ..Overwrite::default() };
    Ok((new, num_rows, unsynced))
}

fn bytes_of_metadata(schema: &Schema) -> std::collections::BTreeMap<String, Vec<u8>> {
    let metadata = schema.metadata().iter();
    metadata.map(|(key, value)| (key.clone(), value.clone().into_bytes())).collect()
}

pub(crate) fn num_rows(fragments: &[Fragment]) -> u64 {
    let rows = fragments.iter().filter_map(|fragment| fragment.physical_rows);
    rows.fold(0, u64::saturating_add)
}

/// Writes rows into new files; on an error there are none.
async fn write_rows<S: Storage>(
    storage: &S,
    root: &Path,
    mut rows: impl RowSource,
    schema: FileSchema,
    options: &TableWriteOptions,
) -> Result<(Vec<Fragment>, Unsynced)> {
    let schema = Arc::new(schema);
    let mut writer = FragmentWriter::new(storage, root, schema.clone(), options);
    let written = async {
        while let Some(batch) = rows.next().await {
            writer.write(&schema.conform(&batch?)?).await?;
        }
        writer.finish().await
    };
    match written.await {
        Ok(written) => Ok(written),
        Err(error) => {
            writer.give_up().await;
            Err(error)
        }
    }
}

/// Removes the files of a change that was not committed. Where that is not certain they stay.
pub(crate) async fn unless_lost<S: Storage, T>(
    storage: &S,
    root: &Path,
    fragments: &[Fragment],
    committed: Result<T>,
) -> Result<T> {
    if let Err(error) = &committed
        && is_certain(error)
    {
        remove_files(storage, root, fragments).await;
    }
    committed
}

/// Whether an error says that nothing was committed. From the moment in which a version may be there, all errors are
/// [`Error::Uncertain`].
pub(crate) fn is_certain(error: &Error) -> bool {
    !matches!(error, Error::Uncertain { .. })
}
