//! The columns of a file while it is written: pages with layouts, or the arrays of 2.0.

use std::io::Write;

use arrow_array::RecordBatch;
use arrow_schema::Schema;

use super::arrays::ArrayColumns;
use super::column::{ColumnPlan, ColumnWriter};
use super::due::DuePage;
use super::entries::PageEntries;
use super::options::WriteOptions;
use super::sink::Sink;
use crate::error::Result;
use crate::parallel::in_parallel_mut;
use crate::schema::columns::{LeafKind, columns_of};
use crate::version::Version;
use crate::zones::gather::Gatherer;

/// Batches of more columns are taken in on several threads.
const MANY_COLUMNS: usize = 64;

/// Columns that collect rows. This is where the two kinds of files part.
#[derive(Debug)]
pub(super) enum WaitingColumns {
    /// 2.1 and 2.2.
    Layouts(Vec<ColumnWriter>),
    /// 2.0.
    Arrays(ArrayColumns),
}

/// The rows of a column that wait.
#[derive(Debug, Clone, Copy)]
pub(super) struct Waiting {
    /// Bytes of memory that they take, or keep from being freed.
    pub(super) held: u64,
    /// How many bytes the file had been given when the oldest of them came; none if none wait.
    pub(super) oldest: Option<u64>,
    pub(super) is_full: bool,
}

impl WaitingColumns {
    /// `plans` are those of the leaves of the schema, in order.
    pub(super) fn new(
        schema: &Schema,
        plans: Vec<ColumnPlan>,
        options: &WriteOptions,
    ) -> Result<Self> {
        let zone_maps = options.zone_maps;
        if options.version == Version::V2_0 {
            let arrays = ArrayColumns::new(&columns_of(schema)?, plans, zone_maps)?;
            return Ok(Self::Arrays(arrays));
        }
        let columns = plans.into_iter().map(|plan| ColumnWriter::new(plan, zone_maps));
        Ok(Self::Layouts(columns.collect()))
    }

    pub(super) fn names(&self) -> Vec<String> {
        match self {
            Self::Layouts(columns) => columns.iter().map(|c| c.plan.name.clone()).collect(),
            Self::Arrays(columns) => columns.names().map(str::to_owned).collect(),
        }
    }

    /// Whether the values of a column lie outside its pages, and the file says so.
    pub(super) fn is_blob(&self, column: usize) -> bool {
        match self {
            Self::Layouts(_) => false,
            Self::Arrays(columns) => columns.is_blob(column),
        }
    }

    /// What was gathered for the zone maps, by column.
    pub(super) fn take_zones(&mut self) -> Vec<Option<Gatherer>> {
        match self {
            Self::Layouts(columns) => columns.iter_mut().map(|c| c.zones.take()).collect(),
            Self::Arrays(columns) => columns.take_zones(),
        }
    }

    /// Takes the rows of a batch, after `given` bytes of others; how many bytes they are, and pages that
    /// became full. Payloads of blobs are written at once.
    pub(super) fn push<W: Write>(
        &mut self,
        batch: &RecordBatch,
        given: u64,
        options: &WriteOptions,
        sink: &mut Sink<W>,
    ) -> Result<(u64, Vec<DuePage>)> {
        match self {
            Self::Layouts(columns) => push(columns, batch, given, options, sink),
            Self::Arrays(columns) => Ok((columns.push(batch, given, sink)?, Vec::new())),
        }
    }

    /// The pages that have to be written now that `given` bytes were given in all: of columns that are
    /// full, that keep batches alive for too long, or that have the most rows where too many wait.
    pub(super) fn due_pages(&mut self, given: u64, options: &WriteOptions) -> Result<Vec<DuePage>> {
        let waiting: Vec<Waiting> = match self {
            Self::Layouts(columns) => columns.iter().map(ColumnWriter::waiting).collect(),
            Self::Arrays(columns) => columns.waiting(options.cut_bytes()).collect(),
        };
        let is_due = due_columns(&waiting, given, options.waiting_limit());
        self.take_pages(options, |column| is_due.get(column).copied().unwrap_or(false))
    }

    /// All that is left.
    pub(super) fn last_pages(&mut self, options: &WriteOptions) -> Result<Vec<DuePage>> {
        let mut pages = self.take_pages(options, |_| true)?;
        if let Self::Arrays(columns) = self {
            pages.extend(columns.end_pages());
            pages.sort_by_key(|page| page.column);
        }
        Ok(pages)
    }

    /// The rows of some columns as pages, in the order of the columns.
    fn take_pages(
        &mut self,
        options: &WriteOptions,
        is_wanted: impl Fn(usize) -> bool,
    ) -> Result<Vec<DuePage>> {
        let mut pages = Vec::new();
        match self {
            Self::Layouts(columns) => {
                for (i, column) in columns.iter_mut().enumerate().filter(|(i, _)| is_wanted(*i)) {
                    column.take_pages(i, &mut pages)?;
                }
            }
            Self::Arrays(columns) => {
                columns.take_pages(options.cut_bytes(), is_wanted, &mut pages);
            }
        }
        Ok(pages)
    }

    /// Remembers the entries of a column's dictionaries; refuses what its keys cannot number.
    pub(super) fn add_entries(&mut self, column: usize, entries: PageEntries) -> Result<()> {
        match self {
            Self::Layouts(columns) => {
                columns.get_mut(column).map_or(Ok(()), |column| column.add_entries(entries))
            }
            Self::Arrays(columns) => columns.add_entries(column, entries),
        }
    }
}

/// Which columns give up their rows.
fn due_columns(waiting: &[Waiting], given: u64, limit: u64) -> Vec<bool> {
    let is_old = |oldest: u64| given.saturating_sub(oldest) > limit;
    let is_due = |column: &Waiting| column.is_full || column.oldest.is_some_and(is_old);
    let mut due: Vec<bool> = waiting.iter().map(is_due).collect();
    let left = waiting.iter().zip(&due).enumerate().filter(|(_, (_, due))| !**due);
    let mut left: Vec<(usize, u64)> = left.map(|(i, (column, _))| (i, column.held)).collect();
    let mut held: u64 = left.iter().map(|(_, held)| held).sum();
    if held <= limit {
        return due;
    }
    // Columns with few rows keep them: their pages would be small.
    left.sort_by_key(|(_, held)| std::cmp::Reverse(*held));
    for (column, bytes) in left {
        if held <= limit / 2 {
            break;
        }
        held = held.saturating_sub(bytes);
        if let Some(due) = due.get_mut(column) {
            *due = true;
        }
    }
    due
}

fn push<W: Write>(
    columns: &mut Vec<ColumnWriter>,
    batch: &RecordBatch,
    given: u64,
    options: &WriteOptions,
    sink: &mut Sink<W>,
) -> Result<(u64, Vec<DuePage>)> {
    let page_bytes = options.cut_bytes();
    // To keep a batch is little work, except where it is large.
    let is_much = columns.len() > MANY_COLUMNS
        || columns.iter().any(|column| column.is_nearly_full(page_bytes));
    let threads = if is_much { options.threads() } else { 1 };
    let rows = batch.clone();
    let push = move |column: &mut ColumnWriter| match column.plan.kind {
        LeafKind::Blob => Ok((0, Vec::new())),
        _ => {
            let mut pages = Vec::new();
            let root = rows.column(column.plan.root);
            let bytes = column.push(root, given, page_bytes, &mut pages)?;
            Ok((bytes, pages))
        }
    };
    let pushed = in_parallel_mut(threads, columns, push)?;
    let (mut pushed_bytes, mut due) = (0, Vec::new());
    for (i, (column, (mut bytes, mut pages))) in columns.iter_mut().zip(pushed).enumerate() {
        if column.plan.kind == LeafKind::Blob {
            let root = batch.column(column.plan.root);
            bytes = column.push_blobs(root, given, page_bytes, sink, &mut pages)?;
        }
        pushed_bytes += bytes;
        pages.iter_mut().for_each(|page| page.column = i);
        due.append(&mut pages);
    }
    Ok((pushed_bytes, due))
}

#[cfg(test)]
#[path = "columns_tests.rs"]
mod tests;
