//! The versions of a table: what each changed, in words.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use lancet_table::{At, Fragment, Manifest, Table};

use super::facts::{SchemaChange, VersionFacts};
use super::schema_history;
use crate::error::Result;
use crate::places::InTable;
use crate::{units, versions};

/// Versions that are shown: the latest.
const MOST_VERSIONS: usize = 200;

/// The latest versions, oldest first, and how many came before them.
pub fn gather(table: &Table, name: &Path) -> Result<(Vec<VersionFacts>, u64)> {
    let numbers = table.versions();
    let up_to = numbers.partition_point(|number| *number <= table.version());
    let numbers = numbers.get(..up_to).unwrap_or_default();
    let shown = numbers.get(numbers.len().saturating_sub(MOST_VERSIONS)..).unwrap_or_default();
    let older = numbers.len().saturating_sub(shown.len()) as u64;
    let (mut found, mut before): (Vec<VersionFacts>, Option<Manifest>) = (Vec::new(), None);
    for number in shown {
        // A version that cannot be read does not hide the others.
        let Ok(manifest) = table.manifest_of(*number) else {
            before = None;
            continue;
        };
        found.push(version_facts(&manifest, before.as_ref(), older == 0 && found.is_empty()));
        before = Some(manifest);
    }
    if found.is_empty() {
        let manifest = table.checkout(At::Version(table.version())).in_table(name)?;
        found.push(version_facts(manifest.manifest(), None, false));
    }
    Ok((found, older))
}

fn version_facts(manifest: &Manifest, before: Option<&Manifest>, is_first: bool) -> VersionFacts {
    let schema = before.map(|before| schema_history::changes(&before.fields, &manifest.fields));
    let schema = schema.unwrap_or_default();
    VersionFacts {
        version: manifest.version,
        written: versions::written(manifest),
        rows: manifest.num_rows(),
        deleted: manifest.num_deleted_rows(),
        bytes: versions::data_bytes(manifest),
        fragments: manifest.fragments.len() as u64,
        changes: match before {
            Some(before) => changes(before, manifest, &schema),
            None if is_first => vec!["written first".into()],
            None => Vec::new(),
        },
        schema,
    }
}

/// What differs between two versions, in words. Which columns differ is told elsewhere.
fn changes(before: &Manifest, after: &Manifest, schema: &SchemaChange) -> Vec<String> {
    let mut changes: Vec<String> = schema.words().into_iter().collect();
    let (old, new) = (by_id(before), by_id(after));
    let rows = |fragments: &[&Fragment]| -> u64 {
        fragments.iter().filter_map(|fragment| fragment.num_rows()).fold(0, u64::saturating_add)
    };
    let added: Vec<&Fragment> =
        after.fragments.iter().map(Arc::as_ref).filter(|f| !old.contains_key(&f.id)).collect();
    let removed: Vec<&Fragment> =
        before.fragments.iter().map(Arc::as_ref).filter(|f| !new.contains_key(&f.id)).collect();
    let count = |fragments: &[&Fragment]| units::counted(fragments.len() as u64, "fragment");
    match (added.is_empty(), removed.is_empty()) {
        (false, true) => {
            changes.push(format!("{} added in {}", units::rows(rows(&added)), count(&added)));
        }
        (true, false) => {
            changes.push(format!(
                "{} removed with {}",
                units::rows(rows(&removed)),
                count(&removed)
            ));
        }
        (false, false) if rows(&added) == rows(&removed) => {
            changes.push(format!("{} rewritten as {}", count(&removed), added.len()));
        }
        (false, false) => changes.push(format!(
            "{} with {} replaced by {} with {}",
            count(&removed),
            units::rows(rows(&removed)),
            added.len(),
            units::rows(rows(&added))
        )),
        (true, true) => {}
    }
    let kept =
        || after.fragments.iter().filter_map(|fragment| Some((*old.get(&fragment.id)?, fragment)));
    let deleted: u64 = kept()
        .map(|(old, new)| {
            let [old, new] = [old, new].map(|f| f.num_deleted_rows().unwrap_or(0));
            new.saturating_sub(old)
        })
        .fold(0, u64::saturating_add);
    if deleted > 0 {
        changes.push(format!("{} deleted", units::rows(deleted)));
    }
    let rewritten = kept().filter(|(old, new)| old.files != new.files).count() as u64;
    if rewritten > 0 {
        changes.push(format!("files of {} changed", units::counted(rewritten, "fragment")));
    }
    if before.config != after.config {
        changes.push("settings changed".into());
    }
    if changes.is_empty() {
        changes.push("rows and columns as before".into());
    }
    changes
}

fn by_id(manifest: &Manifest) -> HashMap<u32, &Fragment> {
    manifest.fragments.iter().map(|fragment| (fragment.id, fragment.as_ref())).collect()
}
