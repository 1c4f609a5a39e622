//! Rows of some columns, to a record batch.
//!
//! ```text
//! column metadata ► the rounds of layouts, or of 2.0 ► record batch ► the order asked for
//! ```
//!
//! On a warm reader the first round has nothing to read and is skipped.

use std::sync::Arc;

use arrow_array::{RecordBatch, UInt64Array};
use bytes::Bytes;

use super::arrays::ArrayRead;
use super::columns::{FileColumns, MissingColumns};
use super::file::OpenFile;
use super::layouts::{LayoutRead, LongValues};
use super::order::{claim_repeated, in_order, sort};
use super::projection::Projection;
use super::request::Machine;
use super::steps::unfinished;
use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::pool::Pool;
use crate::rows::{RowRanges, Rows};
use crate::span::Span;

/// A read of rows in progress.
#[derive(Debug)]
pub(super) struct RowsRead {
    file: Arc<OpenFile>,
    columns: Projection,
    rows: Rows,
    budget: Budget,
    threads: usize,
    stage: Stage,
    /// Where each row asked for is among those that are read; none where that is their order.
    order: Option<UInt64Array>,
}

#[derive(Debug)]
enum Stage {
    /// The metadata of columns is to be read.
    Metadata(MissingColumns),
    Layouts(Box<LayoutRead>),
    /// 2.0.
    Arrays(Box<ArrayRead>),
    /// Something was wrong.
    Failed,
}

impl RowsRead {
    /// Starts a read; what it holds counts against the budget, and so many threads may work on it.
    pub(super) fn new(
        file: Arc<OpenFile>,
        columns: Projection,
        rows: Rows,
        budget: Budget,
        threads: usize,
    ) -> Result<Self> {
        columns.check_file(&file.index.schema)?;
        let missing = match columns.num_rows() {
            Some(_) => MissingColumns::default(),
            None => file.missing_columns(&columns)?,
        };
        let stage = Stage::Metadata(missing);
        let mut read = Self { file, columns, rows, budget, threads, stage, order: None };
        if read.spans().is_empty() {
            read.begin_rows()?;
        }
        Ok(read)
    }

    /// Begins to read rows of columns that are loaded.
    fn begin_rows(&mut self) -> Result<()> {
        let num_rows = self.file.common_rows(&self.columns)?;
        let rows = match std::mem::replace(&mut self.rows, Rows::All) {
            Rows::All => RowRanges::from(0..num_rows),
            Rows::Ranges(rows) => {
                check_ranges(&rows, num_rows)?;
                rows
            }
            Rows::List(mut rows) => {
                check_rows(&rows, num_rows)?;
                if !rows.is_sorted_by(|a, b| a < b) {
                    self.order = Some(sort(&mut rows));
                }
                RowRanges::from_sorted(&rows)
            }
        };
        let (file, columns) = (self.file.clone(), self.columns.clone());
        let (budget, threads) = (self.budget.clone(), self.threads);
        self.stage = self.file.named(match &self.file.columns {
            FileColumns::Layouts(known) => {
                let read = LayoutRead::new(file, known, columns, rows, budget, threads);
                read.map(Box::new).map(Stage::Layouts)
            }
            FileColumns::Arrays(known) => {
                let read = ArrayRead::new(file, known, columns, &rows, budget);
                read.map(Box::new).map(Stage::Arrays)
            }
        })?;
        Ok(())
    }

    /// What it may hold.
    pub(super) fn budget(&self) -> &Budget {
        &self.budget
    }

    /// Memory for values.
    pub(super) fn pool(&self) -> &Arc<Pool> {
        &self.file.pool
    }

    /// How many threads may work on it.
    pub(super) fn threads(&self) -> usize {
        self.threads
    }

    /// The rows, in the order asked for.
    pub(super) fn batch(self) -> Result<RecordBatch> {
        if !self.spans().is_empty() {
            return Err(unfinished());
        }
        let batch = match self.stage {
            Stage::Layouts(read) => read.finish(),
            Stage::Arrays(read) => read.finish(),
            Stage::Metadata(_) | Stage::Failed => Err(unfinished()),
        };
        let batch = self.file.named(batch)?;
        claim_repeated(std::slice::from_ref(&batch), self.order.as_ref(), &self.budget)?;
        in_order(batch, self.order, &self.file.pool)
    }

    /// The long values of the round; see [`LayoutRead::long_values`].
    pub(super) fn long_values(&self) -> Vec<LongValues> {
        match &self.stage {
            Stage::Layouts(read) => read.long_values(),
            _ => Vec::new(),
        }
    }

    /// See [`LayoutRead::supply_long_values`].
    pub(super) fn supply_long_values(
        &mut self,
        rows: &LongValues,
        heads: Bytes,
        values: Vec<u8>,
    ) -> Result<()> {
        match &mut self.stage {
            Stage::Layouts(read) => {
                let supplied = read.supply_long_values(rows, heads, values);
                self.file.named(supplied)
            }
            _ => Ok(()),
        }
    }
}

impl Machine for RowsRead {
    type Output = RecordBatch;

    fn spans(&self) -> &[Span] {
        match &self.stage {
            Stage::Metadata(missing) => &missing.spans,
            Stage::Layouts(read) => read.spans(),
            Stage::Arrays(read) => read.spans(),
            Stage::Failed => &[],
        }
    }

    fn brings_rows(&self) -> bool {
        match &self.stage {
            Stage::Layouts(read) => read.brings_rows(),
            Stage::Arrays(_) => true,
            Stage::Metadata(_) | Stage::Failed => false,
        }
    }

    fn supply(&mut self, bytes: Vec<Bytes>) -> Result<()> {
        let supplied = match &mut self.stage {
            Stage::Layouts(read) => read.supply(bytes),
            Stage::Arrays(read) => read.supply(bytes),
            Stage::Metadata(_) | Stage::Failed => {
                let stage = std::mem::replace(&mut self.stage, Stage::Failed);
                let Stage::Metadata(missing) = stage else { return Err(unfinished()) };
                self.file.load_missing(&self.columns, &missing, &bytes)?;
                return self.begin_rows();
            }
        };
        if supplied.is_err() {
            self.stage = Stage::Failed;
        }
        self.file.named(supplied)
    }

    fn finish(self: Box<Self>) -> Result<RecordBatch> {
        self.batch()
    }
}

/// An error unless the rows are among those that there are.
pub(super) fn check_ranges(rows: &RowRanges, num_rows: u64) -> Result<()> {
    let Some(beyond) = rows.ranges().last().filter(|last| last.end > num_rows) else {
        return Ok(());
    };
    Err(Error::invalid(format!(
        "rows {}..{} are out of range: there are {num_rows} rows",
        beyond.start, beyond.end
    )))
}

/// An error unless there are such rows.
pub(super) fn check_rows(rows: &[u64], num_rows: u64) -> Result<()> {
    let Some(row) = rows.iter().find(|row| **row >= num_rows) else { return Ok(()) };
    Err(Error::invalid(format!(
        "row {row} is out of range: there are {num_rows} rows, counted from 0"
    )))
}
