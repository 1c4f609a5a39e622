//! Archives of tables, read without a library for them: files only, with short names.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

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

/// Writes the files of an archive into a folder.
pub fn write_into(files: &BTreeMap<String, Vec<u8>>, folder: &Path) {
    for (name, bytes) in files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
}
