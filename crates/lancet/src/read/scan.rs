//! Scans: a range of rows as a sequence of batches.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;

use super::FileReader;
use super::request::ProjectedColumns;
use crate::error::{Error, Result};

/// Describes a scan; [`Scan::build`] starts it.
#[derive(Debug, Clone)]
#[must_use]
pub struct Scan {
    reader: FileReader,
    columns: Option<Vec<String>>,
    rows: Option<Range<u64>>,
    batch_rows: usize,
    describe_blobs: bool,
}

impl Scan {
    pub(super) fn new(reader: FileReader) -> Self {
        Self { reader, columns: None, rows: None, batch_rows: 8192, describe_blobs: false }
    }

    /// Reads only these columns; nested fields are named with dots.
    pub fn columns<S: AsRef<str>>(mut self, columns: impl IntoIterator<Item = S>) -> Self {
        self.columns = Some(columns.into_iter().map(|c| c.as_ref().to_owned()).collect());
        self
    }

    /// Reads only these rows.
    pub fn rows(mut self, rows: Range<u64>) -> Self {
        self.rows = Some(rows);
        self
    }

    /// Rows in a batch (8,192 unless told).
    pub fn batch_rows(mut self, rows: usize) -> Self {
        self.batch_rows = rows;
        self
    }

    /// Gives blobs as structs of `position` and `size` instead of their bytes, which are not read.
    pub fn blobs_as_descriptions(mut self) -> Self {
        self.describe_blobs = true;
        self
    }

    /// Checks the description and starts.
    pub fn build(self) -> Result<Batches> {
        if self.batch_rows == 0 {
            return Err(Error::invalid("a batch needs at least one row"));
        }
        let mut projection = match &self.columns {
            Some(columns) => self.reader.projection(columns)?,
            None => self.reader.everything.clone(),
        };
        if self.describe_blobs {
            projection = projection.describe_blobs()?;
        }
        let num_rows = self.reader.load_columns(&projection)?;
        let rows = self.rows.unwrap_or(0..num_rows);
        if rows.start > rows.end || rows.end > num_rows {
            return Err(Error::invalid(format!(
                "rows {}..{} are out of range: there are {num_rows} rows",
                rows.start, rows.end
            )));
        }
        Ok(Batches { reader: self.reader, projection, rows, batch_rows: self.batch_rows as u64 })
    }
}

/// The batches of a scan, in row order.
#[derive(Debug)]
pub struct Batches {
    reader: FileReader,
    projection: Arc<ProjectedColumns>,
    /// Rows still to come.
    rows: Range<u64>,
    batch_rows: u64,
}

impl Batches {
    /// The schema of the batches.
    pub fn schema(&self) -> SchemaRef {
        self.projection.schema.clone()
    }
}

impl Iterator for Batches {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rows.is_empty() {
            return None;
        }
        let end = self.rows.end.min(self.rows.start.saturating_add(self.batch_rows));
        let batch = self.reader.read(&self.projection, vec![self.rows.start..end]);
        // After an error there is nothing sensible to go on with.
        self.rows.start = if batch.is_ok() { end } else { self.rows.end };
        Some(batch)
    }
}
