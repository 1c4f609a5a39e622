//! Columns, compaction, names and cleanup, on tables that the reference wrote and on new ones, by several writers.
//!
//! Some small tables are kept in `tables/` and always run. All of them run where the corpus lies beside the repository.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{
    Array, ArrayRef, Int32Array, Int64Array, LargeBinaryArray, RecordBatch, RecordBatchIterator,
    RecordBatchReader, StringArray,
};
use arrow_schema::{DataType, Field, Schema};
use lancet_table::{
    At, CleanupOptions, CompactOptions, Error, Flags, Table, TableOptions, TableRows,
    TableWriteOptions,
};
use serde_json::Value;

fn options() -> TableWriteOptions {
    TableWriteOptions::default()
}

fn reader(batch: &RecordBatch) -> impl RecordBatchReader + use<> {
    RecordBatchIterator::new([Ok(batch.clone())], batch.schema())
}

/// Every row as text, with its id and versions where these are stable, in no order.
fn rows(table: &Table) -> Vec<String> {
    let schema = table.schema();
    let mut columns: Vec<String> =
        schema.fields().iter().map(|field| field.name().clone()).collect();
    if table.manifest().reader_flags.contains(Flags::STABLE_ROW_IDS) {
        columns.push("_rowid".into());
        columns.push("_row_created_at_version".into());
        columns.push("_row_last_updated_at_version".into());
    }
    let mut rows = Vec::new();
    for batch in table.scan().columns(columns).build().unwrap() {
        let batch = batch.unwrap();
        let row = |at: usize| {
            let values = batch.columns().iter().map(|array| shown(&array.slice(at, 1)));
            values.collect::<String>()
        };
        rows.extend((0..batch.num_rows()).map(row));
    }
    rows.sort_unstable();
    rows
}

/// A value as text. What else is in a dictionary does not count.
fn shown(array: &ArrayRef) -> String {
    match array.as_any_dictionary_opt() {
        Some(dictionary) => {
            let values = arrow_select::take::take(dictionary.values(), dictionary.keys(), None);
            format!("{:?}", values.unwrap())
        }
        None => format!("{array:?}"),
    }
}

/// Tables of the reference that lancet reads and writes, each in a folder of its own.
fn each_table(act: impl Fn(&str, &Path, TableOptions) -> bool) {
    let (mut count, mut done) = (0, 0);
    for (index, folder) in support::indexes() {
        for entry in index["tables"].as_array().unwrap() {
            let name = entry["name"].as_str().unwrap();
            if entry.get("error").is_some_and(|error| !error.is_null())
                || name.starts_with("broken")
            {
                continue;
            }
            let files = support::archive::unpack(&folder.join(entry["file"].as_str().unwrap()));
            let place = tempfile::tempdir().unwrap();
            support::archive::write_into(&files, place.path());
            let mut options = TableOptions::default();
            for base in entry["bases"].as_array().into_iter().flatten() {
                let text = |key: &str| base[key].as_str().map(str::to_owned);
                if let (Some(recorded), Some(folder)) = (text("path"), text("folder")) {
                    options = options.with_moved_base(recorded, place.path().join(folder));
                }
            }
            let root =
                place.path().join(entry.get("root").and_then(Value::as_str).unwrap_or("table"));
            let Ok(table) = Table::open_with(&root, options.clone()) else { continue };
            // Formats that lancet does not read, and bases that are elsewhere.
            if table.scan().build().is_err_and(|_| true)
                || table.scan().build().unwrap().any(|batch| batch.is_err())
            {
                continue;
            }
            done += usize::from(act(name, &root, options));
            count += 1;
        }
    }
    println!("{done} of {count} tables");
    assert!(done > 3, "{done} of {count} tables");
}

#[test]
fn compacted_tables_hold_the_same_rows() {
    each_table(|name, root, options| {
        let mut table = Table::open_with(root, options.clone()).unwrap();
        let (before, version) = (rows(&table), table.version());
        let plan = CompactOptions::default().with_target_rows(30).with_deleted_share(0.0);
        let done = match table.compact(&plan, &self::options()) {
            Ok(done) => done,
            // Format 2.0 has no null structs, so that what lacks a struct column cannot be written again.
            Err(error) if error.to_string().contains("null") => return false,
            Err(Error::Unsupported { .. }) => return false,
            Err(error) => panic!("{name}: {error}"),
        };
        assert!(rows(&table) == before, "{name}");
        assert_eq!(table.version(), version + u64::from(done.fragments_removed > 0), "{name}");
        assert!(rows(&Table::open_with(root, options.clone()).unwrap()) == before, "{name}");
        for fragment in &table.manifest().fragments {
            assert!(fragment.deletion_file.is_none() || done.fragments_removed == 0, "{name}");
        }
        assert!(table.verify(|_| ()).unwrap().problems.is_empty(), "{name}");
        let again = table.compact(&plan, &self::options()).unwrap();
        assert!(again.fragments_removed == 0 || again.fragments_added > 0, "{name}");
        let then = table.checkout(At::Version(version));
        if table.manifest().branch.is_none() {
            assert!(rows(&then.unwrap()) == before, "{name}");
        }
        true
    });
}

#[test]
fn tables_of_the_reference_are_restored_tagged_cloned_and_cleaned_up() {
    each_table(|name, root, options| {
        let table = Table::open_with(root, options.clone()).unwrap();
        if table.manifest().writer_flags.0 & !0x89bf != 0 || table.manifest().branch.is_some() {
            return false;
        }
        let newest = rows(&table);
        let first = *table.versions().first().unwrap();
        let oldest = table.checkout(At::Version(first)).unwrap();
        let then = rows(&oldest);
        oldest.create_tag("lancet-first").unwrap();
        assert!(
            oldest.create_tag("lancet-first").unwrap_err().to_string().contains("already"),
            "{name}"
        );

        let clone = root.with_file_name("the clone");
        let cloned = oldest.shallow_clone(&clone).unwrap();
        assert_eq!((rows(&cloned), cloned.version()), (then.clone(), first), "{name}");
        assert!(oldest.shallow_clone(&clone).is_err());

        let branch = table.create_branch("lancet/dev").unwrap();
        assert!(rows(&branch) == newest, "{name}");
        assert!(table.create_branch("lancet/dev").is_err());

        let mut restored = oldest.clone();
        if let Err(error) = restored.restore(&self::options()) {
            assert!(matches!(error, Error::Unsupported { .. }), "{name}: {error}");
            return false;
        }
        assert!(rows(&restored) == then, "{name}");
        let now = Table::open_with(root, options.clone()).unwrap();
        assert_eq!((rows(&now), now.version()), (then.clone(), table.version() + 1), "{name}");

        let all = CleanupOptions::default().with_older_than(Duration::ZERO);
        now.cleanup(&all).unwrap();
        let now = Table::open_with(root, options.clone()).unwrap();
        assert!(rows(&now) == then, "{name}");
        assert!(rows(&now.checkout(At::Tag("lancet-first".into())).unwrap()) == then, "{name}");
        let branch = now.checkout(At::Branch("lancet/dev".into())).unwrap();
        assert!(rows(&branch) == newest, "{name}");
        assert!(now.verify(|_| ()).unwrap().problems.is_empty(), "{name}");
        assert!(rows(&cloned) == then, "{name}");
        true
    });
}

/// Keys and names of them.
fn cities(keys: std::ops::Range<i64>) -> RecordBatch {
    let names = StringArray::from_iter_values(keys.clone().map(|key| format!("city {key}")));
    let columns: [(&str, ArrayRef); 2] =
        [("k", Arc::new(Int64Array::from_iter_values(keys))), ("name", Arc::new(names))];
    RecordBatch::try_from_iter(columns).unwrap()
}

#[test]
fn columns_come_and_go() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("t.lance");
    let small = options().with_max_rows_per_fragment(40).with_stable_row_ids(true);
    let mut table = Table::create_with(&place, reader(&cities(0..100)), &small).unwrap();
    table.delete(TableRows::Numbers((0..60).collect())).unwrap();
    let live = |table: &Table, name: &str| -> Vec<Option<i64>> {
        let batches = table.scan().columns([name]).build().unwrap();
        batches
            .flat_map(|batch| {
                let batch = batch.unwrap();
                batch.column(0).as_primitive::<Int64Type>().iter().collect::<Vec<_>>()
            })
            .collect()
    };
    // Values for the rows that are there, in batches of another size.
    let values: Vec<i64> = (60..100).map(|key| key * key).collect();
    let column = Arc::new(Schema::new(vec![Field::new("square", DataType::Int64, false)]));
    let batch = |values: &[i64]| {
        let array = Arc::new(Int64Array::from(values.to_vec()));
        RecordBatch::try_new(column.clone(), vec![array]).unwrap()
    };
    let parts = |values: &[i64]| -> Vec<_> { values.chunks(7).map(batch).map(Ok).collect() };
    let aligned = |values: &[i64]| RecordBatchIterator::new(parts(values), column.clone());
    for (count, what) in [(39, "fewer"), (41, "more")] {
        let wrong: Vec<i64> = (0..count).collect();
        let error = table.add_column_values(aligned(&wrong), &options()).unwrap_err().to_string();
        assert!(error.contains(what), "{error}");
    }
    let before = fs::read_dir(place.join("data")).unwrap().count();
    table.add_column_values(aligned(&values), &options()).unwrap();
    assert_eq!(live(&table, "square"), values.iter().copied().map(Some).collect::<Vec<_>>());
    assert_eq!(fs::read_dir(place.join("data")).unwrap().count(), before + 2);
    // What was computed for other rows does not go in.
    let mut stale = table.clone();
    table.append(reader(&with_squares(100..110))).unwrap();
    let again = Arc::new(Schema::new(vec![Field::new("again", DataType::Int64, true)]));
    let given =
        RecordBatch::try_new(again.clone(), vec![Arc::new(Int64Array::from(values.clone()))]);
    let given = RecordBatchIterator::new([Ok(given.unwrap())], again);
    let error = stale.add_column_values(given, &options()).unwrap_err();
    assert!(matches!(error, Error::Conflict(_)), "{error}");

    let seven = Arc::new(Int32Array::from(vec![7]));
    table
        .add_constant_column(Field::new("seven", DataType::Int32, false), seven, &options())
        .unwrap();
    let nothing = Schema::new(vec![Field::new("nothing", DataType::Utf8, true)]);
    table.add_null_columns(&nothing, &options()).unwrap();
    table.set_nullable("square", true, &options()).unwrap();
    table.reorder_columns(&["seven", "square"], &options()).unwrap();
    table.rename_column("name", "city", &options()).unwrap();
    table.drop_columns(&["nothing"], &options()).unwrap();
    let to_text = |array: &ArrayRef| {
        let numbers = array.as_primitive::<Int64Type>().iter();
        Ok(Arc::new(numbers.map(|n| n.map(|n| n.to_string())).collect::<StringArray>()) as ArrayRef)
    };
    table.retype_column("square", &DataType::Utf8, to_text, &options()).unwrap();
    let schema = table.schema();
    let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    assert_eq!(names, ["seven", "square", "k", "city"]);
    let taken = table.take(&[0, 49], ["square", "seven", "city"]).unwrap();
    assert_eq!(taken["square"].as_ref(), &StringArray::from(vec!["3600", "11881"]));
    assert_eq!(taken["seven"].as_ref(), &Int32Array::from(vec![7, 7]));
    table.set_nullable("square", false, &options()).unwrap();
    assert!(!table.schema().field_with_name("square").unwrap().is_nullable());
    let error = table.drop_columns(&["nothing"], &options()).unwrap_err().to_string();
    assert!(error.contains("there is no field `nothing`"), "{error}");
    let reopened = Table::open(&place).unwrap();
    assert_eq!(rows(&reopened), rows(&table));
    assert!(reopened.verify(|_| ()).unwrap().problems.is_empty());
}

/// Rows that were written for a column that is another one by now are refused: their values would be lost.
#[test]
fn rows_for_columns_that_were_replaced_meanwhile() {
    let to_text = |array: &ArrayRef| {
        let numbers = array.as_primitive::<Int64Type>().iter();
        Ok(Arc::new(numbers.map(|n| n.map(|n| n.to_string())).collect::<StringArray>()) as ArrayRef)
    };
    let anew = Schema::new(vec![Field::new("square", DataType::Int64, true)]);
    type Change<'a> = &'a dyn Fn(&mut Table) -> lancet_table::Result<()>;
    let retype: Change<'_> = &|t| t.retype_column("square", &DataType::Utf8, to_text, &options());
    let drop: Change<'_> = &|t| t.drop_columns(&["square"], &options());
    let again: Change<'_> = &|t| t.add_null_columns(&anew, &options());
    let rename: Change<'_> = &|t| t.rename_column("square", "area", &options());
    let other: Change<'_> = &|t| t.rename_column("name", "square", &options());
    for (changes, is_fine) in [
        (vec![retype], false),
        (vec![drop, again], false),
        (vec![drop], true),
        (vec![rename], true),
        (vec![rename, again], true),
        (vec![drop, other], true),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("t.lance");
        let mut table = Table::create(&place, reader(&with_squares(0..9))).unwrap();
        table.set_nullable("square", true, &options()).unwrap();
        let mut stale = table.clone();
        changes.iter().for_each(|change| change(&mut table).unwrap());
        let files = || fs::read_dir(place.join("data")).unwrap().count();
        let before = files();
        let appended = stale.append(reader(&with_squares(9..12)));
        let now = Table::open(&place).unwrap();
        if is_fine {
            assert_eq!((appended.unwrap().rows_inserted, keys(&now).len()), (3, 12));
            continue;
        }
        let error = appended.unwrap_err();
        assert!(matches!(&error, Error::Conflict(c) if c.can_retry), "{error}");
        assert!(error.to_string().contains("column `square` is another one"), "{error}");
        assert_eq!((keys(&now).len(), files()), (9, before));
        // Rows without the column go in.
        stale.append(reader(&cities(9..12))).unwrap();
    }
}

/// Ids of columns without values may be given again: rows must not get into a column of another type.
#[test]
fn rows_for_columns_whose_ids_were_given_again() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("t.lance");
    let mut table = Table::create(&place, reader(&cities(0..9))).unwrap();
    let column = |name: &str, kind| Schema::new(vec![Field::new(name, kind, true)]);
    table.add_null_columns(&column("square", DataType::Int64), &options()).unwrap();
    let mut stale = table.clone();
    table.drop_columns(&["square"], &options()).unwrap();
    table.add_null_columns(&column("other", DataType::Utf8), &options()).unwrap();
    let error = stale.append(reader(&with_squares(9..12))).unwrap_err();
    assert!(matches!(&error, Error::Conflict(c) if c.can_retry), "{error}");
    assert!(Table::open(&place).unwrap().verify(|_| ()).unwrap().problems.is_empty());
}

fn with_squares(keys: std::ops::Range<i64>) -> RecordBatch {
    let plain = cities(keys.clone());
    let squares: ArrayRef = Arc::new(Int64Array::from_iter_values(keys.map(|key| key * key)));
    let columns = [plain["k"].clone(), plain["name"].clone(), squares];
    RecordBatch::try_from_iter(["k", "name", "square"].into_iter().zip(columns)).unwrap()
}

#[test]
fn nulls_that_are_there_cannot_be_forbidden() {
    let folder = tempfile::tempdir().unwrap();
    let mut table = Table::create(folder.path().join("t.lance"), reader(&cities(0..9))).unwrap();
    let nothing = Schema::new(vec![Field::new("nothing", DataType::Utf8, true)]);
    table.add_null_columns(&nothing, &options()).unwrap();
    let version = table.version();
    let error = table.set_nullable("nothing", false, &options()).unwrap_err().to_string();
    assert!(error.contains("column `nothing` has nulls, in fragment 0"), "{error}");
    let strict = Schema::new(vec![Field::new("strict", DataType::Utf8, false)]);
    assert!(table.add_null_columns(&strict, &options()).is_err());
    assert_eq!(Table::open(folder.path().join("t.lance")).unwrap().version(), version);
}

#[test]
fn blobs_go_along() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("t.lance");
    let metadata = |key: &str, value: &str| [(key.to_owned(), value.to_owned())];
    let blob = Field::new("b", DataType::LargeBinary, true).with_metadata(
        metadata("lance-encoding:blob", "true")
            .into_iter()
            .chain(metadata("lance-encoding:blob-dedicated-size-threshold", "5000"))
            .collect(),
    );
    let schema = Arc::new(Schema::new(vec![Field::new("k", DataType::Int64, false), blob]));
    let value = |key: i64| match key % 5 {
        0 => None,
        1 => Some(Vec::new()),
        2 => Some(vec![u8::try_from(key % 251).unwrap(); 9_000]),
        _ => Some(key.to_string().into_bytes()),
    };
    let batch = |keys: std::ops::Range<i64>| {
        let blobs = LargeBinaryArray::from_iter(keys.clone().map(value));
        let keys = Arc::new(Int64Array::from_iter_values(keys));
        RecordBatch::try_new(schema.clone(), vec![keys, Arc::new(blobs)]).unwrap()
    };
    let check = |table: &Table| {
        let mut found = BTreeMap::new();
        for read in table.scan().build().unwrap() {
            let read = read.unwrap();
            let keys = read["k"].as_primitive::<Int64Type>().values().to_vec();
            let blobs = read["b"].as_binary::<i64>();
            found.extend(keys.into_iter().zip(blobs.iter().map(|blob| blob.map(<[u8]>::to_vec))));
        }
        assert_eq!(
            found,
            (0..60).filter(|key| key % 3 != 1).map(|key| (key, value(key))).collect()
        );
    };
    let small = options().with_max_rows_per_fragment(25);
    let mut table = Table::create_with(&place, reader(&batch(0..50)), &small).unwrap();
    table.append(reader(&batch(50..60))).unwrap();
    table.delete(TableRows::Numbers((0..60).filter(|key| key % 3 == 1).collect())).unwrap();
    check(&table);
    let done = table.compact(&CompactOptions::default(), &options()).unwrap();
    assert_eq!((done.fragments_removed, done.fragments_added, done.deleted_rows), (3, 1, 20));
    check(&table);
    assert!(table.verify(|_| ()).unwrap().problems.is_empty());
    let cleaned =
        table.cleanup(&CleanupOptions::default().with_older_than(Duration::ZERO)).unwrap();
    assert!(cleaned.files.iter().any(|file| file.ends_with(".blob")), "{cleaned:?}");
    check(&Table::open(&place).unwrap());
    let data_file = &table.manifest().fragments[0].files[0].path;
    let beside = place.join("data").join(data_file.trim_end_matches(".lance"));
    // One packed file, and one for each long blob that is left.
    let long = (0..60).filter(|key| key % 5 == 2 && key % 3 != 1).count();
    assert_eq!(fs::read_dir(beside).unwrap().count(), 1 + long);
}

#[test]
fn the_folder_of_a_branch_knows_the_tags_of_its_table() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("cities.lance");
    let table = Table::create(&folder, reader(&cities(0..10))).unwrap();
    let mut branch = table.create_branch("exp").unwrap();
    branch.append(reader(&cities(10..20))).unwrap();
    branch.create_tag("twenty").unwrap();
    branch.append(reader(&cities(20..30))).unwrap();

    let opened = Table::open(folder.join("tree/exp")).unwrap();
    assert_eq!(opened.tags().unwrap().len(), 1);
    let now = CleanupOptions::default().with_older_than(Duration::ZERO);
    opened.cleanup(&now).unwrap();
    let tagged = Table::open(&folder).unwrap().checkout(At::Tag("twenty".into())).unwrap();
    assert_eq!(keys(&tagged), (0..20).collect::<Vec<_>>());
    // The tag needs the branch, whoever asks.
    assert!(opened.delete_branch("exp").is_err());
    // It would lie among the files of the other.
    assert!(table.create_branch("exp/data").is_err());
    table.create_branch("exp/more").unwrap();
}

/// Some append, some delete, some compact, some change columns, one cleans up: each acknowledged row is there once.
#[test]
fn several_writers_at_the_same_time() {
    for stable in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("t.lance");
        let first = options().with_stable_row_ids(stable);
        Table::create_with(&place, reader(&cities(0..50)), &first).unwrap();
        let there: Mutex<Vec<i64>> = Mutex::new((0..50).collect());
        let (place, there) = (&place, &there);
        std::thread::scope(|scope| {
            for writer in 1..3_i64 {
                scope.spawn(move || {
                    for round in 0..12 {
                        let start = writer * 10_000 + round * 10;
                        let mut table = Table::open(place).unwrap();
                        table.append(reader(&cities(start..start + 10))).unwrap();
                        there.lock().unwrap().extend(start..start + 10);
                        // Some of its own rows go again.
                        let is_mine = |key: &i64| (start..start + 3).contains(key);
                        retried(place, |table| {
                            let keys = keys(table);
                            let gone = keys.iter().zip(0_u64..).filter(|(key, _)| is_mine(key));
                            let gone: Vec<u64> = gone.map(|(_, number)| number).collect();
                            assert_eq!(gone.len(), 3);
                            table.delete(TableRows::Numbers(gone)).map(|_| ())
                        });
                        there.lock().unwrap().retain(|key| !is_mine(key));
                    }
                });
            }
            scope.spawn(move || {
                for _ in 0..12 {
                    let plan = CompactOptions::default().with_target_rows(100);
                    retried(place, |table| table.compact(&plan, &options()).map(|_| ()));
                }
            });
            scope.spawn(move || {
                for round in 0..6 {
                    let name = format!("c{round}");
                    let field = Field::new(&name, DataType::Int32, true);
                    let one = || Arc::new(Int32Array::from(vec![round]));
                    retried(place, |table| {
                        table.add_constant_column(field.clone(), one(), &options())
                    });
                    retried(place, |table| table.drop_columns(&[&name], &options()));
                }
            });
        });
        let table = Table::open(place).unwrap();
        let mut found = keys(&table);
        found.sort_unstable();
        let mut wanted = there.lock().unwrap().clone();
        wanted.sort_unstable();
        assert_eq!(found, wanted);
        assert_eq!(table.schema().fields().len(), 2);
        assert!(table.verify(|_| ()).unwrap().problems.is_empty());
        table.cleanup(&CleanupOptions::default().with_older_than(Duration::ZERO)).unwrap();
        let table = Table::open(place).unwrap();
        assert_eq!((table.versions().len(), keys(&table).len()), (1, wanted.len()));
    }
}

fn keys(table: &Table) -> Vec<i64> {
    let batches = table.scan().columns(["k"]).build().unwrap();
    let of = |batch: RecordBatch| batch.column(0).as_primitive::<Int64Type>().values().to_vec();
    batches.flat_map(|batch| of(batch.unwrap())).collect()
}

/// Does it on the newest version until nobody is in the way.
fn retried(place: &Path, act: impl Fn(&mut Table) -> lancet_table::Result<()>) {
    for _ in 0..100 {
        match act(&mut Table::open(place).unwrap()) {
            Ok(()) => return,
            Err(Error::Conflict(conflict)) if conflict.can_retry => {}
            Err(Error::Busy { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }
    panic!("always somebody in the way");
}
