//! Files of old releases of the reference, each beside the table that the release reads from it.
//!
//! `tests/reference/old_files.py` makes them and says how.

use std::fs::File;
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use lancet::{Error, FileReader};

use crate::support::{Check, Doing, Failure, reading};

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/old");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "lance"))
        .collect();
    files.sort();
    files
}

fn table(file: &Path) -> RecordBatch {
    let file = File::open(file.with_extension("arrow")).unwrap();
    let reader = arrow_ipc::reader::FileReader::try_new(file, None).unwrap();
    let schema = reader.schema();
    let batches: Vec<RecordBatch> = reader.collect::<Result<_, _>>().unwrap();
    arrow_select::concat::concat_batches(&schema, &batches).unwrap()
}

fn check(name: &str, file: &Path) -> Check {
    let reader = FileReader::open(file).doing(|| "open".into())?;
    reading::everything(name, &reader, &table(file))?;
    let problems = reader.verify().doing(|| "verify".into())?.problems;
    match problems.first() {
        None => Ok(()),
        Some(problem) => Err(Failure::Wrong(format!("verify: {problem}"))),
    }
}

#[test]
fn files_of_old_releases_are_read() {
    let mut failures = Vec::new();
    let files = files();
    for file in &files {
        let name = file.file_stem().unwrap().to_string_lossy();
        if let Err(Failure::Wrong(what) | Failure::Unsupported(what)) = check(&name, file) {
            failures.push(format!("{name}: {what}"));
        }
    }
    assert!(files.len() >= 50, "{} files", files.len());
    assert!(failures.is_empty(), "{} failures\n  {}", failures.len(), failures.join("\n  "));
}

/// Files that only the release that wrote them can read: who did is said, and nothing is called
/// corrupt.
#[test]
fn files_of_forms_that_passed_are_told() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/odd");
    for (name, release) in [
        ("long-0.25.2-2.1", "before 0.26"),
        ("numbers-0.25.2-2.1", "before 0.26"),
        ("vectors-0.25.2-2.1", "before 0.26"),
        ("runs-0.32.1-2.1", "0.32.1"),
        ("words-0.32.1-2.1", "0.32.1"),
        ("numbers-0.35.0-2.2", "0.35 to 1.0.4"),
        ("numbers-1.0.4-2.2", "0.35 to 1.0.4"),
    ] {
        let reader = FileReader::open(folder.join(format!("{name}.lance"))).unwrap();
        let error = reader.take(&[0]).unwrap_err();
        assert!(matches!(error, Error::Unsupported(_)), "{name}: {error}");
        let error = error.to_string();
        assert!(error.contains(release) && error.contains("write it as 2."), "{name}: {error}");
        let found = reader.verify().unwrap();
        assert!(found.problems.is_empty(), "{name}: {:?}", found.problems);
        assert!(matches!(&found.unread[..], [what] if what.contains(release)), "{name}");
    }
}

#[test]
fn every_release_is_there() {
    let names: Vec<String> = files().iter().map(|file| file.display().to_string()).collect();
    for release in
        ["0.12.1-2.0", "0.16.1-2.0", "0.18.2-2.0", "0.20.0-2.0", "0.30.0-2.0", "0.30.0-2.1"]
    {
        assert!(names.iter().any(|name| name.contains(release)), "{release}");
    }
}
