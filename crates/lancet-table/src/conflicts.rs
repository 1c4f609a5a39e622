//! Whether a change still makes sense behind another one that was committed first.
//!
//! | committed ↓, ours → | Append | Delete, Update | Rewrite | Merge | Project | UpdateConfig | Overwrite | Restore | CreateIndex |
//! |---|---|---|---|---|---|---|---|---|---|
//! | Append | + | + | + | r | + | + | + | + | + |
//! | Delete, Update, other fragments | + | + | + | r | + | + | + | + | + |
//! | Delete, Update, same fragment | + | by rows | r | r | + | + | + | + | + |
//! | Rewrite, other fragments | + | + | + | r | + | + | + | + | r if covered |
//! | Rewrite, same fragment | + | r | r | r | + | + | + | + | r if covered |
//! | Merge | + | r | r | r | r | r if schema | + | + | + |
//! | Project | + | + | + | ✗ | r | + | + | + | + |
//! | UpdateConfig | + | + | + | r if schema | r if schema | ✗ if same key | ✗ if same key | ✗ if schema | + |
//! | Overwrite | ✗ | ✗ | ✗ | ✗ | ✗ | ✗ if schema | r | + | ✗ |
//! | Restore | ✗ | ✗ | ✗ | ✗ | ✗ | ✗ if schema | + | + | ✗ |
//! | CreateIndex | + | + | r if covered | + | + | + | + | + | r if same name |
//! | ReserveFragments, Clone, UpdateBases | + | + | + | + | + | + | + | + | + |
//! | unknown | ✗ | ✗ | ✗ | ✗ | ✗ | ✗ | ✗ | ✗ | ✗ |
//!
//! `+` go on, `r` do it again on the newer version, `✗` give up. In two cells lancet is stricter than the reference. That lets
//! a Project undo what an UpdateConfig has just noted of a field; and it commits an Append behind a Merge that replaced one of
//! its columns, whose values are null from then on: see [`replaced`](crate::replaced).

use std::collections::{BTreeMap, BTreeSet};

use crate::fragment::Fragment;
use crate::indexes::IndexEntry;
use crate::transaction::{Merge, Operation, Overwrite, Project, Update, UpdateConfig, UpdateMap};

/// What a committed change means for ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Nothing.
    Fine,
    /// The deleted rows of these fragments decide.
    ByRows(BTreeSet<u64>),
    /// Ours has to be done again, on the newer version.
    Again(&'static str),
    /// The two cannot both be.
    Never(&'static str),
}

use Verdict::{Again, ByRows, Fine, Never};

const REPLACED: &str = "it replaced all rows and the schema";
const RESTORED: &str = "it brought back an older version";
const MOVED: &str = "it moved rows that this change needs to other files";
const SCHEMA: &str = "it changed columns";
const METADATA: &str = "both change the metadata of the schema or of a field";
const NULLS: &str = "a column that allowed nulls allows none any more";

/// What `theirs`, committed after the version that ours was made from, means for `ours`.
pub(crate) fn verdict(ours: &Operation, theirs: &Operation) -> Verdict {
    use Operation::*;
    match (ours, theirs) {
        (_, Unknown) | (Unknown, _) => {
            Never("lancet does not know what it did; open the newer version and do it there")
        }
        (_, ReserveFragments(_) | Clone(_)) => Fine,
        (UpdateBases(_), UpdateBases(_)) => Again("both add base paths"),
        (_, UpdateBases(_)) => Fine,
        (ReserveFragments(_) | Clone(_) | UpdateBases(_), _) => Fine,

        (Append(_), Overwrite(_)) => Never(REPLACED),
        (Append(_), Restore(_)) => Never(RESTORED),
        (Append(_), _) if forbids_nulls(theirs) => Again(NULLS),
        (Append(_), _) => Fine,

        (Delete(_) | Update(_) | DataReplacement(_), _) => rows_against(ours, theirs),
        (Rewrite(_), _) => rewrite_against(ours, theirs),
        (Merge(_), _) => merge_against(theirs),
        (Project(_), _) => project_against(ours, theirs),
        (UpdateConfig(update), _) => config_against(update, theirs),

        (Overwrite(_), Overwrite(_)) => Again(REPLACED),
        (Overwrite(new), UpdateConfig(theirs)) => match shares_keys(new, theirs) {
            true => Never("both set the same key"),
            false => Fine,
        },
        (Overwrite(_), _) => Fine,

        (Restore(_), UpdateConfig(theirs)) if theirs.touches_schema() => Never(METADATA),
        (Restore(_), _) => Fine,

        (CreateIndex(_), Overwrite(_)) => Never(REPLACED),
        (CreateIndex(_), Restore(_)) => Never(RESTORED),
        (CreateIndex(new), Rewrite(_)) => match covers(&new.new, &theirs.touched()) {
            true => Again(MOVED),
            false => Fine,
        },
        (CreateIndex(new), CreateIndex(theirs)) => {
            let is_theirs = |name: &str| theirs.new.iter().any(|entry| entry.name == name);
            match new.new.iter().any(|entry| is_theirs(&entry.name)) {
                true => Again("it made an index of the same name"),
                false => Fine,
            }
        }
        (CreateIndex(_), _) => Fine,
    }
}

/// Ours deletes or changes rows.
fn rows_against(ours: &Operation, theirs: &Operation) -> Verdict {
    let shared =
        || -> BTreeSet<u64> { ours.touched().intersection(&theirs.touched()).copied().collect() };
    let changes_values = !matches!(ours, Operation::Delete(_));
    match theirs {
        Operation::Overwrite(_) => Never(REPLACED),
        Operation::Restore(_) => Never(RESTORED),
        Operation::Merge(_) => Again(SCHEMA),
        Operation::Append(_) if has_key_filter(ours) => Again("it may have added the same keys"),
        Operation::Rewrite(_) if !shared().is_empty() => Again(MOVED),
        Operation::Project(_) if is_in_place(ours) => Again(SCHEMA),
        Operation::Project(_) if changes_values && forbids_nulls(theirs) => Again(NULLS),
        Operation::Delete(_) | Operation::Update(_) | Operation::DataReplacement(_) => {
            let shared = shared();
            if shared.is_empty() {
                Fine
            } else if removes_any(theirs, &shared) {
                Again("it removed all rows of a fragment that this change touches")
            } else if is_in_place(ours) || is_in_place(theirs) || changes_files(ours, theirs) {
                Again("it rewrote columns of rows that this change touches")
            } else {
                ByRows(shared)
            }
        }
        _ => Fine,
    }
}

fn rewrite_against(ours: &Operation, theirs: &Operation) -> Verdict {
    let old = ours.touched();
    match theirs {
        Operation::Overwrite(_) => Never(REPLACED),
        Operation::Restore(_) => Never(RESTORED),
        Operation::Merge(_) => Again(SCHEMA),
        Operation::CreateIndex(new) if covers(&new.new, &old) => {
            Again("it made an index over rows that this change moves")
        }
        _ if !old.is_disjoint(&theirs.touched()) => Again("it changed rows that this change moves"),
        _ => Fine,
    }
}

fn merge_against(theirs: &Operation) -> Verdict {
    match theirs {
        Operation::Overwrite(_) => Never(REPLACED),
        Operation::Restore(_) => Never(RESTORED),
        Operation::Project(_) => Never(SCHEMA),
        Operation::Merge(_) => Again(SCHEMA),
        Operation::UpdateConfig(update) if update.touches_schema() => Again(METADATA),
        Operation::UpdateConfig(_) | Operation::CreateIndex(_) => Fine,
        _ => Again("it changed which rows there are, and new columns need values for all"),
    }
}

fn project_against(ours: &Operation, theirs: &Operation) -> Verdict {
    match theirs {
        Operation::Overwrite(_) => Never(REPLACED),
        Operation::Restore(_) => Never(RESTORED),
        Operation::Merge(_) | Operation::Project(_) => Again(SCHEMA),
        Operation::UpdateConfig(update) if update.touches_schema() => Again(METADATA),
        Operation::Append(_) | Operation::Update(_) | Operation::DataReplacement(_)
            if forbids_nulls(ours) =>
        {
            Again("its rows may have nulls in a column that is to allow none")
        }
        _ => Fine,
    }
}

fn config_against(ours: &UpdateConfig, theirs: &Operation) -> Verdict {
    match theirs {
        Operation::Merge(_) if ours.touches_schema() => Again(SCHEMA),
        Operation::Overwrite(_) if ours.touches_schema() => Never(REPLACED),
        Operation::Restore(_) if ours.touches_schema() => Never(RESTORED),
        Operation::Overwrite(new) if shares_keys(new, ours) => Never("both set the same key"),
        Operation::UpdateConfig(theirs) if ours.meets(theirs) => {
            Never("both set the same key, or metadata of the same schema or field")
        }
        _ => Fine,
    }
}

/// Whether nulls are not allowed any more where they were.
fn forbids_nulls(operation: &Operation) -> bool {
    match operation {
        Operation::Merge(Merge { preserves_nullability, .. })
        | Operation::Project(Project { preserves_nullability, .. }) => !preserves_nullability,
        _ => false,
    }
}

fn has_key_filter(operation: &Operation) -> bool {
    matches!(operation, Operation::Update(Update { inserted_keys: Some(_), .. }))
}

/// Whether columns of fragments are replaced, so that rows stay where they are and are others.
fn is_in_place(operation: &Operation) -> bool {
    match operation {
        Operation::Update(update) => update.is_in_place(),
        Operation::DataReplacement(_) => true,
        _ => false,
    }
}

fn removes_any(operation: &Operation, fragments: &BTreeSet<u64>) -> bool {
    let removed = match operation {
        Operation::Delete(delete) => &delete.deleted,
        Operation::Update(update) => &update.removed,
        _ => return false,
    };
    removed.iter().any(|id| fragments.contains(id))
}

/// Whether both list a fragment, with other data files.
fn changes_files(ours: &Operation, theirs: &Operation) -> bool {
    fn updated(operation: &Operation) -> &[Fragment] {
        match operation {
            Operation::Delete(delete) => &delete.updated,
            Operation::Update(update) => &update.updated,
            _ => &[],
        }
    }
    let theirs = updated(theirs).iter().map(|fragment| (fragment.id, &fragment.files));
    let theirs: BTreeMap<u32, _> = theirs.collect();
    let is_other =
        |ours: &Fragment| theirs.get(&ours.id).is_some_and(|theirs| **theirs != ours.files);
    updated(ours).iter().any(is_other)
}

/// Whether an index covers one of these fragments, or does not say.
fn covers(indexes: &[IndexEntry], fragments: &BTreeSet<u64>) -> bool {
    let ids = || fragments.iter().filter_map(|id| u32::try_from(*id).ok());
    indexes.iter().any(|index| {
        index.fragments.as_ref().is_none_or(|covered| ids().any(|id| covered.contains(id)))
    })
}

fn shares_keys(overwrite: &Overwrite, update: &UpdateConfig) -> bool {
    let sets = |map: &UpdateMap, key: &String| {
        map.replace || map.entries.iter().any(|(known, _)| known == key)
    };
    let config = update.config.as_ref();
    let shares = config.is_some_and(|map| overwrite.config.keys().any(|key| sets(map, key)));
    shares || (update.schema_metadata.is_some() && !overwrite.schema_metadata.is_empty())
}

impl UpdateConfig {
    /// Whether metadata of the schema or of a field changes.
    fn touches_schema(&self) -> bool {
        // Older forms of this operation are not looked into.
        self.schema_metadata.is_some()
            || !self.field_metadata.is_empty()
            || !self.unknown.is_empty()
    }

    /// Whether both set the same thing.
    fn meets(&self, other: &Self) -> bool {
        let both = |ours: &Option<UpdateMap>, theirs: &Option<UpdateMap>| match (ours, theirs) {
            (Some(ours), Some(theirs)) => ours.meets(theirs),
            _ => false,
        };
        both(&self.config, &other.config)
            || both(&self.table_metadata, &other.table_metadata)
            || (self.schema_metadata.is_some() && other.schema_metadata.is_some())
            || self.field_metadata.keys().any(|id| other.field_metadata.contains_key(id))
            || !self.unknown.is_empty()
            || !other.unknown.is_empty()
    }
}

impl UpdateMap {
    fn meets(&self, other: &Self) -> bool {
        let keys: BTreeSet<&String> = self.entries.iter().map(|(key, _)| key).collect();
        self.replace || other.replace || other.entries.iter().any(|(key, _)| keys.contains(key))
    }
}

#[cfg(test)]
#[path = "conflicts_tests.rs"]
mod tests;
