//! The filter of a scan: its columns are read first, and of the others only the rows that it leaves.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch, RecordBatchOptions, make_array};
use arrow_buffer::{BooleanBuffer, NullBuffer};
use arrow_schema::{DataType, Schema};
use arrow_select::filter::{FilterBuilder, FilterPredicate};

use super::file::OpenFile;
use super::order::{has_no_width, reordered};
use super::projection::Projection;
use super::rows_read::RowsRead;
use super::steps::Io;
use crate::error::{Error, Result};
use crate::rows::{RowRanges, Rows};
use crate::schema::columns::{LeafKind, Node, leaves};
use crate::schema::projection::{FileFields, locate, project_paths};
use crate::zones::evaluate::matching;
use crate::zones::filter::Filter;

/// With more than one row in this many left by the filter, the other columns are read whole.
const SPARSE: u64 = 8;

/// A filter and the columns that it needs.
#[derive(Debug)]
pub(super) struct ScanFilter {
    filter: Filter,
    columns: Projection,
    /// Columns that are read beside those of the filter; none if there are none.
    rest: Option<Projection>,
    /// Where the columns of the result come from.
    inputs: Vec<Input>,
}

/// A column of the result, by its position.
#[derive(Debug, Clone, Copy)]
enum Input {
    /// The filter has read it.
    Filter(usize),
    Rest(usize),
}

impl ScanFilter {
    /// A filter for a scan that gives the columns `wanted`.
    pub(super) fn new(file: &OpenFile, filter: Filter, wanted: &Projection) -> Result<Self> {
        let schema = &file.index.schema;
        let fields_of = |names: BTreeSet<&str>| {
            let paths = names.into_iter().map(|name| locate(&file.nodes, name));
            let mut paths = paths.collect::<Result<Vec<_>>>()?;
            // In the order of the file, so that a name means there what it means here.
            paths.sort_unstable();
            Ok::<_, Error>(project_paths(schema, &file.nodes, paths))
        };
        let mut columns = Projection::new(schema, fields_of(filter.columns())?)?;
        // Whether a blob is null can be seen without it.
        let values = fields_of(filter.value_columns())?.nodes;
        if !leaves(&values).iter().any(|leaf| leaf.kind == LeafKind::Blob) {
            columns = columns.with_blobs_described()?;
        }
        let (mut inputs, mut fields, mut nodes) = (Vec::new(), Vec::new(), Vec::new());
        for (field, node) in wanted.schema().fields().iter().zip(wanted.nodes()) {
            // A struct of which the filter needs only a part is read again as a whole.
            match columns.nodes().iter().position(|read| is_same(read, node)) {
                Some(position) => inputs.push(Input::Filter(position)),
                None => {
                    inputs.push(Input::Rest(fields.len()));
                    fields.push(field.clone());
                    nodes.push(node.clone());
                }
            }
        }
        let schema = Arc::new(Schema::new(fields));
        let rest = if nodes.is_empty() {
            None
        } else {
            Some(Projection::new(&file.index.schema, FileFields { schema, nodes })?)
        };
        Ok(Self { filter, columns, rest, inputs })
    }

    /// The columns that the filter needs.
    pub(super) fn columns(&self) -> &Projection {
        &self.columns
    }

    pub(super) fn filter(&self) -> &Filter {
        &self.filter
    }

    /// All columns that are read.
    pub(super) fn all_columns(&self) -> Vec<&Projection> {
        self.rest.iter().chain([&self.columns]).collect()
    }

    /// Those of the rows for which the filter is true.
    pub(super) async fn read(
        &self,
        io: &Io,
        file: &Arc<OpenFile>,
        wanted: &Projection,
        rows: RowRanges,
    ) -> Result<RecordBatch> {
        // One batch is one read, however many reads it takes.
        let budget = file.budget();
        let read = |columns: &Projection, rows: RowRanges| {
            let (columns, rows) = (columns.clone(), Rows::Ranges(rows));
            RowsRead::new(file.clone(), columns, rows, budget.clone(), 1)
        };
        let found = io.run(read(&self.columns, rows.clone())?).await?;
        let mask = self.evaluate(&found)?;
        let num_rows = mask.count_set_bits();
        if num_rows == 0 {
            return Ok(RecordBatch::new_empty(wanted.schema()));
        }
        let sieve = Sieve::new(&mask);
        let cut = |column: &ArrayRef| sieve.filter(column);
        let mut rest = Vec::new();
        if let Some(columns) = &self.rest {
            let is_sparse = (num_rows as u64).saturating_mul(SPARSE) <= rows.count();
            let left = if is_sparse { rows.select(&mask) } else { rows };
            let batch = io.run(read(columns, left)?).await?;
            rest = batch.columns().to_vec();
            if !is_sparse {
                rest = rest.iter().map(cut).collect::<Result<_>>()?;
            }
        }
        let input = |input: &Input| match input {
            Input::Filter(position) => found.columns().get(*position).map(cut),
            Input::Rest(position) => rest.get(*position).cloned().map(Ok),
        };
        let missing = || Error::invalid("a column of the scan was not read");
        let columns = self.inputs.iter().map(|from| input(from).ok_or_else(missing)?);
        let options = RecordBatchOptions::new().with_row_count(Some(num_rows));
        let columns = columns.collect::<Result<Vec<_>>>()?;
        Ok(RecordBatch::try_new_with_options(wanted.schema(), columns, &options)?)
    }

    fn evaluate(&self, batch: &RecordBatch) -> Result<BooleanBuffer> {
        matching(&self.filter, batch.num_rows(), &|name| {
            let path = locate(self.columns.nodes(), name)?;
            column_at(batch, &path).ok_or_else(|| {
                Error::invalid(format!("`{name}` has no value of its own for each row"))
            })
        })
    }
}

/// Whether two fields are made of the same columns and come out the same. Their names do not tell: files
/// may have several of one name.
fn is_same(a: &Node, b: &Node) -> bool {
    let columns = |node| leaves(std::slice::from_ref(node)).into_iter().map(|leaf| leaf.column);
    a.field() == b.field() && columns(a).eq(columns(b))
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
            let rows = self.mask.set_indices().map(|row| row as u64).collect::<Vec<_>>();
            return reordered(column, &rows.into());
        }
        Ok(self.kept.filter(column)?)
    }
}

/// The values at the end of a path; null where something around them is null.
pub(super) fn column_at(batch: &RecordBatch, path: &[usize]) -> Option<ArrayRef> {
    let (first, rest) = path.split_first()?;
    let mut values = batch.columns().get(*first)?.clone();
    let mut around: Option<NullBuffer> = None;
    for index in rest {
        let parent = values.as_struct_opt()?;
        around = NullBuffer::union(around.as_ref(), parent.nulls());
        let child = parent.columns().get(*index)?.clone();
        values = child;
    }
    if around.is_none() || *values.data_type() == DataType::Null {
        return Some(values);
    }
    let nulls = NullBuffer::union(around.as_ref(), values.nulls());
    values.to_data().into_builder().nulls(nulls).build().ok().map(make_array)
}
