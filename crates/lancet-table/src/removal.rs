//! What it takes to remove rows: deletion files that name them, or their whole fragments.

use std::collections::BTreeMap;

use roaring::RoaringBitmap;

use crate::deletion::{DeletionFile, DeletionKind};
use crate::error::Result;
use crate::fragment::Fragment;
use crate::opening::Opened;
use crate::random;
use crate::rebase::{NewDeletionFile, RemovedRows};
use crate::storage::Storage;
use crate::unknown::UnknownFields;

/// What a removal of rows takes: new deletion files, and fragments of which nothing is left.
pub(crate) struct Removal {
    pub(crate) updated: Vec<Fragment>,
    pub(crate) gone: Vec<u64>,
    pub(crate) removed: BTreeMap<u32, RemovedRows>,
    pub(crate) files: Vec<NewDeletionFile>,
    pub(crate) num_rows: u64,
}

impl<S: Storage> Opened<S> {
    /// What it takes to remove rows, by the places of their fragments.
    pub(crate) async fn removal(&self, offsets: BTreeMap<usize, RoaringBitmap>) -> Result<Removal> {
        let mut removal = Removal {
            updated: Vec::new(),
            gone: Vec::new(),
            removed: BTreeMap::new(),
            files: Vec::new(),
            num_rows: 0,
        };
        for (place, offsets) in offsets {
            let fragment = self.reads.snapshot.fragment(place)?;
            let physical_rows = self.reads.physical_rows(place).await?;
            let deletions = self.reads.deletions(place).await?.with(&offsets);
            removal.num_rows = removal.num_rows.saturating_add(offsets.len());
            let before = fragment.deletion_file.clone();
            removal.removed.insert(fragment.id, RemovedRows { offsets, before, physical_rows });
            if deletions.len() >= physical_rows {
                removal.gone.push(fragment.id.into());
                continue;
            }
            let file = DeletionFile {
                kind: DeletionKind::Roaring,
                read_version: self.manifest().version,
                id: random::number(),
                num_deleted_rows: Some(deletions.len()),
                base: None,
                unknown: UnknownFields::default(),
            };
            let updated =
                Fragment { deletion_file: Some(Box::new(file.clone())), ..fragment.clone() };
            removal.updated.push(updated);
            removal.files.push(NewDeletionFile { fragment: fragment.id, file, deletions });
        }
        Ok(removal)
    }
}
