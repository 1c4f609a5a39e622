//! How a table is opened and read.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use lancet::ReadOptions;

use crate::manifest::Limits;
use crate::paths::lies_in;

/// Which version of a table is meant.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum At {
    /// The latest one of the main branch.
    #[default]
    Latest,
    /// The one with this number, of the main branch; detached ones too.
    Version(u64),
    /// The one that a tag names.
    Tag(String),
    /// The latest one of a branch.
    Branch(String),
    /// One of a branch, by its number.
    BranchVersion(String, u64),
    /// The latest one of the main branch that was there at this instant, by the times in the manifests.
    Instant(SystemTime),
}

/// How a table is opened: which version, limits for tables of strangers, and which folders beside its own may be read.
///
/// ```
/// use lancet::ReadOptions;
/// use lancet_table::{At, TableOptions};
///
/// let options = TableOptions::default()
///     .with_version(At::Tag("released".into()))
///     .with_read_options(ReadOptions::default().with_memory_limit(64 << 20))
///     .with_base("/lake/source.lance"); // the table may read files there
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct TableOptions {
    pub(crate) at: At,
    pub(crate) limits: Limits,
    pub(crate) read: ReadOptions,
    pub(crate) max_open_files: u64,
    pub(crate) max_open_bytes: u64,
    pub(crate) bases: Vec<(PathBuf, PathBuf)>,
    pub(crate) any_base: bool,
}

impl Default for TableOptions {
    fn default() -> Self {
        Self {
            at: At::Latest,
            limits: Limits::default(),
            read: ReadOptions::default(),
            max_open_files: 512,
            max_open_bytes: 64 << 20,
            bases: Vec::new(),
            any_base: false,
        }
    }
}

impl TableOptions {
    /// Which version is opened; the latest by default.
    #[must_use]
    pub fn with_version(mut self, at: At) -> Self {
        self.at = at;
        self
    }

    /// What the manifest may cost.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// How data files are read. The memory limit is that of one batch; the search cache is shared by all files of the
    /// table.
    #[must_use]
    pub fn with_read_options(mut self, options: ReadOptions) -> Self {
        self.read = options;
        self
    }

    /// Most data files that stay open between reads. 512 by default; files that are being read count beyond that.
    #[must_use]
    pub fn with_max_open_files(mut self, files: usize) -> Self {
        self.max_open_files = files.max(1) as u64;
        self
    }

    /// Most bytes that the metadata of data files that stay open may take. 64 MiB by default; page indexes have the
    /// budget of the search cache, see [`ReadOptions::with_search_cache`].
    #[must_use]
    pub fn with_max_open_bytes(mut self, bytes: u64) -> Self {
        self.max_open_bytes = bytes;
        self
    }

    /// Lets the table read files in this folder, and below it. Tables can refer to files of others (shallow clones do);
    /// by default they may not, since the manifest of a stranger would then choose what is read.
    #[must_use]
    pub fn with_base(self, folder: impl Into<PathBuf>) -> Self {
        let folder = folder.into();
        self.with_moved_base(folder.clone(), folder)
    }

    /// [`TableOptions::with_base`] for a folder that was moved: what the manifest has at `recorded` is read at `actual`.
    #[must_use]
    pub fn with_moved_base(
        mut self,
        recorded: impl Into<PathBuf>,
        actual: impl Into<PathBuf>,
    ) -> Self {
        self.bases.push((recorded.into(), actual.into()));
        self
    }

    /// Lets the table read files anywhere. Only for tables whose writers you trust.
    #[must_use]
    pub fn with_any_base(mut self, allow: bool) -> Self {
        self.any_base = allow;
        self
    }

    /// Where a recorded folder may be read, if it may.
    pub(crate) fn allowed(&self, recorded: &Path) -> Option<PathBuf> {
        let moved =
            self.bases.iter().filter(|(from, _)| lies_in(recorded, from)).find_map(|(from, to)| {
                recorded.strip_prefix(from).ok().map(|below| to.join(below))
            });
        moved.or_else(|| self.any_base.then(|| recorded.to_owned()))
    }
}
