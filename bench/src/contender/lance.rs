//! `lance-file`, formats 2.1 and 2.2, with its default options.
//!
//! Runs on a tokio runtime: of one thread where a reader has one, which is the faster choice for
//! single rows, otherwise of several. It keeps threads of its own for decoding and for reads.

use std::sync::Arc;

use anyhow::{Context, Result};
use arrow_array58::{RecordBatch, UInt32Array};
use futures::StreamExt;
use lance_core::cache::LanceCache;
use lance_core::datatypes::Schema;
use lance_encoding::decoder::{DecoderPlugins, FilterExpression};
use lance_file::reader::{FileReader, FileReaderOptions};
use lance_file::version::ConcreteFileVersion;
use lance_file::versions::{create_writer, reader_projection_from_column_names};
use lance_file::writer::FileWriterOptions;
use lance_io::ReadBatchParams;
use lance_io::object_store::ObjectStore;
use lance_io::scheduler::{ScanScheduler, SchedulerConfig};
use lance_io::utils::CachedFileSize;
use object_store::path::Path;
use tokio::runtime::{Builder, Runtime};

use super::arrow58::{from_58, to_58};
use super::{Contender, Open, Reader, Visit, Write};
use crate::process;
use crate::table::Table;

/// Bytes that an open reader may keep of pages it has met.
const CACHE_BYTES: usize = 128 << 20;

struct Lance {
    name: &'static str,
    version: ConcreteFileVersion,
    store: Arc<ObjectStore>,
    one: Arc<Executor>,
    many: Arc<Executor>,
}

/// A runtime and the scheduler of reads that lives on it.
struct Executor {
    runtime: Runtime,
    scheduler: Arc<ScanScheduler>,
}

impl Executor {
    fn new(runtime: Runtime, store: &Arc<ObjectStore>) -> Arc<Self> {
        let guard = runtime.enter();
        let scheduler = ScanScheduler::new(store.clone(), SchedulerConfig::max_bandwidth(store));
        drop(guard);
        Arc::new(Self { runtime, scheduler })
    }
}

pub fn versions() -> Result<Vec<Box<dyn Contender>>> {
    let store = Arc::new(ObjectStore::local());
    let one = Executor::new(Builder::new_current_thread().enable_all().build()?, &store);
    let many = Builder::new_multi_thread().worker_threads(process::cores()).enable_all().build()?;
    let many = Executor::new(many, &store);
    let contender = |(name, version)| -> Box<dyn Contender> {
        let (store, one, many) = (store.clone(), one.clone(), many.clone());
        Box::new(Lance { name, version, store, one, many })
    };
    let versions =
        [("lance-2.1", ConcreteFileVersion::V2_1), ("lance-2.2", ConcreteFileVersion::V2_2)];
    Ok(versions.map(contender).into())
}

impl Contender for Lance {
    fn name(&self) -> &'static str {
        self.name
    }

    fn prepare(&self, table: &Table) -> Result<Write<'_>> {
        let batches = table.write_batches().iter().map(to_58).collect::<Result<Vec<_>>>()?;
        let schema = batches.first().context("a table without rows")?.schema();
        Ok(Box::new(move |path| {
            let path = Path::from_absolute_path(path)?;
            self.many.runtime.block_on(async {
                let sink = self.store.create(&path).await?;
                let schema = Schema::try_from(schema.as_ref())?;
                let options = FileWriterOptions::default();
                let mut writer = create_writer(self.version, sink, schema, options)?;
                for batch in &batches {
                    writer.write_batch(batch).await?;
                }
                writer.finish().await?;
                Ok(())
            })
        }))
    }

    fn open(&self, open: Open<'_>) -> Result<Box<dyn Reader>> {
        let executor = if open.threads > 1 { self.many.clone() } else { self.one.clone() };
        let path = Path::from_absolute_path(open.path)?;
        let reader = executor.runtime.block_on(async {
            let file = executor.scheduler.open_file(&path, &CachedFileSize::unknown()).await?;
            let plugins = Arc::<DecoderPlugins>::default();
            let cache = LanceCache::with_capacity(CACHE_BYTES);
            FileReader::try_open(file, None, plugins, &cache, FileReaderOptions::default()).await
        })?;
        let (batch_rows, threads) = (open.batch_rows as u32, open.threads);
        Ok(Box::new(Opened { executor, reader, batch_rows, threads }))
    }
}

struct Opened {
    executor: Arc<Executor>,
    reader: FileReader,
    batch_rows: u32,
    threads: usize,
}

impl Opened {
    fn read(
        &self,
        rows: ReadBatchParams,
        batch_rows: u32,
        column: Option<&str>,
        mut visit: Visit<'_>,
    ) -> Result<usize> {
        let (version, schema) = (self.reader.version(), self.reader.schema());
        let projection = column
            .map(|column| reader_projection_from_column_names(version, schema, &[column]))
            .transpose()?;
        self.executor.runtime.block_on(async {
            let filter = FilterExpression::no_filter();
            let tasks = self.reader.read_tasks(rows, batch_rows, projection, filter).await?;
            let mut batches = tasks.map(|task| task.task).buffered(self.threads);
            let mut count = 0;
            while let Some(batch) = batches.next().await {
                let batch: RecordBatch = batch?;
                count += batch.num_rows();
                if let Some(visit) = &mut visit {
                    visit(from_58(batch)?)?;
                }
            }
            Ok(count)
        })
    }
}

impl Reader for Opened {
    fn scan(&self, column: Option<&str>, visit: Visit<'_>) -> Result<usize> {
        self.read(ReadBatchParams::RangeFull, self.batch_rows, column, visit)
    }

    fn take(&self, rows: &[u64], column: Option<&str>, visit: Visit<'_>) -> Result<usize> {
        let count = rows.len() as u32;
        let rows = UInt32Array::from_iter_values(rows.iter().map(|row| *row as u32));
        self.read(ReadBatchParams::Indices(rows), count, column, visit)
    }
}
