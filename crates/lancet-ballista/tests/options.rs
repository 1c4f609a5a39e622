//! Executors read files in the way that the client asked for.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::Path;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, Int64Array, RecordBatch};
use datafusion::catalog::TableProvider;
use datafusion::datasource::physical_plan::FileScanConfig;
use datafusion::datasource::source::DataSourceExec;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion_proto::logical_plan::LogicalExtensionCodec;
use datafusion_proto::physical_plan::{DefaultPhysicalProtoConverter, PhysicalExtensionCodec};
use lancet::ReadOptions;
use lancet_ballista::{LogicalCodec, PhysicalCodec};
use lancet_datafusion::{LanceFormatFactory, LanceSource};

fn write(path: &Path) {
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(0..1_000));
    let batch = RecordBatch::try_from_iter([("id", ids)]).unwrap();
    let options = lancet::WriteOptions::default();
    let mut writer = lancet::FileWriter::create(path, batch.schema(), options).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
}

fn session() -> SessionContext {
    SessionContext::new_with_state(lancet_ballista::session_state(SessionConfig::new()))
}

/// The source of the scan at the end of a plan, and the scan.
fn scan(plan: &Arc<dyn ExecutionPlan>) -> (Arc<dyn ExecutionPlan>, ReadOptions) {
    if let Some(scan) = plan.downcast_ref::<DataSourceExec>() {
        let config = scan.data_source().downcast_ref::<FileScanConfig>().unwrap();
        let source = config.file_source().downcast_ref::<LanceSource>().unwrap();
        return (plan.clone(), source.read_options().clone());
    }
    scan(plan.children()[0])
}

async fn scan_of(ctx: &SessionContext, table: Arc<dyn TableProvider>) -> Arc<dyn ExecutionPlan> {
    let frame = ctx.read_table(table).unwrap();
    let frame =
        frame.filter(datafusion::prelude::col("id").gt(datafusion::prelude::lit(5))).unwrap();
    frame.create_physical_plan().await.unwrap()
}

fn assert_asked(options: &ReadOptions) {
    assert!(!options.zone_maps() && options.verify_checksums() && options.require_checksums());
    assert_eq!((options.memory_limit(), options.max_metadata_bytes()), (12_345_678, 2_345_678));
    assert_eq!(options.max_nesting(), 7);
}

#[tokio::test]
async fn options_of_reading_go_with_the_plan() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.lance");
    write(&path);
    let client = session();
    let read = ReadOptions::default()
        .with_zone_maps(false)
        .with_verify_checksums(true)
        .with_require_checksums(true)
        .with_memory_limit(12_345_678)
        .with_max_metadata_bytes(2_345_678)
        .with_max_nesting(7);
    let format = Arc::new(LanceFormatFactory::new(read));
    client.state_ref().write().register_file_format(format.clone(), true).unwrap();
    let create = format!("CREATE EXTERNAL TABLE t STORED AS LANCE LOCATION '{}'", path.display());
    client.sql(&create).await.unwrap();
    let table = client.table_provider("t").await.unwrap();
    assert_asked(&scan(&scan_of(&client, table.clone()).await).1);

    // From the client to the scheduler.
    let (codec, scheduler) = (LogicalCodec::default(), session());
    let mut bytes = Vec::new();
    let (name, schema) = ("t".into(), table.schema());
    codec.try_encode_table_provider(&name, table, &mut bytes).unwrap();
    let context = scheduler.task_ctx();
    let table = codec.try_decode_table_provider(&bytes, &name, schema, &context).unwrap();
    let (plan, options) = scan(&scan_of(&scheduler, table).await);
    assert_asked(&options);
    let mut bytes = Vec::new();
    codec.try_encode_file_format(&mut bytes, format).unwrap();
    let format = codec.try_decode_file_format(&bytes, &context).unwrap();
    assert_asked(format.downcast_ref::<LanceFormatFactory>().unwrap().read_options());

    // From the scheduler to an executor.
    let (codec, converter) = (PhysicalCodec::default(), DefaultPhysicalProtoConverter {});
    let mut bytes = Vec::new();
    codec.try_encode(plan, &mut bytes, &converter).unwrap();
    let plan = codec.try_decode(&bytes, &[], &session().task_ctx(), &converter).unwrap();
    assert_asked(&scan(&plan).1);
}
