//! One fragment of a table in an object store, read by the offsets of its rows: for engines that filter in their own way.

use std::fmt;

use arrow_array::RecordBatch;
use lancet::{RowRanges, Rows};

use crate::columns::TableProjection;
use crate::error::{Error, Result};
use crate::read::Reads;
use crate::store::Store;
use crate::store_table::StoreTable;
use crate::zone_maps::{self, FieldZones};

/// One fragment of a table in an object store. Cheap to clone.
///
/// Its rows are named by their offsets, deleted ones counted; [`StoreFragment::live`] tells those that are left. So shares
/// of a fragment can be cut before anything of it is read, and zone maps, which know nothing of deletions, fit.
#[derive(Clone)]
pub struct StoreFragment {
    reads: Reads<Store>,
    place: usize,
    id: u32,
}

impl StoreTable {
    /// The fragment with this id.
    pub fn fragment(&self, id: u32) -> Result<StoreFragment> {
        let reads = self.at.reads.clone();
        let place = reads.snapshot.place(id).ok_or_else(|| {
            Error::invalid(format!("{}: there is no fragment {id}", self.manifest().file))
        })?;
        Ok(StoreFragment { reads, place, id })
    }
}

impl StoreFragment {
    /// Its number in the table.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// Its rows, deleted ones included. Only fragments of the oldest writers have to open a file for it.
    pub async fn physical_rows(&self) -> Result<u64> {
        self.reads.physical_rows(self.place).await
    }

    /// The first `most` of some rows that are not deleted. The deletion file is read once for all reads of the table.
    pub async fn live(&self, rows: &RowRanges, most: u64) -> Result<RowRanges> {
        let deletions = self.reads.deletions(self.place).await?;
        if deletions.is_empty() {
            return Ok(rows.split_at(most).0);
        }
        let (mut left, mut found) = (most, Vec::new());
        for range in rows {
            let (live, _) = deletions.live(range.clone(), left);
            left = left.saturating_sub(live.count());
            found.extend(live.ranges().iter().cloned());
        }
        Ok(found.into_iter().collect())
    }

    /// Reads what is needed to know where some columns lie. About how many bytes a row of them takes in memory.
    pub async fn prepare(&self, columns: &TableProjection) -> Result<u64> {
        self.reads.row_bytes(self.place, columns).await
    }

    /// What zone maps say of the values of some fields, in the same order; a nested field is named with dots.
    pub async fn zones(&self, names: &[impl AsRef<str>]) -> Result<Vec<FieldZones>> {
        let schema = &self.reads.snapshot.schema;
        let mut fields = Vec::with_capacity(names.len());
        for (at, name) in names.iter().enumerate() {
            fields.extend(zone_maps::field_of(schema, name.as_ref())?.map(|id| (at, id)));
        }
        let found = zone_maps::of_fields(&self.reads, self.place, &fields).await?;
        let mut zones = vec![FieldZones::Unknown; names.len()];
        for ((at, _), found) in fields.into_iter().zip(found) {
            if let Some(zones) = zones.get_mut(at) {
                *zones = found;
            }
        }
        Ok(zones)
    }

    /// Columns of some rows, whether they are deleted or not.
    pub async fn read(&self, columns: &TableProjection, rows: RowRanges) -> Result<RecordBatch> {
        self.reads.read(self.place, columns, &Rows::Ranges(rows)).await
    }
}

impl fmt::Debug for StoreFragment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoreFragment").field("id", &self.id).finish_non_exhaustive()
    }
}
