//! Any bytes are safe: damaged and forged files give an error or a table, never a panic, a hang or
//! an allocation beyond the limits.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![allow(clippy::field_reassign_with_default)]

#[path = "support/guard.rs"]
mod guard;
#[path = "support/mutate/mod.rs"]
mod mutate;
#[path = "support/small.rs"]
mod small;

use std::sync::Mutex;

use guard::{Counting, Outcomes};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// A maker of mutants: hands each, with what was done to it, to the function it is given.
type Maker = dyn Fn(&[u8], &mut dyn FnMut(String, Vec<u8>)) + Sync;

/// Of very many mutants one in so many is read: one in five, or as `LANCET_EVERY` says.
fn every() -> usize {
    std::env::var("LANCET_EVERY").map_or(5, |text| text.parse().unwrap())
}

/// Reads mutants of all small files, one in `every`, on as many threads as there are cores.
fn sweep(every: usize, make: &Maker) {
    let files = Mutex::new(small::files());
    let outcomes = Outcomes::default();
    let threads = std::thread::available_parallelism().map_or(2, |n| n.get().min(8));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((name, file)) = { files.lock().unwrap().pop() } {
                    let mut at = 0;
                    make(&file, &mut |what, mutant| {
                        if at % every == 0 {
                            outcomes.check(&format!("{name}: {what}"), &mutant);
                        }
                        at += 1;
                    });
                }
            });
        }
    });
    outcomes.judge(10_000);
}

#[test]
fn flipped_bits() {
    // Files above 2 KB hold tables of symbols and repeated text: every seventh bit is enough there.
    sweep(every(), &|file, each| mutate::flips(file, if file.len() > 2048 { 7 } else { 1 }, each));
}

#[test]
fn truncated_files() {
    sweep(1, &|file, each| mutate::truncations(file, each));
}

#[test]
fn forged_numbers() {
    sweep(every(), &|file, each| mutate::forged(file, each));
}

#[test]
fn a_few_changes_at_once() {
    let files = small::files();
    let outcomes = Outcomes::default();
    for seed in 0..20_000 {
        let (name, mutant) = small::mutant(&files, seed);
        outcomes.check(&format!("seed {seed}, from {name}"), &mutant);
    }
    outcomes.judge(20_000);
}

#[test]
fn the_small_files_are_intact() {
    for (name, file) in small::files() {
        let reader = lancet::FileReader::from_bytes(file.clone(), guard::options()).unwrap();
        let rows: usize = (reader.scan().build().unwrap()).map(|b| b.unwrap().num_rows()).sum();
        assert!(rows > 0, "{name}");
        let parts = mutate::file::Parts::split(&file).unwrap();
        assert_eq!(parts.join(), file, "{name}");
    }
}
