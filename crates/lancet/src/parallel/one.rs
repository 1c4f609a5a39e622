//! The calling thread, and no other.

/// How many threads may work at a time.
pub(crate) fn num_threads() -> usize {
    1
}

/// There is nobody to work for.
pub(crate) fn is_helper() -> bool {
    true
}

/// Does the work at once.
pub(crate) fn spawn(work: impl FnOnce() + Send + 'static) {
    work();
}

/// Does the work here.
pub(super) fn with_helpers(_num_helpers: usize, work: impl Fn() + Sync) {
    work();
}
