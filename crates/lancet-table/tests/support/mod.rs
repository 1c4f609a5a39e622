//! The manifests kept here, and the corpus of tables where it lies beside the repository.
#![allow(dead_code)] // not every test uses all of it

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// The folder of these tests. Those of other crates use what lies here too.
fn here() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../lancet-table/tests")
}

/// A file of the corpus, where it is there.
pub fn shared(path: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/golden").join(path);
    path.exists().then_some(path)
}

pub fn kept(name: &str) -> PathBuf {
    here().join("manifests").join(name)
}

pub fn json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// The files of a tar archive by their names.
pub fn unpack(tar: &Path) -> BTreeMap<String, Vec<u8>> {
    let bytes = fs::read(tar).unwrap();
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

/// The version files of a table in an archive: their names, without the folder.
pub fn version_files<'a>(
    files: &'a BTreeMap<String, Vec<u8>>,
    root: &str,
) -> BTreeMap<&'a str, &'a [u8]> {
    let folder = format!("{root}/_versions/");
    let below = |(path, bytes): (&'a String, &'a Vec<u8>)| {
        Some((path.strip_prefix(folder.as_str())?, bytes.as_slice()))
    };
    files.iter().filter_map(below).collect()
}

/// Writes the files of an archive into a folder.
pub fn write_into(files: &BTreeMap<String, Vec<u8>>, folder: &Path) {
    for (name, bytes) in files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
}

/// The tables that are kept here, and all of the corpus where it is there: the index and the folder it lies in.
pub fn indexes() -> Vec<(Value, PathBuf)> {
    let kept = here().join("tables/index.json");
    let shared = shared("tables/index.json");
    if shared.is_none() {
        println!("the whole corpus is not here; only the kept tables run");
    }
    let indexes = std::iter::once(kept).chain(shared);
    indexes.map(|index| (json(&index), index.parent().unwrap().to_owned())).collect()
}
