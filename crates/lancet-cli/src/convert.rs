//! `lancet convert`: one file format into another, for one file or for many.

use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use lancet::{ColumnOptions, Profile, ReadOptions, Version, WriteOptions};

use crate::error::{Error, Result};
use crate::format::Format;
use crate::input::{Selection, TextOptions};
use crate::jobs::{self, Job};
use crate::lines::{Report, Width};
use crate::output::OutputFile;
use crate::places::{Access, FormatName, InputFile, TableArgs, Target};
use crate::summary::{Converted, Summary};
use crate::{claims, copy, explain, terminal, units};

const EXAMPLES: &str = "\
Examples:
  lancet convert orders.parquet orders.lance
  lancet convert orders.lance orders.csv
  lancet convert 'part-*.csv' more.parquet lance/
  lancet convert 'lance/*.lance' text/ --to csv --skip-existing
  zcat orders.csv.gz | lancet convert - orders.lance --from csv
  lancet convert orders.lance - --to jsonl | head -3
  lancet convert s3://bucket/orders.parquet orders.lance    (cloud)
  lancet convert orders.csv.gz orders.lance --types zip=string,price=decimal(10,2)
  lancet convert old.lance new.lance --format-version 2.1
  lancet convert orders.csv orders.lance --profile small --explain
  lancet convert orders.csv orders.lance --set address.city.compression=zstd
(cloud): a build with the feature `cloud`; `lancet --version` tells.

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
#[command(after_help = EXAMPLES, override_usage = "lancet convert [OPTIONS] <IN>... <OUT>")]
pub struct Args {
    /// IN: files to read: paths, patterns such as 'part-*.csv', URLs, - for standard input. OUT, the
    /// last: file or URL to write, whose ending chooses the format; a folder, or a name that ends
    /// with a slash, takes one file for each IN; - is standard output
    // One list, so that options may stand anywhere between.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Format of the files to read, if their endings do not tell
    #[arg(long, value_name = "FORMAT", value_parser = FormatName::parse)]
    from: Option<FormatName>,
    /// Format to write, if the ending does not tell: lance, arrow, arrows, parquet, csv, jsonl, ...
    #[arg(long, value_name = "FORMAT", value_parser = FormatName::parse)]
    to: Option<FormatName>,
    /// Leave files alone that exist already
    #[arg(long)]
    skip_existing: bool,
    /// Fail where a file exists already, instead of replacing it
    #[arg(long, conflicts_with = "skip_existing")]
    no_clobber: bool,
    /// Convert also a file that claims more rows than its size makes likely
    #[arg(long)]
    any_rows: bool,
    /// Most threads to use [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Most memory for one read of a Lance file, and for rows that wait to be written to a Lance
    /// or Parquet file, as in 512MB [default: 4 GiB to read, 256 MiB to write]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    memory_limit: Option<u64>,
    /// Print a summary as JSON
    #[arg(long, conflicts_with = "explain")]
    json: bool,
    /// Lance version to write: 2.0, 2.1 or 2.2 [default: 2.2]
    #[arg(long, value_name = "VERSION", value_parser = |text: &str| text.parse::<Version>())]
    format_version: Option<Version>,
    /// Size of values after which a Lance page is cut, as in 1MB [default: 8 MiB]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    page_bytes: Option<u64>,
    /// What matters most about a Lance file: fast, balanced or small [default: balanced]
    #[arg(long, value_parser = |text: &str| text.parse::<Profile>())]
    profile: Option<Profile>,
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
    access: Access,
    #[command(flatten)]
    width: Width,
    #[command(flatten)]
    text: TextOptions,
    #[command(flatten)]
    table: TableArgs,
}

/// One `--set`.
#[derive(Debug, Clone, PartialEq)]
struct ColumnOption {
    column: String,
    key: String,
    value: String,
}

/// Runs the command. One bad file does not stop the others.
pub fn run(args: &Args, quiet: bool, out: &mut dyn Write) -> Result<()> {
    let start = Instant::now();
    let (output, inputs) = match args.files.split_last() {
        Some((output, inputs)) if !inputs.is_empty() => (output, inputs),
        _ => {
            let message = "say what to write too, as in: lancet convert IN.csv OUT.lance";
            return Err(Error::Usage(message.into()));
        }
    };
    let jobs = jobs::plan(inputs, output, args.to.as_ref(), &args.access)?;
    args.check(&jobs)?;
    let mut summary = Summary::default();
    let mut last_error = None;
    for job in &jobs {
        match args.convert(job, jobs.len() > 1, quiet, out) {
            Ok(converted) => summary.add(job.target.name(), converted),
            Err(Error::Message(message)) => {
                if jobs.len() > 1 {
                    out.flush()?;
                    terminal::tell(&format!("error: {message}"));
                }
                summary.add_failed(&job.input, &message);
                last_error = Some(message);
            }
            Err(other) => return Err(other),
        }
    }
    if args.json {
        writeln!(out, "{:#}", summary.to_json(start.elapsed()))?;
    } else if !quiet && (last_error.is_none() || jobs.len() > 1) {
        terminal::tell(&summary.line(start.elapsed()));
    }
    match last_error {
        None => Ok(()),
        Some(message) if jobs.len() == 1 => Err(Error::new(message)),
        Some(_) => Err(Error::new(format!(
            "{} of {} failed",
            summary.num_failed(),
            units::counted(jobs.len() as u64, "file")
        ))),
    }
}

impl Args {
    /// Fails if an option would have no effect.
    fn check(&self, jobs: &[Job]) -> Result<()> {
        let inputs = jobs.iter().map(|job| job.input.as_path());
        self.access.check(inputs.chain(self.files.last().map(PathBuf::as_path)))?;
        let of_lance = [
            ("--format-version", self.format_version.is_some()),
            ("--page-bytes", self.page_bytes.is_some()),
            ("--profile", self.profile.is_some()),
            ("--set", !self.set.is_empty()),
            ("--no-zone-maps", self.no_zone_maps),
            ("--explain", self.explain),
        ];
        let given = of_lance.iter().find(|(_, given)| *given);
        let other = jobs.iter().find(|job| job.target.format() != Format::Lance);
        if let (Some((option, _)), Some(job)) = (given, other) {
            return Err(Error::Usage(format!(
                "{option} is about Lance files, but {} will be {}; leave it out",
                job.target.name().display(),
                job.target.format().name()
            )));
        }
        if jobs.iter().any(|job| job.target.is_standard()) && (self.json || self.explain) {
            let option = if self.json { "--json" } else { "--explain" };
            return Err(Error::Usage(format!(
                "{option} prints to standard output, where the rows go; write them to a file"
            )));
        }
        Ok(())
    }

    fn convert(
        &self,
        job: &Job,
        one_of_many: bool,
        quiet: bool,
        out: &mut dyn Write,
    ) -> Result<Converted> {
        let name = job.target.name();
        job.target.check_not_same(&job.input)?;
        let replaced = job.target.exists()?;
        if replaced && self.skip_existing {
            return Ok(Converted::Skipped);
        }
        if replaced && self.no_clobber {
            return Err(Error::new("exists already, and --no-clobber keeps it").about(name));
        }
        let (from, options) = (self.from.as_ref(), self.read_options());
        let file = InputFile::or_table(&job.input, from, &self.access, &self.table, options)?
            .with_text(&self.text, quiet)?;
        self.check_memory_limit(&file, &job.target)?;
        let reader = match file.format() {
            Format::Lance if file.table().is_none() => Some(file.reader_with(self.read_options())?),
            _ => None,
        };
        let selection = Selection::default();
        let input = match &reader {
            Some(reader) => file.rows_of(reader, &selection)?,
            None => file.rows(&selection)?,
        };
        if !self.any_rows {
            let advice = "--any-rows converts them all the same, and `lancet cat --limit 1000 -o \
                          OUT` the first ones";
            claims::check(input.rows, file.size_bytes(), advice)
                .map_err(|e| e.about(file.name()))?;
        }
        if let Some(folder) = &job.folder {
            std::fs::create_dir_all(folder)
                .map_err(|e| Error::new(format!("cannot make the folder: {e}")).about(folder))?;
        }
        let mut output = OutputFile::create(&job.target, &input.schema, &self.write_options()?)?;
        if let Some(reader) = &reader {
            output.copy_buffers(reader, file.name())?;
        }
        let copied = copy::fill(input, output, quiet).map_err(name_option)?;
        if let Some(summary) = copied.summary.as_ref().filter(|_| self.explain) {
            if one_of_many {
                terminal::line(out, &name.to_string_lossy())?;
            }
            explain::write(summary, &mut Report::new(out, self.width.get()))?;
        }
        let (rows, bytes_in, bytes_out) = (copied.rows, file.size_bytes(), copied.bytes);
        Ok(Converted::Written { rows, bytes_in, bytes_out, replaced })
    }

    /// Fails if the limit would have no effect.
    fn check_memory_limit(&self, file: &InputFile, target: &Target) -> Result<()> {
        let heeds = [file.format() == Format::Lance]
            .into_iter()
            .chain([Format::Lance, Format::Parquet].map(|format| target.format() == format));
        if self.memory_limit.is_none() || heeds.into_iter().any(|heeds| heeds) {
            return Ok(());
        }
        Err(Error::Usage(format!(
            "--memory-limit is about reading Lance and about writing Lance and Parquet, not about \
             {} to {}; leave it out",
            file.format().name(),
            target.format().name()
        )))
    }

    fn read_options(&self) -> ReadOptions {
        let mut options = ReadOptions::default();
        if let Some(bytes) = self.memory_limit {
            options = options.with_memory_limit(bytes);
        }
        if let Some(threads) = self.threads {
            options = options.with_threads(threads.into());
        }
        options
    }

    fn write_options(&self) -> Result<WriteOptions> {
        let mut options = WriteOptions::default().with_zone_maps(!self.no_zone_maps);
        if let Some(version) = self.format_version {
            options = options.with_version(version);
        }
        if let Some(profile) = self.profile {
            options = options.with_profile(profile);
        }
        if let Some(bytes) = self.page_bytes {
            options = options.with_page_bytes(bytes);
        }
        if let Some(bytes) = self.memory_limit {
            options = options.with_memory_limit(bytes);
        }
        if let Some(threads) = self.threads {
            options = options.with_threads(threads.into());
        }
        for ColumnOption { column, key, value } in &self.set {
            options.column(column).set(key, value).map_err(|e| Error::new(e.to_string()))?;
        }
        Ok(options)
    }
}

/// The library names its option; here it is one of the command line.
fn name_option(error: Error) -> Error {
    match error {
        Error::Message(message) => Error::new(message.replace("`memory_limit`", "--memory-limit")),
        other => other,
    }
}

/// A number of bytes, at least one.
fn size(text: &str) -> Result<u64, String> {
    match units::parse_bytes(text)? {
        0 => Err("it has to be at least one byte".into()),
        bytes => Ok(bytes),
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
