//! How a file is written.

use crate::options::{ColumnOptions, Profile};
use crate::parallel::num_threads;
use crate::version::Version;

/// What a writer holds at most, unless somebody says otherwise.
const MEMORY_LIMIT: u64 = 256 << 20;
/// What encoding a page takes, for each byte of its rows: the values, the values in another form, the
/// page as it grows.
pub(super) const ENCODING_FACTOR: u64 = 4;
/// What a thread needs to encode pages, and for those that it has encoded.
const THREAD_BYTES: u64 = 64 << 20;

/// How a file is written: format version, what matters about its bytes, and options of columns.
///
/// ```
/// # use std::sync::Arc;
/// # use lancet::arrow::array::{RecordBatch, StringArray};
/// use lancet::{ColumnOptions, Compression, FileWriter, Profile, Version, WriteOptions};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let texts = StringArray::from_iter_values((0..10_000).map(|i| format!("text {}", i % 997)));
/// # let batch = RecordBatch::try_from_iter([("text", Arc::new(texts) as _)])?;
/// let options = WriteOptions::default()
///     .with_version(Version::V2_1)
///     .with_profile(Profile::Small)
///     .with_column("text", ColumnOptions::default().with_compression(Compression::Fsst));
/// let mut writer = FileWriter::new(Vec::new(), batch.schema(), options)?;
/// writer.write(&batch)?;
/// let (summary, file) = writer.finish_into()?;
/// for page in &summary.columns[0].pages {
///     println!("{}: {}", page.encoding, page.reason); // what was chosen, and why
/// }
/// # assert!(file.ends_with(b"LANC"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct WriteOptions {
    pub(crate) version: Version,
    pub(crate) page_bytes: u64,
    /// `None` until somebody sets it.
    pub(super) memory_limit: Option<u64>,
    pub(crate) checksums: bool,
    pub(crate) zone_maps: bool,
    pub(crate) threads: Option<usize>,
    pub(crate) profile: Profile,
    /// Options of columns by name, in the order they were first named.
    pub(super) columns: Vec<(String, ColumnOptions)>,
}

impl Default for WriteOptions {
    fn default() -> Self {
        Self {
            version: Version::default(),
            page_bytes: 8 << 20,
            memory_limit: None,
            checksums: true,
            zone_maps: true,
            threads: None,
            profile: Profile::default(),
            columns: Vec::new(),
        }
    }
}

impl WriteOptions {
    /// Format version to write.
    #[must_use]
    pub fn with_version(mut self, version: Version) -> Self {
        self.version = version;
        self
    }

    /// A column's page is cut when it holds this many bytes of values, or a tenth of the memory limit.
    /// 8 MiB by default.
    #[must_use]
    pub fn with_page_bytes(mut self, bytes: u64) -> Self {
        self.page_bytes = bytes;
        self
    }

    /// About the most bytes that a writer holds: rows that wait for their page, pages that are encoded
    /// and pages that are not written yet. 256 MiB by default; from three threads on, 128 MiB and 64 MiB
    /// for each thread, so that all of them have a page to encode.
    ///
    /// Half of it is for rows that wait. When they take more, the columns with the most of them give up
    /// their pages early, until half of that is left; and so do columns that fill so slowly that they
    /// keep old batches alive. The other half is for encoding, which takes about four times the bytes of a
    /// page on each thread: fewer threads work where that is too much, and pages of more than a tenth of
    /// the limit are cut.
    ///
    /// Whatever the limit is, a row can be written that is larger: beside the row itself, this takes about
    /// four times its bytes. Not counted are the batch at hand, which is the caller's, and what a file tells at
    /// its end: 1 or 2 KiB for each page and each column, and the bounds of zone maps. Nor is the last
    /// dictionary that a column was given, which batches share as a rule.
    #[must_use]
    pub fn with_memory_limit(mut self, bytes: u64) -> Self {
        self.memory_limit = Some(bytes);
        self
    }

    /// Whether the file gets checksums of its buffers and its metadata, in one more global buffer
    /// at the end. Readers that do not know them skip them. On by default.
    #[must_use]
    pub fn with_checksums(mut self, checksums: bool) -> Self {
        self.checksums = checksums;
        self
    }

    /// Whether columns get zone maps: the least and the greatest value of every 8,192 rows, by which
    /// readers with a filter leave out rows. Only where they take at most a fiftieth of the bytes of
    /// the column, or of an average one, or a byte for 64 rows: a sorted key that compresses to next
    /// to nothing needs its map most. Readers that do not know them skip them. On by default.
    #[must_use]
    pub fn with_zone_maps(mut self, zone_maps: bool) -> Self {
        self.zone_maps = zone_maps;
        self
    }

    /// Most threads that encode pages, the calling one among them: the others help where there is much
    /// to do. With 1, and without the feature `threads`, everything happens on the calling thread. The
    /// bytes of the file are the same. One for each core by default.
    #[must_use]
    pub fn with_threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads.max(1));
        self
    }

    /// What matters most about the bytes. [`Profile::Balanced`] by default.
    #[must_use]
    pub fn with_profile(mut self, profile: Profile) -> Self {
        self.profile = profile;
        self
    }

    /// Sets options of a column: of the field with this name, and of all fields below it. Names go
    /// from the top down with dots between, as in [`Scan::columns`](crate::Scan::columns). What was
    /// set for the column before and is not set here stays.
    #[must_use]
    pub fn with_column(mut self, name: impl Into<String>, options: ColumnOptions) -> Self {
        self.column(name).overlay(&options);
        self
    }

    /// The options of a column, to be changed in place: for options that come as text, see
    /// [`ColumnOptions::set`].
    pub fn column(&mut self, name: impl Into<String>) -> &mut ColumnOptions {
        let name = name.into();
        let known = self.columns.iter().position(|(known, _)| *known == name);
        let position = known.unwrap_or(self.columns.len());
        if known.is_none() {
            self.columns.push((name, ColumnOptions::default()));
        }
        &mut self.columns[position].1
    }

    /// What [`WriteOptions::with_version`] sets.
    pub fn version(&self) -> Version {
        self.version
    }

    /// What [`WriteOptions::with_page_bytes`] sets.
    pub fn page_bytes(&self) -> u64 {
        self.page_bytes
    }

    /// What [`WriteOptions::with_memory_limit`] sets.
    pub fn memory_limit(&self) -> u64 {
        self.memory_limit.unwrap_or(MEMORY_LIMIT)
    }

    /// Where pages are cut: earlier than asked for if encoding such a page would take too much.
    pub(super) fn cut_bytes(&self) -> u64 {
        self.page_bytes.min(self.memory_limit() / 2 / (ENCODING_FACTOR + 1))
    }

    /// Bytes of rows that may wait for their pages. The same whatever the number of threads, as the
    /// bytes of the file are.
    pub(super) fn waiting_limit(&self) -> u64 {
        self.memory_limit() / 2
    }

    /// Bytes that encoding may take.
    pub(super) fn encoding_limit(&self) -> u64 {
        let least = self.memory_limit() / 2;
        if self.memory_limit.is_some() {
            return least;
        }
        least.max((self.threads() as u64).saturating_mul(THREAD_BYTES))
    }

    /// What [`WriteOptions::with_checksums`] sets.
    pub fn checksums(&self) -> bool {
        self.checksums
    }

    /// What [`WriteOptions::with_zone_maps`] sets.
    pub fn zone_maps(&self) -> bool {
        self.zone_maps
    }

    /// What [`WriteOptions::with_threads`] sets.
    pub fn threads(&self) -> usize {
        self.threads.unwrap_or_else(num_threads)
    }

    /// The threads for work of this size: only one where that is less than pays.
    pub(super) fn threads_for(&self, size: u64, least: u64) -> usize {
        if size < least { 1 } else { self.threads() }
    }

    /// What [`WriteOptions::with_profile`] sets.
    pub fn profile(&self) -> Profile {
        self.profile
    }
}
