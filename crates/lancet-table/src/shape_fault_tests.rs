//! Every verb that changes columns, files or names, with a fault at every request.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, Int32Array, Int64Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema};

use crate::add_columns::Runs;
use crate::chosen_rows::TableRows;
use crate::cleanup_plan::CleanupOptions;
use crate::columns::TableColumns;
use crate::compact_plan::CompactOptions;
use crate::error::{Error, Result};
use crate::fault_tests::{
    Contents, FAULTS, Table, check_nothing_left, contents, open, options, prepared, source, unnamed,
};
use crate::new_values::Made;
use crate::options::At;
use crate::simulated::Simulated;
use crate::storage::ready;
use crate::write::is_certain;

pub(crate) const VERBS: [&str; 15] = [
    "compact",
    "add nulls",
    "add values",
    "drop",
    "rename",
    "reorder",
    "forbid nulls",
    "retype",
    "restore",
    "tag",
    "move a tag",
    "branch",
    "clone",
    "delete a branch",
    "cleanup",
];

/// Verbs that make no version of the table. Where they fail, something of them may be there.
const OTHERS: [&str; 6] = ["tag", "move a tag", "branch", "clone", "delete a branch", "cleanup"];

pub(crate) fn compaction() -> CompactOptions {
    CompactOptions::default().with_target_rows(20)
}

fn new_column() -> Arc<Schema> {
    Arc::new(Schema::new(vec![Field::new("w", DataType::Int64, true)]))
}

/// Twice the key.
fn twice(rows: &RecordBatch) -> Result<RecordBatch> {
    let twice: Int64Array = rows["k"].as_primitive::<Int64Type>().unary(|key| key * 2);
    Ok(RecordBatch::try_new(new_column(), vec![Arc::new(twice)])?)
}

fn narrowed(array: &ArrayRef) -> Result<ArrayRef> {
    let numbers = array.as_primitive_opt::<Int64Type>();
    let numbers = numbers.ok_or_else(|| Error::invalid("it is narrow already"))?.iter();
    let narrow = numbers.map(|n| n.map(|n| i32::try_from(n).unwrap()));
    Ok(Arc::new(narrow.collect::<Int32Array>()))
}

/// Does it; the table as it is then.
pub(crate) async fn act(verb: &str, table: &Table) -> Result<Table> {
    let options = &options(false);
    match verb {
        "compact" => table.compact(&compaction(), options).await.map(|(table, _)| table),
        "add nulls" => table.add_null_columns(&new_column(), options).await,
        "add values" => {
            let from = TableColumns::from(["k"]);
            table.add_columns(new_column(), from, Made(twice), Runs::Many, options).await
        }
        "drop" => table.change_schema(&|before| before.without(&["x"]), true, options).await,
        "rename" => table.change_schema(&|before| before.renamed("x", "y"), true, options).await,
        "reorder" => table.change_schema(&|before| before.reordered(&["x"]), true, options).await,
        "forbid nulls" => table.forbid_nulls("x", options).await,
        "retype" => table.retype_column("x", &DataType::Int32, narrowed, options).await,
        "restore" => table.checkout(&At::Version(1)).await?.restore(options).await,
        "tag" => table.create_tag("new").await.map(|()| table.clone()),
        "move a tag" => table.move_tag("old").await.map(|()| table.clone()),
        "branch" => table.create_branch("dev/new").await.map(|_| table.clone()),
        "clone" => table.put_clone("clone.lance".as_ref(), None).await.map(|_| table.clone()),
        "delete a branch" => table.delete_branch("side").await.map(|()| table.clone()),
        "cleanup" => table.cleanup(&everything()).await.map(|_| table.clone()),
        _ => panic!("{verb}"),
    }
}

fn run(verb: &str, table: &Table) -> Result<Table> {
    ready(act(verb, table))
}

/// All that is not the newest version, tagged or the start of a branch.
pub(crate) fn everything() -> CleanupOptions {
    CleanupOptions::default().with_older_than(Duration::ZERO)
}

/// Whether it was done, by what anybody sees.
fn is_done(verb: &str, table: &Table) -> bool {
    let schema = &table.reads.snapshot.schema.arrow;
    let has = |name: &str| schema.column_with_name(name).is_some();
    let field = |name: &str| schema.field_with_name(name).unwrap().clone();
    let tag = |name: &str| ready(table.checkout(&At::Tag(name.into())));
    match verb {
        "compact" => table.manifest().fragments.len() == 1,
        "add nulls" | "add values" => has("w"),
        "drop" => !has("x"),
        "rename" => has("y"),
        "reorder" => schema.field(0).name() == "x",
        "forbid nulls" => !field("x").is_nullable(),
        "retype" => *field("x").data_type() == DataType::Int32,
        "restore" => !has("x"),
        "tag" => tag("new").is_ok_and(|tagged| tagged.manifest().version == 5),
        "move a tag" => tag("old").is_ok_and(|tagged| tagged.manifest().version == 5),
        "branch" => ready(table.checkout(&At::Branch("dev/new".into())))
            .is_ok_and(|branch| contents(&branch).is_ok_and(|found| found.len() == 11)),
        "clone" => table
            .storage()
            .paths()
            .iter()
            .any(|path| path.starts_with("clone.lance/_versions") && path.extension().is_some()),
        "delete a branch" => ready(table.branches()).unwrap().is_empty(),
        "cleanup" => table.versions.numbers() == [2, 3, 5],
        _ => panic!("{verb}"),
    }
}

/// Five versions: deletions, a column `x` with the keys, a tag on version 2, a branch from version 3.
pub(crate) fn origin(stable: bool) -> Simulated {
    let store = prepared(stable);
    let table = open(&store).unwrap();
    let third = table.clone();
    let field = Arc::new(Schema::new(vec![Field::new("x", DataType::Int64, true)]));
    let keys =
        |rows: &RecordBatch| Ok(RecordBatch::try_new(field.clone(), rows.columns().to_vec())?);
    let from = TableColumns::from(["k"]);
    let options = &options(stable);
    let added = table.add_columns(field.clone(), from, Made(keys), Runs::Many, options);
    let table = ready(added).unwrap();
    ready(ready(table.checkout(&At::Version(2))).unwrap().create_tag("old")).unwrap();
    ready(third.create_branch("side")).unwrap();
    let (table, _) = ready(table.delete(&TableRows::Numbers(vec![0]), "", options)).unwrap();
    let (_, _) = ready(table.append(source(&[(0, 0)]), options)).unwrap();
    store
}

#[test]
fn a_fault_at_every_request_of_every_verb() {
    for stable in [false, true] {
        // The last append lacks `x`, so that nothing forbids its nulls to be there.
        let (store, keys) = (origin(stable), |table: &Table| contents(table).unwrap());
        let latest = open(&store).unwrap();
        assert_eq!(latest.manifest().version, 6);
        for verb in VERBS {
            // What is forbidden must not be there: one version back.
            let store = store.copied();
            store.remove("t.lance/_versions/18446744073709551609.manifest");
            let before = keys(&open(&store).unwrap());
            let unnamed_before = unnamed(&store);
            let sound = store.copied();
            let after = keys(&run(verb, &open(&sound).unwrap()).unwrap());
            assert!(is_done(verb, &open(&sound).unwrap()), "{verb}");
            assert!(!is_done(verb, &open(&store).unwrap()), "{verb}");
            for fault in FAULTS {
                for request in 0.. {
                    let writer = store.copied();
                    let what = format!("{verb}, stable {stable}, {fault:?} at request {request}");
                    writer.strike(request, fault);
                    let done = open(&writer).and_then(|table| run(verb, &table));
                    let struck = writer.has_struck();
                    // A cleanup that was interrupted leaves files to the next one.
                    if verb != "cleanup" {
                        check_nothing_left(
                            &what,
                            &writer,
                            fault,
                            done.as_ref().err(),
                            &unnamed_before,
                        );
                    }
                    check_after(&what, verb, &writer.another(), done.err(), [&before, &after]);
                    if !struck {
                        assert!(request > 5, "{verb}: {request} requests");
                        break;
                    }
                }
            }
        }
    }
}

fn check_after(
    what: &str,
    verb: &str,
    store: &Simulated,
    error: Option<Error>,
    [before, after]: [&Contents; 2],
) {
    let table = open(store).unwrap_or_else(|error| panic!("{what}: {error}"));
    let found = contents(&table).unwrap_or_else(|error| panic!("{what}: {error}"));
    match &error {
        None => assert!(is_done(verb, &table) && &found == after, "{what}"),
        Some(error) if is_certain(error) && !OTHERS.contains(&verb) => {
            assert!(!is_done(verb, &table) && &found == before, "{what}: {error}");
        }
        Some(error) => assert!(&found == before || &found == after, "{what}: {error}"),
    }
    check_versions(what, &table);
    for (at, rows) in [(At::Tag("old".into()), None), (At::Branch("side".into()), Some(12))] {
        if rows.is_some() && verb == "delete a branch" {
            continue;
        }
        let other = ready(table.checkout(&at)).unwrap_or_else(|e| panic!("{what}: {at:?}: {e}"));
        let found = contents(&other).unwrap_or_else(|error| panic!("{what}: {at:?}: {error}"));
        assert!(rows.is_none_or(|rows| found.len() == rows), "{what}: {at:?}");
    }
    // The next change works, and so does the same once more, if it was not done.
    if !is_done(verb, &table) {
        let table = match (verb, run(verb, &table)) {
            ("branch", Err(_)) => {
                ready(table.delete_branch("dev/new")).unwrap();
                run(verb, &table).unwrap_or_else(|error| panic!("{what}: again: {error}"))
            }
            (_, done) => done.unwrap_or_else(|error| panic!("{what}: again: {error}")),
        };
        assert_eq!(&contents(&table).unwrap(), after, "{what}: again");
    }
    let table = open(store).unwrap();
    let (rows, first) = (contents(&table).unwrap().len(), TableRows::Numbers(vec![0]));
    let (table, _) = ready(table.delete(&first, "", &options(false)))
        .unwrap_or_else(|error| panic!("{what}: {error}"));
    assert_eq!(contents(&table).unwrap().len() + 1, rows, "{what}");
}

/// Every version that is there can be read.
pub(crate) fn check_versions(what: &str, table: &Table) {
    for version in table.versions.numbers() {
        let old = ready(table.checkout(&At::Version(*version)));
        let old = old.unwrap_or_else(|error| panic!("{what}: version {version}: {error}"));
        contents(&old).unwrap_or_else(|error| panic!("{what}: version {version}: {error}"));
    }
}

#[test]
fn a_cleanup_leaves_what_is_needed_and_nothing_else() {
    for stable in [false, true] {
        let store = origin(stable);
        let table = open(&store).unwrap();
        ready(table.compact(&compaction(), &options(stable))).unwrap();
        let table = open(&store).unwrap();
        let contents_of = |table: &Table| -> BTreeMap<u64, Contents> {
            let versions = table.versions.numbers().iter();
            let at = |version: &u64| ready(table.checkout(&At::Version(*version))).unwrap();
            versions.map(|version| (*version, contents(&at(version)).unwrap())).collect()
        };
        let (before, paths) = (contents_of(&table), store.paths());
        let all = everything();
        let dry = ready(table.cleanup(&all.clone().with_dry_run(true))).unwrap();
        assert_eq!(store.paths(), paths);
        let done = ready(table.cleanup(&all)).unwrap();
        assert_eq!(
            (&dry.versions, &dry.files, dry.bytes),
            (&done.versions, &done.files, done.bytes)
        );
        // The tag has version 2, the branch begins with 3, and 7 is the newest.
        assert_eq!(done.versions, [1, 4, 5, 6]);
        let table = open(&store).unwrap();
        let after = contents_of(&table);
        assert_eq!(after.keys().copied().collect::<Vec<_>>(), [2, 3, 7]);
        assert!(after.iter().all(|(version, found)| before[version] == *found));
        let gone = paths.iter().filter(|path| !store.paths().contains(path)).count();
        assert_eq!(gone, done.versions.len() + done.files.len());
        assert!(done.files.iter().any(|file| file.starts_with("data/")), "{done:?}");
        let again = ready(table.cleanup(&all)).unwrap();
        assert!(again.versions.is_empty() && again.files.is_empty(), "{again:?}");
        // Without the tag and the branch nothing is left but the newest version.
        ready(table.delete_tag("old")).unwrap();
        ready(table.delete_branch("side")).unwrap();
        assert_eq!(ready(table.cleanup(&all)).unwrap().versions, [2, 3]);
        assert_eq!(contents(&open(&store).unwrap()).unwrap(), before[&7]);
        let left = store.paths();
        let data = left.iter().filter(|path| path.extension().is_some_and(|e| e == "lance"));
        assert_eq!(data.count(), 1, "{left:?}");
    }
}

#[test]
fn values_are_where_their_rows_are() {
    let store = origin(true);
    let table = open(&store).unwrap();
    let from = TableColumns::from(["k"]);
    let options = &options(true);
    let added = table.add_columns(new_column(), from, Made(twice), Runs::Many, options);
    let (table, report) = ready(ready(added).unwrap().compact(&compaction(), options)).unwrap();
    assert_eq!((report.rows, report.deleted_rows), (12, 3));
    let columns = table.project(["k", "w"].into()).unwrap();
    let batch = ready(table.reads.read(0, &columns, &lancet::Rows::All)).unwrap();
    assert_eq!(batch.num_rows(), 12);
    let (keys, values) = (batch.column(0), batch.column(1));
    let pairs = keys.as_primitive::<Int64Type>().iter().zip(values.as_primitive::<Int64Type>());
    assert!(pairs.into_iter().all(|(key, value)| value == key.map(|key| key * 2)));
    assert_eq!(values.null_count(), 0);
}
