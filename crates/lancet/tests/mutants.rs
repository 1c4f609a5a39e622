//! Many random mutants of the small files, structure kept: `cargo xtask mutants --count N --seed S`.
//!
//! Not part of the tests; see `corruption.rs` for those.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![allow(clippy::field_reassign_with_default)]

#[path = "support/guard.rs"]
mod guard;
#[path = "support/mutate/mod.rs"]
#[expect(dead_code, reason = "flips and truncations are for the tests")]
mod mutate;
#[path = "support/small.rs"]
mod small;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use guard::{Counting, Outcomes};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let option = |name: &str, default: u64| {
        let at = arguments.iter().position(|argument| argument == name);
        at.and_then(|at| arguments.get(at + 1)).map_or(default, |text| text.parse().unwrap())
    };
    let (count, seed) = (option("--count", 100_000), option("--seed", 0));
    let files = small::files();
    let (outcomes, next, start) = (Outcomes::default(), AtomicU64::new(seed), Instant::now());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, |n| n.get()) {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= count.saturating_add(option("--seed", 0)) {
                        break;
                    }
                    let (name, mutant) = small::mutant(&files, seed);
                    if option("--keep", u64::MAX) == seed {
                        std::fs::write("mutant.lance", &mutant).unwrap();
                    }
                    outcomes.check(&format!("seed {seed}, from {name}"), &mutant);
                }
            });
        }
    });
    println!("{count} mutants in {:.0} s", start.elapsed().as_secs_f64());
    outcomes.judge(count);
}
