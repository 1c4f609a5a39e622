//! The columns of all data files of a table, brought together by the fields whose values they hold.

use std::collections::{BTreeMap, HashMap, HashSet};

use arrow_schema::DataType;
use lancet::{ColumnReport, FileReport};

use super::{ColumnOwner, TableColumnReport};
use crate::columns::{CREATED_AT_VERSION, LAST_UPDATED_AT_VERSION, ROW_ID};
use crate::data_file::{CREATED_FIELD, DataFile, LAST_UPDATED_FIELD, ROW_ID_FIELD};
use crate::fields::Field;
use crate::schema::{Node, TableSchema};

/// The name of columns that hold no values of the table.
const UNUSED: &str = "(unused)";

/// What was found of columns so far.
pub(super) struct Columns {
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
    pub(super) fn new(fields: &[Field], schema: &TableSchema) -> Self {
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

    /// Adds the columns of a file, and calls them as the table does. Says whose they are.
    pub(super) fn add(&mut self, data_file: &DataFile, file: &mut FileReport) -> Vec<ColumnOwner> {
        let listed = data_file.columns.iter().zip(data_file.fields.iter());
        let fields: HashMap<i32, i32> = listed.map(|(column, field)| (*column, *field)).collect();
        let field = |column: &ColumnReport| {
            i32::try_from(column.index).ok().and_then(|index| fields.get(&index))
        };
        let owners = file.columns.iter_mut().map(|column| {
            let owner = self.owner(field(column).copied());
            column.name = self.name(owner, &column.name);
            self.found.entry(owner).or_default().add(owner, column);
            owner
        });
        owners.collect()
    }

    fn owner(&self, field: Option<i32>) -> ColumnOwner {
        match field {
            Some(field) if self.names.contains_key(&field) => ColumnOwner::Field(field),
            Some(ROW_ID_FIELD) => ColumnOwner::RowIds,
            Some(CREATED_FIELD) => ColumnOwner::Created,
            Some(LAST_UPDATED_FIELD) => ColumnOwner::LastUpdated,
            _ => ColumnOwner::Unused,
        }
    }

    /// What the table calls a column; `in_file` is what the file calls it.
    fn name(&self, owner: ColumnOwner, in_file: &str) -> String {
        match owner {
            ColumnOwner::Field(id) => self.names.get(&id).cloned().unwrap_or_default(),
            ColumnOwner::RowIds => ROW_ID.to_owned(),
            ColumnOwner::Created => CREATED_AT_VERSION.to_owned(),
            ColumnOwner::LastUpdated => LAST_UPDATED_AT_VERSION.to_owned(),
            ColumnOwner::Unused => format!("{UNUSED}.{in_file}"),
        }
    }

    pub(super) fn finish(mut self) -> Vec<TableColumnReport> {
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
            (ColumnOwner::RowIds, ROW_ID),
            (ColumnOwner::Created, CREATED_AT_VERSION),
            (ColumnOwner::LastUpdated, LAST_UPDATED_AT_VERSION),
            (ColumnOwner::Unused, UNUSED),
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

impl Found {
    fn add(&mut self, owner: ColumnOwner, column: &ColumnReport) {
        if owner != ColumnOwner::Unused && self.data_type.is_none() {
            self.data_type = Some(column.data_type.clone());
        }
        let add = |sum: &mut u64, more: u64| *sum = sum.saturating_add(more);
        add(&mut self.num_files, 1);
        add(&mut self.num_pages, column.pages.len() as u64);
        column.pages.iter().for_each(|page| add(&mut self.num_rows, page.num_rows));
        add(&mut self.bytes, column.bytes);
        add(&mut self.zone_map_bytes, column.zone_map.as_ref().map_or(0, |map| map.bytes));
        for page in &column.pages {
            add(self.forms.entry(without_counts(&page.form())).or_default(), 1);
        }
    }

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
