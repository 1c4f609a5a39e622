//! What a user of `lancet` sees: help, errors, exit codes, converted files.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod analyze;
mod convert;
mod crash;
mod errors;
mod foreign;
mod help;
mod lancet;
mod read;
mod row_ids;
#[cfg(feature = "sql")]
mod sql;
mod stats;
mod text;
mod verify;
