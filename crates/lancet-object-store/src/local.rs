//! Files on disk: one descriptor for all reads, whatever happens to the name meanwhile.

use std::fs::File;
use std::io;
use std::sync::Arc;
use std::time::SystemTime;

use bytes::Bytes;
use lancet::Span;
use object_store::ObjectMeta;

use crate::together::Together;

/// A file as it was when it was opened.
#[derive(Debug)]
pub(crate) struct LocalFile {
    file: File,
    size: u64,
    modified: SystemTime,
}

/// Why bytes of a file could not be read.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Somebody has written into it.
    Changed,
    Io(io::Error),
}

impl LocalFile {
    /// The file that a store opened, and what it said of it.
    pub(crate) fn new(file: File, object: &ObjectMeta) -> Self {
        Self { file, size: object.size, modified: object.last_modified.into() }
    }

    /// The bytes of all spans, each with its number.
    pub(crate) async fn read(
        self: &Arc<Self>,
        requests: Vec<Together>,
    ) -> Result<Vec<(usize, Bytes)>, Failure> {
        let file = self.clone();
        let read = move || file.read_now(&requests);
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => match runtime.spawn_blocking(read).await {
                Ok(read) => read,
                Err(error) => Err(Failure::Io(io::Error::other(error))),
            },
            Err(_) => read(),
        }
    }

    fn read_now(&self, requests: &[Together]) -> Result<Vec<(usize, Bytes)>, Failure> {
        let mut found = Vec::new();
        for one in requests {
            match self.read_span(&one.span) {
                Ok(bytes) => found.extend(one.cut(&bytes)),
                Err(error) => {
                    self.check()?;
                    return Err(Failure::Io(error));
                }
            }
        }
        // What was written before this has changed the time.
        self.check()?;
        Ok(found)
    }

    fn check(&self) -> Result<(), Failure> {
        let now = self.file.metadata().map_err(Failure::Io)?;
        let same = now.len() == self.size && now.modified().ok() == Some(self.modified);
        if same { Ok(()) } else { Err(Failure::Changed) }
    }

    fn read_span(&self, span: &Span) -> io::Result<Bytes> {
        let len = usize::try_from(span.len()).ok().filter(|_| span.end() <= self.size);
        let mut bytes = vec![0; len.ok_or(io::ErrorKind::UnexpectedEof)?];
        fill(&self.file, &mut bytes, span.start())?;
        Ok(bytes.into())
    }
}

#[cfg(unix)]
fn fill(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, at)
}

#[cfg(windows)]
fn fill(file: &File, mut bytes: &mut [u8], mut at: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, bytes, at)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            read => {
                bytes = bytes.split_at_mut(read).1;
                at = at.saturating_add(read as u64);
            }
        }
    }
    Ok(())
}
