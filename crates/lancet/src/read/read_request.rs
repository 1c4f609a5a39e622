//! Reads as values: what to read next, and the result at the end.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions, UInt64Array, make_array};
use arrow_data::transform::MutableArrayData;
use arrow_schema::DataType;
use arrow_select::take::take as take_rows;
use bytes::Bytes;

use super::FileReader;
use super::projected::ProjectedColumns;
use super::rounds::Rounds;
use super::source::FileSource;
use crate::budget::Budget;
use crate::error::{Error, Result};

/// A read in progress, for drivers with I/O of their own: it names spans of the file, is handed their
/// bytes, and names the next ones until it is complete. [`Opening`](crate::Opening) has an example.
///
/// One loop drives all requests:
///
/// ```
/// # use std::ops::Range;
/// # use bytes::Bytes;
/// # use lancet::{Request, Result};
/// fn drive<R: Request>(
///     mut request: R,
///     read: impl Fn(&[Range<u64>]) -> Result<Vec<Bytes>>,
/// ) -> Result<R::Output> {
///     while !request.spans().is_empty() {
///         let bytes = read(request.spans())?;
///         request.supply(bytes)?;
///     }
///     request.finish()
/// }
/// ```
///
/// It decodes in [`Request::supply`]; nothing blocks.
pub trait Request {
    /// What the read comes to.
    type Output;

    /// The spans of the file whose bytes are needed next; none when the read is complete.
    fn spans(&self) -> &[Range<u64>];

    /// Hands over the bytes of [`Request::spans`], in the same order.
    fn supply(&mut self, bytes: Vec<Bytes>) -> Result<()>;

    /// The result of a read that is complete.
    fn finish(self) -> Result<Self::Output>;
}

/// A [`Request`] for rows; they come in the order asked for.
#[derive(Debug)]
pub struct ReadRequest {
    reader: FileReader,
    projection: Arc<ProjectedColumns>,
    /// Until the metadata of the columns is there.
    wanted: Option<Wanted>,
    /// Reads the metadata, then the rows; none if the one is known and the others are not begun.
    rounds: Option<Rounds>,
    /// Where each row asked for is among those that are read; none where that is their order.
    order: Option<UInt64Array>,
    /// What the rows may take.
    budget: Budget,
}

/// Which rows to read.
#[derive(Debug)]
pub(super) enum Wanted {
    /// Only what is known of the columns.
    Metadata,
    /// One range.
    Range(Range<u64>),
    /// Ranges from first to last; none overlaps another.
    Ranges(Vec<Range<u64>>),
    /// Rows in any order, with duplicates.
    Rows(Vec<u64>),
}

impl ReadRequest {
    pub(super) fn new(
        reader: FileReader,
        projection: Arc<ProjectedColumns>,
        wanted: Wanted,
        budget: Budget,
    ) -> Result<Self> {
        let rounds = match projection.num_rows.get() {
            Some(_) => None,
            None => {
                let (file, columns, budget) =
                    (reader.file.clone(), projection.clone(), reader.file.budget());
                Some(Rounds::new(file, columns, None, budget, reader.threads)?)
            }
        };
        let wanted = Some(wanted);
        let mut request = Self { reader, projection, wanted, rounds, order: None, budget };
        request.begin_rows()?;
        Ok(request)
    }

    /// Begins to read rows once the columns are known.
    fn begin_rows(&mut self) -> Result<()> {
        if !self.spans().is_empty() {
            return Ok(());
        }
        let Some(wanted) = self.wanted.take() else { return Ok(()) };
        let num_rows = self.reader.common_rows(&self.projection)?;
        let ranges = match wanted {
            Wanted::Metadata => {
                self.rounds = None;
                return Ok(());
            }
            Wanted::Range(rows) => {
                check_range(&rows, num_rows)?;
                if rows.is_empty() { Vec::new() } else { vec![rows] }
            }
            Wanted::Ranges(mut ranges) => {
                ranges.retain(|rows| !rows.is_empty());
                check_ranges(&ranges, num_rows)?;
                ranges
            }
            Wanted::Rows(mut rows) => {
                check_rows(&rows, num_rows)?;
                if !rows.is_sorted_by(|a, b| a < b) {
                    self.order = Some(sort(&mut rows));
                }
                to_ranges(&rows)
            }
        };
        let (file, projection) = (self.reader.file.clone(), self.projection.clone());
        let (budget, threads) = (self.budget.clone(), self.reader.threads);
        self.rounds = Some(Rounds::new(file, projection, Some(ranges), budget, threads)?);
        Ok(())
    }
}

impl ReadRequest {
    /// Reads long values of the round to where they belong; their spans are then no longer asked for.
    pub(super) fn place_values(&mut self, source: &Arc<FileSource>) -> Result<()> {
        self.rounds.as_mut().map_or(Ok(()), |rounds| rounds.place_values(source))
    }
}

impl Request for ReadRequest {
    type Output = RecordBatch;

    fn spans(&self) -> &[Range<u64>] {
        self.rounds.as_ref().map_or(&[], Rounds::spans)
    }

    fn supply(&mut self, bytes: Vec<Bytes>) -> Result<()> {
        match &mut self.rounds {
            Some(rounds) => rounds.supply(bytes)?,
            None => return Err(Error::invalid("a read that needs no bytes was given some")),
        }
        self.begin_rows()
    }

    fn finish(self) -> Result<RecordBatch> {
        if !self.spans().is_empty() {
            return Err(Error::invalid("a read was finished before it had all its bytes"));
        }
        let batch = match self.rounds {
            Some(rounds) => rounds.finish()?,
            None => RecordBatch::new_empty(self.projection.schema.clone()),
        };
        in_order(batch, self.order)
    }
}

/// The rows of a batch in the order asked for; `order` says where each of them is, if that is
/// another one.
pub(super) fn in_order(batch: RecordBatch, order: Option<UInt64Array>) -> Result<RecordBatch> {
    let Some(order) = order else { return Ok(batch) };
    let columns = batch.columns().iter().map(|column| reordered(column, &order));
    let columns = columns.collect::<Result<_>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(order.len()));
    Ok(RecordBatch::try_new_with_options(batch.schema(), columns, &options)?)
}

fn reordered(column: &ArrayRef, order: &UInt64Array) -> Result<ArrayRef> {
    if !has_no_width(column.data_type()) {
        return Ok(take_rows(column, order, None)?);
    }
    // Arrow's kernel counts bytes, and forgets how many values there are where none has any.
    let data = column.to_data();
    let mut out = MutableArrayData::new(vec![&data], false, order.len());
    for &row in order.values() {
        let row = usize::try_from(row).unwrap_or(usize::MAX);
        out.try_extend(0, row, row.saturating_add(1))?;
    }
    Ok(make_array(out.freeze()))
}

/// Whether a type holds fixed-size binaries of 0 bytes.
fn has_no_width(data_type: &DataType) -> bool {
    match data_type {
        DataType::FixedSizeBinary(0) => true,
        DataType::Struct(fields) => fields.iter().any(|field| has_no_width(field.data_type())),
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::FixedSizeList(item, _)
        | DataType::Map(item, _) => has_no_width(item.data_type()),
        _ => false,
    }
}

/// An error unless the range lies inside the rows.
pub(super) fn check_range(rows: &Range<u64>, num_rows: u64) -> Result<()> {
    if rows.start <= rows.end && rows.end <= num_rows {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "rows {}..{} are out of range: there are {num_rows} rows",
        rows.start, rows.end
    )))
}

/// An error unless the ranges lie inside the rows, one after the other.
fn check_ranges(ranges: &[Range<u64>], num_rows: u64) -> Result<()> {
    ranges.iter().try_for_each(|rows| check_range(rows, num_rows))?;
    if ranges.is_sorted_by(|a, b| a.end <= b.start) {
        return Ok(());
    }
    Err(Error::invalid("ranges of rows have to be sorted and must not overlap"))
}

/// An error unless there are such rows.
pub(super) fn check_rows(rows: &[u64], num_rows: u64) -> Result<()> {
    let Some(row) = rows.iter().find(|row| **row >= num_rows) else { return Ok(()) };
    Err(Error::invalid(format!(
        "row {row} is out of range: there are {num_rows} rows, counted from 0"
    )))
}

/// Sorts the rows and drops duplicates; returns where each of them went.
pub(super) fn sort(rows: &mut Vec<u64>) -> UInt64Array {
    let mut by_row: Vec<(u64, usize)> = rows.iter().copied().zip(0..).collect();
    by_row.sort_unstable();
    let mut went_to = vec![0; by_row.len()];
    rows.clear();
    for (row, position) in by_row {
        if rows.last() != Some(&row) {
            rows.push(row);
        }
        if let Some(place) = went_to.get_mut(position) {
            *place = rows.len().saturating_sub(1) as u64;
        }
    }
    went_to.into()
}

fn to_ranges(sorted: &[u64]) -> Vec<Range<u64>> {
    let mut ranges: Vec<Range<u64>> = Vec::new();
    for &row in sorted {
        match ranges.last_mut() {
            Some(range) if range.end == row => range.end = row.saturating_add(1),
            _ => ranges.push(row..row.saturating_add(1)),
        }
    }
    ranges
}
