//! `lancet versions`: the history of a table.

use std::io::Write;
use std::path::PathBuf;

use chrono::DateTime;
use lancet_table::{At, Branch, Manifest, Operation, TableOptions, Tag};
use serde_json::{Value, json};

use crate::error::{Error, InFile, Result};
use crate::lines::{Report, Width};
use crate::places::{Place, open_table};
use crate::table::Grid;
use crate::units;

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
    #[command(flatten)]
    width: Width,
}

/// What is shown of a version. Manifests of tables with many fragments are large, so that they are not kept.
struct Line {
    version: u64,
    /// What made it; `None` if it does not tell.
    change: Option<&'static str>,
    written: Option<String>,
    rows: Option<u64>,
    deleted: Option<u64>,
    fragments: u64,
    bytes: u64,
    tags: Vec<String>,
    writer: Option<String>,
}

/// Runs the command.
pub fn run(args: &Args, out: &mut dyn Write) -> Result<()> {
    let at = args.branch.clone().map_or(At::Latest, At::Branch);
    let options = TableOptions::default().with_version(at);
    let Place::Disk(folder) = Place::of(&args.table)? else {
        return Err(Error::new("only tables on disk are read by this program").about(&args.table));
    };
    let table = open_table(&folder, options)?;
    let tags = table.tags().in_file(&args.table)?;
    let branches = table.branches().in_file(&args.table)?;
    let mut lines = Vec::with_capacity(table.versions().len());
    for number in table.versions() {
        // What made a version is for people: one that does not tell is a version all the same.
        let made_by = table.transaction_of(*number).ok().flatten();
        let change = made_by.map(|transaction| match transaction.operation {
            // A table begins as if it replaced one.
            Operation::Overwrite(_) if transaction.read_version == 0 => "create",
            operation => operation.words(),
        });
        lines.push(Line::new(&table.manifest_of(*number).in_file(&args.table)?, change, &tags));
    }
    if args.json {
        let branch = |branch: &Branch| {
            let (name, parent) = (&branch.name, &branch.parent);
            json!({ "name": name, "parent": parent, "parent_version": branch.parent_version })
        };
        let report = json!({
            "table": args.table.display().to_string(),
            "versions": lines.iter().map(Line::to_json).collect::<Vec<_>>(),
            "branches": branches.iter().map(branch).collect::<Vec<_>>(),
        });
        return Ok(writeln!(out, "{report:#}")?);
    }
    let mut out = Report::new(out, args.width.get());
    let count = units::counted(lines.len() as u64, "version");
    out.line(format!("{}: {count}", args.table.display()))?;
    out.line("")?;
    out.grid(&grid(&lines))?;
    for branch in &branches {
        let parent = branch.parent.as_deref().unwrap_or("main");
        let version = branch.parent_version;
        out.line(format!("branch {}: from version {version} of {parent}", branch.name))?;
    }
    Ok(())
}

fn grid(lines: &[Line]) -> Grid {
    let header =
        [">version", "change", "written", ">rows", ">deleted", ">fragments", ">bytes", "tags"];
    let mut grid = Grid::new(&header);
    let known = |n: Option<u64>| n.map_or_else(|| "?".into(), units::count);
    for line in lines {
        grid.push([
            line.version.to_string(),
            line.change.unwrap_or("?").into(),
            line.written.clone().unwrap_or_default(),
            known(line.rows),
            known(line.deleted),
            units::count(line.fragments),
            units::bytes(line.bytes),
            line.tags.join(", "),
        ]);
    }
    grid
}

impl Line {
    fn new(manifest: &Manifest, change: Option<&'static str>, tags: &[Tag]) -> Self {
        let named = |tag: &&Tag| tag.version == manifest.version && tag.branch == manifest.branch;
        Self {
            version: manifest.version,
            change,
            written: written(manifest),
            rows: manifest.num_rows(),
            deleted: manifest.num_deleted_rows(),
            fragments: manifest.fragments.len() as u64,
            bytes: data_bytes(manifest),
            tags: tags.iter().filter(named).map(|tag| tag.name.clone()).collect(),
            writer: writer(manifest),
        }
    }

    fn to_json(&self) -> Value {
        json!({
            "version": self.version,
            "change": self.change,
            "written": self.written,
            "rows": self.rows,
            "deleted_rows": self.deleted,
            "fragments": self.fragments,
            "data_bytes": self.bytes,
            "tags": self.tags,
            "writer": self.writer,
        })
    }
}

/// Bytes of the data files of a version, as far as its manifest tells.
pub fn data_bytes(manifest: &Manifest) -> u64 {
    let files = manifest.fragments.iter().flat_map(|fragment| &fragment.files);
    files.filter_map(|file| file.size_bytes).fold(0, u64::saturating_add)
}

/// The program that wrote a version.
pub fn writer(manifest: &Manifest) -> Option<String> {
    manifest.writer.as_ref().map(|writer| format!("{} {}", writer.library, writer.version))
}

/// When a version was written.
pub fn written(version: &Manifest) -> Option<String> {
    let nanos = i64::try_from(version.timestamp_nanos?).ok()?;
    Some(DateTime::from_timestamp_nanos(nanos).format("%Y-%m-%d %H:%M:%S UTC").to_string())
}
