//! Queries over Lance files and tables, and what they read.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod bounds;
#[path = "../../../lancet/tests/support/compare.rs"]
mod compare;
mod filters;
#[path = "../../../lancet-table/tests/support/mod.rs"]
mod golden;
mod made;
#[path = "../../../lancet/tests/support/mutate/mod.rs"]
#[expect(dead_code, reason = "flips and truncations are for other tests")]
mod mutate;
mod odd_files;
mod plans;
mod reads;
mod replaced;
#[path = "../../../lancet/tests/support/small.rs"]
mod small;
mod table_changes;
mod table_filters;
mod table_histories;
mod table_names;
mod table_plans;
mod tables;
#[path = "../../examples/tpch/mod.rs"]
mod tpch;
mod tpch_results;
mod writes;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::compute::concat_batches;
use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::physical_plan::{ExecutionPlan, collect};
use datafusion::prelude::{SessionConfig, SessionContext};
use tempfile::TempDir;

/// A session that knows Lance, and paths as tables.
fn session(partitions: usize) -> SessionContext {
    let mut config = SessionConfig::new().with_target_partitions(partitions);
    // However small a file is, it is shared out.
    config.options_mut().optimizer.repartition_file_min_size = 0;
    let ctx = SessionContext::new_with_config(config).enable_url_table();
    lancet_datafusion::register(&ctx).unwrap();
    ctx
}

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

/// All rows as one batch.
async fn rows(ctx: &SessionContext, sql: &str) -> RecordBatch {
    let plan = plan(ctx, sql).await;
    let batches =
        collect(plan.clone(), ctx.task_ctx()).await.unwrap_or_else(|e| panic!("{sql}: {e}"));
    concat_batches(&plan.schema(), &batches).unwrap()
}

/// All rows as text, so that types which only print alike do too.
async fn text(ctx: &SessionContext, sql: &str) -> String {
    pretty_format_batches(&[rows(ctx, sql).await]).unwrap().to_string()
}

async fn plan(ctx: &SessionContext, sql: &str) -> Arc<dyn ExecutionPlan> {
    let frame = ctx.sql(sql).await.unwrap_or_else(|e| panic!("{sql}: {e}"));
    frame.create_physical_plan().await.unwrap_or_else(|e| panic!("{sql}: {e}"))
}

async fn run(ctx: &SessionContext, sql: &str) {
    ctx.sql(sql).await.unwrap_or_else(|e| panic!("{sql}: {e}")).collect().await.unwrap();
}

/// The sum of a metric over the plan.
fn metric(plan: &Arc<dyn ExecutionPlan>, name: &str) -> usize {
    let of_children: usize = plan.children().into_iter().map(|child| metric(child, name)).sum();
    let own = plan.metrics().and_then(|metrics| metrics.sum_by_name(name));
    of_children + own.map_or(0, |value| value.as_usize())
}

/// Writes batches as one Lance file.
fn write(path: &Path, batches: &[RecordBatch]) {
    let mut writer =
        lancet::FileWriter::create(path, batches[0].schema(), lancet::WriteOptions::default())
            .unwrap();
    for batch in batches {
        writer.write(batch).unwrap();
    }
    writer.finish().unwrap();
}
