//! Lance tables, and tables of Lance files, as bytes: [`TAG`], then a [`TableMessage`]. All else is left to Ballista.

use std::sync::Arc;

use ballista_core::serde::BallistaLogicalExtensionCodec;
use datafusion::arrow::datatypes::{DataType, Schema, SchemaRef};
use datafusion::catalog::TableProvider;
use datafusion::common::{TableReference, internal_datafusion_err};
use datafusion::datasource::file_format::FileFormatFactory;
use datafusion::datasource::listing::{
    ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl,
};
use datafusion::error::Result;
use datafusion::execution::TaskContext;
use datafusion::logical_expr::{Extension, LogicalPlan};
use datafusion_proto::logical_plan::LogicalExtensionCodec;
use datafusion_proto::protobuf::PartitionColumn;
use lancet_datafusion::{LanceFormat, LanceFormatFactory};
use prost::Message;

use crate::decoding;
use crate::reading::ReadMessage;
use crate::table::LanceTable;
use crate::versioned::VersionedMessage;

/// No message of protocol buffers begins like this.
pub(crate) const TAG: &[u8] = b"LANCE\0";

/// Where a table, or the files of one, are.
#[derive(Clone, PartialEq, Message)]
struct TableMessage {
    #[prost(string, repeated, tag = "1")]
    paths: Vec<String>,
    #[prost(string, tag = "2")]
    file_extension: String,
    #[prost(message, repeated, tag = "3")]
    partition_columns: Vec<PartitionColumn>,
    #[prost(message, optional, tag = "4")]
    read: Option<ReadMessage>,
    /// A table with versions, instead of files.
    #[prost(message, optional, tag = "5")]
    versioned: Option<VersionedMessage>,
}

/// Ballista's codec of logical plans, with tables of Lance files.
#[derive(Debug, Default)]
pub struct LogicalCodec {
    ballista: BallistaLogicalExtensionCodec,
}

impl LogicalExtensionCodec for LogicalCodec {
    fn try_decode(
        &self,
        buf: &[u8],
        inputs: &[LogicalPlan],
        ctx: &TaskContext,
    ) -> Result<Extension> {
        self.ballista.try_decode(buf, inputs, ctx)
    }

    fn try_encode(&self, node: &Extension, buf: &mut Vec<u8>) -> Result<()> {
        self.ballista.try_encode(node, buf)
    }

    fn try_decode_table_provider(
        &self,
        buf: &[u8],
        table_ref: &TableReference,
        schema: SchemaRef,
        ctx: &TaskContext,
    ) -> Result<Arc<dyn TableProvider>> {
        match buf.strip_prefix(TAG) {
            Some(message) => decode_table(message, table_ref, schema, ctx),
            None => self.ballista.try_decode_table_provider(buf, table_ref, schema, ctx),
        }
    }

    fn try_encode_table_provider(
        &self,
        table_ref: &TableReference,
        node: Arc<dyn TableProvider>,
        buf: &mut Vec<u8>,
    ) -> Result<()> {
        let message = if let Some(table) = node.downcast_ref::<lancet_datafusion::LanceTable>() {
            let versioned = VersionedMessage::new(table.store(), table.path(), table.options());
            TableMessage { versioned: Some(versioned?), ..TableMessage::default() }
        } else if let Some(table) = node.downcast_ref::<LanceTable>() {
            table_message(table)?
        } else {
            return self.ballista.try_encode_table_provider(table_ref, node, buf);
        };
        buf.extend_from_slice(TAG);
        buf.extend(message.encode_to_vec());
        Ok(())
    }

    fn try_decode_file_format(
        &self,
        buf: &[u8],
        ctx: &TaskContext,
    ) -> Result<Arc<dyn FileFormatFactory>> {
        match buf.strip_prefix(TAG) {
            Some(message) => {
                let read = ReadMessage::decode(message).map_err(decoding)?;
                Ok(Arc::new(LanceFormatFactory::new(read.into())))
            }
            None => self.ballista.try_decode_file_format(buf, ctx),
        }
    }

    fn try_encode_file_format(
        &self,
        buf: &mut Vec<u8>,
        node: Arc<dyn FileFormatFactory>,
    ) -> Result<()> {
        if let Some(factory) = node.downcast_ref::<LanceFormatFactory>() {
            buf.extend_from_slice(TAG);
            buf.extend(ReadMessage::from(factory.read_options()).encode_to_vec());
            return Ok(());
        }
        self.ballista.try_encode_file_format(buf, node)
    }
}

fn table_message(table: &LanceTable) -> Result<TableMessage> {
    let (listing, options) = (table.listing(), table.listing().options());
    let column = |(name, data_type): &(String, DataType)| {
        Ok(PartitionColumn { name: name.clone(), arrow_type: Some(data_type.try_into()?) })
    };
    Ok(TableMessage {
        paths: listing.table_paths().iter().map(ToString::to_string).collect(),
        file_extension: options.file_extension.clone(),
        partition_columns: options
            .table_partition_cols
            .iter()
            .map(column)
            .collect::<Result<_>>()?,
        read: format_of(options).map(|format| format.read_options().into()),
        versioned: None,
    })
}

fn format_of(options: &ListingOptions) -> Option<&LanceFormat> {
    options.format.downcast_ref()
}

fn decode_table(
    message: &[u8],
    name: &TableReference,
    schema: SchemaRef,
    ctx: &TaskContext,
) -> Result<Arc<dyn TableProvider>> {
    let message = TableMessage::decode(message).map_err(decoding)?;
    if let Some(versioned) = message.versioned {
        return Ok(Arc::new(versioned.table(schema)?));
    }
    let mut partition = Vec::new();
    for column in &message.partition_columns {
        let data_type = column.arrow_type.as_ref();
        let data_type = data_type.ok_or_else(|| internal_datafusion_err!("a type is missing"))?;
        partition.push((column.name.clone(), DataType::try_from(data_type)?));
    }
    let is_stored = |name: &String| partition.iter().all(|(column, _)| column != name);
    let stored: Vec<_> =
        schema.fields().iter().filter(|field| is_stored(field.name())).cloned().collect();
    let read = message.read.map_or_else(Default::default, Into::into);
    let options = ListingOptions::new(Arc::new(LanceFormat::default().with_read_options(read)))
        .with_file_extension(message.file_extension)
        .with_table_partition_cols(partition);
    let path = |path: &String| Ok(ListingTableUrl::parse(path)?.with_table_ref(name.clone()));
    let paths = message.paths.iter().map(path).collect::<Result<_>>()?;
    let config = ListingTableConfig::new_with_multi_paths(paths)
        .with_listing_options(options)
        .with_schema(Arc::new(Schema::new(stored)));
    let cache = ctx.runtime_env().cache_manager.get_file_statistic_cache();
    Ok(Arc::new(LanceTable::new(ListingTable::try_new(config)?.with_cache(cache))))
}
