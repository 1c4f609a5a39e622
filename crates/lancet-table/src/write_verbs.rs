//! The verbs that change a table on disk.

use std::path::Path;

use arrow_array::RecordBatchReader;

use crate::chosen_rows::TableRows;
use crate::error::Result;
use crate::row_source::{Given, Nothing};
use crate::storage::{Disk, ready};
use crate::table::Table;
use crate::write::{TableChange, create};
use crate::write_options::TableWriteOptions;

/// Changes make new versions. A table that is open moves to the one that it made; its clones stay where they are. Each verb
/// has a twin with options, `_with`.
///
/// Several writers may change a table at the same time: each change is committed as a whole, on top of those that were
/// faster. Where two do not go together, the later one fails with [`Error::Conflict`](crate::Error::Conflict), and nothing
/// of it is there.
impl Table {
    /// Makes a table with these rows in a folder, which may be there and must not hold a table.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use lancet::arrow::array::{Int64Array, RecordBatch, RecordBatchIterator};
    /// use lancet_table::{Table, TableWriteOptions};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let folder = tempfile::tempdir()?;
    /// # let folder = folder.path().join("numbers.lance");
    /// let numbers = |range: std::ops::Range<i64>| {
    ///     let array = Int64Array::from_iter_values(range);
    ///     let batch = RecordBatch::try_from_iter([("n", Arc::new(array) as _)]).unwrap();
    ///     RecordBatchIterator::new([Ok(batch.clone())], batch.schema())
    /// };
    /// let options = TableWriteOptions::default().with_stable_row_ids(true);
    /// let mut table = Table::create_with(&folder, numbers(0..100), &options)?;
    /// table.append(numbers(100..150))?;
    /// assert_eq!((table.version(), table.num_rows()?), (2, 150));
    /// # Ok(())
    /// # }
    /// ```
    pub fn create(folder: impl AsRef<Path>, rows: impl RecordBatchReader) -> Result<Self> {
        Self::create_with(folder, rows, &TableWriteOptions::default())
    }

    /// [`Table::create`] with options.
    pub fn create_with(
        folder: impl AsRef<Path>,
        rows: impl RecordBatchReader,
        options: &TableWriteOptions,
    ) -> Result<Self> {
        let created = create(Disk, folder.as_ref().to_owned(), Given(rows), options);
        let (at, _) = ready(created)?;
        Ok(Self { at })
    }

    /// Adds rows. Their columns are found by name, in any order; columns that allow nulls may be missing.
    pub fn append(&mut self, rows: impl RecordBatchReader) -> Result<TableChange> {
        self.append_with(rows, &TableWriteOptions::default())
    }

    /// [`Table::append`] with options.
    pub fn append_with(
        &mut self,
        rows: impl RecordBatchReader,
        options: &TableWriteOptions,
    ) -> Result<TableChange> {
        let (at, change) = ready(self.at.append(Given(rows), options))?;
        self.at = at;
        Ok(change)
    }

    /// Replaces all rows and the schema. Older versions stay as they are; indexes do not come along.
    pub fn overwrite(&mut self, rows: impl RecordBatchReader) -> Result<TableChange> {
        self.overwrite_with(rows, &TableWriteOptions::default())
    }

    /// [`Table::overwrite`] with options.
    pub fn overwrite_with(
        &mut self,
        rows: impl RecordBatchReader,
        options: &TableWriteOptions,
    ) -> Result<TableChange> {
        let (at, change) = ready(self.at.overwrite(Given(rows), options))?;
        self.at = at;
        Ok(change)
    }

    /// Deletes rows. They stay in the files until these are compacted and the old versions cleaned up.
    ///
    /// ```no_run
    /// use lancet_table::{Table, TableRows};
    ///
    /// # fn main() -> lancet_table::Result<()> {
    /// let mut table = Table::open("cities.lance")?;
    /// table.delete(3..7)?; // by number
    /// table.delete(TableRows::Ids(vec![17, 4]))?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn delete(&mut self, rows: impl Into<TableRows>) -> Result<TableChange> {
        self.delete_with(rows, "", &TableWriteOptions::default())
    }

    /// [`Table::delete`] with options. `predicate` says for people which rows these are; the version notes it.
    pub fn delete_with(
        &mut self,
        rows: impl Into<TableRows>,
        predicate: &str,
        options: &TableWriteOptions,
    ) -> Result<TableChange> {
        let (at, change) = ready(self.at.delete(&rows.into(), predicate, options))?;
        self.at = at;
        Ok(change)
    }

    /// Gives rows new values: `values` has a row for each, in the same order. Columns that it does not have stay as they
    /// are. Changed rows move behind the others.
    pub fn update(
        &mut self,
        rows: impl Into<TableRows>,
        values: impl RecordBatchReader,
    ) -> Result<TableChange> {
        self.update_with(rows, values, &TableWriteOptions::default())
    }

    /// [`Table::update`] with options.
    pub fn update_with(
        &mut self,
        rows: impl Into<TableRows>,
        values: impl RecordBatchReader,
        options: &TableWriteOptions,
    ) -> Result<TableChange> {
        let nothing = Nothing(self.schema());
        let (at, change) = ready(self.at.update(&rows.into(), Given(values), nothing, options))?;
        self.at = at;
        Ok(change)
    }

    /// [`Table::update_with`] for rows that come with their values: these have a column `_rowaddr`, as a scan of this
    /// version gives it. Nothing has to be known of all rows before, so that any number of them can be changed.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use lancet::arrow::array::{Int64Array, RecordBatch, RecordBatchIterator, UInt64Array};
    /// # use lancet_table::{Table, TableWriteOptions};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let folder = tempfile::tempdir()?;
    /// # let array = Int64Array::from_iter_values(0..100);
    /// # let batch = RecordBatch::try_from_iter([("n", Arc::new(array) as _)])?;
    /// # let rows = RecordBatchIterator::new([Ok(batch.clone())], batch.schema());
    /// # let mut table = Table::create(folder.path().join("numbers.lance"), rows)?;
    /// let values = RecordBatch::try_from_iter([
    ///     ("_rowaddr", Arc::new(UInt64Array::from(vec![7, 3])) as _),
    ///     ("n", Arc::new(Int64Array::from(vec![-7, -3])) as _),
    /// ])?;
    /// let values = RecordBatchIterator::new([Ok(values.clone())], values.schema());
    /// let change = table.update_by_address(values, &TableWriteOptions::default())?;
    /// assert_eq!((change.rows_updated, table.num_rows()?), (2, 100));
    /// # Ok(())
    /// # }
    /// ```
    pub fn update_by_address(
        &mut self,
        values: impl RecordBatchReader,
        options: &TableWriteOptions,
    ) -> Result<TableChange> {
        self.merge_by_address(values, &[], options)
    }

    /// [`Table::update_by_address`], and adds and deletes rows, in one version. Rows whose `_rowaddr` is null are new, and
    /// come behind the others; `deleted` are addresses of rows that go.
    pub fn merge_by_address(
        &mut self,
        rows: impl RecordBatchReader,
        deleted: &[u64],
        options: &TableWriteOptions,
    ) -> Result<TableChange> {
        let (at, change) = ready(self.at.merge_by_address(Given(rows), deleted, options))?;
        self.at = at;
        Ok(change)
    }

    /// [`Table::update`], and adds rows, in one version: what an upsert comes to when it is known which rows match.
    pub fn merge(
        &mut self,
        rows: impl Into<TableRows>,
        values: impl RecordBatchReader,
        inserts: impl RecordBatchReader,
    ) -> Result<TableChange> {
        self.merge_with(rows, values, inserts, &TableWriteOptions::default())
    }

    /// [`Table::merge`] with options.
    pub fn merge_with(
        &mut self,
        rows: impl Into<TableRows>,
        values: impl RecordBatchReader,
        inserts: impl RecordBatchReader,
        options: &TableWriteOptions,
    ) -> Result<TableChange> {
        let (values, inserts) = (Given(values), Given(inserts));
        let (at, change) = ready(self.at.update(&rows.into(), values, inserts, options))?;
        self.at = at;
        Ok(change)
    }
}
