//! Where the files of a table are, as the reads see it.
//!
//! Reads are written once, as `async` functions over a [`Storage`]. On disk nothing is ever waited for: the futures are
//! ready when they are first polled, and [`ready`] is all the runtime there is. A store waits for its answers, in the
//! runtime of the caller.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use arrow_array::RecordBatch;
use bytes::Bytes;
use lancet::{FileReader, OpenFile, Projection, ReadOptions, Request, Rows};

use crate::error::{Error, Result};
use crate::files::in_data_file;
use crate::local;

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

    async fn open(&self, path: &Path, options: &ReadOptions) -> Result<FileReader> {
        FileReader::open_with(path, options.clone()).map_err(|error| in_data_file(path, error))
    }

    async fn reopen(&self, path: &Path, file: Arc<OpenFile>) -> Result<FileReader> {
        FileReader::from_file(file, path).map_err(|error| in_data_file(path, error))
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
}

/// The result of a future that waits for nothing.
pub(crate) fn ready<T>(future: impl Future<Output = Result<T>>) -> Result<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => result,
        Poll::Pending => Err(Error::invalid("a read on disk waits for something")),
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
