//! Locks that nobody waits for long.

use std::sync::{Mutex, MutexGuard, TryLockError};

/// How often a lock is tried. It is held for as long as it takes to look something up.
const NUM_TURNS: usize = 100;
/// The first turns come one after the other; then others may run in between.
const NUM_QUICK_TURNS: usize = 50;

/// A lock that may stay held for ever: in a child process, if a thread of the parent had it at the fork. Who does not
/// get it does without.
pub(crate) fn try_lock<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    for turn in 0..NUM_TURNS {
        match mutex.try_lock() {
            Ok(guard) => return Some(guard),
            Err(TryLockError::Poisoned(poisoned)) => return Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) if turn < NUM_QUICK_TURNS => std::hint::spin_loop(),
            Err(TryLockError::WouldBlock) => std::thread::yield_now(),
        }
    }
    None
}
