//! Where the bytes of a new file go.

use std::io::Write;

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

#[cfg(test)]
#[path = "sink_tests.rs"]
mod tests;
