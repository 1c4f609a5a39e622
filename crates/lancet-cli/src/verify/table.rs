//! Whether the files of a table are sound: those of one version, or of all.

use std::path::Path;

use lancet::ReadOptions;
use lancet_table::{Table, TableProblem, TableVerification, VerifyProgress};
use serde_json::{Value, json};

use super::{Args, is_sound};
use crate::error::{Error, Result};
use crate::places::InTable;
use crate::{progress, units};

/// Steps of the progress bar for each version.
const STEPS: u64 = 1_000;

/// Checks a table. One that does not even open has one problem.
pub fn verify(args: &Args, folder: &Path, quiet: bool) -> Result<TableVerification> {
    if args.all_versions && args.version.is_one() {
        let message = "--all-versions checks all of them; leave out --version and --tag";
        return Err(Error::usage(message));
    }
    let options = args.version.options(ReadOptions::default());
    let bar = progress::share(quiet);
    let progress = |at: VerifyProgress| {
        bar.set_length(STEPS.saturating_mul(at.num_versions as u64));
        let share = u128::from(at.done) * u128::from(STEPS) / u128::from(at.all.max(1));
        let share = u64::try_from(share).unwrap_or(STEPS);
        bar.set_position(STEPS.saturating_mul(at.version as u64).saturating_add(share));
    };
    let verified = match args.all_versions {
        true => Table::verify_all(folder, options, progress),
        false => Table::open_with(folder, options).and_then(|table| table.verify(progress)),
    };
    bar.finish_and_clear();
    let mut found = match verified {
        Err(lancet_table::Error::Corrupt { file, rule }) => {
            let mut found = TableVerification::default();
            found.problems.push(TableProblem::new(file, rule));
            found
        }
        other => other.in_table(folder)?,
    };
    let without = found.num_without_checksums;
    if args.require_checksums && without > 0 && found.problems.is_empty() {
        let rule = match without {
            1 => "a data file has no checksums, and --require-checksums asks for them".into(),
            n => format!("{n} data files have no checksums, and --require-checksums asks for them"),
        };
        found.problems.push(TableProblem::new(folder.display().to_string(), rule));
    }
    Ok(found)
}

/// What is wrong, and what could not be looked at.
pub fn lines(found: &TableVerification) -> Vec<String> {
    let problems = found.problems.iter().map(|p| format!("{}: {}", p.file, p.what));
    let unread = found.unread.iter().map(|p| format!("{}: not checked: {}", p.file, p.what));
    problems.chain(unread).collect()
}

pub fn checked(found: &TableVerification) -> String {
    let mut parts = vec![
        units::counted(found.num_versions, "version"),
        units::counted(found.num_data_files, "data file"),
    ];
    if found.num_deletion_files > 0 {
        parts.push(units::counted(found.num_deletion_files, "deletion file"));
    }
    parts.push(units::counted(found.num_pages, "page"));
    parts.push(match (found.num_checksums, found.num_data_files) {
        (0, 0) => "nothing to compare checksums of".into(),
        (0, _) => "no checksums in the files".into(),
        (n, _) => units::counted(n, "checksum"),
    });
    if found.num_zone_maps > 0 {
        parts.push(units::counted(found.num_zone_maps, "zone map"));
    }
    parts.join(", ")
}

pub fn found_json(path: &Path, found: &TableVerification) -> Value {
    let problem = |problem: &TableProblem| json!({ "file": problem.file, "rule": problem.what });
    let unread = |problem: &TableProblem| json!({ "file": problem.file, "what": problem.what });
    json!({
        "table": path.display().to_string(),
        "sound": is_sound(found.problems.is_empty(), found.unread.is_empty()),
        "versions": found.num_versions,
        "data_files": found.num_data_files,
        "deletion_files": found.num_deletion_files,
        "pages": found.num_pages,
        "checksums": found.num_checksums,
        "files_without_checksums": found.num_without_checksums,
        "zone_maps": found.num_zone_maps,
        "problems": found.problems.iter().map(problem).collect::<Vec<_>>(),
        "unread": found.unread.iter().map(unread).collect::<Vec<_>>(),
    })
}
