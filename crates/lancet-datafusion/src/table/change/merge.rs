//! `MERGE INTO` as a query whose rows go to the table.
//!
//! The rows of the table, with their addresses, are joined with those of the source. Which clause a pair of them meets first is
//! a column of its own, and the others are what the row becomes. Rows that go come first, then those that change, then
//! new ones: in this order they can be written as they come.

use std::sync::Arc;

use datafusion::common::{Column, JoinType, ScalarValue, plan_err};
use datafusion::error::Result;
use datafusion::logical_expr::dml::{
    MergeIntoAction, MergeIntoClause, MergeIntoClauseKind, MergeIntoOp,
};
use datafusion::logical_expr::{
    Case, DmlStatement, Expr, LogicalPlan, LogicalPlanBuilder, TableSource, lit,
};
use lancet_table::columns::ROW_ADDRESS;

use super::super::LanceTable;
use super::{Change, STEP, Step};

/// Is true where there is a row of the source.
const SOURCE: &str = "_merge_source";
/// The number of the clause that is met.
const CLAUSE: &str = "_merge_clause";

/// What is done, and the query whose rows say with what.
pub(super) fn merged(
    statement: &DmlStatement,
    merge: &MergeIntoOp,
    table: &LanceTable,
    rows: &Arc<dyn TableSource>,
) -> Result<(Change, LogicalPlan)> {
    let columns = columns(merge, table)?;
    let name = &statement.table_name;
    let target = |column: &str| Expr::Column(Column::new(Some(name.clone()), column));
    let address = target(ROW_ADDRESS);
    let met = with_clause(statement, merge, rows, &address)?;
    if columns.is_empty() {
        let predicate = format!("MERGE ON {}", merge.on.human_display());
        return Ok((Change::Delete { predicate }, met.project([address])?.build()?));
    }
    let steps = merge.clauses.iter().map(|clause| {
        lit(match &clause.action {
            MergeIntoAction::Delete => Step::Delete as i8,
            MergeIntoAction::Update(_) => Step::Update as i8,
            MergeIntoAction::Insert { .. } => Step::Insert as i8,
        })
    });
    let mut becomes = vec![address, by_clause(steps).alias(STEP)];
    for (at, column) in columns {
        let data_type = table.schema.field(at).data_type();
        let null = || ScalarValue::try_from(data_type).map(|null| Expr::Literal(null, None));
        let values = merge.clauses.iter().map(|clause| match &clause.action {
            MergeIntoAction::Delete => null(),
            MergeIntoAction::Update(set) => {
                let set = set.iter().find(|(name, _)| name == column);
                Ok(set.map_or_else(|| target(column), |(_, value)| value.clone()))
            }
            MergeIntoAction::Insert { columns, values } => {
                let at = match columns.is_empty() {
                    true => Some(at),
                    false => columns.iter().position(|name| name == column),
                };
                at.and_then(|at| values.get(at)).map_or_else(null, |value| Ok(value.clone()))
            }
        });
        let values = values.collect::<Result<Vec<_>>>()?;
        becomes.push(by_clause(values.into_iter()).alias(column));
    }
    let step = Expr::Column(Column::new_unqualified(STEP)).sort(true, false);
    Ok((Change::Merge, met.project(becomes)?.sort([step])?.build()?))
}

/// The columns that get values, with their places: all of them where rows are new.
fn columns<'a>(merge: &MergeIntoOp, table: &'a LanceTable) -> Result<Vec<(usize, &'a str)>> {
    let made = table.options.row_columns();
    let mut inserts = false;
    for clause in &merge.clauses {
        match &clause.action {
            MergeIntoAction::Update(set) => {
                if let Some((name, _)) = set.iter().find(|(name, _)| made.contains(&name.as_str()))
                {
                    return plan_err!("column `{name}` is made by the table and cannot be set");
                }
            }
            MergeIntoAction::Insert { .. } => {
                table.check_can_insert()?;
                inserts = true;
            }
            MergeIntoAction::Delete => {}
        }
    }
    let is_set = |name: &str| {
        merge.clauses.iter().any(|clause| match &clause.action {
            MergeIntoAction::Update(set) => set.iter().any(|(column, _)| column == name),
            _ => false,
        })
    };
    let names = table.schema.fields().iter().map(|field| field.name().as_str()).enumerate();
    Ok(names.filter(|(_, name)| inserts || is_set(name)).collect())
}

/// The pairs of rows that meet a clause, with its number.
fn with_clause(
    statement: &DmlStatement,
    merge: &MergeIntoOp,
    rows: &Arc<dyn TableSource>,
    address: &Expr,
) -> Result<LogicalPlanBuilder> {
    let is_there = lit(true).alias(SOURCE);
    let source = statement.input.schema().columns().into_iter().map(Expr::Column);
    let source = LogicalPlanBuilder::from(statement.input.as_ref().clone())
        .project(source.chain([is_there]).collect::<Vec<_>>())?
        .build()?;
    let has = |kind| merge.clauses.iter().any(|clause| clause.kind.canonical() == kind);
    let join = match (
        has(MergeIntoClauseKind::NotMatchedByTarget),
        has(MergeIntoClauseKind::NotMatchedBySource),
    ) {
        (false, false) => JoinType::Inner,
        (true, false) => JoinType::Right,
        (false, true) => JoinType::Left,
        (true, true) => JoinType::Full,
    };
    let pairs = LogicalPlanBuilder::scan(statement.table_name.clone(), rows.clone(), None)?
        .join_on(source, join, [merge.on.clone()])?;
    let met = merge
        .clauses
        .iter()
        .zip(0_i32..)
        .map(|(clause, number)| (Box::new(meets(clause, address)), Box::new(lit(number))));
    let met = Expr::Case(Case::new(None, met.collect(), None)).alias(CLAUSE);
    let all = pairs.schema().columns().into_iter().map(Expr::Column);
    let all: Vec<Expr> = all.chain([met]).collect();
    pairs.project(all)?.filter(clause().is_not_null())
}

/// Whether a pair of rows meets a clause.
fn meets(clause: &MergeIntoClause, address: &Expr) -> Expr {
    let source = Expr::Column(Column::new_unqualified(SOURCE));
    let (in_target, in_source) = (address.clone().is_not_null(), source.clone().is_not_null());
    let found = match clause.kind.canonical() {
        MergeIntoClauseKind::Matched => in_target.and(in_source),
        MergeIntoClauseKind::NotMatchedBySource => source.is_null(),
        _ => address.clone().is_null(),
    };
    match &clause.predicate {
        Some(predicate) => found.and(predicate.clone()),
        None => found,
    }
}

fn clause() -> Expr {
    Expr::Column(Column::new_unqualified(CLAUSE))
}

/// The value that belongs to the clause that is met.
fn by_clause(values: impl Iterator<Item = Expr>) -> Expr {
    let values = values.zip(0_i32..).map(|(value, n)| (Box::new(lit(n)), Box::new(value)));
    Expr::Case(Case::new(Some(Box::new(clause())), values.collect(), None))
}
