//! `lancet take`: single rows by number.

use std::io::Write;
use std::path::PathBuf;

use arrow_array::RecordBatch;

use crate::copy::Destination;
use crate::error::{InFile, Result};
use crate::input::{BATCH_ROWS, Input};
use crate::places::InputFile;
use crate::rows::RowList;

const EXAMPLES: &str = "\
Examples:
  lancet take orders.lance --rows 5,9,2
  lancet take orders.lance --rows 7,100..110 --columns id,price --format csv
  lancet take orders.lance --rows 0,299999 -o ends.jsonl
  lancet take s3://bucket/orders.lance --rows 7";

/// What to take.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Lance file to read: a path, a URL, or - for standard input
    file: PathBuf,
    /// Rows in the order wanted: 5,9,2 or 5,9,100..110
    #[arg(short, long, value_parser = RowList::parse)]
    rows: RowList,
    /// Columns to read; nested ones with dots: a,b.c
    #[arg(short, long, value_delimiter = ',')]
    columns: Vec<String>,
    #[command(flatten)]
    destination: Destination,
}

/// Runs the command.
pub fn run(args: &Args, quiet: bool, out: &mut dyn Write) -> Result<()> {
    args.destination.check(Some(&args.file))?;
    let file = InputFile::lance(&args.file, "take", &args.destination.access)?;
    let input = taken(&file, &args.rows, &args.columns)?;
    args.destination.fill(input, quiet, out)
}

/// The rows in batches, so that a long list needs little memory.
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
    let num_rows = rows.len() as u64;
    let mut start = 0;
    let batches = std::iter::from_fn(move || {
        let end = rows.len().min(start + BATCH_ROWS as usize);
        let part = rows.get(start..end).filter(|part| !part.is_empty())?;
        start = end;
        Some(take(part))
    });
    Ok(Input {
        schema,
        file_rows: Some(file_rows),
        rows: Some(num_rows),
        batches: Box::new(batches),
    })
}
