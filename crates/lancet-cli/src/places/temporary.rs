//! Files that go away.

use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// A file that is removed when this is dropped, unless it has got its final name before.
#[derive(Debug)]
pub struct Temporary {
    path: PathBuf,
    renamed: bool,
}

impl Temporary {
    /// A hidden file beside `path`, which it can replace at once: they share a disk.
    pub fn beside(path: &Path) -> std::io::Result<(Self, File)> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let path = path.with_file_name(format!(".{name}.{}.part", std::process::id()));
        let file = File::create(&path)?;
        Ok((Self { path, renamed: false }, file))
    }

    /// A file in the folder of the system for temporary ones, which nobody else can read.
    pub fn anywhere(ending: &str) -> std::io::Result<(Self, File)> {
        let folder = std::env::temp_dir();
        let mut attempt = 0_u32;
        loop {
            let name = format!("lancet-{}-{attempt}.{ending}", std::process::id());
            let path = folder.join(name);
            match new_private(&path) {
                Ok(file) => return Ok((Self { path, renamed: false }, file)),
                // Another one of this process, or what is left of one that was killed.
                Err(e) if e.kind() == ErrorKind::AlreadyExists && attempt < 10_000 => attempt += 1,
                Err(error) => return Err(error),
            }
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Gives it its final name. Returns its size.
    pub fn rename(mut self, path: &Path) -> std::io::Result<u64> {
        std::fs::rename(&self.path, path)?;
        self.renamed = true;
        Ok(path.metadata()?.len())
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
        if !self.renamed {
            let _ = std::fs::remove_file(&self.path); // nothing can be done about a failure here
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn temporary_files_go_away_and_have_names_of_their_own() {
        let (first, _file) = Temporary::anywhere("csv").unwrap();
        let (second, _file) = Temporary::anywhere("csv").unwrap();
        assert_ne!(first.path(), second.path());
        assert_eq!(first.path().extension().unwrap(), "csv");
        let path = first.path().to_owned();
        assert!(path.exists());
        drop(first);
        assert!(!path.exists());
    }
}
