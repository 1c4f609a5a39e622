//! `lancet convert`: one file format into another.

use std::io::{Write, stderr};
use std::path::PathBuf;
use std::time::Instant;

use lancet::{Version, WriteOptions};

use crate::error::Result;
use crate::format::Format;
use crate::{copy, input, output, units};

const EXAMPLES: &str = "\
Examples:
  lancet convert orders.parquet orders.lance
  lancet convert orders.lance orders.csv
  lancet convert old.lance new.lance --format-version 2.1

Endings: .lance, .arrow .feather (IPC file), .arrows (IPC stream), .parquet .pq, .csv,
.jsonl .ndjson";

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
    /// Lance version to write: 2.1 or 2.2
    #[arg(long, value_name = "VERSION", default_value = "2.2", value_parser = written_version)]
    format_version: Version,
    /// Bytes of values after which a Lance page is cut [default: 8 MiB]
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u64).range(1..))]
    page_bytes: Option<u64>,
}

/// Runs the command.
pub fn run(args: &Args, quiet: bool) -> Result<()> {
    let start = Instant::now();
    Format::from_path(&args.output)?; // before anything is read
    output::check_not_same(&args.input, &args.output)?;
    let input = input::open_input(&args.input)?;
    let mut options = WriteOptions::default();
    options.version = args.format_version;
    options.page_bytes = args.page_bytes.unwrap_or(options.page_bytes);
    let copied = copy::to_file(input, &args.output, &options, quiet)?;
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

/// A version that can be written.
pub fn written_version(text: &str) -> Result<Version, String> {
    match text.parse::<Version>() {
        Ok(Version::V2_0) => Err("2.0 cannot be written; choose 2.1 or 2.2".into()),
        Ok(version) => Ok(version),
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_newer_versions_are_written() {
        assert_eq!(written_version("2.1").unwrap(), Version::V2_1);
        assert_eq!(written_version("2.2").unwrap(), Version::V2_2);
        assert!(written_version("2.0").unwrap_err().contains("cannot be written"));
        assert!(written_version("3").is_err());
    }
}
