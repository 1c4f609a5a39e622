//! Versions that the reference committed, built again out of the version before and the transaction.

use std::collections::BTreeMap;
use std::sync::Arc;

use lancet_row_ids::{RowIdSequence, RowVersionSequence};

use super::*;
use crate::flags::Flags;
use crate::fragment::Fragment;
use crate::golden::histories;
use crate::manifest::Limits;
use crate::row_ids::Stored;
use crate::transaction::{Merge, Operation, Overwrite};

/// What the reference knows and the transaction does not say.
fn given(
    theirs: &VersionFile,
    operation: &Operation,
    history: &BTreeMap<u64, VersionFile>,
) -> Given {
    let restored = match operation {
        Operation::Restore(restore) => history.get(&restore.version).cloned().map(Arc::new),
        _ => None,
    };
    Given {
        stable_row_ids: theirs.manifest.has_stable_row_ids(),
        data_format: theirs.manifest.data_format,
        restored,
    }
}

/// Transactions of updates do not say when rows were made: the reference looks it up, lancet notes it beside the ids.
fn with_created(transaction: &mut Transaction, theirs: &VersionFile) {
    let Operation::Update(update) = &mut transaction.operation else { return };
    let num_new = update.new.len();
    let known = theirs.manifest.fragments.iter().rev().take(num_new).rev();
    for (new, known) in update.new.iter_mut().zip(known) {
        let (Some(Stored::Inline(ids)), Some(Stored::Inline(created))) =
            (&new.row_ids, &known.created)
        else {
            continue;
        };
        let moved = RowIdSequence::decode(ids).unwrap().len();
        let created: Vec<u64> = RowVersionSequence::decode(created).unwrap().iter().collect();
        let moved = usize::try_from(moved).unwrap();
        let created = RowVersionSequence::from_versions(&created[..moved]);
        new.created = Some(Stored::Inline(created.encode()));
    }
}

/// The reference does not write the metadata of schemas into transactions.
fn with_metadata(operation: &mut Operation, theirs: &VersionFile) {
    if let Operation::Overwrite(Overwrite { schema_metadata, .. })
    | Operation::Merge(Merge { schema_metadata, .. }) = operation
    {
        assert!(schema_metadata.is_empty());
        schema_metadata.clone_from(&theirs.manifest.schema_metadata);
    }
}

/// The reference reserves ids of fragments in a version of their own; lancet gives them with the others.
fn with_reserved_ids(
    ours: &mut Next<'_>,
    rewrite: &crate::transaction::Rewrite,
    theirs: &Manifest,
) {
    let num_new = rewrite.groups.iter().map(|group| group.new.len()).sum::<usize>();
    let at = ours.fragments.len() - num_new;
    let ids = rewrite.groups.iter().flat_map(|group| &group.new).map(|fragment| fragment.id);
    for (slot, id) in ours.fragments[at..].iter_mut().zip(ids) {
        let Slot::New(fragment) = slot else { panic!("a rewritten fragment is new") };
        fragment.id = id;
    }
    assert!(ours.manifest.max_fragment_id > theirs.max_fragment_id);
    ours.manifest.max_fragment_id = theirs.max_fragment_id;
}

/// The manifest of a version, with its fragments.
fn whole(next: &Next<'_>) -> Manifest {
    let fragments = next.fragments.iter().map(|slot| Arc::new(slot.fragment().clone())).collect();
    Manifest { fragments, ..next.manifest.clone() }
}

/// Rows of each version, whatever runs they are noted in.
fn versions(stored: &Option<Stored>) -> Option<Vec<u64>> {
    match stored {
        Some(Stored::Inline(bytes)) => {
            Some(RowVersionSequence::decode(bytes).unwrap().iter().collect())
        }
        _ => None,
    }
}

#[test]
fn versions_of_the_reference_are_built_again() {
    let (mut built, mut shared) = (BTreeMap::<&str, usize>::new(), 0);
    for (table, history) in histories() {
        for (version, theirs) in &history {
            let Some(mut transaction) = theirs.transaction(&Limits::default()).unwrap() else {
                continue;
            };
            let before = history.get(&(version - 1));
            // In place, or of another writer: nothing that lancet commits.
            let skipped = match &transaction.operation {
                Operation::Update(update) => {
                    let is_spilled = |fragment: &Fragment| {
                        matches!(fragment.row_ids, Some(Stored::Column { .. }))
                    };
                    update.in_place
                        || !update.fields_modified.is_empty()
                        || update.new.iter().any(is_spilled)
                }
                // The reference rewrites index files, and spills row ids.
                Operation::Rewrite(rewrite) => !rewrite.rewritten_indexes.is_empty(),
                Operation::CreateIndex(_) | Operation::Clone(_) => true,
                Operation::DataReplacement(_) | Operation::Unknown => true,
                Operation::Restore(restore) => !history.contains_key(&restore.version),
                _ => false,
            };
            let first = matches!(transaction.operation, Operation::Overwrite(_)) && *version == 1;
            if skipped || (before.is_none() && !first) {
                continue;
            }
            let writable = before.is_none_or(|before| before.manifest.check_writable().is_ok());
            if !writable || theirs.manifest.writer.as_ref().is_some_and(|w| w.library != "lance") {
                continue;
            }
            with_created(&mut transaction, theirs);
            with_metadata(&mut transaction.operation, theirs);
            let given = given(theirs, &transaction.operation, &history);
            let mut next = Next::build(before, &transaction, &given, 0)
                .unwrap_or_else(|error| panic!("{table} version {version}: {error}"));
            if let Operation::Rewrite(rewrite) = &transaction.operation {
                with_reserved_ids(&mut next, rewrite, &theirs.manifest);
            }
            let built_manifest = whole(&next);
            same(&format!("{table} version {version}"), &built_manifest, &theirs.manifest);
            let bytes = next.into_bytes(theirs.manifest.file.clone(), &transaction).unwrap();
            let (name, limits) = (&theirs.manifest.file, Limits::default());
            let file = VersionFile::parse(name, bytes.clone(), &limits).unwrap();
            // With what it shares with the version before it is the same.
            let sharing = VersionFile::parse_after(before, name, bytes, &limits).unwrap();
            assert_eq!(sharing.manifest, file.manifest, "{table} version {version}");
            let is_there = |fragment| {
                let mut old = before.iter().flat_map(|before| &before.manifest.fragments);
                old.any(|old| Arc::ptr_eq(old, fragment))
            };
            let fragments = &sharing.manifest.fragments;
            let kept = fragments.iter().filter(|fragment| is_there(fragment)).count();
            // Many versions in a row would keep each other's bytes in memory.
            let mut files = fragments.iter().flat_map(|fragment| &fragment.files);
            let bytes = sharing.bytes.as_ptr_range();
            let keeps_bytes = files.any(|file| bytes.contains(&file.path.as_ptr()));
            assert!(kept == 0 || !keeps_bytes, "{table} version {version}");
            shared += kept;
            let read_again = Manifest {
                file: built_manifest.file.clone(),
                transaction_section: built_manifest.transaction_section,
                index_section: built_manifest.index_section,
                ..Manifest::clone(&file.manifest)
            };
            assert_eq!(read_again, built_manifest, "{table} version {version}");
            same_indexes(&format!("{table} version {version}"), &file, theirs);
            *built.entry(transaction.operation.name()).or_default() += 1;
        }
    }
    println!("{built:?}, {shared} fragments shared");
    assert!(shared > 100, "{shared}");
    for name in ["Append", "Delete", "Merge", "Overwrite", "Project", "Rewrite", "Update"] {
        assert!(built.contains_key(name), "{name} is not among {built:?}");
    }
}

/// Entries are the same byte by byte. Of an update the reference says that indexes on other columns cover the rows that
/// moved; to say less is safe.
fn same_indexes(what: &str, ours: &VersionFile, theirs: &VersionFile) {
    let (ours, theirs) = (ours.indexes().unwrap().entries, theirs.indexes().unwrap().entries);
    assert_eq!(ours.len(), theirs.len(), "{what}");
    for (ours, theirs) in ours.iter().zip(&theirs) {
        let (Some(fewer), Some(more)) = (&ours.fragments, &theirs.fragments) else {
            assert_eq!(ours.bytes(), theirs.bytes(), "{what}");
            continue;
        };
        assert!(fewer == more || fewer.is_subset(more), "{what}");
        let mut theirs = theirs.clone();
        theirs.remove_fragments(&(more - fewer).iter().map(u64::from).collect()).unwrap();
        assert_eq!(ours.bytes(), theirs.bytes(), "{what}");
    }
}

fn same(what: &str, ours: &Manifest, theirs: &Manifest) {
    let mut ours = Manifest {
        timestamp_nanos: theirs.timestamp_nanos,
        writer: theirs.writer.clone(),
        file: theirs.file.clone(),
        transaction_section: theirs.transaction_section,
        old_transaction_section: theirs.old_transaction_section,
        index_section: theirs.index_section,
        ..ours.clone()
    };
    let mut theirs = theirs.clone();
    for manifest in [&mut ours, &mut theirs] {
        for fragment in manifest.fragments.iter_mut().map(Arc::make_mut) {
            let (created, updated) =
                (versions(&fragment.created), versions(&fragment.last_updated));
            let encode = |versions: Option<Vec<u64>>| {
                versions.map(|v| Stored::Inline(RowVersionSequence::from_versions(&v).encode()))
            };
            (fragment.created, fragment.last_updated) = (encode(created), encode(updated));
            // Neither do the forms that ids are noted in count.
            if let Some(Stored::Inline(bytes)) = &fragment.row_ids {
                let ids: Vec<u64> = RowIdSequence::decode(bytes).unwrap().iter().collect();
                let ids = RowIdSequence::from_ids(&ids).unwrap();
                fragment.row_ids = Some(Stored::Inline(ids.encode()));
            }
        }
    }
    assert_eq!(ours.fragments, theirs.fragments, "{what}");
    assert_eq!(ours, theirs, "{what}");
}

#[test]
fn readers_say_whether_row_ids_are_stable() {
    let stable = |file: &&VersionFile| {
        file.manifest.has_stable_row_ids() && file.manifest.check_writable().is_ok()
    };
    let histories = histories();
    let mut file = histories.values().flat_map(BTreeMap::values).find(stable).unwrap().clone();
    let data = file.manifest.fragments.first().unwrap().files.first().unwrap().clone();
    let append = Operation::Append(crate::transaction::Append {
        fragments: vec![Fragment::new(data, 3)],
        ..Default::default()
    });
    let transaction = Transaction::new(file.manifest.version, "u".into(), append);
    let (both, first) = (file.manifest.writer_flags, file.manifest.next_row_id);
    Arc::make_mut(&mut file.manifest).writer_flags = Flags(both.0 & !Flags::STABLE_ROW_IDS.0);
    let given = Given::default();
    let next = Next::build(Some(&file), &transaction, &given, 0).unwrap();
    assert!(next.manifest.writer_flags.contains(Flags::STABLE_ROW_IDS));
    assert!(next.manifest.has_stable_row_ids());
    let Some(Stored::Inline(ids)) = &next.fragments.last().unwrap().fragment().row_ids else {
        panic!("the new rows have no ids");
    };
    let ids: Vec<u64> = RowIdSequence::decode(ids).unwrap().iter().collect();
    assert_eq!(ids, [first, first + 1, first + 2]);
    let manifest = Arc::make_mut(&mut file.manifest);
    manifest.reader_flags = Flags(manifest.reader_flags.0 & !Flags::STABLE_ROW_IDS.0);
    manifest.writer_flags = both;
    let error = Next::build(Some(&file), &transaction, &given, 0).err().unwrap().to_string();
    assert!(error.contains("is set for writers, but not for readers"), "{error}");
}
