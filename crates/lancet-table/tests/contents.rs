//! All rows of all versions, tags and branches of tables that the reference wrote, read in every way.
//!
//! Some small tables are kept in `tables/` and always run. All of them run where the corpus lies beside the repository.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../../lancet/tests/support/compare.rs"]
mod compare;
mod support;

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, Int64Array, RecordBatch, UInt64Array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use lancet::{Comparison, Filter, RowRanges};
use lancet_table::{At, Table, TableOptions};
use serde_json::Value;

const ROW_COLUMNS: [&str; 4] =
    ["_rowid", "_rowaddr", "_row_created_at_version", "_row_last_updated_at_version"];

fn expected(path: &Path) -> RecordBatch {
    let reader = arrow_ipc::reader::FileReader::try_new(File::open(path).unwrap(), None).unwrap();
    let schema = reader.schema();
    let batches: Vec<RecordBatch> = reader.map(Result::unwrap).collect();
    arrow_select::concat::concat_batches(&schema, &batches).unwrap()
}

/// Blobs of the second kind have no type that all agree on: the bytes are what counts.
fn with_schema(batch: RecordBatch, like: &SchemaRef) -> RecordBatch {
    let is_blob = |field: &Field| {
        field.metadata().contains_key("lance-encoding:blob")
            && *field.data_type() == DataType::LargeBinary
    };
    let schema = batch.schema();
    let fields = schema
        .fields()
        .iter()
        .zip(like.fields())
        .map(|(field, like)| if is_blob(like) { like.clone() } else { field.clone() });
    let metadata = schema.metadata().clone();
    let schema = Schema::new_with_metadata(fields.collect::<Vec<_>>(), metadata);
    RecordBatch::try_new(Arc::new(schema), batch.columns().to_vec()).unwrap()
}

fn rows_of(batch: &RecordBatch, rows: &[u64]) -> RecordBatch {
    let indices = UInt64Array::from(rows.to_vec());
    let take = |array: &ArrayRef| arrow_select::take::take(array, &indices, None).unwrap();
    let columns = batch.columns().iter().map(take).collect();
    RecordBatch::try_new(batch.schema(), columns).unwrap()
}

fn collect(batches: lancet_table::TableBatches) -> RecordBatch {
    let schema = batches.schema();
    let batches: Vec<RecordBatch> = batches.map(|batch| batch.unwrap()).collect();
    arrow_select::concat::concat_batches(&schema, &batches).unwrap()
}

#[track_caller]
fn same(what: &str, got: &RecordBatch, want: &RecordBatch) {
    if let Err(difference) = compare::batches(got, want) {
        panic!("{what}: {difference}");
    }
}

/// Some rows, in no order, some of them twice.
fn some_rows(num_rows: u64) -> Vec<u64> {
    let step = |row: u64| row.wrapping_mul(7919).wrapping_add(13) % num_rows.max(1);
    (0..num_rows.min(40)).map(step).chain((0..num_rows.min(3)).map(step)).collect()
}

fn check_version(table: &Table, want: RecordBatch) {
    let names: Vec<String> =
        want.schema().fields().iter().map(|field| field.name().clone()).collect();
    let got = collect(table.scan().columns(names.clone()).build().unwrap());
    let want = with_schema(want, &got.schema());
    let num_rows = want.num_rows() as u64;
    assert_eq!(table.num_rows().unwrap(), num_rows);
    same("scan", &got, &want);
    let short = table.scan().columns(names.clone()).batch_rows(7).threads(3).build().unwrap();
    same("short batches", &collect(short), &want);

    let fields: Vec<usize> =
        (0..names.len()).filter(|at| !ROW_COLUMNS.contains(&names[*at].as_str())).collect();
    let plain = want.project(&fields).unwrap();
    same("all fields", &collect(table.scan().build().unwrap()), &plain);
    compare::schemas(&table.schema(), &plain.schema()).unwrap();
    for (at, name) in names.iter().enumerate() {
        let one = collect(table.scan().columns([name]).build().unwrap());
        same(name, &one, &want.project(&[at]).unwrap());
    }
    let mut backwards: Vec<usize> = (0..names.len()).collect();
    backwards.reverse();
    let reversed: Vec<&String> = names.iter().rev().collect();
    let got = collect(table.scan().columns(reversed.clone()).build().unwrap());
    same("columns in another order", &got, &want.project(&backwards).unwrap());

    let projection = table.project(names.clone()).unwrap();
    let rows = some_rows(num_rows);
    let wanted = rows_of(&want, &rows);
    same("take", &table.take(&rows, &projection).unwrap(), &wanted);
    for row in rows.iter().take(5) {
        same("one row", &table.take(&[*row], &projection).unwrap(), &rows_of(&want, &[*row]));
    }
    let numbers = |name: &str| wanted[name].as_primitive::<UInt64Type>().values().to_vec();
    let got = table.take_addresses(&numbers("_rowaddr"), &projection).unwrap();
    same("take by address", &got, &wanted);
    let got = table.take_row_ids(&numbers("_rowid"), &projection).unwrap();
    same("take by id", &got, &wanted);
    assert!(table.take(&[num_rows], ..).is_err());
    let nowhere = [u64::MAX, u64::MAX - 1];
    assert_eq!(table.take_addresses(&nowhere, ..).unwrap().num_rows(), 0);
    assert_eq!(table.take_row_ids(&nowhere, ..).unwrap().num_rows(), 0);

    check_parts(table, &want, &names);
    check_filters(table, &want, &names);
}

fn check_parts(table: &Table, want: &RecordBatch, names: &[String]) {
    let num_rows = want.num_rows() as u64;
    let ranges = [num_rows / 5..num_rows / 3, num_rows / 2..num_rows];
    let selected: Vec<u64> = ranges.iter().cloned().flatten().collect();
    let scan = || table.scan().columns(names.to_vec()).select(RowRanges::from_iter(ranges.clone()));
    same("ranges", &collect(scan().build().unwrap()), &rows_of(want, &selected));
    let limit = (selected.len() as u64).saturating_sub(2);
    let got = collect(scan().limit(limit).batch_rows(5).build().unwrap());
    same("limit", &got, &rows_of(want, &selected[..limit as usize]));
    let ids: Vec<u32> =
        table.manifest().fragments.iter().map(|fragment| fragment.id).step_by(2).collect();
    let addresses = want["_rowaddr"].as_primitive::<UInt64Type>();
    let is_there = |row: &u64| ids.contains(&((addresses.value(*row as usize) >> 32) as u32));
    let there: Vec<u64> = (0..num_rows).filter(is_there).collect();
    let got = collect(table.scan().columns(names.to_vec()).fragments(ids.clone()).build().unwrap());
    same("fragments", &got, &rows_of(want, &there));
    let error = table.scan().fragments([u32::MAX]).build().err().unwrap().to_string();
    assert_eq!(error, format!("the table has no fragment {}", u32::MAX));
}

fn check_filters(table: &Table, want: &RecordBatch, names: &[String]) {
    let Some(keys) = want.column_by_name("k").and_then(|k| k.as_primitive_opt::<Int64Type>())
    else {
        return;
    };
    let keys: Vec<Option<i64>> = keys.iter().collect();
    let middle = keys.iter().flatten().copied().sum::<i64>() / (keys.len().max(1) as i64);
    for op in [Comparison::Gt, Comparison::LtEq, Comparison::Eq] {
        let holds = |key: &Option<i64>| {
            key.is_some_and(|key| match op {
                Comparison::Gt => key > middle,
                Comparison::LtEq => key <= middle,
                _ => key == middle,
            })
        };
        let rows: Vec<u64> = (0..).zip(&keys).filter(|(_, k)| holds(k)).map(|(at, _)| at).collect();
        let filter = Filter::compare("k", op, &Int64Array::new_scalar(middle));
        let got = table.scan().columns(names.to_vec()).filter(filter.clone()).build().unwrap();
        same("filter", &collect(got), &rows_of(want, &rows));
        let limit = rows.len() as u64 / 2;
        let scan = table.scan().columns(["_rowaddr"]).filter(filter).limit(limit).batch_rows(3);
        let got = collect(scan.build().unwrap());
        let at = want.schema().index_of("_rowaddr").unwrap();
        let wanted = rows_of(want, &rows[..limit as usize]).project(&[at]).unwrap();
        same("filter with a limit", &got, &wanted);
    }
    // Every column, whatever its type, by whether it is null.
    for name in names {
        let column = &want[name.as_str()];
        let nulls = column.logical_nulls();
        let is_null = |row: u64| nulls.as_ref().is_some_and(|nulls| nulls.is_null(row as usize));
        let rows: Vec<u64> = (0..want.num_rows() as u64).filter(|row| is_null(*row)).collect();
        let scan = table.scan().columns(["_rowaddr"]).filter(Filter::is_null(name.as_str()));
        let at = want.schema().index_of("_rowaddr").unwrap();
        let wanted = rows_of(want, &rows).project(&[at]).unwrap();
        same(&format!("null in {name}"), &collect(scan.build().unwrap()), &wanted);
    }
}

/// The versions of a table or of one of its branches.
fn check_versions(
    folder: &Path,
    options: &TableOptions,
    branch: Option<&str>,
    versions: &Value,
    seen: &mut usize,
) {
    let mut last = None;
    for version in versions.as_array().unwrap() {
        let number = version["version"].as_u64().unwrap();
        let at = match branch {
            Some(name) => At::BranchVersion(name.to_owned(), number),
            None => At::Version(number),
        };
        println!("  version {number}");
        let table =
            Table::open_with(folder.join("table"), options.clone().with_version(at)).unwrap();
        assert_eq!(table.version(), number);
        match version["expect"].as_str() {
            Some(file) => check_version(&table, expected(&folder.join("expect").join(file))),
            // Of long tables only the number of rows is kept.
            None => {
                let rows = collect(table.scan().columns(["_rowaddr"]).build().unwrap());
                assert_eq!(Some(rows.num_rows() as u64), version["rows"].as_u64());
            }
        }
        *seen += 1;
        let nanos = version["timestamp_ns"].as_u64().unwrap();
        if branch.is_none() {
            let instant = UNIX_EPOCH + Duration::from_nanos(nanos);
            let then = table.checkout(At::Instant(instant)).unwrap();
            assert_eq!(then.version(), number);
            let before = table.checkout(At::Instant(instant - Duration::from_nanos(1)));
            assert_eq!(before.ok().map(|table| table.version()), last);
        }
        last = Some(number);
    }
    let at = branch.map_or(At::Latest, |name| At::Branch(name.to_owned()));
    let table = Table::open_with(folder.join("table"), options.clone().with_version(at)).unwrap();
    assert_eq!(Some(table.version()), last);
    let numbers = versions.as_array().unwrap().iter().map(|v| v["version"].as_u64().unwrap());
    assert_eq!(table.versions(), numbers.collect::<Vec<_>>());
}

fn check_refs(table: &Table, index: &Value) {
    let tags = table.tags().unwrap().into_iter();
    let found: BTreeMap<String, (Option<String>, u64)> =
        tags.map(|tag| (tag.name, (tag.branch, tag.version))).collect();
    let expected = index["tags"].as_object().unwrap().iter().map(|(name, tag)| {
        let branch = tag["branch"].as_str().map(str::to_owned);
        (name.clone(), (branch, tag["version"].as_u64().unwrap()))
    });
    assert_eq!(found, expected.collect());
    for (name, (branch, version)) in &found {
        let tagged = table.checkout(At::Tag(name.clone())).unwrap();
        assert_eq!(tagged.version(), *version);
        assert_eq!(&tagged.manifest().branch, branch);
    }
    let branches = table.branches().unwrap().into_iter();
    let found: BTreeMap<String, (Option<String>, u64)> =
        branches.map(|branch| (branch.name, (branch.parent, branch.parent_version))).collect();
    let expected = index["branches"].as_object().unwrap().iter().map(|(name, branch)| {
        let parent = branch["parent_branch"].as_str().map(str::to_owned);
        (name.clone(), (parent, branch["parent_version"].as_u64().unwrap()))
    });
    assert_eq!(found, expected.collect());
}

#[test]
fn every_version_has_the_rows_it_should_have() {
    let mut seen = 0;
    for (index, folder) in support::indexes() {
        for entry in index["tables"].as_array().unwrap() {
            let name = entry["name"].as_str().unwrap();
            println!("{name}");
            let place = tempfile::tempdir().unwrap();
            let files = support::archive::unpack(&folder.join(entry["file"].as_str().unwrap()));
            support::archive::write_into(&files, place.path());
            let mut options = TableOptions::default();
            if name.starts_with("shallow_clone") {
                // Clones read files of the table they were made from, which they may not by themselves.
                let at = Path::new(entry["unpack_at"].as_str().unwrap());
                let refused = Table::open(place.path().join("table")).unwrap();
                let error = refused.take(&[0], ..).unwrap_err().to_string();
                assert!(error.contains("outside of its folder; allow that with"), "{error}");
                options = options.with_moved_base(at, place.path());
            }
            check_versions(place.path(), &options, None, &entry["versions"], &mut seen);
            for (branch, expected) in entry["branches"].as_object().unwrap() {
                println!(" branch {branch}");
                let versions = &expected["versions"];
                check_versions(place.path(), &options, Some(branch), versions, &mut seen);
            }
            let table = Table::open_with(place.path().join("table"), options).unwrap();
            check_refs(&table, entry);
            for version in entry["detached"].as_array().into_iter().flatten() {
                let version = version.as_u64().unwrap();
                let detached = table.checkout(At::Version(version)).unwrap();
                assert_eq!(detached.version(), version);
                assert_eq!(table.detached_versions(), [version]);
            }
        }
    }
    assert!(seen > 20, "only {seen} versions");
}

/// What every reading verb says of a broken table.
fn read_all(folder: &Path) -> lancet_table::Result<()> {
    let table = Table::open(folder)?;
    table.num_rows()?;
    let columns = [&["k", "_rowid", "_rowaddr"][..], &ROW_COLUMNS[2..]].concat();
    let mut batches = table.scan().columns(columns).build()?;
    while let Some(batch) = batches.next_batch() {
        batch?;
    }
    let mut batches = table.scan().build()?;
    while let Some(batch) = batches.next_batch() {
        batch?;
    }
    Ok(())
}

#[test]
fn broken_tables_are_refused() {
    let mut seen = 0;
    for (index, folder) in support::indexes() {
        for entry in index["broken"].as_array().unwrap() {
            let (name, at) = (entry["name"].as_str().unwrap(), entry["at"].as_str().unwrap());
            let place = tempfile::tempdir().unwrap();
            support::archive::write_into(
                &support::archive::unpack(&folder.join(entry["file"].as_str().unwrap())),
                place.path(),
            );
            let root = place.path().join("table");
            let error = read_all(&root).expect_err(name).to_string();
            println!("{name} ({}): {error}", entry["why"]);
            // Every error begins with the file it is about, or names it.
            assert!(error.contains(root.to_str().unwrap()), "{name}: {error}");
            if at == "open" {
                assert!(Table::open(&root).is_err(), "{name}");
            }
            seen += 1;
        }
    }
    assert!(seen > 3, "only {seen} tables");
}
