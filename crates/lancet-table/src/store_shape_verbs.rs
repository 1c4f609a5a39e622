//! The verbs that change the columns, the files and the names of a table in an object store: those of
//! [`Table`](crate::Table), async.

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field as ArrowField, Schema, SchemaRef};
use futures::Stream;
use lancet_object_store::object_store::path::Path;

use crate::add_columns::Runs;
use crate::cleanup::Cleanup;
use crate::cleanup_plan::CleanupOptions;
use crate::columns::TableColumns;
use crate::compact::Compaction;
use crate::compact_plan::CompactOptions;
use crate::error::{Error, Result};
use crate::new_values::{Aligned, Made};
use crate::options::At;
use crate::row_source::RowSource;
use crate::schema_change::SchemaBefore;
use crate::shape_verbs::{already_there, constant};
use crate::storage::{Put, Storage};
use crate::store_table::StoreTable;
use crate::store_verbs::RowStream;
use crate::write_options::TableWriteOptions;

/// Columns; see [`Table`](crate::Table).
impl StoreTable {
    /// See [`Table::add_null_columns`](crate::Table::add_null_columns).
    pub async fn add_null_columns(
        &mut self,
        new: &Schema,
        options: &TableWriteOptions,
    ) -> Result<()> {
        self.at = self.at.add_null_columns(new, options).await?;
        Ok(())
    }

    /// See [`Table::add_columns`](crate::Table::add_columns).
    pub async fn add_columns(
        &mut self,
        new: SchemaRef,
        from: impl Into<TableColumns>,
        values: impl FnMut(&RecordBatch) -> Result<RecordBatch>,
        options: &TableWriteOptions,
    ) -> Result<()> {
        let (from, values) = (from.into(), Made(values));
        self.at = self.at.add_columns(new, from, values, Runs::Many, options).await?;
        Ok(())
    }

    /// See [`Table::add_constant_column`](crate::Table::add_constant_column).
    pub async fn add_constant_column(
        &mut self,
        field: ArrowField,
        value: ArrayRef,
        options: &TableWriteOptions,
    ) -> Result<()> {
        let constant = constant(field, value)?;
        let (new, none) = (constant.schema.clone(), TableColumns::Names(Vec::new()));
        self.at = self.at.add_columns(new, none, constant, Runs::Many, options).await?;
        Ok(())
    }

    /// See [`Table::add_column_values`](crate::Table::add_column_values).
    pub async fn add_column_values<St, E>(
        &mut self,
        values: RowStream<St>,
        options: &TableWriteOptions,
    ) -> Result<()>
    where
        St: Stream<Item = Result<RecordBatch, E>>,
        E: Into<Error>,
    {
        let source = values.into_source();
        let (new, none) = (source.schema(), TableColumns::Names(Vec::new()));
        let values = Aligned { source, rest: None };
        self.at = self.at.add_columns(new, none, values, Runs::One, options).await?;
        Ok(())
    }

    /// See [`Table::drop_columns`](crate::Table::drop_columns).
    pub async fn drop_columns<N: AsRef<str> + Sync>(
        &mut self,
        names: &[N],
        options: &TableWriteOptions,
    ) -> Result<()> {
        let change = |before: SchemaBefore<'_>| before.without(names);
        self.at = self.at.change_schema(&change, true, options).await?;
        Ok(())
    }

    /// See [`Table::rename_column`](crate::Table::rename_column).
    pub async fn rename_column(
        &mut self,
        name: &str,
        to: &str,
        options: &TableWriteOptions,
    ) -> Result<()> {
        let change = |before: SchemaBefore<'_>| before.renamed(name, to);
        self.at = self.at.change_schema(&change, true, options).await?;
        Ok(())
    }

    /// See [`Table::reorder_columns`](crate::Table::reorder_columns).
    pub async fn reorder_columns<N: AsRef<str> + Sync>(
        &mut self,
        names: &[N],
        options: &TableWriteOptions,
    ) -> Result<()> {
        let change = |before: SchemaBefore<'_>| before.reordered(names);
        self.at = self.at.change_schema(&change, true, options).await?;
        Ok(())
    }

    /// See [`Table::set_nullable`](crate::Table::set_nullable).
    pub async fn set_nullable(
        &mut self,
        name: &str,
        nullable: bool,
        options: &TableWriteOptions,
    ) -> Result<()> {
        let change = |before: SchemaBefore<'_>| before.with_nullable(name, true);
        self.at = match nullable {
            true => self.at.change_schema(&change, true, options).await?,
            false => self.at.forbid_nulls(name, options).await?,
        };
        Ok(())
    }

    /// See [`Table::retype_column`](crate::Table::retype_column).
    pub async fn retype_column(
        &mut self,
        name: &str,
        to: &DataType,
        convert: impl FnMut(&ArrayRef) -> Result<ArrayRef>,
        options: &TableWriteOptions,
    ) -> Result<()> {
        self.at = self.at.retype_column(name, to, convert, options).await?;
        Ok(())
    }
}

/// Files, versions, names; see [`Table`](crate::Table).
impl StoreTable {
    /// See [`Table::compact`](crate::Table::compact).
    pub async fn compact(
        &mut self,
        plan: &CompactOptions,
        options: &TableWriteOptions,
    ) -> Result<Compaction> {
        let (at, report) = self.at.compact(plan, options).await?;
        self.at = at;
        Ok(report)
    }

    /// See [`Table::restore`](crate::Table::restore).
    pub async fn restore(&mut self, options: &TableWriteOptions) -> Result<()> {
        self.at = self.at.restore(options).await?;
        Ok(())
    }

    /// See [`Table::cleanup`](crate::Table::cleanup).
    pub async fn cleanup(&self, options: &CleanupOptions) -> Result<Cleanup> {
        self.at.cleanup(options).await
    }

    /// See [`Table::create_tag`](crate::Table::create_tag).
    pub async fn create_tag(&self, name: &str) -> Result<()> {
        self.at.create_tag(name).await
    }

    /// See [`Table::move_tag`](crate::Table::move_tag).
    pub async fn move_tag(&self, name: &str) -> Result<()> {
        self.at.move_tag(name).await
    }

    /// See [`Table::delete_tag`](crate::Table::delete_tag).
    pub async fn delete_tag(&self, name: &str) -> Result<()> {
        self.at.delete_tag(name).await
    }

    /// See [`Table::create_branch`](crate::Table::create_branch).
    pub async fn create_branch(&self, name: &str) -> Result<Self> {
        Ok(Self { at: self.at.create_branch(name).await? })
    }

    /// See [`Table::delete_branch`](crate::Table::delete_branch).
    pub async fn delete_branch(&self, name: &str) -> Result<()> {
        self.at.delete_branch(name).await
    }

    /// Makes a table at another path of the same store; see [`Table::shallow_clone`](crate::Table::shallow_clone).
    pub async fn shallow_clone(&self, path: Path) -> Result<Self> {
        let folder = std::path::PathBuf::from(path.as_ref());
        if self.at.put_clone(&folder, None).await? == Put::Taken {
            return Err(already_there(path.as_ref()));
        }
        let (storage, options) = (self.at.storage().clone(), self.at.options.clone());
        let source = storage.recorded(&self.at.root)?;
        let options = options.with_version(At::Latest).with_base(source);
        let at = crate::opening::Opened::open(storage, folder, options).await?;
        Ok(Self { at })
    }
}
