//! Every verb with a fault at every request.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt64Type};
use arrow_array::{ArrayRef, Int64Array, RecordBatch, RecordBatchIterator};
use arrow_schema::ArrowError;
use lancet::Rows;

use crate::chosen_rows::TableRows;
use crate::error::{Error, Result};
use crate::opening::Opened;
use crate::options::{At, TableOptions};
use crate::row_source::{Given, Nothing, RowSource};
use crate::simulated::{Fault, Simulated};
use crate::storage::ready;
use crate::write::{create, is_certain};
use crate::write_options::TableWriteOptions;

pub(crate) type Table = Opened<Simulated>;
/// Values by keys.
pub(crate) type Contents = BTreeMap<i64, i64>;

fn batch(rows: &[(i64, i64)]) -> RecordBatch {
    let keys = Int64Array::from_iter_values(rows.iter().map(|(key, _)| *key));
    let values = Int64Array::from_iter_values(rows.iter().map(|(_, value)| *value));
    let columns = [("k", Arc::new(keys) as ArrayRef), ("v", Arc::new(values) as ArrayRef)];
    RecordBatch::try_from_iter(columns).unwrap()
}

pub(crate) fn source(rows: &[(i64, i64)]) -> impl RowSource + use<> {
    let batch = batch(rows);
    let schema = batch.schema();
    // In two batches, so that there is something in between.
    let half = batch.num_rows() / 2;
    let parts = [batch.slice(0, half), batch.slice(half, batch.num_rows() - half)];
    Given(RecordBatchIterator::new(parts.map(Ok::<_, ArrowError>), schema))
}

pub(crate) fn options(stable: bool) -> TableWriteOptions {
    TableWriteOptions::default().with_stable_row_ids(stable).with_max_rows_per_fragment(5)
}

pub(crate) fn root() -> PathBuf {
    "t.lance".into()
}

pub(crate) fn open(store: &Simulated) -> Result<Table> {
    ready(Opened::open(store.clone(), root(), TableOptions::default()))
}

/// All rows: key, value and row id.
pub(crate) fn rows(table: &Table) -> Result<Vec<(i64, i64, u64)>> {
    let columns = table.project(vec!["k".to_owned(), "v".into(), "_rowid".into()].into())?;
    let mut all = Vec::new();
    for place in 0..table.manifest().fragments.len() {
        let physical = ready(table.reads.physical_rows(place))?;
        let deleted = ready(table.reads.deletions(place))?;
        let live = deleted.live(0..physical, physical).0;
        let batch = ready(table.reads.read(place, &columns, &Rows::Ranges(live)))?;
        let column = |at: usize| batch.column(at).as_primitive::<Int64Type>().values().to_vec();
        let ids = batch.column(2).as_primitive::<UInt64Type>().values().to_vec();
        all.extend(column(0).into_iter().zip(column(1)).zip(ids).map(|((k, v), id)| (k, v, id)));
    }
    Ok(all)
}

pub(crate) fn contents(table: &Table) -> Result<Contents> {
    let rows = rows(table)?;
    let contents: Contents = rows.iter().map(|(key, value, _)| (*key, *value)).collect();
    assert_eq!(contents.len(), rows.len(), "a key is there twice: {rows:?}");
    let ids: std::collections::HashSet<u64> = rows.iter().map(|(_, _, id)| *id).collect();
    assert_eq!(ids.len(), rows.len(), "a row id is there twice: {rows:?}");
    Ok(contents)
}

/// The numbers of rows with some keys, in the order of the table.
fn find(table: &Table, is_wanted: impl Fn(i64) -> bool) -> Result<Vec<u64>> {
    let rows = rows(table)?;
    let found = rows.iter().zip(0_u64..).filter(|((key, _, _), _)| is_wanted(*key));
    Ok(found.map(|(_, number)| number).collect())
}

/// What may be done to a table of the keys 0 to 12.
const VERBS: [&str; 7] =
    ["append", "overwrite", "delete", "delete a fragment", "update", "merge", "append from old"];

fn run(verb: &str, table: &Table) -> Result<Table> {
    let options = options(false);
    let numbers = |wanted: &[i64]| find(table, |key| wanted.contains(&key)).map(TableRows::Numbers);
    let nothing = || Nothing(table.reads.snapshot.schema.arrow.clone());
    let done = match verb {
        "append" | "append from old" => ready(
            table.append(source(&[(20, 0), (21, 0), (22, 0), (23, 0), (24, 0), (25, 0)]), &options),
        ),
        "overwrite" => ready(table.overwrite(source(&[(1, 7), (2, 7), (3, 7)]), &options)),
        "delete" => ready(table.delete(&numbers(&[1, 3, 7])?, "", &options)),
        "delete a fragment" => ready(table.delete(&numbers(&[0, 1, 2, 3, 4, 6])?, "", &options)),
        "update" => {
            let changed = source(&[(1, 100), (3, 100), (7, 100)]);
            ready(table.update(&numbers(&[1, 3, 7])?, changed, nothing(), &options))
        }
        "merge" => {
            let (changed, new) = (source(&[(1, 100), (3, 100)]), source(&[(30, 1), (31, 1)]));
            ready(table.update(&numbers(&[1, 3])?, changed, new, &options))
        }
        _ => panic!("{verb}"),
    };
    done.map(|(table, _)| table)
}

/// A table with deletions, in three versions.
pub(crate) fn prepared(stable: bool) -> Simulated {
    let store = Simulated::new();
    let first: Vec<(i64, i64)> = (0..13).map(|key| (key, key)).collect();
    let (table, _) =
        ready(create(store.clone(), root(), source(&first), &options(stable))).unwrap();
    let deleted = TableRows::Numbers(vec![5, 9]);
    let (table, _) = ready(table.delete(&deleted, "", &options(stable))).unwrap();
    assert_eq!(table.manifest().version, 2);
    let (table, _) = ready(table.append(source(&[(13, 13)]), &options(stable))).unwrap();
    assert_eq!(contents(&table).unwrap().len(), 12);
    store
}

pub(crate) const FAULTS: [Fault; 4] =
    [Fault::Fail, Fault::FailAfter, Fault::Kill, Fault::KillAfter];

#[test]
fn a_fault_at_every_request_of_every_verb() {
    for stable in [false, true] {
        let origin = prepared(stable);
        for verb in VERBS {
            let before = contents(&open(&origin).unwrap()).unwrap();
            let sound = origin.copied();
            let after = contents(&run(verb, &opened_for(verb, &sound).unwrap()).unwrap()).unwrap();
            assert_ne!(before, after);
            for fault in FAULTS {
                let mut request = 0;
                loop {
                    let writer = origin.copied();
                    let what = format!("{verb}, stable {stable}, {fault:?} at request {request}");
                    writer.strike(request, fault);
                    let done = opened_for(verb, &writer).and_then(|table| run(verb, &table));
                    let struck = writer.has_struck();
                    check_nothing_left(&what, &writer, fault, done.as_ref().err(), &NONE);
                    // The machine may be lost as well: what was acknowledged, or may be there, was synced before.
                    let error = done.err();
                    let crashed = writer.after_a_crash();
                    check_after(
                        &format!("{what}, crashed"),
                        &crashed,
                        error.as_ref(),
                        &before,
                        &after,
                    );
                    check_after(&what, &writer.another(), error.as_ref(), &before, &after);
                    if !struck {
                        break;
                    }
                    request += 1;
                }
                assert!(request > 5, "{verb}: {request} requests");
            }
        }
    }
}

fn opened_for(verb: &str, store: &Simulated) -> Result<Table> {
    let table = open(store)?;
    match verb {
        "append from old" => ready(table.checkout(&At::Version(1))),
        _ => Ok(table),
    }
}

/// No file at all.
pub(crate) const NONE: [PathBuf; 0] = [];

/// The files that no version of the table names, of those that versions name.
pub(crate) fn unnamed(store: &Simulated) -> Vec<PathBuf> {
    let mut left = store.paths();
    let folders = ["data", "_deletions", "_transactions"].map(|folder| root().join(folder));
    left.retain(|path| folders.iter().any(|folder| path.starts_with(folder)));
    let Ok(table) = open(&store.another()) else { return left };
    let [data, deletions, transactions] = folders;
    let mut named = BTreeSet::new();
    for version in table.versions.numbers() {
        let at = ready(table.checkout(&At::Version(*version))).unwrap();
        named.insert(transactions.join(&at.manifest().transaction_file));
        for fragment in &at.manifest().fragments {
            named.extend(fragment.files.iter().map(|file| data.join(&*file.path)));
            let deleted = fragment.deletion_file.as_ref();
            named.extend(deleted.map(|file| deletions.join(file.file_name(fragment.id))));
        }
    }
    left.retain(|path| !named.contains(path));
    left
}

/// Who goes on after a fault, and knows what became of its change, leaves no file that nobody needs.
pub(crate) fn check_nothing_left(
    what: &str,
    store: &Simulated,
    fault: Fault,
    error: Option<&Error>,
    before: &[PathBuf],
) {
    if matches!(fault, Fault::Fail | Fault::FailAfter) && error.is_none_or(is_certain) {
        assert_eq!(unnamed(store), before, "{what}: {error:?}");
    }
}

/// The table opens; an acknowledged change is there, one that certainly failed is not, and none is half there.
fn check_after(
    what: &str,
    store: &Simulated,
    error: Option<&Error>,
    before: &Contents,
    after: &Contents,
) {
    let table = open(store).unwrap_or_else(|error| panic!("{what}: {error}"));
    let found = contents(&table).unwrap_or_else(|error| panic!("{what}: {error}"));
    match error {
        None => assert_eq!(&found, after, "{what}"),
        Some(error) if is_certain(error) => assert_eq!(&found, before, "{what}: {error}"),
        Some(error) => assert!(&found == before || &found == after, "{what}: {error}: {found:?}"),
    }
    // All versions are there, and the next change works.
    let numbers = table.versions.numbers().to_vec();
    let last = *numbers.last().unwrap();
    assert_eq!(numbers, (1..=last).collect::<Vec<_>>(), "{what}");
    let (table, _) = ready(table.append(source(&[(99, 1)]), &options(false)))
        .unwrap_or_else(|error| panic!("{what}: {error}"));
    assert_eq!(contents(&table).unwrap().len(), found.len() + 1, "{what}");
    assert_eq!(table.manifest().version, last + 1, "{what}");
}

#[test]
fn a_fault_at_every_request_of_a_creation() {
    for fault in FAULTS {
        for request in 0.. {
            let store = Simulated::new();
            store.strike(request, fault);
            let done =
                ready(create(store.clone(), root(), source(&[(1, 1), (2, 2)]), &options(true)));
            if !store.has_struck() {
                assert!(done.is_ok() && request > 5);
                break;
            }
            let what = format!("{fault:?} at request {request}");
            check_nothing_left(&what, &store, fault, done.as_ref().err(), &NONE);
            let other = store.another();
            match (open(&other), done) {
                (Ok(table), _) => assert_eq!(contents(&table).unwrap().len(), 2),
                (Err(_), Ok(_)) => {
                    panic!("{fault:?} at {request}: an acknowledged table is not there")
                }
                (Err(_), Err(_)) => {
                    // Nothing stands in the way of another try.
                    ready(create(other, root(), source(&[(1, 1)]), &options(true))).unwrap();
                }
            }
        }
    }
}

#[test]
fn what_was_written_for_nothing_goes_away() {
    let store = prepared(true);
    let before = store.paths();
    let stale = open(&store).unwrap();
    ready(open(&store).unwrap().overwrite(source(&[(1, 1)]), &options(true))).unwrap();
    let after = store.paths();
    // Behind an overwrite nothing of this makes sense.
    let nothing = || Nothing(stale.reads.snapshot.schema.arrow.clone());
    let rows = TableRows::Numbers(vec![0, 1]);
    let failed = [
        ready(stale.append(source(&[(50, 1)]), &options(true))).err(),
        ready(stale.delete(&rows, "", &options(true))).err(),
        ready(stale.update(&rows, source(&[(0, 5), (1, 5)]), nothing(), &options(true))).err(),
    ];
    for error in failed {
        let error = error.unwrap();
        assert!(matches!(&error, Error::Conflict(c) if c.version == 4 && c.theirs == "overwrite"));
        assert!(error.to_string().contains("version 4 (overwrite) came first"), "{error}");
    }
    assert_eq!(store.paths(), after);
    assert!(before.len() < after.len());
    let cancel = Arc::new(std::sync::atomic::AtomicBool::new(true));
    let cancelled = options(true).with_cancel(cancel);
    let error = ready(open(&store).unwrap().append(source(&[(50, 1)]), &cancelled)).err().unwrap();
    assert!(matches!(error, Error::Cancelled));
    assert_eq!(store.paths(), after);
}

#[test]
fn a_version_that_a_list_leaves_out_is_looked_for() {
    let store = prepared(true);
    let stale = open(&store).unwrap();
    let (next, _) = ready(stale.append(source(&[(40, 1)]), &options(true))).unwrap();
    ready(next.append(source(&[(41, 1)]), &options(true))).unwrap();
    // Of versions 4 and 5 only the newer one is listed.
    store.leave_out("t.lance/_versions/18446744073709551611.manifest");
    let (table, told) = ready(stale.append(source(&[(42, 1)]), &options(true))).unwrap();
    assert_eq!((told.version, contents(&table).unwrap().len()), (6, 15));
}

#[test]
fn two_deletions_of_one_fragment_become_one() {
    for stable in [false, true] {
        let store = prepared(stable);
        let (one, other) = (open(&store).unwrap(), open(&store).unwrap());
        let (one, _) =
            ready(one.delete(&TableRows::Numbers(vec![0, 2]), "", &options(stable))).unwrap();
        // Other rows of the same fragment, read before that.
        let both =
            ready(other.delete(&TableRows::Numbers(vec![1, 3]), "", &options(stable))).unwrap();
        let keys: Vec<i64> = contents(&both.0).unwrap().into_keys().collect();
        assert_eq!(keys, [4, 6, 7, 8, 10, 11, 12, 13]);
        assert_eq!(both.0.manifest().version, 5);
        // The same row.
        let error = ready(other.delete(&TableRows::Numbers(vec![2]), "", &options(stable)));
        let error = error.err().unwrap();
        assert!(matches!(&error, Error::Conflict(c) if c.can_retry), "{error}");
        // The rest of the fragment.
        let all = ready(one.delete(&TableRows::Numbers(vec![2]), "", &options(stable))).unwrap();
        assert_eq!(all.0.manifest().fragments.len(), 3);
        assert!(all.0.manifest().fragments.iter().all(|fragment| fragment.id != 0));
    }
}

#[test]
fn deletion_files_are_synced_together() {
    let syncs = |rows: &[u64]| {
        let store = prepared(true).another();
        let table = open(&store).unwrap();
        ready(table.delete(&TableRows::Numbers(rows.to_vec()), "", &options(true))).unwrap();
        store.syncs()
    };
    // Rows of one fragment, and of three.
    assert_eq!(syncs(&[0]), syncs(&[0, 5, 9]));
}

#[test]
fn deletion_files_that_others_made_useless_go() {
    let store = prepared(true);
    let (one, other) = (open(&store).unwrap(), open(&store).unwrap());
    ready(one.delete(&TableRows::Numbers(vec![0, 2]), "", &options(true))).unwrap();
    ready(other.delete(&TableRows::Numbers(vec![1, 3]), "", &options(true))).unwrap();
    assert_eq!(unnamed(&store), NONE);
}

#[test]
fn attempts_are_told_as_they_were_made() {
    let store = prepared(true);
    let stale = ready(open(&store).unwrap().checkout(&At::Version(2))).unwrap();
    // Version 3 is there, but is not in the list: its name is taken.
    store.leave_out("t.lance/_versions/18446744073709551612.manifest");
    let hasty = options(true).with_commit_timeout(std::time::Duration::ZERO);
    let error = ready(stale.append(source(&[(40, 1)]), &hasty)).err().unwrap();
    assert!(matches!(error, Error::Busy { attempts: 1, version: 3, .. }), "{error}");
    assert_eq!(unnamed(&store), NONE);
}
