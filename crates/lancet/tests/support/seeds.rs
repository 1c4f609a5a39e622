//! Programs that go through seeds: `--count N --seed S`, on all cores.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// The number after an argument.
pub fn option(name: &str, default: u64) -> u64 {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let at = arguments.iter().position(|argument| argument == name);
    at.and_then(|at| arguments.get(at + 1)).map_or(default, |text| text.parse().unwrap())
}

/// Does something with each seed. Returns how many there were.
pub fn each(what: &str, act: impl Fn(u64) + Sync) -> u64 {
    let (count, first) = (option("--count", 100_000), option("--seed", 0));
    let (next, start) = (AtomicU64::new(first), Instant::now());
    let all = || std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, |n| n.get()) {
            scope.spawn(|| {
                all().take_while(|seed| *seed < first.saturating_add(count)).for_each(&act)
            });
        }
    });
    println!("{count} {what} in {:.0} s", start.elapsed().as_secs_f64());
    count
}
