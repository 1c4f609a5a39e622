//! The last step of a commit: a version gets its name, if that is free, and is part of the history of its table.
//!
//! A free name alone is not enough where a cleanup removes versions: see [`standing`](crate::standing). So whoever has put a
//! version looks once more at which ones there are.
//!
//! | there are | our version |
//! |---|---|
//! | no newer ones | is the newest |
//! | newer ones, the next was built on it; or the next does not tell, but an older one is there that nothing keeps | is part of the history |
//! | newer ones, and the next was built on another | stands where a version was cleaned up: it is removed, as if its name had been taken |
//! | newer ones, and nothing tells | may be either: [`Error::Uncertain`] |

use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;

use crate::commit::read_transaction;
use crate::error::{Error, Result};
use crate::manifest::Manifest;
use crate::names::{HINT_FILE, Naming, VERSIONS_DIR, VersionName, Versions};
use crate::opening::{Opened, list_versions};
use crate::standing::{Evidence, evidence, has_files_of};
use crate::storage::{Durability, Put, Storage, Unsynced, shown};
use crate::transaction::Transaction;

/// Writes the version of `at`, which has these bytes, if its name is free and none was there that is gone. What it names and
/// is not synced yet is synced first. Errors are
/// [`Error::Uncertain`] from the moment in which it may be there.
pub(crate) async fn put_version<S: Storage>(
    at: &Opened<S>,
    bytes: &Bytes,
    naming: Naming,
    transaction: &Transaction,
    unsynced: &mut Unsynced,
) -> Result<Put> {
    let (storage, version) = (at.storage(), at.manifest().version);
    let folder = at.root.join(VERSIONS_DIR);
    let path = folder.join(VersionName { version, naming }.file_name());
    let uncertain =
        |source| Error::Uncertain { file: shown(&path), version, source: Box::new(source) };
    if put_bytes(storage, &path, version, bytes, unsynced).await? == Put::Taken {
        return Ok(Put::Taken);
    }
    remove_note(storage, &at.root).await;
    storage.sync_folder(&folder).await.map_err(uncertain)?;
    match standing(at, transaction).await.map_err(uncertain)? {
        Standing::Inside => Ok(Put::Done),
        Standing::Outside => {
            storage.delete(&path).await.map_err(uncertain)?;
            storage.sync_folder(&folder).await.map_err(uncertain)?;
            Ok(Put::Taken)
        }
        Standing::Unknown => {
            let what = "versions around it were cleaned up in the same moment";
            Err(uncertain(Error::invalid(what)))
        }
    }
}

async fn put_bytes<S: Storage>(
    storage: &S,
    path: &Path,
    version: u64,
    bytes: &Bytes,
    unsynced: &mut Unsynced,
) -> Result<Put> {
    let uncertain =
        |source| Error::Uncertain { file: shown(path), version, source: Box::new(source) };
    let put = storage.put_if_absent(path, bytes.clone(), Durability::Behind(unsynced)).await;
    // What cannot be done at all was not done.
    if matches!(put, Ok(Put::Done) | Err(Error::Unsupported { .. })) {
        return put;
    }
    // A request that was repeated on the way finds what it has put itself, and one that failed may have been done all the
    // same, by us or by somebody else: whoever is there tells.
    match (has_bytes(storage, path, bytes).await, put) {
        (Ok(Some(true)), _) => Ok(Put::Done),
        (Ok(Some(false)), _) => Ok(Put::Taken),
        // On disk that is certain: it was cleaned up since, or nothing was done.
        (Ok(None), put) if S::HAS_HINT => put,
        // The store may still be at it.
        (_, Err(error)) | (Err(error), _) => Err(uncertain(error)),
        (Ok(None), Ok(_)) => Err(uncertain(Error::invalid("it was there and is gone"))),
    }
}

/// Whether a file has these bytes; `None` if there is none.
async fn has_bytes<S: Storage>(storage: &S, path: &Path, bytes: &Bytes) -> Result<Option<bool>> {
    match storage.read(path, bytes.len() as u64).await {
        Ok(there) => Ok(Some(there == *bytes)),
        Err(Error::Limit { .. }) => Ok(Some(false)),
        Err(error) if error.is_missing() => Ok(None),
        Err(error) => Err(error),
    }
}

/// Where a version stands that has just been put.
enum Standing {
    /// It is the newest, or others were built on it.
    Inside,
    /// Newer ones were built on another version of its number.
    Outside,
    Unknown,
}

async fn standing<S: Storage>(at: &Opened<S>, transaction: &Transaction) -> Result<Standing> {
    let ours = at.manifest();
    let versions = list_versions(at.storage(), &at.root, ours.branch.as_deref()).await?;
    let Some(newest) = versions.latest().filter(|newest| newest.version > ours.version) else {
        return Ok(Standing::Inside);
    };
    let made_ours = &transaction.operation;
    let beside = |version| VersionName { version, naming: newest.naming };
    // What cannot be read was cleaned up, and tells nothing. What is there need not be in the list, if it came meanwhile.
    let next = read_version(at, beside(ours.version.saturating_add(1))).await.ok();
    let said = match &next {
        Some((next, Some(made))) => evidence((ours, made_ours), (next, &made.operation)),
        _ => Evidence::Silent,
    };
    Ok(match said {
        Evidence::Follows => Standing::Inside,
        Evidence::Differs => Standing::Outside,
        Evidence::Silent if next.is_some() && has_older(at, &versions).await => Standing::Inside,
        Evidence::Silent => match read_version(at, newest).await {
            Ok((manifest, _)) if has_files_of(&manifest, made_ours) => Standing::Inside,
            _ => Standing::Unknown,
        },
    })
}

/// Whether an older version is there that no tag or branch keeps. Versions go oldest first, and with one all before it but
/// those with a name: so none behind it was cleaned up.
async fn has_older<S: Storage>(at: &Opened<S>, versions: &Versions) -> bool {
    let ours = at.manifest().version;
    let older = versions.numbers().iter().filter(|version| **version < ours);
    let older: Vec<u64> = older.copied().collect();
    if older.is_empty() {
        return ours == 1;
    }
    let pinned = at.pinned().await;
    pinned.is_ok_and(|pinned| older.iter().any(|version| !pinned.contains(version)))
}

async fn read_version<S: Storage>(
    at: &Opened<S>,
    name: VersionName,
) -> Result<(Arc<Manifest>, Option<Transaction>)> {
    let file = at.version_file(name).await?;
    let limits = &at.options.limits;
    let transaction = read_transaction(at.storage(), &at.root, &file, limits).await?;
    Ok((file.manifest, transaction))
}

/// Removes the note of the latest version, by which writers of the reference begin to look. They do without one, and an old one
/// beside a hole would mislead them. A new one would cost each commit a file, and the removal of the one before.
pub(crate) async fn remove_note<S: Storage>(storage: &S, root: &Path) {
    if S::HAS_HINT {
        // One that stays is true of the versions below it.
        let _ = storage.delete(&root.join(VERSIONS_DIR).join(HINT_FILE)).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault_tests::{open, prepared, root};
    use crate::storage::ready;
    use crate::transaction::{Operation, UpdateConfig};

    /// Whatever it is, damaged or longer than a manifest may be: it is not ours, and our own is.
    #[test]
    fn who_has_the_name_is_told_by_its_bytes() {
        let store = prepared(true);
        let table = open(&store).unwrap();
        let root = root();
        let path = root.join("_versions").join(table.version_name().unwrap().file_name());
        let ours = ready(store.read(&path, u64::MAX)).unwrap();
        let operation = Operation::UpdateConfig(UpdateConfig::default());
        let transaction = Transaction::new(2, "an id".into(), operation);
        let longer = Bytes::from([ours.as_ref(), b"x"].concat());
        let damaged = Bytes::from(vec![0; ours.len()]);
        for (there, put) in [(longer, Put::Taken), (damaged, Put::Taken), (ours.clone(), Put::Done)]
        {
            ready(store.replace(&path, there, Durability::Synced)).unwrap();
            let unsynced = &mut Unsynced::default();
            let done = put_version(&table, &ours, Naming::V2, &transaction, unsynced);
            assert_eq!(ready(done).unwrap(), put);
        }
    }
}
