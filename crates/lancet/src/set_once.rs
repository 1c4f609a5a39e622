//! A value that is set once, and that nobody waits for.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// How often to look for a value that another thread is about to set.
const NUM_TURNS: usize = 1_000;

/// A value that is set once. Unlike with `OnceLock` no thread waits for another that sets it: in a child
/// process that thread may be missing.
#[derive(Debug)]
pub(crate) struct SetOnce<T> {
    value: OnceLock<T>,
    /// Whether some thread sets the value, or has done so.
    is_taken: AtomicBool,
}

impl<T> SetOnce<T> {
    pub(crate) const fn new() -> Self {
        Self { value: OnceLock::new(), is_taken: AtomicBool::new(false) }
    }

    pub(crate) fn get(&self) -> Option<&T> {
        self.value.get()
    }

    /// Sets the value unless another thread has done so, or is at it. The value that is there now.
    pub(crate) fn set_with(&self, make: impl FnOnce() -> T) -> Option<&T> {
        if !self.is_taken.swap(true, Ordering::Relaxed) {
            let _ = self.value.set(make());
        }
        self.get()
    }

    /// Like [`SetOnce::set_with`] for a value that is there already. It takes no time to set, so it is
    /// there afterwards, whoever has set it.
    pub(crate) fn set(&self, value: T) -> Option<&T> {
        self.set_with(|| value);
        for _ in 0..NUM_TURNS {
            if self.get().is_some() {
                break;
            }
            thread::yield_now();
        }
        self.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_value_stays() {
        let value = SetOnce::new();
        assert_eq!(value.get(), None);
        assert_eq!(value.set(1), Some(&1));
        assert_eq!(value.set(2), Some(&1));
        assert_eq!(value.set_with(|| 3), Some(&1));
    }

    #[test]
    fn nobody_waits_for_a_value_that_never_comes() {
        let value = SetOnce { value: OnceLock::new(), is_taken: AtomicBool::new(true) };
        assert_eq!(value.set_with(|| 1), None);
        assert_eq!(value.set(1), None);
    }
}
