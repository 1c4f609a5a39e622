//! What a scan did, for `EXPLAIN ANALYZE`.

use std::sync::{Mutex, PoisonError};

use datafusion::physical_plan::metrics::{Count, ExecutionPlanMetricsSet, MetricBuilder, Time};
use lancet_object_store::{FetchStats, Reader};

/// The figures of one partition.
#[derive(Debug)]
pub(crate) struct Metrics {
    bytes_scanned: Count,
    requests: Count,
    zones_pruned: Count,
    rows_pruned: Count,
    /// Rows that the filters refused; only filter columns of them are read.
    pub(crate) rows_filtered: Count,
    /// Evaluating filters.
    pub(crate) filter_time: Time,
    /// What the reader had fetched when it was last asked.
    counted: Mutex<FetchStats>,
}

impl Metrics {
    pub(crate) fn new(set: &ExecutionPlanMetricsSet, partition: usize) -> Self {
        let counter = |name| MetricBuilder::new(set).counter(name, partition);
        Self {
            bytes_scanned: counter("bytes_scanned"),
            requests: counter("requests"),
            zones_pruned: counter("zones_pruned"),
            rows_pruned: counter("rows_pruned"),
            rows_filtered: counter("rows_filtered"),
            filter_time: MetricBuilder::new(set).subset_time("filter_time", partition),
            counted: Mutex::default(),
        }
    }

    /// Adds rows that zone maps showed not to match; nothing of them is read.
    pub(crate) fn count_pruned(&self, rows: u64, rows_per_zone: u64) {
        self.rows_pruned.add(rows as usize);
        self.zones_pruned.add((rows / rows_per_zone) as usize);
    }

    /// Adds what was fetched since the last time. There is one of these for each reader.
    pub(crate) fn count_fetched(&self, reader: &Reader) {
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        let now = reader.stats();
        self.bytes_scanned.add(now.bytes.saturating_sub(counted.bytes) as usize);
        self.requests.add(now.requests.saturating_sub(counted.requests) as usize);
        *counted = now;
    }
}
