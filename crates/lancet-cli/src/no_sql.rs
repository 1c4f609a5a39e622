//! `lancet sql` of a build without SQL: says how to get it.

use std::ffi::OsString;
use std::io::Write;

use arrow_array::{ArrayRef, BooleanArray, RecordBatch};
use arrow_schema::{DataType, Schema};

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

/// SQL over the rows of a table: there is none.
#[derive(Debug)]
pub enum Expression {}

impl Expression {
    /// Why this build has none.
    pub const MISSING: Option<&str> = Some(HOW_TO_GET_IT);

    /// Fails.
    pub fn check(_: &str) -> Result<(), String> {
        Err(HOW_TO_GET_IT.into())
    }

    /// Fails.
    pub fn new(_: &str, _: &Schema, _: Option<&DataType>) -> Result<Self, String> {
        Err(HOW_TO_GET_IT.into())
    }

    /// The columns that it reads.
    pub fn columns(&self) -> &[String] {
        match *self {}
    }

    /// The type of its values.
    pub fn data_type(&self) -> &DataType {
        match *self {}
    }

    /// Its values for some rows.
    pub fn values(&self, _: &RecordBatch) -> lancet_table::Result<ArrayRef> {
        match *self {}
    }

    /// For which rows it is true.
    pub fn holds(&self, _: &RecordBatch) -> lancet_table::Result<BooleanArray> {
        match *self {}
    }
}
