//! The verbs that change the columns, the files and the names of a table on disk.

use std::path::Path;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchReader};
use arrow_schema::{DataType, Field as ArrowField, Schema, SchemaRef};

use crate::add_columns::Runs;
use crate::cleanup::Cleanup;
use crate::cleanup_plan::CleanupOptions;
use crate::columns::TableColumns;
use crate::compact::Compaction;
use crate::compact_plan::CompactOptions;
use crate::error::{Error, Result};
use crate::new_values::{Aligned, Constant, Made};
use crate::options::At;
use crate::row_source::Given;
use crate::storage::{Put, Storage, ready};
use crate::table::Table;
use crate::write_options::TableWriteOptions;

/// Columns. Each verb makes a new version and moves the table there; old versions keep the columns they had. Nested fields
/// are named with dots.
impl Table {
    /// Adds columns that are null in all rows. No file is written: only the schema changes.
    pub fn add_null_columns(&mut self, new: &Schema, options: &TableWriteOptions) -> Result<()> {
        self.at = ready(self.at.add_null_columns(new, options))?;
        Ok(())
    }

    /// Adds columns whose values are made from others: `values` gets the columns `from` of some rows, and gives the new
    /// columns for them. Rows come in their order; if other writers change the table meanwhile, from the beginning.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// use lancet::arrow::array::cast::AsArray;
    /// use lancet::arrow::array::{Int64Array, RecordBatch};
    /// # use lancet::arrow::array::RecordBatchIterator;
    /// use lancet::arrow::schema::{DataType, Field, Schema};
    /// use lancet_table::{Table, TableWriteOptions};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let folder = tempfile::tempdir()?;
    /// # let array = Int64Array::from_iter_values(0..100);
    /// # let batch = RecordBatch::try_from_iter([("n", Arc::new(array) as _)])?;
    /// # let rows = RecordBatchIterator::new([Ok(batch.clone())], batch.schema());
    /// # let mut table = Table::create(folder.path().join("numbers.lance"), rows)?;
    /// let squares = Arc::new(Schema::new(vec![Field::new("square", DataType::Int64, true)]));
    /// let options = TableWriteOptions::default();
    /// table.add_columns(squares.clone(), ["n"], |rows| {
    ///     let numbers = rows["n"].as_primitive::<lancet::arrow::array::types::Int64Type>();
    ///     let array: Int64Array = numbers.iter().map(|n| n.map(|n| n * n)).collect();
    ///     Ok(RecordBatch::try_new(squares.clone(), vec![Arc::new(array)])?)
    /// }, &options)?;
    /// assert_eq!(table.take(&[7], ["square"])?["square"].as_ref(), &Int64Array::from(vec![49]));
    /// # Ok(())
    /// # }
    /// ```
    pub fn add_columns(
        &mut self,
        new: SchemaRef,
        from: impl Into<TableColumns>,
        values: impl FnMut(&RecordBatch) -> Result<RecordBatch>,
        options: &TableWriteOptions,
    ) -> Result<()> {
        let (from, values) = (from.into(), Made(values));
        self.at = ready(self.at.add_columns(new, from, values, Runs::Many, options))?;
        Ok(())
    }

    /// Adds a column with the same value in all rows: that of an array of one value.
    pub fn add_constant_column(
        &mut self,
        field: ArrowField,
        value: ArrayRef,
        options: &TableWriteOptions,
    ) -> Result<()> {
        let constant = constant(field, value)?;
        let (new, none) = (constant.schema.clone(), TableColumns::Names(Vec::new()));
        self.at = ready(self.at.add_columns(new, none, constant, Runs::Many, options))?;
        Ok(())
    }

    /// Adds columns with values for the rows of this version, one for each, in the order of a scan. If other writers
    /// change the rows meanwhile this fails: the values would be those of others.
    pub fn add_column_values(
        &mut self,
        values: impl RecordBatchReader,
        options: &TableWriteOptions,
    ) -> Result<()> {
        let (new, none) = (values.schema(), TableColumns::Names(Vec::new()));
        let values = Aligned { source: Given(values), rest: None };
        self.at = ready(self.at.add_columns(new, none, values, Runs::One, options))?;
        Ok(())
    }

    /// Drops columns, or fields of structs. Their values stay in the files until these are compacted.
    pub fn drop_columns<N: AsRef<str> + Sync>(
        &mut self,
        names: &[N],
        options: &TableWriteOptions,
    ) -> Result<()> {
        self.at = ready(self.at.change_schema(&|before| before.without(names), true, options))?;
        Ok(())
    }

    /// Gives a column, or a field of a struct, another name.
    pub fn rename_column(
        &mut self,
        name: &str,
        to: &str,
        options: &TableWriteOptions,
    ) -> Result<()> {
        self.at = ready(self.at.change_schema(&|before| before.renamed(name, to), true, options))?;
        Ok(())
    }

    /// Puts these columns first, in this order; the others follow in the order they have.
    pub fn reorder_columns<N: AsRef<str> + Sync>(
        &mut self,
        names: &[N],
        options: &TableWriteOptions,
    ) -> Result<()> {
        self.at = ready(self.at.change_schema(&|before| before.reordered(names), true, options))?;
        Ok(())
    }

    /// Lets a field have nulls, or forbids them to a column. All values of the column are looked at before they are
    /// forbidden.
    pub fn set_nullable(
        &mut self,
        name: &str,
        nullable: bool,
        options: &TableWriteOptions,
    ) -> Result<()> {
        self.at = if nullable {
            let change =
                |before: crate::schema_change::SchemaBefore<'_>| before.with_nullable(name, true);
            ready(self.at.change_schema(&change, true, options))?
        } else {
            ready(self.at.forbid_nulls(name, options))?
        };
        Ok(())
    }

    /// Gives a column another type: `convert` makes the new values of the old ones, batch by batch.
    pub fn retype_column(
        &mut self,
        name: &str,
        to: &DataType,
        convert: impl FnMut(&ArrayRef) -> Result<ArrayRef>,
        options: &TableWriteOptions,
    ) -> Result<()> {
        self.at = ready(self.at.retype_column(name, to, convert, options))?;
        Ok(())
    }
}

/// Files and versions.
impl Table {
    /// Joins small fragments and writes those again that hold many deleted rows. Rows keep their ids where these are
    /// stable, and their order within what was joined; joined rows move behind the others.
    ///
    /// Old versions keep the old files until a [cleanup](Table::cleanup). Indexes cover fewer rows afterwards:
    /// [`Compaction::indexes`] says which to build again.
    pub fn compact(
        &mut self,
        plan: &CompactOptions,
        options: &TableWriteOptions,
    ) -> Result<Compaction> {
        let (at, report) = ready(self.at.compact(plan, options))?;
        self.at = at;
        Ok(report)
    }

    /// Makes the open version the newest one again. What came since stays in the history.
    ///
    /// ```no_run
    /// use lancet_table::{At, Table, TableWriteOptions};
    ///
    /// # fn main() -> lancet_table::Result<()> {
    /// let mut before = Table::open("cities.lance")?.checkout(At::Version(3))?;
    /// before.restore(&TableWriteOptions::default())?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn restore(&mut self, options: &TableWriteOptions) -> Result<()> {
        self.at = ready(self.at.restore(options))?;
        Ok(())
    }

    /// Removes old versions and the files that only they need: never what the newest version, a tag, a branch or a version
    /// younger than the limit needs, and no file that may belong to a commit under way.
    ///
    /// Cleans up the table, or the branch that is open. Shallow clones in other places are not known to their source: do
    /// not clean up what they were made from.
    ///
    /// ```no_run
    /// use lancet_table::{CleanupOptions, Table};
    ///
    /// # fn main() -> lancet_table::Result<()> {
    /// let table = Table::open("cities.lance")?;
    /// let found = table.cleanup(&CleanupOptions::default().with_dry_run(true))?;
    /// println!("{} versions, {} bytes", found.versions.len(), found.bytes);
    /// # Ok(())
    /// # }
    /// ```
    pub fn cleanup(&self, options: &CleanupOptions) -> Result<Cleanup> {
        ready(self.at.cleanup(options))
    }
}

/// Names of versions, branches, clones.
impl Table {
    /// Names the open version. A version with a tag is not cleaned up.
    pub fn create_tag(&self, name: &str) -> Result<()> {
        ready(self.at.create_tag(name))
    }

    /// Moves a tag to the open version.
    pub fn move_tag(&self, name: &str) -> Result<()> {
        ready(self.at.move_tag(name))
    }

    /// Removes a tag. The version it named stays.
    pub fn delete_tag(&self, name: &str) -> Result<()> {
        ready(self.at.delete_tag(name))
    }

    /// Begins a branch at the open version: a table of its own that shares the files so far. Gives the branch.
    pub fn create_branch(&self, name: &str) -> Result<Self> {
        Ok(Self { at: ready(self.at.create_branch(name))? })
    }

    /// Removes a branch with all its versions and files. Refused while a tag names one of its versions, or another branch
    /// was made from it.
    pub fn delete_branch(&self, name: &str) -> Result<()> {
        ready(self.at.delete_branch(name))
    }

    /// Makes a table in another folder that begins with the open version and shares its files, without copying them. The
    /// clone says where these are by an absolute path, and needs them there.
    pub fn shallow_clone(&self, folder: impl AsRef<Path>) -> Result<Self> {
        let folder = folder.as_ref();
        if ready(self.at.put_clone(folder, None))? == Put::Taken {
            return Err(already_there(&folder.display().to_string()));
        }
        let source = self.at.storage().recorded(&self.at.root)?;
        let options = self.at.options.clone().with_version(At::Latest).with_base(source);
        Self::open_with(folder, options)
    }
}

pub(crate) fn already_there(place: &str) -> Error {
    Error::invalid(format!("{place}: there is a table already; choose another place"))
}

/// The column with one value.
pub(crate) fn constant(field: ArrowField, value: ArrayRef) -> Result<Constant> {
    if value.len() != 1 {
        let found = value.len();
        return Err(Error::invalid(format!(
            "a constant column needs an array of one value, not of {found}"
        )));
    }
    Ok(Constant { schema: Arc::new(Schema::new(vec![field])), value })
}
