//! The zones of a column of a table, fragment by fragment.
//!
//! Rows are counted within their fragment, deleted ones included: that is what zone maps count.

use lancet::ZoneMap;
use lancet_table::{FieldZones, FragmentZones};
use serde_json::{Value, json};

use super::{ZONE_HEADS, zone_cells, zone_json};
use crate::error::Result;
use crate::table::Grid;
use crate::units;

/// Every zone, for people.
pub fn table(fragments: &[FragmentZones]) -> Result<Grid> {
    let heads = [">fragment"].into_iter().chain(ZONE_HEADS).chain([">deleted"]);
    let mut grid = Grid::new(&heads.collect::<Vec<_>>());
    for fragment in fragments {
        let id = fragment.fragment.to_string();
        let FieldZones::Map(map) = &fragment.zones else {
            let [none, rows] = [String::new(), units::count(fragment.num_physical_rows)];
            let deleted = units::count(fragment.deletions.len());
            let why = missing(&fragment.zones).to_owned();
            let [a, b, c, d] = [(); 4].map(|()| none.clone());
            grid.push([id, a, b, rows, c, d, why, none, deleted]);
            continue;
        };
        for zone in 0..map.num_zones() {
            let deleted = fragment.deletions.count_within(map.rows(zone));
            let cells = zone_cells(map, zone, is_exact(map, zone, deleted))?;
            grid.push([id.clone()].into_iter().chain(cells).chain([units::count(deleted)]));
        }
    }
    Ok(grid)
}

/// Every zone, for programs.
pub fn json(fragments: &[FragmentZones]) -> Result<Value> {
    let mut found = Vec::with_capacity(fragments.len());
    for fragment in fragments {
        let mut json = json!({
            "fragment": fragment.fragment,
            "physical_rows": fragment.num_physical_rows,
            "deleted_rows": fragment.deletions.len(),
            "each_zone": Value::Null,
        });
        match &fragment.zones {
            FieldZones::Map(map) => {
                let zones = (0..map.num_zones()).map(|zone| {
                    let deleted = fragment.deletions.count_within(map.rows(zone));
                    let mut json = zone_json(map, zone, is_exact(map, zone, deleted))?;
                    json["deleted_rows"] = deleted.into();
                    Ok(json)
                });
                json["each_zone"] = zones.collect::<Result<Vec<_>>>()?.into();
            }
            other => json["missing"] = missing(other).into(),
        }
        found.push(json);
    }
    Ok(found.into())
}

/// Whether the bounds are those of rows that are left.
fn is_exact(map: &ZoneMap, zone: usize, deleted: u64) -> bool {
    map.is_exact(zone) && deleted == 0
}

/// Why there are no zones.
fn missing(zones: &FieldZones) -> &'static str {
    match zones {
        FieldZones::Missing => "null in all rows",
        _ => "no zone map",
    }
}
