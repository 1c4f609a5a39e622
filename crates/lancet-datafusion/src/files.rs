//! Open files, shared by all who read them.
//!
//! A file is opened once, for its schema, and is then found in DataFusion's metadata cache by its
//! statistics and by every partition of every scan, with the metadata of all columns used so far.

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use datafusion::common::HashMap;
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

/// How the store of a URL is best asked.
pub(crate) fn fetch_options(url: &ObjectStoreUrl) -> FetchOptions {
    let options = FetchOptions::default();
    if !url.as_str().starts_with("file:") {
        return options;
    }
    // A read costs little; what lies between two is not worth much.
    options
        .with_latency(Duration::from_micros(20))
        .with_bytes_per_second(1_000_000_000)
        .with_one_call(true)
}

/// Opens a file, or finds it open.
pub(crate) async fn open(
    store: &Arc<dyn ObjectStore>,
    object: &ObjectMeta,
    cache: Option<&FileMetadataCache>,
    read: &ReadOptions,
    fetch: FetchOptions,
) -> Result<Reader> {
    let (store, path) = (store.clone(), object.location.clone());
    let known = cache.and_then(|cache| cache.get(&path));
    if let Some(known) = known.filter(|known| known.is_valid_for(object))
        && let Some(open) = known.file_metadata.as_any().downcast_ref::<CachedFile>()
    {
        return Ok(Reader::from_file(open.file.clone(), store, path, fetch));
    }
    let reader = Reader::open_with(store, path, read.clone(), fetch).await.map_err(external)?;
    if let Some(cache) = cache {
        let open = Arc::new(CachedFile::new(reader.file().clone()));
        cache.put(&object.location, CachedFileMetadataEntry::new(object.clone(), open));
    }
    Ok(reader)
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
