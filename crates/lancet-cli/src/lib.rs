//! The program `lancet`, as a library: one module for each command, and what they share.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod analyze;
mod cat;
mod claims;
mod completions;
mod convert;
mod copy;
mod demo;
mod dictionaries;
mod error;
mod explain;
mod format;
mod groups;
mod guard;
mod input;
mod inspect;
mod jobs;
mod joined;
mod keys;
mod leaves;
mod lines;
mod man;
mod output;
mod parquet_types;
mod places;
mod progress;
mod report;
mod row_ids;
mod rows;
mod schema;
mod show;
mod signals;
#[cfg_attr(not(feature = "sql"), path = "no_sql.rs")]
mod sql;
mod stats;
mod summary;
mod table;
mod tables;
mod take;
mod terminal;
mod text;
mod time_zones;
mod units;
mod verify;
mod version;
mod versions;

use std::ffi::OsString;
use std::io::{BufWriter, Write};
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use error::{Error, Result};

const EXAMPLES: &str = "\
Examples:
  lancet demo                                   see what it does, on made-up data
  lancet convert orders.parquet orders.lance    make a Lance file
  lancet cat orders.lance --limit 5             see its first rows
  lancet inspect orders.lance                   see how it is encoded

`lancet COMMAND --help` has the options and examples of a command.

Exit codes: 0 fine, 1 bad input or a file that cannot be read or written, 2 wrong usage.

To install it from a clone, with SQL and files in the cloud:
  cargo install --path crates/lancet-cli --locked --profile dist --features sql,cloud";

/// Read, write, convert and inspect Lance columnar files
#[derive(Debug, Parser)]
#[command(name = "lancet", version, long_version = version::LONG.as_str(), after_help = EXAMPLES)]
struct Cli {
    /// Show no progress and no summary
    #[arg(short, long, global = true, display_order = 100)]
    quiet: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Convert between Lance, Arrow, Parquet, CSV and JSON lines
    Convert(convert::Args),
    /// Print rows, or write them to a file
    Cat(cat::Args),
    /// Print single rows by number
    Take(take::Args),
    /// Query files with SQL
    Sql(sql::Args),
    /// Show the fields of a file
    Schema(schema::Args),
    /// Show columns, pages and encodings of a Lance file or table
    Inspect(inspect::Args),
    /// Show the least and the greatest value of each column
    Stats(stats::Args),
    /// Check every rule of the format over a whole Lance file or table
    Verify(verify::Args),
    /// Compare the encodings each column could have, and recommend one
    Analyze(analyze::Args),
    /// Write a page that shows a Lance file or table, or compares two files
    Report(report::Args),
    /// Make and change tables: append, delete, merge, compact, tag, …
    Table(tables::Args),
    /// Show the versions of a table
    Versions(versions::Args),
    /// Show the row ids of a table, fragment by fragment
    RowIds(row_ids::Args),
    /// See what lancet does, on made-up data and beside Parquet
    Demo(demo::Args),
    /// Print a completion script for your shell
    Completions(completions::Args),
    /// Print a manual page, or write all of them to a folder
    Man(man::Args),
}

/// The program as clap knows it.
fn program() -> clap::Command {
    groups::in_groups(Cli::command())
}

/// Runs the program. Exit code 0: fine, 1: bad input or I/O, 2: wrong usage.
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    ExitCode::from(run_for_code(args))
}

/// The same for those who hand the code on: an [`ExitCode`] does not tell it.
pub fn run_for_code(args: impl IntoIterator<Item = OsString>) -> u8 {
    let cli = match parse(args) {
        Ok(cli) => cli,
        Err(usage) => {
            let _ = usage.print(); // there is nowhere else to complain
            return u8::try_from(usage.exit_code()).unwrap_or(2);
        }
    };
    // Queries have their own way with Ctrl-C.
    signals::listen(!matches!(cli.command, Command::Sql(_)));
    let mut out = BufWriter::new(std::io::stdout().lock());
    let (message, code) = match finish(&cli, &mut out) {
        Ok(()) | Err(Error::ClosedPipe) => return 0,
        Err(Error::Message(message)) => (message, 1),
        Err(Error::Usage(message)) => (message, 2),
    };
    let _ = out.flush(); // what came before the error is still of use
    terminal::tell(&format!("error: {message}"));
    signals::end_if_asked();
    code
}

/// Runs a command and has it print elsewhere, for tests. Fails with the message of the command.
#[doc(hidden)]
pub fn run_into(
    args: impl IntoIterator<Item = OsString>,
    out: &mut dyn Write,
) -> Result<(), String> {
    let cli = parse(args).map_err(|usage| usage.to_string())?;
    match finish(&cli, out) {
        Ok(()) | Err(Error::ClosedPipe) => Ok(()),
        Err(Error::Message(message) | Error::Usage(message)) => Err(message),
    }
}

fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Cli, clap::Error> {
    let args: Vec<OsString> = args.into_iter().collect();
    let parsed = program().try_get_matches_from(&args);
    parsed
        .and_then(|matches| Cli::from_arg_matches(&matches))
        .or_else(|error| with_negative_number(&error, &args).unwrap_or(Err(error)))
}

/// A number below 0 behind an option looks like another option. It is given to the option instead; one that takes none says
/// what it takes.
fn with_negative_number(
    error: &clap::Error,
    args: &[OsString],
) -> Option<Result<Cli, clap::Error>> {
    let is_negative = |text: &str| {
        text.strip_prefix('-').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    let Some(ContextValue::String(unexpected)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    if error.kind() != ErrorKind::UnknownArgument || !is_negative(unexpected) {
        return None;
    }
    let pair = args.windows(2).enumerate().find_map(|(at, pair)| {
        match pair {
            [option, value] => Some((at, option.to_str()?, value.to_str()?)),
            _ => None,
        }
        .filter(|(_, option, value)| {
            option.starts_with('-') && value.starts_with(unexpected.as_str())
        })
    });
    let (at, option, value) = pair?;
    let mut joined = args.to_vec();
    let sign = if option.starts_with("--") { "=" } else { "" };
    joined.splice(at..at.saturating_add(2), [OsString::from(format!("{option}{sign}{value}"))]);
    let error = match parse(joined) {
        Err(error) if error.kind() == ErrorKind::ValueValidation => error,
        parsed => return Some(parsed),
    };
    let takes = match option {
        "--version" => {
            "the number of a version, a whole number from 1 (`lancet versions` lists them)"
        }
        "--rows" | "-r" => "rows counted from 0, and there are none before the first",
        _ if error.to_string().contains("invalid digit") => "a whole number from 0",
        _ => return Some(Err(error)),
    };
    let message = format!("invalid value '{value}' for '{option}': it takes {takes}\n");
    Some(Err(program().error(ErrorKind::ValueValidation, message)))
}

/// Runs a command to its end, whatever happens.
fn finish(cli: &Cli, out: &mut dyn Write) -> Result<()> {
    let done = guard::guarded("internal error, please report it", || execute(cli, out));
    done.and_then(|()| Ok(out.flush()?))
}

fn execute(cli: &Cli, out: &mut dyn Write) -> Result<()> {
    match &cli.command {
        Command::Convert(args) => convert::run(args, cli.quiet, out),
        Command::Cat(args) => cat::run(args, cli.quiet, out),
        Command::Take(args) => take::run(args, cli.quiet, out),
        Command::Sql(args) => sql::run(args, cli.quiet, out),
        Command::Schema(args) => schema::run(args, cli.quiet, out),
        Command::Inspect(args) => inspect::run(args, cli.quiet, out),
        Command::Stats(args) => stats::run(args, cli.quiet, out),
        Command::Verify(args) => verify::run(args, cli.quiet, out),
        Command::Analyze(args) => analyze::run(args, cli.quiet, out),
        Command::Report(args) => report::run(args, cli.quiet, out),
        Command::Table(args) => tables::run(args, cli.quiet, out),
        Command::Versions(args) => versions::run(args, out),
        Command::RowIds(args) => row_ids::run(args, out),
        Command::Demo(args) => demo::run(args, cli.quiet, out),
        Command::Completions(args) => completions::run(args, program(), out),
        Command::Man(args) => man::run(args, program(), out),
    }
}

/// The examples of the README, compiled with the others.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

#[cfg(test)]
mod tests {
    #[test]
    fn the_command_line_is_sound() {
        super::program().debug_assert();
    }
}
