//! Compaction: small fragments are joined, deleted rows go for good.
//!
//! Live rows are read in their order and written again, in the format of the table and without columns that count no more.
//! Row ids and row versions go along. Indexes keep their entries, without the fragments that are gone: what they covered
//! is scanned until the index is built again.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use lancet::Rows;
use lancet_row_ids::RowVersionSequence;

use crate::alter::Tries;
use crate::columns::TableColumns;
use crate::compact_plan::{CompactOptions, Counts};
use crate::data_writer::{FragmentWriter, remove_files};
use crate::error::{Error, Problem, Result};
use crate::fields::Field;
use crate::file_schema::FileSchema;
use crate::fragment::{self, Fragment};
use crate::indexes::IndexEntry;
use crate::lineage::Lineage;
use crate::live_rows::LiveRows;
use crate::manifest::Manifest;
use crate::opening::Opened;
use crate::row_ids::{RowIds, Stored};
use crate::storage::Storage;
use crate::transaction::{Operation, Rewrite, RewriteGroup};
use crate::write::is_certain;
use crate::write_options::TableWriteOptions;

/// Indexes that keep account of compactions themselves, in a way that lancet does not know.
const TRACKING_INDEXES: [&str; 2] = ["__lance_frag_reuse", "__lance_mem_wal"];

/// What a compaction did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Compaction {
    /// The version it made; the one that was there if there was nothing to do.
    pub version: u64,
    /// Fragments that are gone.
    pub fragments_removed: usize,
    /// Fragments that took their place.
    pub fragments_added: usize,
    /// Rows that were written again.
    pub rows: u64,
    /// Deleted rows that are gone for good.
    pub deleted_rows: u64,
    /// Bytes of the new data files.
    pub bytes: u64,
    /// Indexes that cover fewer rows than before: build them again to have them cover all.
    pub indexes: Vec<IndexLoss>,
}

/// An index that lost fragments.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct IndexLoss {
    /// The name of the index.
    pub name: String,
    /// Rows that it covered and does not any more.
    pub rows: u64,
}

/// Fragments that were written again, and what they were made from.
struct Done {
    group: RewriteGroup,
    fields: Vec<Field>,
}

impl<S: Storage> Opened<S> {
    /// Compacts the newest version; the table as it is then.
    pub(crate) async fn compact(
        &self,
        plan: &CompactOptions,
        options: &TableWriteOptions,
    ) -> Result<(Self, Compaction)> {
        let mut written = Vec::new();
        let compacted = self.compact_newest(plan, options, &mut written).await;
        if compacted.as_ref().err().is_none_or(is_certain) {
            self.remove_all(&written).await;
        }
        compacted
    }

    /// Does the work. What no version names stays in `written`, whatever happens.
    async fn compact_newest(
        &self,
        plan: &CompactOptions,
        options: &TableWriteOptions,
        written: &mut Vec<Done>,
    ) -> Result<(Self, Compaction)> {
        let (mut at, mut tries) = (self.newest().await?, Tries::default());
        loop {
            let indexes = at.checked_indexes().await?;
            let counts = at.counts(&indexes).await?;
            let places = plan.groups(&counts);
            if places.is_empty() {
                let version = at.manifest().version;
                return Ok((at, Compaction { version, ..Compaction::default() }));
            }
            let groups = at.rewrite_all(&places, plan, options, written).await?;
            let mut report = report(&groups, &counts, &places, &indexes);
            let rewrite = Operation::Rewrite(Rewrite { groups, ..Rewrite::default() });
            match at.commit(at.pending(rewrite), options).await {
                Ok(after) => {
                    written.clear();
                    report.version = after.manifest().version;
                    return Ok((after, report));
                }
                Err(error) if tries.again_after(&error) => at = at.newest().await?,
                Err(error) => return Err(error),
            }
        }
    }

    /// Writes all groups. What was written in a run before is used again if its rows are still the same, and goes if not.
    async fn rewrite_all(
        &self,
        places: &[Range<usize>],
        plan: &CompactOptions,
        options: &TableWriteOptions,
        written: &mut Vec<Done>,
    ) -> Result<Vec<RewriteGroup>> {
        let Manifest { fragments, fields, .. } = self.manifest();
        let old = places.iter().map(|places| fragments.get(places.clone()).unwrap_or_default());
        // A group is compared with many, and copied only to be rewritten.
        let is_of = |group: &RewriteGroup, old: &[Arc<Fragment>]| {
            group.old.iter().eq(old.iter().map(Arc::as_ref))
        };
        let is_wanted =
            |done: &Done| done.fields == *fields && old.clone().any(|old| is_of(&done.group, old));
        let (wanted, others): (Vec<Done>, Vec<Done>) =
            std::mem::take(written).into_iter().partition(is_wanted);
        *written = wanted;
        self.remove_all(&others).await;
        let mut groups = Vec::with_capacity(places.len());
        for old in old {
            let known = written.iter().map(|done| &done.group).find(|group| is_of(group, old));
            groups.push(match known {
                Some(group) => group.clone(),
                None => {
                    let done = self.rewrite(&fragment::owned(old), plan, options).await?;
                    let group = done.group.clone();
                    written.push(done);
                    group
                }
            });
        }
        Ok(groups)
    }

    async fn checked_indexes(&self) -> Result<Vec<IndexEntry>> {
        let indexes = self.version_file(self.version_name()?).await?.indexes()?.entries;
        match indexes.iter().find(|index| TRACKING_INDEXES.contains(&index.name.as_str())) {
            Some(index) => {
                let what = format!(
                    "a compaction of a table with the index `{}`, which would have to know of it; \
                     let the reference compact the table",
                    index.name
                );
                Err(Error::Unsupported { file: self.manifest().file.clone(), what })
            }
            None => Ok(indexes),
        }
    }

    /// What the plan needs to know of each fragment.
    async fn counts(&self, indexes: &[IndexEntry]) -> Result<Vec<Counts>> {
        let starts = self.reads.starts().await?.to_vec();
        let mut counts = Vec::with_capacity(self.manifest().fragments.len());
        let live =
            starts.iter().zip(starts.iter().skip(1)).map(|(start, end)| end.saturating_sub(*start));
        for (place, (fragment, live)) in self.manifest().fragments.iter().zip(live).enumerate() {
            let deleted = self.reads.physical_rows(place).await?.saturating_sub(live);
            let covers = |index: &IndexEntry| {
                index.fragments.as_ref().is_some_and(|covered| covered.contains(fragment.id))
            };
            let indexes = indexes.iter().enumerate();
            let indexes = indexes.filter(|(_, index)| covers(index)).map(|(place, _)| place);
            counts.push(Counts { live, deleted, indexes: indexes.collect() });
        }
        Ok(counts)
    }

    /// Writes the live rows of some neighbours into new fragments.
    async fn rewrite(
        &self,
        old: &[Fragment],
        plan: &CompactOptions,
        options: &TableWriteOptions,
    ) -> Result<Done> {
        let fields = self.manifest().fields.clone();
        let schema = Arc::new(FileSchema::new(&fields, self.storage_version(options)?)?);
        let options = options.clone().with_max_rows_per_fragment(plan.target_rows);
        let mut writer = FragmentWriter::new(self.storage(), &self.root, schema.clone(), &options);
        let ids = old.iter().map(|fragment| fragment.id);
        let written = async {
            let mut rows = LiveRows::new(self, TableColumns::All, Some(ids)).await?;
            while rows.next_fragment().await?.is_some() {
                while let Some(batch) = rows.next_batch().await? {
                    writer.write(&schema.conform(&batch)?).await?;
                }
            }
            let (mut new, mut unsynced) = writer.finish().await?;
            self.storage().sync(&mut unsynced).await?;
            if self.manifest().has_stable_row_ids() {
                self.move_lineage(old, &mut new).await?;
            }
            Ok(new)
        };
        let new = match written.await {
            Ok(new) => new,
            Err(error) => {
                writer.give_up().await;
                return Err(error);
            }
        };
        let group = RewriteGroup { old: old.to_vec(), new, ..RewriteGroup::default() };
        Ok(Done { group, fields })
    }

    /// Gives new fragments the row ids and row versions of the rows in them.
    async fn move_lineage(&self, old: &[Fragment], new: &mut [Fragment]) -> Result<()> {
        let mut parts = Vec::with_capacity(old.len());
        for fragment in old {
            let place = self.reads.snapshot.place(fragment.id);
            let place = place.ok_or_else(|| Error::invalid("a fragment is not in the table"))?;
            let mut lineage = self.lineage(place, fragment).await?;
            let deleted = self.reads.deleted_list(place).await?;
            let masked = lineage.mask(&deleted);
            masked.map_err(|error| self.reads.snapshot.problem(fragment, Problem::from(error)))?;
            parts.push(lineage);
        }
        let sizes: Vec<u64> =
            new.iter().map(|fragment| fragment.physical_rows.unwrap_or(0)).collect();
        let cut = Lineage::rechunk(&parts, &sizes);
        let cut = cut.map_err(|error| Problem::from(error).in_file(&self.manifest().file))?;
        new.iter_mut().zip(&cut).for_each(|(fragment, lineage)| lineage.store(fragment));
        Ok(())
    }

    async fn lineage(&self, place: usize, fragment: &Fragment) -> Result<Lineage> {
        let snapshot = &self.reads.snapshot;
        let row_ids = match snapshot.row_ids(place)?.as_ref() {
            RowIds::Sequence(sequence) => sequence.clone(),
            RowIds::Column { file, column } => {
                self.reads.hidden_sequence(place, *file, *column).await?
            }
            RowIds::Addresses => {
                let rule = Problem::corrupt("it has no row ids");
                return Err(snapshot.problem(fragment, rule));
            }
        };
        let created = match &fragment.created {
            Some(Stored::Inline(bytes)) => Some(snapshot.created(place, bytes)?.as_ref().clone()),
            other => self.hidden_versions(place, other.as_ref()).await?,
        };
        let last_updated = match &fragment.last_updated {
            Some(Stored::Inline(bytes)) => {
                Some(snapshot.last_updated(place, bytes)?.as_ref().clone())
            }
            other => self.hidden_versions(place, other.as_ref()).await?,
        };
        Ok(Lineage { row_ids, created, last_updated })
    }

    async fn hidden_versions(
        &self,
        place: usize,
        stored: Option<&Stored>,
    ) -> Result<Option<RowVersionSequence>> {
        let Some(Stored::Column { file, column }) = stored else { return Ok(None) };
        let values = self.reads.read_hidden(place, *file, *column, Rows::All).await?;
        let values = values.as_primitive::<UInt64Type>().values();
        Ok(Some(RowVersionSequence::from_versions(values)))
    }

    /// Removes data files that no version names.
    async fn remove_all(&self, written: &[Done]) {
        for done in written {
            remove_files(self.storage(), &self.root, &done.group.new).await;
        }
    }
}

fn report(
    groups: &[RewriteGroup],
    counts: &[Counts],
    places: &[Range<usize>],
    indexes: &[IndexEntry],
) -> Compaction {
    let gone = || places.iter().flat_map(|places| counts.get(places.clone()).unwrap_or_default());
    let sum = |of: &dyn Fn(&Counts) -> u64| gone().map(of).fold(0, u64::saturating_add);
    let new = || groups.iter().flat_map(|group| &group.new);
    let bytes = new().flat_map(|fragment| &fragment.files).filter_map(|file| file.size_bytes);
    let losses = indexes.iter().enumerate().filter_map(|(place, index)| {
        let rows = sum(&|counts| if counts.indexes.contains(&place) { counts.live } else { 0 });
        (rows > 0).then(|| IndexLoss { name: index.name.clone(), rows })
    });
    Compaction {
        version: 0,
        fragments_removed: groups.iter().map(|group| group.old.len()).sum(),
        fragments_added: new().count(),
        rows: sum(&|counts| counts.live),
        deleted_rows: sum(&|counts| counts.deleted),
        bytes: bytes.fold(0, u64::saturating_add),
        indexes: losses.collect(),
    }
}
