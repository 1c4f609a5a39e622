//! Folders and small files on disk.
//!
//! A new file gets its bytes under a temporary name, `.tmp` and random digits, and then its own: whoever sees it sees all of
//! it. `link` gives it a name that must not be taken; a rename would replace the file of somebody else. Only a file on which nothing
//! depends is written under its own name, and not waited for: that of a transaction, which stands in its version, too.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use bytes::Bytes;
use lancet::{FileSource, Source as _, Span};

use crate::blobs::outside;
use crate::error::{Error, Result};
use crate::files::in_data_file;
use crate::names::VERSIONS_DIR;
use crate::random;
use crate::storage::{Durability, Entry, Put, Unsynced};

/// The names of the files in a folder; none if there is no such folder. Names that are not Unicode are none of a table.
pub(crate) fn list(folder: &Path) -> Result<Option<Vec<String>>> {
    let failed = |source| Error::Io { context: format!("list {}", folder.display()), source };
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(source) => {
            let table = folder.parent().filter(|_| folder.ends_with(VERSIONS_DIR));
            return Err(match table.filter(|table| table.is_file()) {
                Some(file) => {
                    let context = format!("{}: a table is a folder", file.display());
                    Error::Io { context, source }
                }
                None => failed(source),
            });
        }
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

/// A regular file.
pub(crate) fn open(path: &Path) -> Result<FileSource> {
    FileSource::open(path).map_err(|error| not_opened(path, error))
}

/// Why a file of a table could not be opened. A pipe among them is damage of the table, not a mistake of the caller.
pub(crate) fn not_opened(path: &Path, error: lancet::Error) -> Error {
    match error {
        lancet::Error::Invalid(_) if path.metadata().is_ok_and(|found| !found.is_file()) => {
            let rule = "it is not a regular file, as those of a table are".into();
            Error::Corrupt { file: path.display().to_string(), rule }
        }
        error => in_data_file(path, error),
    }
}

/// The bytes of a file, if they are not more than `max_bytes`.
pub(crate) fn read(path: &Path, max_bytes: u64) -> Result<Vec<u8>> {
    let source = open(path)?;
    let (mut file, needed) = (source.file(), source.size_bytes());
    if needed > max_bytes {
        return Err(Error::Limit {
            file: path.display().to_string(),
            needed,
            limit: max_bytes,
            option: "max_metadata_bytes",
        });
    }
    // A file that grows meanwhile is not followed; one that shrinks is what it is.
    let mut bytes = vec![0; usize::try_from(needed).unwrap_or(0)];
    let mut filled = 0_usize;
    while let Some(room) = bytes.get_mut(filled..).filter(|room| !room.is_empty()) {
        match file.read(room) {
            Ok(0) => break,
            Ok(read) => filled = filled.saturating_add(read),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(failed("read", path)(error)),
        }
    }
    bytes.truncate(filled);
    Ok(bytes)
}

/// Some bytes of a file, and its size; fewer bytes if it ends before.
pub(crate) fn read_range(path: &Path, start: u64, len: u64) -> Result<(Bytes, u64)> {
    let source = open(path)?;
    let (mut file, size) = (source.file(), source.size_bytes());
    let failed = |source| Error::Io { context: format!("read {}", path.display()), source };
    let there = size.saturating_sub(start).min(len);
    let mut bytes = Vec::with_capacity(usize::try_from(there).unwrap_or(0));
    file.seek(SeekFrom::Start(start)).map_err(failed)?;
    file.take(there).read_to_end(&mut bytes).map_err(failed)?;
    Ok((bytes.into(), size))
}

/// The bytes of blobs in a file, which is opened once for all of them.
pub(crate) fn read_spans(path: &Path, spans: &[Span]) -> Result<Vec<Bytes>> {
    let source = open(path)?;
    let size = source.size_bytes();
    if let Some(span) = spans.iter().find(|span| span.end() > size) {
        return Err(outside(path, size, span.start(), span.len()));
    }
    Ok(source.read_scattered(spans)?)
}

fn failed(what: &str, path: &Path) -> impl FnOnce(io::Error) -> Error {
    let context = format!("{what} {}", path.display());
    |source| Error::Io { context, source }
}

/// Makes the folder of a file, and those above it. Their names reach the disk.
pub(crate) fn create_folder_of(path: &Path) -> Result<()> {
    let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) else {
        return Ok(());
    };
    if folder.is_dir() {
        return Ok(());
    }
    create_folder_of(folder)?;
    match fs::create_dir(folder) {
        // Somebody else was faster.
        Err(error) if error.kind() == ErrorKind::AlreadyExists && folder.is_dir() => Ok(()),
        made => made.map_err(failed("create", folder)),
    }?;
    sync_folder(folder.parent().unwrap_or(Path::new("")))
}

/// The name of a file that goes away when it does not get another one.
pub(crate) struct Temporary {
    name: PathBuf,
    file: File,
}

impl Temporary {
    /// A file with these bytes beside `path`.
    fn beside(path: &Path, bytes: &[u8]) -> Result<Self> {
        create_folder_of(path)?;
        let name = path.with_file_name(format!(".tmp{}", random::hex()));
        let failed = |source| failed("write", &name)(source);
        let mut file =
            OpenOptions::new().write(true).create_new(true).open(&name).map_err(failed)?;
        let written = file.write_all(bytes);
        let temporary = Self { name: name.clone(), file };
        written.map_err(failed)?;
        Ok(temporary)
    }

    fn synced(self, durability: &mut Durability<'_>) -> Result<Self> {
        match durability {
            Durability::Synced => self.file.sync_all().map_err(failed("write", &self.name))?,
            Durability::Behind(others) => sync(std::mem::take(&mut **others), Some(&self))?,
            Durability::Later(_) | Durability::Unsynced => {}
        }
        Ok(self)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // It may have got its name; else its own says what it is.
        let _ = fs::remove_file(&self.name);
    }
}

/// Makes a file appear as a whole, unless its name is taken.
pub(crate) fn put_if_absent(
    path: &Path,
    bytes: &[u8],
    mut durability: Durability<'_>,
) -> Result<Put> {
    if matches!(durability, Durability::Unsynced) {
        return put_unsynced(path, bytes);
    }
    let temporary = Temporary::beside(path, bytes)?.synced(&mut durability)?;
    if let Durability::Later(unsynced) = durability {
        // Before it is there: who is told that it is not may find that it is.
        let file = temporary.file.try_clone().map_err(failed("create", path))?;
        unsynced.add(path, Some(file));
    }
    match fs::hard_link(&temporary.name, path) {
        Ok(()) => Ok(Put::Done),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(Put::Taken),
        Err(error) if has_no_links(&error) => Err(Error::Unsupported {
            file: path.display().to_string(),
            what: "the file system has no hard links, without which two writers could overwrite \
                   each other's versions"
                .into(),
        }),
        Err(error) => Err(failed("create", path)(error)),
    }
}

/// Makes a file on which nothing depends: whoever sees it before its end, or after a crash, does without it.
fn put_unsynced(path: &Path, bytes: &[u8]) -> Result<Put> {
    create_folder_of(path)?;
    match OpenOptions::new().write(true).create_new(true).open(path) {
        Ok(mut file) => {
            let written = file.write_all(bytes);
            if written.is_err() {
                let _ = fs::remove_file(path);
            }
            written.map(|()| Put::Done).map_err(failed("write", path))
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(Put::Taken),
        Err(error) => Err(failed("create", path)(error)),
    }
}

/// Whether a file system says that it has no hard links. FAT and some of those in user space call that "not permitted", which
/// is another error than that of a folder that one may not write to.
fn has_no_links(error: &io::Error) -> bool {
    const EPERM: i32 = 1;
    error.kind() == ErrorKind::Unsupported || (cfg!(unix) && error.raw_os_error() == Some(EPERM))
}

/// Puts a file in the place of the one with its name.
pub(crate) fn replace(path: &Path, bytes: &[u8], mut durability: Durability<'_>) -> Result<()> {
    let temporary = Temporary::beside(path, bytes)?.synced(&mut durability)?;
    fs::rename(&temporary.name, path).map_err(failed("replace", path))
}

/// Makes sure that files stay, with their names, and one more that has none yet.
pub(crate) fn sync(unsynced: Unsynced, nameless: Option<&Temporary>) -> Result<()> {
    let (mut files, mut folders) = (Vec::new(), BTreeSet::new());
    let mut what = nameless.map(|temporary| temporary.name.clone()).unwrap_or_default();
    for (path, file) in unsynced.files {
        files.extend(file);
        folders.extend(path.parent().map(Path::to_owned));
        what = path;
    }
    if let Some(temporary) = nameless {
        files.push(temporary.file.try_clone().map_err(failed("write", &temporary.name))?);
    }
    lancet::sync_all(&files).map_err(failed("write", &what))?;
    folders.iter().try_for_each(|folder| sync_folder(folder))
}

/// Removes a file, if it is there.
pub(crate) fn delete(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed.map_err(failed("remove", path)),
    }
}

/// Makes sure that the names in a folder stay. One that is not there has none.
#[cfg(unix)]
pub(crate) fn sync_folder(folder: &Path) -> Result<()> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    match File::open(folder).and_then(|folder| folder.sync_all()) {
        // One may write to folders that one may not read, and some file systems have nothing to sync there.
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::NotFound
                    | ErrorKind::PermissionDenied
                    | ErrorKind::InvalidInput
                    | ErrorKind::Unsupported
            ) =>
        {
            Ok(())
        }
        synced => synced.map_err(failed("sync", folder)),
    }
}

/// Elsewhere folders cannot be opened, and names are kept by the system.
#[cfg(not(unix))]
pub(crate) fn sync_folder(_: &Path) -> Result<()> {
    Ok(())
}

/// The path of a folder from the top, as text: links and steps up are resolved.
pub(crate) fn absolute(folder: &Path) -> Result<String> {
    let path = fs::canonicalize(folder).map_err(failed("find", folder))?;
    path.into_os_string().into_string().map_err(|path| {
        let path = Path::new(&path).display();
        Error::invalid(format!("{path}: the path is not Unicode, so that no table can refer to it"))
    })
}

/// All files below a folder, at any depth. Links are not followed.
pub(crate) fn entries(folder: &Path) -> Result<Vec<Entry>> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(below) = folders.pop() {
        let path = folder.join(&below);
        let listed = match fs::read_dir(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            listed => listed.map_err(failed("list", &path))?,
        };
        for entry in listed {
            let entry = entry.map_err(failed("list", &path))?;
            let path = below.join(entry.file_name());
            let known = match entry.metadata() {
                // Somebody else has removed it.
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                known => known.map_err(failed("look at", &folder.join(&path)))?,
            };
            if known.is_dir() {
                folders.push(path);
            } else if known.is_file() {
                // A file whose age nobody knows may be new, and must not be cleaned up.
                let modified = known.modified().unwrap_or_else(|_| SystemTime::now());
                found.push(Entry { path, bytes: known.len(), modified });
            }
        }
    }
    found.sort_unstable_by(|one, other| one.path.cmp(&other.path));
    Ok(found)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn file_systems_without_links_are_told_from_folders_of_others() {
        let says = |code: i32| has_no_links(&io::Error::from_raw_os_error(code));
        // EPERM; EACCES, ENOSPC, EIO.
        assert!(says(1));
        assert!(!says(13) && !says(28) && !says(5));
        assert!(has_no_links(&ErrorKind::Unsupported.into()));
    }
}
