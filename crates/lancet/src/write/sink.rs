//! Where the bytes of a new file go.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::container::write::padding;
use crate::error::{Error, Result};

/// A writer that knows its position, so that buffers can be aligned and found again.
#[derive(Debug)]
pub(super) struct Sink<W> {
    inner: W,
    position: u64,
}

impl<W: Write> Sink<W> {
    pub(super) fn new(inner: W) -> Self {
        Self { inner, position: 0 }
    }

    pub(super) fn position(&self) -> u64 {
        self.position
    }

    /// Writes bytes as they are.
    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.inner.write_all(bytes).map_err(|e| Error::io("cannot write the file", e))?;
        self.position += bytes.len() as u64;
        Ok(())
    }

    /// Writes a buffer and pads to the alignment of the next one; returns where it starts.
    pub(super) fn write_buffer(&mut self, bytes: &[u8]) -> Result<u64> {
        let start = self.position;
        self.write(bytes)?;
        self.write(padding(self.position))?;
        Ok(start)
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
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".{}.tmp", std::process::id()));
        let temporary = path.with_file_name(hidden);
        let file = File::create(&temporary)
            .map_err(|e| Error::io(format!("cannot create {}", path.display()), e))?;
        let file = BufWriter::with_capacity(1 << 20, file);
        Ok(Self { file, temporary: Some(temporary), path: path.to_owned() })
    }

    /// Makes the file appear under its name.
    pub(super) fn publish(mut self) -> Result<()> {
        let failed = |e| Error::io(format!("cannot finish {}", self.path.display()), e);
        self.file.flush().map_err(failed)?;
        self.file.get_ref().sync_data().map_err(failed)?;
        if let Some(temporary) = self.temporary.take() {
            fs::rename(&temporary, &self.path).map_err(failed)?;
        }
        Ok(())
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
