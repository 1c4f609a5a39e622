//! Lints and tests out of one build.
//!
//! `cargo clippy` only checks, and so would have every dependency compiled twice: once to be checked
//! against, once to be linked with. Clippy's driver is a compiler too. As the compiler of the
//! workspace's own crates it says what it has to say while it builds the tests, and DataFusion is
//! built once.

use std::path::PathBuf;
use std::process::Command;

use crate::steps::{Result, cargo, command, output};

/// What nearly the whole workspace is built with: everything there is, in one set of features, because a
/// second set would have the dependencies built again.
const EVERYTHING: [&str; 7] = [
    "--workspace",
    "--exclude",
    "xtask",
    "--exclude",
    "lancet-ballista",
    "--features",
    "lancet-cli/sql,lancet-cli/cloud,lancet-object-store/aws,lancet-table/object-store",
];

/// Ballista brings 80 crates, and features of DataFusion that nothing else needs: most people who change
/// something do not have to wait for them.
const CLUSTER: [&str; 2] = ["--package", "lancet-ballista"];

/// Cargo over the workspace without Ballista, whose crates are linted as they are compiled. A warning is an error.
pub(crate) fn linting<'a>(words: impl IntoIterator<Item = &'a str>) -> Result<Command> {
    lint(words, &EVERYTHING)
}

/// The same for what runs on Ballista.
pub(crate) fn linting_cluster<'a>(words: impl IntoIterator<Item = &'a str>) -> Result<Command> {
    lint(words, &CLUSTER)
}

fn lint<'a>(words: impl IntoIterator<Item = &'a str>, crates: &[&str]) -> Result<Command> {
    let mut cargo = cargo(words);
    cargo.args(crates);
    cargo.env("RUSTC_WORKSPACE_WRAPPER", driver()?).env("CLIPPY_ARGS", "-Dwarnings");
    Ok(cargo)
}

/// Clippy's compiler, which stands beside rustc.
pub(crate) fn driver() -> Result<PathBuf> {
    let mut asked = command(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    asked.args(["--print", "sysroot"]);
    let sysroot = PathBuf::from(output(asked)?.trim());
    let driver = sysroot.join("bin").join(format!("clippy-driver{}", std::env::consts::EXE_SUFFIX));
    if driver.exists() { Ok(driver) } else { Err(format!("{}: not there", driver.display())) }
}
