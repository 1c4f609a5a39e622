//! `lancet table tag` and `untag`: names for versions.

use std::io::Write;
use std::path::PathBuf;

use super::change::{Done, advise, folder};
use crate::error::Result;
use crate::places::{InTable, VersionArgs};

const EXAMPLES: &str = "\
Examples:
  lancet table tag cities.lance census-2024
  lancet table tag cities.lance before --version 3
  lancet table tag cities.lance released --move
  lancet cat cities.lance --tag census-2024

A version with a tag is not cleaned up.";

const UNTAG: &str = "\
Examples:
  lancet table untag cities.lance census-2024";

/// Which version gets which name.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Folder of the table
    table: PathBuf,
    /// Name of the version: letters, digits, `.`, `-` and `_`
    name: String,
    /// Move a tag that is there already
    #[arg(long = "move")]
    moved: bool,
    /// Print what was done as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    version: VersionArgs,
}

/// Which name goes.
#[derive(Debug, clap::Args)]
#[command(after_help = UNTAG)]
pub struct UntagArgs {
    /// Folder of the table
    table: PathBuf,
    /// Tag to remove; the version stays
    name: String,
    /// Print what was done as JSON
    #[arg(long)]
    json: bool,
}

/// Names a version.
pub fn run(args: &Args, quiet: bool, out: &mut dyn Write) -> Result<()> {
    let table = args.version.open(&folder(&args.table)?)?;
    match args.moved {
        true => table.move_tag(&args.name),
        false => table.create_tag(&args.name),
    }
    .in_table(&args.table)
    .map_err(|error| advise(error, "move it to this version", "--move moves it here"))?;
    let line = format!("is called `{}`", args.name);
    let (version, facts) = (Some(table.version()), vec![("tag", args.name.clone().into())]);
    Done { verb: "tag", table: &args.table, version, facts, line }.tell(args.json, quiet, out)
}

/// Removes a name.
pub fn remove(args: &UntagArgs, quiet: bool, out: &mut dyn Write) -> Result<()> {
    let table = VersionArgs::default().open(&folder(&args.table)?)?;
    table.delete_tag(&args.name).in_table(&args.table)?;
    let line = format!("no version is called `{}`", args.name);
    let facts = vec![("tag", args.name.clone().into())];
    Done { verb: "untag", table: &args.table, version: None, facts, line }
        .tell(args.json, quiet, out)
}
