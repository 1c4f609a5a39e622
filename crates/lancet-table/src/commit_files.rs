//! The small files of a commit: deletion files and transactions. They are there before the version that names them; what it
//! does not name in the end goes again.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::deletion::{DELETIONS_DIR, DeletionFile};
use crate::error::{Error, Result};
use crate::manifest::Manifest;
use crate::rebase::NewDeletionFile;
use crate::storage::{Durability, MAX_UNSYNCED, Put, Storage, Unsynced, put_own, shown};
use crate::together::{self, Boxed};
use crate::transaction::{TRANSACTIONS_DIR, Transaction};
use crate::write::is_certain;

/// What tells a deletion file from others.
type DeletionKey = (u32, u64, u64);

fn key(fragment: u32, file: &DeletionFile) -> DeletionKey {
    (fragment, file.read_version, file.id)
}

/// The files that one commit has written, or has tried to.
pub(crate) struct CommitFiles<'a, S: Storage> {
    storage: &'a S,
    root: &'a Path,
    deletions: BTreeMap<DeletionKey, PathBuf>,
    /// By their names.
    transactions: BTreeMap<String, PathBuf>,
    /// What the version is to name and is not synced yet, files of the change among it.
    pub(crate) unsynced: Unsynced,
}

impl<'a, S: Storage> CommitFiles<'a, S> {
    pub(crate) fn new(storage: &'a S, root: &'a Path, unsynced: Unsynced) -> Self {
        let (deletions, transactions) = (BTreeMap::new(), BTreeMap::new());
        Self { storage, root, deletions, transactions, unsynced }
    }

    /// Writes deletion files. They are synced with the version that names them.
    pub(crate) async fn put_deletions(&mut self, files: &[NewDeletionFile]) -> Result<()> {
        if files.is_empty() {
            return Ok(());
        }
        let folder = self.root.join(DELETIONS_DIR);
        for files in files.chunks(MAX_UNSYNCED) {
            let mut puts = Vec::with_capacity(files.len());
            for new in files {
                let path = folder.join(new.file.file_name(new.fragment));
                self.deletions.insert(key(new.fragment, &new.file), path.clone());
                puts.push(Box::pin(put_deletion(self.storage, path, new)) as Boxed<'_, Unsynced>);
            }
            for put in together::all(puts).await? {
                self.unsynced.append(put);
            }
            if self.unsynced.files.len() >= MAX_UNSYNCED {
                self.storage.sync(&mut self.unsynced).await?;
            }
        }
        Ok(())
    }

    /// Old releases look for transactions in files. The version holds it too, so that nothing depends on the file.
    pub(crate) async fn put_transaction(
        &mut self,
        manifest: &Manifest,
        transaction: &Transaction,
    ) -> Result<()> {
        let name = &manifest.transaction_file;
        if name.is_empty() {
            return Ok(());
        }
        let path = self.root.join(TRANSACTIONS_DIR).join(name);
        self.transactions.insert(name.clone(), path.clone());
        let bytes = transaction.encode().into();
        // It may be there from an attempt before this one.
        self.storage.put_if_absent(&path, bytes, Durability::Unsynced).await.map(drop)
    }

    /// Removes what the version that was committed does not name, and everything if there is none. Where that is not known
    /// everything stays.
    pub(crate) async fn settle(mut self, committed: Result<&Manifest, &Error>) {
        match committed {
            Err(error) if !is_certain(error) => return,
            Err(_) => {}
            Ok(manifest) => {
                self.transactions.remove(&manifest.transaction_file);
                if !self.deletions.is_empty() {
                    self.keep_deletions(manifest);
                }
            }
        }
        // What cannot be removed is found by a cleanup.
        for path in self.deletions.values().chain(self.transactions.values()) {
            let _ = self.storage.delete(path).await;
        }
    }

    fn keep_deletions(&mut self, manifest: &Manifest) {
        for fragment in &manifest.fragments {
            if let Some(file) = &fragment.deletion_file {
                self.deletions.remove(&key(fragment.id, file));
            }
        }
    }
}

async fn put_deletion<S: Storage>(
    storage: &S,
    path: PathBuf,
    new: &NewDeletionFile,
) -> Result<Unsynced> {
    let (bytes, mut unsynced) = (new.deletions.encode().into(), Unsynced::default());
    match put_own(storage, &path, bytes, Durability::Later(&mut unsynced)).await? {
        Put::Done => Ok(unsynced),
        Put::Taken => {
            let what = format!("{}: a deletion file of this name is there already", shown(&path));
            Err(Error::invalid(what))
        }
    }
}
