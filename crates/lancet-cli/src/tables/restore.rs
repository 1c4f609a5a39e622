//! `lancet table restore`: an older version becomes the newest one again.

use std::io::Write;
use std::path::PathBuf;

use lancet_table::TableWriteOptions;

use super::change::{Done, folder};
use crate::error::{Error, Result};
use crate::places::{InTable, VersionArgs};

const EXAMPLES: &str = "\
Examples:
  lancet table restore cities.lance --version 3
  lancet table restore cities.lance --tag census-2024 -m 'the merge was wrong'

What came since stays in the history: `lancet versions cities.lance` shows it.";

/// Which version.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Folder of the table
    table: PathBuf,
    /// Message for people, kept with the version
    #[arg(short, long, value_name = "TEXT")]
    message: Option<String>,
    /// Print what was done as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    version: VersionArgs,
}

/// Runs the verb.
pub fn run(args: &Args, quiet: bool, out: &mut dyn Write) -> Result<()> {
    if !args.version.is_one() {
        return Err(Error::usage("say which version to restore: --version 3 or --tag NAME"));
    }
    let mut table = args.version.open(&folder(&args.table)?)?;
    let restored = table.version();
    let options = TableWriteOptions::default();
    let options = match &args.message {
        Some(message) => options.with_message(message),
        None => options,
    };
    table.restore(&options).in_table(&args.table)?;
    let line = format!("is version {restored} again");
    let (version, facts) = (Some(table.version()), vec![("restored", restored.into())]);
    Done { verb: "restore", table: &args.table, version, facts, line }.tell(args.json, quiet, out)
}
