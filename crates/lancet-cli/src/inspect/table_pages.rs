//! The pages of a table, file by file: columns have the names that the table has for them.

use lancet_table::{InspectedFile, Table};
use serde_json::{Value, json};

use super::{Args, column_json, is_wanted, write_pages};
use crate::error::Result;
use crate::lines::Report;
use crate::places::InTable;
use crate::units;

/// Prints every page. Nothing is collected: a table may have very many.
pub fn write(args: &Args, table: &Table, out: &mut Report<'_>) -> Result<()> {
    let mut written = Ok(());
    let visit = |file: InspectedFile| {
        if written.is_ok() {
            written = write_file(args, file, out);
        }
    };
    table.inspect_files(|_| {}, visit).in_table(&args.file)?;
    written
}

fn write_file(args: &Args, mut file: InspectedFile, out: &mut Report<'_>) -> Result<()> {
    keep_columns(args, &mut file);
    if file.report.columns.is_empty() {
        return Ok(());
    }
    out.line("")?;
    out.line(format!(
        "fragment {}, {}: {}, {}",
        file.fragment,
        file.file.name.escape_debug(),
        units::rows(file.report.num_rows),
        units::bytes(file.report.file_bytes)
    ))?;
    write_pages(&file.report, out)
}

/// Adds the pages of all files to those of a table that is told as JSON.
pub fn add_to(json: &mut Value, args: &Args, table: &Table) -> Result<()> {
    let mut files = Vec::new();
    let visit = |mut file: InspectedFile| {
        keep_columns(args, &mut file);
        let columns = file.report.columns.iter().map(|column| column_json(column, true));
        files.push(json!({
            "fragment": file.fragment,
            "file": file.file.name,
            "rows": file.report.num_rows,
            "columns": columns.collect::<Vec<_>>(),
        }));
    };
    table.inspect_files(|_| {}, visit).in_table(&args.file)?;
    json["files"] = files.into();
    Ok(())
}

/// Leaves the columns asked for.
fn keep_columns(args: &Args, file: &mut InspectedFile) {
    file.report.columns.retain(|column| is_wanted(&column.name, &args.columns));
}
