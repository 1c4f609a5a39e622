//! The figures for people, in one screen, and for programs.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use super::damage::{COLUMN, Damage, ReadBack};
use super::filter::{COLUMNS, Found};
use super::parquet::Flavour;
use super::takes::{SIZES, Taken};
use super::write::{Files, SHOWN_COLUMNS};
use super::{Figures, orders::ORDERED_AT};
use crate::error::Result;
use crate::lines::Report;
use crate::table::Grid;
use crate::units;

/// Prints everything.
pub fn write(figures: &Figures, out: &mut Report<'_>) -> Result<()> {
    let Files { rows, num_columns, array_bytes, .. } = figures.files;
    out.line(format!(
        "lancet demo: {} made-up orders, {num_columns} columns, {} in memory. All figures are of this run.",
        units::count(rows),
        units::bytes(array_bytes)
    ))?;
    if cfg!(debug_assertions) {
        out.line("This is a debug build: times say little. See `cargo run --release -- demo`.")?;
    }
    write_sizes(&figures.files, out)?;
    write_takes(&figures.files, &figures.takes, out)?;
    write_filter(&figures.filter, out)?;
    write_damage(&figures.damage, rows, out)?;
    write_next_steps(&figures.files, out)
}

fn write_sizes(files: &Files, out: &mut Report<'_>) -> Result<()> {
    let size = |flavour: Option<Flavour>, nth: usize| {
        let mut alike = files.all.iter().filter(|file| file.flavour == flavour);
        alike.nth(nth).map_or(0, |file| file.bytes)
    };
    out.line("")?;
    out.line(format!(
        "SMALL   {} by default, {} with `--profile small`: {} Parquet with zstd",
        units::bytes(size(None, 0)),
        units::bytes(size(None, 1)),
        size_beside(size(None, 1), size(Some(Flavour::Zstd), 0))
    ))?;
    let columns = SHOWN_COLUMNS.map(|name| format!(">{name}"));
    let [a, b, c] = columns.each_ref().map(String::as_str);
    let mut grid = Grid::new(&["the same rows as", ">file", ">of memory", ">write", a, b, c]);
    for file in &files.all {
        let cells = [
            file.name.to_owned(),
            units::bytes(file.bytes),
            units::share(file.bytes, files.array_bytes),
            units::time(file.time),
        ];
        grid.push(cells.into_iter().chain(file.columns.map(units::bytes)));
    }
    out.grid(&grid)
}

fn write_takes(files: &Files, takes: &[Taken], out: &mut Report<'_>) -> Result<()> {
    let of = |file: usize, rows: u64| {
        let found = takes.iter().find(|taken| taken.file == file && taken.rows == rows);
        found.map_or(Duration::ZERO, |taken| taken.median)
    };
    let parquet = files.all.iter().enumerate().filter(|(_, file)| file.flavour.is_some());
    let (ours, best) = (of(0, 1), parquet.map(|(file, _)| of(file, 1)).min());
    out.line("")?;
    out.line(format!(
        "FAST    a random row in {}: {} the best of the Parquet files",
        units::time(ours),
        time_beside(ours, best.unwrap_or_default())
    ))?;
    let heads = SIZES.map(|rows| format!(">{}", units::counted(rows, "random row")));
    let [one, many] = heads.each_ref().map(String::as_str);
    let mut grid = Grid::new(&["all columns, from an open file, median", one, many]);
    for (index, file) in files.all.iter().enumerate() {
        let times = SIZES.map(|rows| units::time(of(index, rows)));
        grid.push([file.name.to_owned()].into_iter().chain(times));
    }
    out.grid(&grid)
}

fn write_filter(found: &Found, out: &mut Report<'_>) -> Result<()> {
    out.line("")?;
    out.line(format!(
        "FRUGAL  a filter reads {} of the file and finds all {}",
        units::share(found.bytes, found.file_bytes),
        units::rows(found.rows)
    ))?;
    out.line(format!("   SELECT {} WHERE {ORDERED_AT} is on {}", COLUMNS.join(", "), found.day))?;
    out.line(format!(
        "   Zone maps left {} of {} to look at; {} reads of {} in all, with opening the file. These columns are {}.",
        units::count(found.looked_at),
        units::rows(found.file_rows),
        units::count(found.reads),
        units::bytes(found.bytes),
        units::bytes(found.column_bytes)
    ))
}

fn write_damage(damage: &Damage, rows: u64, out: &mut Report<'_>) -> Result<()> {
    out.line("")?;
    out.line("SAFE    one flipped bit in a copy is found, and told where it is")?;
    out.line(format!("   verify: {}", damage.problem))?;
    out.line(format!(
        "   reading with `verify_checksums`: {}",
        outcome(&damage.checked, damage, rows)
    ))?;
    out.line(format!(
        "   reading by default, without checksums: {}",
        outcome(&damage.plain, damage, rows)
    ))
}

/// How a read ended; an error that `verify` had too is not told again.
fn outcome(read: &ReadBack, damage: &Damage, rows: u64) -> String {
    match read {
        ReadBack::Error(error) if error.ends_with(&damage.problem.rule) => {
            "the same error, and no values".into()
        }
        ReadBack::Error(error) => error.clone(),
        ReadBack::Rows { wrong: 0 } => "all values are right".into(),
        ReadBack::Rows { wrong } => {
            let (wrong, rows) = (units::count(*wrong), units::count(rows));
            format!("{wrong} of {rows} values of `{COLUMN}` are wrong: `verify` what you keep")
        }
    }
}

fn write_next_steps(files: &Files, out: &mut Report<'_>) -> Result<()> {
    out.line("")?;
    out.line("Try next:")?;
    next_steps(files).iter().try_for_each(|words| out.command(words))
}

/// Three commands that work as they are, started the way this one was.
fn next_steps(files: &Files) -> [Vec<String>; 3] {
    let lance = &files.lance().path;
    let first = files.all.iter().find(|file| file.flavour.is_some());
    let parquet = first.map_or(lance, |file| &file.path);
    let rows = format!("{},0,{}", files.rows / 2, files.rows - 1);
    let copy = lance.with_file_name("copy.lance");
    let program = std::env::args_os().next().unwrap_or_else(|| OsString::from("lancet"));
    let command = |words: &[&str]| {
        let words = words.iter().map(|word| (*word).to_owned());
        [quoted(Path::new(&program))].into_iter().chain(words).collect()
    };
    let [lance, parquet, copy] = [lance, parquet, &copy].map(|path| quoted(path));
    [
        command(&["take", &lance, "--rows", &rows]),
        command(&["inspect", &lance]),
        command(&["convert", &parquet, &copy]),
    ]
}

/// A path as a shell reads it.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |c: char| c.is_alphanumeric() || "/\\._-+:,=@%".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        text
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

/// `12 % smaller than`.
fn size_beside(ours: u64, theirs: u64) -> String {
    let percent = 100.0 * (ours as f64 / theirs.max(1) as f64 - 1.0);
    match percent {
        p if p <= -0.5 => format!("{:.0} % smaller than", -p),
        p if p >= 0.5 => format!("{p:.0} % larger than"),
        _ => "as large as".into(),
    }
}

/// `20 times faster than`.
fn time_beside(ours: Duration, theirs: Duration) -> String {
    let times =
        |ratio: f64| if ratio < 10.0 { format!("{ratio:.1}") } else { format!("{ratio:.0}") };
    match theirs.as_secs_f64() / ours.as_secs_f64().max(1e-9) {
        ratio if ratio >= 1.05 => format!("{} times faster than", times(ratio)),
        ratio if ratio > 0.95 => "as fast as".into(),
        ratio => format!("{} times slower than", times(1.0 / ratio.max(1e-9))),
    }
}

/// Everything, for programs.
pub fn json(figures: &Figures) -> Value {
    let Figures { files, takes, filter, damage } = figures;
    let names = |index: usize| files.all.get(index).map(|file| file.name);
    let file = |file: &super::write::Written| {
        json!({
            "name": file.name,
            "path": file.path.display().to_string(),
            "bytes": file.bytes,
            "write_nanoseconds": file.time.as_nanos() as u64,
            "columns": SHOWN_COLUMNS.iter().zip(file.columns).map(|(name, bytes)| json!({ "name": name, "bytes": bytes })).collect::<Vec<_>>(),
        })
    };
    let take = |taken: &Taken| {
        json!({
            "file": names(taken.file),
            "rows": taken.rows,
            "takes": taken.takes,
            "median_nanoseconds": taken.median.as_nanos() as u64,
        })
    };
    let read = |read: &ReadBack| match read {
        ReadBack::Error(error) => json!({ "error": error }),
        ReadBack::Rows { wrong } => json!({ "wrong_values": wrong }),
    };
    json!({
        "rows": files.rows,
        "columns": files.num_columns,
        "array_bytes": files.array_bytes,
        "files": files.all.iter().map(file).collect::<Vec<_>>(),
        "takes": takes.iter().map(take).collect::<Vec<_>>(),
        "filter": {
            "columns": COLUMNS,
            "day": filter.day,
            "rows": filter.rows,
            "rows_looked_at": filter.looked_at,
            "bytes_read": filter.bytes,
            "reads": filter.reads,
            "file_bytes": filter.file_bytes,
            "column_bytes": filter.column_bytes,
        },
        "damage": {
            "path": damage.path.display().to_string(),
            "byte": damage.byte,
            "column": damage.problem.column,
            "page": damage.problem.page,
            "buffer": damage.problem.buffer,
            "problem": damage.problem.to_string(),
            "checked_read": read(&damage.checked),
            "plain_read": read(&damage.plain),
        },
        "next": next_steps(files).map(|words| words.join(" ")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparisons_say_what_is_the_case() {
        assert_eq!(size_beside(88, 100), "12 % smaller than");
        assert_eq!(size_beside(131, 100), "31 % larger than");
        assert_eq!(size_beside(100, 100), "as large as");
        let micros = Duration::from_micros;
        assert_eq!(time_beside(micros(10), micros(600)), "60 times faster than");
        assert_eq!(time_beside(micros(10), micros(15)), "1.5 times faster than");
        assert_eq!(time_beside(micros(10), micros(10)), "as fast as");
        assert_eq!(time_beside(micros(30), micros(10)), "3.0 times slower than");
    }

    #[test]
    fn odd_paths_are_quoted() {
        assert_eq!(quoted(Path::new("/tmp/a-b/orders.lance")), "/tmp/a-b/orders.lance");
        assert_eq!(quoted(Path::new("a b's.lance")), r"'a b'\''s.lance'");
    }
}
