//! Tables that are written on disk: what is in them, what is refused, and writers at the same time.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt64Type};
use arrow_array::{
    Array, ArrayRef, Int32Array, Int64Array, RecordBatch, RecordBatchIterator, RecordBatchReader,
    StringArray, StringViewArray, UInt64Array,
};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use lancet::Version;
use lancet_table::{At, Error, Operation, Table, TableRows, TableWriteOptions, WriteProgress};

fn reader(batch: &RecordBatch) -> impl RecordBatchReader + use<> {
    RecordBatchIterator::new([Ok(batch.clone())], batch.schema())
}

/// Keys and names of them.
fn cities(keys: std::ops::Range<i64>) -> RecordBatch {
    let names = StringArray::from_iter_values(keys.clone().map(|key| format!("city {key}")));
    let schema = Schema::new(vec![
        Field::new("k", DataType::Int64, false),
        Field::new("name", DataType::Utf8, true),
    ]);
    let columns: Vec<ArrayRef> =
        vec![Arc::new(Int64Array::from_iter_values(keys)), Arc::new(names)];
    RecordBatch::try_new(Arc::new(schema), columns).unwrap()
}

fn keys(table: &Table) -> Vec<i64> {
    let batches = table.scan().columns(["k"]).build().unwrap();
    batches
        .flat_map(|b| b.unwrap().column(0).as_primitive::<Int64Type>().values().to_vec())
        .collect()
}

fn names_below(folder: &Path) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let entry = entry.unwrap();
        names.extend(names_below(&entry.path()));
        names.insert(entry.file_name().into_string().unwrap());
    }
    names
}

#[test]
fn a_table_grows_and_begins_again() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("deep/down/t.lance");
    for (version, stable) in [(Version::V2_0, false), (Version::V2_1, true), (Version::V2_2, true)]
    {
        let place = place.join(format!("{version}-{stable}"));
        let options = TableWriteOptions::default()
            .with_storage_version(version)
            .with_stable_row_ids(stable)
            .with_max_rows_per_fragment(40)
            .with_message("first rows");
        let mut table = Table::create_with(&place, reader(&cities(0..100)), &options).unwrap();
        assert_eq!(table.manifest().fragments.len(), 3);
        assert_eq!(table.manifest().writer.as_ref().unwrap().library, "lancet");
        let before = table.clone();
        let note = place.join("_versions/latest_version_hint.json");
        fs::write(&note, "{\"version\":1}").unwrap();
        let change = table.append(reader(&cities(100..150))).unwrap();
        assert!(!note.exists(), "a note of an old version misleads others");
        assert_eq!((change.version, change.rows_inserted), (2, 50));
        let change = table.delete(95..105).unwrap();
        assert_eq!((change.version, change.rows_deleted), (3, 10));
        // All fragments have one list of fields, whichever commit they came with.
        let files = || table.manifest().fragments.iter().flat_map(|fragment| &fragment.files);
        assert!(files().all(|file| Arc::ptr_eq(&file.fields, &files().next().unwrap().fields)));
        assert_eq!(keys(&table), (0..95).chain(105..150).collect::<Vec<_>>());
        // What was open stays what it was.
        assert_eq!((before.version(), keys(&before).len()), (1, 100));
        assert!(table.verify(|_| ()).unwrap().problems.is_empty());
        let change = table.overwrite(reader(&cities(7..9))).unwrap();
        assert_eq!((change.version, change.rows_deleted, change.rows_inserted), (4, 140, 2));
        assert_eq!(keys(&table), [7, 8]);
        let again = Table::open(&place).unwrap();
        assert_eq!((again.version(), keys(&again)), (4, vec![7, 8]));
        assert_eq!(keys(&again.checkout(At::Version(3)).unwrap()).len(), 140);
        if stable {
            let ids = again.take(&[0, 1], ["_rowid", "_row_created_at_version"]).unwrap();
            assert_eq!(ids.column(0).as_primitive::<UInt64Type>().values(), &[150, 151]);
            assert_eq!(ids.column(1).as_primitive::<UInt64Type>().values(), &[4, 4]);
        }
        assert_eq!(fs::read_dir(place.join("_transactions")).unwrap().count(), 4);
        let rubbish = |name: &String| name.starts_with(".tmp") || name.ends_with("-part");
        assert!(!names_below(&place).iter().any(rubbish));
    }
}

#[test]
fn changes_go_on_top_of_what_is_there_now() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("t.lance");
    let begun = |first: i64| {
        let mut table = Table::create(&place, reader(&cities(first..first + 2))).unwrap();
        table.append(reader(&cities(first + 2..first + 4))).unwrap();
        table
    };
    let mut table = begun(10);
    // Somebody puts another table into its place, with as many versions of as many bytes.
    fs::remove_dir_all(&place).unwrap();
    begun(20);
    table.append(reader(&cities(30..31))).unwrap();
    assert_eq!(keys(&table), [20, 21, 22, 23, 30]);
    assert_eq!(keys(&Table::open(&place).unwrap()), [20, 21, 22, 23, 30]);
}

#[test]
fn updated_rows_keep_their_ids_and_other_columns() {
    let folder = tempfile::tempdir().unwrap();
    let options = TableWriteOptions::default().with_stable_row_ids(true);
    let mut table = Table::create_with(folder.path(), reader(&cities(0..10)), &options).unwrap();
    let before = table.checkout(At::Latest).unwrap();
    assert!(before.is_latest().unwrap());
    table.append(reader(&cities(10..12))).unwrap();
    assert!(table.is_latest().unwrap() && !before.is_latest().unwrap());
    let names = StringArray::from(vec![Some("eleven"), None, Some("two")]);
    let values = RecordBatch::try_from_iter([("name", Arc::new(names) as ArrayRef)]).unwrap();
    let change = table.update(TableRows::Ids(vec![11, 0, 2]), reader(&values)).unwrap();
    assert_eq!((change.version, change.rows_updated), (3, 3));
    assert_eq!(keys(&table), [1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0, 2]);
    let columns = ["name", "_rowid", "_row_created_at_version", "_row_last_updated_at_version"];
    let rows = table.take(&[9, 10, 11], columns).unwrap();
    let numbers = |at: usize| rows.column(at).as_primitive::<UInt64Type>().values().to_vec();
    assert_eq!(rows.column(0).as_string::<i32>().value(0), "eleven");
    assert!(rows.column(0).is_null(1));
    assert_eq!((numbers(1), numbers(2), numbers(3)), (vec![11, 0, 2], vec![2, 1, 1], vec![3; 3]));

    // Changed rows first, then new ones; what is not given of those is null.
    let new = RecordBatch::try_from_iter([("k", Arc::new(Int64Array::from(vec![77])) as ArrayRef)]);
    let change = table.merge(&[0_u64][..], reader(&cities(1..2)), reader(&new.unwrap())).unwrap();
    assert_eq!((change.version, change.rows_updated, change.rows_inserted), (4, 1, 1));
    let rows = table.take(&[11, 12], ["k", "name", "_rowid"]).unwrap();
    assert_eq!(rows.column(0).as_primitive::<Int64Type>().values(), &[1, 77]);
    assert!(rows.column(1).is_null(1));
    assert_eq!(rows.column(2).as_primitive::<UInt64Type>().values(), &[1, 12]);
    assert!(table.verify(|_| ()).unwrap().problems.is_empty());

    let twice = table.update(&[1_u64, 1][..], reader(&cities(1..3))).unwrap_err().to_string();
    assert!(twice.contains("listed twice"), "{twice}");
    let more = table.update(&[1_u64][..], reader(&cities(1..3))).unwrap_err().to_string();
    assert!(more.contains("1 rows are to get new values, but there are more"), "{more}");
    let fewer = table.update(&[1_u64, 2][..], reader(&cities(1..2))).unwrap_err().to_string();
    assert!(fewer.contains("there are fewer"), "{fewer}");
    assert_eq!(Table::open(folder.path()).unwrap().version(), 4);
}

#[test]
fn what_does_not_fit_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let mut table = Table::create(folder.path(), reader(&cities(0..3))).unwrap();
    let before = names_below(folder.path());
    let batch = |columns: Vec<(&str, ArrayRef)>| RecordBatch::try_from_iter(columns).unwrap();
    let (long, short) = (
        || Arc::new(Int64Array::from(vec![1])) as ArrayRef,
        || Arc::new(Int32Array::from(vec![1])) as ArrayRef,
    );
    let null = Arc::new(Int64Array::from(vec![None])) as ArrayRef;
    for (rows, expected) in [
        (
            batch(vec![("k", short())]),
            "column `k` is of type Int64 in the table, but of type Int32 in the rows",
        ),
        (batch(vec![("k", long()), ("x", long())]), "the table has no column `x`"),
        (
            batch(vec![("name", Arc::new(StringArray::from(vec!["a"])))]),
            "the rows have no column `k`, which must not be null",
        ),
        (batch(vec![("k", null)]), "column `k` must not be null, but rows have nulls"),
    ] {
        assert_eq!(table.append(reader(&rows)).unwrap_err().to_string(), expected);
    }
    assert_eq!(names_below(folder.path()), before);
    // In another order, and as views.
    let rows = batch(vec![("name", Arc::new(StringViewArray::from(vec!["b"]))), ("k", long())]);
    table.append(reader(&rows)).unwrap();
    table.append(reader(&batch(vec![("k", long())]))).unwrap();
    assert_eq!((table.version(), keys(&table)), (3, vec![0, 1, 2, 1, 1]));
    let there = Table::create(folder.path(), reader(&cities(0..1))).unwrap_err().to_string();
    assert!(there.contains("there is a table already"), "{there}");
    let reserved = batch(vec![("_rowid", long())]);
    let error = table.overwrite(reader(&reserved)).unwrap_err().to_string();
    assert!(error.contains("no column can be called `_rowid`"), "{error}");
    // Nothing to do makes no version.
    assert_eq!(table.append(reader(&cities(0..0))).unwrap().version, 3);
    assert_eq!(table.delete(0..0).unwrap().version, 3);
    let none = table.delete(TableRows::Addresses(vec![1 << 40])).unwrap();
    assert_eq!((none.version, none.rows_deleted), (3, 0));
}

#[test]
fn a_failed_or_cancelled_write_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut table = Table::create(folder.path(), reader(&cities(0..3))).unwrap();
    let before = names_below(folder.path());
    let broken = || {
        let parts =
            [Ok(cities(3..9)), Err(ArrowError::ComputeError("the source is broken".into()))];
        RecordBatchIterator::new(parts, cities(0..0).schema())
    };
    let options = TableWriteOptions::default().with_max_rows_per_fragment(2);
    let error = table.append_with(broken(), &options).unwrap_err().to_string();
    assert!(error.contains("the source is broken"), "{error}");
    assert_eq!(names_below(folder.path()), before);
    let told = Arc::new(Mutex::new(WriteProgress::default()));
    let cancel = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let (seen, stop) = (told.clone(), cancel.clone());
    let options = options.with_cancel(cancel).with_progress(move |progress| {
        *seen.lock().unwrap() = progress;
        stop.store(true, Ordering::Relaxed);
    });
    let parts = (0..9).map(|at| Ok(cities(at * 5..at * 5 + 5)));
    let rows = RecordBatchIterator::new(parts, cities(0..0).schema());
    assert!(matches!(table.append_with(rows, &options), Err(Error::Cancelled)));
    let told = *told.lock().unwrap();
    assert_eq!((told.rows, told.files), (5, 2));
    assert_eq!(names_below(folder.path()), before);
    assert_eq!(table.append(reader(&cities(3..9))).unwrap().version, 2);
}

#[test]
fn writers_at_the_same_time_lose_nothing() {
    const WRITERS: i64 = 8;
    const CHANGES: i64 = 6;
    for stable in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let options = TableWriteOptions::default().with_stable_row_ids(stable);
        Table::create_with(folder.path(), reader(&cities(0..WRITERS)), &options).unwrap();
        let conflicts = AtomicU64::new(0);
        std::thread::scope(|scope| {
            for writer in 0..WRITERS {
                let (place, conflicts) = (folder.path(), &conflicts);
                scope.spawn(move || {
                    let options = TableWriteOptions::default().with_attempts(200);
                    for change in 0..CHANGES {
                        let first = 1000 * (writer + 1) + 10 * change;
                        let mut table = Table::open(place).unwrap();
                        table.append_with(reader(&cities(first..first + 3)), &options).unwrap();
                        // Rows of a fragment that all of them delete from.
                        let key = if change == 0 { writer } else { first - 10 };
                        loop {
                            let mut table = Table::open(place).unwrap();
                            let row = keys(&table).iter().position(|k| *k == key).unwrap() as u64;
                            match table.delete_with(&[row][..], "", &options) {
                                Ok(_) => break,
                                Err(Error::Conflict(c)) if c.can_retry => {
                                    conflicts.fetch_add(1, Ordering::Relaxed);
                                }
                                Err(error) => panic!("{error}"),
                            }
                        }
                    }
                });
            }
        });
        let table = Table::open(folder.path()).unwrap();
        let mut expected = Vec::new();
        for writer in 0..WRITERS {
            for change in 0..CHANGES {
                let first = 1000 * (writer + 1) + 10 * change;
                expected.extend(first + i64::from(change < CHANGES - 1)..first + 3);
            }
        }
        let mut found = keys(&table);
        found.sort_unstable();
        assert_eq!(found, expected);
        let changes = u64::try_from(WRITERS * CHANGES * 2).unwrap();
        assert_eq!(table.version(), 1 + changes);
        assert_eq!(table.versions(), (1..=1 + changes).collect::<Vec<_>>());
        assert!(table.verify(|_| ()).unwrap().problems.is_empty());
        println!("{} conflicts", conflicts.into_inner());
    }
}

#[test]
fn a_version_says_what_it_did() {
    let folder = tempfile::tempdir().unwrap();
    let mut table = Table::create(folder.path(), reader(&cities(0..9))).unwrap();
    let options =
        TableWriteOptions::default().with_message("for privacy").with_property("who", "me");
    table.delete_with(2..4, "k between 2 and 3", &options).unwrap();
    let transaction = table.transaction().unwrap().unwrap();
    assert_eq!(transaction.properties["__lance_commit_message"], "for privacy");
    assert_eq!(transaction.properties["who"], "me");
    let Operation::Delete(delete) = &transaction.operation else { panic!("{transaction:?}") };
    assert_eq!(delete.predicate, "k between 2 and 3");
    let file = folder.path().join("_transactions").join(transaction.file_name());
    assert_eq!(fs::read(file).unwrap(), transaction.encode());
}

#[test]
fn values_may_name_their_rows() {
    let folder = tempfile::tempdir().unwrap();
    for stable in [false, true] {
        let place = folder.path().join(format!("{stable}.lance"));
        let options =
            TableWriteOptions::default().with_stable_row_ids(stable).with_max_rows_per_fragment(40);
        let mut table = Table::create_with(&place, reader(&cities(0..100)), &options).unwrap();
        table.delete(10..20).unwrap();
        let before = table.take(&(0..90).collect::<Vec<_>>(), ["k", "_rowid"]).unwrap();
        // Rows of all fragments, in two batches and in no order.
        let address = |key: i64| ((key as u64 / 40) << 32) | (key as u64 % 40);
        let batch = |keys: &[i64]| {
            let addresses = UInt64Array::from_iter_values(keys.iter().map(|key| address(*key)));
            let names = StringArray::from_iter_values(keys.iter().map(|key| format!("new {key}")));
            let columns = [
                ("name", Arc::new(names) as ArrayRef),
                ("_rowaddr", Arc::new(addresses) as ArrayRef),
            ];
            RecordBatch::try_from_iter(columns).unwrap()
        };
        let given = |lists: &[&[i64]]| {
            let batches: Vec<_> = lists.iter().map(|keys| Ok(batch(keys))).collect();
            let schema = batch(&[]).schema();
            RecordBatchIterator::new(batches, schema)
        };
        let options = TableWriteOptions::default();
        let values = given(&[&[99, 3, 41], &[], &[2, 80]]);
        let change = table.update_by_address(values, &options).unwrap();
        assert_eq!((change.version, change.rows_updated, change.rows_inserted), (3, 5, 0));
        let all = table.take(&(0..90).collect::<Vec<_>>(), ["k", "name", "_rowid"]).unwrap();
        let found = all.column(0).as_primitive::<Int64Type>();
        let (names, ids) =
            (all.column(1).as_string::<i32>(), all.column(2).as_primitive::<UInt64Type>());
        let old = before.column(0).as_primitive::<Int64Type>();
        for (row, key) in found.values().iter().enumerate() {
            let kind = if [99, 3, 41, 2, 80].contains(key) { "new" } else { "city" };
            assert_eq!(names.value(row), format!("{kind} {key}"));
            if stable {
                let at = old.values().iter().position(|k| k == key).unwrap();
                let id = before.column(1).as_primitive::<UInt64Type>().value(at);
                assert_eq!(ids.value(row), id, "row ids stay");
            }
        }
        assert_eq!(found.values().iter().collect::<BTreeSet<_>>().len(), 90);
        assert!(table.verify(|_| ()).unwrap().problems.is_empty());

        // Rows without an address are new, and others go in the same version.
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("_rowaddr", Arc::new(UInt64Array::from(vec![Some(address(50)), None, None]))),
            ("k", Arc::new(Int64Array::from(vec![50, 200, 201]))),
            ("name", Arc::new(StringArray::from(vec![Some("moved"), None, Some("201")]))),
        ];
        let mixed = RecordBatch::try_from_iter(columns).unwrap();
        let change =
            table.merge_by_address(reader(&mixed), &[address(60), address(61)], &options).unwrap();
        assert_eq!((change.rows_updated, change.rows_inserted, change.rows_deleted), (1, 2, 2));
        let mut now = keys(&table);
        now.sort_unstable();
        let expected = (0..10).chain(20..60).chain(62..100).chain(200..202);
        assert_eq!(now, expected.collect::<Vec<i64>>());
        let nothing = mixed.slice(0, 0);
        let change = table.merge_by_address(reader(&nothing), &[address(62)], &options).unwrap();
        assert_eq!((change.version, change.rows_deleted), (5, 1));
        let turned = RecordBatchIterator::new(
            [Ok(mixed.slice(1, 2)), Ok(mixed.slice(0, 1))],
            mixed.schema(),
        );
        let error = table.merge_by_address(turned, &[], &options).unwrap_err().to_string();
        assert!(error.contains("come last"), "{error}");
        assert!(table.verify(|_| ()).unwrap().problems.is_empty());

        // What names no row, or one twice, leaves the table as it was.
        let files = names_below(&place);
        for (wrong, part) in [
            (given(&[&[5], &[5]]), "a row is listed twice"),
            (given(&[&[12]]), "no row of version 5"),
            (given(&[&[4_000]]), "no row of version 5"),
        ] {
            let error = table.update_by_address(wrong, &options).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
        let error = table.merge_by_address(given(&[&[5]]), &[address(5)], &options).unwrap_err();
        assert!(error.to_string().contains("a row is listed twice"), "{error}");
        let nameless = cities(0..1);
        let error = table.update_by_address(reader(&nameless), &options).unwrap_err().to_string();
        assert!(error.contains("no column `_rowaddr`"), "{error}");
        assert_eq!((table.version(), names_below(&place)), (5, files));
    }
}
