//! `lancet row-ids`: the segments, or the ids, of a serialized row id sequence.

use std::io::Write;
use std::path::PathBuf;

use lancet::row_ids::{RowIdSequence, Segment};
use serde_json::{Value, json};

use crate::error::{InFile, Result};
use crate::format::check_is_file;
use crate::table::Grid;
use crate::units;

const EXAMPLES: &str = "\
Examples:
  lancet row-ids fragment-0.bin
  lancet row-ids fragment-0.bin --ids | head
  lancet row-ids fragment-0.bin --json | jq '.segments[].kind'";

/// Whose row ids to show.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// File with a serialized `RowIdSequence`, as manifests hold one for each fragment
    file: PathBuf,
    /// Print JSON
    #[arg(long, conflicts_with = "ids")]
    json: bool,
    /// Print every id on a line of its own
    #[arg(long)]
    ids: bool,
}

/// Runs the command.
pub fn run(args: &Args, out: &mut dyn Write) -> Result<()> {
    check_is_file(&args.file)?;
    let bytes = std::fs::read(&args.file).in_file(&args.file)?;
    let sequence = RowIdSequence::decode(&bytes).in_file(&args.file)?;
    if args.ids {
        return sequence.iter().try_for_each(|id| Ok(writeln!(out, "{id}")?));
    }
    if args.json {
        let report = json!({
            "file": args.file.display().to_string(),
            "bytes": bytes.len(),
            "rows": sequence.len(),
            "segments": with_positions(&sequence).map(segment_json).collect::<Vec<_>>(),
        });
        writeln!(out, "{report:#}")?;
        return Ok(());
    }
    writeln!(
        out,
        "{}: {} in {}, {}",
        args.file.display(),
        units::counted(sequence.len(), "row id"),
        units::counted(sequence.segments().len() as u64, "segment"),
        units::bytes(bytes.len() as u64)
    )?;
    if !sequence.segments().is_empty() {
        writeln!(out, "\n{}", segment_table(&sequence))?;
    }
    Ok(())
}

/// The segments, each with the position of its first id.
fn with_positions(sequence: &RowIdSequence) -> impl Iterator<Item = (u64, &Segment)> {
    sequence.segments().iter().scan(0, |next, segment| {
        let position = *next;
        *next += segment.len();
        Some((position, segment))
    })
}

fn segment_table(sequence: &RowIdSequence) -> String {
    let header = [">position", ">ids", "kind", "range", "array", ">first", ">last"];
    let mut grid = Grid::new(&header);
    let optional = |text: Option<String>| text.unwrap_or_else(|| "–".into());
    for (position, segment) in with_positions(sequence) {
        let range = segment.range().map(|range| format!("{}..{}", range.start, range.end));
        let what = if segment.range().is_some() { "hole" } else { "id" };
        let array = segment.array().map(|array| {
            format!("{} × {}", units::counted(array.len() as u64, what), array.width().name())
        });
        grid.push([
            units::count(position),
            units::count(segment.len()),
            segment.kind().name().replace('_', " "),
            optional(range),
            optional(array),
            optional(segment.iter().next().map(|id| id.to_string())),
            optional(segment.iter().next_back().map(|id| id.to_string())),
        ]);
    }
    grid.plain()
}

fn segment_json((position, segment): (u64, &Segment)) -> Value {
    let array = segment.array().map(|array| array.width().name());
    json!({
        "position": position,
        "ids": segment.len(),
        "kind": segment.kind().name(),
        "start": segment.range().map(|range| range.start),
        "end": segment.range().map(|range| range.end),
        "array": array,
        "first": segment.iter().next(),
        "last": segment.iter().next_back(),
    })
}
