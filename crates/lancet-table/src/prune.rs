//! Rows of a table outside of which none makes a filter true, by the zone maps of its files.

use lancet::{Filter, RowRanges};

use crate::columns::TableColumns;
use crate::error::Result;
use crate::opening::Opened;
use crate::scan_filter::TableFilter;
use crate::storage::{Storage, ready};
use crate::table::Table;
use crate::together;

impl Table {
    /// The rows outside of which no row makes the filter true, by the zone maps of its columns; rows inside may. What is
    /// read of them still has to be filtered, which [`TableScan::filter`](crate::TableScan::filter) does.
    pub fn prune(&self, filter: &Filter) -> Result<RowRanges> {
        ready(prune(&self.at, filter))
    }
}

/// The same, wherever the table is.
pub(crate) async fn prune<S: Storage>(at: &Opened<S>, filter: &Filter) -> Result<RowRanges> {
    let reads = &at.reads;
    let nothing = at.project(TableColumns::from(Vec::<String>::new()))?;
    let filter = TableFilter::new(&reads.snapshot, filter.clone(), &nothing)?;
    let starts = reads.starts().await?;
    let bounds = starts.iter().zip(starts.iter().skip(1)).enumerate();
    let fragments = bounds.filter(|(_, (start, end))| start < end).map(|(place, (start, end))| {
        let filter = &filter;
        async move {
            let Some(offsets) = filter.prune(reads, place).await? else {
                return Ok(vec![*start..*end]);
            };
            // Zone maps count deleted rows, the numbers of rows do not.
            let deletions = reads.deletions(place).await?;
            let number = |offset: u64| {
                let live = offset.saturating_sub(deletions.count_within(0..offset));
                start.saturating_add(live)
            };
            Ok(offsets.iter().map(|rows| number(rows.start)..number(rows.end)).collect())
        }
    });
    let found: Vec<Vec<_>> = together::all(fragments).await?;
    Ok(found.into_iter().flatten().filter(|rows| !rows.is_empty()).collect())
}
