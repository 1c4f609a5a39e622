//! How a store is asked.

use std::sync::Arc;
use std::time::Duration;

use crate::fetch::FetchCounter;

/// How a store is asked: what a request costs, by which spans are put together or cut, and how many may be under way.
///
/// ```
/// use std::time::Duration;
///
/// use lancet_object_store::FetchOptions;
///
/// // A store in the same building: answers begin at once, so small gaps are not worth reading.
/// let near = FetchOptions::default()
///     .with_latency(Duration::from_millis(2))
///     .with_bytes_per_second(1_000_000_000)
///     .with_concurrency(64);
/// assert_eq!(near.tail_bytes(), 256 << 10);
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct FetchOptions {
    pub(crate) tail_bytes: u64,
    pub(crate) latency: Duration,
    pub(crate) bytes_per_second: u64,
    pub(crate) max_request_bytes: u64,
    pub(crate) concurrency: usize,
    pub(crate) counter: Option<Arc<FetchCounter>>,
}

impl Default for FetchOptions {
    fn default() -> Self {
        Self {
            tail_bytes: 256 << 10,
            latency: Duration::from_millis(30),
            bytes_per_second: 50_000_000,
            max_request_bytes: 16 << 20,
            concurrency: 16,
            counter: None,
        }
    }
}

impl FetchOptions {
    /// Bytes at the end of a file that are fetched to open it, in the hope that they hold all
    /// metadata. 256 KiB by default: they arrive long before a second answer would.
    #[must_use]
    pub fn with_tail_bytes(mut self, bytes: u64) -> Self {
        self.tail_bytes = bytes;
        self
    }

    /// How long the store takes to begin its answer. 30 ms by default.
    #[must_use]
    pub fn with_latency(mut self, latency: Duration) -> Self {
        self.latency = latency;
        self
    }

    /// How fast an answer comes. 50 MB a second by default.
    #[must_use]
    pub fn with_bytes_per_second(mut self, bytes: u64) -> Self {
        self.bytes_per_second = bytes;
        self
    }

    /// Most bytes of one request that was put together from several spans. 16 MiB by default.
    #[must_use]
    pub fn with_max_request_bytes(mut self, bytes: u64) -> Self {
        self.max_request_bytes = bytes;
        self
    }

    /// Requests that one read has under way at a time. 16 by default.
    #[must_use]
    pub fn with_concurrency(mut self, requests: usize) -> Self {
        self.concurrency = requests;
        self
    }

    /// Counts what all readers with these options ask for, together; each counts its own in any case.
    #[must_use]
    pub fn with_counter(mut self, counter: Arc<FetchCounter>) -> Self {
        self.counter = Some(counter);
        self
    }

    /// What [`FetchOptions::with_counter`] sets.
    pub fn counter(&self) -> Option<&Arc<FetchCounter>> {
        self.counter.as_ref()
    }

    /// What [`FetchOptions::with_tail_bytes`] sets.
    pub fn tail_bytes(&self) -> u64 {
        self.tail_bytes
    }

    /// What [`FetchOptions::with_latency`] sets.
    pub fn latency(&self) -> Duration {
        self.latency
    }

    /// What [`FetchOptions::with_bytes_per_second`] sets.
    pub fn bytes_per_second(&self) -> u64 {
        self.bytes_per_second
    }

    /// What [`FetchOptions::with_max_request_bytes`] sets.
    pub fn max_request_bytes(&self) -> u64 {
        self.max_request_bytes
    }

    /// What [`FetchOptions::with_concurrency`] sets.
    pub fn concurrency(&self) -> usize {
        self.concurrency
    }

    /// What arrives in the time that an answer takes to begin.
    pub(crate) fn gap(&self) -> u64 {
        (self.latency.as_secs_f64() * self.bytes_per_second as f64) as u64
    }
}
