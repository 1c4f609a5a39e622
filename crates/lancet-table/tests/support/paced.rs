//! A store in memory that takes its time: 30 ms until an answer begins and 100 MB/s for each, by a clock of its own.

use std::fmt;
use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;
use futures::stream::BoxStream;
use lancet_object_store::object_store::memory::InMemory;
use lancet_object_store::object_store::path::Path;
use lancet_object_store::object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};

use crate::clock::Clock;

pub const LATENCY: Duration = Duration::from_millis(30);
pub const BYTES_PER_SECOND: u64 = 100_000_000;

#[derive(Debug, Default)]
pub struct Paced {
    store: InMemory,
    pub clock: Clock,
    asked: Mutex<Vec<Asked>>,
}

/// A request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    pub path: String,
    pub bytes: u64,
}

impl Paced {
    /// What it was asked for since the last call.
    pub fn asked(&self) -> Vec<Asked> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }

    async fn answer(&self, path: Option<&Path>, bytes: u64) {
        let path = path.map(|path| path.to_string()).unwrap_or_default();
        self.asked.lock().unwrap().push(Asked { path, bytes });
        let time = Duration::from_secs_f64(bytes as f64 / BYTES_PER_SECOND as f64);
        self.clock.sleep(LATENCY + time).await;
    }
}

impl fmt::Display for Paced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Paced")
    }
}

#[async_trait]
impl ObjectStore for Paced {
    async fn put_opts(&self, to: &Path, bytes: PutPayload, how: PutOptions) -> Result<PutResult> {
        self.store.put_opts(to, bytes, how).await
    }

    async fn put_multipart_opts(
        &self,
        to: &Path,
        how: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.store.put_multipart_opts(to, how).await
    }

    async fn get_opts(&self, from: &Path, how: GetOptions) -> Result<GetResult> {
        let head = how.head;
        let found = self.store.get_opts(from, how).await?;
        let bytes = if head { 0 } else { found.range.end - found.range.start };
        self.answer(Some(from), bytes).await;
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
        self.answer(prefix, 0).await;
        self.store.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, how: CopyOptions) -> Result<()> {
        self.store.copy_opts(from, to, how).await
    }
}
