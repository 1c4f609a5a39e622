//! The golden files: written by the reference, each beside the table that the reference reads from
//! it. lancet must read the same, however it is asked, and must read again what it writes.
//!
//! A small part of the corpus is kept here (`golden/`) and always runs. The whole corpus runs where
//! it lies beside the repository.

use std::collections::BTreeMap;
use std::path::Path;

use lancet::{FileReader, Version};

use crate::cases::corpus::{self, Case};
use crate::cases::exceptions::{self, Exceptions};
use crate::cases::{run_all, writing};
use crate::support::{Check, Doing, reading};

#[test]
fn kept_files_are_read() {
    read_all(&corpus::kept(), 40);
}

#[test]
fn kept_tables_are_written_and_read_again() {
    write_all(&corpus::kept());
}

#[test]
fn shared_files_are_read() {
    with_shared_corpus(|folder| {
        let outcomes = read_all(folder, 400);
        report("names in [read]", exceptions::listed("read").unknown(&outcomes));
    });
}

#[test]
fn shared_tables_are_written_and_read_again() {
    with_shared_corpus(|folder| {
        let outcomes = write_all(folder);
        report("names in [write]", exceptions::listed("write").unknown(&outcomes));
    });
}

fn with_shared_corpus(test: impl FnOnce(&Path)) {
    match corpus::shared() {
        Some(folder) => test(&folder),
        None => println!("the whole corpus is not here; only the files kept in the repository run"),
    }
}

fn read_all(folder: &Path, at_least: usize) -> Vec<(String, Check)> {
    let cases = corpus::cases(folder);
    assert!(cases.len() >= at_least, "{} cases in {folder:?}", cases.len());
    let outcomes = run_all(&cases, read);
    let names = cases.into_iter().map(|case| case.name);
    judged("read", exceptions::listed("read"), names.zip(outcomes).collect())
}

fn read(case: &Case) -> Check {
    let reader = FileReader::open(case.file()).doing(|| "open".into())?;
    reading::same("version", reader.version().to_string(), case.version.clone())?;
    reading::same("global buffers", reader.num_global_buffers(), case.global_buffers.len() + 1)?;
    for (index, size) in case.global_buffers.iter().enumerate() {
        let what = format!("size of global buffer {}", index + 1);
        let buffer = reader.global_buffer(index + 1).doing(|| what.clone())?;
        reading::same(&what, buffer.len() as u64, *size)?;
    }
    reading::everything(&case.name, &reader, &case.table())
}

fn write_all(folder: &Path) -> Vec<(String, Check)> {
    // The versions of a case hold the same table; the last one wins.
    let tables: BTreeMap<String, Case> =
        corpus::cases(folder).into_iter().map(|case| (case.base().to_string(), case)).collect();
    let jobs: Vec<(String, &Case, Version)> = tables
        .iter()
        .flat_map(|(base, case)| {
            [Version::V2_0, Version::V2_1, Version::V2_2].map(|v| (format!("{base} {v}"), case, v))
        })
        .collect();
    let outcomes =
        run_all(&jobs, |(name, case, version)| writing::round_trip(name, &case.table(), *version));
    let names = jobs.iter().map(|(name, ..)| name.clone());
    judged("written", exceptions::listed("write"), names.zip(outcomes).collect())
}

fn judged(done: &str, listed: Exceptions, outcomes: Vec<(String, Check)>) -> Vec<(String, Check)> {
    let passed = outcomes.iter().filter(|(_, outcome)| outcome.is_ok()).count();
    println!("{passed} of {} cases {done}", outcomes.len());
    report(done, listed.judge(&outcomes));
    outcomes
}

fn report(what: &str, failures: Vec<String>) {
    assert!(
        failures.is_empty(),
        "{what}: {} failures\n  {}",
        failures.len(),
        failures.join("\n  ")
    );
}
