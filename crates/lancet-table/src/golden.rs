//! The tables of the corpus, for unit tests: those that are kept here, and all of them where they lie beside the repository.

#[path = "../tests/support/mod.rs"]
mod support;

use std::collections::BTreeMap;

pub(crate) use support::indexes;

use crate::manifest::Limits;
use crate::version_file::VersionFile;

/// The files of every table that is sound, by the names of their archives.
pub(crate) fn tables() -> Vec<(String, BTreeMap<String, Vec<u8>>)> {
    let mut tables = BTreeMap::new();
    for (_, folder) in indexes() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            if name.ends_with(".tar") && !name.starts_with("broken_") {
                tables.insert(name, support::archive::unpack(&path));
            }
        }
    }
    tables.into_iter().collect()
}

/// All version files of these tables, by their paths.
pub(crate) fn version_files() -> Vec<(String, Vec<u8>)> {
    let files = tables().into_iter().flat_map(|(name, files)| {
        let versions = files.into_iter().filter(|(path, _)| path.ends_with(".manifest"));
        versions.map(move |(path, bytes)| (format!("{name}/{path}"), bytes)).collect::<Vec<_>>()
    });
    files.collect()
}

/// The version files of each table of the corpus, by table and version.
pub(crate) fn histories() -> BTreeMap<String, BTreeMap<u64, VersionFile>> {
    let mut histories: BTreeMap<String, BTreeMap<u64, VersionFile>> = BTreeMap::new();
    for (path, bytes) in version_files() {
        let file = VersionFile::parse(&path, bytes.into(), &Limits::default()).unwrap();
        let (folder, name) = path.rsplit_once('/').unwrap();
        if !name.starts_with('d') {
            histories.entry(folder.into()).or_default().insert(file.manifest.version, file);
        }
    }
    histories
}
