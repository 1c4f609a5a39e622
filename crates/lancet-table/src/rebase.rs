//! A change on top of the latest version, whatever was committed since it was made: one pure function.
//!
//! It is handed the change, the latest version and the transactions in between, and gives the next version, says which
//! deleted rows it has to know first, or which transaction stands in the way.

use std::collections::{BTreeMap, BTreeSet};

use roaring::RoaringBitmap;

use crate::conflicts::{Verdict, verdict};
use crate::deletion::{DeletionFile, DeletionKind};
use crate::deletions::Deletions;
use crate::error::{Conflict, Error, Result};
use crate::fields::Field;
use crate::fragment::Fragment;
use crate::manifest::Manifest;
use crate::next::{Given, Next};
use crate::replaced::{dropped, replaced};
use crate::transaction::{Operation, Transaction};
use crate::unknown::UnknownFields;
use crate::version_file::VersionFile;

/// A change that is not committed yet.
#[derive(Debug, Clone)]
pub(crate) struct Pending {
    pub(crate) transaction: Transaction,
    /// The rows that it deletes or moves, by their fragments. Without them a change of the same fragment by somebody
    /// else cannot be told from one of the same rows.
    pub(crate) removed: BTreeMap<u32, RemovedRows>,
    /// Fields that it was made for and that were dropped since, also if there are such again.
    pub(crate) dropped: BTreeSet<i32>,
    /// Deletion files that it names and that are not written yet.
    pub(crate) files: Vec<NewDeletionFile>,
    pub(crate) given: Given,
}

/// Rows of one fragment that a change deletes or moves.
#[derive(Debug, Clone)]
pub(crate) struct RemovedRows {
    /// Their offsets.
    pub(crate) offsets: RoaringBitmap,
    /// The deletion file that the fragment had.
    pub(crate) before: Option<Box<DeletionFile>>,
    /// The rows of the fragment, deleted ones included.
    pub(crate) physical_rows: u64,
}

/// A deletion file that must be written before the version that names it.
#[derive(Debug, Clone)]
pub(crate) struct NewDeletionFile {
    pub(crate) fragment: u32,
    pub(crate) file: DeletionFile,
    pub(crate) deletions: Deletions,
}

/// A version that was committed after the one that a change was made from.
#[derive(Debug, Clone)]
pub(crate) struct Committed {
    pub(crate) version: u64,
    pub(crate) transaction: Transaction,
}

/// What a change comes to.
pub(crate) enum Rebased<'a> {
    /// The deleted rows of these fragments as of the latest version must be known first.
    Load(BTreeSet<u32>),
    /// The next version, and what it needs.
    Next(Box<Ready<'a>>),
}

/// A version that can be committed.
pub(crate) struct Ready<'a> {
    pub(crate) next: Next<'a>,
    /// The change, as it is now.
    pub(crate) pending: Pending,
    pub(crate) files: Vec<NewDeletionFile>,
}

impl Pending {
    /// A change without anything to note beside.
    pub(crate) fn new(transaction: Transaction) -> Self {
        let (removed, dropped) = (BTreeMap::new(), BTreeSet::new());
        Self { transaction, removed, dropped, files: Vec::new(), given: Given::default() }
    }
}

/// `mine` on top of `latest`. `schema` is that of the version that mine was made from; `theirs` are the versions in between
/// that were not looked at before; `known` are deleted rows of fragments of `latest`. New deletion files get ids made from
/// `seed`.
pub(crate) fn rebase<'a>(
    mine: &'a Pending,
    schema: &[Field],
    latest: Option<&'a VersionFile>,
    theirs: &[Committed],
    known: &BTreeMap<u32, Deletions>,
    (seed, now_nanos): (u64, i128),
) -> Result<Rebased<'a>> {
    let ours = &mine.transaction.operation;
    let mut by_rows = Vec::new();
    for Committed { version, transaction } in theirs {
        let operation = &transaction.operation;
        let (can_retry, why) = match verdict(ours, operation) {
            Verdict::Fine => continue,
            Verdict::ByRows(fragments) => {
                by_rows.push((*version, operation.words(), fragments));
                continue;
            }
            Verdict::Again(why) => (true, why),
            Verdict::Never(why) => (false, why),
        };
        return Err(stands_in_the_way(ours, *version, operation.words(), can_retry, why));
    }
    let mut merged = Merged::new(mine.clone());
    if let Some(latest) = latest {
        merged.check_columns(schema, &latest.manifest.fields, theirs)?;
    }
    if let Some(latest) = latest.filter(|_| !by_rows.is_empty()) {
        let latest = Latest::new(&latest.manifest);
        // The deleted rows are those of the latest version, so that the last one to change them is named.
        for (version, theirs, fragments) in by_rows.into_iter().rev() {
            for id in fragments.into_iter().filter_map(|id| u32::try_from(id).ok()) {
                let merged = merged.merge(id, &latest, known, seed);
                merged.map_err(|why| stands_in_the_way(ours, version, theirs, true, why))?;
            }
        }
    }
    if !merged.unknown.is_empty() {
        return Ok(Rebased::Load(merged.unknown));
    }
    let (pending, files) = merged.finish();
    let next = Next::build(latest, &pending.transaction, &mine.given, now_nanos)?;
    Ok(Rebased::Next(Box::new(Ready { next, pending, files })))
}

fn stands_in_the_way(
    ours: &Operation,
    version: u64,
    theirs: &'static str,
    can_retry: bool,
    why: impl Into<String>,
) -> Error {
    let ours = ours.words();
    Error::Conflict(Conflict { ours, version, theirs, can_retry, why: why.into() })
}

/// The latest version, with its fragments by their ids.
struct Latest<'a> {
    version: u64,
    fragments: BTreeMap<u32, &'a Fragment>,
}

impl<'a> Latest<'a> {
    fn new(manifest: &'a Manifest) -> Self {
        let fragments = manifest.fragments.iter().map(|fragment| (fragment.id, &**fragment));
        Self { version: manifest.version, fragments: fragments.collect() }
    }
}

/// A change whose deletion files hold what others have deleted meanwhile, too.
struct Merged {
    pending: Pending,
    /// The fragments that the change leaves rows of.
    updated: BTreeSet<u32>,
    files: Vec<NewDeletionFile>,
    /// Fragments of which nothing is left now.
    emptied: BTreeSet<u32>,
    /// Fragments whose deleted rows have to be known first.
    unknown: BTreeSet<u32>,
}

/// The fragments that a change leaves rows of, and the ids of those that it removes.
fn removal(operation: &mut Operation) -> Option<(&mut Vec<Fragment>, &mut Vec<u64>)> {
    match operation {
        Operation::Delete(delete) => Some((&mut delete.updated, &mut delete.deleted)),
        Operation::Update(update) => Some((&mut update.updated, &mut update.removed)),
        _ => None,
    }
}

impl Merged {
    fn new(mut pending: Pending) -> Self {
        let updated = removal(&mut pending.transaction.operation);
        let updated = updated.map(|(updated, _)| updated.iter().map(|fragment| fragment.id));
        let updated = updated.map(Iterator::collect).unwrap_or_default();
        let (emptied, unknown) = (BTreeSet::new(), BTreeSet::new());
        Self { pending, updated, files: Vec::new(), emptied, unknown }
    }

    /// The change with its new deletion files.
    fn finish(mut self) -> (Pending, Vec<NewDeletionFile>) {
        let files = self.files.iter().map(|new| (new.fragment, &new.file));
        let files: BTreeMap<u32, &DeletionFile> = files.collect();
        if let Some((updated, gone)) = removal(&mut self.pending.transaction.operation) {
            updated.retain(|fragment| !self.emptied.contains(&fragment.id));
            gone.extend(self.emptied.iter().map(|id| u64::from(*id)));
            for fragment in updated {
                if let Some(file) = files.get(&fragment.id) {
                    fragment.deletion_file = Some(Box::new((*file).clone()));
                }
            }
        }
        (self.pending, self.files)
    }

    /// Refuses new rows whose values nobody would see, or in another column than they are meant for.
    fn check_columns(
        &mut self,
        before: &[Field],
        now: &[Field],
        theirs: &[Committed],
    ) -> Result<()> {
        let ours = &self.pending.transaction.operation;
        let Operation::Append(rows) = ours else { return Ok(()) };
        let changes = |other: &&Committed| {
            matches!(other.transaction.operation, Operation::Merge(_) | Operation::Project(_))
        };
        let Some(last) = theirs.iter().rev().find(changes) else { return Ok(()) };
        for other in theirs {
            self.pending.dropped.extend(dropped(before, &other.transaction.operation));
        }
        let Some(column) = replaced(rows, before, &self.pending.dropped, now) else {
            return Ok(());
        };
        let (theirs, why) = (
            last.transaction.operation.words(),
            format!(
                "column `{column}` is another one since then, without the values of these rows"
            ),
        );
        Err(stands_in_the_way(ours, last.version, theirs, true, why))
    }

    fn merge(
        &mut self,
        id: u32,
        latest: &Latest<'_>,
        known: &BTreeMap<u32, Deletions>,
        seed: u64,
    ) -> Result<(), &'static str> {
        let Some(fragment) = latest.fragments.get(&id) else {
            return Err("a fragment that this change touches is gone");
        };
        let Some(removed) = self.pending.removed.get_mut(&id) else {
            return Err("which rows of the fragment this change touches is not known");
        };
        if fragment.deletion_file == removed.before || self.unknown.contains(&id) {
            return Ok(());
        }
        let Some(deleted) = known.get(&id) else {
            self.unknown.insert(id);
            return Ok(());
        };
        if !deleted.is_disjoint(&removed.offsets) {
            return Err("one of the rows was deleted or changed, there or just before");
        }
        let deletions = deleted.with(&removed.offsets);
        removed.before.clone_from(&fragment.deletion_file);
        self.pending.transaction.read_version = latest.version;
        if deletions.len() >= removed.physical_rows {
            self.emptied.insert(id);
            return Ok(());
        }
        if !self.updated.contains(&id) {
            return Err("a fragment that this change removes has other rows by now");
        }
        let file = DeletionFile {
            kind: DeletionKind::Roaring,
            read_version: latest.version,
            id: seed.wrapping_add(id.into()),
            num_deleted_rows: Some(deletions.len()),
            base: None,
            unknown: UnknownFields::default(),
        };
        self.files.push(NewDeletionFile { fragment: id, file, deletions });
        Ok(())
    }
}
