//! `lancet inspect`: what a Lance file or table is made of.

mod table;
mod table_pages;

use std::collections::HashSet;
use std::io::Write;
use std::path::PathBuf;

use lancet::{BufferReport, ColumnReport, FileReport, PageReport};
use serde_json::{Value, json};

use crate::error::{Error, InFile, Result};
use crate::lines::{Report, Width};
use crate::places::{Access, InputFile, VersionArgs, table_folder};
use crate::table::Grid;
use crate::units;

const EXAMPLES: &str = "\
Examples:
  lancet inspect orders.lance
  lancet inspect orders.lance --pages --columns price
  lancet inspect orders.lance --json | jq '.columns[].bytes'
  lancet inspect cities.lance/ --fragments     a table
  lancet inspect cities.lance/ --pages --columns name     the pages of all its files
  lancet inspect cities.lance/ --version 3 --json | jq '.fragments[].deleted_rows'";

/// What to inspect.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Lance file or table to read
    file: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// List every page with its buffers
    #[arg(short, long)]
    pages: bool,
    /// List every fragment of a table with its files
    #[arg(short, long)]
    fragments: bool,
    /// Columns to show; nested ones with dots: a,b.c
    #[arg(short, long, value_delimiter = ',')]
    columns: Vec<String>,
    #[command(flatten)]
    access: Access,
    #[command(flatten)]
    width: Width,
    #[command(flatten)]
    version: VersionArgs,
}

/// Runs the command.
pub fn run(args: &Args, quiet: bool, out: &mut dyn Write) -> Result<()> {
    args.access.check([args.file.as_path()].into_iter())?;
    if let Some(folder) = table_folder(&args.file)? {
        return table::show(args, &args.version.open(&folder)?, quiet, out);
    }
    args.version.check_is_table(&args.file)?;
    let file = InputFile::lance(&args.file, "inspect", &args.access)?;
    if args.fragments {
        let message =
            format!("{}: is a file; it has no fragments, but --pages", args.file.display());
        return Err(Error::Usage(message));
    }
    let reader = file.reader()?;
    let mut report = reader.inspect().in_file(&args.file)?;
    keep_columns(&mut report, &args.columns)
        .map_err(|message| Error::new(message).about(&args.file))?;
    if args.json {
        let file = args.file.display().to_string();
        writeln!(out, "{:#}", file_json(&file, &report, args.pages))?;
        return Ok(());
    }
    let mut out = Report::new(out, args.width.get());
    out.line(args.file.display().to_string())?;
    write_summary(&report, &mut out)?;
    out.line("")?;
    out.grid(&column_table(&report))?;
    if args.pages {
        write_pages(&report, &mut out)?;
    }
    Ok(())
}

/// Every page of every column of a file.
fn write_pages(report: &FileReport, out: &mut Report<'_>) -> Result<()> {
    for column in &report.columns {
        out.line("")?;
        out.line(column_title(column))?;
        out.grid(&page_table(column, report.file_bytes))?;
        if let Some(map) = &column.zone_map {
            let (at, size) = (units::count(map.position), units::count(map.bytes));
            out.line(format!("{} at {at}: {size} bytes", map.holds))?;
        }
    }
    Ok(())
}

/// Leaves the columns asked for: a name stands for the column and for all below it.
fn keep_columns(report: &mut FileReport, names: &[String]) -> Result<(), String> {
    let known: Vec<&str> = report.columns.iter().map(|column| column.name.as_str()).collect();
    check_names(&known, names)?;
    report.columns.retain(|column| is_wanted(&column.name, names));
    Ok(())
}

/// Fails if a name is that of no column.
fn check_names(known: &[&str], names: &[String]) -> Result<(), String> {
    let unknown = names.iter().find(|name| !known.iter().any(|column| is_below(column, name)));
    match unknown {
        Some(name) => Err(format!("no column `{name}`; there are: {}", known.join(", "))),
        None => Ok(()),
    }
}

/// Whether a column is among those asked for, or all are wanted.
fn is_wanted(column: &str, names: &[String]) -> bool {
    names.is_empty() || names.iter().any(|name| is_below(column, name))
}

fn is_below(column: &str, name: &str) -> bool {
    column.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// The lines above the table.
fn write_summary(report: &FileReport, out: &mut Report<'_>) -> Result<()> {
    let part =
        |bytes| format!("{} ({})", units::bytes(bytes), units::share(bytes, report.file_bytes));
    out.line(format!("  version   {}", report.version))?;
    out.line(format!("  rows      {}", units::count(report.num_rows)))?;
    out.line(format!(
        "  size      {} ({} per row)",
        units::bytes(report.file_bytes),
        units::per_row(report.file_bytes, report.num_rows)
    ))?;
    out.line(format!("  data      {}", part(report.data_bytes)))?;
    out.line(format!("  metadata  {}", part(report.metadata_bytes)))?;
    if report.global_buffers.len() > 1 {
        let sizes: Vec<_> = report.global_buffers.iter().map(|n| units::bytes(*n)).collect();
        out.line(format!("  global    {} buffers: {}", sizes.len(), sizes.join(", ")))?;
    }
    Ok(())
}

/// One line for each column.
fn column_table(report: &FileReport) -> Grid {
    let mut grid = Grid::new(&[
        "column",
        "type",
        ">rows",
        ">pages",
        ">bytes",
        ">share",
        ">per row",
        ">zone map",
        "encodings",
    ]);
    for column in &report.columns {
        let rows = column.pages.iter().map(|page| page.num_rows).sum();
        grid.push([
            column.name.escape_debug().to_string(),
            column.data_type.to_string(),
            units::count(rows),
            units::count(column.pages.len() as u64),
            units::bytes(column.bytes),
            units::share(column.bytes, report.file_bytes),
            units::per_row(column.bytes, rows),
            column.zone_map.as_ref().map_or_else(|| "–".into(), |map| units::bytes(map.bytes)),
            encodings(column),
        ]);
    }
    grid
}

/// The distinct encodings of a column in page order, with counts where there are several.
fn encodings(column: &ColumnReport) -> String {
    let mut seen = HashSet::new();
    let all: Vec<String> = column.pages.iter().map(PageReport::form).collect();
    let distinct: Vec<&String> = all.iter().filter(|e| seen.insert(e.as_str())).collect();
    match distinct.as_slice() {
        [one] => (*one).clone(),
        several => {
            let counted = |e: &&String| format!("{}× {e}", all.iter().filter(|a| a == e).count());
            several.iter().map(counted).collect::<Vec<_>>().join("; ")
        }
    }
}

fn column_title(column: &ColumnReport) -> String {
    format!(
        "{} (column {}, {}): {}, {}",
        column.name.escape_debug(),
        column.index,
        column.data_type,
        units::counted(column.pages.len() as u64, "page"),
        units::bytes(column.bytes)
    )
}

/// One line for each page, and below it one for each of its buffers.
fn page_table(column: &ColumnReport, file_bytes: u64) -> Grid {
    let mut grid =
        Grid::new(&[">page", ">rows", ">position", ">bytes", ">share", ">per row", "holds"]);
    for (number, page) in column.pages.iter().enumerate() {
        grid.push([
            number.to_string(),
            units::count(page.num_rows),
            String::new(),
            units::count(page.bytes),
            units::share(page.bytes, file_bytes),
            units::per_row(page.bytes, page.num_rows),
            page.form(),
        ]);
        for buffer in &page.buffers {
            grid.push([
                String::new(),
                String::new(),
                units::count(buffer.position),
                units::count(buffer.bytes),
                units::share(buffer.bytes, file_bytes),
                units::per_row(buffer.bytes, page.num_rows),
                format!("  {}", buffer.holds),
            ]);
        }
    }
    grid
}

fn file_json(file: &str, report: &FileReport, with_pages: bool) -> Value {
    let columns = report.columns.iter().map(|column| column_json(column, with_pages));
    json!({
        "file": file,
        "version": report.version.to_string(),
        "rows": report.num_rows,
        "file_bytes": report.file_bytes,
        "data_bytes": report.data_bytes,
        "metadata_bytes": report.metadata_bytes,
        "global_buffers": report.global_buffers,
        "columns": columns.collect::<Vec<_>>(),
    })
}

fn column_json(column: &ColumnReport, with_pages: bool) -> Value {
    let mut json = json!({
        "index": column.index,
        "name": column.name,
        "type": column.data_type.to_string(),
        "bytes": column.bytes,
        "zone_map_bytes": column.zone_map.as_ref().map(|map| map.bytes),
        "num_pages": column.pages.len(),
        "encodings": encodings(column),
    });
    if with_pages {
        json["pages"] = column.pages.iter().map(page_json).collect();
    }
    json
}

fn page_json(page: &PageReport) -> Value {
    let buffer = |buffer: &BufferReport| json!({ "holds": buffer.holds, "position": buffer.position, "bytes": buffer.bytes });
    json!({
        "rows": page.num_rows,
        "layout": page.layout,
        "encoding": page.encoding,
        "bytes": page.bytes,
        "buffers": page.buffers.iter().map(buffer).collect::<Vec<_>>(),
    })
}
