//! Files mapped into memory: the feature `mmap`.

use bytes::Bytes;

use super::disk::FileSource;
use crate::error::{Error, Result};
use crate::read::options::ReadOptions;

impl ReadOptions {
    /// Maps files on disk into memory instead of reading them: nothing is copied that need not be
    /// decoded. Off by default; needs the feature `mmap`.
    ///
    /// # Safety
    ///
    /// Nobody may change or shorten the file while it is open. Bytes that change while they are
    /// looked at are undefined behaviour, and a file that is cut ends the process.
    #[must_use]
    #[expect(unsafe_code, reason = "what it asks of the caller no type can hold")]
    pub unsafe fn with_memory_map(mut self, memory_map: bool) -> Self {
        self.memory_map = memory_map;
        self
    }

    /// What [`ReadOptions::with_memory_map`] sets.
    pub fn memory_map(&self) -> bool {
        self.memory_map
    }
}

impl FileSource {
    /// The whole file, mapped into memory.
    #[expect(unsafe_code, reason = "what a mapping is")]
    pub(super) fn map(&self) -> Result<Bytes> {
        // SAFETY: the caller of `ReadOptions::with_memory_map` promises that nobody changes the file.
        let map = unsafe { memmap2::Mmap::map(&self.file) };
        let map = map.map_err(|e| Error::io(format!("cannot map {}", self.name), e))?;
        Ok(Bytes::from_owner(map))
    }
}
