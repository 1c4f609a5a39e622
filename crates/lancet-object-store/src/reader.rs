//! The reader.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use bytes::Bytes;
use lancet::{
    Columns, FileReport, Filter, OpenFile, Progress, ReadOptions, Request, RowRanges, Rows,
    Verification, Version, ZoneMap,
};
use object_store::path::Path;
use object_store::{ObjectMeta, ObjectStore};

use crate::blobs::Blobs;
use crate::error::Result;
use crate::fetch::{FetchStats, Object};
use crate::options::FetchOptions;
use crate::pinned::Pinned;
use crate::scan::Scan;

/// A Lance file in an object store. Cheap to clone.
///
/// The verbs are those of [`lancet::FileReader`]. All of them read the version of the object that was opened; if
/// there is another one now, they end with [`Error::Changed`](crate::Error::Changed).
#[derive(Debug, Clone)]
pub struct Reader {
    object: Object,
    file: Arc<OpenFile>,
}

impl Reader {
    /// Opens a file: one request if its end holds all metadata.
    pub async fn open(store: Arc<dyn ObjectStore>, path: Path) -> Result<Self> {
        Self::open_with(store, path, ReadOptions::default(), FetchOptions::default()).await
    }

    /// Opens a file with options.
    pub async fn open_with(
        store: Arc<dyn ObjectStore>,
        path: Path,
        options: ReadOptions,
        fetch: FetchOptions,
    ) -> Result<Self> {
        Self::open_pinned(store, path, Pinned::default(), options, fetch).await
    }

    /// Opens the version of a file that a listing told of, and no other.
    pub async fn open_listed(
        store: Arc<dyn ObjectStore>,
        object: ObjectMeta,
        options: ReadOptions,
        fetch: FetchOptions,
    ) -> Result<Self> {
        let path = object.location.clone();
        Self::open_pinned(store, path, Pinned::listed(object), options, fetch).await
    }

    async fn open_pinned(
        store: Arc<dyn ObjectStore>,
        path: Path,
        pinned: Pinned,
        options: ReadOptions,
        fetch: FetchOptions,
    ) -> Result<Self> {
        let object = Object::new(store, path, pinned, fetch, options.memory_limit());
        let (size, tail) = object.fetch_tail().await?;
        let file = run(&object, OpenFile::open_with_tail(size, tail, options)).await?;
        Ok(Self { object, file })
    }

    /// A reader of a file that was opened before, so that nothing has to be fetched for it. `object` is what a
    /// listing told of the version that was opened; no other is read.
    pub fn from_file(
        file: Arc<OpenFile>,
        store: Arc<dyn ObjectStore>,
        object: ObjectMeta,
        fetch: FetchOptions,
    ) -> Self {
        let (path, limit) = (object.location.clone(), file.options().memory_limit());
        Self { object: Object::new(store, path, Pinned::listed(object), fetch, limit), file }
    }

    /// What is known of the file. It can be kept for [`Reader::from_file`], and makes requests for
    /// [`Reader::run`].
    pub fn file(&self) -> &Arc<OpenFile> {
        &self.file
    }

    /// What a request of this file comes to.
    pub async fn run<T>(&self, request: Request<T>) -> Result<T> {
        run(&self.object, request).await
    }

    /// The schema, with field and schema metadata.
    pub fn schema(&self) -> SchemaRef {
        self.file.schema()
    }

    /// Ids of all fields; see [`OpenFile::field_ids`].
    pub fn field_ids(&self) -> &[i32] {
        self.file.field_ids()
    }

    /// Number of rows.
    pub fn num_rows(&self) -> u64 {
        self.file.num_rows()
    }

    /// Format version of the file.
    pub fn version(&self) -> Version {
        self.file.version()
    }

    /// What was asked of the store so far, by this reader and its clones.
    pub fn stats(&self) -> FetchStats {
        self.object.stats()
    }

    /// All columns of the given rows, in the order asked for; duplicates are allowed.
    pub async fn take(&self, rows: &[u64]) -> Result<RecordBatch> {
        self.read(.., rows).await
    }

    /// Some columns of the given rows. Names are looked up each time; for many takes let
    /// [`OpenFile::project`] do so once.
    pub async fn take_columns(
        &self,
        rows: &[u64],
        columns: impl Into<Columns>,
    ) -> Result<RecordBatch> {
        self.read(columns, rows).await
    }

    /// Some rows of some columns as one batch: `..` for all, a range, [`RowRanges`], or a list.
    pub async fn read(
        &self,
        columns: impl Into<Columns>,
        rows: impl Into<Rows>,
    ) -> Result<RecordBatch> {
        let columns = self.file.project(columns)?;
        self.run(self.file.read(&columns, rows)?).await
    }

    /// The rows outside of which no row makes the filter true; see
    /// [`FileReader::prune`](lancet::FileReader::prune).
    pub async fn prune(&self, filter: &Filter) -> Result<RowRanges> {
        self.run(self.file.prune(filter)?).await
    }

    /// The zone maps of columns; see [`FileReader::zone_maps`](lancet::FileReader::zone_maps).
    pub async fn zone_maps<S: AsRef<str>>(
        &self,
        columns: impl IntoIterator<Item = S>,
    ) -> Result<Vec<Option<Arc<ZoneMap>>>> {
        let request = self.file.zone_maps(columns)?;
        self.run(request).await
    }

    /// Starts to describe a scan.
    pub fn scan(&self) -> Scan {
        Scan::new(self.clone())
    }

    /// The blobs of a column (a nested field is named with dots), to be read by ranges of bytes.
    pub async fn blobs(&self, column: &str) -> Result<Blobs> {
        let column = self.run(self.file.blobs(column)?).await?;
        Ok(Blobs::new(self.clone(), column))
    }

    /// The bytes of a global buffer (number 0 holds the schema).
    pub async fn global_buffer(&self, index: usize) -> Result<Bytes> {
        self.run(self.file.global_buffer(index)?).await
    }

    /// The global buffers that were added to the file: all but the schema and the checksums.
    pub async fn user_buffers(&self) -> Result<Vec<Bytes>> {
        self.run(self.file.user_buffers()).await
    }

    /// What the file is made of. Reads the metadata of all columns.
    pub async fn inspect(&self) -> Result<FileReport> {
        self.run(self.file.inspect()).await
    }

    /// Checks every rule of the format over the whole file, and its checksums if it has some.
    ///
    /// What is wrong with the file is in the result; errors are only those of reading it.
    pub async fn verify(&self) -> Result<Verification> {
        self.verify_with(|_| ()).await
    }

    /// [`Reader::verify`], and says how far it has come.
    pub async fn verify_with(&self, mut progress: impl FnMut(Progress)) -> Result<Verification> {
        let mut request = self.file.verify();
        while !request.spans().is_empty() {
            let bytes = self.object.read(request.spans()).await?;
            request.supply(bytes)?;
            request.progress().into_iter().for_each(&mut progress);
        }
        Ok(request.finish()?)
    }
}

/// Drives a request.
async fn run<T>(object: &Object, mut request: Request<T>) -> Result<T> {
    while !request.spans().is_empty() {
        let bytes = object.read(request.spans()).await?;
        request.supply(bytes)?;
    }
    Ok(request.finish()?)
}
