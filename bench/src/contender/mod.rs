//! Who is compared: one file each.

#[cfg(feature = "lance")]
mod arrow58;
#[cfg(feature = "lance")]
mod lance;
mod lancet;
mod parquet;
#[cfg(feature = "vortex")]
mod vortex;

use std::path::Path;

use anyhow::Result;
use arrow_array::RecordBatch;

use crate::table::Table;

/// Writes a table, which it already has in its own form, to a file.
pub type Write<'a> = Box<dyn Fn(&Path) -> Result<()> + 'a>;

/// Is handed what was read, to look whether it is right. Without one, batches are dropped as they
/// come.
pub type Visit<'a> = Option<&'a mut dyn FnMut(RecordBatch) -> Result<()>>;

/// How a file is opened.
#[derive(Debug, Clone, Copy)]
pub struct Open<'a> {
    pub path: &'a Path,
    /// Rows of a scan's batches.
    pub batch_rows: usize,
    /// How many threads a scan may use.
    pub threads: usize,
}

/// A format, and a library for it.
pub trait Contender {
    fn name(&self) -> &'static str;

    /// Brings a table into the form that is written, outside of the measured time.
    fn prepare(&self, table: &Table) -> Result<Write<'_>>;

    fn open(&self, open: Open<'_>) -> Result<Box<dyn Reader>>;
}

/// An open file.
pub trait Reader {
    /// Reads all rows of a column, or of all columns; returns their number.
    fn scan(&self, column: Option<&str>, visit: Visit<'_>) -> Result<usize>;

    /// Reads a column, or all columns, of these rows, which are sorted and distinct; returns their number.
    fn take(&self, rows: &[u64], column: Option<&str>, visit: Visit<'_>) -> Result<usize>;
}

/// Everyone, lancet first.
pub fn all() -> Result<Vec<Box<dyn Contender>>> {
    #[allow(unused_mut, reason = "with no peers to build")]
    let mut all: Vec<Box<dyn Contender>> = vec![Box::new(lancet::Lancet)];
    #[cfg(feature = "lance")]
    all.extend(lance::versions()?);
    all.extend(parquet::flavours());
    #[cfg(feature = "vortex")]
    all.push(Box::new(vortex::Vortex::new()));
    Ok(all)
}
