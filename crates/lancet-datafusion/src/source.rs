//! What a scan was asked for.

use std::fmt;
use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::datasource::physical_plan::{FileOpener, FileScanConfig, FileSource};
use datafusion::datasource::table_schema::TableSchema;
use datafusion::error::Result;
use datafusion::execution::cache::cache_manager::FileMetadataCache;
use datafusion::functions::core::input_file_name::InputFileNameFunc;
use datafusion::physical_expr::projection::ProjectionExprs;
use datafusion::physical_expr::{PhysicalExpr, ScalarFunctionExpr, conjunction};
use datafusion::physical_expr_adapter::DefaultPhysicalExprAdapterFactory;
use datafusion::physical_expr_common::physical_expr::{fmt_sql, is_volatile};
use datafusion::physical_plan::DisplayFormatType;
use datafusion::physical_plan::filter_pushdown::{FilterPushdownPropagation, PushedDown};
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use lancet::ReadOptions;
use object_store::ObjectStore;

use crate::files::fetch_options;
use crate::opener::Opener;
use crate::table::OpenTable;

/// Rows in a batch when nobody says how many.
const BATCH_ROWS: usize = 8192;

/// Reads Lance files, or fragments of a Lance table, in a scan of DataFusion.
#[derive(Clone)]
pub struct LanceSource {
    table_schema: TableSchema,
    /// Over the schema of the table, partition columns included.
    projection: ProjectionExprs,
    /// Over the same. Rows for which it is not true are left out.
    predicate: Option<Arc<dyn PhysicalExpr>>,
    batch_rows: usize,
    metrics: ExecutionPlanMetricsSet,
    files: Option<Arc<FileMetadataCache>>,
    read: ReadOptions,
    table: Option<Arc<OpenTable>>,
}

impl LanceSource {
    /// A source of all columns of a table.
    pub fn new(table_schema: TableSchema) -> Self {
        let columns: Vec<usize> = (0..table_schema.table_schema().fields().len()).collect();
        let projection = ProjectionExprs::from_indices(&columns, table_schema.table_schema());
        Self {
            table_schema,
            projection,
            predicate: None,
            batch_rows: BATCH_ROWS,
            metrics: ExecutionPlanMetricsSet::new(),
            files: None,
            read: ReadOptions::default(),
            table: None,
        }
    }

    /// Reads files in this way.
    pub fn with_read_options(mut self, options: ReadOptions) -> Self {
        self.read = options;
        self
    }

    /// How files are read.
    pub fn read_options(&self) -> &ReadOptions {
        &self.read
    }

    /// Reads fragments of a table: files are those that its scan has named, and tell which fragment is meant.
    pub fn with_table(mut self, table: Arc<OpenTable>) -> Self {
        self.table = Some(table);
        self
    }

    /// The table whose fragments are read, if it is not files.
    pub fn table(&self) -> Option<&Arc<OpenTable>> {
        self.table.as_ref()
    }

    /// Shares open files through the cache of a runtime.
    pub fn with_file_cache(mut self, files: Arc<FileMetadataCache>) -> Self {
        self.files = Some(files);
        self
    }

    /// Leaves out rows for which this is not true.
    pub fn with_predicate(mut self, predicate: Arc<dyn PhysicalExpr>) -> Self {
        self.predicate = Some(predicate);
        self
    }
}

impl FileSource for LanceSource {
    fn create_file_opener(
        &self,
        object_store: Arc<dyn ObjectStore>,
        base_config: &FileScanConfig,
        partition: usize,
    ) -> Result<Arc<dyn FileOpener>> {
        let adapters = base_config.expr_adapter_factory.clone();
        Ok(Arc::new(Opener {
            store: object_store,
            fetch: fetch_options(&base_config.object_store_url),
            files: self.files.clone(),
            read: self.read.clone(),
            table: self.table.clone(),
            table_schema: self.table_schema.clone(),
            projection: self.projection.clone(),
            predicate: self.predicate.clone(),
            adapters: adapters.unwrap_or_else(|| Arc::new(DefaultPhysicalExprAdapterFactory)),
            batch_rows: self.batch_rows,
            limit: base_config.limit,
            metrics: self.metrics.clone(),
            partition,
        }))
    }

    fn table_schema(&self) -> &TableSchema {
        &self.table_schema
    }

    fn with_batch_size(&self, batch_size: usize) -> Arc<dyn FileSource> {
        Arc::new(Self { batch_rows: batch_size, ..self.clone() })
    }

    fn filter(&self) -> Option<Arc<dyn PhysicalExpr>> {
        self.predicate.clone()
    }

    fn projection(&self) -> Option<&ProjectionExprs> {
        Some(&self.projection)
    }

    fn metrics(&self) -> &ExecutionPlanMetricsSet {
        &self.metrics
    }

    fn file_type(&self) -> &str {
        "lance"
    }

    fn fmt_extra(&self, format: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.predicate, format) {
            (None, _) => Ok(()),
            (Some(predicate), DisplayFormatType::TreeRender) => {
                writeln!(f, "predicate={}", fmt_sql(predicate.as_ref()))
            }
            (Some(predicate), _) => write!(f, ", predicate={predicate}"),
        }
    }

    fn try_pushdown_filters(
        &self,
        filters: Vec<Arc<dyn PhysicalExpr>>,
        _config: &ConfigOptions,
    ) -> Result<FilterPushdownPropagation<Arc<dyn FileSource>>> {
        let answers: Vec<PushedDown> = filters
            .iter()
            .map(|filter| if can_filter(filter) { PushedDown::Yes } else { PushedDown::No })
            .collect();
        let accepted: Vec<_> = filters.into_iter().filter(can_filter).collect();
        let answer = FilterPushdownPropagation::with_parent_pushdown_result(answers);
        if accepted.is_empty() {
            return Ok(answer);
        }
        let predicate = conjunction(self.predicate.iter().cloned().chain(accepted));
        let source: Arc<dyn FileSource> = Arc::new(self.clone().with_predicate(predicate));
        Ok(answer.with_updated_node(source))
    }

    fn try_pushdown_projection(
        &self,
        projection: &ProjectionExprs,
    ) -> Result<Option<Arc<dyn FileSource>>> {
        let projection = self.projection.try_merge(projection)?;
        Ok(Some(Arc::new(Self { projection, ..self.clone() })))
    }

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        let projected = self.projection.iter().map(|projected| &projected.expr);
        for expression in self.predicate.iter().chain(projected) {
            if f(expression)? == TreeNodeRecursion::Stop {
                return Ok(TreeNodeRecursion::Stop);
            }
        }
        Ok(TreeNodeRecursion::Continue)
    }
}

/// Whether the scan can decide which rows a filter keeps.
fn can_filter(filter: &Arc<dyn PhysicalExpr>) -> bool {
    let names_files = filter.exists(|node| {
        Ok(ScalarFunctionExpr::try_downcast_func::<InputFileNameFunc>(node.as_ref()).is_some())
    });
    !is_volatile(filter) && matches!(names_files, Ok(false))
}

impl fmt::Debug for LanceSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LanceSource")
            .field("projection", &self.projection)
            .field("predicate", &self.predicate)
            .finish_non_exhaustive()
    }
}
