//! `COPY … TO` a table: its rows are a new table, or a new version that replaces what the table holds.

use std::fmt;
use std::sync::Arc;

use arrow_schema::SchemaRef;
use async_trait::async_trait;
use datafusion::datasource::listing::ListingTableUrl;
use datafusion::datasource::sink::DataSink;
use datafusion::error::Result;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::{DisplayAs, DisplayFormatType};
use lancet_table::{StoreTable, TableOptions, TableWriteOptions};

use super::super::of_table;
use super::write::{Place, Verb, folder};

/// Writes the rows of a query to a table.
#[derive(Debug)]
pub(crate) struct CopySink {
    url: ListingTableUrl,
    /// Whether there is a table already.
    exists: bool,
    options: TableWriteOptions,
    schema: SchemaRef,
}

impl CopySink {
    pub(crate) fn new(
        url: ListingTableUrl,
        exists: bool,
        options: TableWriteOptions,
        schema: SchemaRef,
    ) -> Self {
        Self { url, exists, options, schema }
    }

    async fn place(&self, context: &TaskContext) -> Result<Place> {
        if let Some(folder) = folder(&self.url.object_store(), self.url.prefix())? {
            return Ok(Place::Disk(folder, TableOptions::default()));
        }
        let (store, path) =
            (context.runtime_env().object_store(&self.url)?, self.url.prefix().clone());
        Ok(match self.exists {
            true => Place::Store(StoreTable::open(store, path).await.map_err(of_table)?),
            false => Place::NewInStore(store, path),
        })
    }
}

#[async_trait]
impl DataSink for CopySink {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    async fn write_all(
        &self,
        data: SendableRecordBatchStream,
        context: &Arc<TaskContext>,
    ) -> Result<u64> {
        let verb = if self.exists { Verb::Overwrite } else { Verb::Create };
        let place = self.place(context).await?;
        Ok(place.write(verb, data, &self.options).await?.rows_inserted)
    }
}

impl DisplayAs for CopySink {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = if self.exists { "overwrite" } else { "create" };
        write!(f, "LanceTable({what}, table={})", self.url.as_str())
    }
}
