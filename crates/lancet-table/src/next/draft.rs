//! A version in the making: what each operation does to the latest one.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::carried::highest_fragment_id;
use super::numbers::{NewRows, rows_of, uniform};
use super::{Given, Next};
use crate::error::Problem;
use crate::flags::{Contents, Flags};
use crate::fragment::Fragment;
use crate::indexes::Indexes;
use crate::manifest::{Manifest, Writer};
use crate::row_ids::Stored;
use crate::transaction::{
    Delete, Merge, Operation, Overwrite, Project, Update, UpdateConfig, UpdateMap,
};
use crate::unknown::UnknownFields;
use crate::version_file::VersionFile;

/// A fragment of the new version.
pub(super) enum Slot<'a> {
    /// As it stands at a place of the source.
    Kept(usize, &'a Fragment),
    New(Box<Fragment>),
}

impl Slot<'_> {
    fn new(fragment: Fragment) -> Self {
        Self::New(Box::new(fragment))
    }

    pub(super) fn fragment(&self) -> &Fragment {
        match self {
            Self::Kept(_, fragment) => fragment,
            Self::New(fragment) => fragment,
        }
    }
}

/// A version in the making.
pub(super) struct Draft<'a> {
    /// Without fragments.
    pub(super) manifest: Manifest,
    slots: Vec<Slot<'a>>,
    source: Option<&'a VersionFile>,
    indexes: Indexes,
    stable_row_ids: bool,
    no_transaction_files: bool,
    is_mixed: bool,
}

impl<'a> Draft<'a> {
    /// The latest version once more, under the next number.
    pub(super) fn new(latest: Option<&'a VersionFile>, given: &Given) -> Result<Self, Problem> {
        let Some(latest) = latest else {
            let manifest = Manifest { version: 1, ..Manifest::empty() };
            return Ok(Self {
                manifest,
                slots: Vec::new(),
                source: None,
                indexes: Indexes::default(),
                stable_row_ids: given.stable_row_ids,
                no_transaction_files: false,
                is_mixed: false,
            });
        };
        latest.manifest.check_writable()?;
        // The highest bit marks detached versions.
        let version = latest.manifest.version.checked_add(1).filter(|next| next >> 63 == 0);
        let version = version.ok_or_else(|| Problem::unsupported("no version follows 2^63-1"))?;
        let has = |flag| latest.manifest.writer_flags.contains(flag);
        Ok(Self {
            manifest: Manifest { version, ..latest.manifest.without_fragments() },
            slots: Self::slots_of(latest),
            source: Some(latest),
            indexes: latest.indexes().map_err(|error| Problem::corrupt(error.to_string()))?,
            stable_row_ids: latest.manifest.has_stable_row_ids(),
            no_transaction_files: has(Flags::NO_TRANSACTION_FILES),
            is_mixed: has(Flags::MIXED_FILE_VERSIONS),
        })
    }

    fn slots_of(version: &'a VersionFile) -> Vec<Slot<'a>> {
        let fragments = version.manifest.fragments.iter().enumerate();
        fragments.map(|(place, fragment)| Slot::Kept(place, fragment)).collect()
    }

    pub(super) fn apply(&mut self, operation: &Operation, given: &'a Given) -> Result<(), Problem> {
        match operation {
            Operation::Append(append) => self.add_all(&append.fragments, NewRows::Fresh),
            Operation::Delete(delete) => self.delete(delete),
            Operation::Overwrite(overwrite) => self.overwrite(overwrite, given),
            Operation::Rewrite(rewrite) => {
                let gone = operation.touched();
                self.remove(&gone)?;
                self.indexes.remove_fragments(&gone, None)?;
                rewrite.groups.iter().try_for_each(|group| self.add_all(&group.new, NewRows::Moved))
            }
            Operation::Merge(merge) => self.merge(merge),
            Operation::Restore(_) => self.restore(given),
            Operation::ReserveFragments(reserved) => {
                let last = self.next_fragment_id()?.checked_add(reserved.count);
                let last = last.and_then(|next| next.checked_sub(1)).ok_or_else(out_of_ids)?;
                self.manifest.max_fragment_id = Some(last);
                Ok(())
            }
            Operation::Update(update) => self.update(update),
            Operation::Project(project) => self.project(project),
            Operation::UpdateConfig(config) => {
                self.update_config(config);
                Ok(())
            }
            Operation::UpdateBases(bases) => {
                self.manifest.base_paths.extend(bases.bases.iter().cloned());
                Ok(())
            }
            Operation::CreateIndex(_)
            | Operation::DataReplacement(_)
            | Operation::Clone(_)
            | Operation::Unknown => {
                let name = operation.name();
                Err(Problem::unsupported(format!("lancet does not commit {name} transactions")))
            }
        }
    }

    fn delete(&mut self, delete: &Delete) -> Result<(), Problem> {
        self.remove(&delete.deleted.iter().copied().collect())?;
        self.exchange_deletions(&delete.updated)
    }

    fn update(&mut self, update: &Update) -> Result<(), Problem> {
        if update.is_in_place() {
            return Err(Problem::unsupported("lancet does not rewrite columns in place"));
        }
        self.remove(&update.removed.iter().copied().collect())?;
        self.exchange_deletions(&update.updated)?;
        self.add_all(&update.new, NewRows::Changed)
    }

    fn overwrite(&mut self, overwrite: &Overwrite, given: &Given) -> Result<(), Problem> {
        self.slots.clear();
        self.indexes = Indexes::default();
        self.is_mixed = false;
        let manifest = &mut self.manifest;
        manifest.fields.clone_from(&overwrite.fields);
        manifest.schema_metadata.clone_from(&overwrite.schema_metadata);
        manifest.data_format = given.data_format.or(manifest.data_format);
        manifest.config.extend(overwrite.config.clone());
        manifest.base_paths.extend(overwrite.bases.iter().cloned());
        self.raise_field_ids();
        self.add_all(&overwrite.fragments, NewRows::Fresh)
    }

    fn merge(&mut self, merge: &Merge) -> Result<(), Problem> {
        let version = self.manifest.version;
        let stable = self.stable_row_ids;
        if merge.fragments.len() != self.slots.len() {
            return Err(Problem::corrupt("a Merge must list all fragments of the latest version"));
        }
        self.change(&merge.fragments, |slot, changed| {
            let known = slot.fragment();
            if known.files == changed.files {
                return Ok(());
            }
            let mut fragment = Fragment { files: changed.files.clone(), ..known.clone() };
            if stable {
                fragment.last_updated = Some(uniform(rows_of(&fragment)?, version));
            }
            *slot = Slot::new(fragment);
            Ok(())
        })?;
        self.manifest.fields.clone_from(&merge.fields);
        self.manifest.schema_metadata.clone_from(&merge.schema_metadata);
        self.indexes.keep_fields(&self.field_ids());
        self.raise_field_ids();
        Ok(())
    }

    fn project(&mut self, project: &Project) -> Result<(), Problem> {
        self.manifest.fields.clone_from(&project.fields);
        let ids = self.field_ids();
        self.indexes.keep_fields(&ids);
        for slot in &mut self.slots {
            // Hidden columns have negative ids, and stay; -2 counts no more.
            let is_used = |field: &i32| ids.contains(field) || *field < -2;
            let files = &slot.fragment().files;
            let used = files.iter().filter(|file| file.fields.iter().any(is_used));
            let num_used = used.clone().count();
            // A fragment without files could not tell how many rows it has.
            if num_used < files.len() && num_used > 0 {
                let files = used.cloned().collect();
                *slot = Slot::new(Fragment { files, ..slot.fragment().clone() });
            }
        }
        Ok(())
    }

    fn restore(&mut self, given: &'a Given) -> Result<(), Problem> {
        let Some(restored) = given.restored.as_deref() else {
            return Err(Problem::corrupt("the version to restore was not read"));
        };
        let now = &self.manifest;
        let then = &restored.manifest;
        let was_stable = then.has_stable_row_ids();
        if was_stable != self.stable_row_ids {
            return Err(Problem::unsupported(
                "the version to restore is from before the table had stable row ids",
            ));
        }
        if then.max_field_id.is_none() && now.max_field_id.is_some() {
            return Err(Problem::unsupported(
                "the version to restore is from before the table counted its field ids",
            ));
        }
        let manifest = Manifest {
            version: now.version,
            max_fragment_id: highest_fragment_id(then).max(now.max_fragment_id),
            next_row_id: then.next_row_id.max(now.next_row_id),
            max_field_id: then.max_field_id.max(now.max_field_id),
            branch: now.branch.clone(),
            ..then.without_fragments()
        };
        self.manifest = manifest;
        self.slots = Self::slots_of(restored);
        self.source = Some(restored);
        self.indexes = restored.indexes().map_err(|error| Problem::corrupt(error.to_string()))?;
        Ok(())
    }

    fn update_config(&mut self, update: &UpdateConfig) {
        let manifest = &mut self.manifest;
        if let Some(map) = &update.config {
            map.apply(&mut manifest.config, String::clone);
        }
        if let Some(map) = &update.table_metadata {
            map.apply(&mut manifest.table_metadata, String::clone);
        }
        if let Some(map) = &update.schema_metadata {
            map.apply(&mut manifest.schema_metadata, |value| value.clone().into_bytes());
        }
        // Fields that were dropped meanwhile have no metadata to change.
        for field in &mut manifest.fields {
            if let Some(map) = update.field_metadata.get(&field.id) {
                map.apply(&mut field.metadata, |value| value.clone().into_bytes());
            }
        }
    }

    /// Hands each of some fragments, which must be there, to `change`, with what it is to become.
    fn change(
        &mut self,
        changed: &[Fragment],
        change: impl Fn(&mut Slot<'a>, &Fragment) -> Result<(), Problem>,
    ) -> Result<(), Problem> {
        let places = self.slots.iter().enumerate().map(|(place, slot)| (slot.fragment().id, place));
        let places: HashMap<u32, usize> = places.collect();
        for fragment in changed {
            let id = fragment.id;
            let slot = places.get(&id).and_then(|place| self.slots.get_mut(*place));
            let Some(slot) = slot else {
                return Err(Problem::corrupt(format!(
                    "fragment {id} is not in the latest version"
                )));
            };
            change(slot, fragment)?;
        }
        Ok(())
    }

    fn remove(&mut self, gone: &BTreeSet<u64>) -> Result<(), Problem> {
        let before = self.slots.len();
        self.slots.retain(|slot| !gone.contains(&slot.fragment().id.into()));
        if before.saturating_sub(self.slots.len()) != gone.len() {
            return Err(Problem::corrupt("a fragment to remove is not in the latest version"));
        }
        Ok(())
    }

    /// Of a changed fragment only the deletion file counts: its data files may have others by now.
    fn exchange_deletions(&mut self, updated: &[Fragment]) -> Result<(), Problem> {
        self.change(updated, |slot, changed| {
            let deletion_file = changed.deletion_file.clone();
            *slot = Slot::new(Fragment { deletion_file, ..slot.fragment().clone() });
            Ok(())
        })
    }

    fn add_all(&mut self, fragments: &[Fragment], rows: NewRows) -> Result<(), Problem> {
        fragments.iter().try_for_each(|fragment| self.add(fragment.clone(), rows))
    }

    fn add(&mut self, mut fragment: Fragment, rows: NewRows) -> Result<(), Problem> {
        let id = self.next_fragment_id()?;
        // The last number is kept free.
        if id == u32::MAX {
            return Err(out_of_ids());
        }
        fragment.id = id;
        self.manifest.max_fragment_id = Some(id);
        if self.stable_row_ids {
            self.number_rows(&mut fragment, rows)?;
        } else {
            fragment.row_ids = None;
            fragment.created = None;
            fragment.last_updated = None;
        }
        self.slots.push(Slot::new(fragment));
        Ok(())
    }

    fn next_fragment_id(&self) -> Result<u32, Problem> {
        match self.manifest.max_fragment_id {
            Some(last) => last.checked_add(1).ok_or_else(out_of_ids),
            None => Ok(0),
        }
    }

    fn field_ids(&self) -> BTreeSet<i32> {
        self.manifest.fields.iter().map(|field| field.id).collect()
    }

    fn raise_field_ids(&mut self) {
        if let Some(highest) = &mut self.manifest.max_field_id {
            let ids = self.manifest.fields.iter().map(|field| field.id);
            *highest = ids.max().map_or(*highest, |id| id.max(*highest));
        }
    }

    pub(super) fn contents(&self) -> Contents {
        let fragments = || self.slots.iter().map(Slot::fragment);
        let is_hidden = |stored: &Option<Stored>| matches!(stored, Some(Stored::Column { .. }));
        let versions = || fragments().flat_map(|fragment| &fragment.files).map(|file| file.version);
        let common = self.manifest.data_format.or_else(|| versions().next());
        Contents {
            deletion_files: fragments().any(|fragment| fragment.deletion_file.is_some()),
            stable_row_ids: self.stable_row_ids,
            config: !self.manifest.config.is_empty(),
            base_paths: !self.manifest.base_paths.is_empty(),
            no_transaction_files: self.no_transaction_files,
            covering_fields: self.indexes.entries.iter().any(|entry| entry.has_covering_fields),
            mixed_file_versions: self.is_mixed || versions().any(|found| Some(found) != common),
            spilled_lineage: fragments().any(|fragment| {
                is_hidden(&fragment.row_ids)
                    || is_hidden(&fragment.created)
                    || is_hidden(&fragment.last_updated)
            }),
            max_field_id: self.manifest.max_field_id.is_some(),
        }
    }

    pub(super) fn finish(mut self) -> Next<'a> {
        self.slots.retain(|slot| slot.fragment().num_rows() != Some(0));
        self.slots.sort_by_key(|slot| slot.fragment().id);
        let (reader_flags, writer_flags) = self.contents().flags();
        let writer = Some(Writer {
            library: "lancet".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            unknown: UnknownFields::default(),
        });
        let tag = String::new();
        let manifest = Manifest { reader_flags, writer_flags, writer, tag, ..self.manifest };
        Next { manifest, fragments: self.slots, source: self.source, indexes: self.indexes }
    }
}

impl UpdateMap {
    fn apply<V>(&self, map: &mut BTreeMap<String, V>, value_of: impl Fn(&String) -> V) {
        if self.replace {
            map.clear();
        }
        for (key, value) in &self.entries {
            match value {
                Some(value) => _ = map.insert(key.clone(), value_of(value)),
                None => _ = map.remove(key),
            }
        }
    }
}

fn out_of_ids() -> Problem {
    Problem::unsupported("the table has no fragment ids left")
}
