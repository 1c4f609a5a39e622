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
#[path = "support/seeds.rs"]
mod seeds;
#[path = "support/small.rs"]
mod small;

use guard::{Counting, Outcomes};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() {
    let (files, outcomes) = (small::files(), Outcomes::default());
    let keep = seeds::option("--keep", u64::MAX);
    let count = seeds::each("mutants", |seed| {
        let (name, mutant) = small::mutant(&files, seed);
        if keep == seed {
            std::fs::write("mutant.lance", &mutant).unwrap();
        }
        outcomes.check(&format!("seed {seed}, from {name}"), &mutant);
    });
    outcomes.judge(count);
}
