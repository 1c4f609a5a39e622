//! The last step of a commit: a version gets its name, if that is free, and is part of the history of its table.
//!
//! A free name alone is not enough where a cleanup removes versions: see [`standing`](crate::standing). So whoever has put a
//! version looks once more at which ones there are.
//!
//! | there are | our version |
//! |---|---|
//! | no newer ones | is the newest |
//! | newer ones, the next was built on it; or the next does not tell, but the one before is there as well | is part of the history |
//! | newer ones, and the next was built on another | stands where a version was cleaned up: it is removed, as if its name had been taken |
//! | newer ones, and nothing tells | may be either: [`Error::Uncertain`] |

use std::path::Path;

use bytes::Bytes;

use crate::commit::read_transaction;
use crate::error::{Error, Result};
use crate::manifest::{Limits, Manifest};
use crate::names::{HINT_FILE, Naming, VERSIONS_DIR, VersionName};
use crate::opening::list_versions;
use crate::standing::{Evidence, evidence, has_files_of};
use crate::storage::{Durability, Put, Storage, shown};
use crate::transaction::Transaction;
use crate::version_file::VersionFile;

/// Writes a version, if its name is free and none was there that is gone.
pub(crate) async fn put_version<S: Storage>(
    storage: &S,
    root: &Path,
    (manifest, bytes): (&Manifest, &Bytes),
    naming: Naming,
    transaction: &Transaction,
) -> Result<Put> {
    let version = manifest.version;
    let folder = root.join(VERSIONS_DIR);
    let path = folder.join(VersionName { version, naming }.file_name());
    let uncertain =
        |source| Error::Uncertain { file: shown(&path), version, source: Box::new(source) };
    if put_bytes(storage, &path, version, bytes, transaction).await? == Put::Taken {
        return Ok(Put::Taken);
    }
    storage.sync_folder(&folder).await.map_err(uncertain)?;
    match standing(storage, root, manifest, transaction).await.map_err(uncertain)? {
        Standing::Newest => note_latest(storage, root, version).await,
        Standing::Followed(newest) => note_latest(storage, root, newest).await,
        Standing::Outside => {
            storage.delete(&path).await.map_err(uncertain)?;
            storage.sync_folder(&folder).await.map_err(uncertain)?;
            return Ok(Put::Taken);
        }
        Standing::Unknown => {
            let what = "versions around it were cleaned up in the same moment";
            return Err(uncertain(Error::invalid(what)));
        }
    }
    Ok(Put::Done)
}

async fn put_bytes<S: Storage>(
    storage: &S,
    path: &Path,
    version: u64,
    bytes: &Bytes,
    transaction: &Transaction,
) -> Result<Put> {
    let uncertain =
        |source| Error::Uncertain { file: shown(path), version, source: Box::new(source) };
    let put = storage.put_if_absent(path, bytes.clone(), Durability::Synced).await;
    let put = match put {
        Ok(put) => put,
        // It may have been taken all the same, by us or by somebody else: whoever is there tells.
        Err(error) => match storage.read(path, u64::MAX).await {
            Ok(there) => is_ours(path, there, transaction).map_err(uncertain)?,
            Err(missing) if S::HAS_HINT && missing.is_missing() => return Err(error),
            // The store may still be at it.
            Err(_) => return Err(uncertain(error)),
        },
    };
    match put {
        // A request that was repeated on the way finds what it has put itself.
        Put::Taken => match storage.read(path, u64::MAX).await {
            Ok(there) => is_ours(path, there, transaction).map_err(uncertain),
            Err(_) if S::HAS_HINT => Ok(Put::Taken),
            // Files that ours may name must stay.
            Err(error) => Err(uncertain(error)),
        },
        Put::Done => Ok(Put::Done),
    }
}

/// Whether a version is that of a transaction. One that cannot be read may be ours, so that files that it may name
/// must stay.
fn is_ours(path: &Path, bytes: Bytes, transaction: &Transaction) -> Result<Put> {
    let limits = Default::default();
    let there = VersionFile::parse(&shown(path), bytes, &limits)?.transaction(&limits)?;
    let is_ours = there.is_some_and(|there| there.uuid == transaction.uuid);
    Ok(if is_ours { Put::Done } else { Put::Taken })
}

/// Where a version stands that has just been put.
enum Standing {
    Newest,
    /// Others were built on it. The newest one has this number.
    Followed(u64),
    /// Newer ones were built on another version of its number.
    Outside,
    Unknown,
}

async fn standing<S: Storage>(
    storage: &S,
    root: &Path,
    ours: &Manifest,
    transaction: &Transaction,
) -> Result<Standing> {
    let versions = list_versions(storage, root, ours.branch.as_deref()).await?;
    let Some(newest) = versions.latest().filter(|newest| newest.version > ours.version) else {
        return Ok(Standing::Newest);
    };
    let made_ours = &transaction.operation;
    let beside = |version| VersionName { version, naming: newest.naming };
    // What cannot be read was cleaned up, and tells nothing. What is there need not be in the list, if it came meanwhile.
    let next = read_version(storage, root, beside(ours.version.saturating_add(1))).await.ok();
    let said = match &next {
        Some((next, Some(made))) => evidence((ours, made_ours), (next, &made.operation)),
        _ => Evidence::Silent,
    };
    Ok(match said {
        Evidence::Follows => Standing::Followed(newest.version),
        Evidence::Differs => Standing::Outside,
        Evidence::Silent
            if next.is_some() && has_base(storage, root, beside(ours.version)).await =>
        {
            Standing::Followed(newest.version)
        }
        Evidence::Silent => match read_version(storage, root, newest).await {
            Ok((manifest, _)) if has_files_of(&manifest, made_ours) => {
                Standing::Followed(newest.version)
            }
            _ => Standing::Unknown,
        },
    })
}

/// Whether the version before is there. Versions go oldest first, and with one all before it but those with a tag or a
/// branch.
async fn has_base<S: Storage>(storage: &S, root: &Path, ours: VersionName) -> bool {
    let base = VersionName { version: ours.version.saturating_sub(1), ..ours };
    let path = root.join(VERSIONS_DIR).join(base.file_name());
    base.version == 0 || storage.read_range(&path, 0, 0).await.is_ok()
}

async fn read_version<S: Storage>(
    storage: &S,
    root: &Path,
    name: VersionName,
) -> Result<(Manifest, Option<Transaction>)> {
    let (path, limits) = (root.join(VERSIONS_DIR).join(name.file_name()), Limits::default());
    let bytes = storage.read(&path, limits.max_metadata_bytes).await?;
    let file = VersionFile::parse(&shown(&path), bytes, &limits)?;
    let transaction = read_transaction(storage, root, &file, &limits).await?;
    Ok((file.manifest, transaction))
}

/// Notes the latest version for those who do not list. A note that is too low could mislead them, so one that cannot be
/// replaced is removed.
pub(crate) async fn note_latest<S: Storage>(storage: &S, root: &Path, version: u64) {
    if !S::HAS_HINT {
        return;
    }
    let path = root.join(VERSIONS_DIR).join(HINT_FILE);
    let note = format!("{{\"version\":{version}}}");
    if storage.replace(&path, note.into(), Durability::Unsynced).await.is_err() {
        let _ = storage.delete(&path).await;
    }
}
