//! The calling thread, and no other.

use std::sync::Arc;

use super::Job;

/// How many threads work unless a caller says otherwise.
pub(crate) fn num_threads() -> usize {
    1
}

/// Nobody comes.
pub(crate) fn ask(_job: &Arc<dyn Job>, _num_helpers: usize) -> usize {
    0
}

/// Nobody was asked.
pub(crate) fn withdraw(_job: &Arc<dyn Job>) {}
