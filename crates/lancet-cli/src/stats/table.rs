//! What the zone maps of all files of a table say about its columns.

use std::io::Write;
use std::path::Path;

use lancet_table::{FragmentZones, KnownStatistics, Table, TableColumnStatistics};
use serde_json::{Value, json};

use super::{Args, bound, value, zones};
use crate::error::Result;
use crate::lines::Report;
use crate::places::InTable;
use crate::table::Grid;
use crate::{progress, units};

/// What is known of a table.
struct Known {
    columns: Vec<TableColumnStatistics>,
    /// For each column, its fragments; empty if zones are not asked for.
    zones: Vec<Vec<FragmentZones>>,
}

/// Prints what is known of a table, or returns it as JSON.
pub fn show(
    args: &Args,
    path: &Path,
    table: &Table,
    quiet: bool,
    out: &mut dyn Write,
) -> Result<Option<Value>> {
    let known = read(args, path, table, quiet)?;
    let (name, num_rows) = (path.display(), table.num_rows().in_table(path)?);
    if args.json {
        return Ok(Some(json!({
            "table": name.to_string(),
            "version": table.version(),
            "rows": num_rows,
            "columns": known.to_json()?,
        })));
    }
    let mut out = Report::new(out, args.width.get());
    out.line(format!("{name}: version {}, {}", table.version(), units::rows(num_rows)))?;
    out.line("")?;
    out.grid(&column_table(&known.columns)?)?;
    for (column, fragments) in known.columns.iter().zip(&known.zones) {
        out.line("")?;
        out.line(format!("{} ({})", column.name.escape_debug(), column.data_type))?;
        out.grid(&zones::table(fragments)?)?;
    }
    let touched = |column: &TableColumnStatistics| column.known.as_ref().is_some_and(is_touched);
    if known.columns.iter().any(touched) {
        out.line("")?;
        out.line(
            "Rows are deleted in some zones: `≤` counts and bounds with `~` may be those of deleted rows.",
        )?;
    }
    Ok(None)
}

fn read(args: &Args, path: &Path, table: &Table, quiet: bool) -> Result<Known> {
    let bar = progress::share(quiet);
    bar.set_length(table.manifest().fragments.len() as u64);
    let progress = |done: usize| bar.set_position(done as u64);
    let mut zones: Vec<Vec<FragmentZones>> = Vec::new();
    let keep = |column: usize, found: FragmentZones| {
        if args.zones {
            zones.resize_with(zones.len().max(column + 1), Vec::new);
            zones[column].push(found);
        }
    };
    let columns = match args.columns.is_empty() {
        true => table.statistics_with_zones(.., progress, keep),
        false => table.statistics_with_zones(args.columns.as_slice(), progress, keep),
    };
    bar.finish_and_clear();
    Ok(Known { columns: columns.in_table(path)?, zones })
}

fn is_touched(known: &KnownStatistics) -> bool {
    !known.counts_exact || !known.exact
}

fn column_table(columns: &[TableColumnStatistics]) -> Result<Grid> {
    let header = ["column", "type", ">rows", ">nulls", ">NaN", ">zones", "min", "max"];
    let mut grid = Grid::new(&header);
    for column in columns {
        let (name, data_type) =
            (column.name.escape_debug().to_string(), column.data_type.to_string());
        let Some(known) = &column.known else {
            let none = ["", "", "", ""].map(String::from);
            let row = [name, data_type].into_iter().chain(none);
            grid.push(row.chain([missing(column), String::new()]));
            continue;
        };
        let counted = |n: u64| match known.counts_exact || n == 0 {
            true => units::count(n),
            false => format!("≤ {}", units::count(n)),
        };
        grid.push([
            name,
            data_type,
            units::count(known.num_rows),
            counted(known.null_count),
            known.nan_count.map_or_else(|| "?".into(), counted),
            units::count(column.num_zones),
            bound(known.min.as_ref(), 0, known.exact)?,
            bound(known.max.as_ref(), 0, known.exact)?,
        ]);
    }
    Ok(grid)
}

/// Why nothing is known.
fn missing(column: &TableColumnStatistics) -> String {
    match column.num_unknown {
        1 => "no zone map in 1 fragment".into(),
        n => format!("no zone map in {} fragments", units::count(n)),
    }
}

impl Known {
    fn to_json(&self) -> Result<Vec<Value>> {
        let mut columns = Vec::with_capacity(self.columns.len());
        for (place, column) in self.columns.iter().enumerate() {
            let mut json = column_json(column)?;
            if let Some(fragments) = self.zones.get(place) {
                json["each_fragment"] = zones::json(fragments)?;
            }
            columns.push(json);
        }
        Ok(columns)
    }
}

fn column_json(column: &TableColumnStatistics) -> Result<Value> {
    let mut json = json!({
        "name": column.name,
        "type": column.data_type.to_string(),
        "zones": column.num_zones,
        "fragments_without_zone_map": column.num_unknown,
    });
    let Some(known) = &column.known else {
        json["missing"] = missing(column).into();
        return Ok(json);
    };
    let bound = |bound: &Option<_>| bound.as_ref().map_or(Ok(Value::Null), |array| value(array, 0));
    json["rows"] = known.num_rows.into();
    json["nulls"] = known.null_count.into();
    json["nans"] = known.nan_count.into();
    json["counts_exact"] = known.counts_exact.into();
    json["min"] = bound(&known.min)?;
    json["max"] = bound(&known.max)?;
    json["exact"] = known.exact.into();
    Ok(json)
}
