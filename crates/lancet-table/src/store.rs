//! Object stores as places where files of tables lie.

use std::path::{Component, Path as FilePath, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use bytes::Bytes;
use futures::StreamExt;
use lancet::{OpenFile, Projection, ReadOptions, Request, Rows, Span, WriteOptions, WriteSummary};
use lancet_object_store::object_store::path::Path;
use lancet_object_store::object_store::{
    self, GetOptions, GetRange, ObjectStore, ObjectStoreExt as _, PutMode, PutOptions,
};
use lancet_object_store::{FetchOptions, Object, Reader, Writer};

use crate::blobs::outside;
use crate::error::{Error, Result};
use crate::files::in_data_file;
use crate::storage::{Durability, Entry, Put, Storage, Unsynced, shown};

/// A store, and how it is asked.
#[derive(Debug, Clone)]
pub(crate) struct Store {
    pub(crate) store: Arc<dyn ObjectStore>,
    pub(crate) fetch: FetchOptions,
}

/// The name of an object: the parts of a path with slashes between, whatever the system has. Names in a store have no
/// root; base paths of tables that lie on disk do.
fn object(path: &FilePath) -> Result<Path> {
    let parts = path.components().filter(|part| *part != Component::RootDir);
    let parts: Vec<&str> = parts.filter_map(|part| part.as_os_str().to_str()).collect();
    Path::parse(parts.join("/"))
        .map_err(|error| Error::Store { file: shown(path), source: Box::new(error) })
}

impl Store {
    /// A request that is not one of an open data file's.
    fn count(&self, bytes: u64) {
        if let Some(counter) = self.fetch.counter() {
            counter.count(bytes);
        }
    }
}

fn refused(path: &FilePath, error: object_store::Error) -> Error {
    match error {
        // As on disk, so that a missing tag or file is told in the same way.
        object_store::Error::NotFound { source, .. } => Error::Io {
            context: format!("read {}", path.display()),
            source: std::io::Error::new(std::io::ErrorKind::NotFound, source),
        },
        other => Error::Store { file: shown(path), source: Box::new(other) },
    }
}

fn failed(path: &FilePath, error: lancet_object_store::Error) -> Error {
    match error {
        lancet_object_store::Error::Lance(error) => in_data_file(path, error),
        lancet_object_store::Error::Store(error) => refused(path, error),
        other => Error::Store { file: shown(path), source: Box::new(other) },
    }
}

impl Storage for Store {
    type Handle = Reader;

    async fn list(&self, folder: &FilePath) -> Result<Option<Vec<String>>> {
        let prefix = object(folder)?;
        let listed = self.store.list_with_delimiter(Some(&prefix)).await;
        let listed = listed.map_err(|error| refused(folder, error))?;
        self.count(0);
        let names = listed.objects.iter();
        let names: Vec<String> =
            names.filter_map(|object| object.location.filename().map(str::to_owned)).collect();
        // Stores have no folders: one without files is one that is not there.
        Ok((!names.is_empty()).then_some(names))
    }

    async fn read(&self, path: &FilePath, max_bytes: u64) -> Result<Bytes> {
        let found = self.store.get(&object(path)?).await.map_err(|error| refused(path, error))?;
        let needed = found.meta.size;
        self.count(needed);
        if needed > max_bytes {
            let (file, option) = (shown(path), "max_metadata_bytes");
            return Err(Error::Limit { file, needed, limit: max_bytes, option });
        }
        found.bytes().await.map_err(|error| refused(path, error))
    }

    async fn read_range(&self, path: &FilePath, start: u64, len: u64) -> Result<(Bytes, u64)> {
        let name = object(path)?;
        if len == 0 {
            let found = self.store.head(&name).await.map_err(|error| refused(path, error))?;
            self.count(0);
            return Ok((Bytes::new(), found.size));
        }
        let range = Some(GetRange::Bounded(start..start.saturating_add(len)));
        let options = GetOptions { range, ..GetOptions::default() };
        let found = self.store.get_opts(&name, options).await;
        let found = found.map_err(|error| refused(path, error))?;
        let size = found.meta.size;
        self.count(found.range.end.saturating_sub(found.range.start));
        Ok((found.bytes().await.map_err(|error| refused(path, error))?, size))
    }

    async fn read_spans(&self, path: &FilePath, spans: &[Span]) -> Result<Vec<Bytes>> {
        let (store, fetch) = (self.store.clone(), self.fetch.clone());
        let object = Object::unopened(store, object(path)?, fetch);
        let read = object.read(spans).await;
        // The first answer tells the size.
        let size = object.size();
        match (read, spans.iter().find(|span| span.end() > size)) {
            (Err(_), Some(span)) if size > 0 => Err(outside(path, size, span.start(), span.len())),
            (read, _) => read.map_err(|error| failed(path, error)),
        }
    }

    async fn open(&self, path: &FilePath, options: &ReadOptions) -> Result<Reader> {
        let (store, fetch) = (self.store.clone(), self.fetch.clone());
        let opened = Reader::open_with(store, object(path)?, options.clone(), fetch).await;
        opened.map_err(|error| failed(path, error))
    }

    async fn reopen(&self, path: &FilePath, file: Arc<OpenFile>) -> Result<Reader> {
        self.open(path, file.options()).await
    }

    /// A file that is open is only what is known of it.
    const COUNTS_FILES: bool = false;

    fn file(handle: &Reader) -> &Arc<OpenFile> {
        handle.file()
    }

    async fn run<T: Send>(handle: &Reader, path: &FilePath, request: Request<T>) -> Result<T> {
        handle.run(request).await.map_err(|error| failed(path, error))
    }

    async fn read_rows(
        handle: &Reader,
        path: &FilePath,
        columns: &Projection,
        rows: Rows,
    ) -> Result<RecordBatch> {
        let request = handle.file().read(columns, rows);
        let request = request.map_err(|error| in_data_file(path, error))?;
        handle.run(request).await.map_err(|error| failed(path, error))
    }

    type NewData = (PathBuf, Writer);

    /// With one request that the store answers only if there is no such object.
    async fn put_if_absent(&self, path: &FilePath, bytes: Bytes, _: Durability<'_>) -> Result<Put> {
        let options = PutOptions { mode: PutMode::Create, ..PutOptions::default() };
        match self.store.put_opts(&object(path)?, bytes.into(), options).await {
            Ok(_) => Ok(Put::Done),
            Err(object_store::Error::AlreadyExists { .. }) => Ok(Put::Taken),
            Err(
                object_store::Error::NotImplemented { .. }
                | object_store::Error::NotSupported { .. },
            ) => Err(Error::Unsupported {
                file: shown(path),
                what: "the store cannot make an object only if there is none of its name, without \
                       which two writers could overwrite each other's versions"
                    .into(),
            }),
            Err(error) => Err(refused(path, error)),
        }
    }

    async fn replace(&self, path: &FilePath, bytes: Bytes, _: Durability<'_>) -> Result<()> {
        let put = self.store.put(&object(path)?, bytes.into()).await;
        put.map(|_| ()).map_err(|error| refused(path, error))
    }

    async fn delete(&self, path: &FilePath) -> Result<()> {
        match self.store.delete(&object(path)?).await {
            Err(object_store::Error::NotFound { .. }) => Ok(()),
            removed => removed.map_err(|error| refused(path, error)),
        }
    }

    /// What a store has taken stays.
    async fn sync(&self, _: &mut Unsynced) -> Result<()> {
        Ok(())
    }

    async fn sync_folder(&self, _: &FilePath) -> Result<()> {
        Ok(())
    }

    async fn entries(&self, folder: &FilePath) -> Result<Vec<Entry>> {
        let prefix = object(folder)?;
        let mut listed = self.store.list(Some(&prefix));
        let mut found = Vec::new();
        while let Some(object) = listed.next().await {
            let object = object.map_err(|error| refused(folder, error))?;
            let Some(below) = object.location.prefix_match(&prefix) else { continue };
            let path = below.map(|part| part.as_ref().to_owned()).collect();
            found.push(Entry { path, bytes: object.size, modified: object.last_modified.into() });
        }
        found.sort_unstable_by(|one, other| one.path.cmp(&other.path));
        Ok(found)
    }

    fn recorded(&self, folder: &FilePath) -> Result<String> {
        Ok(object(folder)?.to_string())
    }

    async fn wait(&self, time: Duration) {
        // A runtime may have no clock.
        let _ = tokio::task::spawn_blocking(move || std::thread::sleep(time)).await;
    }

    const HAS_HINT: bool = false;

    async fn create_data(
        &self,
        path: &FilePath,
        schema: SchemaRef,
        options: WriteOptions,
    ) -> Result<(PathBuf, Writer)> {
        let writer = Writer::new(self.store.clone(), &object(path)?, schema, options).await;
        Ok((path.to_owned(), writer.map_err(|error| failed(path, error))?))
    }

    async fn write_data((path, writer): &mut Self::NewData, batch: &RecordBatch) -> Result<()> {
        writer.write(batch).await.map_err(|error| failed(path, error))
    }

    fn data_bytes((_, writer): &Self::NewData) -> u64 {
        writer.written_bytes()
    }

    async fn finish_data((path, writer): Self::NewData, _: &mut Unsynced) -> Result<WriteSummary> {
        writer.finish().await.map_err(|error| failed(&path, error))
    }
}
