//! `lancet table cleanup`: old versions go, and the files that only they need.

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use lancet::ReadOptions;
use lancet_table::CleanupOptions;
use serde_json::Value;

use super::change::{Done, folder};
use crate::error::Result;
use crate::places::{BranchArgs, InTable};
use crate::{terminal, units};

const EXAMPLES: &str = "\
Examples:
  lancet table cleanup cities.lance --dry-run
  lancet table cleanup cities.lance --older-than 30d
  lancet table cleanup cities.lance --older-than 12h --keep-versions 10
  lancet table cleanup cities.lance --dry-run --json | jq .bytes

The newest version stays, and so do versions with a tag and those that a branch begins at. Files
that no version names go when they are a week old: they may belong to a writer at work. Shallow
clones in other folders are not known here: do not clean up what they were made from.";

/// What is old.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Folder of the table
    table: PathBuf,
    /// Age from which on versions go, as in 90m, 12h, 7d or 4w
    #[arg(long, value_name = "AGE", value_parser = age, default_value = "7d")]
    older_than: Duration,
    /// So many of the newest versions stay, however old
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), default_value = "1")]
    keep_versions: u32,
    /// Only say what would go
    #[arg(long)]
    dry_run: bool,
    /// Print what was done as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: BranchArgs,
}

/// Runs the verb.
pub fn run(args: &Args, quiet: bool, out: &mut dyn Write) -> Result<()> {
    let table = args.place.open(&folder(&args.table)?, ReadOptions::default())?;
    let options = CleanupOptions::default()
        .with_older_than(args.older_than)
        .with_keep_versions(usize::try_from(args.keep_versions).unwrap_or(usize::MAX))
        .with_dry_run(args.dry_run);
    let done = table.cleanup(&options).in_table(&args.table)?;
    if args.dry_run && !args.json {
        for version in &done.versions {
            terminal::line(out, &format!("version {version}"))?;
        }
        for file in &done.files {
            terminal::line(out, file)?;
        }
        out.flush()?;
    }
    let mut line = format!(
        "{} {} and {} of {}",
        if args.dry_run { "would remove" } else { "removed" },
        units::counted(done.versions.len() as u64, "version"),
        units::counted(done.files.len() as u64, "file"),
        units::bytes(done.bytes)
    );
    if done.young_files > 0 {
        let young = units::counted(done.young_files as u64, "file");
        line.push_str(&format!("; {young} of no version stayed, younger than a week"));
    }
    let facts = vec![
        ("dry_run", Value::from(args.dry_run)),
        ("versions", done.versions.into()),
        ("files", done.files.into()),
        ("bytes", done.bytes.into()),
        ("young_files", done.young_files.into()),
    ];
    Done { verb: "cleanup", table: &args.table, version: Some(table.version()), facts, line }
        .tell(args.json, quiet, out)
}

/// The time that a text like `90m`, `12h` or `7d` means.
fn age(text: &str) -> Result<Duration, String> {
    let refused = || format!("`{text}` is no age; write it as 30s, 90m, 12h, 7d or 4w");
    let digits = text.trim().find(|c: char| !c.is_ascii_digit()).ok_or_else(refused)?;
    let (number, unit) = text.trim().split_at(digits);
    let seconds: u64 = match unit.trim() {
        "s" => 1,
        "m" | "min" => 60,
        "h" => 3_600,
        "d" => 86_400,
        "w" => 7 * 86_400,
        _ => return Err(refused()),
    };
    let number: u64 = number.parse().map_err(|_| refused())?;
    number.checked_mul(seconds).map(Duration::from_secs).ok_or_else(refused)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages() {
        assert_eq!(age("7d"), Ok(Duration::from_secs(604_800)));
        assert_eq!(age("90 m"), Ok(Duration::from_secs(5_400)));
        assert_eq!(age("0s"), Ok(Duration::ZERO));
        for bad in [
            "",
            "7",
            "d",
            "7 years",
            "-1d",
            "1.5h",
            "99999999999999999999d",
            "18446744073709551615w",
        ] {
            assert!(age(bad).unwrap_err().contains("is no age"), "{bad}");
        }
    }
}
