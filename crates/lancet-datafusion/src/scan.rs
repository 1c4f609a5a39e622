//! The batches of a file, or of a fragment of a table.
//!
//! Rows are read in windows. The columns of the filter come first; of the other columns only the
//! rows that it leaves are read, unless it leaves so many that reading all of them is cheaper.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch, RecordBatchOptions};
use arrow_schema::{DataType, Schema, SchemaRef};
use arrow_select::filter::{FilterBuilder, FilterPredicate, prep_null_mask_filter};
use datafusion::common::internal_err;
use datafusion::error::Result;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::projection::Projector;
use datafusion::physical_expr::utils::reassign_expr_columns;
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt, stream};
use lancet::{RowRanges, has_no_width};

use crate::fields::Fields;
use crate::metrics::Metrics;
use crate::opener::Fitted;
use crate::readable::{Columns, Readable};
use crate::rows;
use crate::zones::Zones;

/// Rows of a window, at most, if a batch has no more: reads are worth their while, and what is decoded stays in reach of
/// the processor's caches.
const WINDOW_ROWS: u64 = 32 << 10;
/// Bytes of a window, about.
const WINDOW_BYTES: u64 = 16 << 20;
/// Windows that are read at the same time.
const AHEAD: usize = 2;
/// With more than one row in this many left by the filter, the other columns are read whole.
const SPARSE: usize = 8;

/// A scan of one file or fragment.
#[derive(Debug)]
pub(crate) struct Scan {
    readable: Readable,
    filter: Option<Filter>,
    /// Columns that are read beside those of the filter.
    rest: Columns,
    /// Bytes of a row, about.
    row_bytes: u64,
    /// Where the columns come from that the projection is computed from.
    inputs: Vec<Input>,
    input_schema: SchemaRef,
    projector: Projector,
    output: SchemaRef,
    /// Arrow's kernels lose the number of rows of a column that has no width; such columns are read again instead.
    no_width: bool,
    batch_rows: usize,
    metrics: Metrics,
}

/// A predicate and the columns it reads.
#[derive(Debug)]
struct Filter {
    predicate: Arc<dyn PhysicalExpr>,
    columns: Columns,
    zones: Option<Zones>,
}

/// A column of the projection's input.
#[derive(Debug, Clone, Copy)]
enum Input {
    /// The filter has read it.
    Filter(usize),
    Rest(usize),
}

impl Scan {
    /// Reads the metadata of the columns and lays out the scan.
    pub(crate) async fn new(
        readable: Readable,
        fitted: Fitted,
        batch_rows: usize,
        metrics: Metrics,
    ) -> Result<Self> {
        let file_schema = readable.schema();
        let projected = Fields::of(fitted.projection.iter().map(|p| &p.expr), &file_schema)?;
        let filtered = Fields::of(&fitted.predicate, &file_schema)?;
        let rest_fields = projected.beyond(&filtered);
        let (rest_names, filter_names) =
            (rest_fields.names(&file_schema), filtered.names(&file_schema));
        let (rest, filter_columns) =
            (readable.project(&rest_names)?, readable.project(&filter_names)?);
        let (rest_schema, filter_schema) = (rest.schema(), filter_columns.schema());
        // The metadata of all columns comes in one round.
        let all = readable.project(&[rest_names, filter_names.clone()].concat())?;
        let row_bytes = readable.prepare(&all).await?.max(1);
        let zones = match &fitted.predicate {
            Some(predicate) => Zones::load(&readable, predicate, &filter_names).await?,
            None => None,
        };

        let (mut inputs, mut fields) = (Vec::new(), Vec::new());
        for column in projected.columns() {
            let position = |of: &Fields| of.columns().position(|known| known == column);
            match (position(&rest_fields), position(&filtered)) {
                (Some(index), _) => {
                    inputs.push(Input::Rest(index));
                    fields.push(rest_schema.field(index).clone());
                }
                (None, Some(index)) => {
                    inputs.push(Input::Filter(index));
                    fields.push(filter_schema.field(index).clone());
                }
                (None, None) => return internal_err!("column {column} is read by nobody"),
            }
        }
        let no_width = fields.iter().any(|field| has_no_width(field.data_type()));
        let input_schema = Arc::new(Schema::new(fields));
        let rebase = |expression| reassign_expr_columns(expression, &input_schema);
        let projector = fitted.projection.try_map_exprs(rebase)?.make_projector(&input_schema)?;
        let filter = match fitted.predicate {
            Some(predicate) => {
                let predicate = reassign_expr_columns(predicate, &filter_schema)?;
                Some(Filter { predicate, columns: filter_columns, zones })
            }
            None => None,
        };
        let output = fitted.output;
        Ok(Self {
            readable,
            filter,
            rest,
            row_bytes,
            inputs,
            input_schema,
            projector,
            output,
            no_width,
            batch_rows,
            metrics,
        })
    }

    /// The batches of some rows.
    pub(crate) fn stream(self, rows: RowRanges) -> BoxStream<'static, Result<RecordBatch>> {
        let rows = match self.prune(rows) {
            Ok(rows) => rows,
            Err(error) => return stream::once(async { Err(error) }).boxed(),
        };
        let first = (self.batch_rows as u64).max(1);
        // Whole batches, or one that is longer.
        let most = (WINDOW_ROWS / first).max(1).saturating_mul(first);
        let most = most.min((WINDOW_BYTES / self.row_bytes).max(1));
        let windows = rows::windows(&rows, first.min(most), most);
        let scan = Arc::new(self);
        let read = move |window: RowRanges| {
            let scan = scan.clone();
            async move { scan.read(window).await }
        };
        let windows = stream::iter(windows).map(read).buffered(AHEAD);
        windows.map_ok(|batches| stream::iter(batches.into_iter().map(Ok))).try_flatten().boxed()
    }

    /// The rows that zone maps leave.
    fn prune(&self, rows: RowRanges) -> Result<RowRanges> {
        let Some(zones) = self.filter.as_ref().and_then(|filter| filter.zones.as_ref()) else {
            return Ok(rows);
        };
        let kept = zones.keep(&rows)?;
        let pruned = rows.count() - kept.count();
        self.metrics.count_pruned(pruned, zones.rows_per_zone());
        Ok(kept)
    }

    /// Reads a window.
    async fn read(&self, rows: RowRanges) -> Result<Vec<RecordBatch>> {
        // What is in memory is read without waiting, and a task that never waits keeps the one that it has woken last
        // from running, on other threads too.
        tokio::task::yield_now().await;
        let rows = self.readable.live(self.prune(rows)?).await?;
        let read = match &self.filter {
            _ if rows.is_empty() => Ok(None),
            Some(filter) => self.read_filtered(filter, rows).await,
            None => {
                let batch = self.fetch(rows, &self.rest).await?;
                self.project(batch.num_rows(), &[], batch.columns()).map(Some)
            }
        };
        self.metrics.count_fetched(self.readable.fetched());
        Ok(read?.map_or_else(Vec::new, |batch| slices(&batch, self.batch_rows)))
    }

    async fn read_filtered(&self, filter: &Filter, rows: RowRanges) -> Result<Option<RecordBatch>> {
        let found = self.fetch(rows.clone(), &filter.columns).await?;
        let timer = self.metrics.filter_time.timer();
        let mask = filter.evaluate(&found)?;
        timer.done();
        let (all, kept) = (mask.len(), mask.true_count());
        self.metrics.rows_filtered.add(all - kept);
        if kept == 0 {
            return Ok(None);
        }
        if kept == all {
            let rest = self.fetch(rows, &self.rest).await?;
            return self.project(kept, found.columns(), rest.columns()).map(Some);
        }
        if self.no_width {
            let rows = rows.select(mask.values());
            let found = self.fetch(rows.clone(), &filter.columns).await?;
            let rest = self.fetch(rows, &self.rest).await?;
            return self.project(kept, found.columns(), rest.columns()).map(Some);
        }
        let sieve = FilterBuilder::new(&mask).optimize().build();
        let found = self.sift_found(&found, &sieve)?;
        let rest = if self.rest.schema().fields().is_empty() {
            Vec::new()
        } else if kept > all / SPARSE {
            let rest = self.fetch(rows, &self.rest).await?;
            rest.columns().iter().map(|c| sieve.filter(c)).collect::<Result<_, _>>()?
        } else {
            self.fetch(rows.select(mask.values()), &self.rest).await?.columns().to_vec()
        };
        self.project(kept, &found, &rest).map(Some)
    }

    /// The rows that are left of the filter's columns; those that nobody wants stay as they are.
    fn sift_found(&self, found: &RecordBatch, sieve: &FilterPredicate) -> Result<Vec<ArrayRef>> {
        let mut columns = found.columns().to_vec();
        for input in &self.inputs {
            if let Input::Filter(index) = input
                && let Some(column) = columns.get_mut(*index)
            {
                *column = sieve.filter(column)?;
            }
        }
        Ok(columns)
    }

    /// Columns of some rows.
    async fn fetch(&self, rows: RowRanges, columns: &Columns) -> Result<RecordBatch> {
        self.readable.read(columns, rows).await
    }

    /// Computes the projection.
    fn project(&self, count: usize, found: &[ArrayRef], rest: &[ArrayRef]) -> Result<RecordBatch> {
        let column = |input: &Input| match *input {
            Input::Filter(index) => found.get(index).cloned(),
            Input::Rest(index) => rest.get(index).cloned(),
        };
        let columns: Vec<ArrayRef> = self.inputs.iter().filter_map(column).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(count));
        let schema = self.input_schema.clone();
        let batch = RecordBatch::try_new_with_options(schema, columns, &options)?;
        let (_, columns, _) = self.projector.project_batch(&batch)?.into_parts();
        // Files may differ from the table in metadata and in what may be null.
        Ok(RecordBatch::try_new_with_options(self.output.clone(), columns, &options)?)
    }
}

impl Filter {
    /// Which rows are kept.
    fn evaluate(&self, batch: &RecordBatch) -> Result<BooleanArray> {
        let values = self.predicate.evaluate(batch)?.into_array(batch.num_rows())?;
        match values.data_type() {
            DataType::Boolean if values.null_count() == 0 => Ok(values.as_boolean().clone()),
            DataType::Boolean => Ok(prep_null_mask_filter(values.as_boolean())),
            other => internal_err!("a filter gives {other} instead of booleans"),
        }
    }
}

fn slices(batch: &RecordBatch, rows: usize) -> Vec<RecordBatch> {
    let starts = (0..batch.num_rows()).step_by(rows.max(1));
    starts.map(|start| batch.slice(start, rows.min(batch.num_rows() - start))).collect()
}
