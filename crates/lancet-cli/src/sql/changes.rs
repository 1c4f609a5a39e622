//! Statements that change tables and would do something else than they say.
//!
//! DataFusion hands a table in memory the conditions that its optimizer has left, and none means all rows. Of the target of
//! an assignment it takes the last part, so that `SET address.zip = …` would set a column `zip`. Both are refused.

use std::collections::HashSet;
use std::ops::ControlFlow;

use datafusion::common::plan_err;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::datasource::listing::ListingTable;
use datafusion::datasource::{DefaultTableSource, MemTable};
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::{DmlStatement, LogicalPlan, WriteOp};
use datafusion::sql::parser::Statement as DfStatement;
use datafusion::sql::sqlparser::ast::{
    AssignmentTarget, Ident, ObjectName, ObjectNamePart, Statement, TableFactor, Update, Visit,
    Visitor,
};
use lancet_datafusion::LanceTable;

/// Fails where an UPDATE sets a field of a struct, or a column twice.
pub(super) fn check_assignments(statement: &DfStatement) -> Result<()> {
    let checked = match statement {
        DfStatement::Statement(statement) => statement.visit(&mut Assignments),
        DfStatement::Explain(explain) => return check_assignments(&explain.statement),
        _ => return Ok(()),
    };
    match checked {
        ControlFlow::Break(message) => Err(DataFusionError::Plan(message)),
        ControlFlow::Continue(()) => Ok(()),
    }
}

struct Assignments;

impl Visitor for Assignments {
    type Break = String;

    fn pre_visit_statement(&mut self, statement: &Statement) -> ControlFlow<String> {
        match statement {
            Statement::Update(update) => match check_update(update) {
                Err(message) => ControlFlow::Break(message),
                Ok(()) => ControlFlow::Continue(()),
            },
            _ => ControlFlow::Continue(()),
        }
    }
}

fn check_update(update: &Update) -> Result<(), String> {
    let mut set = HashSet::new();
    for assignment in &update.assignments {
        // DataFusion refuses others.
        let AssignmentTarget::ColumnName(target) = &assignment.target else { continue };
        let parts = parts(target);
        let Some((column, table)) = parts.split_last() else { continue };
        if !table.is_empty() && !names(&update.table.relation, table) {
            return Err(format!(
                "column `{}`: fields of a struct cannot be set alone; set the whole of `{}`",
                parts.join("."),
                parts.first().unwrap_or(column)
            ));
        }
        if !set.insert(column.clone()) {
            return Err(format!("column `{column}` is set twice"));
        }
    }
    Ok(())
}

/// Whether a name is that of a table: its alias, or the end of its name.
fn names(table: &TableFactor, name: &[String]) -> bool {
    let TableFactor::Table { name: whole, alias, .. } = table else { return false };
    let is_alias = alias.as_ref().is_some_and(|alias| [normal(&alias.name)] == *name);
    is_alias || parts(whole).ends_with(name)
}

fn parts(name: &ObjectName) -> Vec<String> {
    let part = |part: &ObjectNamePart| part.as_ident().map(normal);
    name.0.iter().filter_map(part).collect()
}

fn normal(name: &Ident) -> String {
    match name.quote_style {
        Some(_) => name.value.clone(),
        None => name.value.to_lowercase(),
    }
}

/// Fails where a plan changes what cannot be changed row by row.
pub(super) fn check_targets(plan: &LogicalPlan) -> Result<()> {
    plan.apply(|node| {
        if let LogicalPlan::Dml(statement) = node {
            check_target(statement)?;
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(())
}

fn check_target(statement: &DmlStatement) -> Result<()> {
    let Some(source) = statement.target.downcast_ref::<DefaultTableSource>() else {
        return Ok(());
    };
    let (name, table) = (statement.table_name.table(), &source.table_provider);
    let inserts = matches!(statement.op, WriteOp::Insert(_) | WriteOp::Ctas);
    if table.downcast_ref::<LanceTable>().is_some() {
        return Ok(());
    }
    if let Some(files) = table.downcast_ref::<ListingTable>() {
        // A folder of files gets one more.
        let are_files = files.table_paths().iter().all(|url| url.is_collection());
        return match inserts && are_files {
            true => Ok(()),
            false if are_files => plan_err!(
                "{name}: these are files; make a table of them: lancet table create TABLE FILES"
            ),
            false => {
                plan_err!("{name}: is a file; make a table of it: lancet table create TABLE FILE")
            }
        };
    }
    match table.downcast_ref::<MemTable>() {
        _ if inserts => Ok(()),
        Some(_) => plan_err!(
            "{name}: tables in memory are replaced, not changed: \
             CREATE OR REPLACE TABLE {name} AS SELECT … FROM {name} WHERE NOT …"
        ),
        None => plan_err!("{name}: is no table whose rows can be changed"),
    }
}
