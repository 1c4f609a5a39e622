//! Rows that are deleted or get other values.
//!
//! A row is never changed where it lies: it is marked as deleted, and its new version is written behind the others. Both happen
//! in one transaction. With stable row ids the row keeps its id and the version it was made in.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{Array, RecordBatch, RecordBatchOptions, UInt64Array, new_null_array};
use arrow_schema::{Schema, SchemaRef};
use lancet::Rows;
use lancet_row_ids::{RowIdSequence, RowVersionSequence};

use crate::chosen_rows::{TableRows, offsets_of};
use crate::columns::{CREATED_AT_VERSION, ROW_ADDRESS, ROW_ID, TableProjection};
use crate::data_writer::FragmentWriter;
use crate::error::{Error, Problem, Result};
use crate::file_schema::FileSchema;
use crate::fragment::Fragment;
use crate::live_rows::{BLOB_BYTES, is_too_large};
use crate::opening::Opened;
use crate::read::Reads;
use crate::rebase::Pending;
use crate::row_ids::Stored;
use crate::row_source::{Nothing, RowSource};
use crate::storage::{Storage, Unsynced};
use crate::take::{Wanted, grouped, in_order};
use crate::transaction::{Delete, Operation, Update};
use crate::write::{TableChange, unless_lost};
use crate::write_options::TableWriteOptions;

/// Which rows get new values.
enum Targets {
    /// These, in the order of the values.
    Listed(Vec<Wanted>),
    /// Those whose addresses stand beside the values; rows without one are new.
    Addressed {
        /// Rows that go.
        deleted: Vec<Wanted>,
    },
}

/// The rows of an update, when they are written.
struct Moved {
    /// In the order of their new values.
    updated: Vec<Wanted>,
    deleted: Vec<Wanted>,
    inserted: u64,
}

impl Targets {
    /// The columns that get values.
    fn columns(&self, given: &SchemaRef) -> Result<SchemaRef> {
        if let Self::Listed(_) = self {
            return Ok(given.clone());
        }
        if given.column_with_name(ROW_ADDRESS).is_none() {
            return Err(Error::invalid(format!(
                "the values have no column `{ROW_ADDRESS}`, which says whose they are"
            )));
        }
        let fields = given.fields().iter().filter(|field| field.name() != ROW_ADDRESS).cloned();
        Ok(Arc::new(Schema::new(fields.collect::<Vec<_>>())))
    }
}

impl<S: Storage> Opened<S> {
    /// Deletes rows.
    pub(crate) async fn delete(
        &self,
        rows: &TableRows,
        predicate: &str,
        options: &TableWriteOptions,
    ) -> Result<(Self, TableChange)> {
        self.storage_version(options)?;
        let removal = self.removal(self.find_offsets(rows).await?).await?;
        let mut change = TableChange { rows_deleted: removal.num_rows, ..TableChange::default() };
        if removal.num_rows == 0 {
            change.version = self.manifest().version;
            return Ok((self.clone(), change));
        }
        let delete = Delete {
            updated: removal.updated,
            deleted: removal.gone,
            predicate: predicate.to_owned(),
            ..Delete::default()
        };
        let mut pending = Pending::new(self.transaction(Operation::Delete(delete)));
        (pending.removed, pending.files) = (removal.removed, removal.files);
        let opened = self.commit(pending, options).await?;
        change.version = opened.manifest().version;
        Ok((opened, change))
    }

    /// Gives rows other values, and adds others. `updates` has a row for each of `rows`, in their order; `inserts` are new.
    pub(crate) async fn update(
        &self,
        rows: &TableRows,
        updates: impl RowSource,
        inserts: impl RowSource,
        options: &TableWriteOptions,
    ) -> Result<(Self, TableChange)> {
        let wanted = self.find_rows(rows).await?;
        check_distinct(&wanted)?;
        self.update_targets(Targets::Listed(wanted), updates, inserts, options).await
    }

    /// The same for rows that the values name: these have a column with the addresses of their rows. Those without an
    /// address are new, and come last. Rows of `deleted` go, by their addresses.
    pub(crate) async fn merge_by_address(
        &self,
        rows: impl RowSource,
        deleted: &[u64],
        options: &TableWriteOptions,
    ) -> Result<(Self, TableChange)> {
        let deleted = self.reads.rows_by_address(deleted).await?;
        let nothing = Nothing(self.reads.snapshot.schema.arrow.clone());
        self.update_targets(Targets::Addressed { deleted }, rows, nothing, options).await
    }

    async fn update_targets(
        &self,
        targets: Targets,
        updates: impl RowSource,
        inserts: impl RowSource,
        options: &TableWriteOptions,
    ) -> Result<(Self, TableChange)> {
        let version = self.storage_version(options)?;
        let schema = &self.reads.snapshot.schema;
        let file_schema = Arc::new(FileSchema::of_nodes(&schema.nodes, version)?);
        // Both are looked at before anything is written.
        let given = targets.columns(&updates.schema())?;
        let changed = FileSchema::of_some_rows(schema, &given, version)?;
        FileSchema::of_rows(schema, &inserts.schema(), version)?;
        let mut writer =
            FragmentWriter::new(self.storage(), &self.root, file_schema.clone(), options);
        let written = async {
            let mut moved = self.write_updates(targets, updates, &file_schema, &mut writer).await?;
            let inserted = write_inserts(inserts, &file_schema, &mut writer).await?;
            moved.inserted = moved.inserted.saturating_add(inserted);
            Ok::<_, Error>((writer.finish().await?, moved))
        };
        let ((mut new, unsynced), moved) = match written.await {
            Ok(written) => written,
            Err(error) => {
                writer.give_up().await;
                return Err(error);
            }
        };
        let change = TableChange {
            version: self.manifest().version,
            rows_inserted: moved.inserted,
            rows_updated: moved.updated.len() as u64,
            rows_deleted: moved.deleted.len() as u64,
        };
        if new.is_empty() && moved.deleted.is_empty() {
            return Ok((self.clone(), change));
        }
        let committed = self
            .commit_update(&moved, (new.as_mut_slice(), unsynced), &changed.fields, options)
            .await;
        let opened = unless_lost(self.storage(), &self.root, &new, committed).await?;
        let version = opened.manifest().version;
        Ok((opened, TableChange { version, ..change }))
    }

    async fn commit_update(
        &self,
        moved: &Moved,
        (new, unsynced): (&mut [Fragment], Unsynced),
        fields: &[i32],
        options: &TableWriteOptions,
    ) -> Result<Self> {
        if self.manifest().has_stable_row_ids() {
            self.carry_ids(&moved.updated, new).await?;
        }
        let removal = self.removal(offsets_of(moved.updated.iter().chain(&moved.deleted))?).await?;
        let update = Update {
            removed: removal.gone,
            updated: removal.updated,
            new: new.to_vec(),
            fields_moved: fields.iter().filter_map(|id| u32::try_from(*id).ok()).collect(),
            ..Update::default()
        };
        let mut pending = Pending::new(self.transaction(Operation::Update(update)));
        (pending.removed, pending.files) = (removal.removed, removal.files);
        self.commit_with(pending, unsynced, options).await
    }

    /// Writes the new versions of rows: columns that are given, and of the others what the rows hold now.
    async fn write_updates(
        &self,
        targets: Targets,
        mut updates: impl RowSource,
        schema: &FileSchema,
        writer: &mut FragmentWriter<'_, S>,
    ) -> Result<Moved> {
        let others = missing_columns(&schema.arrow, &targets.columns(&updates.schema())?);
        let others = TableProjection::named(&self.reads.snapshot.schema, &others)?;
        let (mut wanted, deleted) = match targets {
            Targets::Listed(wanted) => (wanted, None),
            Targets::Addressed { deleted } => (Vec::new(), Some(deleted)),
        };
        let (mut done, mut inserted) = (0_usize, 0_u64);
        while let Some(batch) = updates.next().await {
            let mut batch = batch?;
            if deleted.is_some() {
                let (known, new) = known_and_new(&batch)?;
                if inserted > 0 && known.num_rows() > 0 {
                    return Err(Error::invalid("rows without an address come last"));
                }
                wanted.extend(self.addressed(&known).await?);
                if new.num_rows() > 0 {
                    self.write_known(&known, &wanted, &mut done, &others, schema, writer).await?;
                    inserted = inserted.saturating_add(new.num_rows() as u64);
                    writer.write(&whole_rows(schema, &[&new], new.num_rows())?).await?;
                    continue;
                }
                batch = known;
            }
            self.write_known(&batch, &wanted, &mut done, &others, schema, writer).await?;
        }
        if done < wanted.len() {
            return Err(wrong_number(wanted.len(), "fewer"));
        }
        if let Some(deleted) = &deleted {
            check_distinct(wanted.iter().chain(deleted))?;
        }
        Ok(Moved { updated: wanted, deleted: deleted.unwrap_or_default(), inserted })
    }

    /// Writes new versions of the next of the rows that are wanted.
    async fn write_known(
        &self,
        batch: &RecordBatch,
        wanted: &[Wanted],
        done: &mut usize,
        others: &TableProjection,
        schema: &FileSchema,
        writer: &mut FragmentWriter<'_, S>,
    ) -> Result<()> {
        let end = done.saturating_add(batch.num_rows());
        let Some(these) = wanted.get(*done..end) else {
            return Err(wrong_number(wanted.len(), "more"));
        };
        *done = end;
        // Of no columns nothing has to be read.
        if others.schema().fields().is_empty() {
            return writer.write(&whole_rows(schema, &[batch], batch.num_rows())?).await;
        }
        let limit = self.reads.memory_limit;
        // Last one first. Blobs tell their sizes only when they are looked at, and before they are read.
        let mut parts = vec![0..these.len()];
        while let Some(part) = parts.pop() {
            let rows = these.get(part.clone()).unwrap_or_default();
            let known = match self.take_rows(rows, others, limit.min(BLOB_BYTES)).await {
                Err(error) if is_too_large(&error) && rows.len() > 1 => {
                    let middle = part.start.midpoint(part.end);
                    parts.extend([middle..part.end, part.start..middle]);
                    continue;
                }
                Err(error) if is_too_large(&error) => self.take_rows(rows, others, limit).await?,
                read => read?,
            };
            let given = batch.slice(part.start, rows.len());
            writer.write(&whole_rows(schema, &[&given, &known], rows.len())?).await?;
        }
        Ok(())
    }

    /// The rows whose addresses a batch has.
    async fn addressed(&self, batch: &RecordBatch) -> Result<Vec<Wanted>> {
        let rows = self.reads.rows_by_address(addresses(batch)?.values()).await?;
        if rows.len() != batch.num_rows() {
            let version = self.manifest().version;
            return Err(Error::invalid(format!(
                "`{ROW_ADDRESS}` has an address that is that of no row of version {version}"
            )));
        }
        Ok(rows)
    }

    /// Columns of some rows, in their order. Blobs may have so many bytes.
    async fn take_rows(
        &self,
        wanted: &[Wanted],
        columns: &TableProjection,
        limit: u64,
    ) -> Result<RecordBatch> {
        let (groups, positions) = grouped(wanted);
        let mut batches = Vec::with_capacity(groups.len());
        let mut reads = Reads { memory_limit: limit, ..self.reads.clone() };
        for group in groups {
            let rows = Rows::List(group.offsets);
            let batch = reads.read(group.place, columns, &rows).await?;
            let taken = batch.get_array_memory_size() as u64;
            reads.memory_limit = reads.memory_limit.saturating_sub(taken);
            batches.push(batch);
        }
        in_order(batches, &positions, columns)
    }

    /// Rows that move keep their ids and the versions they were made in. They come first in the new fragments.
    async fn carry_ids(&self, wanted: &[Wanted], new: &mut [Fragment]) -> Result<()> {
        let names = [ROW_ID, CREATED_AT_VERSION];
        let columns = TableProjection::named(&self.reads.snapshot.schema, &names)?;
        let mut left = wanted;
        for fragment in new {
            let rows = fragment.physical_rows.unwrap_or(0);
            let rows = usize::try_from(rows).unwrap_or(usize::MAX).min(left.len());
            let (these, later) = left.split_at_checked(rows).unwrap_or((left, &[]));
            left = later;
            let known = self.take_rows(these, &columns, self.reads.memory_limit).await?;
            let mut numbers = known.columns().iter().filter_map(|array| {
                Some(array.as_primitive_opt::<UInt64Type>()?.values().to_vec())
            });
            let (ids, created) =
                (numbers.next().unwrap_or_default(), numbers.next().unwrap_or_default());
            let ids = RowIdSequence::from_ids(&ids).map_err(Problem::from);
            fragment.row_ids = Some(Stored::Inline(self.checked(ids)?.encode()));
            let created = RowVersionSequence::from_versions(&created);
            fragment.created = Some(Stored::Inline(created.encode()));
        }
        Ok(())
    }
}

fn addresses(batch: &RecordBatch) -> Result<&UInt64Array> {
    let column = batch.column_by_name(ROW_ADDRESS);
    let column = column.and_then(|array| array.as_primitive_opt::<UInt64Type>());
    column.ok_or_else(|| Error::invalid(format!("`{ROW_ADDRESS}` is no column of addresses")))
}

/// The rows of a batch that have an address, and those that have none, which come last.
fn known_and_new(batch: &RecordBatch) -> Result<(RecordBatch, RecordBatch)> {
    let addresses = addresses(batch)?;
    let new = addresses.null_count();
    let known = batch.num_rows().saturating_sub(new);
    if addresses.slice(0, known).null_count() > 0 {
        return Err(Error::invalid("rows without an address come last"));
    }
    Ok((batch.slice(0, known), batch.slice(known, new)))
}

/// Writes rows that are new; columns that they do not have are null.
async fn write_inserts<S: Storage>(
    mut inserts: impl RowSource,
    schema: &FileSchema,
    writer: &mut FragmentWriter<'_, S>,
) -> Result<u64> {
    let mut num_rows = 0_u64;
    while let Some(batch) = inserts.next().await {
        let batch = batch?;
        writer.write(&whole_rows(schema, &[&batch], batch.num_rows())?).await?;
        num_rows = num_rows.saturating_add(batch.num_rows() as u64);
    }
    Ok(num_rows)
}

/// Rows with all columns of the table, out of batches that have some each; those that none has are null.
fn whole_rows(schema: &FileSchema, parts: &[&RecordBatch], num_rows: usize) -> Result<RecordBatch> {
    let mut columns = Vec::with_capacity(schema.arrow.fields().len());
    let mut fields = Vec::with_capacity(schema.arrow.fields().len());
    for field in schema.arrow.fields() {
        let array = parts.iter().find_map(|part| part.column_by_name(field.name())).cloned();
        let array = array.unwrap_or_else(|| new_null_array(field.data_type(), num_rows));
        // What the rows say of their types is for `conform` to judge.
        let given = field.as_ref().clone().with_data_type(array.data_type().clone());
        fields.push(given.with_nullable(true));
        columns.push(array);
    }
    let options = RecordBatchOptions::new().with_row_count(Some(num_rows));
    let given = Arc::new(Schema::new(fields));
    schema.conform(&RecordBatch::try_new_with_options(given, columns, &options)?)
}

fn missing_columns(all: &SchemaRef, given: &SchemaRef) -> Vec<String> {
    let names = all.fields().iter().map(|field| field.name());
    names.filter(|name| given.column_with_name(name).is_none()).cloned().collect()
}

/// A row cannot get two new values.
fn check_distinct<'a>(wanted: impl IntoIterator<Item = &'a Wanted>) -> Result<()> {
    let rows = wanted.into_iter().map(|row| (row.place, row.offset));
    let mut rows: Vec<(usize, u64)> = rows.collect();
    rows.sort_unstable();
    let twice = rows.iter().zip(rows.iter().skip(1)).any(|(one, next)| one == next);
    match twice {
        true => Err(Error::invalid(
            "a row is listed twice: it cannot get two new values; in a merge, several rows of the source match \
             that one row",
        )),
        false => Ok(()),
    }
}

fn wrong_number(rows: usize, what: &str) -> Error {
    Error::invalid(format!("{rows} rows are to get new values, but there are {what} of these"))
}
