//! Rows in the order of their files.
//!
//! Partitions are parts of files, one after the other. DataFusion takes their rows as they come, so
//! that `LIMIT 1` is another row each time. Where nothing but scans, filters and projections stands
//! below, [`FileOrder`] takes them in their order instead, which costs nothing but a few batches that
//! wait.

use std::fmt;
use std::sync::Arc;

use datafusion::common::internal_err;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::config::ConfigOptions;
use datafusion::error::Result;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::limit::GlobalLimitExec;
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::stream::{RecordBatchReceiverStream, RecordBatchStreamAdapter};
use datafusion::physical_plan::union::UnionExec;
use datafusion::physical_plan::{
    ChildrenPropertiesMode, DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties,
    Partitioning, PlanProperties, ReplaceChildrenOptions,
};
use futures::{StreamExt, stream};

/// Batches of a partition that wait for the partitions before it.
const WAITING_BATCHES: usize = 4;

/// Puts [`InOrder`] where partitions come together.
#[derive(Debug)]
pub(super) struct FileOrder;

impl PhysicalOptimizerRule for FileOrder {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _config: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let plan: Arc<dyn ExecutionPlan> = match plan.output_partitioning().partition_count() {
            0 | 1 => plan,
            _ => Arc::new(CoalescePartitionsExec::new(plan)),
        };
        plan.transform_down(|node| {
            let Some(merge) = node.downcast_ref::<CoalescePartitionsExec>() else {
                return Ok(Transformed::no(node));
            };
            Ok(match merged(merge)? {
                Some(merged) => Transformed::yes(merged),
                None => Transformed::no(node),
            })
        })
        .data()
    }

    fn name(&self) -> &str {
        "file_order"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

fn merged(merge: &CoalescePartitionsExec) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let Some(input) = ordered(merge.input())? else { return Ok(None) };
    let merged: Arc<dyn ExecutionPlan> = Arc::new(InOrder::new(input));
    Ok(Some(match merge.fetch() {
        Some(fetch) => Arc::new(GlobalLimitExec::new(merged, 0, Some(fetch))),
        None => merged,
    }))
}

/// The same plan with the rows of each partition, and the partitions, in the order of the files; none
/// if it has no such order.
fn ordered(plan: &Arc<dyn ExecutionPlan>) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    if let Some(repartition) = plan.downcast_ref::<RepartitionExec>() {
        // What is dealt out in turn loses its order; it is done for speed only.
        return match repartition.partitioning() {
            Partitioning::RoundRobinBatch(_) => ordered(repartition.input()),
            _ => Ok(None),
        };
    }
    if let Some(merge) = plan.downcast_ref::<CoalescePartitionsExec>() {
        return merged(merge);
    }
    let children = plan.children();
    if children.is_empty() {
        return Ok(Some(plan.with_preserve_order(true).unwrap_or_else(|| plan.clone())));
    }
    let keeps =
        plan.downcast_ref::<UnionExec>().is_some() || plan.maintains_input_order() == [true];
    if !keeps {
        return Ok(None);
    }
    let children: Option<Vec<_>> = children.into_iter().map(ordered).collect::<Result<_>>()?;
    let anew = ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute);
    children.map(|children| plan.clone().replace_children(children, anew)).transpose()
}

/// All rows of the first partition, then all of the second, and so on; all are read at once.
#[derive(Debug)]
struct InOrder {
    input: Arc<dyn ExecutionPlan>,
    properties: Arc<PlanProperties>,
}

impl InOrder {
    fn new(input: Arc<dyn ExecutionPlan>) -> Self {
        // What it says of the order of single partitions does not hold across them.
        let merge = CoalescePartitionsExec::new(input.clone());
        Self { input, properties: merge.properties().clone() }
    }
}

impl ExecutionPlan for InOrder {
    fn name(&self) -> &str {
        "FileOrderExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true]
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(
        self: Arc<Self>,
        mut children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        match (children.pop(), children.is_empty()) {
            (Some(input), true) => Ok(Arc::new(Self::new(input))),
            _ => internal_err!("rows come from one input"),
        }
    }

    fn execute(
        &self,
        _partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let partitions = self.input.output_partitioning().partition_count();
        if partitions == 1 {
            return self.input.execute(0, context);
        }
        let read = |partition| {
            let mut reader = RecordBatchReceiverStream::builder(self.schema(), WAITING_BATCHES);
            let (sender, input, context) = (reader.tx(), self.input.clone(), context.clone());
            reader.spawn(async move {
                let mut rows = input.execute(partition, context)?;
                while let Some(batch) = rows.next().await {
                    let failed = batch.is_err();
                    if sender.send(batch).await.is_err() || failed {
                        break; // nobody reads any more, or there is no more to read
                    }
                }
                Ok(())
            });
            reader.build()
        };
        let readers: Vec<_> = (0..partitions).map(read).collect();
        let rows = stream::iter(readers).flatten();
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), rows)))
    }
}

impl DisplayAs for InOrder {
    fn fmt_as(&self, format: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match format {
            DisplayFormatType::TreeRender => Ok(()),
            _ => f.write_str("FileOrderExec"),
        }
    }
}
