//! The threads of rayon.

/// How many threads may work at a time.
pub(crate) fn num_threads() -> usize {
    rayon::current_num_threads()
}

/// Whether this thread works for others: one that waited for its like could wait forever.
pub(crate) fn is_helper() -> bool {
    rayon::current_thread_index().is_some()
}

/// Does the work on some other thread, some time.
pub(crate) fn spawn(work: impl FnOnce() + Send + 'static) {
    rayon::spawn(work);
}

/// Does the work here and on so many threads beside; returns when all of them are done.
pub(super) fn with_helpers(num_helpers: usize, work: impl Fn() + Sync) {
    rayon::in_place_scope(|scope| {
        (0..num_helpers).for_each(|_| scope.spawn(|_| work()));
        work();
    });
}
