//! `CREATE EXTERNAL TABLE … STORED AS LANCE`, for tables and for files.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider, TableProviderFactory};
use datafusion::common::plan_err;
use datafusion::datasource::listing::ListingTableUrl;
use datafusion::datasource::provider::DefaultTableFactory;
use datafusion::error::Result;
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::CreateExternalTable;
use lancet::ReadOptions;

use super::{LanceTable, LanceTableOptions, is_table};
use crate::format::LanceFormatFactory;

/// Makes external tables: of a folder with versions a [`LanceTable`], of other places a listing table of files.
#[derive(Debug, Clone, Copy, Default)]
pub struct LanceTableFactory;

impl LanceTableFactory {
    /// The Lance table at the place that a statement names; none if files lie there.
    pub async fn table(
        &self,
        state: &dyn Session,
        cmd: &CreateExternalTable,
    ) -> Result<Option<LanceTable>> {
        let runtime = state.runtime_env();
        let [location] = cmd.locations.as_slice() else { return Ok(None) };
        let url = ListingTableUrl::parse(location)?;
        if !is_table(&runtime.object_store(&url)?, &url).await? {
            if LanceTableOptions::are_given(&cmd.options) {
                return plan_err!(
                    "{location}: is no Lance table: it has no folder `_versions`; options that begin with \
                     'table.' are for tables"
                );
            }
            return Ok(None);
        }
        if !cmd.schema.fields().is_empty() || !cmd.table_partition_cols.is_empty() {
            return plan_err!(
                "{location}: is a Lance table, which knows its columns itself; leave them out"
            );
        }
        let options = LanceTableOptions::default()
            .with_read_options(read_options(state))
            .with_given(&cmd.options)?;
        Ok(Some(LanceTable::open(runtime, &url, options).await?.following()))
    }
}

#[async_trait]
impl TableProviderFactory for LanceTableFactory {
    async fn create(
        &self,
        state: &dyn Session,
        cmd: &CreateExternalTable,
    ) -> Result<Arc<dyn TableProvider>> {
        match self.table(state, cmd).await? {
            Some(table) => Ok(Arc::new(table)),
            None => DefaultTableFactory::new().create(state, cmd).await,
        }
    }
}

/// How the session reads Lance files.
pub(super) fn read_options(state: &dyn Session) -> ReadOptions {
    let state = state.as_any().downcast_ref::<SessionState>();
    let factory = state.and_then(|state| state.get_file_format_factory("lance"));
    let factory = factory.as_ref().and_then(|factory| factory.downcast_ref::<LanceFormatFactory>());
    factory.map(|factory| factory.read_options().clone()).unwrap_or_default()
}
