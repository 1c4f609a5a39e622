//! A store in memory in which one request goes wrong.

use std::fmt;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::{self, BoxStream};
use futures::{FutureExt, StreamExt};
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, GetResultPayload, ListResult, MultipartUpload, ObjectMeta,
    ObjectStore, ObjectStoreExt, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
    UploadPart,
};

/// What goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    None,
    Fail,
    /// All but the last byte.
    Short,
    Nothing,
    Twice,
    Late,
    /// From now on there is another version.
    Replaced,
    /// This answer alone is of another version.
    Foreign,
}

/// A store of which the request number `at` goes wrong.
#[derive(Debug)]
pub struct Faulty {
    store: InMemory,
    other: Bytes,
    fault: Fault,
    at: usize,
    /// Whether objects have tags.
    tags: bool,
    requests: AtomicUsize,
    pub held: Arc<Held>,
    pub uploads: Arc<Uploads>,
}

/// Bytes of answers that somebody holds.
#[derive(Debug, Default)]
pub struct Held {
    now: AtomicU64,
    pub most: AtomicU64,
}

/// Uploads, and parts of them under way.
#[derive(Debug, Default)]
pub struct Uploads {
    pub open: AtomicUsize,
    under_way: AtomicUsize,
    pub most: AtomicUsize,
}

struct Owned(Vec<u8>, Arc<Held>);

impl AsRef<[u8]> for Owned {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        self.1.now.fetch_sub(self.0.len() as u64, Ordering::SeqCst);
    }
}

impl Faulty {
    pub fn new(other: impl Into<Bytes>, fault: Fault, at: usize, tags: bool) -> Arc<Self> {
        Arc::new(Self {
            store: InMemory::new(),
            other: other.into(),
            fault,
            at,
            tags,
            requests: AtomicUsize::new(0),
            held: Arc::default(),
            uploads: Arc::default(),
        })
    }

    /// Puts an object without counting.
    pub async fn set(&self, path: &Path, bytes: impl Into<Bytes>) {
        self.store.put(path, bytes.into().into()).await.unwrap();
    }

    /// The bytes of an object, without counting.
    pub async fn bytes(&self, path: &Path) -> Option<Bytes> {
        self.store.get(path).await.ok()?.bytes().await.ok()
    }

    /// Requests so far.
    pub fn requests(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }

    /// Counts a request, and tells what goes wrong with it.
    fn next(&self) -> Fault {
        let number = self.requests.fetch_add(1, Ordering::SeqCst);
        if number == self.at { self.fault } else { Fault::None }
    }

    fn own(&self, bytes: &[u8]) -> Bytes {
        let now = self.held.now.fetch_add(bytes.len() as u64, Ordering::SeqCst);
        self.held.most.fetch_max(now + bytes.len() as u64, Ordering::SeqCst);
        Bytes::from_owner(Owned(bytes.to_vec(), self.held.clone()))
    }
}

fn failed() -> object_store::Error {
    object_store::Error::Generic { store: "Faulty", source: "the store is on fire".into() }
}

async fn later() {
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
}

impl fmt::Display for Faulty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Faulty")
    }
}

#[async_trait]
impl ObjectStore for Faulty {
    async fn put_opts(
        &self,
        to: &Path,
        bytes: PutPayload,
        options: PutOptions,
    ) -> Result<PutResult> {
        self.store.put_opts(to, bytes, options).await
    }

    async fn put_multipart_opts(
        &self,
        to: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        if self.next() == Fault::Fail {
            return Err(failed());
        }
        let inner = self.store.put_multipart_opts(to, options).await?;
        self.uploads.open.fetch_add(1, Ordering::SeqCst);
        let uploads = self.uploads.clone();
        let plan = Plan { fault: self.fault, at: self.at, next: Mutex::new(1) };
        Ok(Box::new(Tracked { inner, uploads, plan, ended: false }))
    }

    async fn get_opts(&self, from: &Path, options: GetOptions) -> Result<GetResult> {
        let fault = self.next();
        let head = options.head;
        let (elsewhere, mut store) = (InMemory::new(), &self.store);
        match fault {
            Fault::Fail => return Err(failed()),
            Fault::Late => later().await,
            Fault::Replaced => self.set(from, self.other.clone()).await,
            Fault::Foreign => {
                // Objects in memory are tagged by their number.
                for _ in 0..7 {
                    elsewhere.put(from, self.other.clone().into()).await?;
                }
                store = &elsewhere;
            }
            _ => {}
        }
        let options = match self.tags {
            true => options,
            false => GetOptions { if_match: None, ..options },
        };
        // A store that ignores conditions, in a foreign answer.
        let options = match fault {
            Fault::Foreign => GetOptions { if_match: None, ..options },
            _ => options,
        };
        let mut found = store.get_opts(from, options).await?;
        if !self.tags {
            found.meta.e_tag = None;
        }
        if head {
            return Ok(found);
        }
        let (range, meta, attributes) =
            (found.range.clone(), found.meta.clone(), found.attributes.clone());
        let mut bytes = found.bytes().await?.to_vec();
        match fault {
            Fault::Short => drop(bytes.pop()),
            Fault::Nothing => bytes.clear(),
            Fault::Twice => bytes.extend(bytes.clone()),
            _ => {}
        }
        // In two chunks, so that there is something to put together.
        let (left, right) = bytes.split_at(bytes.len() / 2);
        let chunks = vec![Ok(self.own(left)), Ok(self.own(right))];
        let payload = GetResultPayload::Stream(stream::iter(chunks).boxed());
        Ok(GetResult { payload, meta, range, attributes })
    }

    fn delete_stream(
        &self,
        paths: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        self.store.delete_stream(paths)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.store.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.store.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.store.copy_opts(from, to, options).await
    }
}

/// Which step of an upload goes wrong.
#[derive(Debug)]
struct Plan {
    fault: Fault,
    at: usize,
    next: Mutex<usize>,
}

impl Plan {
    fn next(&self) -> Fault {
        let mut next = self.next.lock().unwrap();
        *next += 1;
        if *next - 1 == self.at { self.fault } else { Fault::None }
    }
}

/// An upload that is counted until it has ended.
#[derive(Debug)]
struct Tracked {
    inner: Box<dyn MultipartUpload>,
    uploads: Arc<Uploads>,
    plan: Plan,
    ended: bool,
}

impl Tracked {
    fn end(&mut self) {
        if !std::mem::replace(&mut self.ended, true) {
            self.uploads.open.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

/// A part that is counted until it has arrived, or is given up.
struct UnderWay(Arc<Uploads>);

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.under_way.fetch_sub(1, Ordering::SeqCst);
    }
}

#[async_trait]
impl MultipartUpload for Tracked {
    fn put_part(&mut self, data: PutPayload) -> UploadPart {
        let fault = self.plan.next();
        let part = self.inner.put_part(data);
        let now = self.uploads.under_way.fetch_add(1, Ordering::SeqCst) + 1;
        self.uploads.most.fetch_max(now, Ordering::SeqCst);
        let under_way = UnderWay(self.uploads.clone());
        async move {
            let _under_way = under_way;
            later().await;
            if fault == Fault::Late {
                later().await;
            }
            if fault == Fault::Fail { Err(failed()) } else { part.await }
        }
        .boxed()
    }

    async fn complete(&mut self) -> Result<PutResult> {
        if self.plan.next() == Fault::Fail {
            return Err(failed());
        }
        later().await;
        let done = self.inner.complete().await?;
        self.end();
        Ok(done)
    }

    async fn abort(&mut self) -> Result<()> {
        self.end();
        self.inner.abort().await
    }
}
