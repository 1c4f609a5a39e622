//! A table in an object store: the verbs of [`Table`](crate::Table), async.

use std::fmt;
use std::ops::{Range, RangeBounds};
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use bytes::Bytes;
use lancet::Rows;
use lancet_object_store::FetchOptions;
use lancet_object_store::object_store::ObjectStore;
use lancet_object_store::object_store::path::Path;

use crate::blobs::BlobReads;
use crate::columns::{TableColumns, TableProjection};
use crate::error::Result;
use crate::manifest::Manifest;
use crate::opening::Opened;
use crate::options::{At, TableOptions};
use crate::refs::{Branch, Tag};
use crate::store::Store;
use crate::store_scan::StoreScan;
use crate::take::{Held, Wanted, grouped, in_order};
use crate::together;
use crate::transaction::Transaction;

/// One version of a Lance table in an object store. Cheap to clone; the verbs are those of [`Table`](crate::Table).
///
/// Opening costs a listing of the versions and one read, that of the manifest. The first rows of a fragment cost a read
/// for its deletion file, if it has one, and one to open each data file that is needed.
///
/// ```no_run
/// use std::sync::Arc;
/// use futures::StreamExt;
/// use lancet_object_store::object_store::memory::InMemory;
/// use lancet_table::StoreTable;
///
/// # async fn read() -> lancet_table::Result<()> {
/// let store = Arc::new(InMemory::new()); // or S3, GCS, Azure, HTTP
/// let table = StoreTable::open(store, "lake/cities.lance".into()).await?;
/// let rows = table.take(&[7, 1, 1_000_000], ["name"]).await?;
/// let mut batches = table.scan().columns(["name"]).limit(100).stream().await?;
/// while let Some(batch) = batches.next().await {
///     println!("{} rows", batch?.num_rows());
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct StoreTable {
    pub(crate) at: Opened<Store>,
}

impl StoreTable {
    /// Opens the latest version of the table at a path.
    pub async fn open(store: Arc<dyn ObjectStore>, path: Path) -> Result<Self> {
        Self::open_with(store, path, TableOptions::default(), FetchOptions::default()).await
    }

    /// Opens the table at a path with options, which may name a version. Base paths are paths in the same store.
    pub async fn open_with(
        store: Arc<dyn ObjectStore>,
        path: Path,
        options: TableOptions,
        fetch: FetchOptions,
    ) -> Result<Self> {
        let root = PathBuf::from(path.as_ref());
        Ok(Self { at: Opened::open(Store { store, fetch }, root, options).await? })
    }

    /// The same for a store whose paths are those of the disk. Files are named in errors as they are there, and base
    /// paths are folders on it.
    pub async fn open_on_disk(
        store: Arc<dyn ObjectStore>,
        path: Path,
        options: TableOptions,
        fetch: FetchOptions,
    ) -> Result<Self> {
        let root = std::path::Path::new("/").join(path.as_ref());
        Ok(Self { at: Opened::open(Store { store, fetch }, root, options).await? })
    }

    /// Another version of the same table. Files that are open in both stay open.
    pub async fn checkout(&self, at: At) -> Result<Self> {
        Ok(Self { at: self.at.checkout(&at).await? })
    }

    /// Whether the version that is open is still the newest one, of the branch if it is one. That is a listing; no
    /// manifest is read.
    pub async fn is_latest(&self) -> Result<bool> {
        self.at.is_latest().await
    }

    /// The version that is open.
    pub fn version(&self) -> u64 {
        self.manifest().version
    }

    /// The numbers of all versions that were there when the table was opened, oldest first.
    pub fn versions(&self) -> &[u64] {
        self.at.versions.numbers()
    }

    /// All that the version file says.
    pub fn manifest(&self) -> &Manifest {
        self.at.manifest()
    }

    /// The manifest of another version of the same table or branch.
    pub async fn manifest_of(&self, version: u64) -> Result<Manifest> {
        self.at.manifest_of(version).await
    }

    /// What made the version that is open; `None` if it does not tell.
    pub async fn transaction(&self) -> Result<Option<Transaction>> {
        self.transaction_of(self.version()).await
    }

    /// What made another version of the same table or branch; `None` if it does not tell.
    pub async fn transaction_of(&self, version: u64) -> Result<Option<Transaction>> {
        self.at.made_by(version).await
    }

    /// The schema, with field and schema metadata.
    pub fn schema(&self) -> SchemaRef {
        self.at.reads.snapshot.schema.arrow.clone()
    }

    /// Number of rows. It is in the manifest; only tables of the oldest writers have to open files for it.
    pub async fn num_rows(&self) -> Result<u64> {
        self.at.num_rows().await
    }

    /// Looks up columns, once for many reads.
    pub fn project(&self, columns: impl Into<TableColumns>) -> Result<TableProjection> {
        self.at.project(columns.into())
    }

    /// The tags of the table, by name.
    pub async fn tags(&self) -> Result<Vec<Tag>> {
        self.at.tags().await
    }

    /// The branches of the table, by name.
    pub async fn branches(&self) -> Result<Vec<Branch>> {
        self.at.branches().await
    }

    /// Columns of the rows with these numbers; see [`Table::take`](crate::Table::take).
    pub async fn take(
        &self,
        rows: &[u64],
        columns: impl Into<TableColumns>,
    ) -> Result<RecordBatch> {
        let columns = self.at.project(columns.into())?;
        self.take_wanted(self.at.reads.rows_by_number(rows).await?, &columns).await
    }

    /// Columns of the rows with these ids; see [`Table::take_row_ids`](crate::Table::take_row_ids).
    pub async fn take_row_ids(
        &self,
        ids: &[u64],
        columns: impl Into<TableColumns>,
    ) -> Result<RecordBatch> {
        let columns = self.at.project(columns.into())?;
        self.take_wanted(self.at.reads.rows_by_id(ids).await?, &columns).await
    }

    /// Columns of the rows with these addresses; see [`Table::take_addresses`](crate::Table::take_addresses).
    pub async fn take_addresses(
        &self,
        addresses: &[u64],
        columns: impl Into<TableColumns>,
    ) -> Result<RecordBatch> {
        let columns = self.at.project(columns.into())?;
        self.take_wanted(self.at.reads.rows_by_address(addresses).await?, &columns).await
    }

    async fn take_wanted(
        &self,
        wanted: Vec<Wanted>,
        columns: &TableProjection,
    ) -> Result<RecordBatch> {
        let (groups, positions) = grouped(&wanted);
        let held = &Held::by_take(&self.at.reads);
        let reads = groups.into_iter().map(|group| async move {
            let rows = Rows::List(group.offsets);
            held.add(self.at.reads.read(group.place, columns, &rows).await?)
        });
        let batches = together::all(reads).await?;
        in_order(batches, &positions, columns)
    }

    /// Starts to describe a scan.
    pub fn scan(&self) -> StoreScan {
        StoreScan::new(self.clone())
    }

    /// The blobs of a column (a nested field is named with dots), to be read by ranges of bytes.
    pub fn blobs(&self, column: &str) -> Result<StoreBlobs> {
        let columns = self.project([column])?;
        Ok(StoreBlobs(BlobReads::new(self.at.reads.clone(), columns, column)?))
    }
}

impl fmt::Debug for StoreTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoreTable")
            .field("path", &self.at.root)
            .field("version", &self.version())
            .finish_non_exhaustive()
    }
}

/// The blobs of one column of a table in a store; see [`TableBlobs`](crate::TableBlobs).
#[derive(Clone)]
pub struct StoreBlobs(BlobReads<Store>);

impl StoreBlobs {
    /// The size of a blob in bytes; `None` if it is null.
    pub async fn len(&self, row: u64) -> Result<Option<u64>> {
        self.0.len(row).await
    }

    /// Bytes of a blob; `..` for all of them. A null has none to read.
    pub async fn read(&self, row: u64, range: impl RangeBounds<u64>) -> Result<Bytes> {
        let (start, end) = (range.start_bound().cloned(), range.end_bound().cloned());
        self.0.read(row, start, end).await
    }

    /// Bytes of blobs of some rows; see [`TableBlobs::read_ranges`](crate::TableBlobs::read_ranges).
    pub async fn read_ranges(&self, ranges: &[(u64, Range<u64>)]) -> Result<Vec<Bytes>> {
        self.0.read_ranges(ranges).await
    }
}

impl fmt::Debug for StoreBlobs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoreBlobs").finish_non_exhaustive()
    }
}
