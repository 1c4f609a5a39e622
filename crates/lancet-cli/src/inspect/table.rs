//! What a table is made of: its fragments and files, and its columns summed over all files.

use std::io::Write;
use std::path::Path;

use lancet_table::{FragmentReport, Manifest, Table, TableColumnReport, TableReport};
use serde_json::{Value, json};

use super::{Args, table_pages};
use crate::error::{Error, Result};
use crate::lines::Report;
use crate::places::InTable;
use crate::table::Grid;
use crate::{progress, units, versions};

/// A table that is inspected.
struct Inspected<'a> {
    name: &'a Path,
    table: &'a Table,
    report: TableReport,
}

/// Prints what a table is made of.
pub fn show(args: &Args, table: &Table, quiet: bool, out: &mut dyn Write) -> Result<()> {
    let bar = progress::share(quiet);
    bar.set_length(table.manifest().fragments.len() as u64);
    let report = table.inspect(|done| bar.set_position(done as u64)).in_table(&args.file);
    bar.finish_and_clear();
    let mut report = report?;
    keep_columns(&mut report, &args.columns).map_err(|e| Error::new(e).about(&args.file))?;
    let found = Inspected { name: &args.file, table, report };
    if args.json {
        let mut json = found.to_json();
        if args.pages {
            table_pages::add_to(&mut json, args, table)?;
        }
        return Ok(writeln!(out, "{json:#}")?);
    }
    let mut out = Report::new(out, args.width.get());
    found.write_summary(&mut out)?;
    out.line("")?;
    out.grid(&found.column_table())?;
    if args.fragments {
        out.line("")?;
        out.grid(&found.fragment_table())?;
    }
    if args.pages {
        table_pages::write(args, table, &mut out)?;
    }
    Ok(())
}

/// Leaves the columns asked for: a name stands for the column and for all below it.
fn keep_columns(report: &mut TableReport, names: &[String]) -> Result<(), String> {
    let known: Vec<&str> = report.columns.iter().map(|column| column.name.as_str()).collect();
    super::check_names(&known, names)?;
    report.columns.retain(|column| super::is_wanted(&column.name, names));
    Ok(())
}

impl Inspected<'_> {
    fn manifest(&self) -> &Manifest {
        self.table.manifest()
    }

    fn num_files(&self) -> u64 {
        self.report.fragments.iter().map(|fragment| fragment.files.len() as u64).sum()
    }

    fn num_deletion_files(&self) -> u64 {
        let with_file = |fragment: &&FragmentReport| fragment.deletion_file.is_some();
        self.report.fragments.iter().filter(with_file).count() as u64
    }

    /// The lines above the table.
    fn write_summary(&self, out: &mut Report<'_>) -> Result<()> {
        let (report, manifest) = (&self.report, self.manifest());
        let physical = report.num_rows.saturating_add(report.num_deleted_rows);
        let part =
            |bytes| format!("{} ({})", units::bytes(bytes), units::share(bytes, report.file_bytes));
        out.line(self.name.display().to_string())?;
        let branch = manifest.branch.as_ref().map(|b| format!(" of branch {b}"));
        let all = self.table.versions().len() as u64;
        out.line(format!(
            "  version    {}{}, one of {}",
            manifest.version,
            branch.unwrap_or_default(),
            units::count(all)
        ))?;
        let by = versions::writer(manifest).map(|writer| format!(" by {writer}"));
        if let Some(written) = versions::written(manifest) {
            out.line(format!("  written    {written}{}", by.unwrap_or_default()))?;
        }
        let format = manifest.data_format.map_or_else(|| "?".into(), |format| format.to_string());
        out.line(format!("  format     {format}"))?;
        out.line(format!("  rows       {}", units::count(report.num_rows)))?;
        if report.num_deleted_rows > 0 {
            out.line(format!(
                "  deleted    {} ({} of the rows in the files)",
                units::count(report.num_deleted_rows),
                units::share(report.num_deleted_rows, physical)
            ))?;
        }
        out.line(format!(
            "  fragments  {} with {}",
            units::count(report.fragments.len() as u64),
            units::counted(self.num_files(), "data file")
        ))?;
        out.line(format!(
            "  size       {} ({} per row)",
            units::bytes(report.file_bytes),
            units::per_row(report.file_bytes, report.num_rows)
        ))?;
        out.line(format!("  pages      {}", part(report.page_bytes)))?;
        if report.side_bytes > 0 {
            out.line(format!(
                "  blobs      {} beside the data files",
                units::bytes(report.side_bytes)
            ))?;
        }
        if report.deletion_bytes > 0 {
            let files = units::counted(self.num_deletion_files(), "file");
            out.line(format!("  deletions  {} in {files}", units::bytes(report.deletion_bytes)))?;
        }
        Ok(())
    }

    /// One line for each column.
    fn column_table(&self) -> Grid {
        let mut grid = Grid::new(&[
            "column",
            "type",
            ">files",
            ">pages",
            ">bytes",
            ">share",
            ">per row",
            ">zone maps",
            "encodings",
        ]);
        for column in &self.report.columns {
            grid.push([
                column.name.escape_debug().to_string(),
                column.data_type.as_ref().map_or_else(|| "–".into(), ToString::to_string),
                units::count(column.num_files),
                units::count(column.num_pages),
                units::bytes(column.bytes),
                units::share(column.bytes, self.report.file_bytes),
                units::per_row(column.bytes, column.num_rows),
                match column.zone_map_bytes {
                    0 => "–".into(),
                    bytes => units::bytes(bytes),
                },
                forms(column),
            ]);
        }
        grid
    }

    /// One line for each fragment, and below it one for each of its files.
    fn fragment_table(&self) -> Grid {
        let mut grid =
            Grid::new(&[">fragment", ">rows", ">deleted", ">bytes", ">unused", "format", "file"]);
        let none = String::new;
        for fragment in &self.report.fragments {
            let mut first = [
                fragment.id.to_string(),
                units::count(fragment.num_physical_rows.saturating_sub(fragment.num_deleted_rows)),
                units::count(fragment.num_deleted_rows),
            ];
            for file in &fragment.files {
                let [id, rows, deleted] = std::mem::take(&mut first);
                let bytes = file.bytes.saturating_add(file.side_bytes);
                grid.push([
                    id,
                    rows,
                    deleted,
                    units::count(bytes),
                    units::count(file.unused_bytes),
                    file.version.to_string(),
                    file.name.escape_debug().to_string(),
                ]);
            }
            if let Some(file) = &fragment.deletion_file {
                let bytes = units::count(file.bytes);
                grid.push([none(), none(), none(), bytes, none(), none(), file.name.clone()]);
            }
        }
        grid
    }

    fn to_json(&self) -> Value {
        let (report, manifest) = (&self.report, self.manifest());
        let fragment = |fragment: &FragmentReport| {
            let files = fragment.files.iter().map(|file| {
                json!({
                    "file": file.name,
                    "version": file.version.to_string(),
                    "bytes": file.bytes,
                    "side_bytes": file.side_bytes,
                    "unused_bytes": file.unused_bytes,
                    "columns": file.num_columns,
                })
            });
            let deletions = fragment.deletion_file.as_ref();
            json!({
                "id": fragment.id,
                "physical_rows": fragment.num_physical_rows,
                "deleted_rows": fragment.num_deleted_rows,
                "files": files.collect::<Vec<_>>(),
                "deletion_file": deletions.map(|f| json!({ "file": f.name, "bytes": f.bytes })),
            })
        };
        let column = |column: &TableColumnReport| {
            json!({
                "name": column.name,
                "type": column.data_type.as_ref().map(ToString::to_string),
                "files": column.num_files,
                "num_pages": column.num_pages,
                "bytes": column.bytes,
                "zone_map_bytes": column.zone_map_bytes,
                "encodings": forms(column),
            })
        };
        json!({
            "table": self.name.display().to_string(),
            "version": manifest.version,
            "branch": manifest.branch,
            "versions": self.table.versions(),
            "written": versions::written(manifest),
            "writer": versions::writer(manifest),
            "format": manifest.data_format.map(|format| format.to_string()),
            "rows": report.num_rows,
            "deleted_rows": report.num_deleted_rows,
            "file_bytes": report.file_bytes,
            "page_bytes": report.page_bytes,
            "zone_map_bytes": report.zone_map_bytes,
            "side_bytes": report.side_bytes,
            "deletion_bytes": report.deletion_bytes,
            "fragments": report.fragments.iter().map(fragment).collect::<Vec<_>>(),
            "columns": report.columns.iter().map(column).collect::<Vec<_>>(),
        })
    }
}

/// The encodings of a column, with counts where there are several.
fn forms(column: &TableColumnReport) -> String {
    match column.forms.as_slice() {
        [] if column.num_files == 0 => "null in all rows".into(),
        [(one, _)] => one.clone(),
        several => {
            let counted = |(form, pages): &(String, u64)| format!("{pages}× {form}");
            several.iter().map(counted).collect::<Vec<_>>().join("; ")
        }
    }
}
