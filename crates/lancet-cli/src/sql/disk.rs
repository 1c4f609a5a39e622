//! The files that a statement reads and writes.
//!
//! What it reads is what it saw first: a file that is replaced meanwhile is an error. What it writes
//! appears when it has ended well, and goes away otherwise. The formats of DataFusion ask for neither.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;
use datafusion::object_store::local::LocalFileSystem;
use datafusion::object_store::path::Path as Location;
use datafusion::object_store::{
    CopyOptions, Error, GetOptions, GetResult, GetResultPayload, ListResult, MultipartUpload,
    ObjectMeta, ObjectStore, PutMode, PutMultipartOptions, PutOptions, PutPayload, PutResult,
    Result,
};
use futures::StreamExt;
use futures::stream::BoxStream;
use lancet::NewFile;

use super::upload::Upload;
use crate::{error, input};

/// The file system, as the statement that runs may see it.
#[derive(Debug, Default)]
pub(super) struct Disk {
    files: LocalFileSystem,
    /// One for each statement: what is left of an earlier one does not get into the next.
    work: Mutex<Arc<Work>>,
}

/// What a statement has seen and written.
#[derive(Debug, Default)]
pub(super) struct Work(Mutex<Things>);

#[derive(Debug, Default)]
struct Things {
    /// The tags of files, as they were when they were first asked for.
    seen: HashMap<Location, String>,
    /// Files that may be read.
    looked_at: HashSet<Location>,
    written: Vec<NewFile>,
    /// Folders that were made for them.
    folders: Vec<PathBuf>,
    /// Why a file could not be written. Not all writers of DataFusion tell.
    failure: Option<String>,
}

impl Drop for Things {
    fn drop(&mut self) {
        self.written.clear();
        // Those that something is in stay.
        self.folders.iter().rev().for_each(|folder| drop(std::fs::remove_dir(folder)));
    }
}

/// A file that is not read, or not any further.
#[derive(Debug)]
pub(super) struct Refused {
    path: PathBuf,
    why: String,
}

/// It is not what it was when the statement began.
const CHANGED: &str = "has changed while it was read; run the statement again";

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.why)
    }
}

impl std::error::Error for Refused {}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Disk {
    /// A new statement. What another one has not published goes away.
    pub(super) fn begin(&self) {
        *locked(&self.work) = Arc::default();
    }

    /// Makes the files appear that the statement has written. They are on the disk when this returns.
    pub(super) fn publish(&self) -> error::Result<()> {
        let work = self.work();
        let mut things = locked(&work.0);
        for file in std::mem::take(&mut things.written) {
            file.publish().map_err(|error| error::Error::new(error.to_string()))?;
        }
        things.folders.clear();
        Ok(())
    }

    /// Why a file of the statement could not be written, if that is so.
    pub(super) fn failure(&self) -> Option<error::Error> {
        let work = self.work();
        let failure = locked(&work.0).failure.take();
        failure.map(error::Error::new)
    }

    fn work(&self) -> Arc<Work> {
        locked(&self.work).clone()
    }

    /// Starts a file, and the folders that it is in.
    fn create(&self, to: &Location, work: &Work) -> Result<NewFile> {
        let path = self.files.path_to_filesystem(to)?;
        if let Some(folder) = path.parent() {
            let shown = folder.display();
            work.make(folder).map_err(|e| work.fail(format!("cannot create {shown}: {e}")))?;
        }
        NewFile::create(&path).map_err(|error| work.fail(error))
    }

    fn refused(&self, location: &Location, why: impl Into<String>) -> Error {
        match self.files.path_to_filesystem(location) {
            Ok(path) => failed(Refused { path, why: why.into() }),
            Err(error) => error,
        }
    }

    /// Looks at a file before the first read of a statement.
    async fn look_at(&self, at: &Location, file: File, path: PathBuf, work: &Work) -> Result<()> {
        let look = move || {
            // Who reads it begins where this ends.
            let mut same = file.try_clone()?;
            let looked = input::look_at(file, &path);
            same.rewind().map(|()| looked)
        };
        let looked = tokio::task::spawn_blocking(look).await?.map_err(failed)?;
        if let Err(error::Error::Message(why) | error::Error::Usage(why)) = looked {
            return Err(self.refused(at, why));
        }
        locked(&work.0).looked_at.insert(at.clone());
        Ok(())
    }
}

impl Work {
    /// A file that is complete.
    pub(super) fn keep(&self, file: NewFile) {
        locked(&self.0).written.push(file);
    }

    /// A file that cannot be written.
    pub(super) fn fail(&self, error: impl fmt::Display) -> Error {
        let error = error.to_string();
        locked(&self.0).failure.get_or_insert_with(|| error.clone());
        failed(error)
    }

    /// Makes a folder. One at a time: a folder stands after those that it is in, whoever makes them.
    fn make(&self, folder: &Path) -> std::io::Result<()> {
        let mut things = locked(&self.0);
        let missing: Vec<&Path> =
            folder.ancestors().take_while(|folder| !folder.exists()).collect();
        std::fs::create_dir_all(folder)?;
        things.folders.extend(missing.into_iter().rev().map(Path::to_owned));
        Ok(())
    }

    fn saw(&self, object: &ObjectMeta) {
        if let Some(tag) = &object.e_tag {
            locked(&self.0).seen.entry(object.location.clone()).or_insert_with(|| tag.clone());
        }
    }
}

pub(super) fn failed(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
    Error::Generic { store: "file", source: error.into() }
}

impl fmt::Display for Disk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.files.fmt(f)
    }
}

#[async_trait]
impl ObjectStore for Disk {
    async fn put_opts(
        &self,
        to: &Location,
        bytes: PutPayload,
        options: PutOptions,
    ) -> Result<PutResult> {
        if options.mode != PutMode::Overwrite {
            let (operation, implementer) = ("put with a condition".into(), "lancet sql".into());
            return Err(Error::NotImplemented { operation, implementer });
        }
        let mut upload = self.put_multipart_opts(to, PutMultipartOptions::default()).await?;
        upload.put_part(bytes).await?;
        upload.complete().await
    }

    async fn put_multipart_opts(
        &self,
        to: &Location,
        _: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        let work = self.work();
        let file = self.create(to, &work)?;
        Ok(Box::new(Upload::new(format!("/{to}"), file, work)))
    }

    async fn get_opts(&self, from: &Location, mut options: GetOptions) -> Result<GetResult> {
        let work = self.work();
        let seen = locked(&work.0).seen.get(from).cloned();
        options.if_match = options.if_match.or(seen);
        let only_head = options.head;
        let found = self.files.get_opts(from, options).await;
        if let Err(Error::Precondition { .. }) = found {
            return Err(self.refused(from, CHANGED));
        }
        let found = found?;
        work.saw(&found.meta);
        if let GetResultPayload::File(file, path) = &found.payload
            && !only_head
            && !locked(&work.0).looked_at.contains(from)
        {
            let (file, path) = (file.try_clone().map_err(failed)?, path.clone());
            self.look_at(from, file, path, &work).await?;
        }
        Ok(found)
    }

    /// All of them from one descriptor.
    async fn get_ranges(&self, from: &Location, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        let found = self.get_opts(from, GetOptions::default()).await?;
        let GetResultPayload::File(mut file, _) = found.payload else {
            return Err(failed("the file system gave no file"));
        };
        let (meta, ranges) = (found.meta, ranges.to_vec());
        let read = tokio::task::spawn_blocking(move || {
            let read = read_all(&mut file, meta.size, &ranges);
            let now = file.metadata()?;
            // What was written into it before this has changed its time.
            let same = now.len() == meta.size && now.modified()? == meta.last_modified.into();
            std::io::Result::Ok(same.then_some(read))
        });
        match read.await?.map_err(failed)? {
            Some(read) => read.map_err(failed),
            None => Err(self.refused(from, CHANGED)),
        }
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, Result<Location>>,
    ) -> BoxStream<'static, Result<Location>> {
        self.files.delete_stream(locations)
    }

    fn list(&self, prefix: Option<&Location>) -> BoxStream<'static, Result<ObjectMeta>> {
        let work = self.work();
        let listed = self.files.list(prefix);
        listed.inspect(move |object| object.iter().for_each(|object| work.saw(object))).boxed()
    }

    async fn list_with_delimiter(&self, prefix: Option<&Location>) -> Result<ListResult> {
        let (work, listed) = (self.work(), self.files.list_with_delimiter(prefix).await?);
        listed.objects.iter().for_each(|object| work.saw(object));
        Ok(listed)
    }

    async fn copy_opts(&self, from: &Location, to: &Location, options: CopyOptions) -> Result<()> {
        self.files.copy_opts(from, to, options).await
    }
}

fn read_all(file: &mut File, size: u64, ranges: &[Range<u64>]) -> std::io::Result<Vec<Bytes>> {
    let mut read = |range: &Range<u64>| {
        let len = range.end.checked_sub(range.start).filter(|_| range.end <= size);
        let len = len.and_then(|len| usize::try_from(len).ok());
        let len = len.ok_or_else(|| std::io::Error::other("bytes lie outside of the file"))?;
        let mut bytes = vec![0; len];
        file.seek(SeekFrom::Start(range.start))?;
        file.read_exact(&mut bytes)?;
        Ok(bytes.into())
    };
    ranges.iter().map(&mut read).collect()
}

#[cfg(test)]
#[path = "disk_tests.rs"]
mod tests;
