//! Statements that change a table.
//!
//! An `INSERT` comes with a query whose rows are to be added. `DELETE` and `UPDATE` are made alike: a query for the addresses of
//! the rows that are meant, and for their new values, whose answer goes to the table. So a condition and a new value
//! can be whatever a query can say, subqueries and `LIMIT` too. So is a `MERGE`.
//!
//! DataFusion would hand over a list of filters instead, which it collects from the plan once that is optimized. What the
//! optimizer has made into something else is missing there: `WHERE x IN (SELECT …)` is a join by then, `WHERE false` no rows
//! at all, and with no filters left every row would be deleted. So [`TableChanges`] rewrites statements before that.

mod copy;
mod feed;
mod merge;
mod sink;
mod statements;
mod target;
mod write;

use std::sync::Arc;

use datafusion::catalog::Session;
use datafusion::common::{TableReference, not_impl_err, plan_err};
use datafusion::datasource::provider_as_source;
use datafusion::datasource::sink::DataSinkExec;
use datafusion::error::Result;
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::utils::conjunction;
use datafusion::logical_expr::{
    DmlStatement, Expr, ExprSchemable, LogicalPlan, LogicalPlanBuilder, WriteOp, col,
};
use datafusion::physical_plan::ExecutionPlan;

use super::{LanceTable, OpenTable};

pub(crate) use copy::CopySink;
pub(crate) use statements::TableChanges;

/// The column of a [`Step`] beside the rows of a merge.
const STEP: &str = "_merge_step";

/// What becomes of a row of a merge. Rows come in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Delete,
    Update,
    Insert,
}

/// What is done with the rows of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Change {
    Append,
    Overwrite,
    /// They are the addresses of rows that go. The condition is noted for people.
    Delete {
        predicate: String,
    },
    /// They are addresses of rows, and new values of these.
    Update,
    /// The same, with a [`Step`]; rows without an address are new.
    Merge,
}

/// The plan that changes a version of a table with the rows of another plan.
pub(super) fn plan(
    table: LanceTable,
    version: Arc<OpenTable>,
    change: Change,
    input: Arc<dyn ExecutionPlan>,
) -> Arc<dyn ExecutionPlan> {
    let sink = sink::TableSink::new(table, version, change, input.schema());
    Arc::new(DataSinkExec::new(input, Arc::new(sink), None))
}

/// The plan of a change for which conditions are given as a list.
///
/// In a session whose statements are rewritten only Rust code gets here, with all of its conditions. In others it is
/// DataFusion, with those that it has found.
pub(super) async fn by_filters(
    table: &LanceTable,
    state: &dyn Session,
    op: WriteOp,
    assignments: Vec<(String, Expr)>,
    filters: Vec<Expr>,
) -> Result<Arc<dyn ExecutionPlan>> {
    let session = state.as_any().downcast_ref::<SessionState>();
    if !session.is_some_and(statements::are_rewritten) {
        return not_impl_err!(
            "{op} of Lance tables needs a session that knows them: call lancet_datafusion::register \
             first; without it DataFusion may lose parts of a condition"
        );
    }
    if let Some((unknown, _)) =
        assignments.iter().find(|(name, _)| table.schema.column_with_name(name).is_none())
    {
        return plan_err!("{}: there is no column `{unknown}`", table.path);
    }
    let name = TableReference::bare("t");
    let source = provider_as_source(Arc::new(table.clone()));
    let mut rows = LogicalPlanBuilder::scan(name.clone(), source.clone(), None)?;
    if let Some(condition) = conjunction(filters) {
        rows = rows.filter(condition)?;
    }
    if op == WriteOp::Update {
        let mut values = Vec::with_capacity(table.schema.fields().len());
        for field in table.schema.fields() {
            let set = assignments.iter().find(|(name, _)| name == field.name());
            let value = match set {
                Some((_, value)) => value.clone().cast_to(field.data_type(), rows.schema())?,
                None => col(datafusion::common::Column::from_name(field.name())),
            };
            values.push(value.alias(field.name()));
        }
        rows = rows.project(values)?;
    }
    let dml = DmlStatement::new(name, source, op, Arc::new(rows.build()?));
    state.create_physical_plan(&LogicalPlan::Dml(dml)).await
}
