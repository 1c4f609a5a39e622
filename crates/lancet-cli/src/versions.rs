//! `lancet versions`: the history of a table.

use std::io::Write;
use std::path::PathBuf;

use chrono::DateTime;
use lancet_table::{At, Manifest, Table, TableOptions, Tag};
use serde_json::{Value, json};

use crate::error::{InFile, Result};
use crate::table::Grid;
use crate::{terminal, units};

const EXAMPLES: &str = "\
Examples:
  lancet versions cities.lance
  lancet versions cities.lance --json | jq '.versions[].rows'
  lancet versions cities.lance --branch experiment
  lancet cat cities.lance --version 3";

/// Whose history to show.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Folder of a Lance table
    table: PathBuf,
    /// Versions of a branch instead of the main one
    #[arg(long, value_name = "NAME")]
    branch: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(args: &Args, out: &mut dyn Write) -> Result<()> {
    let at = args.branch.clone().map_or(At::Latest, At::Branch);
    let options = TableOptions::default().with_version(at);
    let table = Table::open_with(&args.table, options).in_file(&args.table)?;
    let tags = table.tags().in_file(&args.table)?;
    let branches = table.branches().in_file(&args.table)?;
    let mut versions = Vec::with_capacity(table.versions().len());
    for number in table.versions() {
        versions.push(table.manifest_of(*number).in_file(&args.table)?);
    }
    if args.json {
        let branches: Vec<Value> = branches
            .iter()
            .map(|branch| {
                json!({ "name": branch.name, "parent": branch.parent, "parent_version": branch.parent_version })
            })
            .collect();
        let versions: Vec<Value> = versions.iter().map(|v| to_json(v, &tags)).collect();
        let table = args.table.display().to_string();
        let report = json!({ "table": table, "versions": versions, "branches": branches });
        return Ok(writeln!(out, "{report:#}")?);
    }
    let count = units::counted(versions.len() as u64, "version");
    terminal::line(out, &format!("{}: {count}", args.table.display()))?;
    let mut grid = Grid::new(&[">version", "written", ">rows", ">deleted", ">fragments", "tags"]);
    let known = |n: Option<u64>| n.map_or_else(|| "?".into(), units::count);
    for version in &versions {
        grid.push([
            version.version.to_string(),
            written(version).unwrap_or_default(),
            known(version.num_rows()),
            known(version.num_deleted_rows()),
            units::count(version.fragments.len() as u64),
            tags_of(version, &tags).join(", "),
        ]);
    }
    writeln!(out, "\n{}", grid.plain())?;
    for branch in &branches {
        let parent = branch.parent.as_deref().unwrap_or("main");
        let line =
            format!("branch {}: from version {} of {parent}", branch.name, branch.parent_version);
        terminal::line(out, &line)?;
    }
    Ok(())
}

fn to_json(version: &Manifest, tags: &[Tag]) -> Value {
    let writer = version.writer.as_ref().map(|w| format!("{} {}", w.library, w.version));
    json!({
        "version": version.version,
        "written": written(version),
        "rows": version.num_rows(),
        "deleted_rows": version.num_deleted_rows(),
        "fragments": version.fragments.len(),
        "tags": tags_of(version, tags),
        "writer": writer,
    })
}

fn tags_of(version: &Manifest, tags: &[Tag]) -> Vec<String> {
    let named = tags.iter().filter(|t| t.version == version.version && t.branch == version.branch);
    named.map(|tag| tag.name.clone()).collect()
}

/// When a version was written.
fn written(version: &Manifest) -> Option<String> {
    let nanos = i64::try_from(version.timestamp_nanos?).ok()?;
    Some(DateTime::from_timestamp_nanos(nanos).format("%Y-%m-%d %H:%M:%S UTC").to_string())
}
