//! What a version of a table is made of, as data: its fragments and files, and its columns summed over all files.

mod columns;

use arrow_schema::DataType;
use lancet::{FileReport, Source as _};

use crate::data_file::FileVersion;
use crate::error::Result;
use crate::local;
use crate::schema::{Kind, Node};
use crate::storage::{ready, stem};
use crate::table::Table;
use columns::Columns;

/// What a version of a table is made of.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct TableReport {
    /// Rows without deleted ones.
    pub num_rows: u64,
    /// Deleted rows that still lie in the files.
    pub num_deleted_rows: u64,
    /// Bytes of all data files.
    pub file_bytes: u64,
    /// Of these, bytes of the pages of all columns.
    pub page_bytes: u64,
    /// Of these, bytes of zone maps.
    pub zone_map_bytes: u64,
    /// Bytes of the files beside the data files that hold their blobs.
    pub side_bytes: u64,
    /// Bytes of all deletion files.
    pub deletion_bytes: u64,
    /// The fragments, in the order of their rows.
    pub fragments: Vec<FragmentReport>,
    /// The columns in the order of the schema, then those that are no fields of it.
    pub columns: Vec<TableColumnReport>,
}

/// One fragment of a table.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct FragmentReport {
    /// Its number in the table.
    pub id: u32,
    /// Its rows, deleted ones included.
    pub num_physical_rows: u64,
    /// Its deleted rows.
    pub num_deleted_rows: u64,
    /// Its data files.
    pub files: Vec<DataFileReport>,
    /// Its deletion file, if it has one.
    pub deletion_file: Option<DeletionFileReport>,
}

/// One data file of a fragment.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct DataFileReport {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: FileVersion,
    /// Its size.
    pub bytes: u64,
    /// Its columns that hold fields of this version of the table.
    pub num_columns: u64,
    /// Bytes of pages that no field of this version of the table needs.
    pub unused_bytes: u64,
    /// Bytes of the files beside it that hold its blobs.
    pub side_bytes: u64,
}

/// The deletion file of a fragment.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeletionFileReport {
    /// Its name.
    pub name: String,
    /// Its size.
    pub bytes: u64,
}

/// Whose values a column of the data files holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ColumnOwner {
    /// A field of the table, by its id.
    Field(i32),
    /// The row ids.
    RowIds,
    /// The versions in which rows were made.
    Created,
    /// The versions in which rows were last changed.
    LastUpdated,
    /// Nobody: fields that were dropped, replaced or never listed.
    Unused,
}

/// One column of a table, over all files that have it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TableColumnReport {
    /// Whose values it holds.
    pub owner: ColumnOwner,
    /// Names from the top-level field down to the leaf, joined with dots; of all unused columns together `(unused)`.
    pub name: String,
    /// The type of its values; `None` if no file has it, and for unused columns.
    pub data_type: Option<DataType>,
    /// Files that have it. In the rows of others it is null.
    pub num_files: u64,
    /// Its pages.
    pub num_pages: u64,
    /// The rows of its pages, deleted ones included.
    pub num_rows: u64,
    /// Bytes of all pages.
    pub bytes: u64,
    /// Bytes of its zone maps.
    pub zone_map_bytes: u64,
    /// Layouts and encodings in words, and how many pages have each; the most frequent first.
    pub forms: Vec<(String, u64)>,
}

/// A data file of a table, as [`Table::inspect_files`] has found it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct InspectedFile {
    /// The fragment it belongs to.
    pub fragment: u32,
    /// Its name and sizes.
    pub file: DataFileReport,
    /// What it is made of. Columns have the names that the table has for them; those that it does not use have their own,
    /// behind `(unused).`.
    pub report: FileReport,
    /// Whose values the columns of the report hold, in their order.
    pub owners: Vec<ColumnOwner>,
}

impl Table {
    /// What this version is made of. Opens every data file and reads the metadata of its columns; `progress` is told how
    /// many fragments are done.
    pub fn inspect(&self, progress: impl FnMut(usize)) -> Result<TableReport> {
        self.inspect_files(progress, drop)
    }

    /// The same, with all pages: `visit` is handed every data file, in the order of the fragments.
    pub fn inspect_files(
        &self,
        mut progress: impl FnMut(usize),
        mut visit: impl FnMut(InspectedFile),
    ) -> Result<TableReport> {
        let mut report = TableReport { num_rows: self.num_rows()?, ..TableReport::default() };
        let mut columns = Columns::new(&self.manifest().fields, &self.at.reads.snapshot.schema);
        for place in 0..self.manifest().fragments.len() {
            let found = self.inspect_fragment(place, &mut columns, &mut visit)?;
            let add = |sum: &mut u64, more: u64| *sum = sum.saturating_add(more);
            add(&mut report.num_deleted_rows, found.num_deleted_rows);
            add(&mut report.deletion_bytes, found.deletion_file.as_ref().map_or(0, |f| f.bytes));
            for file in &found.files {
                add(&mut report.file_bytes, file.bytes);
                add(&mut report.side_bytes, file.side_bytes);
            }
            report.fragments.push(found);
            progress(place.saturating_add(1));
        }
        report.columns = columns.finish();
        let sum = |bytes: fn(&TableColumnReport) -> u64| {
            report.columns.iter().map(bytes).fold(0, u64::saturating_add)
        };
        (report.page_bytes, report.zone_map_bytes) = (sum(|c| c.bytes), sum(|c| c.zone_map_bytes));
        Ok(report)
    }

    fn inspect_fragment(
        &self,
        place: usize,
        columns: &mut Columns,
        visit: &mut impl FnMut(InspectedFile),
    ) -> Result<FragmentReport> {
        let reads = &self.at.reads;
        let fragment = reads.snapshot.fragment(place)?;
        let num_physical_rows = ready(reads.physical_rows(place))?;
        let num_deleted_rows = match fragment.num_deleted_rows() {
            Some(deleted) => deleted,
            None => ready(reads.deletions(place))?.len(),
        };
        let deletion_file = match &fragment.deletion_file {
            Some(file) => {
                let name = file.file_name(fragment.id);
                let path = reads.folders.deletion_file(file.base, &name)?;
                let bytes = local::open(&path)?.size_bytes();
                Some(DeletionFileReport { name, bytes })
            }
            None => None,
        };
        let mut files = Vec::with_capacity(fragment.files.len());
        for (number, data_file) in fragment.files.iter().enumerate() {
            let file = ready(reads.open(place, number))?;
            let mut report = file.handle.inspect().map_err(|error| file.error(error))?;
            let owners = columns.add(data_file, &mut report);
            let side_bytes = match reads.snapshot.schema.nodes.iter().any(has_side_files) {
                true => local::folder_bytes(&stem(&file.path))?,
                false => 0,
            };
            let is_unused = |owner: &ColumnOwner| *owner == ColumnOwner::Unused;
            let unused = report.columns.iter().zip(&owners).filter(|(_, owner)| is_unused(owner));
            let found = DataFileReport {
                name: data_file.path.to_string(),
                version: data_file.version,
                bytes: report.file_bytes,
                num_columns: owners.iter().filter(|owner| !is_unused(owner)).count() as u64,
                unused_bytes: unused.map(|(column, _)| column.bytes).fold(0, u64::saturating_add),
                side_bytes,
            };
            files.push(found.clone());
            visit(InspectedFile { fragment: fragment.id, file: found, report, owners });
        }
        let id = fragment.id;
        Ok(FragmentReport { id, num_physical_rows, num_deleted_rows, files, deletion_file })
    }
}

/// Whether blobs of a field may lie beside the data files.
fn has_side_files(node: &Node) -> bool {
    node.kind == Kind::BlobV2 || node.children.iter().any(has_side_files)
}
