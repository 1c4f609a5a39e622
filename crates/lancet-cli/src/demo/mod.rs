//! `lancet demo`: what the program does for whom, in one screen, on a table that it makes.
//!
//! Every figure is measured in the run that prints it, and what was read is compared with what was written.

mod damage;
mod filter;
mod orders;
mod parquet;
mod report;
mod takes;
mod write;

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::lines::Width;

const SEED: u64 = 42;
/// The widest that the report gets.
const MOST_WIDTH: usize = 100;

const EXAMPLES: &str = "\
Examples:
  lancet demo
  lancet demo --rows 3000000 --dir .     more rows; keep the files here
  lancet demo --json | jq '.takes'";

/// How large the demo is.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Rows of the table, 100 or more
    #[arg(long, default_value_t = 300_000, value_parser = clap::value_parser!(u64).range(100..))]
    rows: u64,
    /// Directory for the files [default: lancet-demo in the directory for temporary files]
    #[arg(long)]
    dir: Option<PathBuf>,
    /// Print all figures as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    width: Width,
}

/// All that was found out.
struct Figures {
    files: write::Files,
    takes: Vec<takes::Taken>,
    filter: filter::Found,
    damage: damage::Damage,
}

/// Runs the command.
pub fn run(args: &Args, quiet: bool, out: &mut dyn Write) -> Result<()> {
    let in_temporary = || std::env::temp_dir().join("lancet-demo");
    let dir = args.dir.clone().unwrap_or_else(in_temporary);
    let figures = measure(&dir, args.rows, quiet)?;
    if args.json {
        return Ok(writeln!(out, "{:#}", report::json(&figures))?);
    }
    let width = args.width.get().unwrap_or(MOST_WIDTH).min(MOST_WIDTH);
    report::write(&figures, &mut crate::lines::Report::new(out, Some(width)))
}

fn measure(dir: &Path, rows: u64, quiet: bool) -> Result<Figures> {
    std::fs::create_dir_all(dir).map_err(|error| {
        let dir = dir.display();
        Error::new(format!("{dir}: {error}; choose another directory with --dir"))
    })?;
    let files = write::files(dir, rows, quiet)?;
    let mut lance_files = files.all.iter().filter(|file| file.flavour.is_none());
    lance_files.try_for_each(|file| file.check_all_rows())?;
    let lance = files.lance();
    let takes = takes::measure(&files)?;
    let filter = filter::find(lance)?;
    let damage = damage::damage(lance, &dir.join("damaged.lance"))?;
    Ok(Figures { files, takes, filter, damage })
}

fn message(error: impl std::fmt::Display) -> Error {
    Error::new(error.to_string())
}
