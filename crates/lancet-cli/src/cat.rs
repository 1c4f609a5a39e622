//! `lancet cat`: prints rows, or writes them to a file.

use std::io::Write;
use std::path::PathBuf;

use lancet::ReadOptions;

use crate::copy::Destination;
use crate::error::Result;
use crate::input::{Selection, TextOptions};
use crate::places::{self, FormatName, InputFile, TableArgs};
use crate::rows::RowRange;
use crate::{claims, joined};

/// Rows of a table when nobody says how many.
const TABLE_ROWS: u64 = 20;

const EXAMPLES: &str = "\
Examples:
  lancet cat orders.lance
  lancet cat orders.lance --columns id,address.city --rows 1000..1010
  lancet cat orders.lance --format jsonl | head -3
  lancet cat orders.lance --columns id,price -o prices.parquet
  lancet cat 'part-*.lance' -o whole.lance
  lancet cat orders.lance -o - --to arrows | other-program
  other-program | lancet cat - --from csv
  lancet cat cities.lance/ --version 3 --with-row-id     a table

Rows of several files come one after the other, and are counted over all of them.";

/// What to print.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Files or tables to read: paths, patterns such as 'part-*.csv', URLs, - for standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Columns to read; nested ones with dots: a,b.c
    #[arg(short, long, value_delimiter = ',')]
    columns: Vec<String>,
    /// Rows to read: 10..20, 10.. or ..20
    #[arg(short, long, value_parser = RowRange::parse)]
    rows: Option<RowRange>,
    /// Most rows to read (a table shows 20 unless --limit or --rows is given)
    #[arg(short = 'n', long)]
    limit: Option<u64>,
    /// Format of the files, if their endings do not tell
    #[arg(long, value_name = "FORMAT", value_parser = FormatName::parse)]
    from: Option<FormatName>,
    #[command(flatten)]
    destination: Destination,
    #[command(flatten)]
    text: TextOptions,
    #[command(flatten)]
    table: TableArgs,
}

/// Runs the command.
pub fn run(args: &Args, quiet: bool, out: &mut dyn Write) -> Result<()> {
    let files = places::expand(&args.files)?;
    args.destination.check_all(files.paths.iter().map(PathBuf::as_path))?;
    let open = |path: &PathBuf| {
        let (from, access) = (args.from.as_ref(), &args.destination.access);
        InputFile::or_table(path, from, access, &args.table, ReadOptions::default())?
            .with_text(&args.text, quiet)
    };
    let files = files.paths.iter().map(open).collect::<Result<Vec<_>>>()?;
    let bytes = files.iter().map(InputFile::size_bytes).fold(0, u64::saturating_add);
    let selection = Selection { columns: args.columns.clone(), rows: selected_rows(args) };
    let input = joined::open(files, &selection)?;
    if args.destination.is_file() && selection.rows.end.is_none() {
        let claimed = claims::check(input.rows, bytes, "say how many are wanted: --limit 1000");
        claimed.map_err(|error| match args.files.as_slice() {
            [file] => error.about(file),
            _ => error,
        })?;
    }
    args.destination.fill(input, quiet, out)
}

fn selected_rows(args: &Args) -> RowRange {
    let unasked = args.limit.is_none() && args.rows.is_none();
    let limit = if args.destination.is_table() && unasked { Some(TABLE_ROWS) } else { args.limit };
    args.rows.unwrap_or_default().limited(limit)
}
