//! The search cache: page indexes that were needed once, kept under a byte budget.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use quick_cache::Weighter;
use quick_cache::sync::Cache;

use crate::error::Corrupt;
use crate::page::PageIndex;
use crate::page_v2_0::ArrayIndex;
use crate::parallel::{HereOnly, PerProcess};
use crate::zones::map::ZoneMap;

/// Which page an index belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct PageKey {
    pub(crate) file: u64,
    pub(crate) column: u32,
    pub(crate) page: u32,
}

/// The index of a page, of whatever version.
#[derive(Debug, Clone)]
pub(crate) enum CachedPage {
    Layout(Arc<PageIndex>),
    Array(Arc<ArrayIndex>),
    /// The zone map of a column, or why it has none. No page has this number.
    ZoneMap(CachedMap),
    /// Checksums of blocks. No column has their number.
    BlockSums(Bytes),
}

/// A zone map, or what is wrong with it.
pub(crate) type CachedMap = Result<Arc<ZoneMap>, Arc<Corrupt>>;

/// The number under which the zone map of a column stands.
pub(crate) const ZONE_MAP: u32 = u32::MAX;

/// The number of a column under which the checksums of blocks stand.
pub(crate) const BLOCK_SUMS: u32 = u32::MAX;

impl CachedPage {
    pub(crate) fn into_layout(self) -> Option<Arc<PageIndex>> {
        match self {
            Self::Layout(index) => Some(index),
            _ => None,
        }
    }

    pub(crate) fn into_array(self) -> Option<Arc<ArrayIndex>> {
        match self {
            Self::Array(index) => Some(index),
            _ => None,
        }
    }

    pub(crate) fn into_zone_map(self) -> Option<CachedMap> {
        match self {
            Self::ZoneMap(map) => Some(map),
            _ => None,
        }
    }

    pub(crate) fn into_block_sums(self) -> Option<Bytes> {
        match self {
            Self::BlockSums(sums) => Some(sums),
            _ => None,
        }
    }
}

#[derive(Debug, Clone)]
struct ByBytes;

impl Weighter<PageKey, CachedPage> for ByBytes {
    fn weight(&self, _: &PageKey, index: &CachedPage) -> u64 {
        let bytes = match index {
            CachedPage::Layout(index) => index.size_bytes(),
            CachedPage::Array(index) => index.size_bytes(),
            CachedPage::ZoneMap(Ok(map)) => map.size_bytes(),
            CachedPage::BlockSums(sums) => sums.len(),
            CachedPage::ZoneMap(Err(corrupt)) => {
                size_of::<Corrupt>().saturating_add(corrupt.rule.len())
            }
        };
        bytes.saturating_add(ENTRY_BYTES) as u64
    }
}

/// What an entry takes beside the index: its key and its place in the cache, twice for the gaps of
/// a hash table.
const ENTRY_BYTES: usize = 2 * (size_of::<PageKey>() + size_of::<CachedPage>() + 16);

/// What a [`SearchCache`] holds and what it was good for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheStats {
    /// Page indexes that were there when they were needed.
    pub hits: u64,
    /// Page indexes that had to be read from the file.
    pub misses: u64,
    /// Page indexes in the cache.
    pub pages: usize,
    /// Bytes they take.
    pub bytes: u64,
}

/// Page indexes of one or several readers, least recently used ones dropped first.
///
/// A child process (`fork`) begins with an empty one.
#[derive(Clone)]
pub struct SearchCache {
    max_bytes: u64,
    pages: Arc<PerProcess<Pages>>,
    counters: Arc<Counters>,
}

type Pages = Cache<PageKey, CachedPage, ByBytes>;

#[derive(Debug, Default)]
struct Counters {
    files: AtomicU64,
    hits: AtomicU64,
    misses: AtomicU64,
}

impl SearchCache {
    /// A cache that holds about `bytes` bytes. Clones share it.
    pub fn new(bytes: u64) -> Self {
        let pages = Arc::new(PerProcess::new(pages(bytes)));
        Self { max_bytes: bytes, pages, counters: Arc::default() }
    }

    /// Hits, misses and contents, over all files that share the cache.
    pub fn stats(&self) -> CacheStats {
        let pages = self.here();
        CacheStats {
            hits: self.counters.hits.load(Ordering::Relaxed),
            misses: self.counters.misses.load(Ordering::Relaxed),
            pages: pages.len(),
            bytes: pages.weight(),
        }
    }

    /// A number for a file that no other file in this cache has.
    pub(crate) fn register(&self) -> u64 {
        self.counters.files.fetch_add(1, Ordering::Relaxed)
    }

    /// The pages of this process.
    fn here(&self) -> HereOnly<'_, Pages> {
        self.pages.here(|| pages(self.max_bytes))
    }

    pub(crate) fn get(&self, key: PageKey) -> Option<CachedPage> {
        self.lookup()(key)
    }

    /// What finds page indexes, for many of them.
    pub(crate) fn lookup(&self) -> impl Fn(PageKey) -> Option<CachedPage> {
        let pages = self.here();
        move |key| self.count(pages.get(&key))
    }

    fn count(&self, index: Option<CachedPage>) -> Option<CachedPage> {
        let counter = if index.is_some() { &self.counters.hits } else { &self.counters.misses };
        counter.fetch_add(1, Ordering::Relaxed);
        index
    }

    pub(crate) fn insert(&self, key: PageKey, index: CachedPage) {
        self.here().insert(key, index);
    }
}

impl fmt::Debug for SearchCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SearchCache").field("pages", &self.here().len()).finish()
    }
}

fn pages(max_bytes: u64) -> Pages {
    let expected_pages = 1024;
    Cache::with_weighter(expected_pages, max_bytes, ByBytes)
}
