//! Tables of the reference that are kept beside the crate of tables, and the whole corpus where it is there.

#[path = "../../../lancet-table/tests/support/archive.rs"]
mod archive;

use std::path::{Path, PathBuf};

pub use archive::{unpack, write_into};

/// The archives of the tables that are kept in the repository.
pub fn kept() -> Vec<PathBuf> {
    archives(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../lancet-table/tests/tables"))
}

/// Those, and all of the corpus where it is there.
pub fn all() -> Vec<PathBuf> {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/golden/tables");
    let mut all = kept();
    all.extend(archives(&shared));
    all
}

fn archives(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut found: Vec<_> =
        paths.filter(|path| path.extension().is_some_and(|e| e == "tar")).collect();
    found.sort();
    found
}

/// The name of a table.
pub fn name(tar: &Path) -> &str {
    tar.file_stem().unwrap().to_str().unwrap()
}
