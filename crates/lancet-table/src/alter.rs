//! Columns added, dropped, renamed, moved and given another type.
//!
//! Dropping, renaming and moving only change the schema. New values go into one more data file for each fragment; the files
//! that are there stay as they are.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{DataType, Schema, SchemaRef};

use crate::columns::TableColumns;
use crate::data_file::{DATA_DIR, DataFile};
use crate::data_writer::NewDataFile;
use crate::error::{Conflict, Error, Result};
use crate::expand::Expansion;
use crate::fields::{self, Field};
use crate::file_schema::{FileSchema, fields_of};
use crate::fragment::Fragment;
use crate::live_rows::LiveRows;
use crate::opening::Opened;
use crate::options::At;
use crate::rebase::Pending;
use crate::schema::Kind;
use crate::schema_change::SchemaBefore;
use crate::storage::Storage;
use crate::transaction::{Merge, Operation, Project, Restore};
use crate::write::is_certain;
use crate::write_options::{TableWriteOptions, WriteProgress};

/// How often work is done again because others changed the table meanwhile.
pub(crate) const MAX_RUNS: usize = 10;

/// Values of new columns for some rows: given the columns that were asked for, the new ones.
pub(crate) type Values<'a> = &'a mut (dyn FnMut(&RecordBatch) -> Result<RecordBatch> + Send);

/// Whether the work may be done again on a newer version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Runs {
    /// The values are made from the rows, whatever they are by then.
    Many,
    /// The values are for the rows of the open version and for no others.
    One,
}

/// Whether others were in the way, and it may work on a newer version.
pub(crate) fn can_run_again(error: &Error) -> bool {
    matches!(error, Error::Conflict(Conflict { can_retry: true, .. }))
}

impl<S: Storage> Opened<S> {
    /// The newest version of the same table or branch.
    pub(crate) async fn newest(&self) -> Result<Self> {
        let main = self.refs_root();
        let at = self.branch().map_or(At::Latest, |branch| At::Branch(branch.to_owned()));
        Self { main, ..self.clone() }.checkout(&at).await
    }

    fn schema_before(&self) -> SchemaBefore<'_> {
        let snapshot = &self.reads.snapshot;
        SchemaBefore { fields: &snapshot.manifest.fields, nodes: &snapshot.schema.nodes }
    }

    /// A change that is based on the open version.
    pub(crate) fn pending(&self, operation: Operation) -> Pending {
        Pending::new(self.transaction(operation))
    }

    /// The first id of a new field.
    fn next_field_id(&self) -> Result<i32> {
        self.checked(fields::next_field_id(self.manifest()))
    }

    /// Commits another schema over the same files.
    pub(crate) async fn change_schema(
        &self,
        change: &(dyn Fn(SchemaBefore<'_>) -> Result<Vec<Field>> + Sync),
        preserves_nullability: bool,
        options: &TableWriteOptions,
    ) -> Result<Self> {
        let mut at = self.newest().await?;
        for run in 1.. {
            let fields = change(at.schema_before())?;
            let project = Project { fields, preserves_nullability, ..Project::default() };
            match at.commit(at.pending(Operation::Project(project)), options).await {
                Err(error) if can_run_again(&error) && run < MAX_RUNS => at = at.newest().await?,
                done => return done,
            }
        }
        Ok(at)
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
        let restored = Arc::new(self.version_file(self.version_name()?).await?);
        let newest = self.newest().await?;
        let restore = Restore { version, ..Restore::default() };
        let mut pending = newest.pending(Operation::Restore(restore));
        pending.given.restored = Some(restored);
        newest.commit(pending, options).await
    }
}

/// Columns with values.
impl<S: Storage> Opened<S> {
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
        let mut at = self.newest().await?;
        for run in 1.. {
            let added = fields_of(new, at.storage_version(options)?, at.next_field_id()?)?;
            let fields = at.schema_before().with_added(added)?;
            let merge = at.merge(at.manifest().fragments.clone(), fields);
            match at.commit(at.pending(merge), options).await {
                Err(error) if can_run_again(&error) && run < MAX_RUNS => at = at.newest().await?,
                done => return done,
            }
        }
        Ok(at)
    }

    fn merge(&self, fragments: Vec<Fragment>, fields: Vec<Field>) -> Operation {
        let schema_metadata = self.manifest().schema_metadata.clone();
        Operation::Merge(Merge {
            fragments,
            fields,
            schema_metadata,
            preserves_nullability: true,
            ..Merge::default()
        })
    }

    /// Adds columns whose values are made from others.
    pub(crate) async fn add_columns(
        &self,
        new: SchemaRef,
        from: TableColumns,
        values: Values<'_>,
        runs: Runs,
        options: &TableWriteOptions,
    ) -> Result<Self> {
        let mut at = if runs == Runs::One { self.clone() } else { self.newest().await? };
        for run in 1.. {
            let added = fields_of(&new, at.storage_version(options)?, at.next_field_id()?)?;
            let fields = at.schema_before().with_added(added.clone())?;
            let written = at.write_columns(&new, &added, from.clone(), values, options).await?;
            match at.commit_columns(written, fields, options).await {
                Err(error) if can_run_again(&error) && runs == Runs::Many && run < MAX_RUNS => {
                    at = at.newest().await?;
                }
                done => return done,
            }
        }
        Ok(at)
    }

    /// Gives a column another type; `convert` makes the new values of the old ones.
    pub(crate) async fn retype_column(
        &self,
        name: &str,
        to: &DataType,
        convert: &mut (dyn FnMut(&ArrayRef) -> Result<ArrayRef> + Send),
        options: &TableWriteOptions,
    ) -> Result<Self> {
        let mut at = self.newest().await?;
        for run in 1.. {
            let node = at.schema_before().column(name)?;
            if matches!(node.kind, Kind::Blob | Kind::BlobV2) {
                return Err(Error::invalid(format!(
                    "`{name}` is a blob column, which has one type"
                )));
            }
            let field = node.field.as_ref().clone().with_data_type(to.clone());
            let new = Arc::new(Schema::new(vec![field]));
            let mut added = fields_of(&new, at.storage_version(options)?, at.next_field_id()?)?;
            let old = at.manifest().fields.iter().find(|field| field.id == node.id);
            if let (Some(added), Some(old)) = (added.first_mut(), old) {
                // Keys of the table and the like belong to the column, not to its type.
                added.unknown.clone_from(&old.unknown);
            }
            let fields = at.schema_before().replaced(name, &added)?;
            let mut values = |batch: &RecordBatch| {
                let array = batch.columns().first().ok_or_else(|| no_column(name))?;
                Ok(RecordBatch::try_new(new.clone(), vec![convert(array)?])?)
            };
            let written =
                at.write_columns(&new, &added, [name].into(), &mut values, options).await?;
            match at.commit_columns(written, fields, options).await {
                Err(error) if can_run_again(&error) && run < MAX_RUNS => at = at.newest().await?,
                done => return done,
            }
        }
        Ok(at)
    }

    /// Commits fragments with more files; if that fails, the files go.
    async fn commit_columns(
        &self,
        written: Vec<Fragment>,
        fields: Vec<Field>,
        options: &TableWriteOptions,
    ) -> Result<Self> {
        let merge = self.merge(written.clone(), fields);
        let done = self.commit(self.pending(merge), options).await;
        if done.as_ref().is_err_and(is_certain) {
            let before = &self.manifest().fragments;
            for (after, before) in written.iter().zip(before) {
                let new = after.files.get(before.files.len()..).unwrap_or_default();
                for file in new {
                    self.remove_data_file(file).await;
                }
            }
        }
        done
    }

    /// Removes a data file that no version names. What stays is found by a cleanup.
    async fn remove_data_file(&self, file: &DataFile) {
        let _ = self.storage().delete(&self.root.join(DATA_DIR).join(&file.path)).await;
    }

    /// The fragments, each with one more data file for the new columns.
    async fn write_columns(
        &self,
        new: &SchemaRef,
        added: &[Field],
        from: TableColumns,
        values: Values<'_>,
        options: &TableWriteOptions,
    ) -> Result<Vec<Fragment>> {
        let schema = Arc::new(FileSchema::new(added, self.storage_version(options)?)?);
        let mut fragments = self.manifest().fragments.clone();
        let mut rows = LiveRows::new(self, from, None::<[u32; 0]>).await?;
        let mut progress = WriteProgress::default();
        while let Some(place) = rows.next_fragment().await? {
            let deletions = self.reads.deletions(place).await?;
            let physical_rows = self.reads.physical_rows(place).await?;
            let mut expansion = Expansion::new(deletions, physical_rows);
            let mut file =
                NewDataFile::create(self.storage(), &self.root, schema.clone(), options).await?;
            while let Some(batch) = rows.next_batch().await? {
                options.check_cancelled()?;
                let made = checked(values(&batch)?, new, batch.num_rows())?;
                progress.rows = progress.rows.saturating_add(made.num_rows() as u64);
                for part in expansion.next(made).batches() {
                    file.write(&part?).await?;
                }
                options.tell(progress);
            }
            let file = file.finish().await?;
            progress.files = progress.files.saturating_add(1);
            progress.bytes = progress.bytes.saturating_add(file.size_bytes.unwrap_or(0));
            if let Some(fragment) = fragments.get_mut(place) {
                fragment.physical_rows = Some(physical_rows);
                fragment.files.push(file);
            }
        }
        options.tell(progress);
        Ok(fragments)
    }
}

fn no_column(name: &str) -> Error {
    Error::invalid(format!("column `{name}` was not read"))
}

/// Values must be as many as the rows they were made from, of the types that were announced.
fn checked(values: RecordBatch, new: &SchemaRef, num_rows: usize) -> Result<RecordBatch> {
    if values.num_rows() != num_rows {
        let found = values.num_rows();
        return Err(Error::invalid(format!(
            "{found} values of new columns were given for {num_rows} rows"
        )));
    }
    let arrays = new.fields().iter().map(|field| {
        let name = field.name();
        let array = values.column_by_name(name);
        let array =
            array.ok_or_else(|| Error::invalid(format!("no values for `{name}` were given")))?;
        if !array.data_type().equals_datatype(field.data_type()) {
            let (found, wanted) = (array.data_type(), field.data_type());
            return Err(Error::invalid(format!(
                "the values of `{name}` are {found}, not {wanted}"
            )));
        }
        if !field.is_nullable() && array.logical_null_count() > 0 {
            let what = format!("column `{name}` is never null, but some of its values are");
            return Err(Error::Invalid(what));
        }
        Ok(array.clone())
    });
    let arrays = arrays.collect::<Result<Vec<_>>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(num_rows));
    Ok(RecordBatch::try_new_with_options(new.clone(), arrays, &options)?)
}
