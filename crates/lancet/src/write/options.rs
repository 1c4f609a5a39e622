//! How a file is written.

use crate::options::{ColumnOptions, Profile};
use crate::parallel::num_threads;
use crate::version::Version;

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
    pub(crate) memory_limit: u64,
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
            memory_limit: 256 << 20,
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

    /// A column's page is cut when it holds this many bytes of values. 8 MiB by default.
    #[must_use]
    pub fn with_page_bytes(mut self, bytes: u64) -> Self {
        self.page_bytes = bytes;
        self
    }

    /// Most bytes of batches that wait for their pages. Columns that fill slowly are cut early
    /// rather than keep old batches alive. 256 MiB by default.
    #[must_use]
    pub fn with_memory_limit(mut self, bytes: u64) -> Self {
        self.memory_limit = bytes;
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
        self.memory_limit
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
