//! Writing: one task for each file. Files appear when all of them are written and the query has ended well.

use std::fmt;
use std::sync::Arc;

use arrow_schema::SchemaRef;
use async_trait::async_trait;
use datafusion::common::runtime::{JoinSet, SpawnedTask};
use datafusion::datasource::file_format::write::demux::DemuxedStreamReceiver;
use datafusion::datasource::file_format::write::get_writer_schema;
use datafusion::datasource::physical_plan::{FileSink, FileSinkConfig};
use datafusion::datasource::sink::DataSink;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::{DisplayAs, DisplayFormatType};
use lancet::WriteOptions;
use lancet_object_store::{Sealed, Writer};
use object_store::ObjectStore;
use object_store::path::Path;
use tokio::sync::mpsc::Receiver;

use crate::external;

/// Writes Lance files.
#[derive(Debug)]
pub(crate) struct LanceSink {
    config: FileSinkConfig,
    options: WriteOptions,
}

impl LanceSink {
    pub(crate) fn new(config: FileSinkConfig, options: WriteOptions) -> Self {
        Self { config, options }
    }
}

#[async_trait]
impl FileSink for LanceSink {
    fn config(&self) -> &FileSinkConfig {
        &self.config
    }

    async fn spawn_writer_tasks_and_join(
        &self,
        _context: &Arc<TaskContext>,
        demux_task: SpawnedTask<Result<()>>,
        mut file_stream_rx: DemuxedStreamReceiver,
        object_store: Arc<dyn ObjectStore>,
    ) -> Result<u64> {
        let schema = get_writer_schema(&self.config);
        let mut files = JoinSet::new();
        while let Some((path, batches)) = file_stream_rx.recv().await {
            let (store, schema, options) =
                (object_store.clone(), schema.clone(), self.options.clone());
            files.spawn(write_file(store, path, schema, options, batches));
        }
        let (mut sealed, mut rows, mut failed) = (Vec::new(), 0, None);
        while let Some(file) = files.join_next().await {
            match file.map_err(joined).and_then(|written| written) {
                Ok((file, num_rows)) => {
                    sealed.push(file);
                    rows += num_rows;
                }
                // What ends the other files and the query then is only that this one has ended.
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        // A query that fails ends its files like one that has no more rows. This tells which it was.
        let query = demux_task.join_unwind().await.map_err(joined).and_then(|query| query);
        let done = match failed {
            Some(error) => Err(error),
            None => query,
        };
        publish(sealed, done).await?;
        Ok(rows)
    }
}

/// Makes the files appear, or takes them back after a failure, which is the one to tell.
async fn publish(files: Vec<Sealed>, mut done: Result<()>) -> Result<()> {
    for file in files {
        match done {
            Ok(()) => done = file.publish().await.map(drop).map_err(external),
            Err(_) => drop(file.abort().await),
        }
    }
    done
}

fn joined(error: tokio::task::JoinError) -> DataFusionError {
    DataFusionError::ExecutionJoin(Box::new(error))
}

/// Writes one file, which does not appear yet, and returns its number of rows.
async fn write_file(
    store: Arc<dyn ObjectStore>,
    path: Path,
    schema: SchemaRef,
    options: WriteOptions,
    mut batches: Receiver<arrow_array::RecordBatch>,
) -> Result<(Sealed, u64)> {
    let mut writer = Writer::new(store, &path, schema, options).await.map_err(external)?;
    let mut rows = 0;
    while let Some(batch) = batches.recv().await {
        if let Err(error) = writer.write(&batch).await {
            // The first failure is the one to tell.
            let _ = writer.abort().await;
            return Err(external(error));
        }
        rows += batch.num_rows() as u64;
    }
    Ok((writer.seal().await.map_err(external)?, rows))
}

impl DisplayAs for LanceSink {
    fn fmt_as(&self, format: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match format {
            DisplayFormatType::TreeRender => {
                writeln!(f, "format: lance")?;
                write!(f, "file={}", self.config.original_url)
            }
            _ => write!(f, "LanceSink(file={})", self.config.original_url),
        }
    }
}

#[async_trait]
impl DataSink for LanceSink {
    fn schema(&self) -> &SchemaRef {
        self.config.output_schema()
    }

    async fn write_all(
        &self,
        data: SendableRecordBatchStream,
        context: &Arc<TaskContext>,
    ) -> Result<u64> {
        FileSink::write_all(self, data, context).await
    }
}
