//! Tables of the reference that are kept beside the crate of tables, and the whole corpus where it is there.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

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

/// The files of an archive by their names.
pub fn unpack(tar: &Path) -> BTreeMap<String, Vec<u8>> {
    let bytes = std::fs::read(tar).unwrap();
    let text = |field: &[u8]| {
        let end = field.iter().position(|b| *b == 0).unwrap_or(field.len());
        String::from_utf8(field[..end].to_vec()).unwrap()
    };
    let mut files = BTreeMap::new();
    let mut at = 0;
    while at + 512 <= bytes.len() && bytes[at] != 0 {
        let header = &bytes[at..at + 512];
        let size = usize::from_str_radix(text(&header[124..136]).trim(), 8).unwrap();
        let data = at + 512;
        if matches!(header[156], b'0' | 0) {
            files.insert(text(&header[..100]), bytes[data..data + size].to_vec());
        }
        at = data + size.next_multiple_of(512);
    }
    files
}

/// Writes the files of an archive into a folder.
pub fn write_into(files: &BTreeMap<String, Vec<u8>>, folder: &Path) {
    for (name, bytes) in files {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
}
