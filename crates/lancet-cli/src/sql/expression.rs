//! SQL over the rows of a table, as `lancet table` takes it: conditions and values.
//!
//! Columns are called what they are called, in quotes or without. There are no other tables: a condition with a query in
//! it is one for `lancet sql "DELETE …"`.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, BooleanArray, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use datafusion::common::{DFSchema, DFSchemaRef};
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::simplify::SimplifyContext;
use datafusion::logical_expr::{Expr, ExprSchemable};
use datafusion::optimizer::simplify_expressions::ExprSimplifier;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::prelude::{SessionConfig, SessionContext};
use lancet_table::Error as TableError;
use lancet_table::columns::{CREATED_AT_VERSION, LAST_UPDATED_AT_VERSION, ROW_ADDRESS, ROW_ID};

use super::errors::told;
use crate::error::Error;

/// An expression over some columns of a table.
#[derive(Debug)]
pub struct Expression {
    columns: Vec<String>,
    input: SchemaRef,
    value: Arc<dyn PhysicalExpr>,
    data_type: DataType,
}

impl Expression {
    /// Why this build has none, if so.
    pub const MISSING: Option<&str> = None;

    /// Fails if a text is no expression, whatever the columns are.
    pub fn check(text: &str) -> Result<(), String> {
        let state = session().state();
        let parsed = state.sql_to_expr(text, &state.config().options().sql_parser.dialect);
        parsed.map(drop).map_err(message)
    }

    /// An expression over the rows of a table with these columns, of the type `to` if that is given.
    pub fn new(text: &str, schema: &Schema, to: Option<&DataType>) -> Result<Self, String> {
        Self::compile(text, schema, to).map_err(message)
    }

    fn compile(text: &str, schema: &Schema, to: Option<&DataType>) -> Result<Self> {
        let state = session().state();
        let known = Arc::new(DFSchema::try_from(with_row_columns(schema))?);
        let mut expression = state.create_logical_expr(text, &known)?;
        if let Some(to) = to {
            expression = expression.cast_to(to, &known)?;
        }
        let expression = simplified(expression, &known, &state)?;
        let used = expression.column_refs();
        let is_used = |field: &&Arc<Field>| used.iter().any(|column| column.name == *field.name());
        let fields: Vec<_> = known.fields().iter().filter(is_used).cloned().collect();
        drop(used);
        let input = Arc::new(Schema::new(fields));
        let known = DFSchema::try_from(input.clone())?;
        let mut value = state.create_physical_expr(expression.clone(), &known)?;
        let mut data_type = value.data_type(&input)?;
        // Tables hold no views.
        let held = match &data_type {
            DataType::Utf8View => Some(DataType::Utf8),
            DataType::BinaryView => Some(DataType::Binary),
            _ => None,
        };
        if let Some(held) = held {
            value = state.create_physical_expr(expression.cast_to(&held, &known)?, &known)?;
            data_type = held;
        }
        let columns = input.fields().iter().map(|field| field.name().clone()).collect();
        Ok(Self { columns, input, value, data_type })
    }

    /// The columns that it reads.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The type of its values.
    pub fn data_type(&self) -> &DataType {
        &self.data_type
    }

    /// Its values for some rows, which have these columns and perhaps others.
    pub fn values(&self, rows: &RecordBatch) -> lancet_table::Result<ArrayRef> {
        let failed = |error: DataFusionError| TableError::Invalid(message(error));
        let mut columns = Vec::with_capacity(self.columns.len());
        for name in &self.columns {
            let column = rows.column_by_name(name).cloned();
            columns.push(column.ok_or_else(|| {
                TableError::Invalid(format!("there is no column `{name}` any more"))
            })?);
        }
        let count = arrow_array::RecordBatchOptions::new().with_row_count(Some(rows.num_rows()));
        let rows = RecordBatch::try_new_with_options(self.input.clone(), columns, &count)?;
        let values = self.value.evaluate(&rows).map_err(failed)?;
        values.into_array(rows.num_rows()).map_err(failed)
    }

    /// For which rows it is true; for those where it is null it is not.
    pub fn holds(&self, rows: &RecordBatch) -> lancet_table::Result<BooleanArray> {
        let values = self.values(rows)?;
        match values.as_boolean_opt() {
            Some(values) => Ok(values.iter().map(|value| Some(value == Some(true))).collect()),
            // The constant NULL.
            None if *values.data_type() == DataType::Null => {
                Ok(BooleanArray::from(vec![false; rows.num_rows()]))
            }
            None => Err(TableError::Invalid(format!(
                "the condition is {}, and neither true nor false",
                values.data_type()
            ))),
        }
    }
}

/// What the optimizer makes of an expression: `coalesce`, `now` and others are there only before that.
fn simplified(expression: Expr, known: &DFSchemaRef, state: &SessionState) -> Result<Expr> {
    let context = SimplifyContext::builder()
        .with_schema(known.clone())
        .with_config_options(state.config_options().clone())
        .with_query_execution_start_time(state.execution_props().query_execution_start_time)
        .build();
    let simplifier = ExprSimplifier::new(context);
    let expression = simplifier.coerce(expression, known)?;
    simplifier.simplify(expression)
}

/// Names of columns are taken as they are written, as everywhere in `lancet table`.
fn session() -> SessionContext {
    let mut config = SessionConfig::new();
    config.options_mut().sql_parser.enable_ident_normalization = false;
    SessionContext::new_with_config(config)
}

/// Rows have ids and addresses too.
fn with_row_columns(schema: &Schema) -> Schema {
    let of_rows = [ROW_ID, ROW_ADDRESS, CREATED_AT_VERSION, LAST_UPDATED_AT_VERSION];
    let of_rows = of_rows.into_iter().filter(|name| schema.column_with_name(name).is_none());
    let of_rows = of_rows.map(|name| Arc::new(Field::new(name, DataType::UInt64, true)));
    Schema::new(schema.fields().iter().cloned().chain(of_rows).collect::<Vec<_>>())
}

fn message(error: DataFusionError) -> String {
    match told(error) {
        Error::Message(message) | Error::Usage(message) => message,
        Error::ClosedPipe => "the output is closed".into(),
    }
}
