//! `lancet sql` of a build without SQL: says how to get it.

use std::ffi::OsString;
use std::io::Write;

use crate::error::{Error, Result};

const HOW_TO_GET_IT: &str = "this build has no SQL; get it with: \
                             cargo install --path crates/lancet-cli --locked --profile dist --features sql";

/// Whatever was asked.
#[derive(Debug, clap::Args)]
#[command(disable_help_flag = true, override_help = HOW_TO_GET_IT)]
pub struct Args {
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    _anything: Vec<OsString>,
}

/// Fails, and says how to get SQL.
pub fn run(_: &Args, _quiet: bool, _out: &mut dyn Write) -> Result<()> {
    Err(Error::Usage(HOW_TO_GET_IT.into()))
}
