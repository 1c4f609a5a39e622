//! Shared state that a child process has anew.

use std::ops::Deref;
use std::sync::{Arc, Mutex};

use super::try_lock;

/// A value with locks inside. A child process gets another one: at the fork some thread, which the child
/// does not have, may have held a lock of it.
pub(crate) struct PerProcess<T> {
    process: u32,
    value: T,
    of_child: Mutex<Option<(u32, Arc<T>)>>,
}

/// The value of this process.
pub(crate) enum HereOnly<'a, T> {
    First(&'a T),
    Child(Arc<T>),
}

impl<T> PerProcess<T> {
    pub(crate) fn new(value: T) -> Self {
        Self { process: std::process::id(), value, of_child: Mutex::new(None) }
    }

    /// The value of this process; made if it is a child's and not yet there. Asks the system who we
    /// are, so better once than often.
    pub(crate) fn here(&self, make: impl FnOnce() -> T) -> HereOnly<'_, T> {
        self.of(std::process::id(), make)
    }

    fn of(&self, process: u32, make: impl FnOnce() -> T) -> HereOnly<'_, T> {
        if process == self.process {
            return HereOnly::First(&self.value);
        }
        let Some(mut of_child) = try_lock(&self.of_child) else {
            return HereOnly::Child(Arc::new(make()));
        };
        if let Some((_, value)) = of_child.as_ref().filter(|(known, _)| *known == process) {
            return HereOnly::Child(value.clone());
        }
        let value = Arc::new(make());
        *of_child = Some((process, value.clone()));
        HereOnly::Child(value)
    }
}

impl<T> Deref for HereOnly<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        match self {
            Self::First(value) => value,
            Self::Child(value) => value,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_process_has_its_own() {
        let value = PerProcess::new(1);
        let of = |process: u32, new: i32| *value.of(process, || new);
        let me = std::process::id();
        assert_eq!((of(me, 2), *value.here(|| 2)), (1, 1));
        assert_eq!((of(me + 1, 3), of(me + 1, 4)), (3, 3));
        assert_eq!((of(me + 2, 5), of(me, 6)), (5, 1));
    }

    #[test]
    fn a_lock_that_stays_held_is_not_waited_for() {
        let value = PerProcess::new(1);
        let held = value.of_child.lock().unwrap();
        assert_eq!(*value.of(std::process::id() + 1, || 2), 2);
        drop(held);
    }
}
