//! `lancet table create`, `append` and `overwrite`: the rows of files become those of a table.

use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use lancet::Version;
use lancet_table::{Table, TableChange, TableWriteOptions};

use super::change::{ChangeArgs, Done, folder};
use super::source::{Failure, Rows, SourceArgs};
use crate::error::{Error, Result};
use crate::format::is_table;
use crate::places::InTable;
use crate::progress;
use crate::signals::Cancel;

const CREATE: &str = "\
Examples:
  lancet table create cities.lance cities.csv
  lancet table create cities.lance 'part-*.parquet' --stable-row-ids
  lancet table create cities.lance cities.csv --types zip=string,area=decimal(10,2)
  zcat cities.csv.gz | lancet table create cities.lance - --from csv
  lancet table create cities.lance old.lance --storage-version 2.1 -m 'as of 2023'

Several files need the same columns. With stable row ids, rows keep their ids when they are updated
or compacted; that is decided once, here.";

const APPEND: &str = "\
Examples:
  lancet table append cities.lance more.parquet
  lancet table append cities.lance 'new/*.csv' -m 'cities of Ticino'
  other-program | lancet table append cities.lance - --from jsonl
  lancet table append cities.lance more.csv --branch census

Columns are found by name, in any order; columns that allow nulls may be missing. Values of CSV and
JSON files are read as the types of the table.";

const OVERWRITE: &str = "\
Examples:
  lancet table overwrite cities.lance cities.csv
  lancet table overwrite cities.lance new.parquet --storage-version 2.2
  lancet table restore cities.lance --version 3        takes it back

Columns may be others than before. Older versions stay as they are until a cleanup.";

/// Files of which a table is made.
#[derive(Debug, clap::Args)]
#[command(after_help = CREATE)]
pub struct CreateArgs {
    /// Folder of the new table
    table: PathBuf,
    /// Files or tables to read: paths, patterns such as 'part-*.csv', URLs, - for standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Rows keep their ids when they are changed or moved
    #[arg(long)]
    stable_row_ids: bool,
    #[command(flatten)]
    version: StorageVersion,
    #[command(flatten)]
    size: FileSize,
    /// Message for people, kept with the version
    #[arg(short, long, value_name = "TEXT")]
    message: Option<String>,
    /// Print what was done as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    source: SourceArgs,
}

/// Files that are added.
#[derive(Debug, clap::Args)]
#[command(after_help = APPEND)]
pub struct AppendArgs {
    /// Folder of the table
    table: PathBuf,
    /// Files or tables to read: paths, patterns such as 'part-*.csv', URLs, - for standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    size: FileSize,
    #[command(flatten)]
    change: ChangeArgs,
    #[command(flatten)]
    source: SourceArgs,
}

/// Files that take the place of what was there.
#[derive(Debug, clap::Args)]
#[command(after_help = OVERWRITE)]
pub struct OverwriteArgs {
    /// Folder of the table
    table: PathBuf,
    /// Files or tables to read: paths, patterns such as 'part-*.csv', URLs, - for standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    version: StorageVersion,
    #[command(flatten)]
    size: FileSize,
    #[command(flatten)]
    change: ChangeArgs,
    #[command(flatten)]
    source: SourceArgs,
}

/// The format of data files.
#[derive(Debug, Clone, Copy, clap::Args)]
struct StorageVersion {
    /// Lance version of the data files: 2.0, 2.1 or 2.2 [default: 2.2 for a new table, else that of the table]
    #[arg(long, value_name = "VERSION", value_parser = |text: &str| text.parse::<Version>())]
    storage_version: Option<Version>,
}

/// The size of data files.
#[derive(Debug, Clone, Copy, clap::Args)]
struct FileSize {
    /// Most rows of a data file [default: 1048576]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=u64::from(u32::MAX)))]
    max_rows_per_file: Option<u64>,
}

impl StorageVersion {
    fn put(self, options: TableWriteOptions) -> TableWriteOptions {
        match self.storage_version {
            Some(version) => options.with_storage_version(version),
            None => options,
        }
    }
}

impl FileSize {
    fn put(self, options: TableWriteOptions) -> TableWriteOptions {
        match self.max_rows_per_file {
            Some(rows) => options.with_max_rows_per_fragment(rows),
            None => options,
        }
    }
}

/// Makes a table.
pub fn create(args: &CreateArgs, quiet: bool, out: &mut dyn Write) -> Result<()> {
    let folder = folder(&args.table)?;
    if is_table(&folder) {
        let message = "there is a table already; add rows with `lancet table append`, replace them \
                       with `lancet table overwrite`, or choose another folder";
        return Err(Error::new(message).about(&args.table));
    }
    let input = args.source.open(&args.files, None, quiet)?;
    let (bar, cancel, failed) =
        (progress::bar(input.rows, quiet), Cancel::begin(), Failure::default());
    let progress = bar.clone();
    let mut options = TableWriteOptions::default()
        .with_stable_row_ids(args.stable_row_ids)
        .with_cancel(cancel.flag())
        .with_progress(move |done| progress.set_position(done.rows));
    if let Some(message) = &args.message {
        options = options.with_message(message);
    }
    let options = args.size.put(args.version.put(options));
    let before = Before::new(&folder);
    let created = Table::create_with(&folder, Rows::new(input, &failed), &options);
    let created = failed.or(created, &args.table);
    let table = created.inspect_err(|_| before.restore())?;
    bar.finish_and_clear();
    let mut change = TableChange::default();
    change.version = table.version();
    change.rows_inserted = table.num_rows().in_table(&args.table)?;
    Done::rows("create", &args.table, &change).tell(args.json, quiet, out)
}

/// What was there before a table was made.
struct Before {
    folder: PathBuf,
    /// The folder and those above it that were not there, the innermost first.
    missing: Vec<PathBuf>,
    /// What was in the folder.
    names: Vec<OsString>,
}

impl Before {
    fn new(folder: &Path) -> Self {
        let above = folder.ancestors().filter(|path| !path.as_os_str().is_empty());
        let missing = above.take_while(|path| !path.exists()).map(Path::to_owned).collect();
        Self { folder: folder.to_owned(), missing, names: names(folder) }
    }

    /// Removes the folders that are new and empty. What is in use by others stays.
    fn restore(&self) {
        for name in names(&self.folder).iter().filter(|name| !self.names.contains(name)) {
            // Names in `_versions` and its like are files: there are no folders below.
            let _ = fs::remove_dir(self.folder.join(name));
        }
        for folder in &self.missing {
            let _ = fs::remove_dir(folder);
        }
    }
}

/// The names in a folder; none if it cannot be listed.
fn names(folder: &Path) -> Vec<OsString> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries.filter_map(|entry| Some(entry.ok()?.file_name())).collect()
}

/// Adds rows.
pub fn append(args: &AppendArgs, quiet: bool, out: &mut dyn Write) -> Result<()> {
    let mut table = args.change.open(&args.table)?;
    let input = args.source.open(&args.files, Some(&table.schema()), quiet)?;
    let (bar, cancel, failed) =
        (progress::bar(input.rows, quiet), Cancel::begin(), Failure::default());
    let options = args.size.put(args.change.options(&bar, &cancel));
    let change = failed.or(table.append_with(Rows::new(input, &failed), &options), &args.table)?;
    bar.finish_and_clear();
    Done::rows("append", &args.table, &change).tell(args.change.json, quiet, out)
}

/// Replaces rows and columns.
pub fn overwrite(args: &OverwriteArgs, quiet: bool, out: &mut dyn Write) -> Result<()> {
    let mut table = args.change.open(&args.table)?;
    let input = args.source.open(&args.files, None, quiet)?;
    let (bar, cancel, failed) =
        (progress::bar(input.rows, quiet), Cancel::begin(), Failure::default());
    let options = args.size.put(args.version.put(args.change.options(&bar, &cancel)));
    let rows = Rows::new(input, &failed);
    let change = failed.or(table.overwrite_with(rows, &options), &args.table)?;
    bar.finish_and_clear();
    Done::rows("overwrite", &args.table, &change).tell(args.change.json, quiet, out)
}
