//! The rows that the zone maps of a file, or of the files of a fragment, leave for a predicate.
//!
//! A predicate may grow narrower while the scan goes on: a join learns which keys it needs, a query
//! for the largest values which are large. So it is asked again for each window of rows.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_schema::SchemaRef;
use datafusion::error::Result;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr_common::physical_expr::{
    snapshot_generation, snapshot_physical_expr,
};
use lancet::{RowRanges, ZoneMap};

use crate::predicate;
use crate::readable::Readable;

/// Zone maps and the predicate that is asked of them.
#[derive(Debug)]
pub(crate) struct Zones {
    predicate: Arc<dyn PhysicalExpr>,
    schema: SchemaRef,
    num_rows: u64,
    maps: HashMap<String, Arc<ZoneMap>>,
    /// What was left when the predicate was last looked at.
    left: Mutex<Option<Left>>,
}

/// The rows that one generation of the predicate leaves.
#[derive(Debug)]
struct Left {
    generation: u64,
    rows: Arc<RowRanges>,
}

impl Zones {
    /// Reads the zone maps of some columns; none if there are none.
    pub(crate) async fn load(
        readable: &Readable,
        predicate: &Arc<dyn PhysicalExpr>,
        columns: &[String],
    ) -> Result<Option<Self>> {
        let maps = readable.zone_maps(columns).await?;
        let maps: HashMap<String, Arc<ZoneMap>> = columns
            .iter()
            .cloned()
            .zip(maps)
            .filter_map(|(name, map)| Some((name, map?)))
            .collect();
        Ok((!maps.is_empty()).then(|| Self {
            predicate: predicate.clone(),
            schema: readable.schema(),
            num_rows: readable.num_rows(),
            maps,
            left: Mutex::default(),
        }))
    }

    /// Those of the rows that may match.
    pub(crate) fn keep(&self, rows: &RowRanges) -> Result<RowRanges> {
        Ok(rows.intersection(&*self.left()?))
    }

    fn left(&self) -> Result<Arc<RowRanges>> {
        let generation = snapshot_generation(&self.predicate);
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(left) = left.as_ref().filter(|left| left.generation == generation) {
            return Ok(left.rows.clone());
        }
        let now = snapshot_physical_expr(self.predicate.clone())?;
        let filter = predicate::filter(&now, &self.schema);
        let map = |name: &str| self.maps.get(name).cloned();
        let rows = Arc::new(lancet::prune(&filter, self.num_rows, map));
        *left = Some(Left { generation, rows: rows.clone() });
        Ok(rows)
    }

    /// Rows in a zone.
    pub(crate) fn rows_per_zone(&self) -> u64 {
        self.maps.values().map(|map| map.rows_per_zone()).min().unwrap_or(1).max(1)
    }
}
