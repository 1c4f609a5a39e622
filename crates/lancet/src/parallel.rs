//! Work on several threads, the calling one among them.
//!
//! Who has work does it: the caller goes through its items one by one, and helpers take some of them
//! away. It waits at the end only for items that a helper has begun, never for a helper to come, so
//! helpers that are busy, asleep or not there at all cost nothing but their help. A call from a task
//! of somebody else's pool, from a helper, or in a process that may have no more threads ends like any
//! other.
//!
//! Without the feature `threads` nobody helps.

mod in_order;
mod locks;
mod per_process;
mod shared;
#[cfg_attr(feature = "threads", path = "parallel/many.rs")]
#[cfg_attr(not(feature = "threads"), path = "parallel/one.rs")]
mod threads;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::Result;
pub use in_order::InOrder;
pub(crate) use locks::{lock, try_lock};
pub(crate) use per_process::{HereOnly, PerProcess};
use shared::Shared;
pub(crate) use threads::{ask, num_threads, withdraw};

/// Batches of up to this many bytes are read further ahead, and those of up to some more less so.
const SHORT_BATCH_BYTES: u64 = 1 << 20;
const MEDIUM_BATCH_BYTES: u64 = 4 << 20;

/// How many batches may be read before the caller asks for them, if they have about so many bytes; none without helpers.
///
/// A thread that finds nothing to do sleeps, and wakes late for the next batch if that is short: it is to find one whenever
/// it is done with another.
pub fn num_ahead(num_helpers: usize, batch_bytes: u64) -> usize {
    if num_helpers == 0 {
        0
    } else if batch_bytes <= SHORT_BATCH_BYTES {
        num_helpers.saturating_mul(6)
    } else if batch_bytes <= MEDIUM_BATCH_BYTES {
        num_helpers.saturating_mul(2).saturating_add(1)
    } else {
        num_helpers.saturating_add(1)
    }
}

/// Work that helpers may join.
pub(crate) trait Job: Send + Sync {
    /// Does a part of the work, until there is none left that nobody has begun. Does not panic.
    fn help(&self);
}

/// Does the work of all items on at most so many threads; the results come in the order of the items.
/// After an error no more work is begun. A panic goes on in the caller.
pub(crate) fn in_parallel<T, R, F>(threads: usize, items: Vec<T>, work: F) -> Result<Vec<R>>
where
    T: Send + 'static,
    R: Send + 'static,
    F: Fn(T) -> Result<R> + Send + Sync + 'static,
{
    let num_helpers = threads.min(items.len()).saturating_sub(1);
    if num_helpers == 0 {
        return items.into_iter().map(work).collect();
    }
    let shared = Arc::new(Shared::new(items, work));
    let job: Arc<dyn Job> = shared.clone();
    ask(&job, num_helpers);
    shared.help();
    withdraw(&job);
    let results = shared.finish().into_iter();
    results.map(|result| result.unwrap_or_else(|panic| resume_unwind(panic))).collect()
}

/// [`in_parallel`] for items that are changed in place. They stay, whatever happens.
pub(crate) fn in_parallel_mut<T, R, F>(
    threads: usize,
    items: &mut Vec<T>,
    work: F,
) -> Result<Vec<R>>
where
    T: Send + 'static,
    R: Send + 'static,
    F: Fn(&mut T) -> Result<R> + Send + Sync + 'static,
{
    if threads.min(items.len()) <= 1 {
        return items.iter_mut().map(work).collect();
    }
    let failed = AtomicBool::new(false);
    let done = in_parallel(threads, std::mem::take(items), move |mut item: T| {
        if failed.load(Ordering::Relaxed) {
            return Ok((item, None));
        }
        let result = catch_unwind(AssertUnwindSafe(|| work(&mut item)));
        failed.fetch_or(!matches!(result, Ok(Ok(_))), Ordering::Relaxed);
        Ok((item, Some(result)))
    })?;
    let (kept, results): (Vec<T>, Vec<_>) = done.into_iter().unzip();
    *items = kept;
    let results = results.into_iter().flatten();
    results.map(|result| result.unwrap_or_else(|panic| resume_unwind(panic))).collect()
}

#[cfg(test)]
mod tests;
