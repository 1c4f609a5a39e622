//! Tables by their paths, in sessions that know files by theirs.
//!
//! DataFusion takes a folder for the files that lie in it, and would read those of a table one by one: rows that are deleted,
//! and columns as they once were. So a name is looked at here first.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::catalog::{
    CatalogProvider, CatalogProviderList, DynamicFileCatalog, SchemaProvider, TableProvider,
};
use datafusion::error::Result;
use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::prelude::SessionContext;
use lancet::ReadOptions;

use super::factory::read_options;
use super::{LanceTable, LanceTableOptions};

/// What is needed of a session; none if it has gone.
#[derive(Clone)]
struct Session(Arc<dyn Fn() -> Option<(Arc<RuntimeEnv>, ReadOptions)> + Send + Sync>);

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Session")
    }
}

/// The catalogs of a session, with Lance tables by their paths; none if it does not know files by theirs.
pub(crate) fn with_tables(ctx: &SessionContext) -> Option<Arc<dyn CatalogProviderList>> {
    let inner = ctx.state_ref().read().catalog_list().clone();
    inner.downcast_ref::<DynamicFileCatalog>()?;
    let state = ctx.state_weak_ref();
    let session = Session(Arc::new(move || {
        let state = state.upgrade()?;
        let state = state.read();
        Some((state.runtime_env().clone(), read_options(&*state)))
    }));
    Some(Arc::new(Catalogs { inner, session }))
}

#[derive(Debug)]
struct Catalogs {
    inner: Arc<dyn CatalogProviderList>,
    session: Session,
}

impl CatalogProviderList for Catalogs {
    fn register_catalog(
        &self,
        name: String,
        catalog: Arc<dyn CatalogProvider>,
    ) -> Option<Arc<dyn CatalogProvider>> {
        self.inner.register_catalog(name, catalog)
    }

    fn catalog_names(&self) -> Vec<String> {
        self.inner.catalog_names()
    }

    fn catalog(&self, name: &str) -> Option<Arc<dyn CatalogProvider>> {
        let (inner, session) = (self.inner.catalog(name)?, self.session.clone());
        Some(Arc::new(Catalog { inner, session }))
    }
}

#[derive(Debug)]
struct Catalog {
    inner: Arc<dyn CatalogProvider>,
    session: Session,
}

impl CatalogProvider for Catalog {
    fn schema_names(&self) -> Vec<String> {
        self.inner.schema_names()
    }

    fn schema(&self, name: &str) -> Option<Arc<dyn SchemaProvider>> {
        let (inner, session) = (self.inner.schema(name)?, self.session.clone());
        Some(Arc::new(Schema { inner, session }))
    }

    fn register_schema(
        &self,
        name: &str,
        schema: Arc<dyn SchemaProvider>,
    ) -> Result<Option<Arc<dyn SchemaProvider>>> {
        self.inner.register_schema(name, schema)
    }

    fn deregister_schema(
        &self,
        name: &str,
        cascade: bool,
    ) -> Result<Option<Arc<dyn SchemaProvider>>> {
        self.inner.deregister_schema(name, cascade)
    }
}

#[derive(Debug)]
struct Schema {
    inner: Arc<dyn SchemaProvider>,
    session: Session,
}

#[async_trait]
impl SchemaProvider for Schema {
    fn owner_name(&self) -> Option<&str> {
        self.inner.owner_name()
    }

    fn table_names(&self) -> Vec<String> {
        self.inner.table_names()
    }

    async fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        let is_path = name.contains(['.', '/', '\\']) && !self.inner.table_exist(name);
        if is_path && let Some((runtime, read)) = self.session.0() {
            let options = LanceTableOptions::default().with_read_options(read);
            if let Some(table) = LanceTable::find(&runtime, name, options).await? {
                // A view, or a statement that was prepared, may ask it again.
                return Ok(Some(Arc::new(table.following())));
            }
        }
        self.inner.table(name).await
    }

    fn register_table(
        &self,
        name: String,
        table: Arc<dyn TableProvider>,
    ) -> Result<Option<Arc<dyn TableProvider>>> {
        self.inner.register_table(name, table)
    }

    fn deregister_table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        self.inner.deregister_table(name)
    }

    fn table_exist(&self, name: &str) -> bool {
        self.inner.table_exist(name)
    }
}
