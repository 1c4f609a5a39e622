//! The end of a plan that changes a table.

use std::fmt;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int8Type, UInt64Type};
use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_schema::SchemaRef;
use async_trait::async_trait;
use datafusion::common::{exec_datafusion_err, exec_err, internal_datafusion_err};
use datafusion::datasource::sink::DataSink;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType};
use futures::{StreamExt, TryStreamExt, stream};
use lancet_table::TableChange;
use lancet_table::columns::ROW_ADDRESS;

use super::super::{LanceTable, OpenTable};
use super::write::{Place, Verb, folder};
use super::{Change, STEP, Step};

/// What is held of a row that is deleted or updated, about: its address, and what is made of it.
const ROW_BYTES: usize = 32;

/// Changes a table with the rows of a query.
#[derive(Debug)]
pub(super) struct TableSink {
    table: LanceTable,
    /// The version that the rows are about.
    version: Arc<OpenTable>,
    change: Change,
    /// That of the rows.
    schema: SchemaRef,
}

impl TableSink {
    pub(super) fn new(
        table: LanceTable,
        version: Arc<OpenTable>,
        change: Change,
        schema: SchemaRef,
    ) -> Self {
        Self { table, version, change, schema }
    }

    async fn place(&self, context: &TaskContext) -> Result<Place> {
        let (store, path) = (self.version.store(), self.version.path());
        Ok(match folder(store, path)? {
            Some(folder) => Place::Disk(folder, self.version.options().for_table()),
            None => {
                let runtime = context.runtime_env();
                Place::Store(self.version.opened(&runtime).await?.table.clone())
            }
        })
    }

    async fn write(
        &self,
        rows: SendableRecordBatchStream,
        context: &Arc<TaskContext>,
    ) -> Result<(TableChange, u64)> {
        let (place, options) = (self.place(context).await?, self.table.options.write_options());
        match &self.change {
            Change::Append => {
                let change = place.write(Verb::Append, rows, options).await?;
                Ok((change, change.rows_inserted))
            }
            Change::Overwrite => {
                let runtime = context.runtime_env();
                let schema = self.version.opened(&runtime).await?.table.schema();
                let rows = fitted(rows, schema);
                let change = place.write(Verb::Overwrite, rows, options).await?;
                Ok((change, change.rows_inserted))
            }
            Change::Delete { predicate } => {
                let (addresses, _held) = addresses(rows, context).await?;
                let change = place.delete(addresses, predicate.clone(), options).await?;
                Ok((change, change.rows_deleted))
            }
            Change::Update if self.schema.fields().len() == 1 => {
                // All columns were set to what they are.
                let (addresses, _held) = addresses(rows, context).await?;
                let opened = self.version.opened(&context.runtime_env()).await?;
                let mut change = TableChange::default();
                change.version = opened.table.version();
                Ok((change, addresses.len() as u64))
            }
            Change::Update => {
                let rows = self.new_values(rows, reservation(context));
                let verb = Verb::Change { deleted: Vec::new() };
                let change = place.write(verb, rows, options).await?;
                Ok((change, change.rows_updated))
            }
            Change::Merge => {
                let rows = self.new_values(rows, reservation(context));
                let (deleted, rows) = without_steps(rows).await?;
                let change = place.write(Verb::Change { deleted }, rows, options).await?;
                let changed = [change.rows_inserted, change.rows_updated, change.rows_deleted];
                Ok((change, changed.into_iter().fold(0, u64::saturating_add)))
            }
        }
    }

    /// The rows of an update. What cannot be computed or cast is told with the columns that it was for.
    fn new_values(
        &self,
        rows: SendableRecordBatchStream,
        held: MemoryReservation,
    ) -> SendableRecordBatchStream {
        let names = self.schema.fields().iter().map(|field| field.name().as_str());
        let names: Vec<String> = names
            .filter(|name| ![ROW_ADDRESS, STEP].contains(name))
            .map(|name| format!("`{name}`"))
            .collect();
        let names = names.join(", ");
        let told = move |batch: Result<RecordBatch>| {
            let batch = batch.map_err(|error| match error.find_root() {
                DataFusionError::ArrowError(cause, _) => {
                    exec_datafusion_err!("no new value for {names}: {cause}")
                }
                _ => error,
            })?;
            held.try_grow(batch.num_rows().saturating_mul(ROW_BYTES))?;
            Ok(batch)
        };
        Box::pin(RecordBatchStreamAdapter::new(rows.schema(), rows.map(told)))
    }
}

/// The addresses of rows that go, which come first in a merge, and the other rows.
async fn without_steps(
    mut rows: SendableRecordBatchStream,
) -> Result<(Vec<u64>, SendableRecordBatchStream)> {
    let (mut deleted, mut first) = (Vec::new(), None);
    let schema = rows.schema();
    let kept: Vec<usize> =
        (0..schema.fields().len()).filter(|at| schema.field(*at).name() != STEP).collect();
    while let Some(batch) = rows.try_next().await? {
        let steps = batch.column_by_name(STEP).and_then(|s| s.as_primitive_opt::<Int8Type>());
        let steps = steps.ok_or_else(|| internal_datafusion_err!("rows have no steps"))?;
        let end = steps.values().partition_point(|step| *step == Step::Delete as i8);
        deleted.extend_from_slice(addresses_of(&batch)?.get(..end).unwrap_or_default());
        if end < batch.num_rows() {
            first = Some(batch.slice(end, batch.num_rows() - end).project(&kept)?);
            break;
        }
    }
    let schema = Arc::new(schema.project(&kept)?);
    let rest = rows.map(move |batch| Ok(batch?.project(&kept)?));
    let rows = stream::iter(first.map(Ok)).chain(rest);
    Ok((deleted, Box::pin(RecordBatchStreamAdapter::new(schema, rows))))
}

fn addresses_of(batch: &RecordBatch) -> Result<&[u64]> {
    let addresses = batch.column_by_name(ROW_ADDRESS);
    let addresses = addresses.and_then(|column| column.as_primitive_opt::<UInt64Type>());
    let addresses = addresses.ok_or_else(|| internal_datafusion_err!("rows have no addresses"))?;
    Ok(addresses.values())
}

fn reservation(context: &TaskContext) -> MemoryReservation {
    MemoryConsumer::new("LanceTableChange").register(context.memory_pool())
}

/// The addresses that a query gives, and the memory that they take.
async fn addresses(
    mut rows: SendableRecordBatchStream,
    context: &TaskContext,
) -> Result<(Vec<u64>, MemoryReservation)> {
    let (mut all, held) = (Vec::new(), reservation(context));
    while let Some(batch) = rows.try_next().await? {
        held.try_grow(batch.num_rows().saturating_mul(ROW_BYTES))?;
        all.extend_from_slice(addresses_of(&batch)?);
    }
    Ok((all, held))
}

/// Rows with exactly the columns of a table, which stays what it is but for its rows.
fn fitted(rows: SendableRecordBatchStream, schema: SchemaRef) -> SendableRecordBatchStream {
    let wanted = schema.clone();
    let rows = rows.map(move |batch| fit(&batch?, &wanted));
    Box::pin(RecordBatchStreamAdapter::new(schema, rows))
}

fn fit(batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch> {
    if let Some(other) =
        batch.schema().fields().iter().find(|f| schema.column_with_name(f.name()).is_none())
    {
        return exec_err!("the table has no column `{}`", other.name());
    }
    let mut columns = Vec::with_capacity(schema.fields().len());
    for field in schema.fields() {
        let Some(column) = batch.column_by_name(field.name()) else {
            return exec_err!("the rows have no column `{}`", field.name());
        };
        if !field.is_nullable() && column.logical_null_count() > 0 {
            return exec_err!("column `{}` must not be null, but rows have nulls", field.name());
        }
        columns.push(column.clone());
    }
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    Ok(RecordBatch::try_new_with_options(schema.clone(), columns, &options)?)
}

#[async_trait]
impl DataSink for TableSink {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    async fn write_all(
        &self,
        data: SendableRecordBatchStream,
        context: &Arc<TaskContext>,
    ) -> Result<u64> {
        let (change, count) = self.write(data, context).await?;
        self.table.changed(&self.version, change, &context.runtime_env()).await;
        Ok(count)
    }
}

impl DisplayAs for TableSink {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.change {
            Change::Append => "append",
            Change::Overwrite => "overwrite",
            Change::Delete { .. } => "delete",
            Change::Update => "update",
            Change::Merge => "merge",
        };
        write!(f, "LanceTable({what}, table={})", self.version.path())
    }
}
