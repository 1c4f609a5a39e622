//! The table of a statement: where the query of its rows reads, and where they go.

use std::sync::Arc;

use arrow_schema::{Schema, SchemaRef};
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::not_impl_err;
use datafusion::error::Result;
use datafusion::logical_expr::dml::InsertOp;
use datafusion::logical_expr::{Expr, TableType};
use datafusion::physical_plan::ExecutionPlan;
use tokio::sync::OnceCell;

use super::super::{LanceTable, OpenTable, scan};
use super::{Change, plan};

/// The table that a statement changes, at one version: addresses of rows are those of the version that they were read
/// in.
#[derive(Debug)]
pub(super) struct Target {
    table: LanceTable,
    version: OnceCell<Arc<OpenTable>>,
}

impl Target {
    pub(super) fn new(table: LanceTable) -> Self {
        Self { table, version: OnceCell::new() }
    }

    async fn version(&self, state: &dyn Session) -> Result<Arc<OpenTable>> {
        self.version.get_or_try_init(|| self.table.now(state)).await.cloned()
    }
}

/// The rows of the table, with their addresses.
#[derive(Debug)]
pub(super) struct RowsOf {
    target: Arc<Target>,
    schema: SchemaRef,
}

impl RowsOf {
    pub(super) fn new(target: Arc<Target>) -> Result<Self> {
        let LanceTable { options, schema, .. } = &target.table;
        let is_of_rows = |name: &str| options.row_columns().contains(&name);
        let fields = schema.fields().iter().filter(|field| !is_of_rows(field.name())).cloned();
        let plain = Schema::new(fields.collect::<Vec<_>>());
        let schema = options.clone().with_row_addresses(true).schema(&plain)?;
        Ok(Self { target, schema })
    }
}

#[async_trait]
impl TableProvider for RowsOf {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        _filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let version = self.target.version(state).await?;
        let version = Arc::new(version.with_addresses(state.runtime_env()).await?);
        scan(version, &self.schema, state, projection, limit).await
    }
}

/// Where the rows of the query go.
#[derive(Debug)]
pub(super) struct Changed {
    target: Arc<Target>,
    change: Change,
    schema: SchemaRef,
}

impl Changed {
    pub(super) fn new(target: Arc<Target>, change: Change, schema: SchemaRef) -> Self {
        Self { target, change, schema }
    }
}

#[async_trait]
impl TableProvider for Changed {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        _: &dyn Session,
        _: Option<&Vec<usize>>,
        _: &[Expr],
        _: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        not_impl_err!("the changes of a table cannot be read")
    }

    async fn insert_into(
        &self,
        state: &dyn Session,
        input: Arc<dyn ExecutionPlan>,
        _: InsertOp,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let version = self.target.version(state).await?;
        Ok(plan(self.target.table.clone(), version, self.change.clone(), input))
    }
}
