//! How the columns of a table changed from one version to the next. Fields are known by their ids, which they keep when they are
//! renamed.

use std::collections::HashMap;

use lancet_table::Field;

use super::facts::{SchemaChange, cut};
use crate::units;

/// Changes of each sort that a version tells.
const MOST_CHANGES: usize = 40;
/// Longest path, longest type.
const MOST_NAME: usize = 80;

/// The fields of a version.
struct Fields<'a> {
    by_id: HashMap<i32, &'a Field>,
}

impl<'a> Fields<'a> {
    fn new(fields: &'a [Field]) -> Self {
        Self { by_id: fields.iter().map(|field| (field.id, field)).collect() }
    }

    fn has(&self, id: i32) -> bool {
        self.by_id.contains_key(&id)
    }

    /// Names from the top down.
    fn path(&self, field: &Field) -> String {
        let mut names = vec![field.name.as_str()];
        let mut parent = field.parent;
        // Parents come first in a manifest, so that none is below itself.
        while let Some(above) = parent.and_then(|id| self.by_id.get(&id)) {
            names.push(above.name.as_str());
            parent = above.parent;
        }
        names.reverse();
        cut(&names.join("."), MOST_NAME)
    }

    /// The fields that others lack, without those below them.
    fn without(&self, others: &Self, fields: &'a [Field]) -> Vec<&'a Field> {
        let is_new = |id: i32| self.has(id) && !others.has(id);
        let is_first = |field: &&Field| is_new(field.id) && !field.parent.is_some_and(is_new);
        fields.iter().filter(is_first).collect()
    }
}

/// What changed.
pub fn changes(before: &[Field], after: &[Field]) -> SchemaChange {
    let (old, new) = (Fields::new(before), Fields::new(after));
    let mut change = SchemaChange::default();
    for field in after {
        let Some(was) = old.by_id.get(&field.id) else { continue };
        if was.name != field.name {
            change.renamed.push(format!("{} → {}", old.path(was), new.path(field)));
        }
        if kind(was) != kind(field) {
            let path = new.path(field);
            change.retyped.push(format!("{path}: {} → {}", kind(was), kind(field)));
        }
    }
    let mut dropped: HashMap<String, &Field> = HashMap::new();
    let gone = old.without(&new, before);
    dropped.extend(gone.iter().map(|field| (old.path(field), *field)));
    for field in new.without(&old, after) {
        let path = new.path(field);
        // A column whose values are written anew has another id.
        match dropped.remove(&path) {
            Some(was) if kind(was) == kind(field) => {
                change.retyped.push(format!("{path}: {}, written anew", kind(field)));
            }
            Some(was) => change.retyped.push(format!("{path}: {} → {}", kind(was), kind(field))),
            None => change.added.push(format!("{path} ({})", kind(field))),
        }
    }
    let paths = gone.iter().map(|field| old.path(field));
    change.dropped = paths.filter(|path| dropped.contains_key(path)).collect();
    change
}

/// The type of a field, and whether it may be null.
fn kind(field: &Field) -> String {
    let not_null = if field.nullable { "" } else { ", never null" };
    format!("{}{not_null}", cut(&field.logical_type, MOST_NAME))
}

impl SchemaChange {
    /// The sorts of changes, with what changed.
    pub fn sorts(&self) -> [(&'static str, &[String]); 4] {
        [
            ("added", &self.added),
            ("dropped", &self.dropped),
            ("renamed", &self.renamed),
            ("changed", &self.retyped),
        ]
    }

    /// How much changed, in a line; none if nothing did.
    pub fn words(&self) -> Option<String> {
        let sorts = self.sorts().into_iter().filter(|(_, all)| !all.is_empty());
        let words = sorts
            .map(|(sort, all)| format!("{} {sort}", units::counted(all.len() as u64, "column")));
        let words: Vec<String> = words.collect();
        Some(words.join(", ")).filter(|words| !words.is_empty())
    }

    /// What changed in one way, with an end.
    pub fn told(all: &[String]) -> String {
        let mut told: Vec<String> = all.iter().take(MOST_CHANGES).cloned().collect();
        let more = all.len().saturating_sub(told.len());
        if more > 0 {
            told.push(format!("and {} more", units::count(more as u64)));
        }
        told.join("; ")
    }
}
