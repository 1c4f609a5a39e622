//! The tables, made by seed.
//!
//! A table is one batch in memory, handed to writers in slices of [`WRITE_ROWS`] rows.

mod flat;
mod nested;
pub mod random;
mod real;
pub mod text;

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{Field, Schema};

use random::Random;

/// Rows of the batches that writers are given.
pub const WRITE_ROWS: usize = 8_192;

/// Rows of the batches asked for in a scan, unless rows are wide.
const READ_ROWS: usize = 8_192;

/// Bytes of the batches asked for in a scan, about.
const READ_BYTES: usize = 8 << 20;

/// Whether a column may hold nulls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Whole,
    WithNulls,
}

/// Name, whether there are nulls, and values.
pub type Columns = Vec<(&'static str, Kind, ArrayRef)>;

/// Makes columns of so many rows.
type Make = fn(usize, &mut Random) -> Columns;

/// How a table is made.
pub struct Recipe {
    pub name: &'static str,
    rows: usize,
    /// The column of the one-column scan.
    column: &'static str,
    /// The column that is taken, if it is not all of them.
    taken: Option<&'static str>,
    columns: Make,
}

/// All tables, in the order of the report.
pub const RECIPES: [Recipe; 10] = [
    Recipe::new("ints", 1_000_000, "code", flat::ints),
    Recipe::new("floats", 1_000_000, "walk", flat::floats),
    Recipe::new("strings", 1_000_000, "sentence", flat::strings),
    Recipe::new("vectors", 50_000, "vector", nested::vectors),
    Recipe::new("nested", 100_000, "list", nested::nested),
    Recipe::new("large4k", 20_000, "document", nested::large4k),
    Recipe::new("large100k", 1_000, "image", nested::large100k),
    Recipe::new("wide", 2_000, "c500", real::wide),
    Recipe::new("lineitem", 1_000_000, "l_partkey", real::lineitem),
    Recipe::new("taxi", 1_000_000, "fare_amount", real::taxi),
];

/// Tables that differ in nothing but their rows, and in nothing but their columns.
pub const GROWING: [Recipe; 7] = [
    Recipe::new("rows-100k", 100_000, "code", flat::growing),
    Recipe::new("rows-1m", 1_000_000, "code", flat::growing),
    Recipe::new("rows-10m", 10_000_000, "code", flat::growing),
    Recipe::one_of("columns-10", |rows, random| real::columns(10, rows, random)),
    Recipe::one_of("columns-100", |rows, random| real::columns(100, rows, random)),
    Recipe::one_of("columns-1k", |rows, random| real::columns(1_000, rows, random)),
    Recipe::one_of("columns-10k", |rows, random| real::columns(10_000, rows, random)),
];

/// A table in memory.
pub struct Table {
    pub name: &'static str,
    pub column: &'static str,
    pub taken: Option<&'static str>,
    pub batch: RecordBatch,
}

impl Recipe {
    const fn new(name: &'static str, rows: usize, column: &'static str, columns: Make) -> Self {
        Self { name, rows, column, taken: None, columns }
    }

    /// Of whose columns one is read.
    const fn one_of(name: &'static str, columns: Make) -> Self {
        Self { name, rows: 1_000, column: "c005", taken: Some("c005"), columns }
    }

    /// Makes the table, with a tenth of its rows if it has to be quick.
    pub fn make(&self, quick: bool) -> anyhow::Result<Table> {
        let rows = if quick { self.rows / 10 } else { self.rows };
        let seed = self.name.bytes().fold(7_u64, |seed, byte| seed * 31 + u64::from(byte));
        let columns = (self.columns)(rows, &mut Random::new(seed));
        let field = |(name, kind, array): &(&'static str, Kind, ArrayRef)| {
            Field::new(*name, array.data_type().clone(), *kind == Kind::WithNulls)
        };
        let schema = Schema::new(columns.iter().map(field).collect::<Vec<_>>());
        let arrays = columns.into_iter().map(|(_, _, array)| array).collect();
        let batch = RecordBatch::try_new(Arc::new(schema), arrays)?;
        Ok(Table { name: self.name, column: self.column, taken: self.taken, batch })
    }
}

impl Table {
    pub fn rows(&self) -> usize {
        self.batch.num_rows()
    }

    /// The table in the pieces that writers are given.
    pub fn write_batches(&self) -> Vec<RecordBatch> {
        let starts = (0..self.rows()).step_by(WRITE_ROWS);
        starts.map(|at| self.batch.slice(at, WRITE_ROWS.min(self.rows() - at))).collect()
    }

    pub fn arrow_bytes(&self) -> usize {
        self.batch.columns().iter().map(|column| column.get_array_memory_size()).sum()
    }

    /// Rows of a scan's batches: the same for all who can be told.
    pub fn batch_rows(&self) -> usize {
        (READ_BYTES / (self.arrow_bytes() / self.rows()).max(1)).clamp(1, READ_ROWS)
    }
}
