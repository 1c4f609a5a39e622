//! Tables: folders whose rows are read like those of a file.

use std::path::{Path, PathBuf};

use arrow_schema::SchemaRef;
use lancet::{ReadOptions, RowRanges};
use lancet_table::{At, Table, TableColumns, TableOptions};

use super::Place;
use crate::error::{Error, InFile, Result};
use crate::format::{Format, is_table};
use crate::input::{Input, Selection, batch_rows};
use crate::versions;

/// Which version of a table is read.
#[derive(Debug, Clone, Default, PartialEq, clap::Args)]
#[command(next_help_heading = "Options for tables")]
pub struct VersionArgs {
    /// Version of the table; the latest by default
    #[arg(long, value_name = "NUMBER")]
    version: Option<u64>,
    /// Tag that names a version
    #[arg(long, value_name = "NAME", conflicts_with_all = ["version", "branch"])]
    tag: Option<String>,
    /// Branch of the table
    #[arg(long, value_name = "NAME")]
    branch: Option<String>,
    /// Folder outside of the table in which it may read files, as shallow clones do; OLD=FOLDER for one that was moved
    #[arg(long, value_name = "FOLDER")]
    allow_base: Vec<PathBuf>,
}

impl VersionArgs {
    fn at(&self) -> At {
        match (&self.tag, &self.branch, self.version) {
            (Some(tag), _, _) => At::Tag(tag.clone()),
            (None, Some(branch), Some(version)) => At::BranchVersion(branch.clone(), version),
            (None, Some(branch), None) => At::Branch(branch.clone()),
            (None, None, Some(version)) => At::Version(version),
            (None, None, None) => At::Latest,
        }
    }

    /// Options that open the version.
    pub fn options(&self, read: ReadOptions) -> TableOptions {
        let options = TableOptions::default().with_version(self.at()).with_read_options(read);
        self.allow_base.iter().fold(options, |options, base| match moved(base) {
            Some((recorded, actual)) => options.with_moved_base(recorded, actual),
            None => options.with_base(base),
        })
    }

    /// Opens the table in a folder.
    pub fn open(&self, folder: &Path) -> Result<Table> {
        self.open_with(folder, ReadOptions::default())
    }

    /// Opens the table in a folder, with options for its data files.
    pub fn open_with(&self, folder: &Path, read: ReadOptions) -> Result<Table> {
        open_table(folder, self.options(read))
    }

    /// Whether one version is named, not only a branch.
    pub fn is_one(&self) -> bool {
        self.version.is_some() || self.tag.is_some()
    }

    /// Fails where a table is meant, but `path` is a file.
    pub fn check_is_table(&self, path: &Path) -> Result<()> {
        if *self == Self::default() { Ok(()) } else { refuse_file(path) }
    }
}

/// Which branch of a table is changed.
#[derive(Debug, Clone, Default, PartialEq, clap::Args)]
pub struct BranchArgs {
    /// Branch of the table; the main one by default
    #[arg(long, value_name = "NAME")]
    branch: Option<String>,
    /// Folder outside of the table in which it may read files, as shallow clones do; OLD=FOLDER for one that was moved
    #[arg(long, value_name = "FOLDER")]
    allow_base: Vec<PathBuf>,
}

impl BranchArgs {
    /// Opens the newest version of the branch of the table in a folder.
    pub fn open(&self, folder: &Path, read: ReadOptions) -> Result<Table> {
        let (branch, allow_base) = (self.branch.clone(), self.allow_base.clone());
        VersionArgs { branch, allow_base, ..VersionArgs::default() }.open_with(folder, read)
    }
}

/// Which version of a table is read, and what beside its columns.
#[derive(Debug, Clone, Default, PartialEq, clap::Args)]
#[command(next_help_heading = "Options for tables")]
pub struct TableArgs {
    #[command(flatten)]
    version: VersionArgs,
    /// Give the ids of rows, too, as column _rowid
    #[arg(long)]
    with_row_id: bool,
    /// Give the addresses of rows, too, as column _rowaddr
    #[arg(long)]
    with_row_address: bool,
}

impl TableArgs {
    /// Opens the table in a folder.
    pub fn open(&self, folder: &Path, read: ReadOptions) -> Result<InputTable> {
        let table = open_table(folder, self.version.options(read))?;
        let ids = self.with_row_id.then_some("_rowid");
        let addresses = self.with_row_address.then_some("_rowaddr");
        Ok(InputTable { table, more: ids.into_iter().chain(addresses).collect() })
    }
}

/// The two folders in `OLD=FOLDER`, unless it is the name of one.
fn moved(base: &Path) -> Option<(&str, &str)> {
    base.to_str().filter(|_| !base.is_dir())?.split_once('=')
}

/// Opens a table; what the library calls its options are those of the program here.
pub fn open_table(folder: &Path, options: TableOptions) -> Result<Table> {
    if folder.metadata().is_ok_and(|found| !found.is_dir()) {
        return Err(Error::new(format!(
            "is {}, not the folder of a table; its rows: lancet cat {}; a table of them: \
             lancet table create FOLDER {}",
            kind_of(folder),
            folder.display(),
            folder.display()
        ))
        .about(folder));
    }
    Table::open_with(folder, options).in_table(folder)
}

/// Names the folder in which something failed, and the option that helps.
pub trait InTable<T> {
    fn in_table(self, folder: &Path) -> Result<T>;
}

impl<T> InTable<T> for lancet_table::Result<T> {
    fn in_table(self, folder: &Path) -> Result<T> {
        self.in_file(folder).map_err(|error| match error {
            Error::Message(message) => {
                Error::Message(message.replace("`TableOptions::with_base`", "--allow-base FOLDER"))
            }
            other => other,
        })
    }
}

/// What is said where an option is for tables only. A folder without versions and what is not there at all are told of by
/// who opens them.
pub fn refuse_file(path: &Path) -> Result<()> {
    match Place::of(path)? {
        Place::Disk(disk) if disk.is_dir() || !disk.exists() => Ok(()),
        place => {
            let kind = match &place {
                Place::Disk(disk) => kind_of(disk),
                Place::Standard => "standard input".into(),
                Place::Url(_) => "no folder on disk".into(),
            };
            Err(Error::Usage(format!(
                "{}: is {kind}, and only tables have versions, tags, branches and row ids: leave those \
                 options out, or make a table of it: lancet table create FOLDER {}",
                path.display(),
                path.display()
            )))
        }
    }
}

/// What is there instead of a table.
fn kind_of(path: &Path) -> String {
    match Format::from_path(path) {
        Ok(format) => format!("a single file ({})", format.name()),
        Err(_) => "a single file".into(),
    }
}

/// The folder that a place is, if it is a table.
pub fn table_folder(path: &Path) -> Result<Option<PathBuf>> {
    Ok(match Place::of(path)? {
        Place::Disk(disk) if is_table(&disk) => Some(disk),
        _ => None,
    })
}

/// A table to read.
pub struct InputTable {
    pub table: Table,
    /// Columns that were asked for beside those of the table.
    more: Vec<&'static str>,
}

impl InputTable {
    /// All columns of a table.
    pub fn new(table: Table) -> Self {
        Self { table, more: Vec::new() }
    }

    /// Bytes of its data files, as far as the manifest tells.
    pub fn size_bytes(&self) -> u64 {
        versions::data_bytes(self.table.manifest())
    }

    /// The columns that a command names, or all.
    pub fn columns(&self, names: &[String]) -> TableColumns {
        if names.is_empty() && self.more.is_empty() {
            return TableColumns::All;
        }
        let schema = self.table.schema();
        let all = schema.fields().iter().map(|field| field.name().clone());
        let mut columns: Vec<String> =
            if names.is_empty() { all.collect() } else { names.to_vec() };
        let more = self.more.iter().filter(|name| !names.iter().any(|known| known == *name));
        columns.extend(more.map(|name| (*name).to_owned()));
        columns.into()
    }

    /// Some rows and columns; `name` is what messages call the table.
    pub fn rows(&self, name: &Path, selection: &Selection) -> Result<Input> {
        let table_rows = self.table.num_rows().in_table(name)?;
        let rows = selection.rows.within(table_rows).map_err(|e| e.about(name))?;
        self.scan(name, &selection.columns, rows.into())
    }

    /// Some rows of some columns.
    pub fn scan(&self, name: &Path, columns: &[String], rows: RowRanges) -> Result<Input> {
        let table_rows = self.table.num_rows().in_table(name)?;
        let num_rows = rows.count();
        let columns = self.table.project(self.columns(columns)).in_table(name)?;
        let schema: SchemaRef = columns.schema();
        let row_bytes = self.size_bytes().checked_div(table_rows).unwrap_or(0);
        let batch_rows = batch_rows(&schema, row_bytes);
        let scan = self.table.scan().columns(columns).select(rows).batch_rows(batch_rows);
        let mut batches = scan.build().in_table(name)?;
        let name = name.to_owned();
        let batches = std::iter::from_fn(move || Some(batches.next_batch()?.in_table(&name)));
        Ok(Input {
            schema,
            file_rows: Some(table_rows),
            rows: Some(num_rows),
            batches: Box::new(batches),
        })
    }
}
