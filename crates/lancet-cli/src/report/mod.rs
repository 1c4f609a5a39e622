//! `lancet report`: a file or table as a page to look at.
//!
//! First all facts are gathered, as values ([`facts`]); then [`html`] writes them as one page that needs nothing else. What is
//! gathered is bounded, whatever the file claims: samples of rows, groups of pages and zones, lists that end.

mod browser;
mod byte_map;
mod compare;
mod facts;
mod file;
mod history;
mod html;
mod image;
mod pages;
mod row_source;
mod rows;
mod sample;
mod schema_history;
mod table;
mod table_map;
mod table_zones;
mod why;
mod words;
mod zone_numbers;
mod zones;

use std::io::Write;
use std::path::{Path, PathBuf};

use lancet::{NewFile, ReadOptions};

use crate::error::{Error, InFile, Result};
use crate::places::{Access, InputFile, VersionArgs, table_folder};
use crate::{terminal, units, versions};
use facts::Subject;
use file::Wanted;
use why::Effort;

const EXAMPLES: &str = "\
Examples:
  lancet report orders.lance                         writes orders-report.html
  lancet report orders.lance -o orders.html --open   and shows it in your browser
  lancet report orders.lance --analyze               with every encoding that each column could have
  lancet report cities.lance/ --version 3            a table: versions, fragments, columns
  lancet report by-reference.lance by-lancet.lance   two files side by side

The page is one file without references to others: send it to whom you like. It shows some rows of the data.";

/// Columns that a page lists: the largest.
const MOST_COLUMNS: usize = 2_000;
/// Files of more bytes are checked only where that is asked for.
const MOST_VERIFIED: u64 = 2 << 30;
/// What one read of a report may hold.
const MEMORY_LIMIT: u64 = 512 << 20;

/// What to report.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Lance file or table to look at
    file: PathBuf,
    /// A second file, to compare the first with
    other: Option<PathBuf>,
    /// The page to write, - for standard output [default: the name of the file with -report.html]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Show the page in your browser
    #[arg(long)]
    open: bool,
    /// Try all encodings of every column, for a minute at most; by default some seconds for files of lancet
    #[arg(long)]
    analyze: bool,
    /// Try no encodings
    #[arg(long, conflicts_with = "analyze")]
    no_analyze: bool,
    /// Check all bytes, of large files too; by default of files up to 2 GB
    #[arg(long)]
    verify: bool,
    /// Check nothing
    #[arg(long, conflicts_with = "verify")]
    no_verify: bool,
    #[command(flatten)]
    access: Access,
    #[command(flatten)]
    version: VersionArgs,
}

/// How much of columns is kept: the more there are, the less of each.
struct Budget {
    pages: usize,
    zones: usize,
}

impl Budget {
    fn new(columns: usize) -> Self {
        let each =
            |all: usize, least: usize, most: usize| (all / columns.max(1)).clamp(least, most);
        Self { pages: each(2_000, 1, 400), zones: each(12_000, 12, 240) }
    }
}

/// How files are read: damaged ones must not take all memory.
fn read_options() -> ReadOptions {
    ReadOptions::default().with_memory_limit(MEMORY_LIMIT)
}

/// Runs the command.
pub fn run(args: &Args, quiet: bool, out: &mut dyn Write) -> Result<()> {
    let paths = std::iter::once(&args.file).chain(&args.other);
    args.access.check(paths.map(PathBuf::as_path))?;
    let page = html::page(&args.gather(quiet)?);
    let output = match &args.output {
        Some(output) if output.as_os_str() == "-" && args.open => {
            return Err(Error::usage("--open shows a file; leave out -o -"));
        }
        Some(output) if output.as_os_str() == "-" => return Ok(out.write_all(page.as_bytes())?),
        Some(output) => output.clone(),
        None => args.default_output(),
    };
    write(&output, &page)?;
    if !quiet {
        let size = units::bytes(page.len() as u64);
        terminal::line(out, &format!("{}: {size}", output.display()))?;
    }
    if args.open {
        browser::open(&output)?;
    }
    Ok(())
}

impl Args {
    fn gather(&self, quiet: bool) -> Result<Subject> {
        let folder = table_folder(&self.file)?;
        if let Some(other) = &self.other {
            if folder.is_some() || table_folder(other)?.is_some() {
                return Err(Error::usage(
                    "two files are compared, not tables; convert them to files first",
                ));
            }
            self.version.check_is_table(&self.file)?;
            if self.analyze || self.verify {
                let option = if self.analyze { "--analyze" } else { "--verify" };
                return Err(Error::usage(format!(
                    "{option} is for the report of one file; two are compared by what they are made of"
                )));
            }
            let files =
                [&self.file, other].map(|path| InputFile::lance(path, "report", &self.access));
            let [a, b] = files;
            return Ok(Subject::Comparison(Box::new(compare::gather([&a?, &b?])?)));
        }
        if let Some(folder) = folder {
            let table = self.version.open_with(&folder, read_options())?;
            let bytes = versions::data_bytes(table.manifest());
            let facts = table::gather(&self.file, &table, &self.wanted(bytes, quiet))?;
            return Ok(Subject::Table(Box::new(facts)));
        }
        self.version.check_is_table(&self.file)?;
        let file = InputFile::lance(&self.file, "report", &self.access)?;
        let wanted = self.wanted(file.size_bytes(), quiet);
        Ok(Subject::File(Box::new(file::gather(&file, &wanted)?)))
    }

    fn wanted(&self, bytes: u64, quiet: bool) -> Wanted {
        let analyze = match (self.analyze, self.no_analyze) {
            (true, _) => Effort::All,
            (false, true) => Effort::Nothing,
            (false, false) => Effort::Some,
        };
        Wanted {
            verify: self.verify || (!self.no_verify && bytes <= MOST_VERIFIED),
            analyze,
            quiet,
        }
    }

    /// The name of the input, in the folder that the user is in.
    fn default_output(&self) -> PathBuf {
        let name = self.file.file_stem().filter(|name| *name != "-");
        let name = name.map_or_else(|| "lance".into(), |name| name.to_string_lossy());
        PathBuf::from(format!("{name}-report.html"))
    }
}

/// The page appears when it is complete.
fn write(path: &Path, page: &str) -> Result<()> {
    if path.is_dir() {
        return Err(Error::new("is a directory").about(path));
    }
    let mut file = NewFile::create(path).in_file(path)?;
    file.write_all(page.as_bytes()).in_file(path)?;
    file.publish().in_file(path)?;
    Ok(())
}
