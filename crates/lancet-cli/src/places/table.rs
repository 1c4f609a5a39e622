//! Tables: folders whose rows are read like those of a file.

use std::path::Path;

use arrow_schema::SchemaRef;
use lancet::ReadOptions;
use lancet_table::{At, Table, TableColumns, TableOptions};

use crate::error::{InFile, Result};
use crate::input::{Input, Selection, batch_rows};

/// Which version of a table is read, and what beside its columns.
#[derive(Debug, Clone, Default, PartialEq, clap::Args)]
#[command(next_help_heading = "Options for tables")]
pub struct TableArgs {
    /// Version of the table; the latest by default
    #[arg(long, value_name = "NUMBER")]
    version: Option<u64>,
    /// Tag that names a version
    #[arg(long, value_name = "NAME", conflicts_with_all = ["version", "branch"])]
    tag: Option<String>,
    /// Branch of the table
    #[arg(long, value_name = "NAME")]
    branch: Option<String>,
    /// Give the ids of rows, too, as column _rowid
    #[arg(long)]
    with_row_id: bool,
    /// Give the addresses of rows, too, as column _rowaddr
    #[arg(long)]
    with_row_address: bool,
}

impl TableArgs {
    fn at(&self) -> At {
        match (&self.tag, &self.branch, self.version) {
            (Some(tag), _, _) => At::Tag(tag.clone()),
            (None, Some(branch), Some(version)) => At::BranchVersion(branch.clone(), version),
            (None, Some(branch), None) => At::Branch(branch.clone()),
            (None, None, Some(version)) => At::Version(version),
            (None, None, None) => At::Latest,
        }
    }

    /// Opens the table in a folder.
    pub fn open(&self, folder: &Path, read: ReadOptions) -> Result<InputTable> {
        let options = TableOptions::default().with_version(self.at()).with_read_options(read);
        let table = Table::open_with(folder, options).in_file(folder)?;
        let ids = self.with_row_id.then_some("_rowid");
        let addresses = self.with_row_address.then_some("_rowaddr");
        Ok(InputTable { table, more: ids.into_iter().chain(addresses).collect() })
    }
}

/// A table to read.
pub struct InputTable {
    pub table: Table,
    /// Columns that were asked for beside those of the table.
    more: Vec<&'static str>,
}

impl InputTable {
    /// Bytes of its data files, as far as the manifest tells.
    pub fn size_bytes(&self) -> u64 {
        let files = self.table.manifest().fragments.iter().flat_map(|fragment| &fragment.files);
        files.filter_map(|file| file.size_bytes).fold(0, u64::saturating_add)
    }

    /// The columns that a command names, or all.
    pub fn columns(&self, names: &[String]) -> TableColumns {
        if names.is_empty() && self.more.is_empty() {
            return TableColumns::All;
        }
        let schema = self.table.schema();
        let all = schema.fields().iter().map(|field| field.name().clone());
        let mut columns: Vec<String> =
            if names.is_empty() { all.collect() } else { names.to_vec() };
        let more = self.more.iter().filter(|name| !names.iter().any(|known| known == *name));
        columns.extend(more.map(|name| (*name).to_owned()));
        columns.into()
    }

    /// Some rows and columns; `name` is what messages call the table.
    pub fn rows(&self, name: &Path, selection: &Selection) -> Result<Input> {
        let table_rows = self.table.num_rows().in_file(name)?;
        let rows = selection.rows.within(table_rows).map_err(|e| e.about(name))?;
        let num_rows = rows.end - rows.start;
        let columns = self.table.project(self.columns(&selection.columns)).in_file(name)?;
        let schema: SchemaRef = columns.schema();
        let row_bytes = self.size_bytes().checked_div(table_rows).unwrap_or(0);
        let batch_rows = batch_rows(&schema, row_bytes);
        let scan = self.table.scan().columns(columns).select(rows).batch_rows(batch_rows);
        let mut batches = scan.build().in_file(name)?;
        let name = name.to_owned();
        let batches = std::iter::from_fn(move || Some(batches.next_batch()?.in_file(&name)));
        Ok(Input {
            schema,
            file_rows: Some(table_rows),
            rows: Some(num_rows),
            batches: Box::new(batches),
        })
    }
}
