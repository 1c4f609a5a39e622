//! Several writers with faults, against a simple model of what the table must hold.

use std::collections::BTreeMap;

use crate::chosen_rows::TableRows;
use crate::compact_plan::CompactOptions;
use crate::fault_tests::{Contents, Table, contents, open, options, root, rows, source};
use crate::options::At;
use crate::row_source::Nothing;
use crate::simulated::{Fault, Simulated};
use crate::storage::ready;
use crate::write::{TableChange, create, is_certain};

/// Random numbers that are the same every time.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn of_seed(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }
}

/// A writer with the table as it last saw it.
struct Player {
    store: Simulated,
    table: Option<Table>,
}

/// What the table must hold.
struct Model {
    contents: Contents,
    /// The version in which each key was last changed or removed.
    changed: BTreeMap<i64, u64>,
    /// The last version that replaced everything.
    overwritten: u64,
    next_key: i64,
}

/// A change: keys that go, keys that get a value, whether all else goes.
struct Change {
    removed: Vec<i64>,
    set: Vec<(i64, i64)>,
    replaces_all: bool,
}

impl Model {
    fn after(&self, change: &Change) -> Contents {
        let mut contents =
            if change.replaces_all { Contents::new() } else { self.contents.clone() };
        contents.retain(|key, _| !change.removed.contains(key));
        contents.extend(change.set.iter().copied());
        contents
    }

    /// A change was committed, by somebody who had read a version.
    fn commit(&mut self, change: &Change, read: u64, version: u64, what: &str) {
        let touched = change.removed.iter().chain(change.set.iter().map(|(key, _)| key));
        for key in touched.clone().filter(|_| !change.replaces_all) {
            let last = self.changed.get(key).copied().unwrap_or(0);
            assert!(
                last <= read,
                "{what}: key {key} was changed by version {last}, read at {read}"
            );
        }
        assert!(change.replaces_all || self.overwritten <= read, "{what}: behind an overwrite");
        for key in touched {
            self.changed.insert(*key, version);
        }
        if change.replaces_all {
            self.overwritten = version;
            self.changed.clear();
        }
        self.contents = self.after(change);
    }
}

/// One step of one writer.
fn step(player: &mut Player, model: &mut Model, checker: &mut Table, dice: &mut Dice, what: &str) {
    if dice.roll(8) == 0 {
        let faults = [Fault::Fail, Fault::FailAfter, Fault::Kill, Fault::KillAfter];
        let fault = faults[usize::try_from(dice.roll(4)).unwrap()];
        player.store.strike(dice.roll(25), fault);
    }
    if player.table.is_none() || dice.roll(3) == 0 {
        player.table = match &player.table {
            Some(table) => ready(table.checkout(&At::Latest)).ok(),
            None => open(&player.store).ok(),
        };
    }
    let Some(table) = player.table.clone() else {
        player.store = player.store.another();
        return;
    };
    let (read, stable) = (table.manifest().version, options(false));
    let Ok(known) = rows(&table) else {
        *player = Player { store: player.store.another(), table: None };
        return;
    };
    let mut new_rows = |dice: &mut Dice, count: u64| -> Vec<(i64, i64)> {
        (0..count)
            .map(|_| {
                model.next_key += 1;
                (model.next_key, i64::try_from(dice.roll(1000)).unwrap())
            })
            .collect()
    };
    let some: Vec<(u64, i64, u64)> = known
        .iter()
        .zip(0_u64..)
        .filter(|_| dice.roll(5) == 0)
        .map(|((key, _, id), number)| (number, *key, *id))
        .collect();
    let keys: Vec<i64> = some.iter().map(|(_, key, _)| *key).collect();
    let wanted = match dice.roll(2) {
        0 => TableRows::Ids(some.iter().map(|(_, _, id)| *id).collect()),
        _ => TableRows::Numbers(some.iter().map(|(number, _, _)| *number).collect()),
    };
    let nothing = Nothing(table.reads.snapshot.schema.arrow.clone());
    let (change, done) = match dice.roll(20) {
        0 => {
            let count = dice.roll(9);
            let set = new_rows(dice, count);
            let done = ready(table.overwrite(source(&set), &stable));
            (Change { removed: Vec::new(), set, replaces_all: true }, done)
        }
        1..8 => {
            let count = 1 + dice.roll(9);
            let set = new_rows(dice, count);
            let done = ready(table.append(source(&set), &stable));
            (Change { removed: Vec::new(), set, replaces_all: false }, done)
        }
        8..13 => {
            let done = ready(table.delete(&wanted, "", &stable));
            (Change { removed: keys, set: Vec::new(), replaces_all: false }, done)
        }
        13..17 => {
            let set: Vec<(i64, i64)> =
                keys.iter().map(|key| (*key, i64::try_from(dice.roll(1000)).unwrap())).collect();
            let done = ready(table.update(&wanted, source(&set), nothing, &stable));
            (Change { removed: Vec::new(), set, replaces_all: false }, done)
        }
        17 => {
            let plan = CompactOptions::default().with_target_rows(20);
            let done = ready(table.compact(&plan, &stable)).map(|(table, told)| {
                (table, TableChange { version: told.version, ..TableChange::default() })
            });
            (Change { removed: Vec::new(), set: Vec::new(), replaces_all: false }, done)
        }
        _ => {
            let mut set: Vec<(i64, i64)> = keys.iter().map(|key| (*key, -1)).collect();
            let count = dice.roll(4);
            let new = new_rows(dice, count);
            let done = ready(table.update(&wanted, source(&set), source(&new), &stable));
            set.extend(new);
            (Change { removed: Vec::new(), set, replaces_all: false }, done)
        }
    };
    // Somebody without faults, who keeps files open, sees what there is.
    *checker = ready(checker.checkout(&At::Latest)).unwrap_or_else(|e| panic!("{what}: {e}"));
    let now = checker.manifest().version;
    let found = contents(checker).unwrap_or_else(|error| panic!("{what}: {error}"));
    match done {
        Ok((moved, told)) => {
            // A change of no rows leaves the writer where it was.
            if told.version != read {
                // A compaction changes nothing, and begins with the newest version, whatever was read.
                if change.replaces_all || !change.removed.is_empty() || !change.set.is_empty() {
                    model.commit(&change, read, told.version, what);
                }
                assert_eq!(contents(&moved).ok().unwrap_or(found.clone()), found, "{what}");
            }
            player.table = Some(moved);
        }
        Err(error) if is_certain(&error) => player.table = None,
        Err(_) => {
            // It is there or not, but not half of it.
            if found != model.contents {
                model.commit(&change, read, now, what);
            }
            *player = Player { store: player.store.another(), table: None };
        }
    }
    assert_eq!(found, model.contents, "{what}");
}

/// A history of several writers.
fn history(seed: u64, steps: u64) {
    let mut dice = Dice::of_seed(seed);
    let stable = dice.roll(2) == 0;
    let store = Simulated::new();
    let set: Vec<(i64, i64)> = (0..17).map(|key| (key, key)).collect();
    ready(create(store.clone(), root(), source(&set), &options(stable))).unwrap();
    let contents = set.iter().copied().collect();
    let mut checker = open(&store.another()).unwrap();
    let mut model = Model { contents, changed: BTreeMap::new(), overwritten: 0, next_key: 100 };
    let mut players: Vec<Player> =
        (0..3).map(|_| Player { store: store.another(), table: None }).collect();
    for at in 0..steps {
        let player = usize::try_from(dice.roll(3)).unwrap();
        let what = format!("seed {seed}, step {at}");
        step(&mut players[player], &mut model, &mut checker, &mut dice, &what);
    }
}

#[test]
fn several_writers_with_faults_against_a_model() {
    const STEPS_EACH: u64 = 40;
    let number = |name: &str, default: u64| {
        std::env::var(name).map_or(default, |text| text.parse().unwrap())
    };
    let (steps, first) = (number("LANCET_STEPS", 20_000), number("LANCET_SEED", 1));
    let seeds = first..first + steps.div_ceil(STEPS_EACH);
    let threads = std::thread::available_parallelism().map_or(1, |threads| threads.get() as u64);
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let seeds = seeds.clone().filter(move |seed| seed % threads == thread);
            scope.spawn(move || seeds.for_each(|seed| history(seed, STEPS_EACH)));
        }
    });
}
