//! Schema and statistics of files, and the plans that read and write them.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_schema::{Field, Schema, SchemaRef};
use async_trait::async_trait;
use datafusion::catalog::Session;
use datafusion::common::{GetExt, Statistics, internal_datafusion_err, not_impl_err, plan_err};
use datafusion::datasource::file_format::file_compression_type::FileCompressionType;
use datafusion::datasource::file_format::{FileFormat, FileFormatFactory};
use datafusion::datasource::physical_plan::{
    FileScanConfig, FileScanConfigBuilder, FileSinkConfig, FileSource,
};
use datafusion::datasource::sink::DataSinkExec;
use datafusion::datasource::source::DataSourceExec;
use datafusion::datasource::table_schema::TableSchema;
use datafusion::error::Result;
use datafusion::logical_expr::dml::InsertOp;
use datafusion::physical_expr::LexRequirement;
use datafusion::physical_plan::ExecutionPlan;
use futures::{StreamExt, TryStreamExt, stream};
use lancet::{ReadOptions, WriteOptions};
use lancet_object_store::{FetchOptions, Reader};
use lancet_table::TableWriteOptions;
use object_store::{ObjectMeta, ObjectStore};

use crate::options::{table_options, write_options};
use crate::sink::LanceSink;
use crate::source::LanceSource;
use crate::table::{CopySink, check_is_file, is_table};
use crate::{files, statistics};

/// The ending of file names.
const ENDING: &str = "lance";

/// Makes [`LanceFormat`]s from the options of SQL statements.
#[derive(Debug, Clone, Default)]
pub struct LanceFormatFactory {
    read: ReadOptions,
}

impl LanceFormatFactory {
    /// All files are read in this way; their page indexes share one cache.
    pub fn new(read: ReadOptions) -> Self {
        Self { read }
    }

    /// How files are read.
    pub fn read_options(&self) -> &ReadOptions {
        &self.read
    }

    fn format(&self) -> LanceFormat {
        LanceFormat::default().with_read_options(self.read.clone())
    }
}

impl FileFormatFactory for LanceFormatFactory {
    fn create(
        &self,
        _state: &dyn Session,
        format_options: &HashMap<String, String>,
    ) -> Result<Arc<dyn FileFormat>> {
        let mut format = self.format().with_write_options(write_options(format_options)?);
        (format.table, format.makes_table) = table_options(format_options)?;
        Ok(Arc::new(format))
    }

    fn default(&self) -> Arc<dyn FileFormat> {
        Arc::new(self.format())
    }
}

impl GetExt for LanceFormatFactory {
    fn get_ext(&self) -> String {
        ENDING.into()
    }
}

/// Lance files as a format of DataFusion's listing tables.
#[derive(Debug, Clone, Default)]
pub struct LanceFormat {
    read: ReadOptions,
    write: WriteOptions,
    /// How tables are written that `COPY` goes to.
    table: TableWriteOptions,
    /// Whether `COPY` makes a table where there is nothing.
    makes_table: bool,
}

impl LanceFormat {
    /// Reads files in this way.
    pub fn with_read_options(mut self, options: ReadOptions) -> Self {
        self.read = options;
        self
    }

    /// How files are read.
    pub fn read_options(&self) -> &ReadOptions {
        &self.read
    }

    /// Writes files in this way.
    pub fn with_write_options(mut self, options: WriteOptions) -> Self {
        self.write = options;
        self
    }

    /// Opens a file for its metadata.
    async fn open(
        &self,
        state: &dyn Session,
        store: &Arc<dyn ObjectStore>,
        object: &ObjectMeta,
    ) -> Result<Reader> {
        let cache = state.runtime_env().cache_manager.get_file_metadata_cache();
        let fetch = FetchOptions::default();
        files::open(store, object, Some(cache.as_ref()), &self.read, fetch).await
    }
}

/// One schema for all files. What some files lack may be null.
fn merged(schemas: &[Schema]) -> Result<Schema> {
    let merged = Schema::try_merge(schemas.iter().cloned())?;
    let everywhere = |name: &str| schemas.iter().all(|s| s.column_with_name(name).is_some());
    let fields = merged.fields().iter().map(|field| match everywhere(field.name()) {
        true => field.clone(),
        false => Arc::new(Field::clone(field).with_nullable(true)),
    });
    Ok(Schema::new(fields.collect::<Vec<_>>()))
}

#[async_trait]
impl FileFormat for LanceFormat {
    fn get_ext(&self) -> String {
        ENDING.into()
    }

    fn get_ext_with_compression(&self, compression: &FileCompressionType) -> Result<String> {
        if compression.is_compressed() {
            return not_impl_err!("Lance files are compressed inside, not as a whole");
        }
        Ok(self.get_ext())
    }

    fn compression_type(&self) -> Option<FileCompressionType> {
        None
    }

    async fn infer_schema(
        &self,
        state: &dyn Session,
        store: &Arc<dyn ObjectStore>,
        objects: &[ObjectMeta],
    ) -> Result<SchemaRef> {
        check_is_file(store, objects).await?;
        // In the order of their names, whatever order the store lists them in.
        let mut objects: Vec<&ObjectMeta> = objects.iter().collect();
        objects.sort_unstable_by(|a, b| a.location.cmp(&b.location));
        let concurrency = state.config_options().execution.meta_fetch_concurrency.get();
        let schemas: Vec<Schema> = stream::iter(objects)
            .map(|object| async move {
                let schema = self.open(state, store, object).await?.schema();
                // What files say of themselves as a whole need not agree.
                Ok::<_, datafusion::error::DataFusionError>(
                    Schema::clone(&schema).with_metadata(HashMap::new()),
                )
            })
            .boxed()
            .buffered(concurrency)
            .try_collect()
            .await?;
        Ok(Arc::new(merged(&schemas)?))
    }

    async fn infer_stats(
        &self,
        state: &dyn Session,
        store: &Arc<dyn ObjectStore>,
        table_schema: SchemaRef,
        object: &ObjectMeta,
    ) -> Result<Statistics> {
        let reader = self.open(state, store, object).await?;
        statistics::of_file(&reader, &table_schema, object.size).await
    }

    async fn create_physical_plan(
        &self,
        state: &dyn Session,
        conf: FileScanConfig,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let source = conf
            .file_source()
            .downcast_ref::<LanceSource>()
            .ok_or_else(|| internal_datafusion_err!("the source of Lance files is another"))?;
        let cache = state.runtime_env().cache_manager.get_file_metadata_cache();
        let source = Arc::new(source.clone().with_file_cache(cache));
        let conf = FileScanConfigBuilder::from(conf).with_source(source).build();
        Ok(DataSourceExec::from_data_source(conf))
    }

    async fn create_writer_physical_plan(
        &self,
        input: Arc<dyn ExecutionPlan>,
        state: &dyn Session,
        conf: FileSinkConfig,
        order_requirements: Option<LexRequirement>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        for url in &conf.table_paths {
            let exists = is_table(&state.runtime_env().object_store(url)?, url).await?;
            if !exists && !self.makes_table {
                continue;
            }
            if !conf.table_partition_cols.is_empty() {
                return plan_err!(
                    "{}: a Lance table is not cut into folders; leave out PARTITIONED BY",
                    url.as_str()
                );
            }
            let (options, schema) = (self.table.clone(), input.schema());
            let sink = Arc::new(CopySink::new(url.clone(), exists, options, schema));
            return Ok(Arc::new(DataSinkExec::new(input, sink, order_requirements)));
        }
        if conf.insert_op != InsertOp::Append {
            return not_impl_err!("Lance files can be added to a table, not replaced");
        }
        let sink = Arc::new(LanceSink::new(conf, self.write.clone()));
        Ok(Arc::new(DataSinkExec::new(input, sink, order_requirements)))
    }

    fn file_source(&self, table_schema: TableSchema) -> Arc<dyn FileSource> {
        Arc::new(LanceSource::new(table_schema).with_read_options(self.read.clone()))
    }
}
