//! Cleanup: old versions go, and the files that only they need.
//!
//! 1. Everything that may need a file is read: the versions of the table or branch at hand, those of all other branches,
//!    tags.
//! 2. The manifests of expired versions go, some at a time. A version that gets a name in that moment is put back, also if
//!    something goes wrong: see [`taken_manifests`](crate::taken_manifests).
//! 3. What was committed since is read, in all branches: it may have brought back what was about to go.
//! 4. The files go that nothing found so far needs, and that are named by an expired version or older than a week.
//!
//! Who is interrupted leaves files that no version names, which the next cleanup finds when they are a week old.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::cleanup_plan::{CleanupOptions, Named, Sorted, Whose, sort};
use crate::data_file::DATA_DIR;
use crate::deletion::DELETIONS_DIR;
use crate::error::{Problem, Result};
use crate::indexes::INDICES_DIR;
use crate::manifest::Manifest;
use crate::names::{Naming, VERSIONS_DIR, VersionName};
use crate::opening::Opened;
use crate::put_version::remove_note;
use crate::refs::{REFS_DIR, TREE_DIR};
use crate::storage::{Entry, Storage, shown};
use crate::taken_manifests::{TAKEN_AT_ONCE, Taken};
use crate::transaction::TRANSACTIONS_DIR;
use crate::version_file::VersionFile;

/// What a cleanup removed, or would remove.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cleanup {
    /// The versions that are gone, oldest first.
    pub versions: Vec<u64>,
    /// The other files that are gone, below the folder of the table.
    pub files: Vec<String>,
    /// The bytes of all files that are gone, those of the versions included.
    pub bytes: u64,
    /// Files that no version names, but that are younger than a week: they may belong to a commit under way.
    pub young_files: usize,
    /// Whether everything is still there: see [`CleanupOptions::with_dry_run`].
    pub dry_run: bool,
}

/// The versions in one folder.
struct Found {
    /// Files of versions by their numbers, detached ones too, with the time they were written at.
    files: BTreeMap<u64, (VersionName, Entry)>,
}

impl Found {
    /// The numbers of the versions, without detached ones.
    fn attached(&self) -> impl DoubleEndedIterator<Item = u64> {
        let attached = self.files.values().filter(|(name, _)| name.naming != Naming::Detached);
        attached.map(|(name, _)| name.version)
    }
}

/// What is needed, and by which manifests: a second look needs to read only those that are new.
#[derive(Default)]
struct Needed {
    files: Named,
    by: HashMap<PathBuf, Entry>,
}

impl<S: Storage> Opened<S> {
    /// Cleans up the table or branch that is open. Other branches only count for what they need.
    pub(crate) async fn cleanup(&self, options: &CleanupOptions) -> Result<Cleanup> {
        self.check_refs_root()?;
        let now = SystemTime::now();
        let found = self.versions_in(&self.root).await?;
        let (mut kept, mut expired) = (Needed::default(), Named::default());
        self.keep_branches(&mut kept).await?;
        let pinned = self.pinned().await?;
        let mut goes = Vec::new();
        let mut newer = found.attached().count();
        // Oldest first; detached ones come last.
        for (version, (name, entry)) in &found.files {
            newer = newer.saturating_sub(1);
            let Some(file) = self.read_there(&self.root, *name).await? else { continue };
            let broken = |problem: Problem| problem.in_file(&file.manifest.file);
            // Other writers may name files in ways that are not known here.
            file.manifest.check_writable().map_err(broken)?;
            let written = written_at(&file.manifest, entry);
            let is_kept = name.naming == Naming::Detached
                || pinned.contains(version)
                || !options.expires(written, newer, now);
            if is_kept {
                kept.add(&file)?;
                kept.by.insert(version_path(&self.root, *name), entry.clone());
            } else {
                expired.add(&file.manifest, &file.indexes()?.entries, Whose::Own);
                goes.push((*name, entry));
            }
        }
        let mut report = Cleanup { dry_run: options.dry_run, ..Cleanup::default() };
        if !options.dry_run && !goes.is_empty() {
            goes = self.remove_versions(goes).await?;
            self.keep_all(&self.root, &mut kept).await?;
            self.keep_branches(&mut kept).await?;
        }
        let bytes = goes.iter().map(|(_, entry)| entry.bytes);
        report.bytes = bytes.fold(0, u64::saturating_add);
        report.versions = goes.iter().map(|(name, _)| name.version).collect();
        let files = self.all_files().await?;
        let Sorted { removed, young } = sort(files, &kept.files, &expired, now);
        report.young_files = young.len();
        for file in removed {
            if !options.dry_run {
                self.storage().delete(&self.root.join(&file.path)).await?;
            }
            report.bytes = report.bytes.saturating_add(file.bytes);
            report.files.push(with_slashes(&file.path));
        }
        Ok(report)
    }

    /// Removes manifests, but for those that got a tag or a branch meanwhile; which ones are gone.
    async fn remove_versions<'a>(
        &self,
        goes: Vec<(VersionName, &'a Entry)>,
    ) -> Result<Vec<(VersionName, &'a Entry)>> {
        let mut gone = Vec::with_capacity(goes.len());
        // A note of an old version beside a hole would hide commits of others: they look for the latest version from there, one
        // by one.
        remove_note(self.storage(), &self.root).await;
        for some in goes.chunks(TAKEN_AT_ONCE) {
            let pinned = self.pinned().await?;
            let names = some.iter().map(|(name, _)| *name);
            let names = names.filter(|name| !pinned.contains(&name.version)).collect();
            let (taken, done) = self.take_away(&self.root, names).await;
            // Where the names cannot be read, any of them may have one.
            let pinned = self.pinned().await;
            let is_named = |taken: &Taken| {
                pinned.as_ref().map_or(true, |pinned| pinned.contains(&taken.name.version))
            };
            let (named, left): (Vec<_>, Vec<_>) = taken.into_iter().partition(is_named);
            let back = self.put_back(named).await;
            let left: BTreeSet<u64> = left.iter().map(|taken| taken.name.version).collect();
            gone.extend(some.iter().filter(|(name, _)| left.contains(&name.version)).copied());
            back.and(done)?;
            pinned?;
        }
        self.storage().sync_folder(&self.root.join(VERSIONS_DIR)).await?;
        // A slow writer may have put an older note back.
        remove_note(self.storage(), &self.root).await;
        Ok(gone)
    }

    /// Keeps what the versions of the main table and of all branches need, but for the one that is open.
    async fn keep_branches(&self, kept: &mut Needed) -> Result<()> {
        for root in self.other_roots().await? {
            self.keep_all(&root, kept).await?;
        }
        Ok(())
    }

    /// Keeps what all versions in a folder need, if they were not there at the last look.
    async fn keep_all(&self, root: &Path, kept: &mut Needed) -> Result<()> {
        for (name, entry) in self.versions_in(root).await?.files.into_values() {
            let path = version_path(root, name);
            if kept.by.get(&path) == Some(&entry) {
                continue;
            }
            if let Some(file) = self.read_there(root, name).await? {
                kept.add(&file)?;
                kept.by.insert(path, entry);
            }
        }
        Ok(())
    }

    /// A version, unless somebody else has removed it meanwhile.
    async fn read_there(&self, root: &Path, name: VersionName) -> Result<Option<VersionFile>> {
        let path = version_path(root, name);
        let limits = &self.options.limits;
        match self.storage().read(&path, limits.max_metadata_bytes).await {
            Err(error) if error.is_missing() => Ok(None),
            read => VersionFile::parse(&shown(&path), read?, limits).map(Some),
        }
    }

    async fn versions_in(&self, root: &Path) -> Result<Found> {
        let entries = self.storage().entries(&root.join(VERSIONS_DIR)).await?;
        let files = entries.into_iter().filter_map(|entry| {
            let name = VersionName::parse(entry.path.to_str()?)?;
            Some((name.version, (name, entry)))
        });
        Ok(Found { files: files.collect() })
    }

    /// The folders of the main table and of all branches, also unfinished ones, but the one that is open.
    async fn other_roots(&self) -> Result<Vec<PathBuf>> {
        let main = self.refs_root();
        let tree = main.join(TREE_DIR);
        let mut roots = BTreeSet::from([main]);
        for entry in self.storage().entries(&tree).await? {
            let folder = entry.path.parent().filter(|folder| folder.ends_with(VERSIONS_DIR));
            roots.extend(folder.and_then(Path::parent).map(|below| tree.join(below)));
        }
        roots.remove(&self.root);
        // The open one may be known by another path.
        roots.remove(&self.branch().map_or(self.main.clone(), |branch| tree.join(branch)));
        Ok(roots.into_iter().collect())
    }

    /// The versions of the open table or branch that a tag names or a branch starts from.
    pub(crate) async fn pinned(&self) -> Result<HashSet<u64>> {
        let mine = |branch: &Option<String>| branch.as_deref() == self.branch();
        let mut pinned = HashSet::new();
        let tags = self.tags().await?;
        pinned.extend(tags.iter().filter(|tag| mine(&tag.branch)).map(|tag| tag.version));
        let branches = self.branches().await?;
        let started = branches.iter().filter(|branch| mine(&branch.parent));
        pinned.extend(started.map(|branch| branch.parent_version));
        Ok(pinned)
    }

    /// All files that may go, below the folder of the table.
    async fn all_files(&self) -> Result<Vec<Entry>> {
        let mut all = Vec::new();
        let folders =
            [DATA_DIR, DELETIONS_DIR, INDICES_DIR, TRANSACTIONS_DIR, VERSIONS_DIR, REFS_DIR];
        for folder in folders {
            let entries = self.storage().entries(&self.root.join(folder)).await?;
            let below = |entry: Entry| Entry { path: Path::new(folder).join(&entry.path), ..entry };
            all.extend(entries.into_iter().map(below));
        }
        Ok(all)
    }
}

impl Needed {
    fn add(&mut self, version: &VersionFile) -> Result<()> {
        self.files.add(&version.manifest, &version.indexes()?.entries, Whose::All);
        Ok(())
    }
}

fn version_path(root: &Path, name: VersionName) -> PathBuf {
    root.join(VERSIONS_DIR).join(name.file_name())
}

/// When a version was written. Old writers do not note it; then the file tells.
fn written_at(manifest: &Manifest, entry: &Entry) -> SystemTime {
    let nanos = manifest.timestamp_nanos.and_then(|nanos| u64::try_from(nanos).ok());
    let time = nanos.and_then(|nanos| UNIX_EPOCH.checked_add(Duration::from_nanos(nanos)));
    time.unwrap_or(entry.modified)
}

fn with_slashes(path: &Path) -> String {
    let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
    parts.join("/")
}
