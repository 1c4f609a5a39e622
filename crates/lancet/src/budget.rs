//! The memory of one read, counted.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Error, Result};

/// The bytes that one read may hold; the columns that are decoded for it share them.
#[derive(Debug, Clone)]
pub(crate) struct Budget {
    limit: u64,
    used: Arc<AtomicU64>,
}

impl Budget {
    pub(crate) fn new(limit: u64) -> Self {
        Self { limit, used: Arc::default() }
    }

    /// Takes `bytes` out of the budget.
    pub(crate) fn claim(&self, bytes: u64, what: &str) -> Result<()> {
        let take = |used: u64| used.checked_add(bytes).filter(|sum| *sum <= self.limit);
        match self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take) {
            Ok(_) => Ok(()),
            Err(used) => {
                let needed = used.saturating_add(bytes);
                Err(Error::limit(what, needed, self.limit, "memory_limit"))
            }
        }
    }

    /// Puts back what was taken and not needed.
    pub(crate) fn put_back(&self, bytes: u64) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// What may still be claimed.
    pub(crate) fn left(&self) -> u64 {
        self.limit.saturating_sub(self.used.load(Ordering::Relaxed))
    }

    /// Bytes that are taken.
    #[cfg(test)]
    pub(crate) fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }
}
