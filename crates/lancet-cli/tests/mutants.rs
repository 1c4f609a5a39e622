//! Many damaged files through every verb of the program: `cargo xtask mutants --count N --seed S`.
//!
//! Not part of the tests; see `cli/mutants.rs` for those.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

#[path = "../../lancet/tests/support/mutate/mod.rs"]
#[expect(dead_code, reason = "each test uses a part of the engine")]
mod mutate;
#[path = "support/verbs.rs"]
mod verbs;

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use verbs::{Limited, Verbs};

#[global_allocator]
static LIMITED: Limited = Limited;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let option = |name: &str, default: u64| {
        let at = arguments.iter().position(|argument| argument == name);
        at.and_then(|at| arguments.get(at + 1)).map_or(default, |text| text.parse().unwrap())
    };
    let (count, seed) = (option("--count", 100_000), option("--seed", 0));
    let verbs = Verbs::new(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("mutants-of-verbs"));
    let (next, start) = (AtomicU64::new(seed), Instant::now());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, |n| n.get()) {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    if at >= seed.saturating_add(count) {
                        break;
                    }
                    verbs.check(at);
                }
            });
        }
    });
    println!("{count} mutants of every verb in {:.0} s", start.elapsed().as_secs_f64());
    verbs.judge();
}
