//! What the zone maps of all files of a table say of its columns, and how that looks.

use std::collections::HashMap;

use lancet_table::{FieldZones, FragmentZones, Table, TableColumnStatistics};

use super::Budget;
use super::zones::Zones;

/// Zones that are held at a time, of all columns together: some hundred megabytes of long texts.
const MOST_ZONES: usize = 1_000_000;

/// What is known of a column.
pub struct ColumnZones {
    pub statistics: TableColumnStatistics,
    pub zones: Option<Zones>,
}

/// What is known of columns.
pub struct Known {
    /// By their names.
    pub columns: HashMap<String, ColumnZones>,
    /// Columns whose zones were too many to be held.
    pub left_out: usize,
}

/// What is known of columns. Nothing, where files cannot be read: their health says why.
pub fn gather(table: &Table) -> Known {
    let mut held = Held::default();
    let found = table.statistics_with_zones(.., |_| {}, |column, zones| held.add(column, zones));
    let statistics = found.unwrap_or_default();
    let budget = Budget::new(statistics.len());
    let left_out = held.end.map_or(0, |end| statistics.len().saturating_sub(end));
    let mut columns = held.columns.into_iter();
    let column = |statistics: TableColumnStatistics| {
        let fragments = columns.next().unwrap_or_default();
        let zones = Zones::of_table(&fragments, budget.zones);
        (statistics.name.clone(), ColumnZones { statistics, zones })
    };
    Known { columns: statistics.into_iter().map(column).collect(), left_out }
}

/// The fragments of every column. With too many zones, those of the last columns are let go.
#[derive(Default)]
struct Held {
    columns: Vec<Vec<FragmentZones>>,
    num_zones: usize,
    /// Columns from here on are not held.
    end: Option<usize>,
}

impl Held {
    fn add(&mut self, column: usize, found: FragmentZones) {
        if self.end.is_some_and(|end| column >= end) {
            return;
        }
        if column >= self.columns.len() {
            self.columns.resize_with(column + 1, Vec::new);
        }
        self.num_zones = self.num_zones.saturating_add(num_zones(&found));
        if let Some(fragments) = self.columns.get_mut(column) {
            fragments.push(found);
        }
        while self.num_zones > MOST_ZONES && !self.columns.is_empty() {
            let gone = self.columns.pop().unwrap_or_default();
            self.num_zones = self.num_zones.saturating_sub(gone.iter().map(num_zones).sum());
            self.end = Some(self.columns.len());
        }
    }
}

fn num_zones(found: &FragmentZones) -> usize {
    match &found.zones {
        FieldZones::Map(map) => map.num_zones(),
        _ => 0,
    }
}
