//! Files on disk that appear when they are complete.
//!
//! | when | what happens |
//! |---|---|
//! | [`NewFile::create`] | a hidden file beside the final name, that nobody can have foreseen, and a lock on it |
//! | [`NewFile::publish`] | its bytes reach the disk, it gets its name, the folder reaches the disk |
//! | [`NewFile::publish_unsynced`] | it gets its name; the rest is done by the caller |
//! | it is dropped before | the hidden file goes away |
//! | the process forks | the file stays its own: a child neither writes to it nor removes it |
//! | the process is killed | the hidden file stays, without a lock: [`NewFile::leftovers`] |

use std::ffi::OsStr;
use std::fs::{self, File, Metadata, OpenOptions};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process;

use super::{sync, unfinished};
use crate::error::{Error, Result};

/// What hidden names end with.
const ENDING: &str = ".lancet-part";

/// Bytes of the final name that a hidden one repeats: names end at 255 bytes.
const NAME_BYTES: usize = 200;

/// A file that appears under its name only when it is complete.
///
/// A link keeps leading where it leads: the file there is replaced. The new file has the permissions
/// of the old one.
///
/// ```
/// use std::io::Write;
///
/// use lancet::NewFile;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let path = std::env::temp_dir().join(format!("note-{}.txt", std::process::id()));
/// let mut file = NewFile::create(&path)?;
/// file.write_all(b"all of it")?;
/// assert!(!path.exists());
/// assert_eq!(file.publish()?, 9); // or an error, and nothing under the name
/// assert_eq!(std::fs::read(&path)?, b"all of it");
/// # std::fs::remove_file(path)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct NewFile {
    file: BufWriter<Disk>,
    /// Where the bytes go until then, beside the final name; `None` once renamed.
    temporary: Option<PathBuf>,
    /// The final name; not that of a link to it.
    path: PathBuf,
    bytes: u64,
    /// Whether bytes are missing, whatever the caller made of the error.
    failed: bool,
}

impl NewFile {
    /// Starts a file. Whatever has the name already stays until [`NewFile::publish`]; what is not a
    /// file, such as a folder, a pipe or a device, is refused.
    pub fn create(path: &Path) -> Result<Self> {
        let Some(name) = path.file_name() else {
            return Err(Error::invalid(format!("{} is not a file name", path.display())));
        };
        let failed = |e| Error::io(format!("cannot create {}", path.display()), e);
        let (path, name, old) = match old_file(path).map_err(failed)? {
            Some((file, old)) => {
                (file.clone(), file.file_name().unwrap_or(name).to_owned(), Some(old))
            }
            None => (path.to_owned(), name.to_owned(), None),
        };
        let (temporary, file) = create_beside(&path, &name, old.as_ref()).map_err(failed)?;
        let file = BufWriter::with_capacity(1 << 20, Disk::new(file));
        Ok(Self { file, temporary: Some(temporary), path, bytes: 0, failed: false })
    }

    /// Makes the file appear under its name. When this returns its size, all of it is on the disk.
    pub fn publish(mut self) -> Result<u64> {
        self.finish().map_err(|e| Error::io(format!("cannot finish {}", self.path.display()), e))
    }

    /// [`NewFile::publish`] without waiting for the disk, for whoever makes several files and waits once: the file that is
    /// returned has its name, and is to be synced ([`sync_all`](crate::sync_all)), and then its folder.
    pub fn publish_unsynced(mut self) -> Result<File> {
        let finished = self.finish_unsynced();
        finished.map_err(|e| Error::io(format!("cannot finish {}", self.path.display()), e))
    }

    fn finish_unsynced(&mut self) -> io::Result<File> {
        self.flush_all()?;
        let file = self.file.get_ref().file.try_clone()?;
        // Until somebody waits for it, the disk has something to do.
        sync::begin(&file);
        self.rename()?;
        Ok(file)
    }

    fn flush_all(&mut self) -> io::Result<()> {
        self.file.get_ref().check_process()?;
        if self.failed {
            return Err(io::Error::other("a write failed before"));
        }
        self.file.flush()
    }

    fn rename(&mut self) -> io::Result<()> {
        if let Some(temporary) = &self.temporary {
            attempt(Step::Rename, || fs::rename(temporary, &self.path))?;
            unfinished::remove(temporary);
        }
        self.temporary = None;
        Ok(())
    }

    fn finish(&mut self) -> io::Result<u64> {
        self.flush_all()?;
        attempt(Step::Sync, || self.file.get_ref().file.sync_all())?;
        let folder = attempt(Step::OpenFolder, || open_folder(&self.path))?;
        self.rename()?;
        attempt(Step::SyncFolder, || sync_folder(folder))?;
        Ok(self.bytes)
    }

    /// Hidden files in `folder` that no process is writing any more: what is left of processes that
    /// were killed.
    pub fn leftovers(folder: &Path) -> io::Result<Vec<PathBuf>> {
        let mut leftovers = Vec::new();
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            if is_hidden_name(&entry.file_name()) && is_abandoned(&entry.path()) {
                leftovers.push(entry.path());
            }
        }
        leftovers.sort();
        Ok(leftovers)
    }

    /// Removes the hidden files of all unfinished files of this process, and lets it start no others:
    /// for a program that is about to end in the middle of its work, on a signal say.
    pub fn abandon_all() {
        unfinished::abandon_all();
    }
}

/// What the system is asked for. Tests have each of it fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Create,
    Write,
    Sync,
    OpenFolder,
    Rename,
    SyncFolder,
}

#[cfg(not(test))]
fn attempt<T>(_: Step, act: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    act()
}

#[cfg(test)]
use tests::attempt;

/// An open file of one process. Its writes may fail in tests.
#[derive(Debug)]
struct Disk {
    file: File,
    process: u32,
}

impl Disk {
    fn new(file: File) -> Self {
        Self { file, process: process::id() }
    }

    /// A child process has what was not written yet, too, and the same place in the file.
    fn check_process(&self) -> io::Result<()> {
        if self.process == process::id() {
            return Ok(());
        }
        Err(io::Error::other("a file is written by the process that has begun it"))
    }
}

impl Write for Disk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.check_process()?;
        attempt(Step::Write, || self.file.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// The file at a path, or where the link there leads, if there is one.
fn old_file(path: &Path) -> io::Result<Option<(PathBuf, Metadata)>> {
    let is_link = match fs::symlink_metadata(path) {
        Ok(there) => there.is_symlink(),
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    // The system follows the link here, unless it is one of those that it does not trust.
    let old = match fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound && is_link => {
            return Err(io::Error::other("it is a link that leads nowhere; remove it first"));
        }
        old => old?,
    };
    if !old.is_file() {
        let what = if old.is_dir() { "it is a folder" } else { "it is not a file" };
        return Err(io::Error::other(what));
    }
    let path = if is_link { fs::canonicalize(path)? } else { path.to_owned() };
    Ok(Some((path, old)))
}

/// Makes a hidden file beside `path` that was not there before, with the permissions of `old`.
fn create_beside(path: &Path, name: &OsStr, old: Option<&Metadata>) -> io::Result<(PathBuf, File)> {
    let name = name.to_string_lossy();
    let name = name.get(..name.floor_char_boundary(NAME_BYTES)).unwrap_or_default();
    // Seeded by the system.
    let random = RandomState::new().build_hasher().finish();
    let temporary = path.with_file_name(format!(".{name}.{random:016x}{ENDING}"));
    let file =
        unfinished::create(&temporary, || attempt(Step::Create, || create_new(&temporary, old)))?;
    // Held for as long as the file is open. Some file systems know no locks.
    let _ = file.try_lock();
    Ok((temporary, file))
}

/// Never a file that is there already, and never through a link: either could be a trap.
fn create_new(path: &Path, old: Option<&Metadata>) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if let Some(old) = old {
        use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
        let mode = old.permissions().mode() & 0o777;
        let file = options.mode(mode).open(path)?;
        // Not of all file systems; there the new file can be read by fewer people.
        let _ = file.set_permissions(PermissionsExt::from_mode(mode));
        return Ok(file);
    }
    #[cfg(not(unix))]
    let _ = old;
    options.open(path)
}

/// The folder of a file, as far as it is to be synced.
#[cfg(unix)]
fn open_folder(path: &Path) -> io::Result<Option<File>> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    match File::open(folder.unwrap_or(Path::new("."))) {
        // One may write to folders that one may not read.
        Err(error) if error.kind() == ErrorKind::PermissionDenied => Ok(None),
        folder => folder.map(Some),
    }
}

/// Elsewhere folders cannot be opened, and names are kept by the system.
#[cfg(not(unix))]
fn open_folder(_: &Path) -> io::Result<Option<File>> {
    Ok(None)
}

fn sync_folder(folder: Option<File>) -> io::Result<()> {
    match folder.map_or(Ok(()), |folder| folder.sync_all()) {
        // Some file systems have nothing to sync there.
        Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) => {
            Ok(())
        }
        synced => synced,
    }
}

/// `.NAME.0123456789abcdef.lancet-part`
fn is_hidden_name(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    let Some(name) = name.strip_prefix('.').and_then(|name| name.strip_suffix(ENDING)) else {
        return false;
    };
    let Some((_, random)) = name.rsplit_once('.') else { return false };
    random.len() == 16 && random.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Whether nobody holds the lock of a file.
fn is_abandoned(path: &Path) -> bool {
    // A pipe of this name would be waited for.
    let is_file = fs::symlink_metadata(path).is_ok_and(|there| there.is_file());
    is_file && File::open(path).is_ok_and(|file| file.try_lock_shared().is_ok())
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes);
        let written = self.note(written)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.file.flush();
        self.note(flushed)
    }
}

impl NewFile {
    fn note<T>(&mut self, done: io::Result<T>) -> io::Result<T> {
        self.failed |= done.as_ref().is_err_and(|e| e.kind() != ErrorKind::Interrupted);
        done
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        let is_ours = self.file.get_ref().check_process().is_ok();
        if let Some(temporary) = self.temporary.as_ref().filter(|_| is_ours) {
            // Nothing can be done about a failure here, and the name says what the file is.
            let _ = fs::remove_file(temporary);
            unfinished::remove(temporary);
        }
    }
}

#[cfg(test)]
#[path = "new_file_tests.rs"]
mod tests;
