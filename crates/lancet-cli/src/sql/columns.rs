//! What the columns of an answer are called.
//!
//! DataFusion writes `sum(orders.lance.price)` and `a + Int64(1)` where nobody gave a name. Here a
//! column is called like the expression that was written, without the tables: `sum(price)`, `a + 1`.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use arrow_schema::Field;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::common::{DFSchema, TableReference};
use datafusion::error::Result;
use datafusion::logical_expr::{Expr as LogicalExpr, LogicalPlan, LogicalPlanBuilder};
use datafusion::sql::sqlparser::ast::{
    Expr, Ident, ObjectNamePart, Select, SelectItem, TableFactor, visit_expressions,
    visit_expressions_mut,
};

use super::errors::without_types;

/// Names the columns of a SELECT that have no name.
pub(super) fn name(select: &mut Select) {
    let tables = tables(select);
    let mut taken: HashSet<String> = select.projection.iter().filter_map(given).collect();
    let mut seen = HashSet::new();
    for item in &mut select.projection {
        let SelectItem::UnnamedExpr(expr) = item else { continue };
        let name = match &*expr {
            Expr::Identifier(ident) if seen.insert(normal(ident)) => continue,
            // The planner knows whether it is a column of a table or a field of a struct.
            Expr::CompoundIdentifier(_) => continue,
            expr if makes_columns(expr) => continue,
            expr => free(readable(expr, &tables), || readable(expr, &HashSet::new()), &taken),
        };
        taken.insert(name.clone());
        let alias = Ident::with_quote('"', name);
        *item = SelectItem::ExprWithAlias { expr: expr.clone(), alias };
    }
}

/// The name that was given to a column.
fn given(item: &SelectItem) -> Option<String> {
    match item {
        SelectItem::ExprWithAlias { alias, .. } => Some(normal(alias)),
        SelectItem::UnnamedExpr(Expr::Identifier(ident)) => Some(normal(ident)),
        _ => None,
    }
}

/// `unnest` of a struct is as many columns as it has fields.
fn makes_columns(expr: &Expr) -> bool {
    visit_expressions(expr, |part| match part {
        Expr::Function(function) if function.name.to_string().eq_ignore_ascii_case("unnest") => {
            ControlFlow::Break(())
        }
        _ => ControlFlow::Continue(()),
    })
    .is_break()
}

/// Names by which the columns of a SELECT may be qualified.
fn tables(select: &Select) -> HashSet<String> {
    let joined = |table: &datafusion::sql::sqlparser::ast::TableWithJoins| {
        let joins: Vec<_> = table.joins.iter().map(|join| join.relation.clone()).collect();
        [vec![table.relation.clone()], joins].concat()
    };
    let name = |table: TableFactor| match table {
        TableFactor::Table { alias: Some(alias), .. }
        | TableFactor::Derived { alias: Some(alias), .. } => Some(normal(&alias.name)),
        TableFactor::Table { name, .. } => match name.0.last() {
            Some(ObjectNamePart::Identifier(ident)) => Some(normal(ident)),
            _ => None,
        },
        _ => None,
    };
    select.from.iter().flat_map(joined).filter_map(name).collect()
}

/// The expression as text, without the names of tables.
fn readable(expr: &Expr, tables: &HashSet<String>) -> String {
    let mut expr = expr.clone();
    let _ = visit_expressions_mut(&mut expr, |part| {
        match part {
            Expr::Identifier(ident) => lower(ident),
            Expr::CompoundIdentifier(parts) => {
                parts.iter_mut().for_each(lower);
                if parts.len() > 1 && parts.first().is_some_and(|p| tables.contains(&p.value)) {
                    parts.remove(0);
                }
            }
            Expr::Function(function) => {
                for part in &mut function.name.0 {
                    if let ObjectNamePart::Identifier(ident) = part {
                        lower(ident);
                    }
                }
            }
            _ => {}
        }
        ControlFlow::<()>::Continue(())
    });
    expr.to_string()
}

fn lower(ident: &mut Ident) {
    if ident.quote_style.is_none() {
        ident.value = ident.value.to_lowercase();
    }
}

fn normal(ident: &Ident) -> String {
    let mut ident = ident.clone();
    lower(&mut ident);
    ident.value
}

/// A name that is not taken: this one, the longer one, or one with a number.
fn free(name: String, longer: impl Fn() -> String, taken: &HashSet<String>) -> String {
    if !taken.contains(&name) {
        return name;
    }
    let name = longer();
    let numbered = (1..).map(|number| format!("{name}_{number}"));
    [name.clone()].into_iter().chain(numbered).find(|name| !taken.contains(name)).unwrap_or(name)
}

/// The plan of a query with columns that are called what people call them. `dots` says whether
/// names may have dots, as those in Lance files may not.
pub(super) fn rename(plan: LogicalPlan, dots: bool) -> Result<LogicalPlan> {
    let schema = plan.schema().clone();
    let names = names(&schema, &qualifiers(&plan)?, dots);
    if schema.fields().iter().map(|field| field.name()).eq(&names) {
        return Ok(plan);
    }
    let columns = schema.columns().into_iter().map(LogicalExpr::Column);
    let renamed = columns.zip(names).map(|(column, name)| column.alias(name));
    LogicalPlanBuilder::from(plan).project(renamed.collect::<Vec<_>>())?.build()
}

/// [`rename`] for what COPY writes.
pub(super) fn rename_copied(plan: LogicalPlan) -> Result<LogicalPlan> {
    let LogicalPlan::Copy(mut copy) = plan else { return Ok(plan) };
    let lance = copy.file_type.get_ext() == "lance";
    copy.input = Arc::new(rename(Arc::unwrap_or_clone(copy.input), !lance)?);
    Ok(LogicalPlan::Copy(copy))
}

/// The tables of a plan, as they stand before the names of their columns.
fn qualifiers(plan: &LogicalPlan) -> Result<HashSet<String>> {
    let mut found = HashSet::new();
    plan.apply(|node| {
        let tables = node.schema().iter().filter_map(|(qualifier, _)| qualifier);
        found.extend(tables.map(|table| format!("{table}.")));
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(found)
}

fn names(schema: &DFSchema, qualifiers: &HashSet<String>, dots: bool) -> Vec<String> {
    let plain: Vec<String> =
        schema.fields().iter().map(|field| unqualified(field.name(), qualifiers)).collect();
    let mut taken = HashSet::new();
    let mut name = |((qualifier, field), short): ((Option<&TableReference>, _), &String)| {
        let field: &Arc<Field> = field;
        let several = plain.iter().filter(|name| *name == short).count() > 1;
        let mut name = match qualifier {
            Some(table) if several => format!("{}.{short}", table.table()),
            None if several => field.name().clone(),
            _ => short.clone(),
        };
        if !dots {
            name = name.replace('.', "_");
        }
        let name = free(name.clone(), || name.clone(), &taken);
        taken.insert(name.clone());
        name
    };
    schema.iter().zip(&plain).map(&mut name).collect()
}

/// A generated name without the tables in it, such as that of a struct's field: `orders.place[city]`.
fn unqualified(name: &str, qualifiers: &HashSet<String>) -> String {
    if !name.contains(['(', '[']) {
        return name.to_owned();
    }
    let name = without_types(name);
    let mut short = String::with_capacity(name.len());
    let mut rest = name.as_str();
    while let Some(next) = rest.chars().next() {
        let starts_word = !short.ends_with(|c: char| c.is_alphanumeric() || "_.\"".contains(c));
        match qualifiers.iter().find_map(|table| rest.strip_prefix(table.as_str())) {
            Some(column) if starts_word && !column.is_empty() => rest = column,
            _ => {
                short.push(next);
                rest = rest.strip_prefix(next).unwrap_or_default();
            }
        }
    }
    short
}
