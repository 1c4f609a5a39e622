//! A store in memory that several writers share, and that fails as it is told. For tests.
//!
//! Every request of a writer is counted. At one of them a fault may strike: it is refused, it is done and then refused, or
//! the writer stops there for ever, as a process that is killed. Writers that [take turns](Simulated::in_turns) let others
//! go on before each request.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::{Duration, SystemTime};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use bytes::Bytes;
use lancet::{
    FileReader, FileWriter, OpenFile, Projection, ReadOptions, Request, Rows, Span, WriteOptions,
    WriteSummary,
};

use crate::error::{Error, Result};
use crate::files::in_data_file;
use crate::storage::{Durability, Entry, Put, Storage, Unsynced};

/// What goes wrong at a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Nothing is done.
    Fail,
    /// It is done, but the answer is lost.
    FailAfter,
    /// The writer is killed before it.
    Kill,
    /// The writer is killed after it.
    KillAfter,
}

/// One writer's view of a store.
#[derive(Debug, Clone)]
pub(crate) struct Simulated {
    files: Arc<Mutex<BTreeMap<PathBuf, Bytes>>>,
    /// Those that are lost with the machine.
    volatile: Arc<Mutex<BTreeSet<PathBuf>>>,
    plan: Arc<Mutex<Plan>>,
    takes_turns: bool,
}

#[derive(Debug, Default)]
struct Plan {
    /// Requests so far.
    requests: u64,
    /// Requests to sync a folder so far.
    syncs: u64,
    /// At which one what happens.
    fault: Option<(u64, Fault)>,
    is_dead: bool,
    /// A file that the next list of its folder leaves out.
    unlisted: Option<PathBuf>,
}

impl Simulated {
    pub(crate) fn new() -> Self {
        Self {
            files: Arc::default(),
            volatile: Arc::default(),
            plan: Arc::default(),
            takes_turns: false,
        }
    }

    /// Another writer.
    pub(crate) fn another(&self) -> Self {
        Self {
            files: self.files.clone(),
            volatile: self.volatile.clone(),
            plan: Arc::default(),
            takes_turns: self.takes_turns,
        }
    }

    /// Another writer, whose futures are not ready before each request once, and for whom all files are new.
    pub(crate) fn in_turns(&self) -> Self {
        Self { takes_turns: true, ..self.another() }
    }

    async fn turn(&self) {
        if self.takes_turns {
            Turn(false).await;
        }
    }

    /// Another store with the same files.
    pub(crate) fn copied(&self) -> Self {
        let files = self.files.lock().unwrap().clone();
        let volatile = self.volatile.lock().unwrap().clone();
        Self {
            files: Arc::new(Mutex::new(files)),
            volatile: Arc::new(Mutex::new(volatile)),
            ..Self::new()
        }
    }

    /// The store after its machine was lost: files that were not synced are gone.
    pub(crate) fn after_a_crash(&self) -> Self {
        let left = self.copied();
        let volatile = std::mem::take(&mut *left.volatile.lock().unwrap());
        left.files.lock().unwrap().retain(|path, _| !volatile.contains(path));
        left
    }

    fn note_volatile(&self, path: &Path, durability: Durability<'_>) {
        if let Durability::Later(unsynced) = durability {
            self.volatile.lock().unwrap().insert(path.to_owned());
            unsynced.add(path, None);
        }
    }

    /// Has a fault strike at a request, counted from now on.
    pub(crate) fn strike(&self, request: u64, fault: Fault) {
        let mut plan = self.plan.lock().unwrap();
        plan.fault = Some((plan.requests + request, fault));
    }

    /// Whether the fault has struck.
    pub(crate) fn has_struck(&self) -> bool {
        self.plan.lock().unwrap().fault.is_none()
    }

    /// Has the next list of its folder leave out a file, as one that came while the folder was listed.
    pub(crate) fn leave_out(&self, path: &str) {
        self.plan.lock().unwrap().unlisted = Some(path.into());
    }

    /// Removes a file, without asking anybody.
    pub(crate) fn remove(&self, path: &str) {
        assert!(self.files.lock().unwrap().remove(Path::new(path)).is_some(), "{path}");
    }

    /// Requests of this writer to sync a folder so far.
    pub(crate) fn syncs(&self) -> u64 {
        self.plan.lock().unwrap().syncs
    }

    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        self.files.lock().unwrap().keys().cloned().collect()
    }

    async fn request<T>(
        &self,
        what: &str,
        path: &Path,
        act: impl FnOnce(&mut BTreeMap<PathBuf, Bytes>) -> Result<T> + Send,
    ) -> Result<T> {
        self.turn().await;
        self.answer(what, path, act)
    }

    fn answer<T>(
        &self,
        what: &str,
        path: &Path,
        act: impl FnOnce(&mut BTreeMap<PathBuf, Bytes>) -> Result<T>,
    ) -> Result<T> {
        let refused = || {
            let context = format!("{what} {}", path.display());
            Err(Error::Io { context, source: std::io::Error::other("a simulated fault") })
        };
        let fault = {
            let mut plan = self.plan.lock().unwrap();
            if plan.is_dead {
                return refused();
            }
            let strikes = plan.fault.filter(|(at, _)| *at == plan.requests).map(|(_, fault)| fault);
            plan.requests += 1;
            if let Some(fault) = strikes {
                plan.fault = None;
                plan.is_dead = matches!(fault, Fault::Kill | Fault::KillAfter);
            }
            strikes
        };
        match fault {
            None => act(&mut self.files.lock().unwrap()),
            Some(Fault::Fail | Fault::Kill) => refused(),
            Some(Fault::FailAfter | Fault::KillAfter) => {
                let _ = act(&mut self.files.lock().unwrap());
                refused()
            }
        }
    }

    async fn bytes(&self, path: &Path) -> Result<Bytes> {
        self.request("read", path, |files| {
            files.get(path).cloned().ok_or_else(|| Error::Io {
                context: format!("read {}", path.display()),
                source: std::io::ErrorKind::NotFound.into(),
            })
        })
        .await
    }
}

impl Storage for Simulated {
    type Handle = FileReader;

    async fn list(&self, folder: &Path) -> Result<Option<Vec<String>>> {
        let unlisted = {
            let mut plan = self.plan.lock().unwrap();
            plan.unlisted.take_if(|path| path.parent() == Some(folder))
        };
        self.request("list", folder, |files| {
            let names = files.keys().filter(|path| path.parent() == Some(folder));
            let names = names.filter(|path| unlisted.as_ref() != Some(*path));
            let names: Vec<String> =
                names.map(|path| path.file_name().unwrap().to_str().unwrap().to_owned()).collect();
            Ok((!names.is_empty()).then_some(names))
        })
        .await
    }

    async fn read(&self, path: &Path, max_bytes: u64) -> Result<Bytes> {
        let bytes = self.bytes(path).await?;
        let needed = bytes.len() as u64;
        if needed > max_bytes {
            let (file, option) = (path.display().to_string(), "max_metadata_bytes");
            return Err(Error::Limit { file, needed, limit: max_bytes, option });
        }
        Ok(bytes)
    }

    async fn read_range(&self, path: &Path, start: u64, len: u64) -> Result<(Bytes, u64)> {
        let bytes = self.bytes(path).await?;
        let (start, size) = (usize::try_from(start).unwrap(), bytes.len());
        let end = (start + usize::try_from(len).unwrap()).min(size);
        Ok((bytes.slice(start.min(end)..end), size as u64))
    }

    async fn read_spans(&self, path: &Path, spans: &[Span]) -> Result<Vec<Bytes>> {
        let bytes = self.bytes(path).await?;
        let cut = |span: &Span| bytes.slice(span.start() as usize..span.end() as usize);
        Ok(spans.iter().map(cut).collect())
    }

    async fn open(&self, path: &Path, options: &ReadOptions) -> Result<FileReader> {
        let reader = FileReader::from_bytes(self.bytes(path).await?, options.clone());
        reader.map_err(|error| in_data_file(path, error))
    }

    async fn reopen(&self, path: &Path, file: Arc<OpenFile>) -> Result<FileReader> {
        self.open(path, file.options()).await
    }

    const COUNTS_FILES: bool = false;

    fn file(handle: &FileReader) -> &Arc<OpenFile> {
        handle.file()
    }

    async fn run<T: Send>(handle: &FileReader, path: &Path, request: Request<T>) -> Result<T> {
        handle.run(request).map_err(|error| in_data_file(path, error))
    }

    async fn read_rows(
        handle: &FileReader,
        path: &Path,
        columns: &Projection,
        rows: Rows,
    ) -> Result<RecordBatch> {
        handle.read(columns, rows).map_err(|error| in_data_file(path, error))
    }

    type NewData = (Self, PathBuf, FileWriter<Vec<u8>>);

    async fn put_if_absent(
        &self,
        path: &Path,
        bytes: Bytes,
        durability: Durability<'_>,
    ) -> Result<Put> {
        let durability = match durability {
            Durability::Behind(others) if !others.files.is_empty() => {
                self.sync(others).await?;
                Durability::Synced
            }
            other => other,
        };
        self.request("create", path, |files| {
            if files.contains_key(path) {
                return Ok(Put::Taken);
            }
            files.insert(path.to_owned(), bytes);
            self.note_volatile(path, durability);
            Ok(Put::Done)
        })
        .await
    }

    async fn sync(&self, files: &mut Unsynced) -> Result<()> {
        let files = std::mem::take(files).files;
        self.plan.lock().unwrap().syncs += 1;
        self.request("sync", Path::new("files"), |_| {
            let mut volatile = self.volatile.lock().unwrap();
            files.iter().for_each(|(path, _)| _ = volatile.remove(path));
            Ok(())
        })
        .await
    }

    async fn replace(&self, path: &Path, bytes: Bytes, _: Durability<'_>) -> Result<()> {
        self.request("replace", path, |files| {
            files.insert(path.to_owned(), bytes);
            Ok(())
        })
        .await
    }

    async fn delete(&self, path: &Path) -> Result<()> {
        self.request("remove", path, |files| {
            files.remove(path);
            Ok(())
        })
        .await
    }

    async fn sync_folder(&self, folder: &Path) -> Result<()> {
        self.plan.lock().unwrap().syncs += 1;
        self.request("sync", folder, |_| Ok(())).await
    }

    async fn entries(&self, folder: &Path) -> Result<Vec<Entry>> {
        self.request("list", folder, |files| {
            let below = files.iter().filter_map(|(path, bytes)| {
                let path = path.strip_prefix(folder).ok()?.to_owned();
                let modified = match self.takes_turns {
                    true => SystemTime::now(),
                    false => SystemTime::UNIX_EPOCH,
                };
                Some(Entry { path, bytes: bytes.len() as u64, modified })
            });
            Ok(below.collect())
        })
        .await
    }

    fn recorded(&self, folder: &Path) -> Result<String> {
        Ok(folder.to_str().unwrap().to_owned())
    }

    async fn wait(&self, _: Duration) {}

    const HAS_HINT: bool = true;

    async fn create_data(
        &self,
        path: &Path,
        schema: SchemaRef,
        options: WriteOptions,
    ) -> Result<Self::NewData> {
        let options = options.with_threads(1);
        let writer = FileWriter::new(Vec::new(), schema, options);
        let writer = writer.map_err(|error| in_data_file(path, error))?;
        self.request("create", path, |_| Ok((self.clone(), path.to_owned(), writer))).await
    }

    async fn write_data(
        (store, path, writer): &mut Self::NewData,
        batch: &RecordBatch,
    ) -> Result<()> {
        let written = writer.write(batch).map_err(|error| in_data_file(path, error));
        store.request("write", path, |_| written).await
    }

    fn data_bytes((_, _, writer): &Self::NewData) -> u64 {
        writer.written_bytes()
    }

    async fn finish_data(
        (store, path, writer): Self::NewData,
        unsynced: &mut Unsynced,
    ) -> Result<WriteSummary> {
        let finished = writer.finish_into().map_err(|error| in_data_file(&path, error));
        store
            .request("finish", &path, |files| {
                let (summary, bytes) = finished?;
                files.insert(path.clone(), bytes.into());
                store.note_volatile(&path, Durability::Later(unsynced));
                Ok(summary)
            })
            .await
    }
}

/// Ready when it is asked for the second time.
struct Turn(bool);

impl Future for Turn {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        match std::mem::replace(&mut self.0, true) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    }
}
