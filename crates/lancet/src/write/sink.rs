//! Where the bytes of a new file go.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use crate::container::checksums::NewChecksums;
use crate::container::write::padding;
use crate::error::{Error, Result};
use crate::span::Span;

/// A writer that knows its position, so that buffers can be aligned and found again.
#[derive(Debug)]
pub(super) struct Sink<W> {
    inner: W,
    position: u64,
    /// Checksums of what was written so far, if they are wanted.
    checksums: Option<NewChecksums>,
}

impl<W: Write> Sink<W> {
    pub(super) fn new(inner: W, checksums: bool) -> Self {
        Self { inner, position: 0, checksums: checksums.then(NewChecksums::default) }
    }

    /// The checksums of all that was written, if they are wanted; what comes after this has none.
    pub(super) fn take_checksums(&mut self) -> Option<NewChecksums> {
        self.checksums.take()
    }

    pub(super) fn position(&self) -> u64 {
        self.position
    }

    /// Writes bytes as they are.
    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.inner.write_all(bytes).map_err(|e| Error::io("cannot write the file", e))?;
        self.position += bytes.len() as u64;
        if let Some(checksums) = &mut self.checksums {
            checksums.push(bytes);
        }
        Ok(())
    }

    /// Writes a buffer and pads to the alignment of the next one; returns where it lies.
    pub(super) fn write_buffer(&mut self, bytes: &[u8]) -> Result<Span> {
        let start = self.position;
        if let Some(checksums) = self.checksums.as_mut().filter(|_| !bytes.is_empty()) {
            checksums.add_buffer(start, bytes);
        }
        self.write(bytes)?;
        let span = Span::between(start, self.position);
        self.write(padding(self.position))?;
        Ok(span)
    }

    pub(super) fn into_inner(mut self) -> Result<W> {
        self.inner.flush().map_err(|e| Error::io("cannot write the file", e))?;
        Ok(self.inner)
    }
}

/// A file that appears under its name only when it is complete.
#[derive(Debug)]
pub struct NewFile {
    file: BufWriter<File>,
    /// Where the bytes go until then, beside the final name; `None` once renamed.
    temporary: Option<PathBuf>,
    path: PathBuf,
}

impl NewFile {
    pub(super) fn create(path: &Path) -> Result<Self> {
        let Some(name) = path.file_name() else {
            return Err(Error::invalid(format!("{} is not a file name", path.display())));
        };
        let (temporary, file) = create_beside(path, name)
            .map_err(|e| Error::io(format!("cannot create {}", path.display()), e))?;
        let file = BufWriter::with_capacity(1 << 20, file);
        Ok(Self { file, temporary: Some(temporary), path: path.to_owned() })
    }

    /// Makes the file appear under its name.
    pub(super) fn publish(mut self) -> Result<()> {
        let failed = |e| Error::io(format!("cannot finish {}", self.path.display()), e);
        self.file.flush().map_err(failed)?;
        self.file.get_ref().sync_data().map_err(failed)?;
        if let Some(temporary) = &self.temporary {
            fs::rename(temporary, &self.path).map_err(failed)?;
        }
        self.temporary = None;
        Ok(())
    }
}

/// Makes a new hidden file beside `path`. Its name tells the process, and which of its attempts.
fn create_beside(path: &Path, name: &OsStr) -> std::io::Result<(PathBuf, File)> {
    let mut attempt = 0_u32;
    loop {
        let mut hidden = OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".{}-{attempt}.tmp", std::process::id()));
        let temporary = path.with_file_name(hidden);
        match File::create_new(&temporary) {
            Ok(file) => return Ok((temporary, file)),
            // Another writer of this process, or what is left of one that was killed.
            Err(error) if error.kind() == ErrorKind::AlreadyExists && attempt < 1000 => {
                attempt += 1;
            }
            Err(error) => return Err(error),
        }
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.file.flush()
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            // Nothing can be done about a failure here, and the name says what the file is.
            let _ = fs::remove_file(temporary);
        }
    }
}

#[cfg(test)]
#[path = "sink_tests.rs"]
mod tests;
