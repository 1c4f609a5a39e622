//! Manifests that the reference wrote, field by field.
//!
//! The short ones are kept in `manifests/` and always run. All of them run where the corpus lies
//! beside the repository.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use lancet_row_ids::{RowIdSequence, RowVersionSequence};
use lancet_table::{DataFile, DeletionKind, Fragment, Limits, Manifest, RowIds, Stored};
use serde_json::{Value, json};

/// Runs of equal neighbours or of neighbours that follow each other.
fn id_runs(sequence: &RowIdSequence) -> Value {
    let mut runs: Vec<[u64; 2]> = Vec::new();
    for id in sequence {
        match runs.last_mut() {
            Some(run) if run[1] == id => run[1] += 1,
            _ => runs.push([id, id + 1]),
        }
    }
    json!(runs)
}

fn version_runs(stored: Option<&Stored>) -> Value {
    let Some(Stored::Inline(bytes)) = stored else { return Value::Null };
    let mut runs: Vec<[u64; 2]> = Vec::new();
    for version in &RowVersionSequence::decode(bytes).unwrap() {
        match runs.last_mut() {
            Some(run) if run[1] == version => run[0] += 1,
            _ => runs.push([1, version]),
        }
    }
    json!(runs)
}

fn data_file(file: &DataFile) -> Value {
    let version = file.version.to_string();
    let (major, minor) = version.split_once('.').unwrap();
    json!({
        "path": &*file.path, "fields": file.fields[..], "column_indices": file.columns[..],
        "major": major.parse::<u32>().unwrap(), "minor": minor.parse::<u32>().unwrap(),
        "size": file.size_bytes, "base_id": file.base,
    })
}

fn fragment(manifest: &Manifest, fragment: &Fragment) -> Value {
    let mut found = json!({
        "id": fragment.id,
        "physical_rows": fragment.physical_rows,
        "files": fragment.files.iter().map(data_file).collect::<Vec<_>>(),
    });
    match manifest.row_ids(fragment).unwrap() {
        RowIds::Addresses => found["row_ids"] = Value::Null,
        RowIds::Sequence(sequence) => {
            found["row_ids"] = "inline".into();
            found["id_runs"] = id_runs(&sequence);
            found["last_updated_runs"] = version_runs(fragment.last_updated.as_ref());
            found["created_runs"] = version_runs(fragment.created.as_ref());
        }
        RowIds::Column { .. } => found["row_ids"] = "column".into(),
    }
    if let Some(file) = &fragment.deletion_file {
        found["deletion"] = json!({
            "type": if file.kind == DeletionKind::Arrow { "arrow" } else { "roaring" },
            "read_version": file.read_version, "id": file.id,
            "num_deleted_rows": file.num_deleted_rows,
        });
    }
    found
}

fn described(manifest: &Manifest) -> Value {
    let field = |field: &lancet_table::Field| {
        json!({
            "id": field.id, "parent": field.parent.unwrap_or(-1), "name": field.name,
            "logical_type": field.logical_type, "nullable": field.nullable,
        })
    };
    json!({
        "version": manifest.version,
        "reader_flags": manifest.reader_flags.0,
        "writer_flags": manifest.writer_flags.0,
        "next_row_id": manifest.next_row_id,
        "max_fragment_id": manifest.max_fragment_id,
        "data_format": manifest.data_format.map(|version| ["lance".into(), version.to_string()]),
        "schema": manifest.fields.iter().map(field).collect::<Vec<_>>(),
        "fragments": manifest.fragments.iter().map(|f| fragment(manifest, f)).collect::<Vec<_>>(),
    })
}

/// What is encoded has all that was there, known or not.
fn check_round_trip(name: &str, bytes: &[u8], manifest: &Manifest) {
    let message = manifest.encode();
    let position = bytes.len() - 16;
    let position = u64::from_le_bytes(bytes[position..position + 8].try_into().unwrap());
    let before = &bytes[..usize::try_from(position).unwrap()];
    let len = u32::try_from(message.len()).unwrap().to_le_bytes();
    let footer = &bytes[bytes.len() - 16..];
    let file = [before, &len, &message, footer].concat();
    assert_eq!(file.len(), bytes.len());
    assert_eq!(&Manifest::parse(name, &file, &Limits::default()).unwrap(), manifest);
}

#[test]
fn every_field_is_as_the_reference_has_it() {
    let mut indexes = vec![support::kept("index.json")];
    match support::shared("row_ids/index.json") {
        Some(index) => indexes.push(index),
        None => println!("the whole corpus is not here; only the kept manifests run"),
    }
    let mut seen = 0;
    for index in indexes {
        let vectors = support::json(&index)["vectors"].clone();
        for expected in vectors.as_array().unwrap().iter().filter(|v| v["type"] == "Manifest") {
            let file = index.with_file_name(expected["file"].as_str().unwrap());
            println!("{}", file.display());
            let name = expected["original_name"].as_str().unwrap();
            let bytes = std::fs::read(&file).unwrap();
            let manifest = Manifest::parse(name, &bytes, &Limits::default()).unwrap();
            check_round_trip(name, &bytes, &manifest);
            let found = described(&manifest);
            for (key, value) in found.as_object().unwrap() {
                assert_eq!(value, &expected[key], "{key}");
            }
            seen += 1;
        }
    }
    assert!(seen >= 7);
}
