//! Scans of Lance files and tables as bytes: [`TAG`], then a [`ScanMessage`]. All else is left to Ballista.

use std::sync::Arc;

use ballista_core::serde::BallistaPhysicalExtensionCodec;
use datafusion::common::internal_datafusion_err;
use datafusion::datasource::physical_plan::{FileScanConfig, FileSource};
use datafusion::datasource::source::DataSourceExec;
use datafusion::error::Result;
use datafusion::execution::TaskContext;
use datafusion::physical_plan::ExecutionPlan;
use datafusion_proto::physical_plan::from_proto::{
    parse_protobuf_file_scan_config, parse_table_schema_from_proto,
};
use datafusion_proto::physical_plan::to_proto::serialize_file_scan_config;
use datafusion_proto::physical_plan::{
    PhysicalExtensionCodec, PhysicalPlanDecodeContext, PhysicalProtoConverterExtension,
};
use datafusion_proto::protobuf::{FileScanExecConf, PhysicalExprNode};
use lancet_datafusion::LanceSource;
use prost::Message;

use crate::decoding;
use crate::logical::TAG;
use crate::reading::ReadMessage;
use crate::versioned::VersionedMessage;

/// A scan, what it filters by, and how it reads.
#[derive(Clone, PartialEq, Message)]
struct ScanMessage {
    #[prost(message, optional, tag = "1")]
    scan: Option<FileScanExecConf>,
    #[prost(message, optional, tag = "2")]
    predicate: Option<PhysicalExprNode>,
    #[prost(message, optional, tag = "3")]
    read: Option<ReadMessage>,
    /// The version of a table whose fragments are read, instead of files.
    #[prost(message, optional, tag = "4")]
    versioned: Option<VersionedMessage>,
}

/// Ballista's codec of physical plans, with scans of Lance files.
#[derive(Debug, Default)]
pub struct PhysicalCodec {
    ballista: BallistaPhysicalExtensionCodec,
}

impl PhysicalExtensionCodec for PhysicalCodec {
    fn try_decode(
        &self,
        buf: &[u8],
        inputs: &[Arc<dyn ExecutionPlan>],
        ctx: &TaskContext,
        proto_converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        match buf.strip_prefix(TAG) {
            Some(message) => self.decode_scan(message, ctx, proto_converter),
            None => self.ballista.try_decode(buf, inputs, ctx, proto_converter),
        }
    }

    fn try_encode(
        &self,
        node: Arc<dyn ExecutionPlan>,
        buf: &mut Vec<u8>,
        proto_converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<()> {
        match scan_of(&node) {
            Some((scan, source)) => self.encode_scan(scan, source, buf, proto_converter),
            None => self.ballista.try_encode(node, buf, proto_converter),
        }
    }
}

/// The scan of Lance files that a plan is, if it is one.
fn scan_of(plan: &Arc<dyn ExecutionPlan>) -> Option<(&FileScanConfig, &LanceSource)> {
    let scan =
        plan.downcast_ref::<DataSourceExec>()?.data_source().downcast_ref::<FileScanConfig>()?;
    Some((scan, scan.file_source().downcast_ref::<LanceSource>()?))
}

impl PhysicalCodec {
    fn encode_scan(
        &self,
        scan: &FileScanConfig,
        source: &LanceSource,
        buf: &mut Vec<u8>,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<()> {
        let predicate = source.filter();
        let message = ScanMessage {
            scan: Some(serialize_file_scan_config(scan, self, converter)?),
            predicate: predicate
                .map(|predicate| converter.physical_expr_to_proto(&predicate, self))
                .transpose()?,
            read: Some(source.read_options().into()),
            versioned: source
                .table()
                .map(|table| VersionedMessage::new(table.store(), table.path(), table.options()))
                .transpose()?,
        };
        buf.extend_from_slice(TAG);
        buf.extend(message.encode_to_vec());
        Ok(())
    }

    fn decode_scan(
        &self,
        message: &[u8],
        ctx: &TaskContext,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let message = ScanMessage::decode(message).map_err(decoding)?;
        let scan = message.scan.ok_or_else(|| internal_datafusion_err!("a scan is missing"))?;
        let context = PhysicalPlanDecodeContext::new(ctx, self);
        let table_schema = parse_table_schema_from_proto(&scan)?;
        let columns = table_schema.table_schema().clone();
        let files = ctx.runtime_env().cache_manager.get_file_metadata_cache();
        let read = message.read.map_or_else(Default::default, Into::into);
        let mut source =
            LanceSource::new(table_schema).with_file_cache(files).with_read_options(read);
        if let Some(versioned) = message.versioned {
            source = source.with_table(Arc::new(versioned.open_table()?));
        }
        if let Some(predicate) = &message.predicate {
            source = source
                .with_predicate(converter.proto_to_physical_expr(predicate, &columns, &context)?);
        }
        let scan = parse_protobuf_file_scan_config(&scan, &context, converter, Arc::new(source))?;
        Ok(DataSourceExec::from_data_source(scan))
    }
}
