//! How a file is read.

use super::SearchCache;
use crate::parallel::num_threads;
use crate::schema::MAX_DEPTH;

/// How a file is read: limits for untrusted files, checks, and where page indexes are kept.
///
/// ```
/// # use std::sync::Arc;
/// # use lancet::arrow::array::{Int32Array, RecordBatch};
/// # use lancet::{Error, FileReader, FileWriter, ReadOptions, SearchCache, WriteOptions};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let ids = Arc::new(Int32Array::from_iter_values(0..100_000));
/// # let batch = RecordBatch::try_from_iter([("id", ids as _)])?;
/// # let mut writer = FileWriter::new(Vec::new(), batch.schema(), WriteOptions::default())?;
/// # writer.write(&batch)?;
/// # let file = writer.finish_into()?.1;
/// let cache = SearchCache::new(256 << 20);
/// let options = ReadOptions::default()
///     .with_memory_limit(16 << 10) // far too little for this file
///     .with_verify_checksums(true)
///     .with_search_cache(cache.clone()); // the readers that share it share its budget
/// let reader = FileReader::from_bytes(file, options)?;
///
/// let error = reader.take(&(0..100_000).collect::<Vec<_>>()).unwrap_err();
/// assert!(matches!(error, Error::Limit { option: "memory_limit", .. }));
/// # Ok(())
/// # }
/// ```
///
/// The defaults suit files of any size that you trust to be what they seem. For files of strangers
/// lower `memory_limit` and `max_metadata_bytes` to what one read may cost you, and turn `zone_maps`
/// off where rows that a lying map hides would matter.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ReadOptions {
    pub(crate) memory_limit: u64,
    pub(crate) max_metadata_bytes: u64,
    pub(crate) max_nesting: usize,
    pub(crate) verify_checksums: bool,
    pub(crate) require_checksums: bool,
    #[cfg(feature = "mmap")]
    pub(crate) memory_map: bool,
    pub(crate) zone_maps: bool,
    pub(crate) threads: Option<usize>,
    pub(crate) search_cache: SearchCache,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            memory_limit: 4 << 30,
            max_metadata_bytes: 1 << 30,
            max_nesting: MAX_DEPTH,
            verify_checksums: false,
            require_checksums: false,
            #[cfg(feature = "mmap")]
            memory_map: false,
            zone_maps: true,
            threads: None,
            search_cache: SearchCache::new(64 << 20),
        }
    }
}

impl ReadOptions {
    /// Most bytes that one read (a take, a batch of a scan) may hold: what it fetches, the page
    /// indexes it needs and what the values take beyond that. 4 GiB by default.
    #[must_use]
    pub fn with_memory_limit(mut self, bytes: u64) -> Self {
        self.memory_limit = bytes;
        self
    }

    /// Most bytes that the decoded metadata of a file may take: the schema, and the pages of the
    /// columns used so far. 1 GiB by default.
    #[must_use]
    pub fn with_max_metadata_bytes(mut self, bytes: u64) -> Self {
        self.max_metadata_bytes = bytes;
        self
    }

    /// How deep fields may nest. 64 by default, which is also the most there can be.
    #[must_use]
    pub fn with_max_nesting(mut self, levels: usize) -> Self {
        self.max_nesting = levels;
        self
    }

    /// Whether all that is read is compared with the checksums of the file, if it has some: rows, blobs,
    /// metadata, zone maps. Blocks of 4 KiB are then read as a whole. Files of older releases have
    /// checksums of whole buffers only, which reads of parts cannot be compared with. Off by default.
    #[must_use]
    pub fn with_verify_checksums(mut self, verify: bool) -> Self {
        self.verify_checksums = verify;
        self
    }

    /// Whether files without checksums are refused, and all reads compared with them: damage can also be what
    /// makes a file look as if it had none. Off by default.
    #[must_use]
    pub fn with_require_checksums(mut self, require: bool) -> Self {
        self.require_checksums = require;
        self
    }

    /// Whether zone maps are used. A map that lies hides rows, so turn it off for files whose writer
    /// you do not trust, or [`verify`](crate::FileReader::verify) them first. On by default.
    #[must_use]
    pub fn with_zone_maps(mut self, zone_maps: bool) -> Self {
        self.zone_maps = zone_maps;
        self
    }

    /// Most threads that one read works on, the calling one among them: the others help where there is
    /// much to do. With 1, and without the feature `threads`, everything happens on the calling
    /// thread. One for each core by default.
    #[must_use]
    pub fn with_threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads.max(1));
        self
    }

    /// Where page indexes and zone maps are kept between reads; clones share one budget. One of
    /// 64 MiB for each reader by default.
    #[must_use]
    pub fn with_search_cache(mut self, cache: SearchCache) -> Self {
        self.search_cache = cache;
        self
    }

    /// What [`ReadOptions::with_memory_limit`] sets.
    pub fn memory_limit(&self) -> u64 {
        self.memory_limit
    }

    /// What [`ReadOptions::with_max_metadata_bytes`] sets.
    pub fn max_metadata_bytes(&self) -> u64 {
        self.max_metadata_bytes
    }

    /// What [`ReadOptions::with_max_nesting`] sets.
    pub fn max_nesting(&self) -> usize {
        self.max_nesting
    }

    /// What [`ReadOptions::with_verify_checksums`] sets.
    pub fn verify_checksums(&self) -> bool {
        self.verify_checksums
    }

    /// What [`ReadOptions::with_require_checksums`] sets.
    pub fn require_checksums(&self) -> bool {
        self.require_checksums
    }

    /// What [`ReadOptions::with_zone_maps`] sets.
    pub fn zone_maps(&self) -> bool {
        self.zone_maps
    }

    /// What [`ReadOptions::with_threads`] sets.
    pub fn threads(&self) -> usize {
        self.threads.unwrap_or_else(num_threads)
    }

    /// What [`ReadOptions::with_search_cache`] sets.
    pub fn search_cache(&self) -> &SearchCache {
        &self.search_cache
    }
}
