//! The smallest and largest floats, with -0 before 0 in every run.
//!
//! Sorting puts -0 before 0, while comparing finds them equal. `ORDER BY f LIMIT n` sorts, and as soon as
//! it has n rows leaves out those that compare no smaller: which zeros it keeps depends on which
//! partition was faster. A second key that differs where only the zeros do settles it.

use datafusion::common::DFSchema;
use datafusion::common::tree_node::Transformed;
use datafusion::error::Result;
use datafusion::logical_expr::expr::Sort as SortExpr;
use datafusion::logical_expr::{ExprSchemable, LogicalPlan, Sort, cast, lit};
use datafusion::optimizer::{ApplyOrder, OptimizerConfig, OptimizerRule};

/// Adds such a key to sorts that want some rows only.
#[derive(Debug)]
pub(super) struct BothZeros;

impl OptimizerRule for BothZeros {
    fn name(&self) -> &str {
        "both_zeros"
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::BottomUp)
    }

    fn rewrite(
        &self,
        plan: LogicalPlan,
        _config: &dyn OptimizerConfig,
    ) -> Result<Transformed<LogicalPlan>> {
        let LogicalPlan::Sort(sort) = plan else { return Ok(Transformed::no(plan)) };
        if sort.fetch.is_none() {
            return Ok(Transformed::no(LogicalPlan::Sort(sort)));
        }
        let keys = told_apart(&sort.expr, sort.input.schema())?;
        if keys.len() == sort.expr.len() {
            return Ok(Transformed::no(LogicalPlan::Sort(sort)));
        }
        Ok(Transformed::yes(LogicalPlan::Sort(Sort { expr: keys, ..sort })))
    }
}

/// The keys, and after each float one by which its zeros differ: the one is `-inf`, the other `inf`.
fn told_apart(keys: &[SortExpr], schema: &DFSchema) -> Result<Vec<SortExpr>> {
    let mut told = Vec::with_capacity(keys.len());
    for (i, key) in keys.iter().enumerate() {
        told.push(key.clone());
        if !key.expr.get_type(schema)?.is_floating() {
            continue;
        }
        let of = cast(key.expr.clone(), arrow_schema::DataType::Float64);
        let inverse = SortExpr { expr: lit(1.0_f64) / of, ..key.clone() };
        let is_there = keys.get(i + 1) == Some(&inverse);
        let is_one = i > 0 && told_apart_from(&keys[i - 1], key);
        if !is_there && !is_one {
            told.push(inverse);
        }
    }
    Ok(told)
}

/// Whether a key is the one that was added for the key before it.
fn told_apart_from(before: &SortExpr, key: &SortExpr) -> bool {
    let of = cast(before.expr.clone(), arrow_schema::DataType::Float64);
    key.expr == lit(1.0_f64) / of
}
