//! Manifests that are taken away, and come back if they get a name in that moment.
//!
//! Whoever gives a version a name writes the name and then looks for the version. So who removes versions looks at the names
//! once more when they are gone: either the name is seen then, or its maker sees that the version is gone.

use std::path::{Path, PathBuf};

use bytes::Bytes;

use crate::error::{Error, Result};
use crate::names::{VERSIONS_DIR, VersionName};
use crate::opening::Opened;
use crate::storage::{Durability, Put, Storage, put_own, shown};

/// How many manifests go before the names are read again. Their bytes wait in memory meanwhile.
pub(crate) const TAKEN_AT_ONCE: usize = 50;

/// A manifest that is gone, or may be.
pub(crate) struct Taken {
    pub(crate) name: VersionName,
    path: PathBuf,
    bytes: Bytes,
}

impl<S: Storage> Opened<S> {
    /// Removes manifests of the table or branch in a folder. On an error some are gone: those that are returned.
    pub(crate) async fn take_away(
        &self,
        root: &Path,
        names: Vec<VersionName>,
    ) -> (Vec<Taken>, Result<()>) {
        let (storage, limit) = (self.storage(), self.options.limits.max_metadata_bytes);
        let mut taken = Vec::new();
        for name in names {
            let path = root.join(VERSIONS_DIR).join(name.file_name());
            let bytes = match storage.read(&path, limit).await {
                // Somebody else has removed it meanwhile.
                Err(error) if error.is_missing() => continue,
                Err(error) => return (taken, Err(error)),
                Ok(bytes) => bytes,
            };
            taken.push(Taken { name, path: path.clone(), bytes });
            if let Err(error) = storage.delete(&path).await {
                return (taken, Err(error));
            }
        }
        (taken, Ok(()))
    }

    /// Puts manifests back, as many as can be.
    pub(crate) async fn put_back(&self, taken: Vec<Taken>) -> Result<()> {
        let mut done = Ok(());
        let folder = taken.first().and_then(|taken| taken.path.parent()).map(Path::to_owned);
        for Taken { name, path, bytes } in taken {
            let put = match put_own(self.storage(), &path, bytes, Durability::Synced).await {
                Ok(Put::Done) => Ok(()),
                Ok(Put::Taken) => Err(Error::invalid(format!(
                    "{}: version {} got a tag or a branch while it was removed, and cannot be put \
                     back: another one has its place",
                    shown(&path),
                    name.version
                ))),
                Err(error) => Err(error),
            };
            done = done.and(put);
        }
        match folder {
            Some(folder) => done.and(self.storage().sync_folder(&folder).await),
            None => done,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault_tests::{open, prepared, root};
    use crate::storage::ready;

    #[test]
    fn what_was_taken_comes_back_unless_its_place_is_taken() {
        let store = prepared(true);
        let (table, before) = (open(&store).unwrap(), store.paths());
        let names =
            || vec![1, 2].into_iter().map(|version| table.versions.get(version).unwrap()).collect();
        let (taken, done) = ready(async { Ok(table.take_away(&root(), names()).await) }).unwrap();
        done.unwrap();
        assert_eq!((taken.len(), store.paths().len()), (2, before.len() - 2));
        ready(table.put_back(taken)).unwrap();
        assert_eq!(store.paths(), before);

        let (taken, _) = ready(async { Ok(table.take_away(&root(), names()).await) }).unwrap();
        ready(store.put_if_absent(&taken[0].path, Bytes::from("other"), Durability::Synced))
            .unwrap();
        let refused = ready(table.put_back(taken)).unwrap_err().to_string();
        assert!(refused.contains("version 1 got a tag or a branch"), "{refused}");
        // The others are there all the same.
        assert_eq!(store.paths(), before);
    }
}
