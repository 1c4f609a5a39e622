//! Checks the zone maps of a file: their rules, and that every row keeps to the bounds of its zone.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_buffer::NullBuffer;

use super::verify::{Verification, read};
use crate::container::zone_place::ZonePlace;
use crate::error::{Corrupt, Error, Locate, Result};
use crate::read::file::OpenFile;
use crate::read::steps::Io;
use crate::read::zone_maps::{MappedLeaf, decode};
use crate::zones::gather::Gatherer;
use crate::zones::map::ZoneMap;

/// Rows that are read at a time.
const READ_ROWS: u64 = 1 << 16;
/// Rows for which a byte of the file vouches; a constant page may claim any number, and then the first
/// ones stand for all.
const ROWS_PER_BYTE: u64 = 64;

/// Checks the maps of all columns, which are loaded; rows only if nothing was wrong before.
pub(super) async fn verify(file: &Arc<OpenFile>, io: &Io, found: &mut Verification) -> Result<()> {
    let read_rows = found.is_clean();
    for leaf in MappedLeaf::all(&file.nodes) {
        let Some((place, num_rows)) = file.zone_place(leaf.column) else { continue };
        let loaded = load(file, io, &leaf, place, num_rows).await;
        let Some(map) = found.note(loaded.in_column(leaf.column))? else { continue };
        found.num_zone_maps = found.num_zone_maps.saturating_add(1);
        if read_rows {
            let checked = check_rows(file, io, &leaf, &map).await;
            found.note(checked.in_column(leaf.column))?;
        }
    }
    Ok(())
}

async fn load(
    file: &OpenFile,
    io: &Io,
    leaf: &MappedLeaf,
    place: Result<ZonePlace, Corrupt>,
    num_rows: u64,
) -> Result<ZoneMap> {
    let place = place.map_err(|corrupt| Error::Corrupt(Box::new(corrupt)))?;
    let bytes = file.read_buffer(io, place.span).await?;
    decode(file, &leaf.data_type, &place, num_rows, bytes)
}

/// Gathers the bounds of the rows anew, some zones at a time, and compares.
async fn check_rows(file: &Arc<OpenFile>, io: &Io, leaf: &MappedLeaf, map: &ZoneMap) -> Result<()> {
    let columns = leaf.projection(file)?;
    file.load_columns(io, &columns).await?;
    let most = file.index.file_bytes.saturating_mul(ROWS_PER_BYTE).saturating_add(READ_ROWS);
    let zones_at_a_time = READ_ROWS.checked_div(map.rows_per_zone()).unwrap_or(1).max(1);
    let mut first = 0_usize;
    while first < map.num_zones() && map.rows(first).start < most {
        let after = first.saturating_add(usize::try_from(zones_at_a_time).unwrap_or(usize::MAX));
        let after = after.min(map.num_zones());
        let rows = map.rows(first).start..map.rows(after.saturating_sub(1)).end;
        if rows.end.saturating_sub(rows.start) > most {
            return Ok(());
        }
        let rows_per_zone = u32::try_from(map.rows_per_zone()).unwrap_or(u32::MAX);
        let Some(mut zones) = Gatherer::new(&leaf.data_type, rows_per_zone, usize::MAX) else {
            return Ok(());
        };
        for part in parts(rows) {
            let (values, valid) = leaf_of(&read(file, io, &columns, part).await?);
            zones.push(&values, valid.as_ref())?;
        }
        map.check_values(first, &zones.finish()?)?;
        first = after;
    }
    Ok(())
}

fn parts(rows: Range<u64>) -> impl Iterator<Item = Range<u64>> {
    let mut start = rows.start;
    std::iter::from_fn(move || {
        let end = start.saturating_add(READ_ROWS).min(rows.end);
        let part = start..end;
        start = end;
        (!part.is_empty()).then_some(part)
    })
}

/// The leaf in a batch of one column, and which of its rows are not null.
fn leaf_of(batch: &RecordBatch) -> (ArrayRef, Option<NullBuffer>) {
    let mut values = batch.column(0).clone();
    let mut valid = None;
    while let Some(array) = values.as_struct_opt() {
        valid = NullBuffer::union(valid.as_ref(), array.nulls());
        let child = array.columns().first().cloned();
        let Some(child) = child else { break };
        values = child;
    }
    let valid = NullBuffer::union(valid.as_ref(), values.logical_nulls().as_ref());
    (values, valid)
}
