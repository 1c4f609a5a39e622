//! The session: what is known to queries, and what they may use.

use std::num::NonZeroUsize;
use std::sync::Arc;

use datafusion::catalog::DynamicFileCatalog;
use datafusion::error::Result;
use datafusion::execution::memory_pool::{FairSpillPool, TrackConsumersPool};
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};
use lancet::ReadOptions;
use lancet_datafusion::LanceFormatFactory;

use super::files::Files;
use super::order::FileOrder;

/// What queries may use, and how they read.
#[derive(Debug, clap::Args)]
pub(super) struct Resources {
    /// Memory for sorting, grouping and joining, such as 512MB or 2GB; what does not fit goes to
    /// temporary files (by default four fifths of the machine's memory)
    #[arg(long, value_name = "SIZE", value_parser = crate::units::parse_bytes)]
    memory_limit: Option<u64>,
    /// Threads to work with (by default one for each processor)
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// Read all rows of Lance files instead of leaving out what their zone maps exclude
    #[arg(long)]
    no_zone_maps: bool,
}

impl Resources {
    /// Number of threads.
    pub(super) fn threads(&self) -> usize {
        let all = || std::thread::available_parallelism().ok();
        self.threads.or_else(all).map_or(1, NonZeroUsize::get)
    }

    /// A session whose tables are files.
    pub(super) fn session(&self) -> Result<SessionContext> {
        let mut config = SessionConfig::new()
            .with_information_schema(true)
            .with_target_partitions(self.threads());
        config.options_mut().execution.parquet.pushdown_filters = true;
        let mut runtime = RuntimeEnvBuilder::new();
        if let Some(bytes) = self.memory_limit.or_else(most_memory) {
            let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
            // What each sort keeps free to merge what it wrote to disk must leave room to sort in.
            let kept_free = &mut config.options_mut().execution.sort_spill_reservation_bytes;
            *kept_free = bytes.checked_div(self.threads() * 4).unwrap_or(0).min(*kept_free);
            // Sorts share evenly, so that none of them starves and fails.
            let pool = TrackConsumersPool::new(FairSpillPool::new(bytes), NonZeroUsize::MIN);
            runtime = runtime.with_memory_pool(Arc::new(pool));
        }
        let state = SessionStateBuilder::new()
            .with_config(config)
            .with_runtime_env(runtime.build_arc()?)
            .with_default_features()
            .with_physical_optimizer_rule(Arc::new(FileOrder))
            .build();
        let ctx = SessionContext::new_with_state(state);
        lancet_datafusion::register(&ctx)?;
        let read = self.read_options();
        let format = Arc::new(LanceFormatFactory::new(read.clone()));
        ctx.state_ref().write().register_file_format(format, true)?;
        let catalogs = ctx.state().catalog_list().clone();
        let files = Arc::new(Files::new(ctx.state(), read));
        ctx.register_catalog_list(Arc::new(DynamicFileCatalog::new(catalogs, files)));
        Ok(ctx)
    }

    fn read_options(&self) -> ReadOptions {
        ReadOptions::default().with_zone_maps(!self.no_zone_maps)
    }
}

/// Four fifths of what the machine has, or of what it lets this process use; none where it does not
/// say. The rest is for what queries do not count: files, batches on their way.
fn most_memory() -> Option<u64> {
    let number = |text: &str| text.trim().parse::<u64>().ok();
    let info = std::fs::read_to_string("/proc/meminfo").ok()?;
    let total = info.lines().find_map(|line| line.strip_prefix("MemTotal:")?.strip_suffix("kB"));
    let machine = number(total?)?.saturating_mul(1024);
    let group = std::fs::read_to_string("/sys/fs/cgroup/memory.max").ok();
    let allowed = group.as_deref().and_then(number).unwrap_or(u64::MAX);
    Some(machine.min(allowed) / 5 * 4)
}
