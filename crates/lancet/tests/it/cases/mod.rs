//! What the golden tests are made of.

pub mod corpus;
pub mod exceptions;
pub mod writing;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::support::{Check, Failure};

/// Runs `check` for every case on a few threads. A panic is a failure like any other.
pub fn run_all<C: Sync>(cases: &[C], check: impl Fn(&C) -> Check + Sync) -> Vec<Check> {
    let next = AtomicUsize::new(0);
    let outcomes = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, |n| n.get().min(8)) {
            scope.spawn(|| {
                while let Some((index, case)) = {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    cases.get(index).map(|case| (index, case))
                } {
                    let outcome = catch_unwind(AssertUnwindSafe(|| check(case)))
                        .unwrap_or_else(|_| Err(Failure::Wrong("panicked".into())));
                    outcomes.lock().unwrap().push((index, outcome));
                }
            });
        }
    });
    let mut outcomes = outcomes.into_inner().unwrap();
    outcomes.sort_by_key(|(index, _)| *index);
    outcomes.into_iter().map(|(_, outcome)| outcome).collect()
}
