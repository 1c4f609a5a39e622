//! A run: tables are made, written by all contenders, checked, and then measured metric by metric.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, ensure};

use crate::check::check;
use crate::cold;
use crate::contender::{self, Contender, Open, Reader};
use crate::limits;
use crate::measure::{Effort, Turn, measure};
use crate::process;
use crate::results::{Cell, Kind, Metric, Results, TableNote};
use crate::table::random::Random;
use crate::table::{GROWING, RECIPES, Recipe, Table};

/// What to run; empty lists mean all.
#[derive(Debug, Default)]
pub struct Choice {
    pub quick: bool,
    pub kind: Kind,
    pub tables: Vec<String>,
    pub metrics: Vec<Metric>,
    pub contenders: Vec<String>,
    /// Whether the files stay.
    pub keep: bool,
}

impl Choice {
    /// Whether nothing is left out.
    pub fn is_everything(&self) -> bool {
        self.tables.is_empty() && self.metrics.is_empty() && self.contenders.is_empty()
    }

    fn recipes(&self) -> Result<Vec<&'static Recipe>> {
        let recipes: &[Recipe] = if self.kind == Kind::Growth { &GROWING } else { &RECIPES };
        let known = |name: &String| recipes.iter().any(|recipe| recipe.name == name);
        let unknown = self.tables.iter().find(|name| !known(name));
        ensure!(unknown.is_none(), "no table {unknown:?}");
        let chosen = |recipe: &&Recipe| {
            self.tables.is_empty() || self.tables.iter().any(|name| name == recipe.name)
        };
        Ok(recipes.iter().filter(chosen).collect())
    }

    fn contenders(&self) -> Result<Vec<Box<dyn Contender>>> {
        let mut all = contender::all()?;
        let known = |name: &String| all.iter().any(|contender| contender.name() == name);
        let unknown = self.contenders.iter().find(|name| !known(name));
        ensure!(unknown.is_none(), "no contender {unknown:?}");
        all.retain(|contender| {
            self.contenders.is_empty()
                || self.contenders.iter().any(|name| name == contender.name())
        });
        Ok(all)
    }

    fn wants(&self, metric: Metric) -> bool {
        let chosen = self.metrics.is_empty() || self.metrics.contains(&metric);
        chosen && self.kind.metrics().contains(&metric)
    }
}

/// Runs what was chosen, with files in `folder`.
pub fn run(choice: &Choice, folder: &Path) -> Result<Results> {
    let start = Instant::now();
    let mut results = Results {
        processor: process::processor(),
        cores: process::cores(),
        quick: choice.quick,
        kind: choice.kind,
        load: [process::load()?, 0.0],
        seconds: 0.0,
        limits: match choice.kind {
            Kind::Warm => limits::measure(folder)?,
            Kind::Cold => cold::limits(folder)?,
            Kind::Growth => Vec::new(),
        },
        tables: Vec::new(),
        cells: Vec::new(),
    };
    let contenders = choice.contenders()?;
    for recipe in choice.recipes()? {
        eprintln!("{:>5.0} s  {}", start.elapsed().as_secs_f64(), recipe.name);
        let table = recipe.make(choice.quick)?;
        let bout = Bout::new(choice, folder, &contenders, table);
        results.tables.push(bout.note());
        results.cells.extend(bout.fight().with_context(|| format!("table {}", recipe.name))?);
    }
    results.load[1] = process::load()?;
    results.seconds = start.elapsed().as_secs_f64();
    Ok(results)
}

/// One table and all contenders.
struct Bout<'a> {
    choice: &'a Choice,
    contenders: &'a [Box<dyn Contender>],
    table: Table,
    files: Vec<PathBuf>,
    take_rows: usize,
}

impl<'a> Bout<'a> {
    fn new(
        choice: &'a Choice,
        folder: &Path,
        contenders: &'a [Box<dyn Contender>],
        table: Table,
    ) -> Self {
        let named = |contender: &dyn Contender| format!("{}.{}", table.name, contender.name());
        let files =
            contenders.iter().map(|contender| folder.join(named(contender.as_ref()))).collect();
        let take_rows = (table.rows() / 4).min(10_000);
        Self { choice, contenders, table, files, take_rows }
    }

    fn note(&self) -> TableNote {
        TableNote {
            name: self.table.name.into(),
            rows: self.table.rows(),
            columns: self.table.batch.num_columns(),
            arrow_bytes: self.table.arrow_bytes(),
            column: self.table.column.into(),
            take_rows: self.take_rows,
        }
    }

    fn fight(&self) -> Result<Vec<Cell>> {
        let mut cells = self.write()?;
        self.check()?;
        for metric in Metric::ALL.into_iter().filter(|metric| self.choice.wants(*metric)) {
            cells.extend(match metric {
                Metric::Write => Vec::new(),
                Metric::Size => self.sizes()?,
                Metric::Memory => self.memory()?,
                _ => self.read(metric)?,
            });
        }
        if !self.choice.keep {
            self.files.iter().try_for_each(std::fs::remove_file)?;
        }
        Ok(cells)
    }

    /// Writes the files, once if writing is not to be measured.
    fn write(&self) -> Result<Vec<Cell>> {
        let mut turns = Vec::new();
        for (contender, file) in self.contenders.iter().zip(&self.files) {
            let write = contender.prepare(&self.table)?;
            let name = contender.name();
            if !self.choice.wants(Metric::Write) {
                write(file).with_context(|| name)?;
                continue;
            }
            turns.push(Turn::new(name, move |_| write(file).with_context(|| name)));
        }
        let effort = Effort::of_writes(self.choice.quick);
        measure(self.table.name, Metric::Write, effort, turns)
    }

    fn check(&self) -> Result<()> {
        let rows = random_rows(self.table.rows(), self.take_rows, 0);
        for index in 0..self.contenders.len() {
            let reader = self.open(index, 1)?;
            check(reader.as_ref(), &self.table, &rows)
                .with_context(|| self.contenders[index].name())?;
        }
        Ok(())
    }

    fn open(&self, index: usize, threads: usize) -> Result<Box<dyn Reader>> {
        let (path, batch_rows) = (self.files[index].as_path(), self.table.batch_rows());
        self.contenders[index].open(Open { path, batch_rows, threads })
    }

    fn sizes(&self) -> Result<Vec<Cell>> {
        let files = self.contenders.iter().zip(&self.files);
        let cells = files.map(|(contender, file)| {
            let bytes = std::fs::metadata(file)?.len();
            Ok(self.bytes(contender.name(), Metric::Size, bytes))
        });
        cells.collect()
    }

    fn bytes(&self, contender: &str, metric: Metric, bytes: u64) -> Cell {
        Cell {
            table: self.table.name.into(),
            contender: contender.into(),
            metric,
            value: bytes as f64,
            cpu: 0.0,
            quartiles: [bytes as f64; 2],
            samples: 1,
            reads: 0,
            read_bytes: 0,
            again: 0.0,
        }
    }

    fn read(&self, metric: Metric) -> Result<Vec<Cell>> {
        let threads = if metric == Metric::ScanAll { process::cores() } else { 1 };
        let pinned = matches!(metric, Metric::Scan | Metric::Column);
        let turns = (0..self.contenders.len()).map(|index| {
            let turn = self.turn(index, metric, threads)?;
            let file = self.files[index].as_path();
            let cold = self.choice.kind == Kind::Cold;
            Ok(if cold { turn.cold(move || cold::evict(file)) } else { turn })
        });
        let turns = turns.collect::<Result<Vec<_>>>()?;
        process::run_on(if pinned { 1 } else { process::cores() })?;
        let cells = measure(self.table.name, metric, Effort::new(self.choice.quick), turns);
        process::run_on(process::cores())?;
        cells
    }

    /// The call that a metric measures.
    fn turn(&self, index: usize, metric: Metric, threads: usize) -> Result<Turn<'_>> {
        let name = self.contenders[index].name();
        let rows = self.table.rows();
        let count = match metric {
            Metric::Take100 | Metric::OpenTake100 => 100.min(self.take_rows),
            Metric::Take10k | Metric::OpenTake10k => self.take_rows,
            _ => 1,
        };
        // Other rows with every call, the same for all.
        let sets: Vec<Vec<u64>> = (0..if count > 1 { 16 } else { 512 })
            .map(|seed| random_rows(rows, count, seed))
            .collect();
        let taken = self.table.taken;
        if metric.opens() {
            return Ok(Turn::new(name, move |call| {
                let reader = self.open(index, threads)?;
                let wanted =
                    if metric == Metric::Open { &[0][..] } else { &sets[call % sets.len()] };
                expect(reader.take(wanted, taken, None)?, wanted.len())
            }));
        }
        let reader = self.open(index, threads)?;
        let column = (metric == Metric::Column).then_some(self.table.column);
        Ok(match metric {
            Metric::Scan | Metric::ScanAll | Metric::Column => {
                Turn::new(name, move |_| expect(reader.scan(column, None)?, rows))
            }
            _ => Turn::new(name, move |call| {
                let wanted = &sets[call % sets.len()];
                expect(reader.take(wanted, taken, None)?, wanted.len())
            }),
        })
    }

    /// Memory is measured in processes of their own, which know nothing of the table.
    fn memory(&self) -> Result<Vec<Cell>> {
        let program = std::env::current_exe()?;
        let mut cells = Vec::new();
        for (contender, file) in self.contenders.iter().zip(&self.files) {
            let mut found = Vec::new();
            for _ in 0..if self.choice.quick { 1 } else { 3 } {
                let output = Command::new(&program)
                    .args(["scan-memory", "--contender", contender.name()])
                    .args(["--batch-rows", &self.table.batch_rows().to_string()])
                    .args(self.table.taken.into_iter().flat_map(|column| ["--column", column]))
                    .arg("--file")
                    .arg(file)
                    .output()?;
                let text = String::from_utf8_lossy(&output.stdout);
                let bytes = text.trim().parse::<u64>();
                found.push(
                    bytes.with_context(|| String::from_utf8_lossy(&output.stderr).into_owned())?,
                );
            }
            found.sort_unstable();
            cells.push(self.bytes(contender.name(), Metric::Memory, found[found.len() / 2]));
        }
        Ok(cells)
    }
}

/// How much the memory of this process grows, at most, while it opens and scans a file.
pub fn scan_memory(
    contender: &str,
    file: &Path,
    batch_rows: usize,
    column: Option<&str>,
) -> Result<u64> {
    let choice = Choice { contenders: vec![contender.into()], ..Choice::default() };
    let contenders = choice.contenders()?;
    let contender = contenders.first().context("no contender")?;
    let (before, _) = process::memory()?;
    let reader = contender.open(Open { path: file, batch_rows, threads: 1 })?;
    reader.scan(column, None)?;
    let (_, most) = process::memory()?;
    Ok(most.saturating_sub(before))
}

fn expect(found: usize, expected: usize) -> Result<()> {
    ensure!(found == expected, "{found} rows for {expected}");
    Ok(())
}

/// Some of the rows, sorted, none twice.
fn random_rows(rows: usize, count: usize, seed: u64) -> Vec<u64> {
    let mut random = Random::new(seed);
    let mut chosen = std::collections::BTreeSet::new();
    while chosen.len() < count.min(rows) {
        chosen.insert(random.below(rows as u64));
    }
    chosen.into_iter().collect()
}
