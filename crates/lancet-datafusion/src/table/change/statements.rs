//! `DELETE`, `UPDATE`, `TRUNCATE` and `MERGE` as queries whose rows go to the table.
//!
//! ```text
//! DELETE FROM t WHERE c             the addresses  SELECT _rowaddr FROM t WHERE c
//! UPDATE t SET a = e WHERE c        and values     SELECT _rowaddr, e AS a FROM t WHERE c
//! ```

use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{Column, not_impl_err, plan_err};
use datafusion::config::ConfigOptions;
use datafusion::datasource::{DefaultTableSource, provider_as_source};
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::dml::InsertOp;
use datafusion::logical_expr::{
    DmlStatement, Expr, Filter, Limit, LogicalPlan, LogicalPlanBuilder, Projection, SubqueryAlias,
    TableSource, WriteOp,
};
use datafusion::optimizer::AnalyzerRule;
use lancet_table::columns::ROW_ADDRESS;

use super::super::LanceTable;
use super::Change;
use super::merge::merged;
use super::target::{Changed, RowsOf, Target};

const NAME: &str = "lance_table_changes";

/// Rewrites the statements that change Lance tables.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TableChanges;

/// Whether a session rewrites them.
pub(super) fn are_rewritten(state: &SessionState) -> bool {
    state.analyzer().rules.iter().any(|rule| rule.name() == NAME)
}

impl AnalyzerRule for TableChanges {
    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        let rewrite = |plan| match plan {
            LogicalPlan::Dml(statement) => match rewritten(&statement)? {
                Some(rewritten) => Ok(Transformed::yes(LogicalPlan::Dml(rewritten))),
                None => Ok(Transformed::no(LogicalPlan::Dml(statement))),
            },
            other => Ok(Transformed::no(other)),
        };
        plan.transform_down(rewrite).data()
    }

    fn name(&self) -> &str {
        NAME
    }
}

/// The statement that does the same, if it is one of these and about a Lance table.
fn rewritten(statement: &DmlStatement) -> Result<Option<DmlStatement>> {
    let source = statement.target.downcast_ref::<DefaultTableSource>();
    let table = source.and_then(|source| source.table_provider.downcast_ref::<LanceTable>());
    let Some(table) = table else { return Ok(None) };
    let target = Arc::new(Target::new(table.clone()));
    let rows =
        || Ok::<_, DataFusionError>(provider_as_source(Arc::new(RowsOf::new(target.clone())?)));
    let (change, input) = match &statement.op {
        WriteOp::Delete => {
            let predicate = predicate(&statement.input);
            (Change::Delete { predicate }, addresses(&statement.input, &rows()?)?)
        }
        WriteOp::Truncate => {
            let all = LogicalPlanBuilder::scan(statement.table_name.clone(), rows()?, None)?;
            let predicate = "true".into();
            (Change::Delete { predicate }, just_addresses(all.build()?)?)
        }
        WriteOp::Update => (Change::Update, new_values(&statement.input, &rows()?, table)?),
        WriteOp::MergeInto(merge) => merged(statement, merge, table, &rows()?)?,
        _ => return Ok(None),
    };
    table.check_can_change()?;
    let changed = Changed::new(target, change, input.schema().inner().clone());
    Ok(Some(DmlStatement::new(
        statement.table_name.clone(),
        provider_as_source(Arc::new(changed)),
        WriteOp::Insert(InsertOp::Append),
        Arc::new(input),
    )))
}

/// The condition of a statement, for people.
fn predicate(plan: &LogicalPlan) -> String {
    match plan {
        LogicalPlan::Filter(filter) => {
            let plain = filter.predicate.clone().transform(|part| match part {
                Expr::Column(column) => {
                    Ok(Transformed::yes(Expr::Column(Column::new_unqualified(column.name))))
                }
                other => Ok(Transformed::no(other)),
            });
            plain.data().map_or_else(|_| String::new(), |plain| plain.human_display().to_string())
        }
        LogicalPlan::TableScan(_) => "true".into(),
        other => other.inputs().first().map_or_else(String::new, |input| predicate(input)),
    }
}

/// The addresses of the rows that a plan gives.
fn addresses(plan: &LogicalPlan, rows: &Arc<dyn TableSource>) -> Result<LogicalPlan> {
    just_addresses(with_addresses(plan, rows)?)
}

fn just_addresses(plan: LogicalPlan) -> Result<LogicalPlan> {
    let address = address(&plan)?;
    LogicalPlanBuilder::from(plan).project([address])?.build()
}

fn address(plan: &LogicalPlan) -> Result<Expr> {
    let found = plan.schema().qualified_field_with_unqualified_name(ROW_ADDRESS)?;
    Ok(Expr::Column(Column::from(found)))
}

/// The same plan over rows that have their addresses.
fn with_addresses(plan: &LogicalPlan, rows: &Arc<dyn TableSource>) -> Result<LogicalPlan> {
    let below = |input: &LogicalPlan| with_addresses(input, rows).map(Arc::new);
    Ok(match plan {
        LogicalPlan::TableScan(scan) => {
            let (name, filters) = (scan.table_name.clone(), scan.filters.clone());
            LogicalPlanBuilder::scan_with_filters(name, rows.clone(), None, filters)?.build()?
        }
        LogicalPlan::Filter(filter) => {
            let (condition, input) = (filter.predicate.clone(), below(&filter.input)?);
            LogicalPlan::Filter(Filter::try_new(condition, input)?)
        }
        LogicalPlan::SubqueryAlias(alias) => {
            let input = below(&alias.input)?;
            LogicalPlan::SubqueryAlias(SubqueryAlias::try_new(input, alias.alias.clone())?)
        }
        LogicalPlan::Limit(limit) => {
            let input = below(&limit.input)?;
            LogicalPlan::Limit(Limit { input, ..limit.clone() })
        }
        other => {
            return not_impl_err!("a Lance table cannot be changed by {}", other.display());
        }
    })
}

/// The addresses of the rows that a plan gives, and the columns that get other values.
fn new_values(
    plan: &LogicalPlan,
    rows: &Arc<dyn TableSource>,
    table: &LanceTable,
) -> Result<LogicalPlan> {
    let LogicalPlan::Projection(Projection { expr, input, .. }) = plan else {
        return not_impl_err!("a Lance table cannot be updated by {}", plan.display());
    };
    let input = with_addresses(input, rows)?;
    let mut values = vec![address(&input)?];
    for value in expr.iter().filter(|value| !is_same(value)) {
        let (_, name) = value.qualified_name();
        if table.options.row_columns().contains(&name.as_str()) {
            return plan_err!("column `{name}` is made by the table and cannot be set");
        }
        values.push(value.clone());
    }
    LogicalPlanBuilder::from(input).project(values)?.build()
}

/// Whether a column stays as it is.
fn is_same(value: &Expr) -> bool {
    match value {
        Expr::Alias(alias) => {
            matches!(alias.expr.as_ref(), Expr::Column(column) if column.name == alias.name)
        }
        Expr::Column(_) => true,
        _ => false,
    }
}
