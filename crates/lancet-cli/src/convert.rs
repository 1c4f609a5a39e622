//! `lancet convert`: one file format into another.

use std::io::{Write, stderr};
use std::path::PathBuf;
use std::time::Instant;

use lancet::{ColumnOptions, Profile, Version, WriteOptions};

use crate::error::{Error, Result};
use crate::format::Format;
use crate::input::TextOptions;
use crate::output::OutputFile;
use crate::{copy, explain, input, output, units};

const EXAMPLES: &str = "\
Examples:
  lancet convert orders.parquet orders.lance
  lancet convert orders.lance orders.csv
  lancet convert orders.csv.gz orders.lance --types zip=string,price=decimal(10,2)
  lancet convert old.lance new.lance --format-version 2.1
  lancet convert orders.csv orders.lance --profile small --explain
  lancet convert orders.csv orders.lance --set address.city.compression=zstd

Endings: .lance, .arrow .feather (IPC file), .arrows (IPC stream), .parquet .pq, .csv .tsv,
.json .jsonl .ndjson; behind those of text also .gz and .zst

CSV: an empty field is null, and an empty text is \"\". JSON: NaN, Infinity and -Infinity are
strings, and are read as numbers among numbers. Times with an offset become times of UTC; times
of a zone are written in UTC, with a Z. Values that no type gives back unchanged are read as
text: numbers such as 007, times with and without an offset, integers beyond 64 bits.

Options of a column are those that field metadata may hold after `lance-encoding:`, among them
compression, compression-level, bss, rle-threshold, dict-divisor, minichunk-size.";

/// What to convert.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// File to read
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// File to write; the ending chooses the format
    #[arg(value_name = "OUT")]
    output: PathBuf,
    /// Lance version to write: 2.0, 2.1 or 2.2
    #[arg(long, value_name = "VERSION", default_value = "2.2",
        value_parser = |text: &str| text.parse::<Version>())]
    format_version: Version,
    /// Bytes of values after which a Lance page is cut [default: 8 MiB]
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u64).range(1..))]
    page_bytes: Option<u64>,
    /// What matters most about a Lance file: fast, balanced or small
    #[arg(long, default_value = "balanced", value_parser = |text: &str| text.parse::<Profile>())]
    profile: Profile,
    /// Option of one column of a Lance file; repeatable
    #[arg(long, value_name = "COLUMN.OPTION=VALUE", value_parser = column_option)]
    set: Vec<ColumnOption>,
    /// Leave out the zone maps of a Lance file, by which readers skip rows
    #[arg(long)]
    no_zone_maps: bool,
    /// Print how each page of a Lance file is encoded, why, and what else was considered
    #[arg(long)]
    explain: bool,
    #[command(flatten)]
    text: TextOptions,
}

/// One `--set`.
#[derive(Debug, Clone, PartialEq)]
struct ColumnOption {
    column: String,
    key: String,
    value: String,
}

/// Runs the command.
pub fn run(args: &Args, quiet: bool, out: &mut dyn Write) -> Result<()> {
    let start = Instant::now();
    Format::from_path(&args.output)?; // before anything is read
    output::check_not_same(&args.input, &args.output)?;
    let input = input::open_input(&args.input, None, &args.text, quiet)?;
    let mut output = OutputFile::create(&args.output, &input.schema, &args.write_options()?)?;
    if Format::from_path(&args.input)? == Format::Lance {
        output.copy_buffers(&args.input)?;
    }
    let copied = copy::fill(input, output, quiet)?;
    if let Some(summary) = copied.summary.as_ref().filter(|_| args.explain) {
        explain::write(summary, out)?;
    }
    if !quiet {
        let bytes_in = args.input.metadata().map_or(0, |m| m.len());
        // A closed standard error must not turn a finished conversion into a failure.
        let _ = writeln!(
            stderr(),
            "{}: {} in, {} out, {}",
            units::rows(copied.rows),
            units::bytes(bytes_in),
            units::bytes(copied.bytes),
            units::time(start.elapsed())
        );
    }
    Ok(())
}

impl Args {
    fn write_options(&self) -> Result<WriteOptions> {
        let mut options = WriteOptions::default();
        options.version = self.format_version;
        options.profile = self.profile;
        options.zone_maps = !self.no_zone_maps;
        options.page_bytes = self.page_bytes.unwrap_or(options.page_bytes);
        for ColumnOption { column, key, value } in &self.set {
            options.column(column).set(key, value).map_err(|e| Error::new(e.to_string()))?;
        }
        Ok(options)
    }
}

/// The option of a column, its value checked.
fn column_option(text: &str) -> Result<ColumnOption, String> {
    let split = text.split_once('=').and_then(|(name, value)| {
        let (column, key) = name.rsplit_once('.')?;
        Some((column, key, value))
    });
    let (column, key, value) = split.ok_or("write it as COLUMN.OPTION=VALUE")?;
    ColumnOptions::default().set(key, value).map_err(|error| error.to_string())?;
    Ok(ColumnOption { column: column.into(), key: key.into(), value: value.into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_columns() {
        let option = column_option("a.b.compression=zstd").unwrap();
        assert_eq!((option.column.as_str(), option.key.as_str()), ("a.b", "compression"));
        assert!(column_option("a.bss=maybe").unwrap_err().ends_with("allowed are off, on, auto"));
        assert!(column_option("a.speed=1").unwrap_err().contains("dict-divisor"));
        assert!(column_option("compression=zstd").is_err());
        assert!(column_option("a.compression").is_err());
    }
}
