//! Items that several threads take one by one.

use std::iter::Enumerate;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::vec::IntoIter;

use super::{Job, lock};
use crate::error::Result;

/// Items, and what has become of them.
pub(super) struct Shared<T, R, F> {
    state: Mutex<State<T, R, F>>,
    ended: Condvar,
}

struct State<T, R, F> {
    items: Enumerate<IntoIter<T>>,
    /// Taken away at the end: helpers that come too late must not keep alive what it holds.
    work: Option<Arc<F>>,
    done: Vec<Option<Done<R>>>,
    /// Items that were begun and are not done.
    num_begun: usize,
    failed: bool,
    /// Whether the caller waits for the end: to wake nobody costs a call of the system, too.
    is_awaited: bool,
}

type Done<R> = thread::Result<Result<R>>;

impl<T, R, F: Fn(T) -> Result<R>> Shared<T, R, F> {
    pub(super) fn new(items: Vec<T>, work: F) -> Self {
        let done = items.iter().map(|_| None).collect();
        let (items, work) = (items.into_iter().enumerate(), Some(Arc::new(work)));
        let state = State { items, work, done, num_begun: 0, failed: false, is_awaited: false };
        Self { state: Mutex::new(state), ended: Condvar::new() }
    }

    fn begin(&self) -> Option<(usize, T, Arc<F>)> {
        let mut state = lock(&self.state);
        if state.failed {
            return None;
        }
        let work = state.work.clone()?;
        let (place, item) = state.items.next()?;
        state.num_begun += 1;
        Some((place, item, work))
    }

    fn end(&self, place: usize, result: Done<R>) {
        let mut state = lock(&self.state);
        state.num_begun -= 1;
        state.failed |= !matches!(result, Ok(Ok(_)));
        if let Some(done) = state.done.get_mut(place) {
            *done = Some(result);
        }
        if state.num_begun == 0 && state.is_awaited {
            self.ended.notify_all();
        }
    }

    /// Waits for what others have begun. The results of all items that were begun, in their order.
    pub(super) fn finish(&self) -> Vec<Done<R>> {
        let mut state = lock(&self.state);
        state.is_awaited = true;
        while state.num_begun > 0 {
            state = self.ended.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let left = std::mem::replace(&mut state.items, Vec::new().into_iter().enumerate());
        let (work, done) = (state.work.take(), std::mem::take(&mut state.done));
        drop(state);
        drop((left, work));
        done.into_iter().flatten().collect()
    }
}

impl<T, R, F> Job for Shared<T, R, F>
where
    T: Send,
    R: Send,
    F: Fn(T) -> Result<R> + Send + Sync,
{
    fn help(&self) {
        while let Some((place, item, work)) = self.begin() {
            let result = catch_unwind(AssertUnwindSafe(|| work(item)));
            drop(work);
            self.end(place, result);
        }
    }
}
