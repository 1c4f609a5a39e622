//! Opening a table: which version, and what its manifest says.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;

use crate::columns::{TableColumns, TableProjection};
use crate::error::{Error, Result};
use crate::files::OpenFiles;
use crate::manifest::Manifest;
use crate::names::{Naming, VERSIONS_DIR, VersionName, Versions};
use crate::options::{At, TableOptions};
use crate::paths::Folders;
use crate::read::Reads;
use crate::refs::{BRANCHES_DIR, Branch, TAGS_DIR, TREE_DIR, Tag, check_branch};
use crate::snapshot::Snapshot;
use crate::storage::{Storage, shown};
use crate::version_file::VersionFile;

/// A tag or a branch is a file of some hundred bytes.
pub(crate) const MAX_REF_BYTES: u64 = 1 << 20;

/// How often versions are listed, where those of the last list are cleaned up meanwhile.
const MAX_LOOKS: u32 = 10;

/// A table at one of its versions, wherever it lies.
#[derive(Clone)]
pub(crate) struct Opened<S: Storage> {
    /// The folder of the main table.
    pub(crate) main: PathBuf,
    /// The folder of this one: the same, or that of a branch.
    pub(crate) root: PathBuf,
    pub(crate) versions: Arc<Versions>,
    pub(crate) reads: Reads<S>,
    pub(crate) options: TableOptions,
    /// The bytes of the version, if it was committed here: the next one is built on them.
    pub(crate) committed: Option<Bytes>,
}

impl<S: Storage> Opened<S> {
    /// Opens the table in a folder at the version of the options.
    pub(crate) async fn open(storage: S, main: PathBuf, options: TableOptions) -> Result<Self> {
        let files = Arc::new(OpenFiles::new(storage, options.clone()));
        Self::open_at(main, &options.at.clone(), options, files).await
    }

    /// Another version of the same table.
    pub(crate) async fn checkout(&self, at: &At) -> Result<Self> {
        let files = self.reads.files.clone();
        Self::open_at(self.main.clone(), at, self.options.clone(), files).await
    }

    /// Whether there is no newer version, of the branch if it is one. Reads names only.
    pub(crate) async fn is_latest(&self) -> Result<bool> {
        let manifest = self.manifest();
        let versions =
            list_versions(self.storage(), &self.root, manifest.branch.as_deref()).await?;
        Ok(versions.latest().is_some_and(|latest| latest.version == manifest.version))
    }

    async fn open_at(
        main: PathBuf,
        at: &At,
        options: TableOptions,
        files: Arc<OpenFiles<S>>,
    ) -> Result<Self> {
        let storage = &files.storage;
        let tag = match at {
            At::Tag(name) => Some(read_tag(storage, &main, name).await?),
            _ => None,
        };
        let (branch, version) = match (at, &tag) {
            (_, Some(tag)) => (tag.branch.as_deref(), Some(tag.version)),
            (At::Branch(name), _) => (Some(name.as_str()), None),
            (At::BranchVersion(name, version), _) => (Some(name.as_str()), Some(*version)),
            (At::Version(version), _) => (None, Some(*version)),
            (At::Latest | At::Instant(_) | At::Tag(_), _) => (None, None),
        };
        let root = branch_root(&main, branch)?;
        let mut looks = 1;
        let (versions, manifest) = loop {
            let versions = list_versions(storage, &root, branch).await?;
            let read = match at {
                At::Instant(instant) => {
                    at_instant(storage, &root, &versions, *instant, &options).await
                }
                _ => match chosen(&versions, version, &root) {
                    Ok(name) => read_manifest(storage, &root, name, &options).await,
                    Err(none) => Err(none),
                },
            };
            match read {
                // It was the newest when they were listed, and was cleaned up since: there are newer ones.
                Err(error) if error.is_missing() && version.is_none() && looks < MAX_LOOKS => {
                    looks = looks.saturating_add(1);
                }
                read => break (versions, read?),
            }
        };
        Self::of_manifest(main, root, versions, Arc::new(manifest), options, files)
    }

    fn of_manifest(
        main: PathBuf,
        root: PathBuf,
        versions: Versions,
        manifest: Arc<Manifest>,
        options: TableOptions,
        files: Arc<OpenFiles<S>>,
    ) -> Result<Self> {
        let folders = Arc::new(Folders::new(&root, &manifest, &options));
        let snapshot = Arc::new(Snapshot::new(manifest)?);
        let memory_limit = options.read.memory_limit();
        let (threads, limits) = (options.read.threads(), options.limits);
        let reads = Reads { snapshot, folders, files, threads, memory_limit, limits };
        let versions = Arc::new(versions);
        Ok(Self { main, root, versions, reads, options, committed: None })
    }

    /// The first version of a table, which has just been written.
    pub(crate) fn first(storage: S, root: PathBuf, file: &VersionFile) -> Result<Self> {
        let options = TableOptions::default();
        let files = Arc::new(OpenFiles::new(storage, options.clone()));
        let manifest = file.manifest.clone();
        let versions = Versions::default().with(manifest.version, Naming::V2);
        let first = Self::of_manifest(root.clone(), root, versions, manifest, options, files)?;
        Ok(Self { committed: Some(file.bytes.clone()), ..first })
    }

    /// The same table at a version that has just been written.
    pub(crate) fn moved_to(&self, versions: Versions, file: &VersionFile) -> Result<Self> {
        let (main, root, options) = (self.main.clone(), self.root.clone(), self.options.clone());
        let (manifest, files) = (file.manifest.clone(), self.reads.files.clone());
        let moved = Self::of_manifest(main, root, versions, manifest, options, files)?;
        Ok(Self { committed: Some(file.bytes.clone()), ..moved })
    }

    pub(crate) fn storage(&self) -> &S {
        &self.reads.files.storage
    }

    pub(crate) fn manifest(&self) -> &Manifest {
        &self.reads.snapshot.manifest
    }

    pub(crate) async fn manifest_of(&self, version: u64) -> Result<Manifest> {
        let name = chosen(&self.versions, Some(version), &self.root)?;
        read_manifest(&self.reads.files.storage, &self.root, name, &self.options).await
    }

    pub(crate) async fn num_rows(&self) -> Result<u64> {
        match self.manifest().num_rows() {
            Some(num_rows) => Ok(num_rows),
            None => self.reads.num_rows().await,
        }
    }

    pub(crate) fn project(&self, columns: TableColumns) -> Result<TableProjection> {
        let schema = &self.reads.snapshot.schema;
        match columns {
            TableColumns::All => Ok(TableProjection::all(schema)),
            TableColumns::Names(names) => TableProjection::named(schema, &names),
            TableColumns::Resolved(columns) => Ok(columns),
        }
    }

    pub(crate) async fn tags(&self) -> Result<Vec<Tag>> {
        let (storage, main) = (&self.reads.files.storage, self.refs_root());
        let mut names = storage.list(&main.join(TAGS_DIR)).await?.unwrap_or_default();
        names.sort_unstable();
        let mut tags = Vec::new();
        for file in &names {
            let Some(name) = Tag::name_of_file(file) else { continue };
            let path = main.join(TAGS_DIR).join(file);
            match storage.read(&path, MAX_REF_BYTES).await {
                // Somebody has removed it meanwhile.
                Err(error) if error.is_missing() => {}
                read => tags.push(Tag::parse(&shown(&path), name, &read?)?),
            }
        }
        Ok(tags)
    }

    pub(crate) async fn branches(&self) -> Result<Vec<Branch>> {
        let storage = &self.reads.files.storage;
        let folder = self.refs_root().join(BRANCHES_DIR);
        let mut names = storage.list(&folder).await?.unwrap_or_default();
        names.sort_unstable();
        let mut branches = Vec::new();
        for file in &names {
            let Some(name) = Branch::name_of_file(file) else { continue };
            let path = folder.join(file);
            match storage.read(&path, MAX_REF_BYTES).await {
                // Somebody has removed it meanwhile.
                Err(error) if error.is_missing() => {}
                read => branches.push(Branch::parse(&shown(&path), name, &read?)?),
            }
        }
        Ok(branches)
    }
}

async fn read_tag<S: Storage>(storage: &S, main: &Path, name: &str) -> Result<Tag> {
    let path = main.join(TAGS_DIR).join(Tag::file_name(name)?);
    let bytes =
        storage.read(&path, MAX_REF_BYTES).await.map_err(|error| match error.is_missing() {
            true => Error::invalid(format!("{}: there is no tag `{name}`", main.display())),
            false => error,
        })?;
    Tag::parse(&path.display().to_string(), name.to_owned(), &bytes)
}

/// The versions of the table in a folder, or of one of its branches.
pub(crate) async fn versions<S: Storage>(
    storage: &S,
    main: &Path,
    branch: Option<&str>,
) -> Result<Versions> {
    let root = branch_root(main, branch)?;
    list_versions(storage, &root, branch).await
}

/// The folder of a branch, or of the table itself.
fn branch_root(main: &Path, branch: Option<&str>) -> Result<PathBuf> {
    match branch.filter(|name| *name != "main") {
        Some(name) => {
            check_branch(name)?;
            Ok(main.join(TREE_DIR).join(name))
        }
        None => Ok(main.to_owned()),
    }
}

pub(crate) async fn list_versions<S: Storage>(
    storage: &S,
    root: &Path,
    branch: Option<&str>,
) -> Result<Versions> {
    let folder = root.join(VERSIONS_DIR);
    let Some(names) = storage.list(&folder).await? else {
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

async fn read_manifest<S: Storage>(
    storage: &S,
    root: &Path,
    name: VersionName,
    options: &TableOptions,
) -> Result<Manifest> {
    let path = root.join(VERSIONS_DIR).join(name.file_name());
    let bytes = storage.read(&path, options.limits.max_metadata_bytes).await?;
    Manifest::parse_after(None, &path.display().to_string(), &bytes, &options.limits)
}

/// The latest version that was there at an instant. Times grow with the versions, so that few manifests are read.
async fn at_instant<S: Storage>(
    storage: &S,
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
        let name = chosen(versions, version, root)?;
        let manifest = read_manifest(storage, root, name, options).await?;
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
