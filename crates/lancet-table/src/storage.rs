//! Where the files of a table are, as those see it who read and write them.
//!
//! Reads and writes are written once, as `async` functions over a [`Storage`]. On disk nothing is ever waited for: the futures are
//! ready when they are first polled, and [`ready`] is all the runtime there is. A store waits for its answers, in the
//! runtime of the caller.

use std::fs::File;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
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
use crate::local;

/// What became of a file that was to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Put {
    /// It is there, whole.
    Done,
    /// Another one had its name already; it is as it was.
    Taken,
}

/// Files that have their names, and may still be lost with the machine.
#[derive(Debug, Default)]
pub(crate) struct Unsynced {
    /// With what it takes to sync them.
    pub(crate) files: Vec<(PathBuf, Option<File>)>,
}

/// Files that wait to be synced together, at most, about: they are open meanwhile.
pub(crate) const MAX_UNSYNCED: usize = 64;

impl Unsynced {
    pub(crate) fn add(&mut self, path: &Path, file: Option<File>) {
        self.files.push((path.to_owned(), file));
    }

    pub(crate) fn append(&mut self, mut others: Self) {
        self.files.append(&mut others.files);
    }
}

/// What a file needs before one may rely on it.
#[derive(Debug)]
pub(crate) enum Durability<'a> {
    /// It stays, whatever happens to the machine. Its name stays after [`Storage::sync_folder`].
    Synced,
    /// It stays, with its name, after [`Storage::sync`].
    Later(&'a mut Unsynced),
    /// As `Synced`, and it appears when these files stay, with their names. None of them waits any more.
    Behind(&'a mut Unsynced),
    /// Nothing depends on it.
    Unsynced,
}

/// A file somewhere below a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Its path below the folder.
    pub(crate) path: PathBuf,
    pub(crate) bytes: u64,
    /// When it was last written.
    pub(crate) modified: SystemTime,
}

/// A place where files lie.
pub(crate) trait Storage: Clone + Send + Sync + 'static {
    /// A data file that is open.
    type Handle: Clone + Send + Sync;

    /// The names of the files in a folder; none if there is no such folder.
    fn list(&self, folder: &Path) -> impl Future<Output = Result<Option<Vec<String>>>> + Send;

    /// The bytes of a file, if they are not more than `max_bytes`.
    fn read(&self, path: &Path, max_bytes: u64) -> impl Future<Output = Result<Bytes>> + Send;

    /// Some bytes of a file, and its size.
    fn read_range(
        &self,
        path: &Path,
        start: u64,
        len: u64,
    ) -> impl Future<Output = Result<(Bytes, u64)>> + Send;

    /// The bytes of blobs in a file, in their order. One that is not in it is an error of the file.
    fn read_spans(
        &self,
        path: &Path,
        spans: &[Span],
    ) -> impl Future<Output = Result<Vec<Bytes>>> + Send;

    /// Opens a data file.
    fn open(
        &self,
        path: &Path,
        options: &ReadOptions,
    ) -> impl Future<Output = Result<Self::Handle>> + Send;

    /// Opens a data file of which all is known.
    fn reopen(
        &self,
        path: &Path,
        file: Arc<OpenFile>,
    ) -> impl Future<Output = Result<Self::Handle>> + Send;

    /// Whether the system counts files that are open.
    const COUNTS_FILES: bool;

    /// What is known of a data file.
    fn file(handle: &Self::Handle) -> &Arc<OpenFile>;

    /// What a request of a data file comes to.
    fn run<T: Send>(
        handle: &Self::Handle,
        path: &Path,
        request: Request<T>,
    ) -> impl Future<Output = Result<T>> + Send;

    /// Some rows of some columns of a data file.
    fn read_rows(
        handle: &Self::Handle,
        path: &Path,
        columns: &Projection,
        rows: Rows,
    ) -> impl Future<Output = Result<RecordBatch>> + Send;

    /// A data file that is being written. Dropped, it leaves nothing behind.
    type NewData: Send;

    /// Makes a file appear as a whole, unless its name is taken; one on which nothing depends may be seen before its end. Folders
    /// above it are made. On an error it may be there or not.
    fn put_if_absent(
        &self,
        path: &Path,
        bytes: Bytes,
        durability: Durability<'_>,
    ) -> impl Future<Output = Result<Put>> + Send;

    /// Puts a file in the place of the one with its name, if there is one, at once.
    fn replace(
        &self,
        path: &Path,
        bytes: Bytes,
        durability: Durability<'_>,
    ) -> impl Future<Output = Result<()>> + Send;

    /// Makes sure that files stay, with their names, whatever happens to the machine. None of them waits any more.
    fn sync(&self, files: &mut Unsynced) -> impl Future<Output = Result<()>> + Send;

    /// Removes a file; one that is not there is no error.
    fn delete(&self, path: &Path) -> impl Future<Output = Result<()>> + Send;

    /// Makes sure that the names in a folder stay, whatever happens to the machine.
    fn sync_folder(&self, folder: &Path) -> impl Future<Output = Result<()>> + Send;

    /// All files below a folder, at any depth; none if there is no such folder.
    fn entries(&self, folder: &Path) -> impl Future<Output = Result<Vec<Entry>>> + Send;

    /// A folder as other tables may refer to it: absolute.
    fn recorded(&self, folder: &Path) -> Result<String>;

    /// Lets time pass.
    fn wait(&self, time: Duration) -> impl Future<Output = ()> + Send;

    /// Whether others note the latest version in a file, because folders are slow to list.
    const HAS_HINT: bool;

    /// Begins a data file.
    fn create_data(
        &self,
        path: &Path,
        schema: SchemaRef,
        options: WriteOptions,
    ) -> impl Future<Output = Result<Self::NewData>> + Send;

    /// Adds rows to a data file.
    fn write_data(
        data: &mut Self::NewData,
        batch: &RecordBatch,
    ) -> impl Future<Output = Result<()>> + Send;

    /// Bytes of a data file that are written so far.
    fn data_bytes(data: &Self::NewData) -> u64;

    /// Ends a data file: it appears, and stays after [`Storage::sync`].
    fn finish_data(
        data: Self::NewData,
        unsynced: &mut Unsynced,
    ) -> impl Future<Output = Result<WriteSummary>> + Send;
}

/// Folders on disk.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Disk;

impl Storage for Disk {
    type Handle = FileReader;

    async fn list(&self, folder: &Path) -> Result<Option<Vec<String>>> {
        local::list(folder)
    }

    async fn read(&self, path: &Path, max_bytes: u64) -> Result<Bytes> {
        local::read(path, max_bytes).map(Bytes::from)
    }

    async fn read_range(&self, path: &Path, start: u64, len: u64) -> Result<(Bytes, u64)> {
        local::read_range(path, start, len)
    }

    async fn read_spans(&self, path: &Path, spans: &[Span]) -> Result<Vec<Bytes>> {
        local::read_spans(path, spans)
    }

    async fn open(&self, path: &Path, options: &ReadOptions) -> Result<FileReader> {
        let opened = FileReader::open_with(path, options.clone());
        opened.map_err(|error| local::not_opened(path, error))
    }

    async fn reopen(&self, path: &Path, file: Arc<OpenFile>) -> Result<FileReader> {
        FileReader::from_file(file, path).map_err(|error| local::not_opened(path, error))
    }

    const COUNTS_FILES: bool = true;

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
        let read = match rows {
            // Many rows are taken in parts, on several threads.
            Rows::List(list) => handle.take_columns(&list, columns),
            rows => handle.read(columns, rows),
        };
        read.map_err(|error| in_data_file(path, error))
    }

    type NewData = (PathBuf, FileWriter);

    async fn put_if_absent(
        &self,
        path: &Path,
        bytes: Bytes,
        durability: Durability<'_>,
    ) -> Result<Put> {
        local::put_if_absent(path, &bytes, durability)
    }

    async fn replace(&self, path: &Path, bytes: Bytes, durability: Durability<'_>) -> Result<()> {
        local::replace(path, &bytes, durability)
    }

    async fn sync(&self, files: &mut Unsynced) -> Result<()> {
        local::sync(std::mem::take(files), None)
    }

    async fn delete(&self, path: &Path) -> Result<()> {
        local::delete(path)
    }

    async fn sync_folder(&self, folder: &Path) -> Result<()> {
        local::sync_folder(folder)
    }

    async fn entries(&self, folder: &Path) -> Result<Vec<Entry>> {
        local::entries(folder)
    }

    fn recorded(&self, folder: &Path) -> Result<String> {
        local::absolute(folder)
    }

    async fn wait(&self, time: Duration) {
        std::thread::sleep(time);
    }

    const HAS_HINT: bool = true;

    async fn create_data(
        &self,
        path: &Path,
        schema: SchemaRef,
        options: WriteOptions,
    ) -> Result<(PathBuf, FileWriter)> {
        local::create_folder_of(path)?;
        let writer = FileWriter::create(path, schema, options);
        Ok((path.to_owned(), writer.map_err(|error| in_data_file(path, error))?))
    }

    async fn write_data((path, writer): &mut Self::NewData, batch: &RecordBatch) -> Result<()> {
        writer.write(batch).map_err(|error| in_data_file(path, error))
    }

    fn data_bytes((_, writer): &Self::NewData) -> u64 {
        writer.written_bytes()
    }

    async fn finish_data(
        (path, writer): Self::NewData,
        unsynced: &mut Unsynced,
    ) -> Result<WriteSummary> {
        let finished = writer.finish_unsynced();
        let (summary, file) = finished.map_err(|error| in_data_file(&path, error))?;
        unsynced.add(&path, Some(file));
        Ok(summary)
    }
}

/// The result of a future that waits for nothing.
pub(crate) fn ready<T>(future: impl Future<Output = Result<T>>) -> Result<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => result,
        Poll::Pending => Err(Error::invalid("a read on disk waits for something")),
    }
}

/// Makes a file appear whose name or contents nobody else would give. A request that was repeated on the way, or whose answer
/// was lost, finds what it has put itself: the same bytes are no obstacle.
pub(crate) async fn put_own<S: Storage>(
    storage: &S,
    path: &Path,
    bytes: Bytes,
    durability: Durability<'_>,
) -> Result<Put> {
    let put = storage.put_if_absent(path, bytes.clone(), durability).await;
    if matches!(put, Ok(Put::Done)) {
        return put;
    }
    match storage.read(path, bytes.len() as u64).await {
        Ok(there) if there == bytes => Ok(Put::Done),
        _ => put,
    }
}

/// A path below a folder, for messages and for files beside others.
pub(crate) fn shown(path: &Path) -> String {
    path.display().to_string()
}

/// The same path without its extension.
pub(crate) fn stem(path: &Path) -> PathBuf {
    path.with_extension("")
}
