//! `lancet verify`: checks every rule of the format over whole files and tables.

mod table;

use std::io::Write;
use std::path::{Path, PathBuf};

use lancet::{Corrupt, Error as LancetError, ReadOptions, Verification};
use lancet_table::TableVerification;
use serde_json::{Value, json};

use crate::error::{Error, InFile, Result};
use crate::places::{self, Access, InputFile, VersionArgs, table_folder};
use crate::{progress, terminal, units};

const EXAMPLES: &str = "\
Examples:
  lancet verify orders.lance
  lancet verify 'data/**/*.lance' more.lance
  lancet verify orders.lance --require-checksums
  lancet verify orders.lance --json | jq '.problems[].rule'
  lancet verify cities.lance/ --all-versions     a table: all files of all versions

JSON is one object for one file, and a list of them for several or for a pattern.";

/// What to verify.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Lance files or tables to check: paths, patterns such as 'part-*.lance', URLs, - for standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// A file without checksums is not sound: damage can be what makes it look so
    #[arg(long)]
    require_checksums: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    access: Access,
    #[command(flatten)]
    version: VersionArgs,
    /// Check all versions of a table, each file once
    #[arg(long, help_heading = "Options for tables")]
    all_versions: bool,
}

/// What was found in a file or table.
enum Found {
    File(Verification),
    Table(TableVerification),
}

impl Found {
    /// What is wrong, and what could not be looked at.
    fn lines(&self) -> Vec<String> {
        match self {
            Self::File(found) => lines(found),
            Self::Table(found) => table::lines(found),
        }
    }

    /// How many problems there are.
    fn num_problems(&self) -> u64 {
        match self {
            Self::File(found) => found.problems.len() as u64,
            Self::Table(found) => found.problems.len() as u64,
        }
    }

    /// What was looked at, in words.
    fn checked(&self) -> String {
        match self {
            Self::File(found) => checked(found),
            Self::Table(found) => table::checked(found),
        }
    }

    fn to_json(&self, path: &Path) -> Value {
        match self {
            Self::File(found) => found_json(path, found),
            Self::Table(found) => table::found_json(path, found),
        }
    }
}

/// Nobody knows whether what was not read is sound.
fn is_sound(no_problems: bool, all_read: bool) -> Value {
    match (no_problems, all_read) {
        (true, false) => Value::Null,
        (sound, _) => sound.into(),
    }
}

/// Runs the command. Problems are printed; the error then only counts them.
pub fn run(args: &Args, quiet: bool, out: &mut dyn Write) -> Result<()> {
    let files = places::expand(&args.files)?;
    args.access.check(files.paths.iter().map(PathBuf::as_path))?;
    match files.paths.as_slice() {
        [path] if !files.several => verify_one(args, path, quiet, out),
        paths => verify_all(args, paths, quiet, out),
    }
}

fn verify_one(args: &Args, path: &Path, quiet: bool, out: &mut dyn Write) -> Result<()> {
    let found = verify(args, path, quiet)?;
    if args.json {
        writeln!(out, "{:#}", found.to_json(path))?;
    } else {
        match found.lines() {
            lines if lines.is_empty() => {
                let sound = format!("{}: sound ({})", path.display(), found.checked());
                terminal::line(out, &sound)?;
            }
            lines => lines.iter().try_for_each(|line| terminal::line(out, line))?,
        }
    }
    match found.num_problems() {
        0 if found.lines().is_empty() => Ok(()),
        0 => Err(Error::new("not all of it could be checked").about(path)),
        n => Err(Error::new(units::counted(n, "problem")).about(path)),
    }
}

/// Goes on after a file that is damaged, or that cannot be read.
fn verify_all(args: &Args, paths: &[PathBuf], quiet: bool, out: &mut dyn Write) -> Result<()> {
    let mut reports = Vec::new();
    let mut num_bad = 0_u64;
    for path in paths {
        let name = path.display();
        match verify(args, path, quiet) {
            Ok(found) => {
                let lines = found.lines();
                num_bad += u64::from(!lines.is_empty());
                if args.json {
                    reports.push(found.to_json(path));
                    continue;
                }
                for line in &lines {
                    terminal::line(out, &format!("{name}: {line}"))?;
                }
                if lines.is_empty() {
                    terminal::line(out, &format!("{name}: sound ({})", found.checked()))?;
                }
            }
            Err(Error::Message(message)) => {
                num_bad += 1;
                out.flush()?;
                terminal::tell(&format!("error: {message}"));
                reports.push(json!({ "file": name.to_string(), "sound": false, "error": message }));
            }
            Err(other) => return Err(other),
        }
    }
    if args.json {
        writeln!(out, "{:#}", Value::from(reports))?;
    }
    match num_bad {
        0 => Ok(()),
        n => Err(Error::new(format!(
            "{n} of {} not sound",
            units::counted(paths.len() as u64, "file")
        ))),
    }
}

fn verify(args: &Args, path: &Path, quiet: bool) -> Result<Found> {
    if let Some(folder) = table_folder(path)? {
        return table::verify(args, &folder, quiet).map(Found::Table);
    }
    args.version.check_is_table(path)?;
    if args.all_versions {
        places::refuse_file(path)?;
    }
    verify_file(args, path, quiet).map(Found::File)
}

/// A file that does not even open has one problem.
fn verify_file(args: &Args, path: &Path, quiet: bool) -> Result<Verification> {
    let file = InputFile::lance(path, "verify", &args.access)?;
    let bar = progress::share(quiet);
    let verified = file.try_reader(ReadOptions::default()).and_then(|reader| {
        reader.verify_with(|at| {
            bar.set_length(at.all);
            bar.set_position(at.done);
        })
    });
    bar.finish_and_clear();
    let verified = verified.map(|mut found| {
        if args.require_checksums && !found.has_checksums && found.problems.is_empty() {
            let mut missing = Corrupt::default();
            missing.rule =
                "the file has no checksums, and --require-checksums asks for them".into();
            found.problems.push(missing);
        }
        found
    });
    match verified {
        Err(LancetError::Corrupt(corrupt)) => {
            let mut found = Verification::default();
            found.problems.push(*corrupt);
            Ok(found)
        }
        other => other.in_file(path),
    }
}

/// What is wrong, and what could not be looked at.
fn lines(found: &Verification) -> Vec<String> {
    let problems = found.problems.iter().map(Corrupt::to_string);
    let unread = found.unread.iter().map(|what| format!("not checked: {what}"));
    problems.chain(unread).collect()
}

fn checked(found: &Verification) -> String {
    let checksums = match found.has_checksums {
        false => "no checksums in the file".into(),
        true => format!("{} checksums", units::count(found.num_checksums)),
    };
    let zone_maps = match found.num_zone_maps {
        0 => String::new(),
        n => format!(", {}", units::counted(n, "zone map")),
    };
    format!("{} pages, {checksums}{zone_maps}", units::count(found.num_pages))
}

fn found_json(path: &Path, found: &Verification) -> Value {
    let problem = |problem: &Corrupt| {
        json!({
            "column": problem.column,
            "column_name": problem.column_name,
            "page": problem.page,
            "buffer": problem.buffer,
            "byte": problem.offset,
            "rule": problem.rule,
        })
    };
    json!({
        "file": path.display().to_string(),
        "sound": is_sound(found.problems.is_empty(), found.unread.is_empty()),
        "pages": found.num_pages,
        "checksums": found.num_checksums,
        "zone_maps": found.num_zone_maps,
        "problems": found.problems.iter().map(problem).collect::<Vec<_>>(),
        "unread": found.unread,
    })
}
