//! Spans of an object in few requests.
//!
//! Two spans are one request when what lies between them arrives sooner than a second answer would:
//! the gap is at most `latency × bytes_per_second`.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use futures::{StreamExt, TryStreamExt, stream};
use lancet::Span;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};

use crate::error::Result;
use crate::options::FetchOptions;

/// What was asked of a store so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FetchStats {
    /// Requests, that of the tail included.
    pub requests: u64,
    /// Bytes of their answers.
    pub bytes: u64,
}

/// One object of a store.
#[derive(Debug, Clone)]
pub(crate) struct Object {
    pub(crate) store: Arc<dyn ObjectStore>,
    pub(crate) path: Path,
    pub(crate) options: Arc<FetchOptions>,
    counters: Arc<Counters>,
}

#[derive(Debug, Default)]
struct Counters {
    requests: AtomicU64,
    bytes: AtomicU64,
}

impl Object {
    pub(crate) fn new(store: Arc<dyn ObjectStore>, path: Path, options: FetchOptions) -> Self {
        Self { store, path, options: Arc::new(options), counters: Arc::default() }
    }

    pub(crate) fn stats(&self) -> FetchStats {
        FetchStats {
            requests: self.counters.requests.load(Ordering::Relaxed),
            bytes: self.counters.bytes.load(Ordering::Relaxed),
        }
    }

    pub(crate) fn count(&self, bytes: u64) {
        self.counters.requests.fetch_add(1, Ordering::Relaxed);
        self.counters.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// One span.
    pub(crate) async fn fetch(&self, span: Span) -> Result<Bytes> {
        let bytes = self.store.get_range(&self.path, span.range()).await?;
        self.count(bytes.len() as u64);
        Ok(bytes)
    }

    /// The bytes of each span, in one call.
    async fn fetch_at_once(&self, spans: &[Span]) -> Result<Vec<Bytes>> {
        let asked = spans.iter().filter(|span| !span.is_empty());
        let asked: Vec<_> = asked.map(Span::range).collect();
        let fetched = self.store.get_ranges(&self.path, &asked).await?;
        fetched.iter().for_each(|bytes| self.count(bytes.len() as u64));
        let mut fetched = fetched.into_iter();
        let next = |span: &Span| match span.is_empty() {
            true => Bytes::new(),
            false => fetched.next().unwrap_or_default(),
        };
        Ok(spans.iter().map(next).collect())
    }

    /// The bytes of each span, in the same order.
    pub(crate) async fn fetch_all(&self, spans: &[Span]) -> Result<Vec<Bytes>> {
        let plan = lancet::coalesce(spans, self.options.gap(), self.options.max_request_bytes);
        if self.options.one_call {
            return Ok(plan.cut(&self.fetch_at_once(&plan.reads).await?, spans)?);
        }
        // An empty span asks for nothing, and stores refuse to be asked for it.
        let fetch = |span: Span| async move {
            if span.is_empty() { Ok(Bytes::new()) } else { self.fetch(span).await }
        };
        let requests = stream::iter(plan.reads.iter().copied().map(fetch));
        let fetched: Vec<Bytes> =
            requests.buffered(self.options.concurrency.max(1)).try_collect().await?;
        Ok(plan.cut(&fetched, spans)?)
    }
}
