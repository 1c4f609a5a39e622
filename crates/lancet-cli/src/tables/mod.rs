//! `lancet table`: the verbs that make and change tables. Each but those of names makes one version, or nothing.

mod branch;
mod change;
mod clause;
mod cleanup;
mod columns;
mod compact;
mod condition;
mod delete;
mod literal;
mod merge;
mod restore;
mod select;
mod source;
mod tag;
mod tokens;
mod update;
mod write;

#[cfg(feature = "sql")]
pub use change::{ATTEMPTS, Done};

use std::io::Write;

use clap::Subcommand;

use crate::error::Result;

const EXAMPLES: &str = "\
Examples:
  lancet table create cities.lance 'part-*.csv' --stable-row-ids
  lancet table append cities.lance more.parquet
  lancet table delete cities.lance --where \"country = 'CH' AND population < 1000\"
  lancet table update cities.lance --set \"population = population + 1\" --where \"name = 'Bern'\"  (SQL)
  lancet table merge cities.lance census.csv --on country,name
  lancet table tag cities.lance census-2024
  lancet table compact cities.lance
  lancet table cleanup cities.lance --older-than 30d --dry-run
(SQL): a build with the feature `sql`; `lancet --version` tells.

`lancet table VERB --help` has the options and examples of a verb. `lancet versions TABLE` shows
the history; `lancet cat TABLE --version 3` reads an older version.

Several writers may change a table at the same time. What is interrupted leaves no version.";

/// Which verb.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Make a table of the rows of files
    Create(write::CreateArgs),
    /// Add the rows of files
    Append(write::AppendArgs),
    /// Replace all rows and columns; older versions stay
    Overwrite(write::OverwriteArgs),
    /// Delete rows, by a condition, by number or by id
    Delete(delete::Args),
    /// Give rows other values
    Update(update::Args),
    /// Update the rows that a file has too, by key, and add the others
    Merge(merge::Args),
    /// Add a column
    AddColumn(columns::AddArgs),
    /// Drop columns
    DropColumn(columns::DropArgs),
    /// Give a column another name
    RenameColumn(columns::RenameArgs),
    /// Join small fragments, and drop deleted rows for good
    Compact(compact::Args),
    /// Name a version, which is then kept
    Tag(tag::Args),
    /// Remove the name of a version
    Untag(tag::UntagArgs),
    /// Begin a branch, or remove one
    Branch(branch::Args),
    /// Make an older version the newest one again
    Restore(restore::Args),
    /// Remove old versions, and the files that only they need
    Cleanup(cleanup::Args),
}

/// Runs the command.
pub fn run(args: &Args, quiet: bool, out: &mut dyn Write) -> Result<()> {
    match &args.verb {
        Verb::Create(args) => write::create(args, quiet, out),
        Verb::Append(args) => write::append(args, quiet, out),
        Verb::Overwrite(args) => write::overwrite(args, quiet, out),
        Verb::Delete(args) => delete::run(args, quiet, out),
        Verb::Update(args) => update::run(args, quiet, out),
        Verb::Merge(args) => merge::run(args, quiet, out),
        Verb::AddColumn(args) => columns::add(args, quiet, out),
        Verb::DropColumn(args) => columns::drop(args, quiet, out),
        Verb::RenameColumn(args) => columns::rename(args, quiet, out),
        Verb::Compact(args) => compact::run(args, quiet, out),
        Verb::Tag(args) => tag::run(args, quiet, out),
        Verb::Untag(args) => tag::remove(args, quiet, out),
        Verb::Branch(args) => branch::run(args, quiet, out),
        Verb::Restore(args) => restore::run(args, quiet, out),
        Verb::Cleanup(args) => cleanup::run(args, quiet, out),
    }
}
