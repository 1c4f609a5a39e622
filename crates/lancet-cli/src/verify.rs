//! `lancet verify`: checks every rule of the format over a whole file.

use std::io::Write;
use std::path::PathBuf;

use lancet::{Corrupt, Error as LancetError, FileReader, Verification};
use serde_json::{Value, json};

use crate::error::{Error, InFile, Result};
use crate::format::check_is_lance;
use crate::units;

const EXAMPLES: &str = "\
Examples:
  lancet verify orders.lance
  lancet verify orders.lance --json | jq '.problems[].rule'";

/// What to verify.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Lance file to check
    file: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command. Problems are printed; the error then only counts them.
pub fn run(args: &Args, out: &mut dyn Write) -> Result<()> {
    check_is_lance(&args.file, "verify")?;
    let found = verify(args)?;
    let name = args.file.display();
    if args.json {
        writeln!(out, "{:#}", found_json(&name.to_string(), &found))?;
    } else {
        found.problems.iter().try_for_each(|problem| writeln!(out, "{problem}"))?;
    }
    match found.problems.len() {
        0 if args.json => Ok(()),
        0 => Ok(writeln!(out, "{name}: sound ({})", checked(&found))?),
        1 => Err(Error::new("1 problem").about(&args.file)),
        n => Err(Error::new(format!("{n} problems")).about(&args.file)),
    }
}

/// A file that does not even open has one problem.
fn verify(args: &Args) -> Result<Verification> {
    let verified = FileReader::open(&args.file).and_then(|reader| reader.verify());
    match verified {
        Err(LancetError::Corrupt(corrupt)) => {
            let mut found = Verification::default();
            found.problems.push(*corrupt);
            Ok(found)
        }
        other => other.in_file(&args.file),
    }
}

fn checked(found: &Verification) -> String {
    let checksums = match found.num_checksums {
        0 => "no checksums in the file".into(),
        n => format!("{} checksums", units::count(n)),
    };
    let zone_maps = match found.num_zone_maps {
        0 => String::new(),
        n => format!(", {}", units::counted(n, "zone map")),
    };
    format!("{} pages, {checksums}{zone_maps}", units::count(found.num_pages))
}

fn found_json(file: &str, found: &Verification) -> Value {
    let problem = |problem: &Corrupt| {
        json!({
            "column": problem.column,
            "page": problem.page,
            "buffer": problem.buffer,
            "byte": problem.offset,
            "rule": problem.rule,
        })
    };
    json!({
        "file": file,
        "sound": found.problems.is_empty(),
        "pages": found.num_pages,
        "checksums": found.num_checksums,
        "zone_maps": found.num_zone_maps,
        "problems": found.problems.iter().map(problem).collect::<Vec<_>>(),
    })
}
