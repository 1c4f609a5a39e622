//! What the tests are made of. Each test program uses a part.
#![allow(dead_code, reason = "every test program is compiled with all of it")]

pub mod compare;
pub mod corpus;
pub mod counted;
pub mod exceptions;
pub mod nested;
pub mod reading;
pub mod select;
pub mod writing;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How a case went wrong.
#[derive(Debug)]
pub enum Failure {
    /// lancet says that it does not handle this. Right for the cases listed as such.
    Unsupported(String),
    /// Anything else is a defect.
    Wrong(String),
}

/// The outcome of a check.
pub type Check<T = ()> = Result<T, Failure>;

impl Failure {
    /// An error of lancet, and what it was doing.
    pub fn from_error(doing: &str, error: &lancet::Error) -> Self {
        match error {
            lancet::Error::Unsupported(_) => Self::Unsupported(format!("{doing}: {error}")),
            _ => Self::Wrong(format!("{doing}: {error}")),
        }
    }

    /// The same failure, told with what had happened before.
    pub fn after(self, what: &str) -> Self {
        match self {
            Self::Unsupported(how) => Self::Unsupported(format!("{what}: {how}")),
            Self::Wrong(how) => Self::Wrong(format!("{what}: {how}")),
        }
    }
}

/// Names the operation that a lancet call was part of.
pub trait Doing<T> {
    fn doing(self, what: impl FnOnce() -> String) -> Check<T>;
}

impl<T> Doing<T> for lancet::Result<T> {
    fn doing(self, what: impl FnOnce() -> String) -> Check<T> {
        self.map_err(|error| Failure::from_error(&what(), &error))
    }
}

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

/// A small generator of numbers: the same ones on every run (SplitMix64).
pub struct Random(u64);

impl Random {
    /// Starts from a name, so that a case draws the same numbers whatever stands around it.
    pub fn seeded(name: &str) -> Self {
        Self(name.bytes().fold(0x9e37_79b9, |seed, byte| seed * 31 % (1 << 56) + u64::from(byte)))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Starts from a number.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// One of some values.
    pub fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize]
    }

    /// A number in `0..end`; 0 when that is empty.
    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }
}
