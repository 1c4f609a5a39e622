//! The filter of a scan: zone maps leave out rows, the columns of the filter are read first, and of the others only the
//! rows that it leaves.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, RecordBatch, RecordBatchOptions};
use arrow_buffer::BooleanBuffer;
use arrow_select::filter::{FilterBuilder, FilterPredicate};
use lancet::{Filter, RowRanges, Rows, ZoneMap};

use crate::columns::{Column, TableProjection};
use crate::error::{Error, Result};
use crate::gather::{gather, has_no_width};
use crate::read::Reads;
use crate::schema::{Kind, Node};
use crate::snapshot::Snapshot;
use crate::storage::Storage;
use crate::zone_maps;

/// With more than one row in this many left by the filter, the other columns are read whole.
const SPARSE: u64 = 8;

/// A filter and the columns that it needs.
#[derive(Debug)]
pub(crate) struct TableFilter {
    filter: Filter,
    columns: TableProjection,
    /// Columns that are read beside those of the filter.
    rest: TableProjection,
    /// Where the columns of the result come from.
    inputs: Vec<Input>,
    /// The columns that may have zone maps: the names and the ids of their fields.
    mapped: Vec<(String, i32)>,
}

/// A column of the result, by its position.
#[derive(Debug, Clone, Copy)]
enum Input {
    /// The filter has read it.
    Filter(usize),
    Rest(usize),
}

impl TableFilter {
    /// A filter for a scan that gives the columns `wanted`.
    pub(crate) fn new(
        snapshot: &Snapshot,
        filter: Filter,
        wanted: &TableProjection,
    ) -> Result<Self> {
        let names: Vec<&str> = filter.columns().into_iter().collect();
        let mut columns = TableProjection::named(&snapshot.schema, &names)?;
        // Whether a blob is null can be seen without it.
        let values: Vec<&str> = filter.value_columns().into_iter().collect();
        if !TableProjection::named(&snapshot.schema, &values)?.nodes().iter().any(has_blob) {
            columns = columns.with_blobs_described();
        }
        filter.check(&columns.schema())?;
        let mut mapped = Vec::new();
        for name in &names {
            let id = zone_maps::field_of(&snapshot.schema, name)?;
            mapped.extend(id.map(|id| ((*name).to_owned(), id)));
        }
        let (mut inputs, mut rest) = (Vec::new(), Vec::new());
        for column in wanted.columns() {
            let read = columns.columns().iter().position(|read| match (column, read) {
                (Column::Row(wanted), Column::Row(read)) => wanted == read,
                (Column::Field(wanted_at), Column::Field(read_at)) => {
                    // A struct of which the filter needs only a part is read again as a whole.
                    wanted.nodes().get(*wanted_at) == columns.nodes().get(*read_at)
                }
                _ => false,
            });
            match read {
                Some(position) => inputs.push(Input::Filter(position)),
                None => {
                    inputs.push(Input::Rest(rest.len()));
                    rest.push(column.clone());
                }
            }
        }
        let rest = wanted.part(&rest);
        Ok(Self { filter, columns, rest, inputs, mapped })
    }

    /// The offsets outside of which no row of a fragment makes the filter true; none if there are no zone maps.
    pub(crate) async fn prune<S: Storage>(
        &self,
        reads: &Reads<S>,
        place: usize,
    ) -> Result<Option<RowRanges>> {
        let found = zone_maps::of_fields(reads, place, &self.mapped).await?;
        let named = self.mapped.iter().zip(found);
        let maps: HashMap<&str, Arc<ZoneMap>> =
            named.filter_map(|((name, _), zones)| Some((name.as_str(), zones.map()?))).collect();
        if maps.is_empty() {
            return Ok(None);
        }
        let num_rows = reads.physical_rows(place).await?;
        Ok(Some(lancet::prune(&self.filter, num_rows, |name| maps.get(name).cloned())))
    }

    /// Those of the rows of a fragment for which the filter is true.
    pub(crate) async fn read<S: Storage>(
        &self,
        reads: &Reads<S>,
        place: usize,
        wanted: &TableProjection,
        rows: RowRanges,
    ) -> Result<RecordBatch> {
        let found = reads.read(place, &self.columns, &Rows::Ranges(rows.clone())).await?;
        let mask = self.filter.matching(&found)?;
        let num_rows = mask.count_set_bits();
        if num_rows == 0 {
            return Ok(RecordBatch::new_empty(wanted.schema()));
        }
        let sieve = Sieve::new(&mask);
        let mut rest = Vec::new();
        if !self.rest.columns().is_empty() {
            let is_sparse = (num_rows as u64).saturating_mul(SPARSE) <= rows.count();
            let left = if is_sparse { rows.select(&mask) } else { rows };
            let batch = reads.read(place, &self.rest, &Rows::Ranges(left)).await?;
            rest = batch.columns().to_vec();
            if !is_sparse {
                rest = rest.iter().map(|column| sieve.filter(column)).collect::<Result<_>>()?;
            }
        }
        let input = |input: &Input| match input {
            Input::Filter(at) => found.columns().get(*at).map(|column| sieve.filter(column)),
            Input::Rest(at) => rest.get(*at).cloned().map(Ok),
        };
        let missing = || Error::invalid("a column of the scan was not read");
        let columns = self.inputs.iter().map(|from| input(from).ok_or_else(missing)?);
        let options = RecordBatchOptions::new().with_row_count(Some(num_rows));
        let columns = columns.collect::<Result<Vec<_>>>()?;
        Ok(RecordBatch::try_new_with_options(wanted.schema(), columns, &options)?)
    }
}

/// Whether a field has blobs.
pub(crate) fn has_blob(node: &Node) -> bool {
    matches!(node.kind, Kind::Blob | Kind::BlobV2) || node.children.iter().any(has_blob)
}

/// What leaves the rows of a mask.
struct Sieve<'a> {
    mask: &'a BooleanBuffer,
    kept: FilterPredicate,
    is_all: bool,
}

impl<'a> Sieve<'a> {
    fn new(mask: &'a BooleanBuffer) -> Self {
        let is_all = mask.count_set_bits() == mask.len();
        let kept = FilterBuilder::new(&BooleanArray::new(mask.clone(), None)).optimize().build();
        Self { mask, kept, is_all }
    }

    fn filter(&self, column: &ArrayRef) -> Result<ArrayRef> {
        if self.is_all {
            return Ok(column.clone());
        }
        if has_no_width(column.data_type()) {
            let rows: Vec<(usize, usize)> = self.mask.set_indices().map(|row| (0, row)).collect();
            return gather(std::slice::from_ref(column), &rows);
        }
        Ok(self.kept.filter(column)?)
    }
}
