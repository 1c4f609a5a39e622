//! A store that counts what it is asked for.

use std::fmt;
use std::sync::Mutex;

use async_trait::async_trait;
use futures::stream::BoxStream;
use lancet_object_store::object_store::memory::InMemory;
use lancet_object_store::object_store::path::Path;
use lancet_object_store::object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};

/// A store in memory that notes what it is asked for.
#[derive(Debug, Default)]
pub struct Noted {
    store: InMemory,
    asked: Mutex<Vec<String>>,
}

impl Noted {
    /// What it was asked for since the last call.
    pub fn asked(&self) -> Vec<String> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }

    fn note(&self, what: &str, path: Option<&Path>) {
        let path = path.map(|path| path.to_string()).unwrap_or_default();
        self.asked.lock().unwrap().push(format!("{what} {path}"));
    }
}

impl fmt::Display for Noted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Noted")
    }
}

#[async_trait]
impl ObjectStore for Noted {
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
        self.note("get", Some(from));
        self.store.get_opts(from, how).await
    }

    fn delete_stream(
        &self,
        paths: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        self.store.delete_stream(paths)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.note("list", prefix);
        self.store.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.note("list", prefix);
        self.store.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, how: CopyOptions) -> Result<()> {
        self.store.copy_opts(from, to, how).await
    }
}
