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

/// How a table is made.
pub struct Recipe {
    pub name: &'static str,
    rows: usize,
    /// The column of the one-column scan.
    column: &'static str,
    columns: fn(usize, &mut Random) -> Columns,
}

/// All tables, in the order of the report.
pub const RECIPES: [Recipe; 10] = [
    Recipe { name: "ints", rows: 1_000_000, column: "code", columns: flat::ints },
    Recipe { name: "floats", rows: 1_000_000, column: "walk", columns: flat::floats },
    Recipe { name: "strings", rows: 1_000_000, column: "sentence", columns: flat::strings },
    Recipe { name: "vectors", rows: 50_000, column: "vector", columns: nested::vectors },
    Recipe { name: "nested", rows: 100_000, column: "list", columns: nested::nested },
    Recipe { name: "large4k", rows: 20_000, column: "document", columns: nested::large4k },
    Recipe { name: "large100k", rows: 1_000, column: "image", columns: nested::large100k },
    Recipe { name: "wide", rows: 2_000, column: "c500", columns: real::wide },
    Recipe { name: "lineitem", rows: 1_000_000, column: "l_partkey", columns: real::lineitem },
    Recipe { name: "taxi", rows: 1_000_000, column: "fare_amount", columns: real::taxi },
];

/// A table in memory.
pub struct Table {
    pub name: &'static str,
    pub column: &'static str,
    pub batch: RecordBatch,
}

impl Recipe {
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
        Ok(Table { name: self.name, column: self.column, batch })
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
