//! Damaged files through every verb. Many more: `cargo xtask mutants`.

use std::path::Path;

use crate::damage::Limited;
use crate::verbs::{MOST_BYTES, Verbs};

#[global_allocator]
static LIMITED: Limited<MOST_BYTES> = Limited;

/// For some seconds.
const MUTANTS: u64 = 2_000;
/// Each is a folder of files.
const TABLES: u64 = 1_000;
/// A few hundred of each format.
#[cfg(feature = "sql")]
const QUERIES: u64 = 1_500;

#[test]
fn damaged_files_through_every_verb() {
    let verbs = Verbs::new(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("verbs"));
    (0..MUTANTS).for_each(|seed| verbs.check(seed));
    verbs.judge();
}

#[test]
fn damaged_tables_through_every_verb() {
    let verbs = Verbs::new(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("verbs-of-tables"));
    (0..TABLES).for_each(|seed| verbs.check_table(seed));
    verbs.judge();
}

#[test]
#[cfg(feature = "sql")]
fn damaged_files_of_other_formats_in_queries() {
    let verbs = Verbs::new(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("queries"));
    (0..QUERIES).for_each(|seed| verbs.query(seed));
    verbs.judge();
}
