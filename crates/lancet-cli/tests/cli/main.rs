//! What a user of `lancet` sees: help, errors, exit codes, converted files.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod analyze;
#[path = "../support/archives.rs"]
mod archives;
#[cfg(feature = "cloud")]
mod cloud;
mod convert;
mod crash;
#[path = "../support/damage.rs"]
mod damage;
mod demo;
mod endless;
mod errors;
mod foreign;
mod help;
mod lancet;
mod mutants;
#[path = "../../../lancet/tests/support/mutate/mod.rs"]
#[expect(dead_code, reason = "each test uses a part of the engine")]
mod mutate;
#[cfg(unix)]
mod names;
#[cfg(unix)]
mod new_files;
mod options;
#[path = "../support/page.rs"]
mod page;
#[cfg(unix)]
mod pipes;
mod places;
mod read;
mod report;
mod report_edges;
mod row_ids;
mod setup;
#[cfg(unix)]
mod signals;
#[cfg(feature = "sql")]
mod sql;
#[cfg(feature = "sql")]
mod sql_files;
#[cfg(all(feature = "sql", unix))]
mod sql_shell;
#[cfg(feature = "sql")]
mod sql_tables;
mod stats;
mod table_stats;
mod table_verbs;
mod tables;
mod text;
#[path = "../support/verbs.rs"]
mod verbs;
mod verify;
mod width;
