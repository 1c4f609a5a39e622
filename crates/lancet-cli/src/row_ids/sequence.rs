//! The segments, or the ids, of a serialized row id sequence.

use std::io::Write;
use std::path::Path;

use lancet_row_ids::{RowIdSequence, Segment};
use serde_json::{Value, json};

use super::Args;
use crate::error::{InFile, Result};
use crate::table::Grid;
use crate::{terminal, units};

/// Shows a file that holds one sequence.
pub fn show(path: &Path, args: &Args, out: &mut dyn Write) -> Result<()> {
    let bytes = super::read(path)?;
    let sequence = RowIdSequence::decode(&bytes).in_file(path)?;
    if args.ids {
        return sequence.iter().try_for_each(|id| Ok(writeln!(out, "{id}")?));
    }
    if args.json {
        let report = json!({
            "file": path.display().to_string(),
            "bytes": bytes.len(),
            "rows": sequence.len(),
            "segments": segments_json(&sequence),
        });
        writeln!(out, "{report:#}")?;
        return Ok(());
    }
    terminal::line(out, &format!("{}: {}", path.display(), described(&sequence, bytes.len())))?;
    if !sequence.segments().is_empty() {
        writeln!(out, "\n{}", segment_table(&sequence))?;
    }
    Ok(())
}

/// How many ids there are, and what they take.
pub fn described(sequence: &RowIdSequence, num_bytes: usize) -> String {
    format!(
        "{} in {}, {}",
        units::counted(sequence.len(), "row id"),
        units::counted(sequence.segments().len() as u64, "segment"),
        units::bytes(num_bytes as u64)
    )
}

/// The segments, as JSON.
pub fn segments_json(sequence: &RowIdSequence) -> Vec<Value> {
    with_positions(sequence).map(segment_json).collect()
}

/// The segments, each with the position of its first id.
fn with_positions(sequence: &RowIdSequence) -> impl Iterator<Item = (u64, &Segment)> {
    sequence.segments().iter().scan(0, |next, segment| {
        let position = *next;
        *next += segment.len();
        Some((position, segment))
    })
}

/// The segments, one in a line.
pub fn segment_table(sequence: &RowIdSequence) -> String {
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
