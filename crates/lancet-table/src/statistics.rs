//! What the zone maps of all data files say about the columns of a table.
//!
//! Zone maps count deleted rows, because files are not written again when rows are deleted. A zone that is deleted whole is
//! left out. Of one with some deleted rows the bounds still hold, but may belong to a deleted row, and only limits are known
//! of how many of the live ones are null.

use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_schema::DataType;
use lancet::{ColumnStatistics, ZoneMap};

use crate::columns::TableColumns;
use crate::deletions::Deletions;
use crate::error::Result;
use crate::plan::column_of;
use crate::schema::{Kind, Node};
use crate::storage::ready;
use crate::table::Table;
use crate::zone_maps::{self, FieldZones};

/// Statistics of fragments that are kept until they are joined.
const KEPT: usize = 256;

/// What is known about a column of a table.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct TableColumnStatistics {
    /// Names from the top-level field down to the leaf, joined with dots.
    pub name: String,
    /// Its type.
    pub data_type: DataType,
    /// Zones of all fragments that were looked at.
    pub num_zones: u64,
    /// Fragments with rows of the column of which nothing is known: their files have no sound zone map for it.
    pub num_unknown: u64,
    /// What is known of its live rows; `None` if there is a fragment of which nothing is.
    pub known: Option<KnownStatistics>,
}

/// What is known about the live rows of a column.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct KnownStatistics {
    /// Its live rows.
    pub num_rows: u64,
    /// Live rows that are null, at most.
    pub null_count: u64,
    /// Live rows that are NaN, at most; `None` if a map does not say.
    pub nan_count: Option<u64>,
    /// Whether so many are null and NaN. Otherwise some of those that were counted may be deleted.
    pub counts_exact: bool,
    /// An array of the least value, NaN left out; `None` if it is unknown or all rows are null.
    pub min: Option<ArrayRef>,
    /// An array of the greatest value; `None` if it is unknown or all rows are null, and where there may be NaN.
    pub max: Option<ArrayRef>,
    /// Whether both bounds are values of live rows. Otherwise they may lie further out.
    pub exact: bool,
}

/// What is known about a column in one fragment.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct FragmentZones {
    /// The fragment.
    pub fragment: u32,
    /// Its rows, deleted ones included.
    pub num_physical_rows: u64,
    /// Its deleted rows. Zone maps count them.
    pub deletions: Arc<Deletions>,
    /// What its files say of the column.
    pub zones: FieldZones,
}

impl Table {
    /// What the zone maps of all data files say about columns. `progress` is told how many fragments are done.
    pub fn statistics(
        &self,
        columns: impl Into<TableColumns>,
        progress: impl FnMut(usize),
    ) -> Result<Vec<TableColumnStatistics>> {
        self.statistics_with_zones(columns, progress, |_, _| {})
    }

    /// The same, zone by zone: `visit` is handed what is known of each column, by its place in the result, in every fragment
    /// that has rows, in the order of the fragments.
    pub fn statistics_with_zones(
        &self,
        columns: impl Into<TableColumns>,
        mut progress: impl FnMut(usize),
        mut visit: impl FnMut(usize, FragmentZones),
    ) -> Result<Vec<TableColumnStatistics>> {
        let mut sums = Vec::new();
        for node in self.project(columns)?.nodes() {
            collect(node, "", true, &mut sums);
        }
        for place in 0..self.manifest().fragments.len() {
            self.add_fragment(place, &mut sums, &mut visit)?;
            progress(place.saturating_add(1));
        }
        Ok(sums.into_iter().map(Sum::finish).collect())
    }

    fn add_fragment(
        &self,
        place: usize,
        sums: &mut [Sum],
        visit: &mut impl FnMut(usize, FragmentZones),
    ) -> Result<()> {
        let reads = &self.at.reads;
        let deletions = ready(reads.deletions(place))?;
        let num_physical_rows = ready(reads.physical_rows(place))?;
        let num_live = num_physical_rows.saturating_sub(deletions.len());
        if num_live == 0 {
            return Ok(());
        }
        let mapped = sums.iter().filter(|sum| sum.may_have_map);
        let mapped: Vec<((), i32)> = mapped.map(|sum| ((), sum.field)).collect();
        let mut mapped = ready(zone_maps::of_fields(reads, place, &mapped))?.into_iter();
        let fragment = reads.snapshot.fragment(place)?;
        for (number, sum) in sums.iter_mut().enumerate() {
            let zones = match sum.may_have_map {
                true => mapped.next().unwrap_or(FieldZones::Unknown),
                false if column_of(fragment, sum.field).is_none() => FieldZones::Missing,
                false => FieldZones::Unknown,
            };
            // A map of other rows is none of this fragment.
            let zones = match zones {
                FieldZones::Map(map) if map.num_rows() != num_physical_rows => FieldZones::Unknown,
                zones => zones,
            };
            match &zones {
                FieldZones::Map(map) => sum.add_map(map, &deletions),
                FieldZones::Missing => sum.add_missing(num_live),
                FieldZones::Unknown => sum.num_unknown = sum.num_unknown.saturating_add(1),
            }
            let (fragment, deletions) = (fragment.id, deletions.clone());
            visit(number, FragmentZones { fragment, num_physical_rows, deletions, zones });
        }
        Ok(())
    }
}

/// The columns that hold values. Those in lists have no zone maps.
fn collect(node: &Node, prefix: &str, may_have_map: bool, sums: &mut Vec<Sum>) {
    let name = match prefix {
        "" => node.field.name().clone(),
        prefix => format!("{prefix}.{}", node.field.name()),
    };
    if node.is_leaf() {
        if !node.field.data_type().is_nested() {
            let may_have_map = may_have_map && node.kind == Kind::Leaf;
            let data_type = node.field.data_type().clone();
            sums.push(Sum::new(node.id, name, data_type, may_have_map));
        }
        return;
    }
    for child in &node.children {
        collect(child, &name, may_have_map && node.kind == Kind::Struct, sums);
    }
}

/// What was found of a column so far.
struct Sum {
    field: i32,
    name: String,
    data_type: DataType,
    may_have_map: bool,
    num_zones: u64,
    num_unknown: u64,
    parts: Vec<ColumnStatistics>,
    /// Rows of fragments that do not have the column.
    num_missing: u64,
    num_deleted: u64,
    counts_exact: bool,
    bounds_exact: bool,
    /// Null and NaN rows that are deleted for sure.
    deleted_nulls: u64,
}

impl Sum {
    fn new(field: i32, name: String, data_type: DataType, may_have_map: bool) -> Self {
        Self {
            field,
            name,
            data_type,
            may_have_map,
            num_zones: 0,
            num_unknown: 0,
            parts: Vec::new(),
            num_missing: 0,
            num_deleted: 0,
            counts_exact: true,
            bounds_exact: true,
            deleted_nulls: 0,
        }
    }

    /// A fragment without the column.
    fn add_missing(&mut self, num_live: u64) {
        self.num_missing = self.num_missing.saturating_add(num_live);
    }

    fn add_map(&mut self, map: &Arc<ZoneMap>, deletions: &Deletions) {
        self.num_zones = self.num_zones.saturating_add(map.num_zones() as u64);
        let statistics = map.statistics_of(|zone| {
            let rows = map.rows(zone);
            let num_rows = rows.end.saturating_sub(rows.start);
            let deleted = deletions.count_within(rows);
            if deleted == num_rows {
                return false;
            }
            if deleted > 0 {
                self.touch(map, zone, num_rows, deleted);
            }
            true
        });
        self.parts.push(statistics);
        if self.parts.len() >= KEPT {
            self.join();
        }
    }

    /// A zone of which some rows are deleted.
    fn touch(&mut self, map: &ZoneMap, zone: usize, num_rows: u64, deleted: u64) {
        self.num_deleted = self.num_deleted.saturating_add(deleted);
        let nulls = u64::from(map.null_counts().value(zone));
        let nans = map.nan_counts().map_or(0, |counts| u64::from(counts.value(zone)));
        if nulls == num_rows {
            // Then those that are left are null as well, and there are no bounds to change.
            self.deleted_nulls = self.deleted_nulls.saturating_add(deleted);
            return;
        }
        self.bounds_exact = false;
        self.counts_exact &= nulls == 0 && nans == 0;
    }

    fn join(&mut self) {
        match ColumnStatistics::join(&self.parts) {
            Some(joined) => self.parts = vec![joined],
            // Files that hold something else than the table says.
            None => {
                self.num_unknown = self.num_unknown.saturating_add(self.parts.len() as u64);
                self.parts.clear();
            }
        }
    }

    fn finish(mut self) -> TableColumnStatistics {
        self.join();
        let known = self.parts.pop().filter(|_| self.num_unknown == 0);
        let known = known.map(|joined| {
            let live = joined.num_rows.saturating_sub(self.num_deleted);
            let num_rows = live.saturating_add(self.num_missing);
            let nulls = joined.null_count.saturating_sub(self.deleted_nulls).min(live);
            KnownStatistics {
                num_rows,
                null_count: nulls.saturating_add(self.num_missing),
                nan_count: joined.nan_count.map(|nans| nans.min(live)),
                counts_exact: self.counts_exact,
                min: joined.min,
                max: joined.max,
                exact: joined.exact && self.bounds_exact,
            }
        });
        let (num_zones, num_unknown) = (self.num_zones, self.num_unknown);
        let (name, data_type) = (self.name, self.data_type);
        TableColumnStatistics { name, data_type, num_zones, num_unknown, known }
    }
}
