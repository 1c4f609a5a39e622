//! One file or fragment of a scan: expressions fitted to it, and the rows of it that are ours.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_schema::{Schema, SchemaRef};
use datafusion::common::ScalarValue;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::{FileOpenFuture, FileOpener};
use datafusion::datasource::table_schema::TableSchema;
use datafusion::error::Result;
use datafusion::execution::cache::cache_manager::FileMetadataCache;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::Literal;
use datafusion::physical_expr::projection::ProjectionExprs;
use datafusion::physical_expr::simplifier::PhysicalExprSimplifier;
use datafusion::physical_expr_adapter::rewrite::rewrite_input_file_name_in_projection;
use datafusion::physical_expr_adapter::{
    PhysicalExprAdapterFactory, replace_columns_with_literals,
};
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use futures::stream::BoxStream;
use futures::{FutureExt, StreamExt, stream};
use lancet::{ReadOptions, RowRanges};
use lancet_object_store::FetchOptions;
use object_store::ObjectStore;

use crate::metrics::Metrics;
use crate::readable::Readable;
use crate::scan::Scan;
use crate::table::OpenTable;
use crate::{files, rows};

/// Opens the files or fragments of one partition.
#[derive(Clone)]
pub(crate) struct Opener {
    pub(crate) store: Arc<dyn ObjectStore>,
    pub(crate) fetch: FetchOptions,
    pub(crate) files: Option<Arc<FileMetadataCache>>,
    pub(crate) read: ReadOptions,
    /// The table whose fragments are opened instead of files.
    pub(crate) table: Option<Arc<OpenTable>>,
    pub(crate) table_schema: TableSchema,
    pub(crate) projection: ProjectionExprs,
    pub(crate) predicate: Option<Arc<dyn PhysicalExpr>>,
    pub(crate) adapters: Arc<dyn PhysicalExprAdapterFactory>,
    pub(crate) batch_rows: usize,
    pub(crate) limit: Option<usize>,
    pub(crate) metrics: ExecutionPlanMetricsSet,
    pub(crate) partition: usize,
}

/// Expressions over the columns of one file.
#[derive(Debug)]
pub(crate) struct Fitted {
    pub(crate) projection: ProjectionExprs,
    pub(crate) predicate: Option<Arc<dyn PhysicalExpr>>,
    /// What the projection has to give.
    pub(crate) output: SchemaRef,
}

impl FileOpener for Opener {
    fn open(&self, file: PartitionedFile) -> Result<FileOpenFuture> {
        let opener = self.clone();
        Ok(async move { opener.start(file).await }.boxed())
    }
}

impl Opener {
    async fn start(
        self,
        file: PartitionedFile,
    ) -> Result<BoxStream<'static, Result<arrow_array::RecordBatch>>> {
        let readable = self.readable(&file).await?;
        let metrics = Metrics::new(&self.metrics, self.partition);
        let fitted = self.fit(&file, &readable.schema())?;
        let ours = rows::of_bytes(file.range.as_ref(), file.object_meta.size, readable.num_rows());
        if ours.is_empty() || fitted.predicate.as_ref().is_some_and(never) {
            metrics.count_fetched(readable.fetched());
            return Ok(stream::empty().boxed());
        }
        let mut rows = RowRanges::from(ours);
        if let (Some(limit), None) = (self.limit, &fitted.predicate) {
            rows = readable.first(rows, limit as u64).await?;
        }
        let scan = Scan::new(readable, fitted, self.batch_rows, metrics).await?;
        Ok(scan.stream(rows))
    }

    async fn readable(&self, file: &PartitionedFile) -> Result<Readable> {
        let object = &file.object_meta;
        if let Some(table) = &self.table {
            return table.fragment(&self.store, &self.fetch, object).await.map(Readable::Fragment);
        }
        let cache = self.files.as_deref();
        let reader = files::open(&self.store, object, cache, &self.read, self.fetch.clone());
        Ok(Readable::file(reader.await?))
    }

    /// Rewrites the expressions of the table for the columns that this file has.
    fn fit(&self, file: &PartitionedFile, file_schema: &SchemaRef) -> Result<Fitted> {
        let output = Arc::new(self.projection.project_schema(self.table_schema.table_schema())?);
        let partition = self.table_schema.table_partition_cols().iter();
        let constants: HashMap<String, ScalarValue> = partition
            .zip(&file.partition_values)
            .map(|(field, value)| (field.name().clone(), value.clone()))
            .collect();
        let columns = Arc::new(Schema::clone(file_schema).with_metadata(HashMap::new()));
        let adapter =
            self.adapters.create(self.table_schema.file_schema().clone(), columns.clone())?;
        let simplifier = PhysicalExprSimplifier::new(&columns);
        let fit = |expression: Arc<dyn PhysicalExpr>| {
            let expression = if constants.is_empty() {
                expression
            } else {
                replace_columns_with_literals(expression, &constants)?
            };
            simplifier.simplify(adapter.rewrite(expression)?)
        };
        let location = file.object_meta.location.as_ref();
        let projection = rewrite_input_file_name_in_projection(self.projection.clone(), location)?;
        Ok(Fitted {
            projection: projection.try_map_exprs(fit)?,
            predicate: self.predicate.clone().map(fit).transpose()?,
            output,
        })
    }
}

/// Whether a predicate holds for no row, whatever the row is.
fn never(predicate: &Arc<dyn PhysicalExpr>) -> bool {
    predicate.downcast_ref::<Literal>().is_some_and(|literal| {
        matches!(literal.value(), ScalarValue::Boolean(Some(false) | None) | ScalarValue::Null)
    })
}
