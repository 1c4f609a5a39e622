//! Cleanup: old versions go, and the files that only they need.
//!
//! Everything that may need a file is read first: the versions of the table or branch at hand, those of all other branches,
//! tags. Then the manifests of expired versions go, and after them, when what is there has been read once more, the files.
//! Who is interrupted leaves files that no version names, which the next cleanup finds when they are a week old.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::cleanup_plan::{CleanupOptions, Named, Sorted, Whose, sort};
use crate::commit::note_latest;
use crate::data_file::DATA_DIR;
use crate::deletion::DELETIONS_DIR;
use crate::error::{Problem, Result};
use crate::flags;
use crate::indexes::INDICES_DIR;
use crate::manifest::Manifest;
use crate::names::{Naming, VERSIONS_DIR, VersionName};
use crate::opening::Opened;
use crate::refs::{REFS_DIR, TREE_DIR};
use crate::storage::{Entry, Storage, shown};
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

impl<S: Storage> Opened<S> {
    /// Cleans up the table or branch that is open. Other branches only count for what they need.
    pub(crate) async fn cleanup(&self, options: &CleanupOptions) -> Result<Cleanup> {
        self.check_refs_root()?;
        let storage = self.storage();
        let now = SystemTime::now();
        let found = self.versions_in(&self.root).await?;
        let (mut kept, mut expired) = (Named::default(), Named::default());
        let others = self.other_roots().await?;
        for root in &others {
            self.keep_all(root, &mut kept).await?;
        }
        let pinned = self.pinned().await?;
        let mut goes = Vec::new();
        let mut newer = found.attached().count();
        // Oldest first; detached ones come last.
        for (version, (name, entry)) in &found.files {
            let file = self.read_version(&self.root, *name).await?;
            let broken = |problem: Problem| problem.in_file(&file.manifest.file);
            // Other writers may name files in ways that are not known here.
            flags::check_writable(file.manifest.writer_flags).map_err(broken)?;
            let written = written_at(&file.manifest, entry);
            newer = newer.saturating_sub(1);
            let is_kept = name.naming == Naming::Detached
                || pinned.contains(version)
                || !options.expires(written, newer, now);
            if is_kept {
                self.keep(&file, &mut kept)?;
            } else {
                expired.add(&file.manifest, &file.indexes()?.entries, Whose::Own);
                goes.push(*version);
            }
        }
        // Versions that got a tag meanwhile.
        for version in self.pinned().await?.difference(&pinned) {
            if let Some((name, _)) = found.files.get(version) {
                self.keep(&self.read_version(&self.root, *name).await?, &mut kept)?;
            }
            goes.retain(|gone| gone != version);
        }
        let mut report = Cleanup { dry_run: options.dry_run, ..Cleanup::default() };
        let manifests: Vec<&(VersionName, Entry)> =
            goes.iter().filter_map(|version| found.files.get(version)).collect();
        if !options.dry_run && !manifests.is_empty() {
            self.note_newest(&found).await;
            for (name, _) in &manifests {
                storage.delete(&self.root.join(VERSIONS_DIR).join(name.file_name())).await?;
            }
            storage.sync_folder(&self.root.join(VERSIONS_DIR)).await?;
            // A slow writer may have put an older note back.
            self.note_newest(&found).await;
            self.keep_newer(&found, &others, &mut kept).await?;
        }
        let bytes = manifests.iter().map(|(_, entry)| entry.bytes);
        report.bytes = bytes.fold(0, u64::saturating_add);
        report.versions = goes;
        let Sorted { removed, young } = sort(self.all_files().await?, &kept, &expired, now);
        report.young_files = young.len();
        for file in removed {
            if !options.dry_run {
                storage.delete(&self.root.join(&file.path)).await?;
            }
            report.bytes = report.bytes.saturating_add(file.bytes);
            report.files.push(with_slashes(&file.path));
        }
        Ok(report)
    }

    fn keep(&self, file: &VersionFile, kept: &mut Named) -> Result<()> {
        kept.add(&file.manifest, &file.indexes()?.entries, Whose::All);
        Ok(())
    }

    /// Keeps what all versions in a folder need.
    async fn keep_all(&self, root: &Path, kept: &mut Named) -> Result<()> {
        for (name, _) in self.versions_in(root).await?.files.values() {
            self.keep(&self.read_version(root, *name).await?, kept)?;
        }
        Ok(())
    }

    /// Keeps what versions need that were committed since: one of them may have restored what was about to go.
    async fn keep_newer(&self, before: &Found, others: &[PathBuf], kept: &mut Named) -> Result<()> {
        for (version, (name, _)) in self.versions_in(&self.root).await?.files {
            if !before.files.contains_key(&version) {
                self.keep(&self.read_version(&self.root, name).await?, kept)?;
            }
        }
        for root in self.other_roots().await? {
            if !others.contains(&root) {
                self.keep_all(&root, kept).await?;
            }
        }
        Ok(())
    }

    async fn read_version(&self, root: &Path, name: VersionName) -> Result<VersionFile> {
        let path = root.join(VERSIONS_DIR).join(name.file_name());
        let limits = &self.options.limits;
        let bytes = self.storage().read(&path, limits.max_metadata_bytes).await?;
        VersionFile::parse(&shown(&path), bytes, limits)
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
        Ok(roots.into_iter().collect())
    }

    /// The versions of the open table or branch that a tag names or a branch starts from.
    async fn pinned(&self) -> Result<HashSet<u64>> {
        let mine = |branch: &Option<String>| branch.as_deref() == self.branch();
        let mut pinned = HashSet::new();
        let tags = self.tags().await?;
        pinned.extend(tags.iter().filter(|tag| mine(&tag.branch)).map(|tag| tag.version));
        let branches = self.branches().await?;
        let started = branches.iter().filter(|branch| mine(&branch.parent));
        pinned.extend(started.map(|branch| branch.parent_version));
        Ok(pinned)
    }

    /// A note of an old version beside a hole would hide commits of others: they look for the latest version from there,
    /// one by one.
    async fn note_newest(&self, found: &Found) {
        if let Some(newest) = found.attached().last() {
            note_latest(self.storage(), &self.root, newest).await;
        }
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
