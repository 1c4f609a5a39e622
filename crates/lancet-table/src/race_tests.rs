//! Several who change one table at the same time, request by request in random order.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Waker};

use crate::chosen_rows::TableRows;
use crate::error::{Error, Result};
use crate::fault_tests::{
    Contents, NONE, Table, contents, open, options, prepared, root, source, unnamed,
};
use crate::model_tests::Dice;
use crate::opening::Opened;
use crate::options::{At, TableOptions};
use crate::schema_change::SchemaBefore;
use crate::shape_fault_tests::{VERBS, act, check_versions, compaction, everything, origin};
use crate::simulated::{Fault, Simulated};
use crate::storage::ready;
use crate::write::{create, is_certain};

type Work<'a> = Pin<Box<dyn Future<Output = ()> + 'a>>;

/// Has all work done. Who begins a request goes on for a while: how long depends on the dice, so that all orders come up and
/// those in which somebody sleeps while the others do everything.
fn together(dice: &mut Dice, mut work: Vec<Work<'_>>) {
    let stays = [1, 4, 20, 100, 400][usize::try_from(dice.roll(5)).unwrap()];
    let mut at = usize::try_from(dice.roll(work.len() as u64)).unwrap();
    while !work.is_empty() {
        if at >= work.len() || dice.roll(stays) == 0 {
            at = usize::try_from(dice.roll(work.len() as u64)).unwrap();
        }
        if work[at].as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready() {
            drop(work.remove(at));
        }
    }
}

async fn opened(store: &Simulated, at: At) -> Result<Table> {
    Opened::open(store.in_turns(), root(), TableOptions::default().with_version(at)).await
}

/// What every version, tag and branch holds can be read.
fn check_all(what: &str, store: &Simulated) -> Table {
    let table = open(store).unwrap_or_else(|error| panic!("{what}: {error}"));
    check_versions(what, &table);
    for tag in ready(table.tags()).unwrap() {
        let tagged = ready(table.checkout(&At::Tag(tag.name.clone())));
        let read = tagged.and_then(|tagged| contents(&tagged));
        read.unwrap_or_else(|error| panic!("{what}: tag {}: {error}", tag.name));
        assert!(!tag.name.starts_with("restoring"), "{what}: {}", tag.name);
    }
    for branch in ready(table.branches()).unwrap() {
        let read = ready(table.checkout(&At::Branch(branch.name.clone())));
        let read = read.and_then(|branch| contents(&branch));
        read.unwrap_or_else(|error| panic!("{what}: branch {}: {error}", branch.name));
    }
    table
}

fn at_version(store: &Simulated, version: u64) -> Contents {
    contents(&ready(open(store).unwrap().checkout(&At::Version(version))).unwrap()).unwrap()
}

const NAMINGS: [&str; 5] = ["tag", "move a tag", "branch", "clone", "restore"];

async fn give_name(verb: &str, table: &Table) -> Result<()> {
    match verb {
        "tag" => table.create_tag("new").await,
        "move a tag" => table.move_tag("old").await,
        "branch" => table.create_branch("new").await.map(drop),
        "clone" => table.put_clone("clone.lance".as_ref(), None).await.map(drop),
        "restore" => table.restore(&options(false)).await.map(drop),
        _ => panic!("{verb}"),
    }
}

/// The first version gets a name, or becomes the newest one, while a cleanup removes all that is old.
#[test]
fn versions_are_named_and_cleaned_up_at_the_same_time() {
    let store = origin(true);
    let then = at_version(&store, 1);
    for verb in NAMINGS {
        let (mut done, mut refused) = (0, 0);
        for seed in 0..300 {
            let (store, mut dice) = (store.copied(), Dice::of_seed(seed));
            let what = format!("{verb}, seed {seed}");
            let mut named = None;
            let naming = async {
                let table = opened(&store, At::Version(1)).await;
                named = Some(match table {
                    Ok(table) => give_name(verb, &table).await,
                    Err(error) => Err(error),
                });
            };
            let cleaning = async {
                opened(&store, At::Latest).await.unwrap().cleanup(&everything()).await.unwrap();
            };
            together(&mut dice, vec![Box::pin(naming), Box::pin(cleaning)]);
            let table = check_all(&what, &store);
            let is_there = |at: &str| {
                let at = match at {
                    "tag" => At::Tag("new".into()),
                    "move a tag" => At::Tag("old".into()),
                    "branch" => At::Branch("new".into()),
                    "restore" => At::Latest,
                    _ => return open_clone(&store).is_ok_and(|found| found == then),
                };
                ready(table.checkout(&at)).is_ok_and(|found| contents(&found).unwrap() == then)
            };
            assert_eq!(named.as_ref().unwrap().is_ok(), is_there(verb), "{what}: {named:?}");
            match named.unwrap() {
                Ok(()) => done += 1,
                Err(error) => {
                    refused += 1;
                    let text = error.to_string();
                    let told =
                        ["there", "not found", "gone"].iter().any(|word| text.contains(word));
                    assert!(told, "{what}: {text}");
                }
            }
        }
        assert!(done > 20 && refused > 20, "{verb}: {done} done, {refused} refused");
    }
}

fn open_clone(store: &Simulated) -> Result<Contents> {
    let options = TableOptions::default().with_any_base(true);
    contents(&ready(Opened::open(store.another(), "clone.lance".into(), options))?)
}

/// One adds rows and is slow, another one adds rows twice, deletes some and cleans up.
#[test]
fn what_is_acknowledged_is_not_in_a_hole() {
    let store = prepared(true);
    let (mut done, mut refused, mut uncertain) = (0, 0, 0);
    for seed in 0..1500 {
        let (store, mut dice) = (store.copied(), Dice::of_seed(seed));
        let what = format!("seed {seed}");
        let mut added = None;
        let slow = async {
            let table = opened(&store, At::Latest).await.unwrap();
            let rows = source(&[(50, 1), (51, 1), (52, 1)]);
            added = Some(table.append(rows, &options(true)).await.map(drop));
        };
        let fast = async {
            let table = opened(&store, At::Latest).await.unwrap();
            let (table, _) = table.append(source(&[(60, 1)]), &options(true)).await.unwrap();
            let first = TableRows::Numbers(vec![0]);
            let (table, _) = table.delete(&first, "", &options(true)).await.unwrap();
            let (table, _) = table.append(source(&[(61, 1)]), &options(true)).await.unwrap();
            table.cleanup(&everything()).await.unwrap();
        };
        together(&mut dice, vec![Box::pin(slow), Box::pin(fast)]);
        let found = contents(&check_all(&what, &store)).unwrap();
        let has = |keys: &[i64]| keys.iter().filter(|key| found.contains_key(key)).count();
        assert_eq!((has(&[60, 61]), has(&[0])), (2, 0), "{what}");
        match added.unwrap() {
            Ok(()) => {
                assert_eq!(has(&[50, 51, 52]), 3, "{what}");
                done += 1;
            }
            Err(error) if is_certain(&error) => {
                assert_eq!(has(&[50, 51, 52]), 0, "{what}: {error}");
                refused += 1;
            }
            Err(error) => {
                assert!(matches!(error, Error::Uncertain { .. }), "{what}: {error}");
                uncertain += 1;
            }
        }
    }
    let told = format!("{done} done, {refused} refused, {uncertain} uncertain");
    assert!(done > 800 && refused > 5 && uncertain < 20, "{told}");
}

/// Whether a writer knows what became of its change; then it is so.
fn was_told(told: &Result<()>, is_done: bool, what: &str) -> bool {
    match told {
        Ok(()) => assert!(is_done, "{what}: acknowledged, and not there"),
        Err(error) if is_certain(error) => assert!(!is_done, "{what}: {error}"),
        Err(_) => return false,
    }
    true
}

/// Has one do so many requests, then another one everything, then the first one the rest. Whether there was a rest.
fn interrupted(requests: usize, mut slow: Work<'_>, mut fast: Work<'_>) -> bool {
    let goes_on = |work: &mut Work<'_>| {
        work.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending()
    };
    for _ in 0..requests {
        if !goes_on(&mut slow) {
            return false;
        }
    }
    while goes_on(&mut fast) {}
    while goes_on(&mut slow) {}
    true
}

/// Somebody else is faster, at each request: what was written for the attempts that were lost goes.
#[test]
fn lost_attempts_leave_nothing() {
    let origin = prepared(true);
    for requests in 0.. {
        let store = origin.copied();
        let slow = async {
            let table = opened(&store, At::Latest).await.unwrap();
            table.delete(&TableRows::Ids(vec![4]), "", &options(true)).await.unwrap();
        };
        let fast = async {
            let table = opened(&store, At::Latest).await.unwrap();
            table.delete(&TableRows::Ids(vec![0]), "", &options(true)).await.unwrap();
        };
        if !interrupted(requests, Box::pin(slow), Box::pin(fast)) {
            assert!(requests > 10, "{requests} requests");
            break;
        }
        assert_eq!(unnamed(&store), NONE, "after {requests} requests");
    }
}

/// As above, with a tag on the version before: that it is there is no proof that nothing was cleaned up behind it. One
/// deletes a row and is slow, another one deletes rows of the same fragment twice and cleans up.
#[test]
fn what_is_deleted_is_not_in_a_hole_behind_a_tag() {
    let origin = prepared(true);
    ready(open(&origin).unwrap().create_tag("base")).unwrap();
    let mut doubts = 0;
    for requests in 0.. {
        let (store, what) = (origin.copied(), format!("after {requests} requests"));
        let mut told = None;
        let slow = async {
            let table = opened(&store, At::Latest).await.unwrap();
            // The id of a row is its key.
            let fourth = TableRows::Ids(vec![4]);
            told = Some(table.delete(&fourth, "", &options(true)).await.map(drop));
        };
        let fast = async {
            let mut table = opened(&store, At::Latest).await.unwrap();
            for _ in 0..2 {
                let first = TableRows::Numbers(vec![0]);
                (table, _) = table.delete(&first, "", &options(true)).await.unwrap();
            }
            table.cleanup(&everything()).await.unwrap();
        };
        if !interrupted(requests, Box::pin(slow), Box::pin(fast)) {
            break;
        }
        let found = contents(&check_all(&what, &store)).unwrap();
        doubts += usize::from(!was_told(&told.unwrap(), !found.contains_key(&4), &what));
    }
    assert!(doubts > 0 && doubts < 10, "{doubts} in doubt");
}

/// The same with columns.
#[test]
fn what_is_renamed_is_not_in_a_hole_behind_a_tag() {
    let origin = origin(true);
    ready(open(&origin).unwrap().create_tag("base")).unwrap();
    let mut doubts = 0;
    for requests in 0.. {
        let (store, what) = (origin.copied(), format!("after {requests} requests"));
        let mut told = None;
        let slow = async {
            let table = opened(&store, At::Latest).await.unwrap();
            told = Some(act("rename", &table).await.map(drop));
        };
        let fast = async {
            let mut table = opened(&store, At::Latest).await.unwrap();
            for first in ["v", "k"] {
                let change = |before: SchemaBefore<'_>| before.reordered(&[first]);
                table = table.change_schema(&change, true, &options(true)).await.unwrap();
            }
            table.cleanup(&everything()).await.unwrap();
        };
        if !interrupted(requests, Box::pin(slow), Box::pin(fast)) {
            break;
        }
        let table = check_all(&what, &store);
        let is_done = table.reads.snapshot.schema.arrow.column_with_name("y").is_some();
        doubts += usize::from(!was_told(&told.unwrap(), is_done, &what));
    }
    assert!(doubts > 0 && doubts < 10, "{doubts} in doubt");
}

/// A cleanup that fails half-way has put back what got a name.
#[test]
fn versions_are_named_while_a_cleanup_fails() {
    let store = origin(true);
    let (mut failed, mut named) = (0, 0);
    for seed in 0..2000 {
        let (store, mut dice) = (store.copied(), Dice::of_seed(seed));
        let what = format!("seed {seed}");
        let mut told = None;
        let naming = async {
            let table = opened(&store, At::Version(1)).await;
            told = Some(match table {
                Ok(table) => table.create_tag("new").await,
                Err(error) => Err(error),
            });
        };
        let request = dice.roll(60);
        let cleaning = async {
            let table = opened(&store, At::Latest).await.unwrap();
            table.storage().strike(request, Fault::Fail);
            failed += usize::from(table.cleanup(&everything()).await.is_err());
        };
        together(&mut dice, vec![Box::pin(naming), Box::pin(cleaning)]);
        check_all(&what, &store);
        let is_there = ready(open(&store).unwrap().checkout(&At::Tag("new".into()))).is_ok();
        assert_eq!(told.as_ref().unwrap().is_ok(), is_there, "{what}: {told:?}");
        named += usize::from(is_there);
    }
    assert!(failed > 500 && named > 100, "{failed} failed, {named} named");
}

/// Two make the same branch, from other versions.
#[test]
fn one_of_two_makes_a_branch() {
    let store = origin(false);
    let then = [2, 5].map(|version| at_version(&store, version));
    let mut won = [0, 0];
    for seed in 0..300 {
        let (store, mut dice) = (store.copied(), Dice::of_seed(seed));
        let mut made = [None, None];
        let [one, other] = &mut made;
        let create = async |version: u64| {
            let table = opened(&store, At::Version(version)).await?;
            table.create_branch("new").await.map(drop)
        };
        together(
            &mut dice,
            vec![
                Box::pin(async { *one = Some(create(2).await) }),
                Box::pin(async { *other = Some(create(5).await) }),
            ],
        );
        let made = made.map(|made| made.unwrap().is_ok());
        assert_ne!(made[0], made[1], "seed {seed}");
        let winner = usize::from(made[1]);
        won[winner] += 1;
        let branch = ready(open(&store).unwrap().checkout(&At::Branch("new".into()))).unwrap();
        assert_eq!(contents(&branch).unwrap(), then[winner], "seed {seed}");
        assert_eq!(branch.versions.numbers().len(), 1, "seed {seed}");
    }
    assert!(won.iter().all(|won| *won > 50), "{won:?}");
}

/// Any two verbs at once: whatever they say, everything that is there can be read, and the rows are those of one of them.
#[test]
fn any_two_verbs_at_the_same_time() {
    let store = origin(true);
    store.remove("t.lance/_versions/18446744073709551609.manifest");
    let (newest, first) = (at_version(&store, 5), at_version(&store, 1));
    for (number, one) in VERBS.iter().enumerate() {
        for other in VERBS.iter().skip(number) {
            for seed in 0..8 {
                let (store, mut dice) = (store.copied(), Dice::of_seed(seed));
                let what = format!("{one} and {other}, seed {seed}");
                let mut done = [None, None];
                let [mine, theirs] = &mut done;
                let run = async |verb: &str| act(verb, &opened(&store, At::Latest).await?).await;
                together(
                    &mut dice,
                    vec![
                        Box::pin(async { *mine = Some(run(one).await.map(drop)) }),
                        Box::pin(async { *theirs = Some(run(other).await.map(drop)) }),
                    ],
                );
                let found = contents(&check_all(&what, &store)).unwrap();
                assert!(found == newest || found == first, "{what}: {found:?}");
                // Two of a kind may be in each other's way; a cleanup is in the way of nobody but who needs old versions.
                let done = done.map(Option::unwrap);
                assert!(done.iter().any(Result::is_ok), "{what}: {done:?}");
            }
        }
    }
}

/// Of two compactions one finds that nothing is left to do, or that its work has to be done again.
#[test]
fn the_loser_of_two_compactions_leaves_nothing() {
    let store = origin(true);
    let mut lost = 0;
    for seed in 0..100 {
        let (store, mut dice) = (store.copied(), Dice::of_seed(seed));
        let mut done = [None, None];
        let [one, other] = &mut done;
        let run = async || {
            let table = opened(&store, At::Latest).await?;
            table.compact(&compaction(), &options(true)).await.map(|(_, report)| report)
        };
        together(
            &mut dice,
            vec![
                Box::pin(async { *one = Some(run().await) }),
                Box::pin(async { *other = Some(run().await) }),
            ],
        );
        let done = done.map(|done| done.unwrap().unwrap());
        lost += usize::from(done.iter().any(|report| report.fragments_removed == 0));
        assert_eq!(unnamed(&store), NONE, "seed {seed}: {done:?}");
    }
    assert!(lost > 50, "{lost} lost");
}

/// Two make a table in the same place.
#[test]
fn the_loser_of_two_creations_leaves_nothing() {
    for seed in 0..50 {
        let (store, mut dice) = (Simulated::new(), Dice::of_seed(seed));
        let mut done = [None, None];
        let [one, other] = &mut done;
        let make = async || {
            let rows = source(&[(1, 1), (2, 1)]);
            create(store.in_turns(), root(), rows, &options(true)).await.map(drop)
        };
        together(
            &mut dice,
            vec![
                Box::pin(async { *one = Some(make().await) }),
                Box::pin(async { *other = Some(make().await) }),
            ],
        );
        let refused = done.into_iter().filter(|done| done.as_ref().unwrap().is_err()).count();
        assert_eq!(refused, 1, "seed {seed}");
        assert_eq!(unnamed(&store), NONE, "seed {seed}");
    }
}

const BRANCH_NAMINGS: [&str; 3] = ["tag", "move a tag", "branch"];

/// A version of a branch gets a name while the branch is deleted: one of the two is refused.
#[test]
fn a_branch_is_named_and_deleted_at_the_same_time() {
    let store = origin(true);
    let then =
        contents(&ready(open(&store).unwrap().checkout(&At::Branch("side".into()))).unwrap());
    let then = then.unwrap();
    for verb in BRANCH_NAMINGS {
        let (mut named_won, mut deleted_won) = (0, 0);
        for seed in 0..300 {
            let (store, mut dice) = (store.copied(), Dice::of_seed(seed));
            let what = format!("{verb}, seed {seed}");
            let (mut named, mut deleted) = (None, None);
            let naming = async {
                let table = opened(&store, At::Branch("side".into())).await;
                named = Some(match table {
                    Ok(table) => give_name(verb, &table).await,
                    Err(error) => Err(error),
                });
            };
            let deleting = async {
                let table = opened(&store, At::Latest).await.unwrap();
                deleted = Some(table.delete_branch("side").await);
            };
            together(&mut dice, vec![Box::pin(naming), Box::pin(deleting)]);
            let table = check_all(&what, &store);
            let (named, deleted) = (named.unwrap(), deleted.unwrap());
            assert!(named.is_err() || deleted.is_err(), "{what}");
            let at = |at: At| ready(table.checkout(&at)).and_then(|found| contents(&found));
            if named.is_ok() {
                named_won += 1;
                let name = match verb {
                    "tag" => At::Tag("new".into()),
                    "move a tag" => At::Tag("old".into()),
                    _ => At::Branch("new".into()),
                };
                assert_eq!(at(name).unwrap(), then, "{what}");
            }
            match deleted {
                Ok(()) => {
                    deleted_won += 1;
                    assert!(at(At::Branch("side".into())).is_err(), "{what}");
                    let left = store.paths();
                    let left = left.iter().filter(|path| path.starts_with("t.lance/tree/side"));
                    assert_eq!(left.count(), 0, "{what}");
                }
                Err(error) => {
                    assert!(error.to_string().contains("`side`"), "{what}: {error}");
                    assert_eq!(at(At::Branch("side".into())).unwrap(), then, "{what}");
                }
            }
        }
        assert!(named_won > 20 && deleted_won > 20, "{verb}: {named_won}, {deleted_won}");
    }
}
