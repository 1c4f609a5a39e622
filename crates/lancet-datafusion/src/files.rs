//! Open files, shared by all who read them.
//!
//! A file is opened once, for its schema, and is then found in DataFusion's metadata cache by its
//! statistics and by every partition of every scan, with the metadata of all columns used so far.
//!
//! All of them read the version that the listing told of; if there is another one now, that is an error.

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use datafusion::common::{HashMap, exec_err};
use datafusion::datasource::object_store::ObjectStoreUrl;
use datafusion::error::Result;
use datafusion::execution::cache::cache_manager::{
    CachedFileMetadataEntry, FileMetadata, FileMetadataCache,
};
use lancet::{OpenFile, ReadOptions};
use lancet_object_store::{FetchOptions, Reader};
use object_store::{ObjectMeta, ObjectStore};

use crate::external;

/// What a column without pages takes, about.
const COLUMN_BYTES: usize = 256;

/// Rows that can be counted one by one.
const MANY_ROWS: u64 = 1 << 32;

/// How the store of a URL is best asked.
pub(crate) fn fetch_options(url: &ObjectStoreUrl) -> FetchOptions {
    let options = FetchOptions::default();
    if !url.as_str().starts_with("file:") {
        return options;
    }
    // A read costs little; what lies between two is not worth much.
    options.with_latency(Duration::from_micros(20)).with_bytes_per_second(1_000_000_000)
}

/// Opens a file, or finds it open.
pub(crate) async fn open(
    store: &Arc<dyn ObjectStore>,
    object: &ObjectMeta,
    cache: Option<&FileMetadataCache>,
    read: &ReadOptions,
    fetch: FetchOptions,
) -> Result<Reader> {
    let store = store.clone();
    let known = cache.and_then(|cache| cache.get(&object.location));
    // The cache knows of sizes and times; a tag tells more.
    let same = |known: &CachedFileMetadataEntry| {
        known.is_valid_for(object) && known.meta.e_tag == object.e_tag
    };
    if let Some(known) = known.filter(same)
        && let Some(open) = known.file_metadata.as_any().downcast_ref::<CachedFile>()
    {
        return Ok(Reader::from_file(open.file.clone(), store, object.clone(), fetch));
    }
    let reader = Reader::open_listed(store, object.clone(), read.clone(), fetch).await;
    let reader = reader.map_err(external)?;
    check_rows(&reader, object).await?;
    if let Some(cache) = cache {
        let open = Arc::new(CachedFile::new(reader.file().clone()));
        cache.put(&object.location, CachedFileMetadataEntry::new(object.clone(), open));
    }
    Ok(reader)
}

/// A query that reads no column counts the rows that the end of a file claims; those of a damaged file, for ever. So
/// the columns have to have them, where there are many.
async fn check_rows(reader: &Reader, object: &ObjectMeta) -> Result<()> {
    let (path, rows) = (&object.location, reader.num_rows());
    if i64::try_from(rows).is_err() {
        return exec_err!("{path}: has {rows} rows, more than a query can count");
    }
    if rows > MANY_ROWS {
        let file = reader.file();
        reader.run(file.prepare(file.everything())).await.map_err(external)?;
    }
    Ok(())
}

/// A file in the cache.
struct CachedFile {
    file: Arc<OpenFile>,
    /// Measured once: the cache counts on it not to change.
    bytes: usize,
}

impl CachedFile {
    fn new(file: Arc<OpenFile>) -> Self {
        let schema = usize::try_from(file.metadata_bytes()).unwrap_or(usize::MAX);
        let columns = file.field_ids().len().saturating_mul(COLUMN_BYTES);
        Self { bytes: schema.saturating_add(columns), file }
    }
}

impl FileMetadata for CachedFile {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn memory_size(&self) -> usize {
        self.bytes
    }

    fn extra_info(&self) -> HashMap<String, String> {
        HashMap::from([("version".into(), self.file.version().to_string())])
    }
}
