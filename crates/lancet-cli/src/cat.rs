//! `lancet cat`: prints rows, or writes them to a file.

use std::io::Write;
use std::path::PathBuf;

use lancet::WriteOptions;

use crate::copy::{self, TextFormat};
use crate::error::Result;
use crate::format::Format;
use crate::input::{self, Selection};
use crate::output;
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
    /// How to print; only tables cut long values
    #[arg(short, long, value_enum, default_value_t)]
    format: TextFormat,
    /// Write to a file instead; the ending chooses the format
    #[arg(short, long, value_name = "OUT", conflicts_with = "format")]
    output: Option<PathBuf>,
}

/// Runs the command.
pub fn run(args: &Args, quiet: bool, out: &mut dyn Write) -> Result<()> {
    if let Some(path) = &args.output {
        Format::from_path(path)?;
        output::check_not_same(&args.file, path)?;
    }
    let selection = Selection { columns: args.columns.clone(), rows: selected_rows(args) };
    let input = input::open_selection(&args.file, &selection)?;
    match &args.output {
        Some(path) => copy::to_file(input, path, &WriteOptions::default(), quiet).map(drop),
        None => copy::to_stdout(input, args.format, out),
    }
}

fn selected_rows(args: &Args) -> RowRange {
    let table = args.output.is_none() && args.format == TextFormat::Table;
    let unasked = args.limit.is_none() && args.rows.is_none();
    let limit = if table && unasked { Some(TABLE_ROWS) } else { args.limit };
    args.rows.unwrap_or_default().limited(limit)
}
