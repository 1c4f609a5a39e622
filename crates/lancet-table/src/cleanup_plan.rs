//! What a cleanup may remove. Pure: it is handed manifests, names and ages, and gives names.
//!
//! Kept are the newest version, versions with a tag, those that a branch starts from, those younger than the limit and
//! detached ones. The others expire, and with them what they name and no kept version does:
//!
//! | file | goes |
//! |---|---|
//! | data file, deletion file, index, transaction of an expired version | at once |
//! | the same, named by no version | when it is a week old: it may belong to a commit under way |
//! | `data/<stem>/*.blob` | with `data/<stem>.lance` |
//! | temporary files of writers | when they are a week old |
//! | everything else | never |

use std::collections::HashSet;
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::data_file::DATA_DIR;
use crate::deletion::DELETIONS_DIR;
use crate::indexes::{INDICES_DIR, IndexEntry};
use crate::manifest::Manifest;
use crate::names::VERSIONS_DIR;
use crate::refs::REFS_DIR;
use crate::storage::Entry;
use crate::transaction::TRANSACTIONS_DIR;

/// The age from which on a file that no version names belongs to no commit under way.
const UNNAMED_AGE: Duration = Duration::from_secs(7 * 86_400);
/// How the hidden names of unfinished files begin, or end.
const TEMPORARY: &str = ".tmp";
const UNFINISHED: &str = ".lancet-part";
/// The folders that writers make such files in.
const WRITTEN: [&str; 5] = [DATA_DIR, DELETIONS_DIR, TRANSACTIONS_DIR, VERSIONS_DIR, REFS_DIR];

/// What a cleanup may take for old.
///
/// ```
/// use std::time::Duration;
/// use lancet_table::CleanupOptions;
///
/// let month = CleanupOptions::default().with_older_than(Duration::from_secs(30 * 86_400));
/// let look = month.with_dry_run(true); // says what would be removed
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CleanupOptions {
    pub(crate) older_than: Duration,
    pub(crate) keep_versions: usize,
    pub(crate) dry_run: bool,
}

impl Default for CleanupOptions {
    fn default() -> Self {
        Self { older_than: Duration::from_secs(7 * 86_400), keep_versions: 1, dry_run: false }
    }
}

impl CleanupOptions {
    /// Versions written longer ago than this expire. A week by default. The newest version stays at any age.
    #[must_use]
    pub fn with_older_than(mut self, age: Duration) -> Self {
        self.older_than = age;
        self
    }

    /// So many of the newest versions stay at any age. One by default, and at least.
    #[must_use]
    pub fn with_keep_versions(mut self, versions: usize) -> Self {
        self.keep_versions = versions.max(1);
        self
    }

    /// Only says what would be removed.
    #[must_use]
    pub fn with_dry_run(mut self, dry_run: bool) -> Self {
        self.dry_run = dry_run;
        self
    }

    /// Whether a version expires that no tag and no branch needs, by the time it was written at and by how many newer ones
    /// there are.
    pub(crate) fn expires(&self, written: SystemTime, newer: usize, now: SystemTime) -> bool {
        newer >= self.keep_versions.max(1) && is_older(written, self.older_than, now)
    }
}

/// Whether more than an age lies between two times; never for a time in the future.
fn is_older(time: SystemTime, than: Duration, now: SystemTime) -> bool {
    now.duration_since(time).is_ok_and(|age| age > than)
}

/// Names of files below the folder of a table, as manifests name them; of an index the folder.
#[derive(Debug, Default)]
pub(crate) struct Named(HashSet<String>);

/// Which of the files that a manifest names are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whose {
    /// Those in the folder of its own table.
    Own,
    /// All. A base may be the same table by another path, and names are hardly ever given twice: to keep one too many does
    /// no harm.
    All,
}

impl Named {
    /// Adds what a manifest names, and the indexes of its version.
    pub(crate) fn add(&mut self, manifest: &Manifest, indexes: &[IndexEntry], whose: Whose) {
        let counts = |base: Option<u32>| whose == Whose::All || base.is_none();
        for fragment in &manifest.fragments {
            for file in fragment.files.iter().filter(|file| counts(file.base)) {
                self.insert(DATA_DIR, &file.path);
            }
            if let Some(file) = fragment.deletion_file.as_ref().filter(|file| counts(file.base)) {
                self.insert(DELETIONS_DIR, &file.file_name(fragment.id));
            }
        }
        for index in indexes.iter().filter(|index| counts(index.base)) {
            self.insert(INDICES_DIR, &index.folder_name());
        }
        if !manifest.transaction_file.is_empty() {
            self.insert(TRANSACTIONS_DIR, &manifest.transaction_file);
        }
    }

    fn insert(&mut self, folder: &str, name: &str) {
        self.0.insert(format!("{folder}/{name}"));
    }

    fn contains(&self, name: &str) -> bool {
        self.0.contains(name)
    }
}

/// What a file is, by its name.
#[derive(Debug, PartialEq, Eq)]
enum Kind {
    /// It is named by manifests under this name.
    Named(String),
    /// A writer has not finished it, or never will; unless a manifest names it all the same.
    Temporary(String),
    /// Nothing that a cleanup knows.
    Foreign,
}

impl Kind {
    fn of(path: &Path) -> Self {
        // Names that are not Unicode are none of a table.
        let parts: Option<Vec<&str>> = path.iter().map(|part| part.to_str()).collect();
        parts.map_or(Self::Foreign, |parts| Self::of_name(&parts.join("/")))
    }

    /// The path has slashes between, whatever the system has.
    fn of_name(path: &str) -> Self {
        let Some((folder, name)) = path.split_once('/') else { return Self::Foreign };
        let last = name.rsplit('/').next().unwrap_or(name);
        let is_unfinished = last.starts_with('.') && last.ends_with(UNFINISHED);
        if WRITTEN.contains(&folder) && (last.starts_with(TEMPORARY) || is_unfinished) {
            return Self::Temporary(path.to_owned());
        }
        let ends = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
        match (folder, name.split_once('/')) {
            (DATA_DIR, None) if ends(&[".lance"]) => Self::Named(path.to_owned()),
            (DATA_DIR, Some((stem, side))) if side.ends_with(".blob") && !side.contains('/') => {
                Self::Named(format!("{DATA_DIR}/{stem}.lance"))
            }
            (DELETIONS_DIR, None) if ends(&[".arrow", ".bin"]) => Self::Named(path.to_owned()),
            (TRANSACTIONS_DIR, None) if ends(&[".txn"]) => Self::Named(path.to_owned()),
            (INDICES_DIR, Some((uuid, _))) if is_uuid(uuid) => {
                Self::Named(format!("{INDICES_DIR}/{uuid}"))
            }
            _ => Self::Foreign,
        }
    }
}

/// Hexadecimal digits in five groups.
fn is_uuid(name: &str) -> bool {
    let is_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_hexdigit());
    let lengths: Vec<usize> = name.split('-').map(str::len).collect();
    lengths == [8, 4, 4, 4, 12] && name.split('-').all(is_digits)
}

/// What becomes of the files of a table.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Sorted {
    /// They go.
    pub(crate) removed: Vec<Entry>,
    /// Nothing names them, but they are too young to go.
    pub(crate) young: Vec<Entry>,
}

/// Sorts the files of a table by what the versions that stay and those that go name.
pub(crate) fn sort(files: Vec<Entry>, kept: &Named, expired: &Named, now: SystemTime) -> Sorted {
    let mut sorted = Sorted::default();
    for file in files {
        let goes_at_once = match Kind::of(&file.path) {
            Kind::Foreign => continue,
            Kind::Named(name) | Kind::Temporary(name) if kept.contains(&name) => continue,
            Kind::Named(name) => expired.contains(&name),
            Kind::Temporary(_) => false,
        };
        if goes_at_once || is_older(file.modified, UNNAMED_AGE, now) {
            sorted.removed.push(file);
        } else {
            sorted.young.push(file);
        }
    }
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Duration = Duration::from_secs(86_400);

    fn now() -> SystemTime {
        SystemTime::UNIX_EPOCH + 20_000 * DAY
    }

    fn days_ago(days: u32) -> SystemTime {
        now() - days * DAY
    }

    #[test]
    fn what_is_new_stays() {
        let expires =
            |options: &CleanupOptions, days, newer| options.expires(days_ago(days), newer, now());
        let week = CleanupOptions::default();
        assert!(expires(&week, 8, 1));
        assert!(!expires(&week, 6, 1));
        assert!(!expires(&week, 8, 0));
        let month = week.clone().with_older_than(DAY * 30);
        assert!(expires(&month, 31, 9) && !expires(&month, 29, 9));
        let now_all = week.clone().with_older_than(Duration::ZERO);
        assert!(expires(&now_all, 1, 1) && !expires(&now_all, 0, 1));
        let three = now_all.clone().with_keep_versions(3);
        assert!(expires(&three, 1, 3) && !expires(&three, 1, 2));
        // The newest version stays, whatever one asks for.
        assert!(!expires(&now_all.clone().with_keep_versions(0), 99, 0));
        // A clock that went wrong removes nothing.
        assert!(!now_all.expires(now() + DAY, 5, now()));
    }

    fn names(paths: &[&str]) -> Named {
        Named(paths.iter().map(|path| (*path).to_owned()).collect())
    }

    #[test]
    fn files_go_with_the_versions_that_name_them() {
        let uuid = "100c73dc-1a15-4f6e-9aaa-0123456789ab";
        let other = "200c73dc-1a15-4f6e-9aaa-0123456789ab";
        let kept = ["data/k.lance", "data/both.lance", "data/.tmp1.lance"];
        let kept = names(&[&kept[..], &[&format!("_indices/{uuid}")]].concat());
        let expired = names(&[
            "data/e.lance",
            "data/both.lance",
            "_deletions/0-1-7.arrow",
            "_transactions/1-x.txn",
            &format!("_indices/{other}"),
        ]);
        let goes = [
            "data/e.lance".to_owned(),
            "data/e/1000.blob".into(),
            "_deletions/0-1-7.arrow".into(),
            "_transactions/1-x.txn".into(),
            format!("_indices/{other}/part_0/page.lance"),
        ];
        let stays = [
            "data/k.lance".to_owned(),
            "data/k/1000.blob".into(),
            "data/both.lance".into(),
            "data/.tmp1.lance".into(), // an odd name, but a manifest has it
            format!("_indices/{uuid}/index.idx"),
        ];
        let orphans = [
            "data/o.lance".to_owned(),
            "data/o/1000.blob".into(),
            "_deletions/9-9-9.bin".into(),
            "_transactions/9-x.txn".into(),
            "data/.tmpA1".into(),
            "_versions/.tmp_7.manifest_0f".into(),
            "data/.x.lance.0123456789abcdef.lancet-part".into(),
            "data/k/.tmp00".into(),
            "_deletions/.tmp7".into(),
            "_refs/tags/.tmp7".into(),
        ];
        let foreign = [
            "readme.md",
            "data/notes.txt",
            "data/o/deep/1.blob",
            "data/o/notes.txt",
            "_versions/3.manifest",
            "_versions/3.manifest#1",
            "_versions/latest_version_hint.json",
            "_indices/mine/index.idx",
            "_deletions/x.txt",
            "_refs/tags/a.json",
            ".tmp7",
            "_indices/mine/.tmp7",
        ];
        let all = goes.iter().chain(&stays).chain(&orphans).cloned();
        let all = all.chain(foreign.iter().map(|path| (*path).to_owned()));
        for age in [0, 6, 8] {
            let modified = days_ago(age);
            let entry = |path: String| Entry { path: path.into(), bytes: 1, modified };
            let files = all.clone().map(entry).collect();
            let sorted = sort(files, &kept, &expired, now());
            let paths = |files: Vec<Entry>| -> Vec<String> {
                files.into_iter().map(|file| file.path.to_str().unwrap().to_owned()).collect()
            };
            let (mut removed, mut young) = (goes.to_vec(), orphans.to_vec());
            if age > 7 {
                removed.append(&mut young);
            }
            assert_eq!(paths(sorted.removed), removed, "{age} days");
            assert_eq!(paths(sorted.young), young, "{age} days");
        }
    }
}
