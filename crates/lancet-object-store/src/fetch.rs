//! Spans of an object, in the requests that have them soonest.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt, stream};
use lancet::Span;
use object_store::path::Path;
use object_store::{GetRange, GetResultPayload, ObjectStore, ObjectStoreExt};

use crate::error::{Error, Result};
use crate::local::{Failure, LocalFile};
use crate::options::FetchOptions;
use crate::pinned::Pinned;
use crate::together::Together;

/// What lies between spans and is under way, at most, where nobody has set a limit.
const GAPS: u64 = 256 << 20;

/// Gaps that are read along on a disk: a call costs little more than their copy.
const LOCAL_GAP: u64 = 4 << 10;

/// What was asked of a store so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FetchStats {
    /// Requests, that of the tail included.
    pub requests: u64,
    /// Bytes of their answers.
    pub bytes: u64,
}

/// What several readers have asked for, together; see [`FetchOptions::with_counter`].
#[derive(Debug, Default)]
pub struct FetchCounter {
    requests: AtomicU64,
    bytes: AtomicU64,
}

impl FetchCounter {
    /// Adds a request with so many bytes in its answer.
    pub fn count(&self, bytes: u64) {
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// What was counted, and begins again: each request is given once, whoever asks.
    pub fn take(&self) -> FetchStats {
        FetchStats {
            requests: self.requests.swap(0, Ordering::Relaxed),
            bytes: self.bytes.swap(0, Ordering::Relaxed),
        }
    }

    fn stats(&self) -> FetchStats {
        FetchStats {
            requests: self.requests.load(Ordering::Relaxed),
            bytes: self.bytes.load(Ordering::Relaxed),
        }
    }
}

/// Two of them are never equal, whatever they have counted.
impl PartialEq for FetchCounter {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

/// One version of one object of a store, by its bytes: for files of other formats, and for drivers of one's own.
/// [`Reader`](crate::Reader) has one inside. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Object {
    store: Arc<dyn ObjectStore>,
    path: Path,
    options: Arc<FetchOptions>,
    /// What one read may hold.
    memory_limit: u64,
    known: Arc<Known>,
}

/// What clones of a reader share.
#[derive(Debug, Default)]
struct Known {
    pinned: Pinned,
    /// The file, where the store is a disk.
    local: OnceLock<Arc<LocalFile>>,
    counter: FetchCounter,
}

impl Object {
    pub(crate) fn new(
        store: Arc<dyn ObjectStore>,
        path: Path,
        pinned: Pinned,
        options: FetchOptions,
        memory_limit: u64,
    ) -> Self {
        let known = Arc::new(Known { pinned, ..Known::default() });
        Self { store, path, options: Arc::new(options), memory_limit, known }
    }

    /// Asks for the size of an object, and remembers its version.
    pub async fn open(
        store: Arc<dyn ObjectStore>,
        path: Path,
        options: FetchOptions,
    ) -> Result<Self> {
        let object = Self::unopened(store, path, options);
        object.head().await?;
        Ok(object)
    }

    /// An object of which nothing is asked before it is read: the first answer tells its size and its version.
    pub fn unopened(store: Arc<dyn ObjectStore>, path: Path, options: FetchOptions) -> Self {
        Self::new(store, path, Pinned::default(), options, GAPS)
    }

    /// The size of the object; 0 as long as nothing is known of it.
    pub fn size(&self) -> u64 {
        self.known.pinned.size()
    }

    /// What was asked of the store so far, for this object and its clones.
    pub fn stats(&self) -> FetchStats {
        self.known.counter.stats()
    }

    fn count(&self, bytes: u64) {
        self.known.counter.count(bytes);
        if let Some(counter) = self.options.counter() {
            counter.count(bytes);
        }
    }

    async fn head(&self) -> Result<u64> {
        let found = self.store.head(&self.path).await?;
        self.count(0);
        self.check(&found)?;
        Ok(found.size)
    }

    /// The size of the object, and its last bytes.
    pub(crate) async fn fetch_tail(&self) -> Result<(u64, Bytes)> {
        match self.get(GetRange::Suffix(self.options.tail_bytes)).await {
            // Some stores cannot count from the end.
            Err(Error::Store(
                object_store::Error::NotSupported { .. }
                | object_store::Error::NotImplemented { .. },
            )) => {
                let size = self.head().await?;
                let start = size.saturating_sub(self.options.tail_bytes);
                let tail = Span::new(start, size).unwrap_or_default();
                let mut bytes = self.read(&[tail]).await?;
                Ok((size, bytes.pop().unwrap_or_default()))
            }
            answer => answer,
        }
    }

    /// The bytes of each span, in the same order.
    pub async fn read(&self, spans: &[Span]) -> Result<Vec<Bytes>> {
        let concurrency = self.options.concurrency.max(1);
        // Gaps are not counted by the budget of the read; all that are under way are at most as much.
        let max_bytes = self.options.max_request_bytes.min(self.memory_limit / concurrency as u64);
        let parts = match self.known.local.get() {
            Some(file) => {
                let requests = Together::of(spans, LOCAL_GAP, max_bytes);
                requests.iter().for_each(|one| self.count(one.span.len()));
                file.read(requests).await.map_err(|failure| self.failed(failure))?
            }
            None => {
                let requests = Together::soonest(spans, &self.options, max_bytes);
                let part_bytes = Together::part_bytes(&requests, &self.options);
                let fetch = |one: Together| async move {
                    let bytes = self.get_parts(one.parts(part_bytes)).await?;
                    Ok::<_, Error>(one.cut(&bytes))
                };
                let fetched = stream::iter(requests.into_iter().map(fetch)).buffered(concurrency);
                fetched.try_concat().await?
            }
        };
        let mut found = vec![Bytes::new(); spans.len()];
        for (number, bytes) in parts {
            if let Some(place) = found.get_mut(number) {
                *place = bytes;
            }
        }
        Ok(found)
    }

    /// The bytes of spans that touch each other, all under way together.
    async fn get_parts(&self, parts: Vec<Span>) -> Result<Bytes> {
        let get = |part: Span| async move {
            Ok::<_, Error>(self.get(GetRange::Bounded(part.range())).await?.1)
        };
        if let [one] = parts.as_slice() {
            return get(*one).await;
        }
        let count = parts.len();
        let answers: Vec<Bytes> =
            stream::iter(parts.into_iter().map(get)).buffered(count.max(1)).try_collect().await?;
        Ok(answers.concat().into())
    }

    /// The size of the object, and exactly the bytes that are asked for.
    async fn get(&self, range: GetRange) -> Result<(u64, Bytes)> {
        let asked = self.known.pinned.request(range.clone());
        let answer = match self.store.get_opts(&self.path, asked).await {
            Err(object_store::Error::Precondition { .. }) => {
                return Err(Error::Changed(self.path.clone()));
            }
            answer => answer?,
        };
        self.check(&answer.meta)?;
        let size = answer.meta.size;
        let asked = match range {
            GetRange::Bounded(range) => range,
            GetRange::Offset(start) => start..size,
            GetRange::Suffix(len) => size.saturating_sub(len)..size,
        };
        if answer.range != asked {
            let (asked, given) = (shown(&asked), shown(&answer.range));
            return Err(self.answered(format!("bytes {given} instead of {asked}")));
        }
        let len = asked.end.saturating_sub(asked.start);
        self.count(len);
        let bytes = match answer.payload {
            GetResultPayload::File(file, _) => {
                let file = Arc::new(LocalFile::new(file, &answer.meta)?);
                let file = self.known.local.get_or_init(|| file);
                let tail = Span::new(asked.start, asked.end).unwrap_or_default();
                let read = file.read(Together::of(&[tail], 0, u64::MAX)).await;
                let mut parts = read.map_err(|failure| self.failed(failure))?;
                parts.pop().map(|(_, bytes)| bytes).unwrap_or_default()
            }
            GetResultPayload::Stream(chunks) => self.collect(chunks, len).await?,
        };
        Ok((size, bytes))
    }

    /// The bytes of an answer, which have to be as many as there should be. No more than those are held.
    async fn collect(
        &self,
        mut chunks: BoxStream<'static, object_store::Result<Bytes>>,
        len: u64,
    ) -> Result<Bytes> {
        let wrong = |found: usize| self.answered(format!("{found} bytes instead of {len}"));
        let mut bytes = chunks.try_next().await?.unwrap_or_default();
        if let Some(mut chunk) = chunks.try_next().await? {
            let mut all = Vec::with_capacity(usize::try_from(len).unwrap_or(0));
            all.extend_from_slice(&bytes);
            loop {
                all.extend_from_slice(&chunk);
                if all.len() as u64 > len {
                    return Err(wrong(all.len()));
                }
                match chunks.try_next().await? {
                    Some(next) => chunk = next,
                    None => break,
                }
            }
            bytes = all.into();
        }
        if bytes.len() as u64 == len { Ok(bytes) } else { Err(wrong(bytes.len())) }
    }

    fn check(&self, object: &object_store::ObjectMeta) -> Result<()> {
        let same = self.known.pinned.is(object);
        if same { Ok(()) } else { Err(Error::Changed(self.path.clone())) }
    }

    fn answered(&self, problem: String) -> Error {
        Error::Answer { path: self.path.clone(), problem }
    }

    fn failed(&self, failure: Failure) -> Error {
        match failure {
            Failure::Changed => Error::Changed(self.path.clone()),
            Failure::Io(lancet::Error::Io { source, .. }) => {
                let context = format!("cannot read {}", self.path);
                Error::Lance(lancet::Error::Io { context, source })
            }
            Failure::Io(error) => Error::Lance(error),
        }
    }
}

fn shown(range: &std::ops::Range<u64>) -> String {
    format!("{}..{}", range.start, range.end)
}
