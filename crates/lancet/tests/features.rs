//! What files and options of a compressor come to, with its feature and without it:
//! `cargo test -p lancet --test features --no-default-features --features lz4` and the like.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use lancet::{
    ColumnOptions, Compression, Error, FileReader, FileWriter, Profile, ReadOptions, Result,
    Version, WriteOptions,
};

/// Whether this build has a compressor.
fn has(feature: &str) -> bool {
    match feature {
        "lz4" => cfg!(feature = "lz4"),
        _ => cfg!(feature = "zstd"),
    }
}

/// Fine with the feature; without it an error that names it.
#[track_caller]
fn assert_follows<T: std::fmt::Debug>(feature: &str, result: Result<T>) {
    match result {
        Ok(_) => assert!(has(feature), "{feature} is not there"),
        Err(Error::Unsupported(what)) => {
            assert!(!has(feature), "{what}");
            assert!(what.contains(&format!("feature `{feature}`")), "{what}");
        }
        Err(error) => panic!("{error}"),
    }
}

fn table() -> RecordBatch {
    let texts =
        (0..20_000).map(|i| format!("a text of many words, and of number {}", i * 7 % 9973));
    let texts: ArrayRef = Arc::new(StringArray::from_iter_values(texts));
    let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values((0..20_000).map(|i| i * i)));
    RecordBatch::try_from_iter([("text", texts), ("number", numbers)]).unwrap()
}

fn write(options: WriteOptions) -> Result<(Vec<String>, Vec<u8>)> {
    let table = table();
    let mut writer = FileWriter::new(Vec::new(), table.schema(), options)?;
    writer.write(&table)?;
    let (summary, file) = writer.finish_into()?;
    let pages = summary.columns.into_iter().flat_map(|column| column.pages);
    Ok((pages.map(|page| page.encoding).collect(), file))
}

#[test]
fn compressed_pages_are_read_or_refused() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/small");
    for (name, feature) in [
        ("zstd_strings_v20", "zstd"),
        ("zstd_strings_v22", "zstd"),
        ("fullzip_zstd_v21", "zstd"),
        ("lz4_fixed_v22", "lz4"),
    ] {
        let file = std::fs::read(folder.join(format!("{name}.lance"))).unwrap();
        let reader = FileReader::from_bytes(file, ReadOptions::default()).unwrap();
        assert_follows(feature, reader.take(&[0]));
        assert_follows(
            feature,
            reader.scan().build().unwrap().map(|batch| Ok(batch?)).collect::<Result<Vec<_>>>(),
        );
        let found = reader.verify().unwrap();
        assert!(found.problems.is_empty(), "{name}: {:?}", found.problems);
        let told = matches!(&found.unread[..], [what] if what.contains(&format!("`{feature}`")));
        assert_eq!(told, !has(feature), "{name}: {:?}", found.unread);
    }
}

#[test]
fn compressors_are_options_where_they_are_there() {
    for (feature, compression) in [("lz4", Compression::Lz4), ("zstd", Compression::Zstd)] {
        for version in [Version::V2_0, Version::V2_2] {
            let column = ColumnOptions::default().with_compression(compression);
            let options = WriteOptions::default().with_version(version);
            assert_follows(feature, write(options.with_column("text", column)));
        }
        let entries = ColumnOptions::default().with_dict_values_compression(compression);
        assert_follows(feature, write(WriteOptions::default().with_column("text", entries)));
        let mut as_text = ColumnOptions::default();
        assert_follows(feature, as_text.set("compression", feature));
    }
}

#[test]
fn the_writer_takes_what_is_there() {
    for profile in [Profile::Fast, Profile::Balanced, Profile::Small] {
        let (encodings, file) = write(WriteOptions::default().with_profile(profile)).unwrap();
        for feature in ["lz4", "zstd"] {
            let used = encodings.iter().any(|encoding| encoding.contains(feature));
            assert!(has(feature) || !used, "{profile}: {encodings:?}");
        }
        let general = WriteOptions::default()
            .with_profile(profile)
            .with_column("text", ColumnOptions::default().with_general(true));
        write(general).unwrap();
        let reader = FileReader::from_bytes(file, ReadOptions::default()).unwrap();
        let rows: Vec<u64> = (0..20_000).collect();
        assert_eq!(reader.take(&rows).unwrap(), table(), "{profile}");
        let batches = reader.scan().threads(4).build().unwrap();
        assert_eq!(batches.map(|batch| batch.unwrap().num_rows()).sum::<usize>(), 20_000);
    }
}
