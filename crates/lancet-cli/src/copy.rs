//! Where rows go: into a file, or onto standard output as a table or as text.

use std::io::Write;
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use clap::ValueEnum;
use lancet::{WriteOptions, WriteSummary};

use crate::error::{Error, Result};
use crate::format::Format;
use crate::input::{BATCH_ROWS, Input};
use crate::output::OutputFile;
use crate::places::{Access, FormatName, Target};
use crate::table::{Grid, terminal_width};
use crate::text::TextEncoder;
use crate::{progress, units};

/// Rows of a table whose widths are looked at together.
const LAID_OUT_ROWS: usize = 8_192;

/// How rows are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum TextFormat {
    #[default]
    Table,
    Jsonl,
    Csv,
}

/// Where the rows of a command go.
#[derive(Debug, clap::Args)]
pub struct Destination {
    /// How to print; only tables cut long values
    #[arg(short, long, value_enum, default_value_t)]
    format: TextFormat,
    /// Write to a file or URL instead; the ending chooses the format; - is standard output
    #[arg(short, long, value_name = "OUT", conflicts_with = "format")]
    output: Option<PathBuf>,
    /// Format of OUT, if its ending does not tell: lance, arrow, arrows, parquet, csv, jsonl, ...
    #[arg(long, value_name = "FORMAT", requires = "output", value_parser = FormatName::parse)]
    to: Option<FormatName>,
    #[command(flatten)]
    pub access: Access,
}

impl Destination {
    /// Fails early if there can be no such file, or if it is the `input`.
    pub fn check(&self, input: Option<&Path>) -> Result<()> {
        self.check_all(input.into_iter())
    }

    /// Fails early if there can be no such file, or if it is one of the `inputs`.
    pub fn check_all<'a>(&'a self, inputs: impl Iterator<Item = &'a Path> + Clone) -> Result<()> {
        self.access.check(inputs.clone().chain(self.output.as_deref()))?;
        let Some(target) = self.target()? else { return Ok(()) };
        inputs.into_iter().try_for_each(|input| target.check_not_same(input))
    }

    fn target(&self) -> Result<Option<Target>> {
        let output = self.output.as_ref();
        output.map(|path| Target::new(path, self.to.as_ref(), &self.access)).transpose()
    }

    /// The file that is written, if one is.
    #[cfg(feature = "sql")]
    pub fn output(&self) -> Option<&Path> {
        self.output.as_deref()
    }

    /// The same without a file: for rows that are only shown.
    #[cfg(feature = "sql")]
    pub fn shown(&self) -> Self {
        Self { format: self.format, output: None, to: None, access: self.access.clone() }
    }

    /// Whether the rows go to a file.
    pub fn is_file(&self) -> bool {
        self.output.is_some()
    }

    /// Whether the rows are printed as a table, which is for people.
    pub fn is_table(&self) -> bool {
        self.output.is_none() && self.format == TextFormat::Table
    }

    /// Writes or prints all batches.
    pub fn fill(&self, input: Input, quiet: bool, out: &mut dyn Write) -> Result<()> {
        let Some(target) = self.target()? else { return to_stdout(input, self.format, out) };
        let output = OutputFile::create(&target, &input.schema, &WriteOptions::default())?;
        fill(input, output, quiet).map(drop)
    }
}

/// What was copied into a file.
#[derive(Debug)]
pub struct Copied {
    /// Rows of the new file.
    pub rows: u64,
    /// Size of the new file.
    pub bytes: u64,
    /// What a Lance file has become.
    pub summary: Option<WriteSummary>,
}

/// Writes all batches to a file that was begun.
pub fn fill(input: Input, mut output: OutputFile, quiet: bool) -> Result<Copied> {
    let bar = progress::bar(input.rows, quiet);
    let mut rows = 0;
    for batch in input.batches {
        // An Arrow file may be one huge batch; in parts it makes progress and little text.
        for part in parts(&batch?) {
            output.write(&part)?;
            rows += part.num_rows() as u64;
            bar.set_position(rows);
        }
    }
    let (bytes, summary) = output.finish()?;
    bar.finish_and_clear();
    Ok(Copied { rows, bytes, summary })
}

/// Prints all batches.
fn to_stdout(input: Input, format: TextFormat, out: &mut dyn Write) -> Result<()> {
    match format {
        TextFormat::Table => print_table(input, out),
        TextFormat::Csv => print_text(input, Format::Csv, out),
        TextFormat::Jsonl => print_text(input, Format::JsonLines, out),
    }
}

fn print_text(input: Input, format: Format, out: &mut dyn Write) -> Result<()> {
    let (mut encoder, start) = TextEncoder::new(format, &input.schema).map_err(Error::new)?;
    out.write_all(&start)?;
    for batch in input.batches {
        for part in parts(&batch?) {
            out.write_all(&encoder.encode(&part).map_err(Error::new)?)?;
        }
    }
    Ok(out.write_all(encoder.end())?)
}

/// One box for all rows. The first ones decide how wide its columns are, so that a long table needs
/// no more memory than they do.
fn print_table(input: Input, out: &mut dyn Write) -> Result<()> {
    let mut grid = Grid::of_batch(&RecordBatch::new_empty(input.schema)).map_err(Error::new)?;
    let mut batches = input.batches.flat_map(|batch| match batch {
        Ok(batch) => parts(&batch).map(Ok).collect(),
        Err(error) => vec![Err(error)],
    });
    while grid.num_rows() < LAID_OUT_ROWS
        && let Some(batch) = batches.next().transpose()?
    {
        grid.append(&batch).map_err(Error::new)?;
    }
    let hidden_columns = terminal_width().map_or(0, |width| grid.fit(width));
    let mut printed = grid.num_rows() as u64;
    let boxed = grid.boxed();
    let (head, last_line) = boxed.rsplit_once('\n').unwrap_or(("", &boxed));
    writeln!(out, "{head}")?;
    let widths = grid.widths();
    for batch in batches {
        let rows = Grid::of_batch(&batch?).map_err(Error::new)?;
        printed += rows.num_rows() as u64;
        writeln!(out, "{}", rows.more_rows(&widths))?;
    }
    writeln!(out, "{last_line}\n{}", footer(printed, input.file_rows, hidden_columns))?;
    Ok(())
}

fn footer(printed: u64, file_rows: Option<u64>, hidden_columns: usize) -> String {
    let mut footer = match file_rows {
        Some(all) if all != printed => {
            format!("{} of {}", units::count(printed), units::rows(all))
        }
        _ => units::rows(printed),
    };
    if hidden_columns > 0 {
        let hidden = units::counted(hidden_columns as u64, "column");
        footer.push_str(&format!("; {hidden} did not fit, see --columns or --format jsonl"));
    }
    footer
}

/// A batch in parts of as many rows as batches usually have.
pub fn parts(batch: &RecordBatch) -> impl Iterator<Item = RecordBatch> + '_ {
    let step = BATCH_ROWS as usize;
    (0..batch.num_rows())
        .step_by(step)
        .map(move |start| batch.slice(start, step.min(batch.num_rows() - start)))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, Int32Array};

    use super::*;

    fn input(file_rows: u64) -> Input {
        let numbers: ArrayRef = Arc::new(Int32Array::from(vec![7, 8]));
        let batch = RecordBatch::try_from_iter([("n", numbers)]).unwrap();
        Input {
            schema: batch.schema(),
            file_rows: Some(file_rows),
            rows: Some(2),
            batches: Box::new(vec![Ok(batch.clone()), Ok(batch)].into_iter()),
        }
    }

    fn printed(format: TextFormat) -> String {
        let mut out = Vec::new();
        to_stdout(input(1_000), format, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn text_goes_on_over_batches() {
        assert_eq!(printed(TextFormat::Csv), "n\n7\n8\n7\n8\n");
        assert_eq!(printed(TextFormat::Jsonl), "{\"n\":7}\n{\"n\":8}\n{\"n\":7}\n{\"n\":8}\n");
    }

    #[test]
    fn a_table_is_one_box_however_many_batches_it_has() {
        let table = printed(TextFormat::Table);
        assert_eq!(table.matches('╭').count(), 1, "{table}");
        let batch = |from, to| -> RecordBatch {
            let numbers: ArrayRef = Arc::new(Int32Array::from_iter_values(from..to));
            RecordBatch::try_from_iter([("n", numbers)]).unwrap()
        };
        let input = Input {
            schema: batch(0, 0).schema(),
            file_rows: None,
            rows: None,
            batches: Box::new([Ok(batch(0, 20_000)), Ok(batch(20_000, 120_000))].into_iter()),
        };
        let mut out = Vec::new();
        to_stdout(input, TextFormat::Table, &mut out).unwrap();
        let table = String::from_utf8(out).unwrap();
        assert_eq!(table.matches(['╭', '╰', '╞']).count(), 3);
        assert_eq!(table.lines().count(), 120_000 + 5);
        assert!(table.contains("\n│ 9999 │\n│ 100… │\n"), "wider numbers are cut");
    }

    #[test]
    fn a_table_tells_how_much_it_shows() {
        assert!(printed(TextFormat::Table).ends_with("\n4 of 1,000 rows\n"));
        assert_eq!(footer(2, Some(2), 0), "2 rows");
        assert_eq!(
            footer(1, None, 3),
            "1 row; 3 columns did not fit, see --columns or --format jsonl"
        );
    }

    #[test]
    fn huge_batches_are_cut() {
        let numbers: ArrayRef = Arc::new(Int32Array::from(vec![0; 10_000]));
        let batch = RecordBatch::try_from_iter([("n", numbers)]).unwrap();
        let rows: Vec<_> = parts(&batch).map(|part| part.num_rows()).collect();
        assert_eq!(rows, [8_192, 1_808]);
    }
}
