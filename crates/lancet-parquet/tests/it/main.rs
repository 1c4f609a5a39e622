//! Pages of all encodings, against rules, golden vectors and another implementation.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod against_parquet;
mod golden;
mod properties;
mod rules;
mod support;
