//! lancet beside `lance-file`, `parquet` and `vortex`, on the same tables in one run.
//!
//! `run` measures and keeps the figures as JSON, `report` makes a text and a chart of them.

mod check;
mod cold;
mod contender;
mod limits;
mod measure;
mod process;
mod report;
mod results;
#[cfg(feature = "lance")]
mod row_ids;
mod run;
mod table;

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::{Parser, Subcommand};

use results::{Kind, Metric, Results};
use run::Choice;

#[derive(Parser)]
#[command(about)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Measures. Options may be repeated; without them, everything is measured.
    Run {
        /// Tables with a tenth of the rows, and fewer rounds.
        #[arg(long)]
        quick: bool,
        /// Takes the file out of memory before every call.
        #[arg(long)]
        cold: bool,
        /// Files of ever more rows and columns instead.
        #[arg(long, conflicts_with = "cold")]
        growth: bool,
        #[arg(long = "table")]
        tables: Vec<String>,
        #[arg(long = "metric")]
        metrics: Vec<Metric>,
        #[arg(long = "contender")]
        contenders: Vec<String>,
        /// Writes the files into this folder and leaves them there, for a profiler.
        #[arg(long)]
        keep: Option<PathBuf>,
        /// Where the figures go: `results.json` for all of them, or `cold.json`, `growth.json`; `partial.json` for
        /// some, or for those of a quick run.
        #[arg(long)]
        out: Option<PathBuf>,
    },
    /// Writes RESULTS.md and results.svg.
    Report {
        #[arg(long)]
        from: Option<PathBuf>,
        /// Prints the text instead.
        #[arg(long)]
        print: bool,
    },
    /// Row id sequences, beside those of `lance-table`.
    #[cfg(feature = "lance")]
    RowIds,
    /// Opens and scans a file and says how much memory that took.
    #[command(hide = true)]
    ScanMemory {
        #[arg(long)]
        contender: String,
        #[arg(long)]
        file: PathBuf,
        #[arg(long)]
        batch_rows: usize,
        #[arg(long)]
        column: Option<String>,
    },
}

/// What was measured elsewhere and kept here, and what it is called in the report.
const KEPT: [(&str, &str); 3] = [
    ("The Python package", "python/measure.md"),
    ("Tables of 1,000 fragments", "python/tables.md"),
    ("Queries of DataFusion", "queries.md"),
];

fn main() -> Result<()> {
    match Arguments::parse().command {
        #[cfg(feature = "lance")]
        Command::RowIds => row_ids::run(),
        Command::Run { quick, cold, growth, tables, metrics, contenders, keep, out } => {
            let kind = match (cold, growth) {
                (true, _) => Kind::Cold,
                (_, true) => Kind::Growth,
                _ => Kind::Warm,
            };
            let keeps = keep.is_some();
            let choice = Choice { quick, kind, tables, metrics, contenders, keep: keeps };
            let whole = choice.is_everything() && !quick;
            let name = if whole { kind.file() } else { "partial.json" };
            let out = out.unwrap_or_else(|| here().join(name));
            let folder = Folder::new()?;
            let results = run::run(&choice, keep.as_deref().unwrap_or(&folder.0))?;
            results.save(&out)?;
            print!("{}", report::text(&results));
            Ok(())
        }
        Command::Report { from, print } => {
            let results = Results::load(&from.unwrap_or_else(|| here().join(Kind::Warm.file())))?;
            if print {
                print!("{}", report::text(&results));
                return Ok(());
            }
            let mut text = report::text(&results);
            let others = [Kind::Cold, Kind::Growth].map(|kind| here().join(kind.file()));
            for other in others.iter().filter(|path| path.exists()) {
                text.push_str(&report::text(&Results::load(other)?));
            }
            for (title, name) in KEPT {
                let kept = here().join(name);
                if kept.exists() {
                    let figures = std::fs::read_to_string(kept)?;
                    text.push_str(&format!("# {title}\n\n{}\n\n", figures.trim_end()));
                }
            }
            std::fs::write(here().join("RESULTS.md"), text.trim_end().to_owned() + "\n")?;
            std::fs::write(here().join("results.svg"), report::chart(&results))?;
            Ok(())
        }
        Command::ScanMemory { contender, file, batch_rows, column } => {
            let bytes = run::scan_memory(&contender, &file, batch_rows, column.as_deref())?;
            println!("{bytes}");
            Ok(())
        }
    }
}

/// The folder of the benchmark.
fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A folder for the files of a run, which goes with it.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Self> {
        let path = std::env::temp_dir().join(format!("lancet-bench-{}", std::process::id()));
        std::fs::create_dir_all(&path)?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Nothing is lost if it stays.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
