//! The verbs that change a table in an object store: those of [`Table`](crate::Table), async.

use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use futures::Stream;
use lancet_object_store::FetchOptions;
use lancet_object_store::object_store::ObjectStore;
use lancet_object_store::object_store::path::Path;

use crate::chosen_rows::TableRows;
use crate::error::{Error, Result};
use crate::row_source::{Nothing, Streamed};
use crate::store::Store;
use crate::store_table::StoreTable;
use crate::write::{TableChange, create};
use crate::write_options::TableWriteOptions;

/// Rows on their way into a table in a store: a schema, and a stream of batches.
///
/// ```
/// use std::sync::Arc;
///
/// use futures::stream;
/// use lancet::arrow::array::{Int64Array, RecordBatch};
/// use lancet_object_store::object_store::memory::InMemory;
/// use lancet_table::{Error, RowStream, StoreTable, TableWriteOptions};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let array = Int64Array::from_iter_values(0..100);
/// let batch = RecordBatch::try_from_iter([("n", Arc::new(array) as _)])?;
/// let rows = || RowStream::new(batch.schema(), stream::iter([Ok::<_, Error>(batch.clone())]));
///
/// let (store, options) = (Arc::new(InMemory::new()), TableWriteOptions::default());
/// let mut table = StoreTable::create(store, "numbers.lance".into(), rows(), &options).await?;
/// table.append(rows(), &options).await?;
/// assert_eq!((table.version(), table.num_rows().await?), (2, 200));
/// # Ok(())
/// # }
/// ```
pub struct RowStream<St>(Streamed<St>);

impl<St, E> RowStream<St>
where
    St: Stream<Item = Result<RecordBatch, E>>,
    E: Into<Error>,
{
    /// Rows of this schema.
    pub fn new(schema: SchemaRef, stream: St) -> Self {
        Self(Streamed { schema, stream: Box::pin(stream) })
    }

    pub(crate) fn into_source(self) -> Streamed<St> {
        self.0
    }
}

/// Changes make new versions; see [`Table`](crate::Table). A store must be able to make an object only if there is none of
/// its name (`If-None-Match`); others are refused when something is to be committed.
impl StoreTable {
    /// Makes a table with these rows; see [`Table::create`](crate::Table::create).
    pub async fn create<St, E>(
        store: Arc<dyn ObjectStore>,
        path: Path,
        rows: RowStream<St>,
        options: &TableWriteOptions,
    ) -> Result<Self>
    where
        St: Stream<Item = Result<RecordBatch, E>>,
        E: Into<Error>,
    {
        let storage = Store { store, fetch: FetchOptions::default() };
        let (at, _) = create(storage, PathBuf::from(path.as_ref()), rows.0, options).await?;
        Ok(Self { at })
    }

    /// Adds rows; see [`Table::append`](crate::Table::append).
    pub async fn append<St, E>(
        &mut self,
        rows: RowStream<St>,
        options: &TableWriteOptions,
    ) -> Result<TableChange>
    where
        St: Stream<Item = Result<RecordBatch, E>>,
        E: Into<Error>,
    {
        let (at, change) = self.at.append(rows.0, options).await?;
        self.at = at;
        Ok(change)
    }

    /// Replaces all rows and the schema; see [`Table::overwrite`](crate::Table::overwrite).
    pub async fn overwrite<St, E>(
        &mut self,
        rows: RowStream<St>,
        options: &TableWriteOptions,
    ) -> Result<TableChange>
    where
        St: Stream<Item = Result<RecordBatch, E>>,
        E: Into<Error>,
    {
        let (at, change) = self.at.overwrite(rows.0, options).await?;
        self.at = at;
        Ok(change)
    }

    /// Deletes rows; see [`Table::delete_with`](crate::Table::delete_with).
    pub async fn delete(
        &mut self,
        rows: impl Into<TableRows>,
        predicate: &str,
        options: &TableWriteOptions,
    ) -> Result<TableChange> {
        let (at, change) = self.at.delete(&rows.into(), predicate, options).await?;
        self.at = at;
        Ok(change)
    }

    /// Gives rows new values; see [`Table::update`](crate::Table::update).
    pub async fn update<St, E>(
        &mut self,
        rows: impl Into<TableRows>,
        values: RowStream<St>,
        options: &TableWriteOptions,
    ) -> Result<TableChange>
    where
        St: Stream<Item = Result<RecordBatch, E>>,
        E: Into<Error>,
    {
        let nothing = Nothing(self.schema());
        let (at, change) = self.at.update(&rows.into(), values.0, nothing, options).await?;
        self.at = at;
        Ok(change)
    }

    /// Gives rows new values that come with their addresses; see
    /// [`Table::update_by_address`](crate::Table::update_by_address).
    pub async fn update_by_address<St, E>(
        &mut self,
        values: RowStream<St>,
        options: &TableWriteOptions,
    ) -> Result<TableChange>
    where
        St: Stream<Item = Result<RecordBatch, E>>,
        E: Into<Error>,
    {
        self.merge_by_address(values, &[], options).await
    }

    /// The same, and adds and deletes rows; see [`Table::merge_by_address`](crate::Table::merge_by_address).
    pub async fn merge_by_address<St, E>(
        &mut self,
        rows: RowStream<St>,
        deleted: &[u64],
        options: &TableWriteOptions,
    ) -> Result<TableChange>
    where
        St: Stream<Item = Result<RecordBatch, E>>,
        E: Into<Error>,
    {
        let (at, change) = self.at.merge_by_address(rows.0, deleted, options).await?;
        self.at = at;
        Ok(change)
    }

    /// Gives rows new values and adds others, in one version; see [`Table::merge`](crate::Table::merge).
    pub async fn merge<St, E, Si, F>(
        &mut self,
        rows: impl Into<TableRows>,
        values: RowStream<St>,
        inserts: RowStream<Si>,
        options: &TableWriteOptions,
    ) -> Result<TableChange>
    where
        St: Stream<Item = Result<RecordBatch, E>>,
        E: Into<Error>,
        Si: Stream<Item = Result<RecordBatch, F>>,
        F: Into<Error>,
    {
        let (at, change) = self.at.update(&rows.into(), values.0, inserts.0, options).await?;
        self.at = at;
        Ok(change)
    }
}
