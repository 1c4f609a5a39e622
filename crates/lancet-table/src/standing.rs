//! Whether a version is part of the history of its table. Pure: it is handed the version and the one behind it.
//!
//! The name of a version may be free because nobody has had it yet, or because a version of that name was cleaned up. A
//! writer that was slow then puts its version among old ones, where nobody looks: the versions behind it were built on the
//! one that is gone. What they hold tells the two apart.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::fragment::Fragment;
use crate::manifest::Manifest;
use crate::transaction::Operation;

/// What the version behind another one says of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Evidence {
    /// It was built on it.
    Follows,
    /// It was built on another one.
    Differs,
    /// It may be either.
    Silent,
}

/// What `next` says of `ours`, which stands right before it. `made_ours` and `made_next` are what made the two.
pub(crate) fn evidence(
    (ours, made_ours): (&Manifest, &Operation),
    (next, made_next): (&Manifest, &Operation),
) -> Evidence {
    if has_files_of(next, made_ours) {
        return Evidence::Follows;
    }
    match made_next {
        // Whatever there was is gone, by rule: it makes no difference for ours.
        Operation::Overwrite(_) | Operation::Restore(_) => Evidence::Follows,
        // Lancet does not know what they change.
        Operation::Clone(_) | Operation::Unknown => Evidence::Silent,
        _ if brings_back(ours, made_ours, next) => Evidence::Differs,
        // It may change all fragments.
        Operation::Merge(_) => Evidence::Silent,
        // Files may go that hold no column any more, columns may get other names, and nothing may come.
        Operation::Project(_) => match rows(ours) == rows(next) && has_fields_of(ours, next) {
            true => Evidence::Silent,
            false => Evidence::Differs,
        },
        _ if names(ours) != names(next) => Evidence::Differs,
        _ if untouched(ours, made_next) != untouched(next, made_next) => Evidence::Differs,
        _ => Evidence::Silent,
    }
}

/// Whether a version names a file that a change has written.
pub(crate) fn has_files_of(version: &Manifest, change: &Operation) -> bool {
    let written = Written::by(change);
    version.fragments.iter().any(|fragment| written.is_in(fragment))
}

/// What tells a deletion file from others.
type DeletionKey = (u32, u64, u64);

/// The files that a change has written.
struct Written<'a> {
    data: BTreeSet<&'a str>,
    deletions: BTreeSet<DeletionKey>,
}

impl<'a> Written<'a> {
    fn by(change: &'a Operation) -> Self {
        let (new, updated): (Vec<&Fragment>, &[Fragment]) = match change {
            Operation::Append(append) => (append.fragments.iter().collect(), &[]),
            Operation::Overwrite(overwrite) => (overwrite.fragments.iter().collect(), &[]),
            Operation::Rewrite(rewrite) => {
                (rewrite.groups.iter().flat_map(|group| &group.new).collect(), &[])
            }
            Operation::Update(update) => (update.new.iter().collect(), &update.updated),
            Operation::Delete(delete) => (Vec::new(), &delete.updated),
            _ => (Vec::new(), &[]),
        };
        Self {
            data: new.into_iter().flat_map(paths).collect(),
            deletions: updated.iter().filter_map(deletions).collect(),
        }
    }

    fn is_in(&self, fragment: &Fragment) -> bool {
        paths(fragment).any(|path| self.data.contains(path))
            || deletions(fragment).is_some_and(|file| self.deletions.contains(&file))
    }
}

fn paths(fragment: &Fragment) -> impl Iterator<Item = &str> {
    fragment.files.iter().map(|file| &*file.path)
}

fn deletions(fragment: &Fragment) -> Option<DeletionKey> {
    let file = fragment.deletion_file.as_ref()?;
    Some((fragment.id, file.read_version, file.id))
}

/// Whether `next` has rows that ours removed: a fragment that is gone, or one with fewer deleted rows.
fn brings_back(ours: &Manifest, made_ours: &Operation, next: &Manifest) -> bool {
    let touched = made_ours.touched();
    let left = ours.fragments.iter().map(|fragment| (fragment.id, deleted_rows(fragment)));
    let left: BTreeMap<u32, Option<u64>> = left.collect();
    let mut shared = next.fragments.iter().filter(|other| touched.contains(&other.id.into()));
    shared.any(|other| match left.get(&other.id) {
        None => true,
        Some(ours) => ours.zip(deleted_rows(other)).is_some_and(|(ours, theirs)| theirs < ours),
    })
}

/// How many rows of a fragment are deleted. Old manifests do not tell it.
fn deleted_rows(fragment: &Fragment) -> Option<u64> {
    fragment.deletion_file.as_ref().map_or(Some(0), |file| file.num_deleted_rows)
}

/// Which rows there are.
fn rows(version: &Manifest) -> BTreeMap<u32, Option<DeletionKey>> {
    version.fragments.iter().map(|fragment| (fragment.id, deletions(fragment))).collect()
}

/// Whether a version has all fields of another one.
fn has_fields_of(version: &Manifest, other: &Manifest) -> bool {
    let ids: BTreeSet<i32> = version.fields.iter().map(|field| field.id).collect();
    other.fields.iter().all(|field| ids.contains(&field.id))
}

/// The columns. What else fields say may change with settings.
fn names(version: &Manifest) -> Vec<(i32, Option<i32>, &str)> {
    version.fields.iter().map(|field| (field.id, field.parent, field.name.as_str())).collect()
}

/// The files of the fragments that a change has neither made nor touched. Those without rows may go at any time.
fn untouched<'a>(
    version: &'a Manifest,
    change: &Operation,
) -> BTreeMap<u32, (BTreeSet<&'a str>, Option<DeletionKey>)> {
    let (touched, written) = (change.touched(), Written::by(change));
    let is_other = |fragment: &&Arc<Fragment>| {
        !touched.contains(&fragment.id.into())
            && !written.is_in(fragment)
            && fragment.num_rows() != Some(0)
    };
    let others = version.fragments.iter().filter(is_other);
    others.map(|fragment| (fragment.id, (paths(fragment).collect(), deletions(fragment)))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data_file::{DataFile, FileVersion};
    use crate::deletion::{DeletionFile, DeletionKind};
    use crate::fields::Field;
    use crate::transaction::{
        Append, Delete, Merge, Overwrite, Project, Rewrite, RewriteGroup, UpdateConfig,
    };

    fn fragment(id: u32, path: &str) -> Fragment {
        let file = DataFile {
            path: path.into(),
            fields: [0].into(),
            columns: [0].into(),
            version: FileVersion::V2_1,
            version_numbers: (2, 1),
            size_bytes: None,
            base: None,
            unknown: Default::default(),
        };
        Fragment { id, ..Fragment::new(file, 10) }
    }

    fn deleted(fragment: Fragment, id: u64) -> Fragment {
        let file = DeletionFile {
            kind: DeletionKind::Roaring,
            read_version: 4,
            id,
            num_deleted_rows: Some(1),
            base: None,
            unknown: Default::default(),
        };
        Fragment { deletion_file: Some(Box::new(file)), ..fragment }
    }

    fn version(fragments: &[&Fragment], columns: &[&str]) -> Manifest {
        let field = |(name, id): (&&str, i32)| Field {
            id,
            parent: None,
            name: (*name).to_owned(),
            logical_type: "int64".into(),
            nullable: true,
            extension_name: String::new(),
            metadata: BTreeMap::new(),
            unknown: Default::default(),
        };
        let fields = columns.iter().zip(0..).map(field).collect();
        let fragments = owned(fragments).into_iter().map(Arc::new).collect();
        Manifest { fragments, fields, ..Manifest::empty() }
    }

    fn owned(fragments: &[&Fragment]) -> Vec<Fragment> {
        fragments.iter().map(|fragment| (*fragment).clone()).collect()
    }

    fn append(fragments: &[&Fragment]) -> Operation {
        Operation::Append(Append { fragments: owned(fragments), ..Append::default() })
    }

    fn delete(updated: &[&Fragment]) -> Operation {
        Operation::Delete(Delete { updated: owned(updated), ..Delete::default() })
    }

    /// Whatever the reference did: no version says that the one before it is another.
    #[test]
    fn versions_of_the_reference_follow_each_other() {
        let limits = Default::default();
        let (mut follows, mut silent) = (0, 0);
        for (folder, versions) in crate::golden::histories() {
            for (version, file) in &versions {
                let Some(next) = versions.get(&(version + 1)) else { continue };
                let made = |file: &crate::version_file::VersionFile| {
                    Some(file.transaction(&limits).ok()??.operation)
                };
                let Some((one, other)) = made(file).zip(made(next)) else { continue };
                match evidence((&file.manifest, &one), (&next.manifest, &other)) {
                    Evidence::Follows => follows += 1,
                    Evidence::Silent => silent += 1,
                    Evidence::Differs => panic!("{folder}: {version}: {one}, then {other}"),
                }
            }
        }
        assert!(follows > 5 && silent > 0, "{follows} follow, {silent} do not tell");
    }

    #[test]
    fn rows_that_are_there_or_not() {
        let (base, ours) = (fragment(0, "base"), fragment(1, "ours"));
        let (theirs, more) = (fragment(1, "theirs"), fragment(2, "more"));
        let (at, made) = (version(&[&base, &ours], &["a"]), append(&[&ours]));
        let says = |fragments: &[&Fragment], change: &Operation| {
            evidence((&at, &made), (&version(fragments, &["a"]), change))
        };
        let then = append(&[&more]);
        assert_eq!(says(&[&base, &ours, &more], &then), Evidence::Follows);
        // Behind the rows of somebody else, and behind a version without new rows, whose number it took.
        assert_eq!(says(&[&base, &theirs, &more], &then), Evidence::Differs);
        let taken = append(&[&theirs]);
        assert_eq!(says(&[&base, &theirs], &taken), Evidence::Differs);
        // It removed our rows, or there were none.
        let removed = Operation::Delete(Delete { deleted: vec![1], ..Delete::default() });
        assert_eq!(says(&[&base], &removed), Evidence::Silent);
        // Both were joined.
        let group = RewriteGroup {
            old: vec![base.clone(), ours.clone()],
            new: vec![more.clone()],
            ..RewriteGroup::default()
        };
        let joined = Operation::Rewrite(Rewrite { groups: vec![group], ..Rewrite::default() });
        assert_eq!(says(&[&more], &joined), Evidence::Silent);
        assert_eq!(says(&[&theirs, &more], &joined), Evidence::Silent);
        assert_eq!(says(&[&fragment(7, "theirs"), &more], &joined), Evidence::Differs);
        let config = Operation::UpdateConfig(UpdateConfig::default());
        assert_eq!(says(&[&base], &config), Evidence::Differs);
        // Nothing of it is left in any case.
        let overwritten = Operation::Overwrite(Overwrite::default());
        assert_eq!(says(&[], &overwritten), Evidence::Follows);
        assert_eq!(says(&[&base], &Operation::Unknown), Evidence::Silent);
        assert_eq!(says(&[&base], &Operation::Merge(Merge::default())), Evidence::Silent);
    }

    #[test]
    fn deletions_and_columns() {
        let (one, other) = (fragment(0, "one"), fragment(1, "other"));
        let gone = deleted(one.clone(), 7);
        let (at, made) = (version(&[&gone, &other], &["a"]), delete(&[&gone]));
        let says = |fragments: &[&Fragment], columns: &[&str], change: &Operation| {
            evidence((&at, &made), (&version(fragments, columns), change))
        };
        let then = delete(&[&deleted(other.clone(), 8)]);
        let late = deleted(other.clone(), 8);
        assert_eq!(says(&[&gone, &late], &["a"], &then), Evidence::Follows);
        assert_eq!(says(&[&one, &late], &["a"], &then), Evidence::Differs);
        // More rows of the same fragment: its deletion file is another one.
        let same = delete(&[&deleted(one.clone(), 9)]);
        assert_eq!(says(&[&deleted(one.clone(), 9), &other], &["a"], &same), Evidence::Silent);
        // Another schema, by a change that does not touch it.
        let dropped = Operation::Project(Project::default());
        let (at, made) = (version(&[&one], &["a"]), dropped.clone());
        let next = version(&[&one, &other], &["a", "b"]);
        assert_eq!(evidence((&at, &made), (&next, &append(&[&other]))), Evidence::Differs);
        let next = version(&[&one], &["b"]);
        assert_eq!(evidence((&at, &made), (&next, &dropped)), Evidence::Silent);
        // It has a column that ours dropped, or rows that it deleted.
        let next = version(&[&one], &["a", "b"]);
        assert_eq!(evidence((&at, &made), (&next, &dropped)), Evidence::Differs);
        let (at, made) = (version(&[&gone], &["a"]), delete(&[&gone]));
        for change in [dropped, Operation::Merge(Merge::default()), same] {
            let next = version(&[&one], &["a"]);
            assert_eq!(evidence((&at, &made), (&next, &change)), Evidence::Differs);
        }
        let made = Operation::Delete(Delete { deleted: vec![1], ..Delete::default() });
        let next = version(&[&one, &deleted(other, 9)], &["a"]);
        let same = delete(&[&next.fragments[1]]);
        let at = version(&[&one], &["a"]);
        assert_eq!(evidence((&at, &made), (&next, &same)), Evidence::Differs);
    }
}
