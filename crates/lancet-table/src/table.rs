//! A table in a folder, opened at one of its versions.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use arrow_schema::SchemaRef;

use crate::columns::{TableColumns, TableProjection};
use crate::error::{Error, Result};
use crate::files::OpenFiles;
use crate::local;
use crate::manifest::Manifest;
use crate::names::{VERSIONS_DIR, VersionName, Versions};
use crate::options::{At, TableOptions};
use crate::paths::Folders;
use crate::read::Reads;
use crate::refs::{BRANCHES_DIR, Branch, TAGS_DIR, TREE_DIR, Tag, check_branch};
use crate::snapshot::Snapshot;

/// A tag or a branch is a file of some hundred bytes.
const MAX_REF_BYTES: u64 = 1 << 20;

/// One version of a Lance table in a folder. Cheap to clone; all methods take `&self` and need no runtime.
///
/// Opening lists the versions and reads one manifest. Data files are opened when their rows are wanted, and stay open
/// for the next read.
///
/// ```no_run
/// use lancet_table::{At, Table};
///
/// # fn main() -> lancet_table::Result<()> {
/// let table = Table::open("cities.lance")?; // the latest version
/// println!("version {} of {:?}, {} rows", table.version(), table.versions(), table.num_rows()?);
///
/// let rows = table.take(&[7, 1, 1_000_000], ["name", "_rowid"])?;
/// for batch in table.scan().columns(["name", "population"]).limit(100).build()? {
///     println!("{} rows", batch?.num_rows());
/// }
/// let before = table.checkout(At::Version(3))?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Table {
    /// The folder of the main table.
    main: PathBuf,
    /// The folder of this one: the same, or that of a branch.
    root: PathBuf,
    versions: Arc<Versions>,
    pub(crate) reads: Reads,
    options: TableOptions,
}

impl Table {
    /// Opens the latest version of the table in a folder.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(folder, TableOptions::default())
    }

    /// Opens the table in a folder with options, which may name a version.
    pub fn open_with(folder: impl AsRef<Path>, options: TableOptions) -> Result<Self> {
        let main = folder.as_ref().to_owned();
        let files = Arc::new(OpenFiles::new(options.clone()));
        Self::open_at(main, &options.at.clone(), options, files)
    }

    /// Another version of the same table. Files that are open in both stay open.
    pub fn checkout(&self, at: At) -> Result<Self> {
        let files = self.reads.files.clone();
        Self::open_at(self.main.clone(), &at, self.options.clone(), files)
    }

    fn open_at(
        main: PathBuf,
        at: &At,
        options: TableOptions,
        files: Arc<OpenFiles>,
    ) -> Result<Self> {
        let tag = match at {
            At::Tag(name) => Some(read_tag(&main, name)?),
            _ => None,
        };
        let (branch, version) = match (at, &tag) {
            (_, Some(tag)) => (tag.branch.as_deref(), Some(tag.version)),
            (At::Branch(name), _) => (Some(name.as_str()), None),
            (At::BranchVersion(name, version), _) => (Some(name.as_str()), Some(*version)),
            (At::Version(version), _) => (None, Some(*version)),
            (At::Latest | At::Instant(_) | At::Tag(_), _) => (None, None),
        };
        let root = match branch.filter(|name| *name != "main") {
            Some(name) => {
                check_branch(name)?;
                main.join(TREE_DIR).join(name)
            }
            None => main.clone(),
        };
        let versions = list_versions(&root, branch)?;
        let manifest = match at {
            At::Instant(instant) => at_instant(&root, &versions, *instant, &options)?,
            _ => read_manifest(&root, chosen(&versions, version, &root)?, &options)?,
        };
        let folders = Folders::new(&root, &manifest, &options);
        let snapshot = Arc::new(Snapshot::new(manifest)?);
        let memory_limit = options.read.memory_limit();
        let (threads, limits) = (options.read.threads(), options.limits);
        let folders = Arc::new(folders);
        let reads = Reads { snapshot, folders, files, threads, memory_limit, limits };
        Ok(Self { main, root, versions: Arc::new(versions), reads, options })
    }

    /// The version that is open.
    pub fn version(&self) -> u64 {
        self.manifest().version
    }

    /// The numbers of all versions that were there when the table was opened, oldest first; on a branch those of the
    /// branch.
    pub fn versions(&self) -> &[u64] {
        self.versions.numbers()
    }

    /// Versions outside the history, which are opened by their numbers only.
    pub fn detached_versions(&self) -> &[u64] {
        self.versions.detached()
    }

    /// All that the version file says.
    pub fn manifest(&self) -> &Manifest {
        &self.reads.snapshot.manifest
    }

    /// The manifest of another version of the same table or branch.
    pub fn manifest_of(&self, version: u64) -> Result<Manifest> {
        read_manifest(&self.root, chosen(&self.versions, Some(version), &self.root)?, &self.options)
    }

    /// The folder of the version that is open: that of the table, or of a branch.
    pub fn folder(&self) -> &Path {
        &self.root
    }

    /// The options that the table was opened with.
    pub fn options(&self) -> &TableOptions {
        &self.options
    }

    /// The schema, with field and schema metadata.
    pub fn schema(&self) -> SchemaRef {
        self.reads.snapshot.schema.arrow.clone()
    }

    /// Number of rows. It is in the manifest; only tables of the oldest writers have to open files for it.
    pub fn num_rows(&self) -> Result<u64> {
        match self.manifest().num_rows() {
            Some(num_rows) => Ok(num_rows),
            None => self.reads.num_rows(),
        }
    }

    /// Looks up columns, once for many reads.
    pub fn project(&self, columns: impl Into<TableColumns>) -> Result<TableProjection> {
        let schema = &self.reads.snapshot.schema;
        match columns.into() {
            TableColumns::All => Ok(TableProjection::all(schema)),
            TableColumns::Names(names) => TableProjection::named(schema, &names),
            TableColumns::Resolved(columns) => Ok(columns),
        }
    }

    /// The tags of the table, by name. Reads a small file for each.
    pub fn tags(&self) -> Result<Vec<Tag>> {
        let folder = self.main.join(TAGS_DIR);
        let mut names: Vec<String> = local::list(&folder)?.unwrap_or_default();
        names.sort_unstable();
        let tags = names.iter().filter_map(|file| Tag::name_of_file(file));
        tags.map(|name| read_tag(&self.main, &name)).collect()
    }

    /// The branches of the table, by name. Reads a small file for each.
    pub fn branches(&self) -> Result<Vec<Branch>> {
        let folder = self.main.join(BRANCHES_DIR);
        let mut names: Vec<String> = local::list(&folder)?.unwrap_or_default();
        names.sort_unstable();
        let mut branches = Vec::new();
        for file in &names {
            let Some(name) = Branch::name_of_file(file) else { continue };
            let path = folder.join(file);
            let bytes = local::read(&path, MAX_REF_BYTES)?;
            branches.push(Branch::parse(&path.display().to_string(), name, &bytes)?);
        }
        Ok(branches)
    }
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table")
            .field("folder", &self.root)
            .field("version", &self.version())
            .finish_non_exhaustive()
    }
}

fn read_tag(main: &Path, name: &str) -> Result<Tag> {
    let path = main.join(TAGS_DIR).join(Tag::file_name(name)?);
    let bytes = local::read(&path, MAX_REF_BYTES).map_err(|error| match error {
        Error::Io { source, .. } if source.kind() == std::io::ErrorKind::NotFound => {
            Error::invalid(format!("{}: there is no tag `{name}`", main.display()))
        }
        other => other,
    })?;
    Tag::parse(&path.display().to_string(), name.to_owned(), &bytes)
}

fn list_versions(root: &Path, branch: Option<&str>) -> Result<Versions> {
    let folder = root.join(VERSIONS_DIR);
    let Some(names) = local::list(&folder)? else {
        let what = match branch {
            Some(name) => format!("there is no branch `{name}`"),
            None => format!("it is not a Lance table: it has no folder `{VERSIONS_DIR}`"),
        };
        return Err(Error::invalid(format!("{}: {what}", root.display())));
    };
    Versions::from_names(names).map_err(|error| match error {
        Error::Corrupt { rule, .. } => Error::Corrupt { file: folder.display().to_string(), rule },
        other => other,
    })
}

/// The version with a number, or the latest.
fn chosen(versions: &Versions, version: Option<u64>, root: &Path) -> Result<VersionName> {
    let found = match version {
        Some(version) => versions.get(version),
        None => versions.latest(),
    };
    found.ok_or_else(|| {
        let root = root.display();
        let there = match versions.numbers() {
            [] => "there are none".to_owned(),
            [only] => format!("there is {only}"),
            [first, .., last] => format!("there are versions from {first} to {last}"),
        };
        Error::invalid(match version {
            Some(version) => format!("{root}: there is no version {version}; {there}"),
            None => format!("{root}: the table has no versions"),
        })
    })
}

fn read_manifest(root: &Path, name: VersionName, options: &TableOptions) -> Result<Manifest> {
    let path = root.join(VERSIONS_DIR).join(name.file_name());
    let bytes = local::read(&path, options.limits.max_metadata_bytes)?;
    Manifest::parse(&path.display().to_string(), &bytes, &options.limits)
}

/// The latest version that was there at an instant. Times grow with the versions, so that few manifests are read.
fn at_instant(
    root: &Path,
    versions: &Versions,
    instant: SystemTime,
    options: &TableOptions,
) -> Result<Manifest> {
    let nanos = |time: SystemTime| match time.duration_since(UNIX_EPOCH) {
        Ok(after) => i128::try_from(after.as_nanos()).unwrap_or(i128::MAX),
        Err(before) => {
            i128::try_from(before.duration().as_nanos()).map_or(i128::MIN, i128::saturating_neg)
        }
    };
    let instant = nanos(instant);
    let numbers = versions.numbers();
    let (mut low, mut high, mut found) = (0_usize, numbers.len(), None);
    while low < high {
        let middle = low.midpoint(high);
        let version = numbers.get(middle).copied();
        let manifest = read_manifest(root, chosen(versions, version, root)?, options)?;
        if manifest.timestamp_nanos.unwrap_or(0) <= instant {
            low = middle.saturating_add(1);
            found = Some(manifest);
        } else {
            high = middle;
        }
    }
    found.ok_or_else(|| {
        Error::invalid(format!("{}: the table had no versions at that time", root.display()))
    })
}
