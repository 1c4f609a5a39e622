//! `lancet table add-column`, `drop-column` and `rename-column`.

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{DataType, Field, Schema};
use clap::ArgGroup;
use lancet_table::{Table, TableWriteOptions};
use serde_json::Value;

use super::change::{ChangeArgs, Done};
use super::source::{Failure, Rows, SourceArgs};
use crate::error::{Error, Result};
use crate::places::InTable;
use crate::signals::Cancel;
use crate::sql::Expression;
use crate::{input, progress};

const ADD: &str = "\
Examples:
  lancet table add-column cities.lance --name country --value CH
  lancet table add-column cities.lance --name zip --value 3000 --type string
  lancet table add-column cities.lance --name mayor --null --type string
  lancet table add-column cities.lance --name density --expr \"population / area\"                  (SQL)
  lancet table add-column cities.lance --name key --expr \"upper(country || name)\" --type string    (SQL)
  lancet table add-column cities.lance --values embeddings.arrow
(SQL): a build with the feature `sql`; `lancet --version` tells.

An expression is SQL over the columns of a row, whose names are taken as they are written. A file of
values has one row for each row of the table, in the order of `lancet cat`, and the new columns.
Without --type a value is what it would be in a CSV file. Columns of nulls are added without writing
a file.";

const DROP: &str = "\
Examples:
  lancet table drop-column cities.lance mayor
  lancet table drop-column cities.lance mayor address.zip

Fields of structs are named with dots. The values stay in the files, and in older versions, until
`lancet table compact` and `lancet table cleanup`.";

const RENAME: &str = "\
Examples:
  lancet table rename-column cities.lance mayor head
  lancet table rename-column cities.lance address.zip code      a field of a struct";

/// The new column.
#[derive(Debug, clap::Args)]
#[command(after_help = ADD, group = ArgGroup::new("what").required(true))]
pub struct AddArgs {
    /// Folder of the table
    table: PathBuf,
    /// Name of the new column
    #[arg(
        long,
        value_name = "NAME",
        required_unless_present = "values",
        conflicts_with = "values"
    )]
    name: Option<String>,
    /// The value that all rows get
    #[arg(long, value_name = "VALUE", group = "what", allow_hyphen_values = true)]
    value: Option<String>,
    /// An SQL expression over the other columns, worked out for each row
    #[arg(long, value_name = "SQL", group = "what", allow_hyphen_values = true)]
    expr: Option<String>,
    /// All rows get null
    #[arg(long, group = "what", requires = "data_type")]
    null: bool,
    /// File with the new columns, one row for each row of the table
    #[arg(long, value_name = "FILE", group = "what")]
    values: Option<PathBuf>,
    /// Type of the column, as in string, int64, decimal(10,2), timestamp[ms]
    #[arg(long = "type", value_name = "TYPE", value_parser = input::data_type, conflicts_with = "values")]
    data_type: Option<DataType>,
    #[command(flatten)]
    change: ChangeArgs,
    #[command(flatten)]
    source: SourceArgs,
}

/// The columns that go.
#[derive(Debug, clap::Args)]
#[command(after_help = DROP)]
pub struct DropArgs {
    /// Folder of the table
    table: PathBuf,
    /// Columns to drop
    #[arg(value_name = "COLUMN", required = true)]
    columns: Vec<String>,
    #[command(flatten)]
    change: ChangeArgs,
}

/// The column, and its new name.
#[derive(Debug, clap::Args)]
#[command(after_help = RENAME)]
pub struct RenameArgs {
    /// Folder of the table
    table: PathBuf,
    /// Column as it is called now
    column: String,
    /// New name, of the field alone
    name: String,
    #[command(flatten)]
    change: ChangeArgs,
}

/// Adds columns.
pub fn add(args: &AddArgs, quiet: bool, out: &mut dyn Write) -> Result<()> {
    let mut table = args.change.open(&args.table)?;
    let rows = table.num_rows().in_table(&args.table)?;
    let open = |file| args.source.open(std::slice::from_ref(file), None, quiet);
    let input = args.values.as_ref().map(open).transpose()?;
    let (bar, cancel) = (progress::bar(Some(rows), quiet), Cancel::begin());
    let options = args.change.options(&bar, &cancel);
    let names = match input {
        Some(input) => {
            let failed = Failure::default();
            let names = input.schema.fields().iter().map(|field| field.name().clone()).collect();
            let rows = Rows::new(input, &failed);
            failed.or(table.add_column_values(rows, &options), &args.table)?;
            names
        }
        None => vec![match &args.expr {
            Some(text) => add_calculated(args, text, &mut table, &options)?,
            None => add_constant(args, &mut table, &options)?,
        }],
    };
    bar.finish_and_clear();
    let line = format!("added {}", shown(&names));
    let facts = vec![("columns", Value::from(names))];
    let version = Some(table.version());
    Done { verb: "add-column", table: &args.table, version, facts, line }.tell(
        args.change.json,
        quiet,
        out,
    )
}

/// Adds a column with one value, and gives its name.
fn add_constant(args: &AddArgs, table: &mut Table, options: &TableWriteOptions) -> Result<String> {
    let name = args.name.clone().unwrap_or_default();
    let field = |data_type: &DataType| Field::new(&name, data_type.clone(), true);
    match (&args.value, &args.data_type) {
        (Some(text), given) => {
            let data_type = given.clone().unwrap_or_else(|| input::type_of(text));
            let value = input::value(text, &data_type)
                .map_err(|message| Error::usage(format!("--value: {message}")))?;
            table.add_constant_column(field(&data_type), value, options)
        }
        (None, data_type) => {
            let data_type = data_type.as_ref().unwrap_or(&DataType::Null);
            table.add_null_columns(&Schema::new(vec![field(data_type)]), options)
        }
    }
    .in_table(&args.table)?;
    Ok(name)
}

/// Adds a column with a value for each row, and gives its name.
fn add_calculated(
    args: &AddArgs,
    text: &str,
    table: &mut Table,
    options: &TableWriteOptions,
) -> Result<String> {
    let name = args.name.clone().unwrap_or_default();
    let refused = |message| Error::usage(format!("--expr: {message}"));
    let expression = Expression::new(text, &table.schema(), args.data_type.as_ref());
    let expression = expression.map_err(refused)?;
    let data_type = expression.data_type().clone();
    if data_type == DataType::Null {
        return Err(refused("is always null; say of which --type, as in string or int64".into()));
    }
    let new = Arc::new(Schema::new(vec![Field::new(&name, data_type, true)]));
    let values = |rows: &RecordBatch| {
        let values = expression.values(rows)?;
        Ok(RecordBatch::try_new(new.clone(), vec![values])?)
    };
    let from = expression.columns().to_vec();
    table.add_columns(new.clone(), from, values, options).in_table(&args.table)?;
    Ok(name)
}

/// Drops columns.
pub fn drop(args: &DropArgs, quiet: bool, out: &mut dyn Write) -> Result<()> {
    let (bar, cancel) = (progress::bar(None, quiet), Cancel::begin());
    let options = args.change.options(&bar, &cancel);
    let version = args.change.on_newest(&args.table, |table| {
        table.drop_columns(&args.columns, &options)?;
        Ok(table.version())
    })?;
    let line = format!("dropped {}", shown(&args.columns));
    let facts = vec![("columns", Value::from(args.columns.clone()))];
    Done { verb: "drop-column", table: &args.table, version: Some(version), facts, line }.tell(
        args.change.json,
        quiet,
        out,
    )
}

/// Gives a column another name.
pub fn rename(args: &RenameArgs, quiet: bool, out: &mut dyn Write) -> Result<()> {
    let (bar, cancel) = (progress::bar(None, quiet), Cancel::begin());
    let options = args.change.options(&bar, &cancel);
    let version = args.change.on_newest(&args.table, |table| {
        table.rename_column(&args.column, &args.name, &options)?;
        Ok(table.version())
    })?;
    let line = format!("`{}` is called `{}`", args.column, args.name);
    let facts = vec![("column", args.column.clone().into()), ("name", args.name.clone().into())];
    Done { verb: "rename-column", table: &args.table, version: Some(version), facts, line }.tell(
        args.change.json,
        quiet,
        out,
    )
}

fn shown(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
