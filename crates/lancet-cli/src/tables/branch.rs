//! `lancet table branch`: a history of its own, which begins at a version.

use std::io::Write;
use std::path::PathBuf;

use super::change::{Done, folder};
use crate::error::Result;
use crate::places::{InTable, VersionArgs};

const EXAMPLES: &str = "\
Examples:
  lancet table branch cities.lance census
  lancet table branch cities.lance census --version 3
  lancet table append cities.lance more.csv --branch census
  lancet cat cities.lance --branch census
  lancet table branch cities.lance census --delete

A branch shares the files so far with what it was made from, and copies none.";

/// Which branch.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Folder of the table
    table: PathBuf,
    /// Name of the branch; names may have slashes: dev/one
    name: String,
    /// Remove the branch, with all its versions
    #[arg(long, conflicts_with_all = ["version", "tag", "branch"])]
    delete: bool,
    /// Print what was done as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    version: VersionArgs,
}

/// Runs the verb.
pub fn run(args: &Args, quiet: bool, out: &mut dyn Write) -> Result<()> {
    let table = args.version.open(&folder(&args.table)?)?;
    let facts = vec![("branch", args.name.clone().into()), ("deleted", args.delete.into())];
    let (version, line) = if args.delete {
        table.delete_branch(&args.name).in_table(&args.table)?;
        (None, format!("branch `{}` is gone", args.name))
    } else {
        let branch = table.create_branch(&args.name).in_table(&args.table)?;
        (Some(branch.version()), format!("begins branch `{}`", args.name))
    };
    Done { verb: "branch", table: &args.table, version, facts, line }.tell(args.json, quiet, out)
}
