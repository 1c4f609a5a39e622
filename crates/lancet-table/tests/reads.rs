//! What a table reads and keeps: blobs by the byte, files that are needed and no others, formats that are refused.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::fs;
use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::{Array, RecordBatch};
use lancet_table::{At, Table, TableOptions};
use tempfile::TempDir;

/// A table that is kept, or one of the corpus if that is there.
fn table(name: &str) -> Option<TempDir> {
    let file = format!("{name}.tar");
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tables").join(&file);
    let found = if kept.exists() { Some(kept) } else { support::shared(&format!("tables/{file}")) };
    let Some(found) = found else {
        println!("{name} is not here");
        return None;
    };
    let place = tempfile::tempdir().unwrap();
    support::archive::write_into(&support::archive::unpack(&found), place.path());
    Some(place)
}

fn expected(folder: &Path, file: &str) -> RecordBatch {
    let file = fs::File::open(folder.join("expect").join(file)).unwrap();
    let reader = arrow_ipc::reader::FileReader::try_new(file, None).unwrap();
    let schema = reader.schema();
    let batches: Vec<RecordBatch> = reader.map(Result::unwrap).collect();
    arrow_select::concat::concat_batches(&schema, &batches).unwrap()
}

#[test]
fn blobs_are_read_by_ranges() {
    for name in ["blob_v20", "blob_v21", "blob_v22", "blob_v2_v22"] {
        let Some(place) = table(name) else { continue };
        let latest = Table::open(place.path().join("table")).unwrap();
        for version in latest.versions() {
            let table = latest.checkout(At::Version(*version)).unwrap();
            let want = expected(place.path(), &format!("v{version}.arrow"));
            let want = want["b"].as_binary::<i64>();
            let blobs = table.blobs("b").unwrap();
            for row in 0..want.len() {
                let at = row as u64;
                if want.is_null(row) {
                    assert_eq!(blobs.len(at).unwrap(), None, "{name}, row {row}");
                    assert!(blobs.read(at, ..).is_err());
                    continue;
                }
                let bytes = want.value(row);
                let size = bytes.len() as u64;
                assert_eq!(blobs.len(at).unwrap(), Some(size), "{name}, row {row}");
                assert_eq!(blobs.read(at, ..).unwrap(), bytes);
                assert_eq!(
                    blobs.read(at, size / 3..size / 2).unwrap(),
                    bytes[bytes.len() / 3..bytes.len() / 2]
                );
                assert!(blobs.read(at, size..).unwrap().is_empty());
                assert!(blobs.read(at, ..=size).is_err());
                let (start, end) = (size / 2 + 1, size / 2);
                assert!(blobs.read(at, start..end).is_err());
            }
            // Together, backwards, and one of them twice.
            let there = (0..want.len()).rev().filter(|row| want.is_valid(*row));
            let rows: Vec<usize> = there.clone().chain(there.take(1)).collect();
            let part = |row: &usize| (*row as u64, 0..want.value(*row).len() as u64 / 2);
            let parts = blobs.read_ranges(&rows.iter().map(part).collect::<Vec<_>>()).unwrap();
            for (row, part) in rows.iter().zip(&parts) {
                assert_eq!(part, &want.value(*row)[..part.len()], "{name}, row {row}");
            }
            assert_eq!(parts.len(), rows.len());
            if let Some(null) = (0..want.len()).find(|row| want.is_null(*row)) {
                assert!(blobs.read_ranges(&[(null as u64, 0..0)]).is_err());
            }
            assert!(blobs.read_ranges(&[(want.len() as u64, 0..0)]).is_err());
            assert!(blobs.len(want.len() as u64).is_err());
            assert!(table.blobs("k").is_err());
        }
    }
}

#[test]
fn descriptions_are_those_of_the_reference() {
    for name in ["blob_v21", "blob_v22", "blob_v2_v22"] {
        let Some(place) = table(name) else { continue };
        let table = Table::open(place.path().join("table")).unwrap();
        let want = expected(place.path(), &format!("v{}.descriptors.arrow", table.version()));
        let batches = table.scan().columns(["b"]).blobs_as_descriptions().build().unwrap();
        let schema = batches.schema();
        let batches: Vec<RecordBatch> = batches.map(Result::unwrap).collect();
        let got = arrow_select::concat::concat_batches(&schema, &batches).unwrap();
        let (got, want) = (got["b"].as_struct(), want["b"].as_struct());
        assert_eq!(got.len(), want.len());
        assert_eq!(got.nulls().map(|n| n.inner()), want.nulls().map(|n| n.inner()), "{name}");
        for child in want.column_names() {
            for row in (0..want.len()).filter(|row| want.is_valid(*row)) {
                let (got, want) =
                    (got.column_by_name(child).unwrap(), want.column_by_name(child).unwrap());
                assert_eq!(
                    got.slice(row, 1).to_data(),
                    want.slice(row, 1).to_data(),
                    "{name}, {child}"
                );
            }
        }
    }
}

#[test]
fn a_take_opens_only_what_it_needs() {
    let Some(place) = table("rebased_v20") else { panic!("kept") };
    let root = place.path().join("table");
    let table = Table::open(&root).unwrap();
    let want = expected(place.path(), &format!("v{}.arrow", table.version()));
    let fragments = &table.manifest().fragments;
    assert!(fragments.len() > 1);
    // All data files and deletion files are gone, but those of the first fragment.
    let kept: Vec<String> = fragments[0].files.iter().map(|file| file.path.to_string()).collect();
    let deletions = fragments[0].deletion_file.as_ref().map(|file| file.file_name(fragments[0].id));
    for (folder, kept) in [("data", kept), ("_deletions", deletions.into_iter().collect())] {
        for entry in fs::read_dir(root.join(folder)).unwrap() {
            let entry = entry.unwrap();
            if !kept.contains(&entry.file_name().into_string().unwrap()) {
                fs::remove_file(entry.path()).unwrap();
            }
        }
    }
    let table = Table::open(&root).unwrap();
    assert_eq!(table.num_rows().unwrap(), want.num_rows() as u64);
    let got = table.take(&[1, 0], ["k"]).unwrap();
    let keys = |batch: &RecordBatch, row: usize| batch["k"].slice(row, 1).to_data();
    assert_eq!((keys(&got, 0), keys(&got, 1)), (keys(&want, 1), keys(&want, 0)));
    let last = want.num_rows() as u64 - 1;
    assert!(table.take(&[last], ["k"]).is_err());

    // What is open stays open: the files may go.
    fs::remove_dir_all(root.join("data")).unwrap();
    fs::remove_dir_all(root.join("_deletions")).unwrap();
    if cfg!(unix) {
        assert_eq!(table.take(&[1, 0], ["k"]).unwrap(), got);
        assert_eq!(table.checkout(At::Latest).unwrap().version(), table.version());
    }
    // A new table knows its rows all the same, and its schema.
    let again = Table::open(&root).unwrap();
    assert_eq!(again.num_rows().unwrap(), want.num_rows() as u64);
    assert!(again.take(&[0], ["k"]).is_err());
}

#[test]
fn few_files_stay_open() {
    let Some(place) = table("rebased_v20") else { panic!("kept") };
    let root = place.path().join("table");
    let options = TableOptions::default().with_max_open_files(1);
    let table = Table::open_with(&root, options).unwrap();
    let num_rows = table.num_rows().unwrap();
    let rows: Vec<u64> = (0..num_rows).rev().collect();
    let got = table.take(&rows, ..).unwrap();
    assert_eq!(got.num_rows() as u64, num_rows);
    // Files that were closed are opened again.
    assert_eq!(table.take(&rows, ..).unwrap(), got);
    // Not if they are others now.
    let longer = |path: &Path| {
        let bytes = fs::read(path).unwrap();
        fs::write(path, [&bytes[..], b"x"].concat()).unwrap();
        bytes
    };
    let files: Vec<_> =
        fs::read_dir(root.join("data")).unwrap().map(|entry| entry.unwrap().path()).collect();
    let sound: Vec<Vec<u8>> = files.iter().map(|path| longer(path)).collect();
    let error = table.take(&rows, ..).unwrap_err().to_string();
    assert!(error.contains("when it was opened"), "{error}");
    files.iter().zip(sound).for_each(|(path, bytes)| fs::write(path, bytes).unwrap());
    assert_eq!(table.take(&rows, ..).unwrap(), got);
    if cfg!(unix) {
        // The file of the last fragment was the last to be opened; those before were closed.
        fs::remove_dir_all(root.join("data")).unwrap();
        let first = table.take(&[0], ["k"]);
        let last = table.take(&[num_rows - 1], ["k"]);
        assert!(first.is_err() || last.is_err());
    }
}

#[test]
fn old_and_new_formats_are_refused_in_one_sentence() {
    for (name, expected) in [
        (
            "legacy",
            "fragment 0: its data files are of the first format (0.1), which lancet does not read",
        ),
        (
            "v23",
            "it is a data file of format 2.3, which is not stable yet; lancet reads 2.0 to 2.2",
        ),
    ] {
        let place = table(name).unwrap();
        let table = Table::open(place.path().join("table")).unwrap();
        assert_eq!(table.num_rows().unwrap(), 3);
        assert_eq!(table.schema().fields().len(), 2);
        let error = table.take(&[0], ..).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
        let error = table.scan().build().unwrap().next_batch().unwrap().unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
        let found = table.verify(|_| {}).unwrap();
        assert!(found.problems.is_empty() && !found.unread.is_empty(), "{found:?}");
    }
}

#[test]
fn sound_tables_are_found_sound_and_broken_ones_are_not() {
    for (index, folder) in support::indexes() {
        for entry in index["tables"].as_array().unwrap().iter().step_by(3) {
            let (name, file) = (entry["name"].as_str().unwrap(), entry["file"].as_str().unwrap());
            if name.starts_with("fragments") || name.starts_with("shallow") {
                continue;
            }
            let place = tempfile::tempdir().unwrap();
            support::archive::write_into(
                &support::archive::unpack(&folder.join(file)),
                place.path(),
            );
            let table = Table::open(place.path().join("table")).unwrap();
            let found = table.verify(|_| {}).unwrap();
            assert!(found.problems.is_empty() && found.unread.is_empty(), "{name}: {found:?}");
            let files: usize = table.manifest().fragments.iter().map(|f| f.files.len()).sum();
            assert_eq!(found.num_data_files, files as u64);
        }
        for entry in index["broken"].as_array().unwrap() {
            let (name, file) = (entry["name"].as_str().unwrap(), entry["file"].as_str().unwrap());
            let place = tempfile::tempdir().unwrap();
            support::archive::write_into(
                &support::archive::unpack(&folder.join(file)),
                place.path(),
            );
            let Ok(table) = Table::open(place.path().join("table")) else { continue };
            let found = table.verify(|_| {}).unwrap();
            assert!(!found.problems.is_empty(), "{name}");
        }
    }
}

/// What helpers read while nobody asks for a batch is there, whatever becomes of the file.
#[test]
fn scans_read_on_while_nobody_asks() {
    use arrow_array::{ArrayRef, Int64Array, RecordBatchIterator};
    let folder = tempfile::tempdir().unwrap();
    let keys: ArrayRef = std::sync::Arc::new(Int64Array::from_iter_values(0..400_000));
    let batch = arrow_array::RecordBatch::try_from_iter([("k", keys)]).unwrap();
    let rows = RecordBatchIterator::new([Ok(batch.clone())], batch.schema());
    let place = folder.path().join("t.lance");
    Table::create(&place, rows).unwrap();
    let table = Table::open(&place).unwrap();
    let mut batches = table.scan().threads(3).build().unwrap();
    for _ in 0..6 {
        assert_eq!(batches.next_batch().unwrap().unwrap().num_rows(), 8_192);
    }
    std::thread::sleep(std::time::Duration::from_secs(1));
    let data = std::fs::read_dir(place.join("data")).unwrap().next().unwrap().unwrap();
    std::fs::OpenOptions::new().write(true).open(data.path()).unwrap().set_len(0).unwrap();
    let ahead = (0..6).map(|_| batches.next_batch().unwrap()).filter(Result::is_ok).count();
    assert!(ahead >= 4, "{ahead} batches");
    let error = batches.find(std::result::Result::is_err);
    assert!(error.is_some() && batches.next().is_none());
}
