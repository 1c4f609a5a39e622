//! `lancet analyze`: what each column costs in every form, and which one to take.
//!
//! Nothing is guessed: a sample of the rows is written in every form, read back and timed.

mod lance;
pub mod memory;
mod parquet;
mod report;
mod sample;
mod statistics;

use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch, StructArray};
use arrow_schema::{DataType, Field, Schema};
use arrow_select::concat::concat;
use arrow_select::take::take;
use lancet::{Profile, Version};

use crate::error::{Error, Result};
use crate::format::Format;
use crate::input::{Selection, TextOptions};
use crate::lines::{Report, Width};
use crate::places::{InputTable, VersionArgs, table_folder};
use crate::progress;
use lance::Options;
pub use lance::Trial;
pub use sample::{Sample, spread};
pub use statistics::Statistics;

const EXAMPLES: &str = "\
Examples:
  lancet analyze orders.parquet
  lancet analyze orders.lance --columns price,address.city --full
  lancet analyze orders.arrow --profile small --json | jq '.columns[].recommendation'
  lancet analyze cities.lance/ --version 3     a table";

/// What to analyze.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// File or table to analyze: .lance, .parquet, .arrow or another that `convert` reads
    file: PathBuf,
    /// Only these columns, separated by commas; fields of structs are named with dots
    #[arg(short, long, value_delimiter = ',', value_name = "NAMES")]
    columns: Vec<String>,
    /// Look at about this many rows, spread over the file
    #[arg(long, value_name = "ROWS", default_value_t = 1 << 20, value_parser = clap::value_parser!(u64).range(1..))]
    sample_rows: u64,
    /// Look at all rows; they are held in memory
    #[arg(long, conflicts_with = "sample_rows")]
    full: bool,
    /// What matters most: fast, balanced or small
    #[arg(long, default_value = "balanced", value_parser = |text: &str| text.parse::<Profile>())]
    profile: Profile,
    /// Lance version that the file would have: 2.1 or 2.2
    #[arg(long, value_name = "VERSION", default_value = "2.2", value_parser = version_with_choice)]
    format_version: Version,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    width: Width,
    #[command(flatten)]
    text: TextOptions,
    #[command(flatten)]
    version: VersionArgs,
}

/// A version in which a column may have several forms.
fn version_with_choice(text: &str) -> Result<Version, String> {
    match text.parse::<Version>() {
        Ok(Version::V2_0) => Err("2.0 leaves no choice; choose 2.1 or 2.2".into()),
        Ok(version) => Ok(version),
        Err(error) => Err(error.to_string()),
    }
}

/// A form of a column: what it costs.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// The form in words.
    pub form: String,
    /// The options that give this form; none for those of Parquet.
    options: Option<Options>,
    pub bytes: u64,
    encode: Duration,
    pub decode: Duration,
    /// One row at a random place.
    pub row: Duration,
}

/// What was found out about a column.
#[derive(Debug)]
struct Analyzed {
    name: String,
    data_type: DataType,
    statistics: Statistics,
    /// The writer's own choice comes first.
    candidates: Vec<Candidate>,
    /// Which of them to take.
    best: usize,
    /// Bytes that the whole column would take.
    predicted: u64,
}

/// What was found out about a file.
#[derive(Debug)]
struct Analysis {
    file_bytes: u64,
    file_rows: u64,
    sample_rows: u64,
    columns: Vec<Analyzed>,
}

impl Analysis {
    /// Bytes of a Lance file with all recommendations followed.
    fn predicted(&self) -> u64 {
        self.columns.iter().map(|column| column.predicted).fold(0, u64::saturating_add)
    }
}

/// Runs the command.
pub fn run(args: &Args, quiet: bool, out: &mut dyn Write) -> Result<()> {
    let analysis = analyze(args, quiet).map_err(|error| error.about_once(&args.file))?;
    if args.json {
        writeln!(out, "{:#}", report::json(&analysis))?;
        return Ok(());
    }
    report::write(&analysis, &args.file, &mut Report::new(out, args.width.get()))
}

fn analyze(args: &Args, quiet: bool) -> Result<Analysis> {
    let top = |name: &String| name.split('.').next().unwrap_or_default().to_owned();
    let mut columns: Vec<String> = args.columns.iter().map(top).collect();
    columns.dedup();
    let most = (!args.full).then(|| usize::try_from(args.sample_rows).unwrap_or(usize::MAX));
    let selection = Selection { columns, ..Selection::default() };
    let table = match table_folder(&args.file)? {
        Some(folder) => {
            args.text.check(Format::Lance)?;
            Some(InputTable::new(args.version.open(&folder)?))
        }
        None => {
            args.version.check_is_table(&args.file)?;
            None
        }
    };
    let sample = match &table {
        Some(table) => Sample::of_table(&args.file, table, &selection, most, quiet)?,
        None => Sample::read(&args.file, &args.text, &selection, most, quiet)?,
    };
    let fields = fields(&sample.schema, &args.columns)?;
    let bar = progress::bar(Some(fields.len() as u64), quiet);
    let mut columns = Vec::new();
    for (name, field) in fields {
        columns.push(analyze_column(&sample, name, &field, args)?);
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(Analysis {
        file_bytes: match &table {
            Some(table) => table.size_bytes(),
            None => args.file.metadata().map_or(0, |found| found.len()),
        },
        file_rows: sample.file_rows,
        sample_rows: sample.rows(),
        columns,
    })
}

fn analyze_column(sample: &Sample, name: String, field: &Field, args: &Args) -> Result<Analyzed> {
    let array = column(sample, &name)?;
    let statistics = Statistics::of(&array, sample.file_rows);
    let trial = Trial::new(field, array.clone(), args.format_version);
    let mut candidates = trial.candidates(args.profile)?;
    let best = recommend(&candidates, args.profile);
    let options = candidates.get(best).and_then(|best| best.options).unwrap_or_default();
    let predicted = trial.predict(args.profile, options, sample.file_rows)?;
    candidates.extend(parquet::candidates(&plain(&array)?)?);
    let data_type = field.data_type().clone();
    Ok(Analyzed { name, data_type, statistics, candidates, best, predicted })
}

/// The median of what some repetitions take.
fn typical_time(times: usize, mut work: impl FnMut(usize) -> Result<()>) -> Result<Duration> {
    let mut taken = Vec::with_capacity(times);
    for time in 0..times {
        let start = Instant::now();
        work(time)?;
        taken.push(start.elapsed());
    }
    taken.sort_unstable();
    Ok(taken.get(times / 2).copied().unwrap_or_default())
}

/// The smallest form; unless size is all that matters, only if it reads about as fast as what the
/// writer takes by itself.
pub fn recommend(candidates: &[Candidate], profile: Profile) -> usize {
    let Some(own) = candidates.first() else { return 0 };
    let slower = |time: Duration, than: Duration| time > than.mul_f64(1.25);
    let may = |candidate: &Candidate| {
        profile == Profile::Small
            || !(slower(candidate.decode, own.decode) || slower(candidate.row, own.row))
    };
    // A gain of a few per mille is not worth an option.
    let worth = |candidate: &Candidate| (candidate.bytes as f64) < 0.98 * own.bytes as f64;
    let better = candidates.iter().enumerate().skip(1).filter(|(_, c)| may(c) && worth(c));
    better.min_by_key(|(_, candidate)| candidate.bytes).map_or(0, |(index, _)| index)
}

/// The fields below structs that hold values of their own, with their paths; those wanted, if some are.
pub fn fields(schema: &Schema, wanted: &[String]) -> Result<Vec<(String, Field)>> {
    fn collect(field: &Field, path: String, found: &mut Vec<(String, Field)>) {
        match field.data_type() {
            DataType::Struct(children) if !children.is_empty() => {
                for child in children {
                    collect(child, format!("{path}.{}", child.name()), found);
                }
            }
            _ => found.push((path, field.clone())),
        }
    }
    let mut found = Vec::new();
    for field in schema.fields() {
        collect(field, field.name().clone(), &mut found);
    }
    if wanted.is_empty() {
        return Ok(found);
    }
    let inside = |path: &str, name: &str| {
        path.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    if let Some(name) = wanted.iter().find(|name| !found.iter().any(|(path, _)| inside(path, name)))
    {
        let names: Vec<_> = found.iter().map(|(path, _)| path.as_str()).collect();
        return Err(Error::new(format!("no column `{name}`; there are: {}", names.join(", "))));
    }
    found.retain(|(path, _)| wanted.iter().any(|name| inside(path, name)));
    Ok(found)
}

/// The values of a field in all batches of the sample, null where a struct around it is.
pub fn column(sample: &Sample, path: &str) -> Result<ArrayRef> {
    let missing = || Error::new(format!("no column `{path}`"));
    let mut places = Vec::new();
    let mut fields = sample.schema.fields();
    for name in path.split('.') {
        let (place, field) = fields.find(name).ok_or_else(missing)?;
        places.push(place);
        if let DataType::Struct(children) = field.data_type() {
            fields = children;
        }
    }
    column_at(sample, &places)
}

/// The values of a field by its places from the top down, null where a struct around it is.
pub fn column_at(sample: &Sample, places: &[usize]) -> Result<ArrayRef> {
    let failed = |error: arrow_schema::ArrowError| Error::new(error.to_string());
    let of_batch = |batch: &RecordBatch| {
        let mut array: ArrayRef = std::sync::Arc::new(StructArray::from(batch.clone()));
        for place in places {
            let missing = || Error::new("no such column");
            let parent = array.as_struct_opt().ok_or_else(missing)?;
            let child = parent.columns().get(*place).ok_or_else(missing)?.clone();
            array = match parent.nulls() {
                Some(nulls) => {
                    let valid = arrow_array::BooleanArray::new(nulls.inner().clone(), None);
                    arrow_select::nullif::nullif(&child, &not(&valid)).map_err(failed)?
                }
                None => child,
            };
        }
        Ok(array)
    };
    let arrays = sample.batches.iter().map(of_batch).collect::<Result<Vec<_>>>()?;
    let arrays: Vec<&dyn Array> = arrays.iter().map(AsRef::as_ref).collect();
    if arrays.is_empty() {
        return Err(Error::new("there are no rows to analyze"));
    }
    concat(&arrays).map_err(failed)
}

fn not(mask: &arrow_array::BooleanArray) -> arrow_array::BooleanArray {
    arrow_array::BooleanArray::new(!mask.values(), None)
}

/// A dictionary as its values.
fn plain(array: &ArrayRef) -> Result<ArrayRef> {
    match array.data_type() {
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            let plain = take(dictionary.values(), dictionary.keys(), None);
            plain.map_err(|error| Error::new(error.to_string()))
        }
        _ => Ok(array.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(bytes: u64, decode: u64, row: u64) -> Candidate {
        Candidate {
            form: String::new(),
            options: Some(&[]),
            bytes,
            encode: Duration::ZERO,
            decode: Duration::from_micros(decode),
            row: Duration::from_micros(row),
        }
    }

    #[test]
    fn smaller_is_better_unless_it_is_slower() {
        let forms = [
            candidate(100, 10, 10),
            candidate(50, 99, 10),
            candidate(60, 10, 99),
            candidate(70, 11, 9),
            candidate(99, 1, 1),
        ];
        assert_eq!(recommend(&forms, Profile::Balanced), 3);
        assert_eq!(recommend(&forms, Profile::Small), 1);
        assert_eq!(recommend(&forms[..1], Profile::Small), 0);
        assert_eq!(recommend(&[forms[0].clone(), forms[4].clone()], Profile::Balanced), 0);
    }

    #[test]
    fn fields_are_found_by_path() {
        let city = Field::new("city", DataType::Utf8, true);
        let address = Field::new("address", DataType::Struct(vec![city].into()), true);
        let schema = Schema::new(vec![Field::new("id", DataType::Int64, true), address]);
        let names = |wanted: &[&str]| {
            let wanted: Vec<String> = wanted.iter().map(|name| (*name).to_owned()).collect();
            fields(&schema, &wanted)
                .map(|found| found.into_iter().map(|(path, _)| path).collect::<Vec<_>>())
        };
        assert_eq!(names(&[]).unwrap(), ["id", "address.city"]);
        assert_eq!(names(&["address"]).unwrap(), ["address.city"]);
        assert_eq!(names(&["address.city"]).unwrap(), ["address.city"]);
        assert!(names(&["addr"]).is_err());
    }
}
