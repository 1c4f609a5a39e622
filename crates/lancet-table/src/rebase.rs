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
    pub(crate) given: Given,
}

/// Rows of one fragment that a change deletes or moves.
#[derive(Debug, Clone)]
pub(crate) struct RemovedRows {
    /// Their offsets.
    pub(crate) offsets: RoaringBitmap,
    /// The deletion file that the fragment had.
    pub(crate) before: Option<DeletionFile>,
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
    Load(Vec<u32>),
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
        Self { transaction, removed, dropped, given: Given::default() }
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
    let mut merged = Merged { pending: mine.clone(), files: Vec::new(), unknown: Vec::new() };
    if let Some(latest) = latest {
        merged.check_columns(schema, &latest.manifest.fields, theirs)?;
    }
    // The deleted rows are those of the latest version, so that the last one to change them is named.
    for (version, theirs, fragments) in by_rows.into_iter().rev() {
        let latest = latest.map(|latest| &latest.manifest);
        for id in fragments {
            let Some((id, latest)) = u32::try_from(id).ok().zip(latest) else { continue };
            let merged = merged.merge(id, latest, known, seed);
            merged.map_err(|why| stands_in_the_way(ours, version, theirs, true, why))?;
        }
    }
    if !merged.unknown.is_empty() {
        return Ok(Rebased::Load(merged.unknown));
    }
    let Merged { pending, files, .. } = merged;
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

/// A change whose deletion files hold what others have deleted meanwhile, too.
struct Merged {
    pending: Pending,
    files: Vec<NewDeletionFile>,
    /// Fragments whose deleted rows have to be known first.
    unknown: Vec<u32>,
}

impl Merged {
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
        latest: &crate::Manifest,
        known: &BTreeMap<u32, Deletions>,
        seed: u64,
    ) -> Result<(), &'static str> {
        let Some(fragment) = latest.fragments.iter().find(|fragment| fragment.id == id) else {
            return Err("a fragment that this change touches is gone");
        };
        let Some(removed) = self.pending.removed.get_mut(&id) else {
            return Err("which rows of the fragment this change touches is not known");
        };
        if fragment.deletion_file == removed.before || self.unknown.contains(&id) {
            return Ok(());
        }
        let Some(deleted) = known.get(&id) else {
            self.unknown.push(id);
            return Ok(());
        };
        if !deleted.is_disjoint(&removed.offsets) {
            return Err("one of the rows was deleted or changed, there or just before");
        }
        let deletions = deleted.with(&removed.offsets);
        removed.before.clone_from(&fragment.deletion_file);
        let is_empty = deletions.len() >= removed.physical_rows;
        let file = DeletionFile {
            kind: DeletionKind::Roaring,
            read_version: latest.version,
            id: seed.wrapping_add(id.into()),
            num_deleted_rows: Some(deletions.len()),
            base: None,
            unknown: UnknownFields::default(),
        };
        let transaction = &mut self.pending.transaction;
        transaction.read_version = latest.version;
        let (updated, gone) = match &mut transaction.operation {
            Operation::Delete(delete) => (&mut delete.updated, &mut delete.deleted),
            Operation::Update(update) => (&mut update.updated, &mut update.removed),
            _ => return Err("which rows of the fragment this change touches is not known"),
        };
        if is_empty {
            updated.retain(|fragment| fragment.id != id);
            gone.push(id.into());
            return Ok(());
        }
        let Some(ours) = updated.iter_mut().find(|fragment| fragment.id == id) else {
            return Err("a fragment that this change removes has other rows by now");
        };
        ours.deletion_file = Some(file.clone());
        self.files.push(NewDeletionFile { fragment: id, file, deletions });
        Ok(())
    }
}
