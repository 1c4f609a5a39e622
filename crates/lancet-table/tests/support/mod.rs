//! The manifests kept here, and the corpus of tables where it lies beside the repository.
#![allow(dead_code)] // not every test uses all of it

pub mod archive;

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
