//! All versions of all tables of the corpus, where it lies beside the repository.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::collections::BTreeMap;

use lancet_table::{Limits, Manifest, Naming, RowIds, Versions};
use serde_json::{Value, json};
use support::archive::unpack;
use support::{json, shared, version_files};

type Files = BTreeMap<String, Vec<u8>>;

fn parse(files: &Files, root: &str, name: &str) -> lancet_table::Result<Manifest> {
    let bytes = version_files(files, root)[name];
    Manifest::parse(&format!("{root}/_versions/{name}"), bytes, &Limits::default())
}

/// The fields as the index tells them: only where they changed.
fn check_fields(manifest: &Manifest, expected: &Value) {
    let expected = match &expected["fields"] {
        Value::Null => return,
        // Of many fields only their number.
        Value::Number(many) => {
            assert_eq!(Some(manifest.fields.len() as u64), many.as_u64());
            return;
        }
        fields => fields,
    };
    let field = |field: &lancet_table::Field| {
        json!({
            "id": field.id, "parent": field.parent.unwrap_or(-1), "name": field.name,
            "type": field.logical_type, "nullable": field.nullable,
        })
    };
    let found: Vec<Value> = manifest.fields.iter().map(field).collect();
    assert_eq!(&json!(found), expected);
}

fn check_version(manifest: &Manifest, expected: &Value) {
    let ids: Vec<u32> = manifest.fragments.iter().map(|fragment| fragment.id).collect();
    match expected["fragments"].as_u64() {
        Some(many) => assert_eq!(ids.len() as u64, many),
        None => assert_eq!(json!(ids), expected["fragments"]),
    }
    let nanos = manifest.timestamp_nanos.map(|nanos| u64::try_from(nanos).unwrap());
    let found = json!({
        "version": manifest.version,
        "rows": manifest.num_rows(),
        "deleted_rows": manifest.num_deleted_rows(),
        "reader_flags": manifest.reader_flags.0,
        "writer_flags": manifest.writer_flags.0,
        "next_row_id": manifest.next_row_id,
        "max_fragment_id": manifest.max_fragment_id,
        "data_format": manifest.data_format.map(|version| version.to_string()),
        "timestamp_ns": nanos,
    });
    for (key, value) in found.as_object().unwrap() {
        assert_eq!(value, &expected[key], "{key} of version {}", manifest.version);
    }
    let given = |key: &str| expected.get(key).cloned().unwrap_or(json!({}));
    assert_eq!(json!(manifest.config), given("config"));
    assert_eq!(json!(manifest.table_metadata), given("table_metadata"));
    check_fields(manifest, expected);
    for fragment in &manifest.fragments {
        let ids = manifest.row_ids(fragment).unwrap();
        let stable = manifest.reader_flags.contains(lancet_table::Flags::STABLE_ROW_IDS);
        assert_eq!(ids != RowIds::Addresses, stable);
    }
}

/// The versions of a table, or of a branch, which is a table below it.
fn check_table(files: &Files, root: &str, expected: &Value, naming: Naming) -> usize {
    let versions = Versions::from_names(version_files(files, root).keys()).unwrap();
    let expected = expected.as_array().unwrap();
    let numbers: Vec<u64> = expected.iter().map(|v| v["version"].as_u64().unwrap()).collect();
    assert_eq!(versions.numbers(), numbers);
    assert_eq!(versions.latest().map(|latest| latest.version), numbers.last().copied());
    for expected in expected {
        let name = versions.get(expected["version"].as_u64().unwrap()).unwrap();
        assert_eq!(name.naming, naming);
        check_version(&parse(files, root, &name.file_name()).unwrap(), expected);
    }
    expected.len()
}

#[test]
fn every_version_has_the_rows_it_should_have() {
    let Some(index) = shared("tables/index.json") else {
        println!("the tables are not here");
        return;
    };
    let mut seen = 0;
    for table in json(&index)["tables"].as_array().unwrap() {
        println!("{}", table["name"]);
        let files = unpack(&index.with_file_name(table["file"].as_str().unwrap()));
        let naming = if table["naming"] == "V1" { Naming::V1 } else { Naming::V2 };
        seen += check_table(&files, "table", &table["versions"], naming);
        for (name, branch) in table["branches"].as_object().unwrap() {
            let root = format!("table/tree/{name}");
            seen += check_table(&files, &root, &branch["versions"], Naming::V2);
        }
        for version in table["detached"].as_array().into_iter().flatten() {
            let versions = Versions::from_names(version_files(&files, "table").keys()).unwrap();
            let name = versions.get(version.as_u64().unwrap()).unwrap();
            assert_eq!(name.naming, Naming::Detached);
            parse(&files, "table", &name.file_name()).unwrap();
            seen += 1;
        }
    }
    assert!(seen > 300, "only {seen} versions");
}

/// Opens the latest version, and decodes its row ids if asked to.
fn open(files: &Files, with_row_ids: bool) -> Result<(), String> {
    let versions = Versions::from_names(version_files(files, "table").keys());
    let versions = versions.map_err(|error| error.to_string())?;
    let latest = versions.latest().ok_or("there are no versions")?;
    let manifest = parse(files, "table", &latest.file_name()).map_err(|e| e.to_string())?;
    for fragment in manifest.fragments.iter().filter(|_| with_row_ids) {
        manifest.row_ids(fragment).map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// What manifests cannot show: the reader of the data will find it.
const ONLY_THE_DATA_SHOWS: [&str; 11] = [
    "broken_column_past_end",
    "broken_data_file_cut",
    "broken_data_file_empty",
    "broken_data_file_missing",
    "broken_deletion_count",
    "broken_deletion_file_missing",
    "broken_deletion_garbage",
    "broken_deletion_int32",
    "broken_deletion_out_of_range",
    "broken_rows_less",
    "broken_rows_more",
];

#[test]
fn broken_tables_are_refused() {
    let Some(index) = shared("tables/index.json") else {
        println!("the tables are not here");
        return;
    };
    let mut accepted = Vec::new();
    for table in json(&index)["broken"].as_array().unwrap() {
        let name = table["name"].as_str().unwrap();
        let files = unpack(&index.with_file_name(table["file"].as_str().unwrap()));
        match open(&files, table["at"] == "row_ids") {
            Ok(()) => accepted.push(name.to_owned()),
            Err(error) => println!("{name} ({}): {error}", table["why"]),
        }
    }
    accepted.sort();
    assert_eq!(accepted, ONLY_THE_DATA_SHOWS);
}
