//! Tags, branches and shallow clones, made and removed.
//!
//! | | what is written, in this order |
//! |---|---|
//! | tag | its file |
//! | branch | its file, then the first version in `tree/<name>/` |
//! | clone | the first version in the other folder |
//!
//! The file of a branch is what two who make the same one compete for: the first version may have another number for each of
//! them, so that both would get theirs. Who is interrupted in between leaves a branch without versions, which can be deleted.
//!
//! In the same instant a cleanup may remove the version that a name is given to. It looks at the names once more when it has
//! removed versions, and puts back what got one; here it is looked once more at the version when the name is there, and the
//! name is taken back if the version is gone. So one of the two sees what the other one did.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use bytes::Bytes;

use crate::clone::Source;
use crate::commit::now_nanos;
use crate::data_file::DATA_DIR;
use crate::deletion::DELETIONS_DIR;
use crate::error::{Error, Problem, Result};
use crate::flags::Flags;
use crate::indexes::INDICES_DIR;
use crate::names::{Naming, VERSIONS_DIR, VersionName};
use crate::opening::{MAX_REF_BYTES, Opened, list_versions};
use crate::options::At;
use crate::paths::main_root;
use crate::random;
use crate::ref_files::{self, Origin};
use crate::refs::{BRANCHES_DIR, TAGS_DIR, TREE_DIR, Tag};
use crate::storage::{Durability, Put, Storage, put_own, shown};
use crate::taken_manifests::TAKEN_AT_ONCE;
use crate::transaction::{CloneTable, Operation, TRANSACTIONS_DIR, Transaction};
use crate::version_file;

/// The folders of a table or branch.
const FOLDERS: [&str; 5] = [VERSIONS_DIR, TRANSACTIONS_DIR, DELETIONS_DIR, INDICES_DIR, DATA_DIR];

/// Whether the folder of a branch is below one of the folders of another.
fn lies_inside(branch: &str, other: &str) -> bool {
    let below = branch.strip_prefix(other).and_then(|rest| rest.strip_prefix('/'));
    below.and_then(|below| below.split('/').next()).is_some_and(|part| FOLDERS.contains(&part))
}

/// Tags.
impl<S: Storage> Opened<S> {
    /// The branch of the open version; `None` for the main one.
    pub(crate) fn branch(&self) -> Option<&str> {
        self.manifest().branch.as_deref()
    }

    /// The folder of the main table, also where the folder of a branch was opened, perhaps by `.` or a link.
    pub(crate) fn refs_root(&self) -> PathBuf {
        let Some(branch) = self.branch() else { return self.main.clone() };
        let by_name = main_root(&self.root, Some(branch));
        let is_known = || (self.main != self.root).then(|| self.main.clone());
        let on_disk = || {
            let root = self.storage().recorded(&self.root).ok()?;
            main_root(Path::new(&root), Some(branch))
        };
        by_name.or_else(is_known).or_else(on_disk).unwrap_or_else(|| self.main.clone())
    }

    /// An error where the tags and branches of the main table cannot be found: its branch lies elsewhere than in `tree/`.
    pub(crate) fn check_refs_root(&self) -> Result<()> {
        if self.branch().is_some() && self.refs_root() == self.root {
            let what =
                "open the main table and check out the branch: its tags and other branches count";
            return Err(Error::invalid(format!("{}: is a branch; {what}", self.root.display())));
        }
        Ok(())
    }

    /// The name of the open version.
    pub(crate) fn version_name(&self) -> Result<VersionName> {
        let version = self.manifest().version;
        self.versions.get(version).ok_or_else(|| self.gone(version))
    }

    pub(crate) fn gone(&self, version: u64) -> Error {
        Error::invalid(format!("{}: version {version} is not there any more", self.root.display()))
    }

    /// What a tag or a branch says of the open version.
    async fn origin(&self) -> Result<Origin<'_>> {
        let version = self.manifest().version;
        let path = self.root.join(VERSIONS_DIR).join(self.version_name()?.file_name());
        let (_, manifest_bytes) = self.storage().read_range(&path, 0, 0).await?;
        Ok(Origin { branch: self.branch(), version, manifest_bytes })
    }

    pub(crate) async fn create_tag(&self, name: &str) -> Result<()> {
        ref_files::check_new_tag(name)?;
        self.check_refs_root()?;
        let path = self.refs_root().join(TAGS_DIR).join(Tag::file_name(name)?);
        let bytes = ref_files::new_tag(self.origin().await?, SystemTime::now());
        if self.put_new(&path, bytes).await? == Put::Taken {
            let what = "move it to this version, or take another name";
            return Err(Error::invalid(format!("there is a tag `{name}` already; {what}")));
        }
        if let Err(gone) = self.check_there().await {
            self.storage().delete(&path).await?;
            return Err(gone);
        }
        Ok(())
    }

    /// An error if the open version is not there any more.
    async fn check_there(&self) -> Result<()> {
        self.origin().await.map(drop).map_err(|error| match error.is_missing() {
            true => self.gone(self.manifest().version),
            false => error,
        })
    }

    pub(crate) async fn move_tag(&self, name: &str) -> Result<()> {
        self.check_refs_root()?;
        let path = self.refs_root().join(TAGS_DIR).join(Tag::file_name(name)?);
        let old = self.read_ref(&path, || format!("there is no tag `{name}`")).await?;
        let at = self.origin().await?;
        let bytes = ref_files::moved_tag(&shown(&path), &old, at, SystemTime::now())?;
        self.storage().replace(&path, bytes.into(), Durability::Synced).await?;
        self.sync_folder_of(&path).await?;
        if let Err(gone) = self.check_there().await {
            self.storage().replace(&path, old, Durability::Synced).await?;
            return Err(gone);
        }
        Ok(())
    }

    pub(crate) async fn delete_tag(&self, name: &str) -> Result<()> {
        self.check_refs_root()?;
        let path = self.refs_root().join(TAGS_DIR).join(Tag::file_name(name)?);
        self.read_ref(&path, || format!("there is no tag `{name}`")).await?;
        self.storage().delete(&path).await?;
        self.sync_folder_of(&path).await
    }

    async fn put_new(&self, path: &Path, bytes: impl Into<Bytes>) -> Result<Put> {
        let put = put_own(self.storage(), path, bytes.into(), Durability::Synced).await?;
        self.sync_folder_of(path).await?;
        Ok(put)
    }

    async fn sync_folder_of(&self, path: &Path) -> Result<()> {
        match path.parent() {
            Some(folder) => self.storage().sync_folder(folder).await,
            None => Ok(()),
        }
    }

    async fn read_ref(&self, path: &Path, missing: impl Fn() -> String) -> Result<Bytes> {
        self.storage().read(path, MAX_REF_BYTES).await.map_err(|error| match error.is_missing() {
            true => Error::invalid(missing()),
            false => error,
        })
    }
}

/// Branches and clones.
impl<S: Storage> Opened<S> {
    pub(crate) async fn create_branch(&self, name: &str) -> Result<Self> {
        ref_files::check_new_branch(name)?;
        self.check_refs_root()?;
        if name.split('/').skip(1).any(|part| FOLDERS.contains(&part)) {
            let what = "a part of it is the name of a folder that tables have";
            return Err(Error::invalid(format!("`{name}` cannot be the name of a branch: {what}")));
        }
        let main = self.refs_root();
        let branches = main.join(BRANCHES_DIR);
        let path = branches.join(ref_files::branch_file_name(name));
        let at = self.origin().await?;
        let parent = match at.branch {
            None => None,
            Some(parent) => {
                let path = branches.join(ref_files::branch_file_name(parent));
                let missing = || format!("there is no branch `{parent}`");
                Some((shown(&path), self.read_ref(&path, missing).await?))
            }
        };
        let parent = parent.as_ref().map(|(file, bytes)| (file.as_str(), bytes.as_ref()));
        let bytes = ref_files::new_branch(at, parent, random::bits(), SystemTime::now())?;
        if self.put_new(&path, bytes).await? == Put::Taken {
            let what = "open it, or delete it first if it cannot be opened";
            return Err(Error::invalid(format!("there is a branch `{name}` already; {what}")));
        }
        let root = main.join(TREE_DIR).join(name);
        if let Err(error) = self.begin_branch(&root, name).await {
            // Whatever is left of it has no name.
            self.storage().delete(&path).await?;
            return Err(error);
        }
        Self { main, ..self.clone() }.checkout(&At::Branch(name.to_owned())).await
    }

    /// Puts the first version of a branch, and nothing but that is there.
    async fn begin_branch(&self, root: &Path, name: &str) -> Result<()> {
        let taken = || {
            Error::invalid(format!(
                "{}: there is something already, perhaps an unfinished branch; delete the branch \
                 `{name}`, then make it again",
                root.display()
            ))
        };
        if self.put_clone(root, Some(name)).await? == Put::Taken {
            return Err(taken());
        }
        // Another program may make the first version before it asks for the name.
        let version = self.manifest().version;
        let versions = list_versions(self.storage(), root, Some(name)).await?;
        for other in versions.numbers().iter().filter(|other| **other != version) {
            let Some(other) = versions.get(*other) else { continue };
            let at = Self { root: root.to_owned(), committed: None, ..self.clone() };
            let file = at.version_file(other).await?;
            let made = file.transaction(&self.options.limits)?;
            if made.is_some_and(|made| matches!(made.operation, Operation::Clone(_))) {
                self.remove_clone(root).await?;
                return Err(taken());
            }
        }
        Ok(())
    }

    /// Removes a branch, and what is left of one that was not finished.
    ///
    /// Its versions go first, oldest first, and come back if one of them gets a name in that moment: see
    /// [`taken_manifests`](crate::taken_manifests).
    pub(crate) async fn delete_branch(&self, name: &str) -> Result<()> {
        ref_files::check_new_branch(name)?;
        self.check_refs_root()?;
        self.check_unneeded(name).await?;
        let main = self.refs_root();
        let path = main.join(BRANCHES_DIR).join(ref_files::branch_file_name(name));
        let had_file = self.storage().read(&path, MAX_REF_BYTES).await.is_ok();
        // Below the folder of a branch may be that of another: `a` and `a/b`.
        let root = main.join(TREE_DIR).join(name);
        let names = self.storage().list(&root.join(VERSIONS_DIR)).await?.unwrap_or_default();
        let mut versions: Vec<_> = names.iter().filter_map(|n| VersionName::parse(n)).collect();
        versions.sort_unstable_by_key(|name| name.version);
        let mut found = !versions.is_empty();
        for some in versions.chunks(TAKEN_AT_ONCE) {
            let (taken, done) = self.take_away(&root, some.to_vec()).await;
            let unneeded = match done {
                Ok(()) => self.check_unneeded(name).await,
                failed => failed,
            };
            if let Err(needed) = unneeded {
                self.put_back(taken).await?;
                return Err(needed);
            }
        }
        for folder in FOLDERS {
            let folder = root.join(folder);
            for entry in self.storage().entries(&folder).await? {
                self.storage().delete(&folder.join(entry.path)).await?;
                found = true;
            }
        }
        if !had_file && !found {
            return Err(Error::invalid(format!("there is no branch `{name}`")));
        }
        // Last, so that nobody makes it anew while files of it go.
        self.storage().delete(&path).await?;
        self.sync_folder_of(&path).await
    }

    /// An error if a tag or another branch needs a branch.
    async fn check_unneeded(&self, name: &str) -> Result<()> {
        for branch in self.branches().await? {
            let other = &branch.name;
            if lies_inside(other, name) {
                return Err(Error::invalid(format!(
                    "the branch `{other}` lies among the files of `{name}`; delete `{other}` first"
                )));
            }
            if branch.parent.as_deref() == Some(name) {
                return Err(Error::invalid(format!(
                    "the branch `{other}` was made from `{name}` and needs its files; delete `{other}` first"
                )));
            }
        }
        for tag in self.tags().await? {
            if tag.branch.as_deref() == Some(name) {
                let tag = tag.name;
                return Err(Error::invalid(format!(
                    "the tag `{tag}` names a version of `{name}`; delete the tag first"
                )));
            }
        }
        Ok(())
    }

    /// Makes the first version of a shallow clone of the open version in another folder.
    pub(crate) async fn put_clone(&self, root: &Path, branch: Option<&str>) -> Result<Put> {
        let folder = root.join(VERSIONS_DIR);
        if self.storage().list(&folder).await?.is_some_and(|names| !names.is_empty()) {
            return Ok(Put::Taken);
        }
        let version = self.manifest().version;
        let source = self.version_file(self.version_name()?).await?;
        let broken = |problem: Problem| problem.in_file(&source.manifest.file);
        source.manifest.check_writable().map_err(broken)?;
        if self.versions.detached().contains(&version) {
            let what = format!("version {version} is detached, and no table can begin with such");
            return Err(Error::Invalid(what));
        }
        let ref_path = self.storage().recorded(&self.root)?;
        let from = Source { manifest: &source.manifest, path: &ref_path, branch: self.branch() };
        let (mut manifest, base) = from.cloned(branch)?;
        let operation = Operation::Clone(CloneTable {
            is_shallow: true,
            ref_name: self.branch().map(str::to_owned),
            ref_version: version,
            ref_path: ref_path.clone(),
            branch_name: branch.map(str::to_owned),
            ..CloneTable::default()
        });
        let transaction = Transaction::new(version, random::uuid(), operation);
        let path = folder.join(VersionName { version, naming: Naming::V2 }.file_name());
        manifest.file = shown(&path);
        manifest.reader_flags = Flags(manifest.reader_flags.0 | Flags::BASE_PATHS.0);
        manifest.writer_flags = Flags(manifest.writer_flags.0 | Flags::BASE_PATHS.0);
        manifest.timestamp_nanos = Some(now_nanos());
        let transaction_path = root.join(TRANSACTIONS_DIR).join(transaction.file_name());
        let mut indexes = source.indexes()?;
        for index in indexes.entries.iter_mut().filter(|index| index.base.is_none()) {
            index.set_base(base).map_err(broken)?;
        }
        if !manifest.writer_flags.contains(Flags::NO_TRANSACTION_FILES) {
            manifest.transaction_file = transaction.file_name();
            self.put_new(&transaction_path, transaction.encode()).await?;
        }
        let fragments: Vec<_> =
            manifest.fragments.iter().map(|fragment| fragment.encoded()).collect();
        let bytes = version_file::encode(&mut manifest, fragments, &indexes, &transaction)?;
        let put = self.put_new(&path, bytes).await?;
        if put == Put::Done
            && let Err(gone) = self.check_there().await
        {
            self.remove_clone(root).await?;
            self.storage().delete(&transaction_path).await?;
            return Err(gone);
        }
        Ok(put)
    }

    /// Removes the first version of a clone of the open version.
    async fn remove_clone(&self, root: &Path) -> Result<()> {
        let name = VersionName { version: self.manifest().version, naming: Naming::V2 };
        self.storage().delete(&root.join(VERSIONS_DIR).join(name.file_name())).await
    }
}
