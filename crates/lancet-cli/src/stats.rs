//! `lancet stats`: what the zone maps of a Lance file or table say about its columns.

mod table;
mod zones;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::DataType;
use lancet::{ColumnReport, FileReader, ZoneMap};
use serde_json::{Value, json};

use crate::error::{Error, InFile, Result};
use crate::lines::{Report, Width};
use crate::places::{self, Access, InputFile, VersionArgs, table_folder};
use crate::show::{OutOfRange, Show};
use crate::table::Grid;
use crate::{text, time_zones, units};

const EXAMPLES: &str = "\
Examples:
  lancet stats orders.lance
  lancet stats orders.lance --zones --columns price
  lancet stats orders.lance --json | jq '.columns[] | {name, min, max}'
  lancet stats cities.lance/ --tag released     a table: the zone maps of all its files
  lancet stats cities.lance/ --zones            every zone of every fragment

JSON is one object for one file, and a list of them for several or for a pattern.
A bound with `~` may lie further out than any value: long strings are cut, and rows of tables deleted.";

/// Whose statistics to show.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Lance files or tables to read: paths, patterns such as 'part-*.lance', URLs
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// List every zone
    #[arg(short, long)]
    zones: bool,
    /// Columns to show; nested ones with dots: a,b.c
    #[arg(short, long, value_delimiter = ',')]
    columns: Vec<String>,
    #[command(flatten)]
    access: Access,
    #[command(flatten)]
    width: Width,
    #[command(flatten)]
    version: VersionArgs,
}

/// A column and its zone map.
struct Column {
    name: String,
    data_type: DataType,
    map: Option<Arc<ZoneMap>>,
    /// Why there is no map.
    missing: &'static str,
}

/// Runs the command.
pub fn run(args: &Args, quiet: bool, out: &mut dyn Write) -> Result<()> {
    let files = places::expand(&args.files)?;
    args.access.check(files.paths.iter().map(PathBuf::as_path))?;
    let mut reports = Vec::new();
    for (number, path) in files.paths.iter().enumerate() {
        if number > 0 && !args.json {
            writeln!(out)?;
        }
        reports.extend(run_one(args, path, quiet, out)?);
    }
    match reports.as_slice() {
        [report] if !files.several => writeln!(out, "{report:#}")?,
        _ if args.json => writeln!(out, "{:#}", Value::from(reports))?,
        _ => {}
    }
    Ok(())
}

/// Prints what is known of a file, or returns it as JSON.
fn run_one(args: &Args, path: &Path, quiet: bool, out: &mut dyn Write) -> Result<Option<Value>> {
    if let Some(folder) = table_folder(path)? {
        return table::show(args, path, &args.version.open(&folder)?, quiet, out);
    }
    args.version.check_is_table(path)?;
    let file = InputFile::lance(path, "stats", &args.access)?;
    let reader = file.reader()?;
    let columns = columns(&reader, &args.columns).in_file(path)?;
    let name = path.display();
    if args.json {
        let columns = columns.iter().map(|column| column_json(column, args.zones));
        return Ok(Some(json!({
            "file": name.to_string(),
            "rows": reader.num_rows(),
            "columns": columns.collect::<Result<Vec<_>>>()?,
        })));
    }
    let mut out = Report::new(out, args.width.get());
    out.line(format!("{name}: {}", units::rows(reader.num_rows())))?;
    out.line("")?;
    out.grid(&column_table(&columns)?)?;
    for column in columns.iter().filter(|_| args.zones) {
        if let Some(map) = &column.map {
            out.line("")?;
            out.line(format!("{} ({})", column.name.escape_debug(), column.data_type))?;
            out.grid(&zone_table(map)?)?;
        }
    }
    Ok(None)
}

/// The columns asked for, or all that hold values.
fn columns(reader: &FileReader, names: &[String]) -> lancet::Result<Vec<Column>> {
    let report = reader.inspect()?;
    let holds_values = |column: &&ColumnReport| !column.data_type.is_nested();
    let mut known: Vec<&ColumnReport> = report.columns.iter().filter(holds_values).collect();
    if !names.is_empty() {
        // An unknown name is an error that knows near ones.
        drop(reader.file().project(names)?);
        let below = |column: &ColumnReport, name: &str| {
            let rest = column.name.strip_prefix(name);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        known.retain(|column| names.iter().any(|name| below(column, name)));
    }
    // What lies in a struct without a name cannot be asked for.
    let names = known.iter().map(|column| column.name.as_str());
    let asked: Vec<&str> = names.filter(|name| reader.file().project([name]).is_ok()).collect();
    let maps = reader.zone_maps(&asked)?;
    let maps: BTreeMap<&str, Option<Arc<ZoneMap>>> = asked.into_iter().zip(maps).collect();
    let with_map = |column: &ColumnReport| {
        let map = maps.get(column.name.as_str()).cloned().flatten();
        let missing = if column.zone_map.is_some() { "unsound zone map" } else { "no zone map" };
        let (name, data_type) = (column.name.clone(), column.data_type.clone());
        Column { name, data_type, map, missing }
    };
    Ok(known.into_iter().map(with_map).collect())
}

fn column_table(columns: &[Column]) -> Result<Grid> {
    let header = ["column", "type", ">rows", ">nulls", ">NaN", ">zones", "min", "max"];
    let mut grid = Grid::new(&header);
    for Column { name, data_type, map, missing } in columns {
        let (name, data_type) = (name.escape_debug().to_string(), data_type.to_string());
        let Some(map) = map else {
            let none = ["", "", "", ""].map(String::from);
            let row = [name, data_type].into_iter().chain(none);
            grid.push(row.chain([(*missing).to_owned(), String::new()]));
            continue;
        };
        let all = map.statistics();
        grid.push([
            name,
            data_type,
            units::count(all.num_rows),
            units::count(all.null_count),
            all.nan_count.map_or_else(|| "?".into(), units::count),
            units::count(map.num_zones() as u64),
            bound(all.min.as_ref(), 0, all.exact)?,
            bound(all.max.as_ref(), 0, all.exact)?,
        ]);
    }
    Ok(grid)
}

/// What is told of every zone.
const ZONE_HEADS: [&str; 7] = [">zone", ">first row", ">rows", ">nulls", ">NaN", "min", "max"];

fn zone_table(map: &ZoneMap) -> Result<Grid> {
    let mut grid = Grid::new(&ZONE_HEADS);
    for zone in 0..map.num_zones() {
        grid.push(zone_cells(map, zone, map.is_exact(zone))?);
    }
    Ok(grid)
}

/// One zone for people.
fn zone_cells(map: &ZoneMap, zone: usize, exact: bool) -> Result<[String; 7]> {
    let rows = map.rows(zone);
    let nans = map.nan_counts().map(|counts| u64::from(counts.value(zone)));
    Ok([
        units::count(zone as u64),
        units::count(rows.start),
        units::count(rows.end - rows.start),
        units::count(map.null_counts().value(zone).into()),
        nans.map_or_else(|| "?".into(), units::count),
        bound(Some(map.min()), zone, exact)?,
        bound(Some(map.max()), zone, exact)?,
    ])
}

/// One zone for programs.
fn zone_json(map: &ZoneMap, zone: usize, exact: bool) -> Result<Value> {
    Ok(json!({
        "first_row": map.rows(zone).start,
        "rows": map.rows(zone).end - map.rows(zone).start,
        "nulls": map.null_counts().value(zone),
        "nans": map.nan_counts().map(|counts| counts.value(zone)),
        "min": value(map.min(), zone)?,
        "max": value(map.max(), zone)?,
        "exact": exact,
    }))
}

/// A bound for people: as `lancet cat` prints values.
pub fn bound(bounds: Option<&ArrayRef>, row: usize, exact: bool) -> Result<String> {
    let Some(bounds) = bounds.filter(|bounds| bounds.is_valid(row)) else {
        return Ok("–".into());
    };
    let refused = |e: arrow_schema::ArrowError| Error::new(e.to_string());
    let bounds = &time_zones::readable_array(bounds).map_err(refused)?;
    let text = Show::new(bounds.as_ref(), "").map_err(refused)?.told(row);
    let about = if exact { "" } else { "~" };
    Ok(format!("{about}{}", text.escape_debug()))
}

fn column_json(column: &Column, with_zones: bool) -> Result<Value> {
    let mut json = json!({
        "name": column.name,
        "type": column.data_type.to_string(),
        "zones": Value::Null,
    });
    let Some(map) = &column.map else {
        json["missing"] = column.missing.into();
        return Ok(json);
    };
    let all = map.statistics();
    json["rows"] = all.num_rows.into();
    json["nulls"] = all.null_count.into();
    json["nans"] = all.nan_count.into();
    json["min"] = all.min.map_or(Ok(Value::Null), |min| value(&min, 0))?;
    json["max"] = all.max.map_or(Ok(Value::Null), |max| value(&max, 0))?;
    json["exact"] = all.exact.into();
    json["rows_per_zone"] = map.rows_per_zone().into();
    json["zones"] = map.num_zones().into();
    if with_zones {
        let zones = (0..map.num_zones()).map(|zone| zone_json(map, zone, map.is_exact(zone)));
        json["each_zone"] = zones.collect::<Result<Vec<_>>>()?.into();
    }
    Ok(json)
}

/// A bound for programs: as `lancet cat --format jsonl` prints values, and a number for times that have no date.
fn value(bounds: &ArrayRef, row: usize) -> Result<Value> {
    let refused = |e: arrow_schema::ArrowError| Error::new(e.to_string());
    let bounds = time_zones::portable_array(bounds).map_err(refused)?;
    let batch = RecordBatch::try_from_iter([("v", bounds.slice(row, 1))]).map_err(refused)?;
    let show = Show::new(batch.column(0).as_ref(), "").map_err(refused)?;
    if let Err(OutOfRange { number, .. }) = show.write(0, &mut Vec::new()) {
        return Ok(number.into());
    }
    let line = text::json_lines(&batch, 0).map_err(Error::new)?;
    let object: Value = serde_json::from_slice(&line).map_err(|e| Error::new(e.to_string()))?;
    Ok(object["v"].clone())
}
