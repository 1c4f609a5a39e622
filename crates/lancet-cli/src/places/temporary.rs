//! Files that go away.

use std::fs::{File, OpenOptions};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Those that are there now.
static ALL: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn all() -> MutexGuard<'static, Vec<PathBuf>> {
    ALL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file that is removed when this is dropped.
#[derive(Debug)]
pub struct Temporary {
    path: PathBuf,
}

impl Temporary {
    /// A file in the folder of the system for temporary ones, which nobody else can read or foresee.
    pub fn new(ending: &str) -> std::io::Result<(Self, File)> {
        // Seeded by the system.
        let random = RandomState::new().build_hasher().finish();
        let path = std::env::temp_dir().join(format!("lancet-{random:016x}.{ending}"));
        // Under the lock, so that none is made after all were removed.
        let mut all = all();
        let file = new_private(&path)?;
        all.push(path.clone());
        Ok((Self { path }, file))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes all there are, and lets none be made: for a program that is about to end.
    pub fn abandon_all() {
        let mut all = all();
        for path in all.drain(..) {
            let _ = std::fs::remove_file(path); // nothing can be done about a failure here
        }
        std::mem::forget(all);
    }
}

/// Never a file that is there already: in a folder of everybody, that could be a trap.
fn new_private(path: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path); // nothing can be done about a failure here
        all().retain(|path| *path != self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn temporary_files_go_away_and_have_names_of_their_own() {
        let (first, _file) = Temporary::new("csv").unwrap();
        let (second, _file) = Temporary::new("csv").unwrap();
        assert_ne!(first.path(), second.path());
        assert_eq!(first.path().extension().unwrap(), "csv");
        let path = first.path().to_owned();
        assert!(path.exists());
        drop(first);
        assert!(!path.exists());
    }
}
