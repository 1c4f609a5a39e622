//! `lancet table compact`: small fragments are joined, deleted rows go for good.

use std::io::Write;
use std::path::PathBuf;

use lancet_table::CompactOptions;
use serde_json::Value;

use super::change::{ChangeArgs, Done};
use crate::error::Result;
use crate::signals::Cancel;
use crate::{progress, units};

const EXAMPLES: &str = "\
Examples:
  lancet table compact cities.lance
  lancet table compact cities.lance --target-rows 500000 --deleted-share 0.25
  lancet table compact cities.lance && lancet table cleanup cities.lance --older-than 7d

Rows that were joined move behind the others; with stable row ids they keep their ids. Older
versions keep the old files until a cleanup.";

/// What to aim at.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Folder of the table
    table: PathBuf,
    /// Rows of a new fragment, at most; smaller ones are joined [default: 1048576]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=u64::from(u32::MAX)))]
    target_rows: Option<u64>,
    /// Fragments with a larger share of deleted rows are written again [default: 0.1]
    #[arg(long, value_name = "SHARE", value_parser = share)]
    deleted_share: Option<f64>,
    #[command(flatten)]
    change: ChangeArgs,
}

/// Runs the verb.
pub fn run(args: &Args, quiet: bool, out: &mut dyn Write) -> Result<()> {
    let mut plan = CompactOptions::default();
    if let Some(rows) = args.target_rows {
        plan = plan.with_target_rows(rows);
    }
    if let Some(share) = args.deleted_share {
        plan = plan.with_deleted_share(share);
    }
    let (bar, cancel) = (progress::bar(None, quiet), Cancel::begin());
    let options = args.change.options(&bar, &cancel);
    let done = args.change.on_newest(&args.table, |table| table.compact(&plan, &options))?;
    bar.finish_and_clear();
    let indexes: Vec<&str> = done.indexes.iter().map(|index| index.name.as_str()).collect();
    let mut line = match done.fragments_removed {
        0 => "nothing to do".into(),
        removed => format!(
            "{} became {}: {} written again, {} gone for good, {}",
            units::counted(removed as u64, "fragment"),
            units::count(done.fragments_added as u64),
            units::rows(done.rows),
            units::count(done.deleted_rows),
            units::bytes(done.bytes)
        ),
    };
    if !indexes.is_empty() {
        line.push_str(&format!("; build these indexes again: {}", indexes.join(", ")));
    }
    let facts = vec![
        ("fragments_removed", Value::from(done.fragments_removed)),
        ("fragments_added", done.fragments_added.into()),
        ("rows", done.rows.into()),
        ("deleted_rows", done.deleted_rows.into()),
        ("bytes", done.bytes.into()),
        ("indexes_to_rebuild", indexes.into()),
    ];
    Done { verb: "compact", table: &args.table, version: Some(done.version), facts, line }.tell(
        args.change.json,
        quiet,
        out,
    )
}

fn share(text: &str) -> Result<f64, String> {
    let share = text.parse::<f64>().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "write a share from 0 to 1, as in 0.25".into())
}
