//! What a scan did, for `EXPLAIN ANALYZE`.

use datafusion::physical_plan::metrics::{Count, ExecutionPlanMetricsSet, MetricBuilder, Time};
use lancet_object_store::FetchStats;

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
        }
    }

    /// Adds rows that zone maps showed not to match; nothing of them is read.
    pub(crate) fn count_pruned(&self, rows: u64, rows_per_zone: u64) {
        self.rows_pruned.add(rows as usize);
        self.zones_pruned.add((rows / rows_per_zone) as usize);
    }

    /// Adds what was fetched.
    pub(crate) fn count_fetched(&self, fetched: FetchStats) {
        self.bytes_scanned.add(fetched.bytes as usize);
        self.requests.add(fetched.requests as usize);
    }
}
