//! Rows on their way into a table: on disk through threads that may block, in stores as they are.
//!
//! On disk it is [`Table`] that writes, not the store of the session: it syncs what it writes before it says so.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use datafusion::common::runtime::SpawnedTask;
use datafusion::datasource::object_store::ObjectStoreUrl;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::SendableRecordBatchStream;
use datafusion::object_store::local::LocalFileSystem;
use futures::StreamExt;
use lancet_table::{
    RowStream, StoreTable, Table, TableChange, TableOptions, TableRows, TableWriteOptions,
};
use object_store::ObjectStore;
use object_store::path::Path;

use super::super::of_table;
use super::feed::{Fed, GivenUp, feed};

/// What becomes of rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verb {
    /// They are a new table.
    Create,
    Append,
    Overwrite,
    /// They are new values of others, whose addresses they have, or new; and some others go.
    Change {
        deleted: Vec<u64>,
    },
}

/// A table that is to be changed, or made.
pub(super) enum Place {
    /// A folder, and how its table is opened.
    Disk(PathBuf, TableOptions),
    Store(StoreTable),
    /// Where there is none yet.
    NewInStore(Arc<dyn ObjectStore>, Path),
}

/// The folder on disk of a place in a store, if it is one.
pub(super) fn folder(store: &ObjectStoreUrl, path: &Path) -> Result<Option<PathBuf>> {
    match store.as_str().starts_with("file:") {
        true => Ok(Some(LocalFileSystem::new().path_to_filesystem(path)?)),
        false => Ok(None),
    }
}

impl Place {
    /// Writes the rows of a query.
    pub(super) async fn write(
        self,
        verb: Verb,
        rows: SendableRecordBatchStream,
        options: &TableWriteOptions,
    ) -> Result<TableChange> {
        match self {
            Self::Disk(folder, how) => {
                let (feed, fed) = feed(rows.schema());
                let given_up = GivenUp::default();
                let options = options.clone().with_cancel(given_up.flag());
                let work = move || on_disk(verb, folder, how, fed, &options);
                let work = SpawnedTask::spawn_blocking(work);
                // If both fail it is the query that has failed first.
                let sent = feed.send(rows).await;
                let done = work.join_unwind().await.map_err(joined)?;
                sent.and(done.map_err(of_table))
            }
            Self::Store(mut table) => {
                let (rows, failure) = streamed(rows);
                let done = match verb {
                    Verb::Append => table.append(rows, options).await,
                    Verb::Overwrite | Verb::Create => table.overwrite(rows, options).await,
                    Verb::Change { deleted } => {
                        table.merge_by_address(rows, &deleted, options).await
                    }
                };
                failure.or(done)
            }
            Self::NewInStore(store, path) => {
                let (rows, failure) = streamed(rows);
                let made = StoreTable::create(store, path, rows, options).await;
                let table = failure.or(made)?;
                let mut change = TableChange::default();
                change.version = table.version();
                change.rows_inserted = table.num_rows().await.map_err(of_table)?;
                Ok(change)
            }
        }
    }

    /// Deletes rows by their addresses.
    pub(super) async fn delete(
        self,
        addresses: Vec<u64>,
        predicate: String,
        options: &TableWriteOptions,
    ) -> Result<TableChange> {
        let rows = TableRows::Addresses(addresses);
        match self {
            Self::Disk(folder, how) => {
                let given_up = GivenUp::default();
                let options = options.clone().with_cancel(given_up.flag());
                let work = SpawnedTask::spawn_blocking(move || {
                    Table::open_with(folder, how)?.delete_with(rows, &predicate, &options)
                });
                work.join_unwind().await.map_err(joined)?.map_err(of_table)
            }
            Self::Store(mut table) => {
                table.delete(rows, &predicate, options).await.map_err(of_table)
            }
            Self::NewInStore(..) => Ok(TableChange::default()),
        }
    }
}

fn on_disk(
    verb: Verb,
    folder: PathBuf,
    how: TableOptions,
    rows: Fed,
    options: &TableWriteOptions,
) -> lancet_table::Result<TableChange> {
    let open = || Table::open_with(&folder, how);
    match verb {
        Verb::Create => {
            let table = Table::create_with(&folder, rows, options)?;
            let mut change = TableChange::default();
            change.version = table.version();
            change.rows_inserted = table.num_rows()?;
            Ok(change)
        }
        Verb::Append => open()?.append_with(rows, options),
        Verb::Overwrite => open()?.overwrite_with(rows, options),
        Verb::Change { deleted } => open()?.merge_by_address(rows, &deleted, options),
    }
}

/// Why a query has failed whose rows were being written.
#[derive(Clone, Default)]
struct Failure(Arc<Mutex<Option<DataFusionError>>>);

impl Failure {
    /// The result of the writing, unless the query has failed before.
    fn or<T>(&self, done: lancet_table::Result<T>) -> Result<T> {
        match self.0.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(error) => Err(error),
            None => done.map_err(of_table),
        }
    }
}

type Streamed = futures::stream::BoxStream<'static, lancet_table::Result<arrow_array::RecordBatch>>;

/// The rows of a query for a table in a store.
fn streamed(rows: SendableRecordBatchStream) -> (RowStream<Streamed>, Failure) {
    let failure = Failure::default();
    let (schema, noted) = (rows.schema(), failure.clone());
    let rows = rows.map(move |batch| {
        batch.map_err(|error| {
            *noted.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            lancet_table::Error::Cancelled
        })
    });
    (RowStream::new(schema, rows.boxed()), failure)
}

fn joined(error: tokio::task::JoinError) -> DataFusionError {
    DataFusionError::ExecutionJoin(Box::new(error))
}
