//! Work on several threads, the calling one among them.
//!
//! A caller that hands its work to rayon and sleeps may find all of rayon's threads awake on the core
//! it slept on. One that works itself keeps its core, and the others are woken elsewhere.
//!
//! Without the feature `threads` there is the calling thread only.

#[cfg_attr(feature = "threads", path = "parallel/many.rs")]
#[cfg_attr(not(feature = "threads"), path = "parallel/one.rs")]
mod threads;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::error::Result;
pub(crate) use threads::{is_helper, num_threads, spawn};

/// Does the work of all items; the results come in the order of the items. After an error no more work
/// is begun.
pub(crate) fn in_parallel<T: Send, R: Send>(
    items: Vec<T>,
    work: impl Fn(T) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let num_helpers = num_threads().min(items.len()).saturating_sub(1);
    let mut done: Vec<Option<Result<R>>> = items.iter().map(|_| None).collect();
    let queue = Mutex::new(items.into_iter().zip(&mut done));
    let failed = AtomicBool::new(false);
    let next = || lock(&queue).next().filter(|_| !failed.load(Ordering::Relaxed));
    let run = || {
        while let Some((item, place)) = next() {
            let result = work(item);
            failed.fetch_or(result.is_err(), Ordering::Relaxed);
            *place = Some(result);
        }
    };
    threads::with_helpers(num_helpers, run);
    drop(queue);
    done.into_iter().flatten().collect()
}

/// A lock that outlives a panic of its holder.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    #[test]
    fn results_come_in_order_and_the_first_error_counts() {
        for n in [0, 1, 2, 100] {
            let found = in_parallel((0..n).collect(), |i: usize| Ok(i * 2)).unwrap();
            assert_eq!(found, (0..n).map(|i| i * 2).collect::<Vec<_>>());
        }
        let broken = |i: usize| match i {
            7 | 30 => Err(Error::invalid(format!("item {i}"))),
            _ => Ok(()),
        };
        let error = in_parallel((0..100).collect(), broken).unwrap_err();
        assert!(error.to_string().contains("item 7"), "{error}");
    }

    #[test]
    fn after_an_error_nothing_is_begun() {
        let count = Mutex::new(0);
        let fail = |_: usize| -> Result<()> {
            *lock(&count) += 1;
            Err(Error::invalid("no"))
        };
        in_parallel((0..10_000).collect(), fail).unwrap_err();
        assert!(*lock(&count) <= num_threads());
    }
}
