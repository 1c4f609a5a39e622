//! `lancet cat`: prints rows, or writes them to a file.

use std::io::Write;
use std::path::PathBuf;

use crate::copy::Destination;
use crate::error::Result;
use crate::input::{self, Selection, TextOptions};
use crate::rows::RowRange;

/// Rows of a table when nobody says how many.
const TABLE_ROWS: u64 = 20;

const EXAMPLES: &str = "\
Examples:
  lancet cat orders.lance
  lancet cat orders.lance --columns id,address.city --rows 1000..1010
  lancet cat orders.lance --format jsonl | head -3
  lancet cat orders.lance --columns id,price -o prices.parquet";

/// What to print.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// File to read
    file: PathBuf,
    /// Columns to read; nested ones with dots: a,b.c
    #[arg(short, long, value_delimiter = ',')]
    columns: Vec<String>,
    /// Rows to read: 10..20, 10.. or ..20
    #[arg(short, long, value_parser = RowRange::parse)]
    rows: Option<RowRange>,
    /// Most rows to read (a table shows 20 unless --limit or --rows is given)
    #[arg(short = 'n', long)]
    limit: Option<u64>,
    #[command(flatten)]
    destination: Destination,
    #[command(flatten)]
    text: TextOptions,
}

/// Runs the command.
pub fn run(args: &Args, quiet: bool, out: &mut dyn Write) -> Result<()> {
    args.destination.check(Some(&args.file))?;
    let selection = Selection { columns: args.columns.clone(), rows: selected_rows(args) };
    let input = input::open_selection(&args.file, None, &args.text, &selection, quiet)?;
    args.destination.fill(input, quiet, out)
}

fn selected_rows(args: &Args) -> RowRange {
    let unasked = args.limit.is_none() && args.rows.is_none();
    let limit = if args.destination.is_table() && unasked { Some(TABLE_ROWS) } else { args.limit };
    args.rows.unwrap_or_default().limited(limit)
}
