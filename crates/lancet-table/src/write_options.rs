//! How tables are written.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use lancet::{Version, WriteOptions};

use crate::error::{Error, Result};
use crate::transaction::COMMIT_MESSAGE;

/// How a table is changed: its files, and how the change is committed.
///
/// ```
/// use lancet::{Profile, Version, WriteOptions};
/// use lancet_table::TableWriteOptions;
///
/// let options = TableWriteOptions::default()
///     .with_stable_row_ids(true) // of a new table
///     .with_storage_version(Version::V2_1)
///     .with_file_options(WriteOptions::default().with_profile(Profile::Small))
///     .with_message("cities of the last census");
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct TableWriteOptions {
    pub(crate) version: Option<Version>,
    pub(crate) stable_row_ids: bool,
    pub(crate) max_rows: u64,
    pub(crate) max_bytes: u64,
    pub(crate) file: WriteOptions,
    pub(crate) properties: BTreeMap<String, String>,
    pub(crate) attempts: u32,
    pub(crate) timeout: Duration,
    progress: Option<Arc<dyn Fn(WriteProgress) + Send + Sync>>,
    cancel: Option<Arc<AtomicBool>>,
}

/// How far a change of a table is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WriteProgress {
    /// Rows that were written.
    pub rows: u64,
    /// Bytes of data files that were written.
    pub bytes: u64,
    /// Data files that are complete.
    pub files: u64,
}

impl Default for TableWriteOptions {
    fn default() -> Self {
        Self {
            version: None,
            stable_row_ids: false,
            max_rows: 1 << 20,
            max_bytes: 64 << 30,
            file: WriteOptions::default(),
            properties: BTreeMap::new(),
            attempts: 20,
            timeout: Duration::from_secs(30),
            progress: None,
            cancel: None,
        }
    }
}

impl TableWriteOptions {
    /// The format of the data files: of a new or overwritten table, 2.2 by default; of rows that are added to a table, that
    /// of the table.
    #[must_use]
    pub fn with_storage_version(mut self, version: Version) -> Self {
        self.version = Some(version);
        self
    }

    /// Whether the rows of a new table keep their ids when they are changed or moved. It is decided once, for the life of
    /// the table. Off by default, as in the reference.
    #[must_use]
    pub fn with_stable_row_ids(mut self, stable: bool) -> Self {
        self.stable_row_ids = stable;
        self
    }

    /// Most rows of a new fragment. 1,048,576 by default.
    #[must_use]
    pub fn with_max_rows_per_fragment(mut self, rows: u64) -> Self {
        self.max_rows = rows.clamp(1, u32::MAX.into());
        self
    }

    /// A data file that has so many bytes gets no more rows. 64 GiB by default.
    #[must_use]
    pub fn with_max_bytes_per_file(mut self, bytes: u64) -> Self {
        self.max_bytes = bytes.max(1);
        self
    }

    /// How data files are written: what matters about their bytes, options of columns, memory, threads. The version is that
    /// of [`TableWriteOptions::with_storage_version`].
    #[must_use]
    pub fn with_file_options(mut self, options: WriteOptions) -> Self {
        self.file = options;
        self
    }

    /// A message for people, kept with the version.
    #[must_use]
    pub fn with_message(self, message: impl Into<String>) -> Self {
        self.with_property(COMMIT_MESSAGE, message)
    }

    /// A note that is kept with the version.
    #[must_use]
    pub fn with_property(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.properties.insert(key.into(), value.into());
        self
    }

    /// How often a commit is tried when other writers are faster. 20 times by default.
    #[must_use]
    pub fn with_attempts(mut self, attempts: u32) -> Self {
        self.attempts = attempts.max(1);
        self
    }

    /// For how long a commit is tried. 30 seconds by default.
    #[must_use]
    pub fn with_commit_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// What is told how far the writing is, after every batch.
    #[must_use]
    pub fn with_progress(
        mut self,
        progress: impl Fn(WriteProgress) + Send + Sync + 'static,
    ) -> Self {
        self.progress = Some(Arc::new(progress));
        self
    }

    /// Ends the work when this is set. It is looked at before every batch and before the commit; the table is then as it was.
    #[must_use]
    pub fn with_cancel(mut self, cancel: Arc<AtomicBool>) -> Self {
        self.cancel = Some(cancel);
        self
    }

    pub(crate) fn tell(&self, progress: WriteProgress) {
        if let Some(tell) = &self.progress {
            tell(progress);
        }
    }

    /// An error if the work is to end.
    pub(crate) fn check_cancelled(&self) -> Result<()> {
        match &self.cancel {
            Some(cancel) if cancel.load(Ordering::Relaxed) => Err(Error::Cancelled),
            _ => Ok(()),
        }
    }
}

impl fmt::Debug for TableWriteOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TableWriteOptions")
            .field("version", &self.version)
            .field("stable_row_ids", &self.stable_row_ids)
            .field("max_rows", &self.max_rows)
            .field("max_bytes", &self.max_bytes)
            .field("file", &self.file)
            .field("properties", &self.properties)
            .finish_non_exhaustive()
    }
}
