//! `lancet table update`: rows get other values.

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchIterator, UInt64Array};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use arrow_select::take::take;
use clap::ArgGroup;
use lancet_table::columns::ROW_ADDRESS;
use lancet_table::{Error as TableError, Table, TableChange, TableWriteOptions};

use super::change::{ChangeArgs, Done};
use super::clause::{Assignment, Value, Where};
use super::literal::column_type;
use super::select::rows_where;
use crate::error::Result;
use crate::progress;
use crate::signals::Cancel;
use crate::sql::Expression;

const EXAMPLES: &str = "\
Examples:
  lancet table update cities.lance --set mayor=null --where \"founded < '1900-01-01'\"
  lancet table update cities.lance --set \"country='CH'\" --set population=0 --where \"country = 'Swiss'\"
  lancet table update cities.lance --set checked=false --all
  lancet table update cities.lance --set \"population = population + 1\" --where \"lower(name) = 'bern'\"  (SQL)
(SQL): a build with the feature `sql`; `lancet --version` tells.

Values are numbers, texts in single quotes (dates and times too), true, false and null; with SQL, all
expressions over the values that a row has before, which are cast to the type of the column. Names
of columns are taken as they are written. Values of another file are merged by their keys:
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
    /// Rows for which a condition of SQL holds; without SQL: comparisons with values, IN, IS NULL, AND, OR, NOT
    #[arg(long = "where", value_name = "CONDITION", group = "which")]
    condition: Option<Where>,
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
        let setters = setters(table, &args.set).map_err(TableError::Invalid)?;
        update(table, &setters, args.condition.as_ref(), &cancel, &options)
    })?;
    bar.finish_and_clear();
    Done::rows("update", &args.table, &change).tell(args.change.json, quiet, out)
}

/// A column that gets values.
struct Setter {
    column: String,
    data_type: DataType,
    value: NewValue,
}

enum NewValue {
    /// The same for all rows: an array of one.
    One(ArrayRef),
    Each(Expression),
}

impl Setter {
    fn values(&self, rows: &RecordBatch) -> lancet_table::Result<ArrayRef> {
        match &self.value {
            NewValue::One(value) => {
                Ok(take(value, &UInt64Array::from(vec![0; rows.num_rows()]), None)?)
            }
            NewValue::Each(expression) => expression
                .values(rows)
                .map_err(|error| TableError::Invalid(format!("column `{}`: {error}", self.column))),
        }
    }
}

fn setters(table: &Table, set: &[Assignment]) -> Result<Vec<Setter>, String> {
    let schema = table.schema();
    let mut setters: Vec<Setter> = Vec::with_capacity(set.len());
    for Assignment { column, value } in set {
        let about = |message: String| format!("column `{column}`: {message}");
        let data_type = column_type(&schema, column)?.clone();
        if schema.field_with_name(column).is_err() {
            return Err(about("fields of a struct cannot be set alone".into()));
        }
        if setters.iter().any(|setter| setter.column == *column) {
            return Err(about("is set twice".into()));
        }
        let value = match value {
            Value::Literal(literal) => NewValue::One(literal.of_type(&data_type).map_err(about)?),
            Value::Expression(text) => {
                NewValue::Each(Expression::new(text, &schema, Some(&data_type)).map_err(about)?)
            }
        };
        setters.push(Setter { column: column.clone(), data_type, value });
    }
    Ok(setters)
}

fn update(
    table: &mut Table,
    setters: &[Setter],
    condition: Option<&Where>,
    cancel: &Cancel,
    options: &TableWriteOptions,
) -> lancet_table::Result<TableChange> {
    let mut columns: Vec<String> = Vec::new();
    for setter in setters {
        if let NewValue::Each(expression) = &setter.value {
            columns.extend_from_slice(expression.columns());
        }
    }
    let address = Field::new(ROW_ADDRESS, DataType::UInt64, true);
    let fields = setters.iter().map(|s| Field::new(&s.column, s.data_type.clone(), true));
    let schema: SchemaRef =
        Arc::new(Schema::new([address].into_iter().chain(fields).collect::<Vec<_>>()));
    let rows = rows_where(table, condition, &columns, cancel)?;
    let new = |rows: lancet_table::Result<RecordBatch>| {
        let rows = rows?;
        let address = rows.column_by_name(ROW_ADDRESS).cloned();
        let mut arrays = vec![address.ok_or_else(|| TableError::Invalid("no addresses".into()))?];
        for setter in setters {
            arrays.push(setter.values(&rows)?);
        }
        Ok(RecordBatch::try_new(schema.clone(), arrays)?)
    };
    let values = rows.map(|rows| new(rows).map_err(|error: TableError| ArrowError::from(error)));
    table.update_by_address(RecordBatchIterator::new(values, schema.clone()), options)
}
