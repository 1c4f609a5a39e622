//! Changes that touch no files: columns dropped, renamed, moved or added without values, and older versions brought back.

use std::sync::Arc;

use arrow_array::Array;
use arrow_schema::Schema;

use crate::error::{Conflict, Error, Result};
use crate::fields::{self, Field};
use crate::file_schema::fields_of;
use crate::fragment::{self, Fragment};
use crate::live_rows::LiveRows;
use crate::opening::Opened;
use crate::options::At;
use crate::random;
use crate::rebase::Pending;
use crate::schema_change::SchemaBefore;
use crate::storage::Storage;
use crate::transaction::{Merge, Operation, Project, Restore};
use crate::write_options::TableWriteOptions;

/// How often work is done because others change the table meanwhile.
const MAX_RUNS: usize = 10;

/// Work that may be done again on a newer version.
#[derive(Default)]
pub(crate) struct Tries(usize);

impl Tries {
    /// Whether others were in the way, so that one more run may work.
    pub(crate) fn again_after(&mut self, error: &Error) -> bool {
        self.0 = self.0.saturating_add(1);
        self.0 < MAX_RUNS && matches!(error, Error::Conflict(Conflict { can_retry: true, .. }))
    }
}

impl<S: Storage> Opened<S> {
    /// The newest version of the same table or branch.
    pub(crate) async fn newest(&self) -> Result<Self> {
        // The folder of a branch holds its versions as that of a table does, also if it was copied to another place.
        let at = Self { main: self.root.clone(), ..self.clone() }.checkout(&At::Latest).await?;
        Ok(Self { main: self.refs_root(), ..at })
    }

    pub(crate) fn schema_before(&self) -> SchemaBefore<'_> {
        let snapshot = &self.reads.snapshot;
        SchemaBefore { fields: &snapshot.manifest.fields, nodes: &snapshot.schema.nodes }
    }

    /// A change that is based on the open version.
    pub(crate) fn pending(&self, operation: Operation) -> Pending {
        Pending::new(self.transaction(operation))
    }

    /// The first id of a new field.
    pub(crate) fn next_field_id(&self) -> Result<i32> {
        self.checked(fields::next_field_id(self.manifest()))
    }

    /// Commits another schema over the same files.
    pub(crate) async fn change_schema(
        &self,
        change: &(dyn Fn(SchemaBefore<'_>) -> Result<Vec<Field>> + Sync),
        preserves_nullability: bool,
        options: &TableWriteOptions,
    ) -> Result<Self> {
        let (mut at, mut tries) = (self.newest().await?, Tries::default());
        loop {
            let fields = change(at.schema_before())?;
            let project = Project { fields, preserves_nullability, ..Project::default() };
            match at.commit(at.pending(Operation::Project(project)), options).await {
                Err(error) if tries.again_after(&error) => at = at.newest().await?,
                done => return done,
            }
        }
    }

    /// Says of a column that it is never null, after a look at all of it.
    pub(crate) async fn forbid_nulls(
        &self,
        name: &str,
        options: &TableWriteOptions,
    ) -> Result<Self> {
        let at = self.newest().await?;
        at.schema_before().column(name)?;
        let mut rows = LiveRows::new(&at, [name].into(), None::<[u32; 0]>).await?;
        while let Some(place) = rows.next_fragment().await? {
            while let Some(batch) = rows.next_batch().await? {
                options.check_cancelled()?;
                if batch.columns().iter().any(|array| array.logical_null_count() > 0) {
                    let fragment = at.reads.snapshot.fragment(place)?.id;
                    return Err(Error::invalid(format!(
                        "column `{name}` has nulls, in fragment {fragment} for one; fill or delete them first"
                    )));
                }
            }
        }
        let fields = at.schema_before().with_nullable(name, false)?;
        let project = Project { fields, preserves_nullability: false, ..Project::default() };
        // Rows that others have added since may have nulls: they are in the way.
        at.commit(at.pending(Operation::Project(project)), options).await
    }

    /// Makes an older version the newest one. What came between stays in the history.
    pub(crate) async fn restore(&self, options: &TableWriteOptions) -> Result<Self> {
        let version = self.manifest().version;
        if self.versions.detached().contains(&version) {
            return self.restore_kept(options).await;
        }
        // Until it is the newest one, a cleanup may find the version too old, and remove files that it needs. A tag keeps it.
        let keeper = format!("restoring-{version}-{:016x}", random::number());
        self.create_tag(&keeper).await?;
        let restored = self.restore_kept(options).await;
        if !matches!(restored, Err(Error::Uncertain { .. })) {
            // One that stays behind does no harm.
            let _ = self.delete_tag(&keeper).await;
        }
        restored
    }

    async fn restore_kept(&self, options: &TableWriteOptions) -> Result<Self> {
        let version = self.manifest().version;
        let restored = Arc::new(self.version_file(self.version_name()?).await?);
        let newest = self.newest().await?;
        let restore = Restore { version, ..Restore::default() };
        let mut pending = newest.pending(Operation::Restore(restore));
        pending.given.restored = Some(restored);
        newest.commit(pending, options).await
    }

    /// Adds columns that are null in all rows: only the schema changes.
    pub(crate) async fn add_null_columns(
        &self,
        new: &Schema,
        options: &TableWriteOptions,
    ) -> Result<Self> {
        if let Some(field) = new.fields().iter().find(|field| !field.is_nullable()) {
            let name = field.name();
            return Err(Error::invalid(format!(
                "column `{name}` would be null in all rows, but says that it never is"
            )));
        }
        let (mut at, mut tries) = (self.newest().await?, Tries::default());
        loop {
            let added = fields_of(new, at.storage_version(options)?, at.next_field_id()?)?;
            let fields = at.schema_before().with_added(added)?;
            let merge = at.merge(fragment::owned(&at.manifest().fragments), fields);
            match at.commit(at.pending(merge), options).await {
                Err(error) if tries.again_after(&error) => at = at.newest().await?,
                done => return done,
            }
        }
    }

    /// A change of all fragments and of the schema.
    pub(crate) fn merge(&self, fragments: Vec<Fragment>, fields: Vec<Field>) -> Operation {
        let schema_metadata = self.manifest().schema_metadata.clone();
        let is_old = |field: &Field| self.manifest().fields.iter().any(|old| old.id == field.id);
        Operation::Merge(Merge {
            fragments,
            // Rows that are appended meanwhile have no values of new fields.
            preserves_nullability: fields.iter().all(|field| field.nullable || is_old(field)),
            fields,
            schema_metadata,
            ..Merge::default()
        })
    }
}
