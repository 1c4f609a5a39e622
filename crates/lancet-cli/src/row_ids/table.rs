//! The row ids of a table's fragments.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use lancet_row_ids::{IdRanges, RowIdSequence};
use lancet_table::names::VERSIONS_DIR;
use lancet_table::{Flags, Fragment, Limits, Manifest, RowIds, Stored, Versions};
use serde_json::{Value, json};

use super::{Args, sequence};
use crate::error::{Error, InFile, Result};
use crate::table::Grid;
use crate::{terminal, units};

/// As many ranges of ids are shown of a fragment.
const MAX_RANGES: usize = 4;

/// A version of a table; the latest by default.
pub fn open(table: &Path, version: Option<u64>) -> Result<Manifest> {
    let folder = table.join(VERSIONS_DIR);
    if !folder.is_dir() {
        let message = format!("is a folder without `{VERSIONS_DIR}/`, so it is not a Lance table");
        return Err(Error::new(message).about(table));
    }
    let versions = Versions::from_names(file_names(&folder)?).in_file(table)?;
    let Some(latest) = versions.latest() else {
        return Err(Error::new("the table has no versions").about(table));
    };
    let name = match version {
        None => latest,
        Some(number) => versions.get(number).ok_or_else(|| {
            let message = format!("has no version {number}; the latest is {}", latest.version);
            Error::new(message).about(table)
        })?,
    };
    parse(&folder.join(name.file_name()))
}

fn file_names(folder: &Path) -> Result<Vec<String>> {
    let name = |entry: std::io::Result<std::fs::DirEntry>| {
        entry.map(|entry| entry.file_name().to_string_lossy().into_owned())
    };
    let entries = std::fs::read_dir(folder).in_file(folder)?;
    entries.map(name).collect::<std::io::Result<_>>().in_file(folder)
}

/// The version in a version file.
pub fn parse(file: &Path) -> Result<Manifest> {
    let bytes = super::read(file)?;
    Manifest::parse(&file.display().to_string(), &bytes, &Limits::default()).in_file(file)
}

/// Prints the row ids of all fragments, or of one.
pub fn show(manifest: &Manifest, args: &Args, out: &mut dyn Write) -> Result<()> {
    let fragments = chosen(manifest, args)?;
    if args.ids {
        return fragments.iter().try_for_each(|fragment| print_ids(manifest, fragment, args, out));
    }
    if args.json {
        let json = manifest_json(manifest, &fragments, args)?;
        return Ok(writeln!(out, "{json:#}")?);
    }
    terminal::line(out, &format!("{}: {}", args.path.display(), summary(manifest)))?;
    if fragments.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{}", fragment_table(manifest, &fragments, args)?)?;
    match (args.fragment, fragments.as_slice()) {
        (Some(_), [fragment]) => print_segments(manifest, fragment, args, out),
        _ => Ok(()),
    }
}

fn chosen<'a>(manifest: &'a Manifest, args: &Args) -> Result<Vec<&'a Fragment>> {
    let Some(id) = args.fragment else {
        return Ok(manifest.fragments.iter().map(Arc::as_ref).collect());
    };
    match manifest.fragments.iter().find(|fragment| fragment.id == id) {
        Some(fragment) => Ok(vec![fragment]),
        None => {
            let ids = manifest.fragments.iter().map(|fragment| fragment.id);
            let known = match (ids.clone().min(), ids.max()) {
                (Some(least), Some(greatest)) => format!("its ids are from {least} to {greatest}"),
                _ => "there are no fragments".into(),
            };
            let message = format!("version {} has no fragment {id}; {known}", manifest.version);
            Err(Error::new(message).about(&args.path))
        }
    }
}

fn has_stable_ids(manifest: &Manifest) -> bool {
    manifest.reader_flags.contains(Flags::STABLE_ROW_IDS)
}

fn row_ids(manifest: &Manifest, fragment: &Fragment, args: &Args) -> Result<RowIds> {
    manifest.row_ids(fragment).in_file(&args.path)
}

/// What can be told of the whole version.
fn summary(manifest: &Manifest) -> String {
    let rows = manifest.num_rows().map_or("unknown rows".into(), units::rows);
    let fragments = units::counted(manifest.fragments.len() as u64, "fragment");
    let deleted = manifest.num_deleted_rows().map_or("an unknown number".into(), units::count);
    let ids = match has_stable_ids(manifest) {
        true => format!("stable row ids, the next is {}", manifest.next_row_id),
        false => "no stable row ids".into(),
    };
    format!("version {}, {rows} in {fragments}, {deleted} deleted; {ids}", manifest.version)
}

fn fragment_table(manifest: &Manifest, fragments: &[&Fragment], args: &Args) -> Result<String> {
    let mut grid = Grid::new(&[">fragment", ">rows", ">deleted", "row ids"]);
    let known = |n: Option<u64>| n.map_or_else(|| "?".into(), units::count);
    for fragment in fragments {
        let ids = match row_ids(manifest, fragment, args)? {
            RowIds::Addresses => "none: row addresses".into(),
            RowIds::Sequence(sequence) => ranges(&sequence),
            RowIds::Column { file, column } => {
                format!("column {column} of {}", data_file(fragment, file))
            }
        };
        let (rows, deleted) = (fragment.num_rows(), fragment.num_deleted_rows());
        grid.push([fragment.id.to_string(), known(rows), known(deleted), ids]);
    }
    Ok(grid.plain())
}

/// `0..10, 12, 20..30, … 7 more`.
fn ranges(sequence: &RowIdSequence) -> String {
    let set = IdRanges::from(sequence);
    let all = set.ranges();
    let more = all.len().saturating_sub(MAX_RANGES);
    let range = |range: std::ops::RangeInclusive<u64>| match range.start() == range.end() {
        true => range.start().to_string(),
        false => format!("{}..{}", range.start(), u128::from(*range.end()) + 1),
    };
    let mut parts: Vec<String> = all.take(MAX_RANGES).map(range).collect();
    if more > 0 {
        parts.push(format!("… {more} more"));
    }
    if parts.is_empty() { "–".into() } else { parts.join(", ") }
}

/// Where a data file of a fragment is, below the folder of the table.
fn data_file(fragment: &Fragment, file: usize) -> String {
    match fragment.files.get(file) {
        Some(file) => match file.base {
            None => format!("data/{}", file.path),
            Some(base) => format!("{} in base {base}", file.path),
        },
        None => "?".into(),
    }
}

fn print_segments(
    manifest: &Manifest,
    fragment: &Fragment,
    args: &Args,
    out: &mut dyn Write,
) -> Result<()> {
    let RowIds::Sequence(ids) = row_ids(manifest, fragment, args)? else { return Ok(()) };
    writeln!(out, "\n{}", sequence::described(&ids, inline_bytes(fragment)))?;
    Ok(writeln!(out, "\n{}", sequence::segment_table(&ids))?)
}

fn inline_bytes(fragment: &Fragment) -> usize {
    match &fragment.row_ids {
        Some(Stored::Inline(bytes)) => bytes.len(),
        _ => 0,
    }
}

fn print_ids(
    manifest: &Manifest,
    fragment: &Fragment,
    args: &Args,
    out: &mut dyn Write,
) -> Result<()> {
    let id = fragment.id;
    let refused = |message: String| Err(Error::new(message).about(&args.path));
    match row_ids(manifest, fragment, args)? {
        RowIds::Sequence(sequence) => sequence.iter().try_for_each(|id| Ok(writeln!(out, "{id}")?)),
        RowIds::Addresses => {
            let Some(rows) = fragment.physical_rows else {
                return refused(format!(
                    "the manifest does not say how many rows fragment {id} has"
                ));
            };
            let first = u64::from(id) << 32;
            (0..rows).try_for_each(|row| Ok(writeln!(out, "{}", first | row)?))
        }
        RowIds::Column { file, .. } => {
            let file = data_file(fragment, file);
            refused(format!(
                "fragment {id} keeps its row ids in a data file; show them with \
                 `lancet cat {file} --columns _rowid --format csv` in the folder of the table"
            ))
        }
    }
}

fn manifest_json(manifest: &Manifest, fragments: &[&Fragment], args: &Args) -> Result<Value> {
    let fragments: Result<Vec<Value>> =
        fragments.iter().map(|fragment| fragment_json(manifest, fragment, args)).collect();
    Ok(json!({
        "path": args.path.display().to_string(),
        "version": manifest.version,
        "rows": manifest.num_rows(),
        "deleted_rows": manifest.num_deleted_rows(),
        "stable_row_ids": has_stable_ids(manifest),
        "next_row_id": has_stable_ids(manifest).then_some(manifest.next_row_id),
        "fragments": fragments?,
    }))
}

fn fragment_json(manifest: &Manifest, fragment: &Fragment, args: &Args) -> Result<Value> {
    let row_ids = match row_ids(manifest, fragment, args)? {
        RowIds::Addresses => Value::Null,
        RowIds::Sequence(ids) => json!({
            "stored": "manifest",
            "bytes": inline_bytes(fragment),
            "segments": sequence::segments_json(&ids),
        }),
        RowIds::Column { file, column } => json!({
            "stored": "data file",
            "file": fragment.files.get(file).map(|file| &*file.path),
            "base": fragment.files.get(file).and_then(|file| file.base),
            "column": column,
        }),
    };
    Ok(json!({
        "fragment": fragment.id,
        "rows": fragment.num_rows(),
        "deleted_rows": fragment.num_deleted_rows(),
        "physical_rows": fragment.physical_rows,
        "row_ids": row_ids,
    }))
}
