//! Tables of Lance files that a client can send.
//!
//! DataFusion's own encoding of listing tables knows its own formats only, and asks a codec about
//! tables of other kinds. So the listing table is wrapped into one.

use std::borrow::Cow;
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::{Session, TableProvider, TableProviderFactory};
use datafusion::common::{Constraints, Statistics, internal_datafusion_err};
use datafusion::datasource::listing::ListingTable;
use datafusion::datasource::provider::DefaultTableFactory;
use datafusion::error::Result;
use datafusion::logical_expr::dml::InsertOp;
use datafusion::logical_expr::{
    CreateExternalTable, Expr, LogicalPlan, TableProviderFilterPushDown, TableType,
};
use datafusion::physical_plan::ExecutionPlan;

/// A listing table of Lance files.
#[derive(Debug)]
pub struct LanceTable(ListingTable);

impl LanceTable {
    /// Wraps a listing table.
    pub fn new(table: ListingTable) -> Self {
        Self(table)
    }

    /// What is wrapped.
    pub fn listing(&self) -> &ListingTable {
        &self.0
    }
}

#[async_trait]
impl TableProvider for LanceTable {
    fn schema(&self) -> SchemaRef {
        self.0.schema()
    }

    fn constraints(&self) -> Option<&Constraints> {
        self.0.constraints()
    }

    fn table_type(&self) -> TableType {
        self.0.table_type()
    }

    fn get_table_definition(&self) -> Option<&str> {
        self.0.get_table_definition()
    }

    fn get_logical_plan(&self) -> Option<Cow<'_, LogicalPlan>> {
        self.0.get_logical_plan()
    }

    fn get_column_default(&self, column: &str) -> Option<&Expr> {
        self.0.get_column_default(column)
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        self.0.scan(state, projection, filters, limit).await
    }

    fn supports_filters_pushdown(
        &self,
        filters: &[&Expr],
    ) -> Result<Vec<TableProviderFilterPushDown>> {
        self.0.supports_filters_pushdown(filters)
    }

    fn statistics(&self) -> Option<Statistics> {
        self.0.statistics()
    }

    async fn insert_into(
        &self,
        state: &dyn Session,
        input: Arc<dyn ExecutionPlan>,
        insert_op: InsertOp,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        self.0.insert_into(state, input, insert_op).await
    }
}

/// `CREATE EXTERNAL TABLE … STORED AS LANCE`, of Lance tables and of files.
#[derive(Debug, Clone, Copy, Default)]
pub struct LanceTableFactory;

#[async_trait]
impl TableProviderFactory for LanceTableFactory {
    async fn create(
        &self,
        state: &dyn Session,
        cmd: &CreateExternalTable,
    ) -> Result<Arc<dyn TableProvider>> {
        if let Some(table) = lancet_datafusion::LanceTableFactory.table(state, cmd).await? {
            return Ok(Arc::new(table));
        }
        let table = DefaultTableFactory::new().create(state, cmd).await?;
        let listing = table
            .downcast_ref::<ListingTable>()
            .ok_or_else(|| internal_datafusion_err!("a table of files is no listing table"))?;
        Ok(Arc::new(LanceTable::new(listing.clone())))
    }
}
