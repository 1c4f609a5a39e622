//! The reader.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use lancet::{FileReader, Filter, Opening, ReadOptions, Request, Span, Version, ZoneMap};
use object_store::path::Path;
use object_store::{GetOptions, GetRange, ObjectStore, ObjectStoreExt};

use crate::error::Result;
use crate::fetch::{FetchStats, Object};
use crate::options::FetchOptions;
use crate::scan::Scan;

/// A Lance file in an object store. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Reader {
    pub(crate) object: Object,
    pub(crate) file: FileReader,
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
        let object = Object::new(store, path, fetch);
        let mut opening = open_tail(&object, options).await?;
        loop {
            match opening.try_open()? {
                Ok(file) => return Ok(Self { object, file }),
                Err(span) => {
                    let bytes = object.fetch(span).await?;
                    opening.supply(span.start(), bytes);
                }
            }
        }
    }

    /// A reader of a file that was opened before, so that nothing has to be fetched for it.
    pub fn from_file(
        file: FileReader,
        store: Arc<dyn ObjectStore>,
        path: Path,
        fetch: FetchOptions,
    ) -> Self {
        Self { object: Object::new(store, path, fetch), file }
    }

    /// The open file, which can be kept for [`Reader::from_file`].
    pub fn file(&self) -> &FileReader {
        &self.file
    }

    /// The schema, with field and schema metadata.
    pub fn schema(&self) -> SchemaRef {
        self.file.schema()
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
        self.run(self.file.request_take(rows, None)?).await
    }

    /// Some columns of the given rows; nested fields are named with dots.
    pub async fn take_columns(&self, rows: &[u64], columns: &[&str]) -> Result<RecordBatch> {
        self.run(self.file.request_take(rows, Some(columns))?).await
    }

    /// Some ranges of rows, sorted and without overlaps; all columns by default.
    pub async fn read_ranges(
        &self,
        ranges: Vec<Range<u64>>,
        columns: Option<&[&str]>,
    ) -> Result<RecordBatch> {
        self.run(self.file.request_ranges(ranges, columns)?).await
    }

    /// Ranges of rows outside of which no row makes the filter true; see
    /// [`FileReader::prune`].
    pub async fn prune(&self, filter: &Filter) -> Result<Vec<Range<u64>>> {
        self.run(self.file.request_prune(filter)?).await
    }

    /// The zone maps of columns; see [`FileReader::zone_maps`].
    pub async fn zone_maps(&self, columns: &[&str]) -> Result<Vec<Option<Arc<ZoneMap>>>> {
        self.run(self.file.request_zone_maps(columns)?).await
    }

    /// Starts to describe a scan.
    pub fn scan(&self) -> Scan {
        Scan::new(self.clone())
    }

    pub(crate) async fn run<R: Request>(&self, mut request: R) -> Result<R::Output> {
        while !request.spans().is_empty() {
            let bytes = self.object.fetch_all(request.spans()).await?;
            request.supply(bytes)?;
        }
        Ok(request.finish()?)
    }
}

/// Fetches the end of a file, which also tells its size.
async fn open_tail(object: &Object, options: ReadOptions) -> Result<Opening> {
    let range = Some(GetRange::Suffix(object.options.tail_bytes));
    let get = GetOptions { range, ..GetOptions::default() };
    match object.store.get_opts(&object.path, get).await {
        Ok(found) => {
            let (size, start) = (found.meta.size, found.range.start);
            let bytes = found.bytes().await?;
            object.count(bytes.len() as u64);
            let mut opening = Opening::new(size, options);
            opening.supply(start, bytes);
            Ok(opening)
        }
        // Some stores cannot count from the end.
        Err(
            object_store::Error::NotSupported { .. } | object_store::Error::NotImplemented { .. },
        ) => {
            let size = object.store.head(&object.path).await?.size;
            object.count(0);
            let start = size.saturating_sub(object.options.tail_bytes);
            let tail = Span::new(start, size).unwrap_or_default();
            let mut opening = Opening::new(size, options);
            opening.supply(start, object.fetch(tail).await?);
            Ok(opening)
        }
        Err(error) => Err(error.into()),
    }
}
