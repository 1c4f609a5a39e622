//! The commit: a change becomes the next version of a table, once, whoever else writes.
//!
//! 1. Versions that were committed since the change was made are read; [`rebase`] says what they mean for it.
//! 2. The next version is written under its name, *if that name is free* ([`put_version`]). It names files that are complete
//!    and synced: those that are not yet ([`Unsynced`]) are synced with the bytes of the version, before it gets its name.
//! 3. If it was not free, somebody else was faster: from the beginning, after a short while.
//!
//! A store may commit and lose its answer. Therefore a version with our own uuid is ours, wherever it is met.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::commit_files::CommitFiles;
use crate::deletions::Deletions;
use crate::error::{Conflict, Error, Result};
use crate::fragment::Fragment;
use crate::manifest::{Limits, Manifest};
use crate::names::{Naming, VERSIONS_DIR, VersionName, Versions};
use crate::next::Next;
use crate::opening::{Opened, list_versions};
use crate::paths::Folders;
use crate::put_version::put_version;
use crate::random;
use crate::rebase::{Committed, Pending, Ready, Rebased, rebase};
use crate::storage::{Put, Storage, Unsynced, shown};
use crate::together::{self, Boxed};
use crate::transaction::{TRANSACTIONS_DIR, Transaction};
use crate::version_file::VersionFile;
use crate::write_options::TableWriteOptions;

/// Waits double so many times at most.
const MAX_DOUBLINGS: u32 = 6;
/// The shortest unit of waiting: the first attempt may take next to no time.
const SHORTEST_SLOT: Duration = Duration::from_millis(2);

/// Commits the first version of a table.
pub(crate) async fn commit_first<S: Storage>(
    storage: S,
    root: PathBuf,
    mut pending: Pending,
    unsynced: Unsynced,
    options: &TableWriteOptions,
) -> Result<Opened<S>> {
    options.check_cancelled()?;
    pending.transaction.properties.extend(options.properties.clone());
    let transaction = &pending.transaction;
    let next = Next::build(None, transaction, &pending.given, now_nanos())?;
    let path = root.join(VERSIONS_DIR).join(file_name(next.manifest.version, Naming::V2));
    let bytes = next.into_bytes(shown(&path), transaction)?;
    let file = VersionFile::parse(&shown(&path), bytes, &Default::default())?;
    let opened = Opened::first(storage.clone(), root.clone(), &file)?;
    let mut files = CommitFiles::new(&storage, &root, unsynced);
    let put = async {
        files.put_transaction(opened.manifest(), transaction).await?;
        let unsynced = &mut files.unsynced;
        match put_version(&opened, &file.bytes, Naming::V2, transaction, unsynced).await? {
            Put::Done => Ok(()),
            Put::Taken => Err(already_there(&root)),
        }
    };
    let put = put.await;
    files.settle(put.as_ref().map(|()| opened.manifest())).await;
    put.map(|()| opened)
}

/// Somebody has a table there already.
pub(crate) fn already_there(root: &Path) -> Error {
    Error::invalid(format!(
        "{}: there is a table already; append to it, overwrite it, or choose another place",
        root.display()
    ))
}

impl<S: Storage> Opened<S> {
    /// A version file of this table or branch.
    pub(crate) async fn version_file(&self, name: VersionName) -> Result<VersionFile> {
        let path = self.root.join(VERSIONS_DIR).join(name.file_name());
        if let Some(known) = self.committed_file(name.version)
            && known.is_at(self.storage(), &path).await
        {
            return Ok(known);
        }
        let limits = &self.options.limits;
        let bytes = self.storage().read(&path, limits.max_metadata_bytes).await?;
        VersionFile::parse(&shown(&path), bytes, limits)
    }

    /// The version of the table, if it was committed here.
    fn committed_file(&self, version: u64) -> Option<VersionFile> {
        let (manifest, bytes) = (&self.reads.snapshot.manifest, self.committed.clone()?);
        (manifest.version == version).then(|| VersionFile { manifest: manifest.clone(), bytes })
    }

    /// What made a version, if it says so.
    pub(crate) async fn made_by(&self, version: u64) -> Result<Option<Transaction>> {
        let Some(name) = self.versions.get(version) else { return Ok(None) };
        let file = self.version_file(name).await?;
        read_transaction(self.storage(), &self.root, &file, &self.options.limits).await
    }

    /// Commits a change; the table at the version that it became.
    pub(crate) async fn commit(
        &self,
        pending: Pending,
        options: &TableWriteOptions,
    ) -> Result<Self> {
        self.commit_with(pending, Unsynced::default(), options).await
    }

    /// The same with files of the change that are not synced yet.
    pub(crate) async fn commit_with(
        &self,
        mut pending: Pending,
        unsynced: Unsynced,
        options: &TableWriteOptions,
    ) -> Result<Self> {
        pending.transaction.properties.extend(options.properties.clone());
        let files = CommitFiles::new(self.storage(), &self.root, unsynced);
        let mut commit = Commit { at: self, options, checked: self.manifest().version, files };
        let committed = commit.run(pending).await;
        commit.files.settle(committed.as_ref().map(Self::manifest)).await;
        committed
    }
}

/// A commit that is under way.
struct Commit<'a, S: Storage> {
    at: &'a Opened<S>,
    options: &'a TableWriteOptions,
    /// The change goes together with all versions up to this one.
    checked: u64,
    files: CommitFiles<'a, S>,
}

enum Attempt<S: Storage> {
    Done(Box<Opened<S>>),
    /// Somebody else was faster.
    Lost(Box<Pending>),
}

impl<S: Storage> Commit<'_, S> {
    async fn run(&mut self, mut pending: Pending) -> Result<Opened<S>> {
        let options = self.options;
        let (begin, mut slot, mut made) = (Instant::now(), SHORTEST_SLOT, 0_u32);
        self.files.put_deletions(&std::mem::take(&mut pending.files)).await?;
        while made < options.attempts {
            options.check_cancelled()?;
            pending = match self.attempt(pending).await? {
                Attempt::Done(opened) => return Ok(*opened),
                Attempt::Lost(pending) => *pending,
            };
            made = made.saturating_add(1);
            if made == 1 {
                let taken = begin.elapsed();
                let tenth = taken.checked_div(10).unwrap_or_default();
                slot = taken.saturating_add(tenth).max(SHORTEST_SLOT);
            }
            if begin.elapsed() >= options.timeout {
                break;
            }
            let range = 1_u64 << made.min(MAX_DOUBLINGS);
            let slots = random::number().checked_rem(range).unwrap_or(0);
            let wait = slot.saturating_mul(u32::try_from(slots).unwrap_or(1));
            let left = options.timeout.saturating_sub(begin.elapsed());
            self.at.storage().wait(wait.min(left)).await;
        }
        let (seconds, version) = (begin.elapsed().as_secs(), self.checked.saturating_add(1));
        Err(Error::Busy { attempts: made, seconds, version })
    }

    async fn attempt(&mut self, pending: Pending) -> Result<Attempt<S>> {
        let (storage, root) = (self.at.storage(), &self.at.root);
        let versions = list_versions(storage, root, self.at.manifest().branch.as_deref()).await?;
        let ours = pending.transaction.operation.words();
        let (latest, theirs) = match self.read_newer(&versions, ours).await {
            // It was cleaned up since it was listed, so that there are newer ones.
            Err(error) if error.is_missing() => return Ok(Attempt::Lost(Box::new(pending))),
            read => read?,
        };
        let is_ours = |other: &&Committed| other.transaction.uuid == pending.transaction.uuid;
        let naming = versions.naming().unwrap_or(Naming::V2);
        if let Some(ours) = theirs.iter().find(is_ours) {
            let name = VersionName { version: ours.version, naming };
            return self.found(name, &versions).await;
        }
        let ready = self.rebased(&pending, &latest, &theirs).await?;
        self.files.put_deletions(&ready.files).await?;
        let version = ready.next.manifest.version;
        let path = root.join(VERSIONS_DIR).join(file_name(version, naming));
        let (next, transaction) = (ready.next, &ready.pending.transaction);
        let bytes = next.into_bytes(shown(&path), transaction)?;
        // What could not be read again is not written.
        let limits = &self.at.options.limits;
        let file = VersionFile::parse_after(Some(&latest), &shown(&path), bytes, limits)?;
        self.files.put_transaction(&file.manifest, transaction).await?;
        let moved = self.at.moved_to(versions.with(version, naming), &file)?;
        self.options.check_cancelled()?;
        let unsynced = &mut self.files.unsynced;
        match put_version(&moved, &file.bytes, naming, transaction, unsynced).await? {
            Put::Done => Ok(Attempt::Done(Box::new(moved))),
            Put::Taken => {
                self.checked = latest.manifest.version;
                Ok(Attempt::Lost(Box::new(ready.pending)))
            }
        }
    }

    /// The table at a version that turned out to be ours. It is committed: what it names must stay, whatever goes wrong.
    async fn found(&self, name: VersionName, versions: &Versions) -> Result<Attempt<S>> {
        let moved = async {
            let file = self.at.version_file(name).await?;
            self.at.moved_to(versions.clone().with(name.version, name.naming), &file)
        };
        moved.await.map(|moved| Attempt::Done(Box::new(moved))).map_err(|error| {
            let path = self.at.root.join(VERSIONS_DIR).join(name.file_name());
            Error::Uncertain { file: shown(&path), version: name.version, source: Box::new(error) }
        })
    }

    /// The change on top of the latest version.
    async fn rebased<'b>(
        &self,
        pending: &'b Pending,
        latest: &'b VersionFile,
        theirs: &[Committed],
    ) -> Result<Box<Ready<'b>>> {
        let seed = random::number();
        let mut known = BTreeMap::new();
        loop {
            let now = (seed, now_nanos());
            let schema = &self.at.manifest().fields;
            match rebase(pending, schema, Some(latest), theirs, &known, now) {
                Ok(Rebased::Load(fragments)) => {
                    known.extend(self.load_deletions(&latest.manifest, &fragments).await?);
                }
                Ok(Rebased::Next(ready)) => return Ok(ready),
                Err(error) => return Err(error),
            }
        }
    }

    /// The latest version, and the transactions of those that were not looked at yet.
    async fn read_newer(
        &self,
        versions: &Versions,
        ours: &'static str,
    ) -> Result<(VersionFile, Vec<Committed>)> {
        let latest = versions.latest().filter(|latest| latest.version >= self.checked);
        let Some(latest) = latest else {
            return Err(Error::invalid(format!(
                "{}: version {} is gone; open the table again",
                self.at.root.display(),
                self.checked
            )));
        };
        let mut theirs = Vec::new();
        for version in self.checked.saturating_add(1)..latest.version {
            // A version that comes while a folder is listed may be left out, with a newer one in the list.
            let name = VersionName { version, naming: latest.naming };
            let file = match self.at.version_file(name).await {
                Err(error) if error.is_missing() => return Err(unknown_change(ours, version)),
                read => read?,
            };
            theirs.push(self.committed(&file, ours).await?);
        }
        let file = self.at.version_file(latest).await?;
        if latest.version > self.checked {
            theirs.push(self.committed(&file, ours).await?);
        }
        Ok((file, theirs))
    }

    /// What a version did. It says so itself, or names a file.
    async fn committed(&self, file: &VersionFile, ours: &'static str) -> Result<Committed> {
        let version = file.manifest.version;
        let (at, limits) = (self.at, &self.at.options.limits);
        match read_transaction(at.storage(), &at.root, file, limits).await {
            Ok(Some(transaction)) => Ok(Committed { version, transaction }),
            // What cannot be read now may be read later.
            Err(error @ (Error::Io { .. } | Error::Store { .. })) => Err(error),
            _ => Err(unknown_change(ours, version)),
        }
    }

    async fn load_deletions(
        &self,
        latest: &Manifest,
        fragments: &BTreeSet<u32>,
    ) -> Result<BTreeMap<u32, Deletions>> {
        let folders = Folders::new(&self.at.root, latest, &self.at.options);
        let mut loads = Vec::with_capacity(fragments.len());
        for fragment in &latest.fragments {
            if fragments.contains(&fragment.id) {
                loads.push(Box::pin(self.load_deletion(&folders, fragment)) as Boxed<'_, _>);
            }
        }
        Ok(together::all(loads).await?.into_iter().collect())
    }

    async fn load_deletion(
        &self,
        folders: &Folders,
        fragment: &Fragment,
    ) -> Result<(u32, Deletions)> {
        let Some(file) = &fragment.deletion_file else {
            return Ok((fragment.id, Deletions::none()));
        };
        let path = folders.deletion_file(file.base, &file.file_name(fragment.id))?;
        let limit = self.at.options.limits.max_metadata_bytes;
        let bytes = self.at.storage().read(&path, limit).await?;
        let rows = fragment.physical_rows.unwrap_or(u32::MAX.into());
        let found = Deletions::of_file(file, &bytes, rows);
        Ok((fragment.id, found.map_err(|problem| problem.in_file(&shown(&path)))?))
    }
}

/// The transaction of a version, in its file or beside it.
pub(crate) async fn read_transaction<S: Storage>(
    storage: &S,
    root: &Path,
    file: &VersionFile,
    limits: &Limits,
) -> Result<Option<Transaction>> {
    let name = &file.manifest.transaction_file;
    if let Some(transaction) = file.transaction(limits)? {
        return Ok(Some(transaction));
    }
    // A name from a manifest never leads elsewhere.
    if name.is_empty() || name.contains(['/', '\\']) {
        return Ok(None);
    }
    let path = root.join(TRANSACTIONS_DIR).join(name);
    match storage.read(&path, limits.max_metadata_bytes).await {
        Ok(bytes) => Transaction::parse(&shown(&path), &bytes, limits).map(Some),
        Err(error) if error.is_missing() => Ok(None),
        Err(error) => Err(error),
    }
}

/// A version that does not tell what it did.
fn unknown_change(ours: &'static str, version: u64) -> Error {
    Error::Conflict(Conflict {
        ours,
        version,
        theirs: "an unknown operation",
        can_retry: true,
        why: "what it did cannot be read any more".into(),
    })
}

fn file_name(version: u64, naming: Naming) -> String {
    VersionName { version, naming }.file_name()
}

/// The time, as manifests have it.
pub(crate) fn now_nanos() -> i128 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i128::try_from(now.as_nanos()).unwrap_or(i128::MAX)
}
