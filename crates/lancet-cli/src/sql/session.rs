//! The session: what is known to queries, and what they may use.

use std::num::NonZeroUsize;
use std::sync::Arc;

use datafusion::catalog::DynamicFileCatalog;
use datafusion::error::Result;
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};
use lancet::ReadOptions;
use lancet_datafusion::{LanceFormatFactory, LanceTableOptions};

use super::disk::Disk;
use super::files::Files;
use super::memory::{self, Memory};
use super::order::FileOrder;
use super::zeros::BothZeros;

/// What queries may use, and how they read.
#[derive(Debug, clap::Args)]
pub(super) struct Resources {
    /// Memory for sorting, grouping and joining, such as 512MB or 2GB; what does not fit goes to
    /// temporary files (by default four fifths of the machine's memory)
    #[arg(long, value_name = "SIZE", value_parser = crate::units::parse_bytes)]
    memory_limit: Option<u64>,
    /// Threads to work with (by default one for each processor)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Read all rows of Lance files instead of leaving out what their zone maps exclude
    #[arg(long)]
    no_zone_maps: bool,
    /// Give Lance tables a column _rowid
    #[arg(long)]
    with_row_id: bool,
    /// Give Lance tables a column _rowaddr
    #[arg(long)]
    with_row_address: bool,
    /// Give Lance tables columns _row_created_at_version and _row_last_updated_at_version
    #[arg(long)]
    with_row_versions: bool,
}

impl Resources {
    /// Number of threads.
    pub(super) fn threads(&self) -> usize {
        let all = || std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        self.threads.map_or_else(all, usize::from)
    }

    /// A session whose tables are files.
    pub(super) fn session(&self, disk: Arc<Disk>) -> Result<SessionContext> {
        let mut config = SessionConfig::new()
            .with_information_schema(true)
            .with_target_partitions(self.threads());
        config.options_mut().execution.parquet.pushdown_filters = true;
        // What is in a folder is looked up by each statement.
        let mut runtime = RuntimeEnvBuilder::new().with_object_list_cache_limit(0);
        if let Some(bytes) = self.memory_limit.or_else(memory::by_default) {
            let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
            // What each sort keeps free to merge what it wrote to disk must leave room to sort in.
            let kept_free = &mut config.options_mut().execution.sort_spill_reservation_bytes;
            *kept_free = bytes.checked_div(self.threads() * 4).unwrap_or(0).min(*kept_free);
            runtime = runtime.with_memory_pool(Arc::new(Memory::new(bytes)));
        }
        let state = SessionStateBuilder::new()
            .with_config(config)
            .with_runtime_env(runtime.build_arc()?)
            .with_default_features()
            .with_optimizer_rule(Arc::new(BothZeros))
            .with_physical_optimizer_rule(Arc::new(FileOrder))
            .build();
        let ctx = SessionContext::new_with_state(state);
        ctx.register_object_store(ObjectStoreUrl::local_filesystem().as_ref(), disk);
        lancet_datafusion::register(&ctx)?;
        let read = self.read_options();
        let format = Arc::new(LanceFormatFactory::new(read.clone()));
        ctx.state_ref().write().register_file_format(format, true)?;
        let catalogs = ctx.state().catalog_list().clone();
        let files = Arc::new(Files::new(ctx.state(), self.tables(read)));
        ctx.register_catalog_list(Arc::new(DynamicFileCatalog::new(catalogs, files)));
        Ok(ctx)
    }

    fn tables(&self, read: ReadOptions) -> LanceTableOptions {
        LanceTableOptions::default()
            .with_read_options(read)
            .with_row_ids(self.with_row_id)
            .with_row_addresses(self.with_row_address)
            .with_row_versions(self.with_row_versions)
    }

    fn read_options(&self) -> ReadOptions {
        ReadOptions::default().with_zone_maps(!self.no_zone_maps)
    }
}
