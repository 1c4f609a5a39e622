//! What the zone maps of data files say of fields of a fragment. They are of all rows, deleted ones included.

use std::collections::BTreeMap;
use std::sync::Arc;

use lancet::ZoneMap;

use crate::columns::TableProjection;
use crate::error::Result;
use crate::plan::column_of;
use crate::read::Reads;
use crate::schema::{Kind, Node, TableSchema};
use crate::storage::Storage;
use crate::together;

/// What is known of the values of a field in a fragment before they are read.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum FieldZones {
    /// Nothing.
    Unknown,
    /// No file of the fragment has it, so that it is null in all rows.
    Missing,
    /// What a zone map of all rows says, deleted ones included.
    Map(Arc<ZoneMap>),
}

impl FieldZones {
    /// The map, if there is one.
    pub fn map(self) -> Option<Arc<ZoneMap>> {
        match self {
            Self::Map(map) => Some(map),
            Self::Unknown | Self::Missing => None,
        }
    }
}

/// The id of the one field of values that a name stands for, with nothing but structs around it; others have no maps.
pub(crate) fn field_of(schema: &TableSchema, name: &str) -> Result<Option<i32>> {
    Ok(only_leaf(TableProjection::named(schema, &[name])?.nodes()))
}

fn only_leaf(nodes: &[Node]) -> Option<i32> {
    match nodes {
        [node] if node.kind == Kind::Leaf => Some(node.id),
        [node] if node.kind == Kind::Struct => only_leaf(&node.children),
        _ => None,
    }
}

/// What is known of some fields, by their ids, in the same order.
pub(crate) async fn of_fields<S: Storage, N>(
    reads: &Reads<S>,
    place: usize,
    fields: &[(N, i32)],
) -> Result<Vec<FieldZones>> {
    let fragment = reads.snapshot.fragment(place)?;
    let mut known = vec![FieldZones::Missing; fields.len()];
    let mut wanted: BTreeMap<usize, Vec<(usize, u32)>> = BTreeMap::new();
    for (at, (_, id)) in fields.iter().enumerate() {
        if let Some((file, column)) = column_of(fragment, *id) {
            wanted.entry(file).or_default().push((at, column));
        }
    }
    let maps = wanted.into_iter().map(|(file, columns)| async move {
        let file = reads.open(place, file).await?;
        let numbers: Vec<u32> = columns.iter().map(|(_, column)| *column).collect();
        let request = file.file().zone_maps_of_columns(&numbers);
        let maps = file.run(request.map_err(|error| file.error(error))?).await?;
        Ok(columns.into_iter().map(|(at, _)| at).zip(maps).collect::<Vec<_>>())
    });
    for (at, map) in together::all(maps).await?.into_iter().flatten() {
        if let Some(known) = known.get_mut(at) {
            *known = map.map_or(FieldZones::Unknown, FieldZones::Map);
        }
    }
    Ok(known)
}
