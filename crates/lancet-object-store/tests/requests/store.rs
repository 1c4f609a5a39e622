//! A store in memory that notes what it is asked for.

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use futures::stream::BoxStream;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetRange, GetResult, ListResult, MultipartUpload, ObjectMeta,
    ObjectStore, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};

use crate::clock::Clock;

/// The requests so far.
#[derive(Debug, Default)]
pub struct Noted {
    store: InMemory,
    gets: Mutex<Vec<Range<u64>>>,
    /// Refuses to count from the end, as some stores do.
    no_suffix: bool,
    /// How long answers take.
    pace: Option<Pace>,
}

/// A store that takes its time.
#[derive(Debug, Clone)]
pub struct Pace {
    pub clock: Clock,
    pub latency: Duration,
    pub bytes_per_second: u64,
}

impl Pace {
    pub fn of_bytes(&self, bytes: u64) -> Duration {
        Duration::from_secs_f64(bytes as f64 / self.bytes_per_second as f64)
    }
}

impl Noted {
    /// A store that cannot count from the end.
    pub fn without_suffix() -> Self {
        Self { no_suffix: true, ..Self::default() }
    }

    /// A store that takes its time.
    pub fn slow(pace: Pace) -> Self {
        Self { pace: Some(pace), ..Self::default() }
    }

    /// The spans of all reads since the last call.
    pub fn gets(&self) -> Vec<Range<u64>> {
        std::mem::take(&mut self.gets.lock().unwrap())
    }
}

impl fmt::Display for Noted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Noted")
    }
}

#[async_trait]
impl ObjectStore for Noted {
    async fn put_opts(
        &self,
        to: &Path,
        bytes: PutPayload,
        options: PutOptions,
    ) -> Result<PutResult> {
        self.store.put_opts(to, bytes, options).await
    }

    async fn put_multipart_opts(
        &self,
        to: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.store.put_multipart_opts(to, options).await
    }

    async fn get_opts(&self, from: &Path, options: GetOptions) -> Result<GetResult> {
        if self.no_suffix && matches!(options.range, Some(GetRange::Suffix(_))) {
            let source = "no ranges from the end".into();
            return Err(object_store::Error::NotSupported { source });
        }
        let head = options.head;
        let found = self.store.get_opts(from, options).await?;
        if let Some(pace) = &self.pace {
            let bytes = if head { 0 } else { found.range.end - found.range.start };
            pace.clock.sleep(pace.latency + pace.of_bytes(bytes)).await;
        }
        if !head {
            self.gets.lock().unwrap().push(found.range.clone());
        }
        Ok(found)
    }

    fn delete_stream(
        &self,
        paths: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        self.store.delete_stream(paths)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.store.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.store.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.store.copy_opts(from, to, options).await
    }
}

/// A store as an [`ObjectStore`].
pub fn shared(store: &Arc<Noted>) -> Arc<dyn ObjectStore> {
    store.clone()
}
