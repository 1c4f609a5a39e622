//! `lancet table update`: rows get other values.

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchIterator, UInt64Array};
use arrow_schema::{ArrowError, Field, Schema, SchemaRef};
use arrow_select::take::take;
use clap::ArgGroup;
use lancet_table::{Error as TableError, Table, TableChange, TableRows, TableWriteOptions};

use super::change::{ChangeArgs, Done};
use super::condition::{Assignment, Condition};
use super::literal::column_type;
use super::select;
use crate::error::Result;
use crate::input::BATCH_ROWS;
use crate::progress;
use crate::signals::Cancel;

const EXAMPLES: &str = "\
Examples:
  lancet table update cities.lance --set mayor=null --where \"founded < '1900-01-01'\"
  lancet table update cities.lance --set \"country='CH'\" --set population=0 --where \"country = 'Swiss'\"
  lancet table update cities.lance --set checked=false --all

Values are numbers, texts in single quotes (dates and times too), true, false and null. For values
that are calculated, write them to a file with their keys, and merge it:
  lancet sql \"SELECT id, price * 2 AS price FROM 'cities.lance'\" -o new.arrow
  lancet table merge cities.lance new.arrow --on id

Rows that were updated move behind the others.";

/// Which rows get which values.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, group = ArgGroup::new("which").required(true))]
pub struct Args {
    /// Folder of the table
    table: PathBuf,
    /// Column and the value that it gets; repeatable
    #[arg(long, value_name = "COLUMN=VALUE", required = true)]
    set: Vec<Assignment>,
    /// Rows for which a condition holds: comparisons with values, IN, IS NULL, AND, OR, NOT
    #[arg(long = "where", value_name = "CONDITION", group = "which")]
    condition: Option<Condition>,
    /// All rows
    #[arg(long, group = "which")]
    all: bool,
    #[command(flatten)]
    change: ChangeArgs,
}

/// Runs the verb.
pub fn run(args: &Args, quiet: bool, out: &mut dyn Write) -> Result<()> {
    let (bar, cancel) = (progress::bar(None, quiet), Cancel::begin());
    let options = args.change.options(&bar, &cancel);
    let change = args.change.on_newest(&args.table, |table| {
        let values = values(table, &args.set).map_err(TableError::Invalid)?;
        let rows = select::matching(table, args.condition.as_ref(), &cancel)?;
        update(table, rows, &values, &options)
    })?;
    bar.finish_and_clear();
    Done::rows("update", &args.table, &change).tell(args.change.json, quiet, out)
}

/// The new values, as one row.
fn values(table: &Table, set: &[Assignment]) -> Result<RecordBatch, String> {
    let schema = table.schema();
    let mut fields = Vec::with_capacity(set.len());
    let mut arrays: Vec<ArrayRef> = Vec::with_capacity(set.len());
    for Assignment { column, value } in set {
        let about = |message: String| format!("column `{column}`: {message}");
        let data_type = column_type(&schema, column)?;
        if schema.field_with_name(column).is_err() {
            return Err(about("fields of a struct cannot be set alone".into()));
        }
        if fields.iter().any(|field: &Field| field.name() == column) {
            return Err(about("is set twice".into()));
        }
        arrays.push(value.of_type(data_type).map_err(about)?);
        fields.push(Field::new(column, data_type.clone(), true));
    }
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).map_err(|e| e.to_string())
}

fn update(
    table: &mut Table,
    rows: TableRows,
    values: &RecordBatch,
    options: &TableWriteOptions,
) -> lancet_table::Result<TableChange> {
    let num_rows = match &rows {
        TableRows::Addresses(addresses) => addresses.len(),
        _ => 0,
    };
    let schema: SchemaRef = values.schema();
    let step = BATCH_ROWS as usize;
    let starts = (0..num_rows).step_by(step);
    let batches = starts.map(|start| repeated(values, step.min(num_rows - start)));
    table.update_with(rows, RecordBatchIterator::new(batches, schema), options)
}

/// The first row of a batch, so many times.
fn repeated(row: &RecordBatch, times: usize) -> Result<RecordBatch, ArrowError> {
    let first = UInt64Array::from(vec![0; times]);
    let arrays = row.columns().iter().map(|array| take(array, &first, None));
    RecordBatch::try_new(row.schema(), arrays.collect::<Result<_, _>>()?)
}
