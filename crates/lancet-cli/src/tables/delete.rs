//! `lancet table delete`: rows go, by a condition, by number or by id.

use std::io::Write;
use std::path::PathBuf;

use clap::ArgGroup;
use lancet::RowRanges;
use lancet_table::TableRows;

use super::change::{ChangeArgs, Done};
use super::clause::Where;
use super::select;
use crate::error::Result;
use crate::places::InTable;
use crate::progress;
use crate::rows::RowList;
use crate::signals::Cancel;

const EXAMPLES: &str = "\
Examples:
  lancet table delete cities.lance --where \"country = 'CH' AND population < 1000\"
  lancet table delete cities.lance --where \"founded < '1900-01-01' OR mayor IS NULL\"
  lancet table delete cities.lance --where \"address.zip IN ('3000', '3001')\" -m 'duplicates'
  lancet table delete cities.lance --where \"lower(name) LIKE 'test%' OR population % 10 = 7\"  (SQL)
  lancet table delete cities.lance --rows 0,7,100..110
  lancet table delete cities.lance --row-ids 17,4
  lancet table restore cities.lance --version 3        takes it back
(SQL): a build with the feature `sql`; `lancet --version` tells.

Names of columns are taken as they are written. Rows for which a condition is null stay. For
conditions with other tables in them there is `lancet sql \"DELETE FROM 'cities.lance' WHERE ...\"`.

Deleted rows stay in the files, and in older versions, until `lancet table compact` and
`lancet table cleanup`.";

/// Which rows go.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, group = ArgGroup::new("which").required(true))]
pub struct Args {
    /// Folder of the table
    table: PathBuf,
    /// Rows for which a condition of SQL holds; without SQL: comparisons with values, IN, IS NULL, AND, OR, NOT
    #[arg(long = "where", value_name = "CONDITION", group = "which")]
    condition: Option<Where>,
    /// Rows by their numbers, as `lancet cat` counts them from 0: 5,9,100..110
    #[arg(short, long, value_parser = RowList::parse, group = "which")]
    rows: Option<RowList>,
    /// Rows by their ids; those that are gone are left out
    #[arg(long, value_parser = RowList::parse, value_name = "IDS", group = "which")]
    row_ids: Option<RowList>,
    #[command(flatten)]
    change: ChangeArgs,
}

/// Runs the verb.
pub fn run(args: &Args, quiet: bool, out: &mut dyn Write) -> Result<()> {
    let (bar, cancel) = (progress::bar(None, quiet), Cancel::begin());
    let options = args.change.options(&bar, &cancel);
    let change = match (&args.condition, &args.row_ids, &args.rows) {
        (Some(condition), _, _) => args.change.on_newest(&args.table, |table| {
            let rows = select::matching(table, condition, &cancel)?;
            table.delete_with(rows, &condition.text, &options)
        })?,
        (None, Some(ids), _) => {
            let ids = TableRows::Ids(ids.ids()?);
            args.change
                .on_newest(&args.table, |table| table.delete_with(ids.clone(), "", &options))?
        }
        (None, None, rows) => {
            // Other rows may have these numbers when another writer was faster, so that this is not done twice.
            let mut table = args.change.open(&args.table)?;
            let num_rows = table.num_rows().in_table(&args.table)?;
            let rows = rows.iter().map(|rows| rows.ranges(num_rows));
            let rows = rows.collect::<Result<Vec<_>>>().map_err(|e| e.about(&args.table))?;
            let rows = RowRanges::from_iter(rows.into_iter().flatten().cloned());
            table.delete_with(rows, "", &options).in_table(&args.table)?
        }
    };
    bar.finish_and_clear();
    Done::rows("delete", &args.table, &change).tell(args.change.json, quiet, out)
}
