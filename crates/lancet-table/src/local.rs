//! Folders and small files on disk.

use std::fs::{self, File};
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;

use bytes::Bytes;

use crate::error::{Error, Result};

/// The names of the files in a folder; none if there is no such folder. Names that are not Unicode are none of a table.
pub(crate) fn list(folder: &Path) -> Result<Option<Vec<String>>> {
    let failed = |source| Error::Io { context: format!("list {}", folder.display()), source };
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    let mut names = Vec::new();
    for entry in entries {
        names.extend(entry.map_err(failed)?.file_name().into_string());
    }
    Ok(Some(names))
}

/// Bytes of the files in a folder, those in folders below left out; 0 if there is no such folder.
pub(crate) fn folder_bytes(folder: &Path) -> Result<u64> {
    let failed = |source| Error::Io { context: format!("list {}", folder.display()), source };
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(failed(error)),
    };
    let mut bytes = 0_u64;
    for entry in entries {
        let found = entry.and_then(|entry| entry.metadata()).map_err(failed)?;
        bytes = bytes.saturating_add(if found.is_file() { found.len() } else { 0 });
    }
    Ok(bytes)
}

/// A regular file and its size. Who opens a pipe waits for a writer, so its kind is asked for first.
pub(crate) fn open(path: &Path) -> Result<(File, u64)> {
    let failed = |source| Error::Io { context: format!("open {}", path.display()), source };
    if !fs::metadata(path).map_err(failed)?.is_file() {
        let source = std::io::Error::new(ErrorKind::InvalidInput, "it is not a regular file");
        return Err(failed(source));
    }
    let file = File::open(path).map_err(failed)?;
    let size = file.metadata().map_err(failed)?.len();
    Ok((file, size))
}

/// The bytes of a file, if they are not more than `max_bytes`.
pub(crate) fn read(path: &Path, max_bytes: u64) -> Result<Vec<u8>> {
    let (file, needed) = open(path)?;
    if needed > max_bytes {
        return Err(Error::Limit {
            file: path.display().to_string(),
            needed,
            limit: max_bytes,
            option: "max_metadata_bytes",
        });
    }
    let mut bytes = Vec::with_capacity(usize::try_from(needed).unwrap_or(0));
    let failed = |source| Error::Io { context: format!("read {}", path.display()), source };
    // A file that grows meanwhile is not followed.
    file.take(needed).read_to_end(&mut bytes).map_err(failed)?;
    Ok(bytes)
}

/// Some bytes of a file, and its size; fewer bytes if it ends before.
pub(crate) fn read_range(path: &Path, start: u64, len: u64) -> Result<(Bytes, u64)> {
    let (mut file, size) = open(path)?;
    let failed = |source| Error::Io { context: format!("read {}", path.display()), source };
    let there = size.saturating_sub(start).min(len);
    let mut bytes = Vec::with_capacity(usize::try_from(there).unwrap_or(0));
    file.seek(SeekFrom::Start(start)).map_err(failed)?;
    file.take(there).read_to_end(&mut bytes).map_err(failed)?;
    Ok((bytes.into(), size))
}
