//! Columns with values: added, or given another type.
//!
//! The values go into one more data file for each fragment; the files that are there stay as they are.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Schema, SchemaRef};

use crate::alter::Tries;
use crate::columns::TableColumns;
use crate::data_file::DataFile;
use crate::data_writer::{NewDataFile, remove_file};
use crate::error::{Error, Result};
use crate::expand::Expansion;
use crate::fields::Field;
use crate::file_schema::{FileSchema, fields_of};
use crate::fragment::{self, Fragment};
use crate::live_rows::LiveRows;
use crate::new_values::{Made, NewValues, checked};
use crate::opening::Opened;
use crate::schema::Kind;
use crate::storage::{Storage, Unsynced};
use crate::write::unless_lost;
use crate::write_options::{TableWriteOptions, WriteProgress};

/// Whether the work may be done again on a newer version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Runs {
    /// The values are made from the rows, whatever they are by then.
    Many,
    /// The values are for the rows of the open version and for no others.
    One,
}

/// The data file that each fragment gets, by the places of the fragments.
type NewFiles = Vec<(usize, DataFile)>;

impl<S: Storage> Opened<S> {
    /// Adds columns. `from` are the columns that their values are made from.
    pub(crate) async fn add_columns(
        &self,
        new: SchemaRef,
        from: TableColumns,
        mut values: impl NewValues,
        runs: Runs,
        options: &TableWriteOptions,
    ) -> Result<Self> {
        let mut at = if runs == Runs::One { self.clone() } else { self.newest().await? };
        let mut tries = Tries::default();
        loop {
            let added = fields_of(&new, at.storage_version(options)?, at.next_field_id()?)?;
            let fields = at.schema_before().with_added(added.clone())?;
            let from = from.clone();
            let files = at.write_columns(&new, &added, from, &mut values, options).await?;
            match at.commit_columns(files, fields, options).await {
                Err(error) if runs == Runs::Many && tries.again_after(&error) => {
                    at = at.newest().await?;
                }
                done => return done,
            }
        }
    }

    /// Gives a column another type; `convert` makes the new values of the old ones.
    pub(crate) async fn retype_column(
        &self,
        name: &str,
        to: &DataType,
        mut convert: impl FnMut(&ArrayRef) -> Result<ArrayRef>,
        options: &TableWriteOptions,
    ) -> Result<Self> {
        let (mut at, mut tries) = (self.newest().await?, Tries::default());
        loop {
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
            let mut values = Made(|rows: &RecordBatch| {
                let old = rows.columns().first();
                let old = old.ok_or_else(|| Error::invalid(format!("`{name}` was not read")))?;
                Ok(RecordBatch::try_new(new.clone(), vec![convert(old)?])?)
            });
            let from = TableColumns::from([name]);
            let files = at.write_columns(&new, &added, from, &mut values, options).await?;
            match at.commit_columns(files, fields, options).await {
                Err(error) if tries.again_after(&error) => at = at.newest().await?,
                done => return done,
            }
        }
    }

    /// Commits fragments with more files; if that fails, the files go.
    async fn commit_columns(
        &self,
        files: NewFiles,
        fields: Vec<Field>,
        options: &TableWriteOptions,
    ) -> Result<Self> {
        let committed = async {
            let mut fragments = fragment::owned(&self.manifest().fragments);
            for (place, file) in &files {
                if let Some(fragment) = fragments.get_mut(*place) {
                    // Tables of the oldest writers do not tell it.
                    fragment.physical_rows = Some(self.reads.physical_rows(*place).await?);
                    fragment.files.push(file.clone());
                }
            }
            let merge = self.merge(fragments, fields);
            self.commit(self.pending(merge), options).await
        };
        let committed = committed.await;
        let alone = files.iter().map(|(_, file)| Fragment::new(file.clone(), 0));
        unless_lost(self.storage(), &self.root, &alone.collect::<Vec<_>>(), committed).await
    }

    /// Writes a data file with the new columns for each fragment. On an error there are none.
    async fn write_columns(
        &self,
        new: &SchemaRef,
        added: &[Field],
        from: TableColumns,
        values: &mut impl NewValues,
        options: &TableWriteOptions,
    ) -> Result<NewFiles> {
        let schema = Arc::new(FileSchema::new(added, self.storage_version(options)?)?);
        let (mut files, mut begun) = (NewFiles::new(), Vec::new());
        let written = async {
            let mut progress = WriteProgress::default();
            let mut rows = LiveRows::new(self, from, None::<[u32; 0]>).await?;
            while let Some(place) = rows.next_fragment().await? {
                let (deletions, physical_rows) =
                    (self.reads.deletions(place).await?, self.reads.physical_rows(place).await?);
                let mut expansion = Expansion::new(deletions, physical_rows);
                let (storage, schema) = (self.storage(), schema.clone());
                let mut file =
                    NewDataFile::create(storage, &self.root, schema.clone(), options).await?;
                begun.push(file.path.clone());
                while let Some(batch) = rows.next_batch().await? {
                    options.check_cancelled()?;
                    let made = checked(&values.of(&batch).await?, new, batch.num_rows())?;
                    progress.rows = progress.rows.saturating_add(made.num_rows() as u64);
                    for part in expansion.next(schema.conform(&made)?).batches() {
                        file.write(&part?).await?;
                    }
                    options.tell(progress);
                }
                let mut unsynced = Unsynced::default();
                let file = file.finish(&mut unsynced).await?;
                self.storage().sync(&mut unsynced).await?;
                progress.files = progress.files.saturating_add(1);
                progress.bytes = progress.bytes.saturating_add(file.size_bytes.unwrap_or(0));
                files.push((place, file));
            }
            options.tell(progress);
            values.finish().await
        };
        match written.await {
            Ok(()) => Ok(files),
            Err(error) => {
                for path in &begun {
                    remove_file(self.storage(), path).await;
                }
                Err(error)
            }
        }
    }
}
