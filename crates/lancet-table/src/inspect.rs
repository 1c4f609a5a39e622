//! What a version of a table is made of, as data: its fragments and files, and its columns summed over all files.

use std::collections::{BTreeMap, HashMap, HashSet};

use arrow_schema::DataType;
use lancet::FileReport;

use crate::data_file::{CREATED_FIELD, DataFile, FileVersion, LAST_UPDATED_FIELD, ROW_ID_FIELD};
use crate::error::Result;
use crate::fields::Field;
use crate::local;
use crate::schema::{Kind, Node, TableSchema};
use crate::storage::{ready, stem};
use crate::table::Table;

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

impl Table {
    /// What this version is made of. Opens every data file and reads the metadata of its columns; `progress` is told how
    /// many fragments are done.
    pub fn inspect(&self, mut progress: impl FnMut(usize)) -> Result<TableReport> {
        let mut report = TableReport { num_rows: self.num_rows()?, ..TableReport::default() };
        let mut columns = Columns::new(&self.manifest().fields, &self.at.reads.snapshot.schema);
        for place in 0..self.manifest().fragments.len() {
            let found = self.inspect_fragment(place, &mut columns)?;
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

    fn inspect_fragment(&self, place: usize, columns: &mut Columns) -> Result<FragmentReport> {
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
                let (_, bytes) = local::open(&reads.folders.deletion_file(file.base, &name)?)?;
                Some(DeletionFileReport { name, bytes })
            }
            None => None,
        };
        let mut files = Vec::with_capacity(fragment.files.len());
        for (number, data_file) in fragment.files.iter().enumerate() {
            let file = ready(reads.open(place, number))?;
            let found = file.handle.inspect().map_err(|error| file.error(error))?;
            let (num_columns, unused_bytes) = columns.add(data_file, &found);
            let side_bytes = match reads.snapshot.schema.nodes.iter().any(has_side_files) {
                true => local::folder_bytes(&stem(&file.path))?,
                false => 0,
            };
            files.push(DataFileReport {
                name: data_file.path.clone(),
                version: data_file.version,
                bytes: found.file_bytes,
                num_columns,
                unused_bytes,
                side_bytes,
            });
        }
        let id = fragment.id;
        Ok(FragmentReport { id, num_physical_rows, num_deleted_rows, files, deletion_file })
    }
}

/// What was found of columns so far.
struct Columns {
    /// The names of the fields, by their ids.
    names: HashMap<i32, String>,
    /// The order of the fields.
    order: Vec<i32>,
    /// Fields that have values of their own.
    leaves: HashSet<i32>,
    found: HashMap<ColumnOwner, Found>,
}

#[derive(Default)]
struct Found {
    data_type: Option<DataType>,
    num_files: u64,
    num_pages: u64,
    num_rows: u64,
    bytes: u64,
    zone_map_bytes: u64,
    forms: BTreeMap<String, u64>,
}

impl Columns {
    fn new(fields: &[Field], schema: &TableSchema) -> Self {
        let mut names: HashMap<i32, String> = HashMap::with_capacity(fields.len());
        // Parents stand before their children.
        for field in fields {
            let parent = field.parent.and_then(|parent| names.get(&parent));
            let name = parent.map(|parent| format!("{parent}.{}", field.name));
            names.insert(field.id, name.unwrap_or_else(|| field.name.clone()));
        }
        let order = fields.iter().map(|field| field.id).collect();
        let mut leaves = HashSet::new();
        schema.nodes.iter().for_each(|node| collect_leaves(node, &mut leaves));
        Self { names, order, leaves, found: HashMap::new() }
    }

    /// Adds the columns of a file. How many of them the table uses, and the bytes of the others.
    fn add(&mut self, data_file: &DataFile, file: &FileReport) -> (u64, u64) {
        let listed = data_file.columns.iter().zip(&data_file.fields);
        let owners: HashMap<i32, i32> = listed.map(|(column, field)| (*column, *field)).collect();
        let (mut num_used, mut unused_bytes) = (0_u64, 0_u64);
        for column in &file.columns {
            let field = i32::try_from(column.index).ok().and_then(|index| owners.get(&index));
            let owner = match field {
                Some(field) if self.names.contains_key(field) => ColumnOwner::Field(*field),
                Some(&ROW_ID_FIELD) => ColumnOwner::RowIds,
                Some(&CREATED_FIELD) => ColumnOwner::Created,
                Some(&LAST_UPDATED_FIELD) => ColumnOwner::LastUpdated,
                _ => ColumnOwner::Unused,
            };
            match owner {
                ColumnOwner::Unused => unused_bytes = unused_bytes.saturating_add(column.bytes),
                _ => num_used = num_used.saturating_add(1),
            }
            let found = self.found.entry(owner).or_default();
            if owner != ColumnOwner::Unused && found.data_type.is_none() {
                found.data_type = Some(column.data_type.clone());
            }
            let add = |sum: &mut u64, more: u64| *sum = sum.saturating_add(more);
            add(&mut found.num_files, 1);
            add(&mut found.num_pages, column.pages.len() as u64);
            column.pages.iter().for_each(|page| add(&mut found.num_rows, page.num_rows));
            add(&mut found.bytes, column.bytes);
            add(&mut found.zone_map_bytes, column.zone_map.as_ref().map_or(0, |map| map.bytes));
            for page in &column.pages {
                add(found.forms.entry(without_counts(&page.form())).or_default(), 1);
            }
        }
        (num_used, unused_bytes)
    }

    fn finish(mut self) -> Vec<TableColumnReport> {
        let mut columns = Vec::new();
        for id in &self.order {
            let name = self.names.remove(id).unwrap_or_default();
            match self.found.remove(&ColumnOwner::Field(*id)) {
                Some(found) => columns.push(found.report(ColumnOwner::Field(*id), name)),
                // Null in all rows.
                None if self.leaves.contains(id) => {
                    columns.push(Found::default().report(ColumnOwner::Field(*id), name));
                }
                None => {}
            }
        }
        for (owner, name) in [
            (ColumnOwner::RowIds, crate::columns::ROW_ID),
            (ColumnOwner::Created, crate::columns::CREATED_AT_VERSION),
            (ColumnOwner::LastUpdated, crate::columns::LAST_UPDATED_AT_VERSION),
            (ColumnOwner::Unused, "(unused)"),
        ] {
            let found = self.found.remove(&owner);
            columns.extend(found.map(|found| found.report(owner, name.to_owned())));
        }
        columns
    }
}

/// A form without the numbers that every file has others of: the sizes of dictionaries, the items of lists.
fn without_counts(form: &str) -> String {
    let mut rest = form;
    let mut text = String::with_capacity(form.len());
    while let Some((before, after)) = rest.split_once(" of ") {
        text.push_str(before);
        text.push_str(" of ");
        let is_count = before.ends_with("dictionary") || before.ends_with("lists");
        let digits = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
        let (count, behind) = after.split_at_checked(digits).unwrap_or_default();
        let is_count = is_count && !count.is_empty();
        text.push_str(if is_count { "n" } else { "" });
        rest = if is_count { behind } else { after };
    }
    text.push_str(rest);
    text
}

fn collect_leaves(node: &Node, leaves: &mut HashSet<i32>) {
    match node.is_leaf() {
        true => drop(leaves.insert(node.id)),
        false => node.children.iter().for_each(|child| collect_leaves(child, leaves)),
    }
}

/// Whether blobs of a field may lie beside the data files.
fn has_side_files(node: &Node) -> bool {
    node.kind == Kind::BlobV2 || node.children.iter().any(has_side_files)
}

impl Found {
    fn report(self, owner: ColumnOwner, name: String) -> TableColumnReport {
        let mut forms: Vec<(String, u64)> = self.forms.into_iter().collect();
        forms.sort_by_key(|(_, pages)| std::cmp::Reverse(*pages));
        TableColumnReport {
            owner,
            name,
            data_type: self.data_type,
            num_files: self.num_files,
            num_pages: self.num_pages,
            num_rows: self.num_rows,
            bytes: self.bytes,
            zone_map_bytes: self.zone_map_bytes,
            forms,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_many_files_are_the_same() {
        let forms = [
            (
                "list: ends of lists of 10 items, flat 64-bit",
                "list: ends of lists of n items, flat 64-bit",
            ),
            (
                "mini-block: dictionary of 7 (flat 8-bit)",
                "mini-block: dictionary of n (flat 8-bit)",
            ),
            (
                "array: fixed-size list of 3, flat 32-bit",
                "array: fixed-size list of 3, flat 32-bit",
            ),
            ("packed struct of 2 fields", "packed struct of 2 fields"),
            ("dictionary of ", "dictionary of "),
        ];
        for (form, expected) in forms {
            assert_eq!(without_counts(form), expected);
        }
    }
}
