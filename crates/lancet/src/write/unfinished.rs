//! The hidden files of this process, so that it can remove them when it has to end.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, MutexGuard};

use crate::parallel::{PerProcess, lock};

/// A child process has none: those of its parent are not its own to remove.
static UNFINISHED: LazyLock<PerProcess<Mutex<Unfinished>>> =
    LazyLock::new(|| PerProcess::new(Mutex::default()));

#[derive(Default)]
struct Unfinished {
    paths: Vec<PathBuf>,
    /// Whether the process is ending.
    ended: bool,
}

fn with<T>(act: impl FnOnce(MutexGuard<'_, Unfinished>) -> T) -> T {
    let here = UNFINISHED.here(Mutex::default);
    act(lock(&here))
}

/// Makes a file and notes it.
pub(super) fn create(path: &Path, make: impl FnOnce() -> io::Result<File>) -> io::Result<File> {
    // Under the lock, so that none is made after all were removed.
    with(|mut unfinished| {
        if unfinished.ended {
            return Err(io::Error::other("the program is ending"));
        }
        let file = make()?;
        unfinished.paths.push(path.to_owned());
        Ok(file)
    })
}

/// Forgets a file.
pub(super) fn remove(path: &Path) {
    with(|mut unfinished| unfinished.paths.retain(|other| other != path));
}

/// Removes all that were made, and lets none be made any more.
pub(super) fn abandon_all() {
    with(|mut unfinished| {
        unfinished.ended = true;
        for path in unfinished.paths.drain(..) {
            let _ = fs::remove_file(path); // it may be gone, or have got its name
        }
    });
}
