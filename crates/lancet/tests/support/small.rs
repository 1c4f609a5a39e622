//! The small files that damaged ones are made from: each layout and codec, written by the
//! reference, some of its old releases among them, and a few files of lancet's own.

use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int32Array, LargeBinaryArray, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use lancet::{FileWriter, Version, WriteOptions};

/// Files of old releases with something that today's reference does not write.
const OLD: [&str; 6] = [
    "blobs-0.12.1-2.0",
    "dictionary_nulls-0.16.1-2.0",
    "short_strings-0.18.2-restamped",
    "fsst-0.18.2-2.0",
    "large_numbers-0.18.2-restamped",
    "wide-0.30.0-2.1",
];

/// Name and bytes of every small file.
pub fn files() -> Vec<(String, Vec<u8>)> {
    // Other crates damage the same files.
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../lancet/tests/small");
    let mut files: Vec<(String, Vec<u8>)> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| {
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            (name, std::fs::read(path).unwrap())
        })
        .collect();
    for name in OLD {
        let path = folder.join(format!("../data/old/{name}.lance"));
        files.push((name.to_string(), std::fs::read(path).unwrap()));
    }
    files.sort();
    for version in [Version::V2_0, Version::V2_1, Version::V2_2] {
        files.push((format!("lancet {version}"), written(version)));
    }
    files
}

/// A file of lancet: two columns, a global buffer, and checksums.
pub fn written(version: Version) -> Vec<u8> {
    let ids: ArrayRef = Arc::new(Int32Array::from(vec![Some(5), None, Some(70_000)]));
    let names: ArrayRef = Arc::new(StringArray::from(vec!["one", "", "three"]));
    let blobs: ArrayRef =
        Arc::new(LargeBinaryArray::from_opt_vec(vec![Some(&b"payload"[..]), None, Some(b"x")]));
    let marked = Field::new("blob", DataType::LargeBinary, true)
        .with_metadata([("lance-encoding:blob".into(), "true".into())].into());
    let schema = Arc::new(Schema::new(vec![
        Field::new("id", DataType::Int32, true),
        Field::new("name", DataType::Utf8, true),
        marked,
    ]));
    let batch = RecordBatch::try_new(schema.clone(), vec![ids, names, blobs]).unwrap();
    let options = WriteOptions::default().with_version(version);
    let mut file = Vec::new();
    let mut writer = FileWriter::new(&mut file, schema, options).unwrap();
    writer.write(&batch).unwrap();
    writer.add_global_buffer(b"a global buffer").unwrap();
    writer.finish_into().unwrap();
    file
}

/// The mutant of a seed (SplitMix64).
pub fn mutant(files: &[(String, Vec<u8>)], seed: u64) -> (String, Vec<u8>) {
    let mut state = seed.wrapping_mul(0x2545_f491_4f6c_dd1d);
    let mut draw = |end: usize| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) as usize % end.max(1)
    };
    let (name, file) = &files[draw(files.len())];
    let (_, other) = &files[draw(files.len())];
    (name.clone(), crate::mutate::random(file, other, &mut draw))
}
