//! `lancet take`: single rows by number.

use std::io::Write;
use std::path::PathBuf;

use arrow_array::RecordBatch;
use lancet::ReadOptions;

use crate::copy::Destination;
use crate::error::{Error, InFile, Result};
use crate::input::{BATCH_ROWS, Batches, Input};
use crate::places::{InTable, InputFile, TableArgs, table_folder};
use crate::rows::RowList;

const EXAMPLES: &str = "\
Examples:
  lancet take orders.lance --rows 5,9,2
  lancet take orders.lance --rows 7,100..110 --columns id,price --format csv
  lancet take orders.lance --rows 0,299999 -o ends.jsonl
  lancet take s3://bucket/orders.lance --rows 7           (cloud)
  lancet take cities.lance/ --row-ids 7,12 --tag released     a table
(cloud): a build with the feature `cloud`; `lancet --version` tells.";

/// What to take.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Lance file or table to read: a path, the URL of a file, or - for standard input
    file: PathBuf,
    /// Rows in the order wanted: 5,9,2 or 5,9,100..110
    #[arg(short, long, value_parser = RowList::parse, required_unless_present = "row_ids")]
    rows: Option<RowList>,
    /// Rows of a table by their ids, in the order wanted
    #[arg(long, value_parser = RowList::parse, value_name = "IDS", conflicts_with = "rows")]
    row_ids: Option<RowList>,
    /// Columns to read; nested ones with dots: a,b.c
    #[arg(short, long, value_delimiter = ',')]
    columns: Vec<String>,
    #[command(flatten)]
    destination: Destination,
    #[command(flatten)]
    table: TableArgs,
}

impl Args {
    fn rows(&self) -> Result<&RowList> {
        let usage = || Error::Usage("--row-ids is for tables; files have --rows".into());
        self.rows.as_ref().ok_or_else(usage)
    }
}

/// Runs the command.
pub fn run(args: &Args, quiet: bool, out: &mut dyn Write) -> Result<()> {
    args.destination.check(Some(&args.file))?;
    let access = &args.destination.access;
    let is_table = table_folder(&args.file)?.is_some();
    let input = if is_table || args.table != TableArgs::default() {
        let options = ReadOptions::default();
        let file = InputFile::or_table(&args.file, None, access, &args.table, options)?;
        taken_of_table(&file, args)?
    } else {
        let file = InputFile::lance(&args.file, "take", access)?;
        taken(&file, args.rows()?, &args.columns)?
    };
    args.destination.fill(input, quiet, out)
}

/// The rows of a table in batches, by number or by id.
fn taken_of_table(file: &InputFile, args: &Args) -> Result<Input> {
    let path = file.name().to_owned();
    let Some(input) = file.table() else {
        return Err(Error::new("is no table").about(&path));
    };
    let (table, columns) = (input.table.clone(), input.columns(&args.columns));
    let columns = table.project(columns).in_file(&path)?;
    let (schema, table_rows) = (columns.schema(), table.num_rows().in_file(&path)?);
    let rows: Vec<u64> = match &args.row_ids {
        Some(ids) => ids.ids()?,
        None => args.rows()?.within(table_rows).map_err(|e| e.about(&path))?.collect(),
    };
    let by_id = args.row_ids.is_some();
    let take = move |rows: &[u64]| match by_id {
        true => table.take_row_ids(rows, &columns).in_table(&path),
        false => table.take(rows, &columns).in_table(&path),
    };
    let num_rows = Some(rows.len() as u64);
    Ok(Input {
        schema,
        file_rows: Some(table_rows),
        rows: num_rows,
        batches: in_batches(rows, take),
    })
}

/// What `take` gives for a list of rows, in batches, so that a long list needs little memory.
fn in_batches(rows: Vec<u64>, take: impl Fn(&[u64]) -> Result<RecordBatch> + 'static) -> Batches {
    let mut start = 0;
    Box::new(std::iter::from_fn(move || {
        let end = rows.len().min(start + BATCH_ROWS as usize);
        let part = rows.get(start..end).filter(|part| !part.is_empty())?;
        start = end;
        Some(take(part))
    }))
}

/// The rows of a file.
fn taken(file: &InputFile, rows: &RowList, columns: &[String]) -> Result<Input> {
    let (reader, path) = (file.reader()?, file.name());
    let file_rows = reader.num_rows();
    let rows: Vec<u64> = rows.within(file_rows).map_err(|e| e.about(path))?.collect();

    let mut scan = reader.scan().rows(0..0);
    if !columns.is_empty() {
        scan = scan.columns(columns);
    }
    let schema = scan.build().in_file(path)?.schema();
    let (path, columns) = (path.to_owned(), columns.to_vec());
    let take = move |rows: &[u64]| -> Result<RecordBatch> {
        if columns.is_empty() { reader.take(rows) } else { reader.take_columns(rows, &columns) }
            .in_file(&path)
    };
    let num_rows = Some(rows.len() as u64);
    Ok(Input {
        schema,
        file_rows: Some(file_rows),
        rows: num_rows,
        batches: in_batches(rows, take),
    })
}
