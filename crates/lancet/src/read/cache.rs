//! The search cache: page indexes that were needed once, kept under a byte budget.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use quick_cache::Weighter;
use quick_cache::sync::Cache;

use crate::page::PageIndex;
use crate::page_v2_0::ArrayIndex;

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
}

impl CachedPage {
    pub(crate) fn into_layout(self) -> Option<Arc<PageIndex>> {
        match self {
            Self::Layout(index) => Some(index),
            Self::Array(_) => None,
        }
    }

    pub(crate) fn into_array(self) -> Option<Arc<ArrayIndex>> {
        match self {
            Self::Array(index) => Some(index),
            Self::Layout(_) => None,
        }
    }
}

#[derive(Debug, Clone)]
struct ByBytes;

impl Weighter<PageKey, CachedPage> for ByBytes {
    fn weight(&self, _: &PageKey, index: &CachedPage) -> u64 {
        match index {
            CachedPage::Layout(index) => index.size_bytes() as u64,
            CachedPage::Array(index) => index.size_bytes() as u64,
        }
    }
}

/// Page indexes of one or several readers, least recently used ones dropped first.
#[derive(Clone)]
pub struct SearchCache {
    pages: Arc<Cache<PageKey, CachedPage, ByBytes>>,
    next_file: Arc<AtomicU64>,
}

impl SearchCache {
    /// A cache that holds about `bytes` bytes. Clones share it.
    pub fn new(bytes: u64) -> Self {
        let expected_pages = 1024;
        Self {
            pages: Arc::new(Cache::with_weighter(expected_pages, bytes, ByBytes)),
            next_file: Arc::default(),
        }
    }

    /// A number for a file that no other file in this cache has.
    pub(crate) fn register(&self) -> u64 {
        self.next_file.fetch_add(1, Ordering::Relaxed)
    }

    pub(crate) fn get(&self, key: PageKey) -> Option<CachedPage> {
        self.pages.get(&key)
    }

    pub(crate) fn insert(&self, key: PageKey, index: CachedPage) {
        self.pages.insert(key, index);
    }
}

impl fmt::Debug for SearchCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SearchCache").field("pages", &self.pages.len()).finish()
    }
}
