//! A table in a folder, opened at one of its versions.

use std::fmt;
use std::path::Path;

use arrow_schema::SchemaRef;

use crate::columns::{TableColumns, TableProjection};
use crate::error::Result;
use crate::manifest::Manifest;
use crate::opening::Opened;
use crate::options::{At, TableOptions};
use crate::refs::{Branch, Tag};
use crate::storage::{Disk, ready};
use crate::transaction::Transaction;

/// One version of a Lance table in a folder. Cheap to clone; all methods take `&self` and need no runtime.
///
/// Opening lists the versions and reads one manifest. Data files are opened when their rows are wanted, and stay open
/// for the next read.
///
/// ```no_run
/// use lancet_table::{At, Table};
///
/// # fn main() -> lancet_table::Result<()> {
/// let table = Table::open("cities.lance")?; // the latest version
/// println!("version {} of {:?}, {} rows", table.version(), table.versions(), table.num_rows()?);
///
/// let rows = table.take(&[7, 1, 1_000_000], ["name", "_rowid"])?;
/// for batch in table.scan().columns(["name", "population"]).limit(100).build()? {
///     println!("{} rows", batch?.num_rows());
/// }
/// let before = table.checkout(At::Version(3))?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Table {
    pub(crate) at: Opened<Disk>,
}

impl Table {
    /// Opens the latest version of the table in a folder.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(folder, TableOptions::default())
    }

    /// Opens the table in a folder with options, which may name a version.
    pub fn open_with(folder: impl AsRef<Path>, options: TableOptions) -> Result<Self> {
        let at = ready(Opened::open(Disk, folder.as_ref().to_owned(), options))?;
        Ok(Self { at })
    }

    /// Another version of the same table. Files that are open in both stay open.
    pub fn checkout(&self, at: At) -> Result<Self> {
        Ok(Self { at: ready(self.at.checkout(&at))? })
    }

    /// Whether the version that is open is still the newest one, of the branch if it is one. That reads the names of
    /// versions, and no manifest.
    pub fn is_latest(&self) -> Result<bool> {
        ready(self.at.is_latest())
    }

    /// The newest version of the same table, or of the branch that is open.
    pub fn newest(&self) -> Result<Self> {
        Ok(Self { at: ready(self.at.newest())? })
    }

    /// The version that is open.
    pub fn version(&self) -> u64 {
        self.manifest().version
    }

    /// The numbers of all versions that were there when the table was opened, oldest first; on a branch those of the
    /// branch.
    pub fn versions(&self) -> &[u64] {
        self.at.versions.numbers()
    }

    /// Versions outside the history, which are opened by their numbers only.
    pub fn detached_versions(&self) -> &[u64] {
        self.at.versions.detached()
    }

    /// All that the version file says.
    pub fn manifest(&self) -> &Manifest {
        self.at.manifest()
    }

    /// The manifest of another version of the same table or branch.
    pub fn manifest_of(&self, version: u64) -> Result<Manifest> {
        ready(self.at.manifest_of(version))
    }

    /// What made the version that is open; `None` if it does not tell.
    pub fn transaction(&self) -> Result<Option<Transaction>> {
        self.transaction_of(self.version())
    }

    /// What made another version of the same table or branch; `None` if it does not tell.
    pub fn transaction_of(&self, version: u64) -> Result<Option<Transaction>> {
        ready(self.at.made_by(version))
    }

    /// The folder of the version that is open: that of the table, or of a branch.
    pub fn folder(&self) -> &Path {
        &self.at.root
    }

    /// The options that the table was opened with.
    pub fn options(&self) -> &TableOptions {
        &self.at.options
    }

    /// The schema, with field and schema metadata.
    pub fn schema(&self) -> SchemaRef {
        self.at.reads.snapshot.schema.arrow.clone()
    }

    /// Number of rows. It is in the manifest; only tables of the oldest writers have to open files for it.
    pub fn num_rows(&self) -> Result<u64> {
        ready(self.at.num_rows())
    }

    /// Looks up columns, once for many reads.
    pub fn project(&self, columns: impl Into<TableColumns>) -> Result<TableProjection> {
        self.at.project(columns.into())
    }

    /// The tags of the table, by name. Reads a small file for each.
    pub fn tags(&self) -> Result<Vec<Tag>> {
        ready(self.at.tags())
    }

    /// The branches of the table, by name. Reads a small file for each.
    pub fn branches(&self) -> Result<Vec<Branch>> {
        ready(self.at.branches())
    }
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table")
            .field("folder", &self.at.root)
            .field("version", &self.version())
            .finish_non_exhaustive()
    }
}
