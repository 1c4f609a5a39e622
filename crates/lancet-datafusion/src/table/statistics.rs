//! What is known of a table before its rows are read: how many there are, from the manifest, and what zone maps say.
//!
//! Zone maps know nothing of deletions. Where rows are deleted, bounds hold all the same but may be those of a deleted row,
//! and nulls are at most as many: both are told as inexact then.

use arrow_schema::Schema;
use datafusion::catalog::Session;
use datafusion::common::stats::Precision;
use datafusion::common::{Statistics, exec_err};
use datafusion::error::{DataFusionError, Result};
use futures::{StreamExt, TryStreamExt, stream};
use lancet_table::{FieldZones, StoreTable};

use super::{OpenTable, of_table};
use crate::statistics::{Known, exact, fill};

/// With more fragments than this, opening all their files takes longer than a better plan saves.
const MAX_FRAGMENTS: usize = 4096;

/// The statistics of a table: rows, and of some columns nulls and bounds where zone maps of all fragments tell.
pub(super) async fn of_table_columns(
    open: &OpenTable,
    schema: &Schema,
    columns: &[usize],
    state: &dyn Session,
) -> Result<Statistics> {
    let table = &open.opened(state.runtime_env()).await?.table;
    let num_rows = table.num_rows().await.map_err(of_table)?;
    if i64::try_from(num_rows).is_err() {
        return exec_err!("{}: has {num_rows} rows, more than a query can count", open.path());
    }
    let mut statistics = Statistics::new_unknown(schema);
    statistics.num_rows = exact(num_rows);
    let fragments = &table.manifest().fragments;
    let bytes = fragments.iter().flat_map(|fragment| &fragment.files);
    let bytes = bytes.map(|file| file.size_bytes).sum::<Option<u64>>();
    statistics.total_byte_size = bytes.map_or(Precision::Absent, |bytes| exact(bytes).to_inexact());
    statistics.calculate_total_byte_size(schema);
    let options = &state.config_options().execution;
    if !options.collect_statistics || fragments.len() > MAX_FRAGMENTS {
        return Ok(statistics);
    }
    let wanted: Vec<(usize, &str)> = columns
        .iter()
        .filter_map(|at| Some((*at, schema.fields().get(*at)?)))
        .filter(|(_, field)| !field.data_type().is_nested())
        .map(|(at, field)| (at, field.name().as_str()))
        .collect();
    let names: Vec<&str> = wanted.iter().map(|(_, name)| *name).collect();
    let concurrency = options.meta_fetch_concurrency.get();
    let known = merged(table, schema, &names, concurrency).await?;
    for ((at, _), known) in wanted.iter().zip(known) {
        if let (Some(known), Some(column)) = (known, statistics.column_statistics.get_mut(*at)) {
            fill(column, &known, schema.field(*at).data_type());
        }
    }
    Ok(statistics)
}

/// What all fragments together say of each column; none where one of them does not know.
async fn merged(
    table: &StoreTable,
    schema: &Schema,
    names: &[&str],
    concurrency: usize,
) -> Result<Vec<Option<Known>>> {
    let mut known: Vec<Option<Known>> = vec![Some(Known::default()); names.len()];
    if names.is_empty() {
        return Ok(known);
    }
    let fragments = table.manifest().fragments.iter();
    let fragments: Vec<(u32, bool)> = fragments
        .filter(|fragment| fragment.num_rows() != Some(0))
        .map(|fragment| (fragment.id, fragment.deletion_file.is_some()))
        .collect();
    let load = |(id, has_deletions): (u32, bool)| async move {
        let fragment = table.fragment(id).map_err(of_table)?;
        let zones = fragment.zones(names).await.map_err(of_table)?;
        let rows = fragment.physical_rows().await.map_err(of_table)?;
        Ok::<_, DataFusionError>((zones, rows, has_deletions))
    };
    let mut loaded = stream::iter(fragments).map(load).buffer_unordered(concurrency);
    while let Some((zones, rows, has_deletions)) = loaded.try_next().await? {
        for ((known, zones), name) in known.iter_mut().zip(zones).zip(names) {
            let Some(sum) = known.as_mut() else { continue };
            let is_known = match zones {
                FieldZones::Missing => {
                    sum.add_nulls(rows);
                    true
                }
                FieldZones::Map(map) => {
                    let data_type = schema.field_with_name(name)?.data_type();
                    sum.add(&map.statistics(), data_type)
                }
                _ => false,
            };
            sum.exact &= !has_deletions;
            sum.exact_nulls &= !has_deletions;
            if !is_known {
                *known = None;
            }
        }
        if known.iter().all(Option::is_none) {
            break;
        }
    }
    Ok(known)
}
