//! What a run found, as it is kept in JSON.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// What a run is about.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Files in the page cache.
    #[default]
    Warm,
    /// Files that are taken out of memory before every call.
    Cold,
    /// Files of ever more rows, and of ever more columns of which one is read.
    Growth,
}

impl Kind {
    pub fn metrics(self) -> &'static [Metric] {
        match self {
            Self::Warm => &Metric::ALL,
            Self::Cold => &Metric::COLD,
            Self::Growth => &Metric::GROWTH,
        }
    }

    /// Where a whole run of it is kept.
    pub fn file(self) -> &'static str {
        match self {
            Self::Warm => "results.json",
            Self::Cold => "cold.json",
            Self::Growth => "growth.json",
        }
    }
}

/// What is measured of a contender on a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// Write the file, all threads.
    Write,
    /// Bytes of the file.
    Size,
    /// Read everything, one core.
    Scan,
    /// Read everything, all cores.
    ScanAll,
    /// Read one column, one core.
    Column,
    /// Open and read the first row.
    Open,
    /// Take rows from an open reader.
    Take1,
    Take100,
    Take10k,
    /// Open and take rows.
    OpenTake1,
    OpenTake100,
    OpenTake10k,
    /// Most memory held during a scan with one thread.
    Memory,
}

impl Metric {
    pub const ALL: [Self; 13] = [
        Self::Write,
        Self::Size,
        Self::Scan,
        Self::ScanAll,
        Self::Column,
        Self::Open,
        Self::Take1,
        Self::Take100,
        Self::Take10k,
        Self::OpenTake1,
        Self::OpenTake100,
        Self::OpenTake10k,
        Self::Memory,
    ];

    /// What is measured of files that are not in memory.
    pub const COLD: [Self; 7] = [
        Self::Scan,
        Self::ScanAll,
        Self::Column,
        Self::Open,
        Self::Take1,
        Self::Take100,
        Self::Take10k,
    ];

    /// What should stay the same, or nearly, while files grow.
    pub const GROWTH: [Self; 4] = [Self::Open, Self::Take1, Self::Take100, Self::Memory];

    pub fn title(self) -> &'static str {
        match self {
            Self::Write => "write, CPU time",
            Self::Size => "size",
            Self::Scan => "full scan, 1 core",
            Self::ScanAll => "full scan, all cores",
            Self::Column => "one-column scan, 1 core",
            Self::Open => "open + first row",
            Self::Take1 => "take 1 row, open reader",
            Self::Take100 => "take 100 rows, open reader",
            Self::Take10k => "take 10,000 rows, open reader",
            Self::OpenTake1 => "open + take 1 row",
            Self::OpenTake100 => "open + take 100 rows",
            Self::OpenTake10k => "open + take 10,000 rows",
            Self::Memory => "peak memory of a scan, 1 thread",
        }
    }

    /// Whether a call opens the file.
    pub fn opens(self) -> bool {
        matches!(self, Self::Open | Self::OpenTake1 | Self::OpenTake100 | Self::OpenTake10k)
    }

    pub fn is_bytes(self) -> bool {
        matches!(self, Self::Size | Self::Memory)
    }
}

/// One contender, one table, one metric.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Cell {
    pub table: String,
    pub contender: String,
    pub metric: Metric,
    /// Median: seconds, or bytes. Writes count processor time, the rest time that passes.
    pub value: f64,
    /// The median processor time of a call in seconds; 0 where the value is bytes.
    pub cpu: f64,
    /// A quarter of the samples lies below, a quarter above.
    pub quartiles: [f64; 2],
    pub samples: usize,
    /// Read calls and bytes read by one call, median.
    pub reads: u64,
    pub read_bytes: u64,
    /// Of calls that find nothing in memory: the median time in seconds of the same call right behind, which finds all.
    #[serde(default)]
    pub again: f64,
}

/// A table of the run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TableNote {
    pub name: String,
    pub rows: usize,
    pub columns: usize,
    pub arrow_bytes: usize,
    /// The column of the one-column scan.
    pub column: String,
    /// Rows of the take of 10,000: fewer where the table has fewer than 40,000.
    pub take_rows: usize,
}

/// A physical limit.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Limit {
    pub name: String,
    pub value: f64,
    pub unit: String,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Results {
    pub processor: String,
    pub cores: usize,
    pub quick: bool,
    #[serde(default)]
    pub kind: Kind,
    /// The load of the machine before the run, and after it (with the run itself in it).
    pub load: [f64; 2],
    pub seconds: f64,
    pub limits: Vec<Limit>,
    pub tables: Vec<TableNote>,
    pub cells: Vec<Cell>,
}

impl Results {
    pub fn load(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
        serde_json::from_str(&text).with_context(|| path.display().to_string())
    }

    pub fn save(&self, path: &Path) -> Result<()> {
        let text = serde_json::to_string_pretty(self)?;
        fs::write(path, text + "\n").with_context(|| path.display().to_string())
    }

    pub fn cell(&self, table: &str, contender: &str, metric: Metric) -> Option<&Cell> {
        let is = |cell: &&Cell| {
            cell.table == table && cell.contender == contender && cell.metric == metric
        };
        self.cells.iter().find(is)
    }

    pub fn value(&self, table: &str, contender: &str, metric: Metric) -> Option<f64> {
        self.cell(table, contender, metric).map(|cell| cell.value)
    }

    /// The best of some contenders.
    pub fn best(
        &self,
        table: &str,
        metric: Metric,
        among: impl Fn(&str) -> bool,
    ) -> Option<(&str, f64)> {
        let cells = self.cells.iter().filter(|cell| cell.table == table && cell.metric == metric);
        let cells = cells.filter(|cell| among(&cell.contender));
        let best = cells.min_by(|a, b| a.value.total_cmp(&b.value))?;
        Some((&best.contender, best.value))
    }

    /// The contenders of the run, in their order.
    pub fn contenders(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for cell in &self.cells {
            if !names.contains(&cell.contender.as_str()) {
                names.push(&cell.contender);
            }
        }
        names
    }
}
