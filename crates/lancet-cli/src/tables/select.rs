//! The rows that a verb is about.

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use lancet_table::{Error as TableError, Table, TableRows};

use super::condition::Condition;
use crate::error::{Error, Result};
use crate::rows::RowList;
use crate::signals::Cancel;

/// The column of the addresses of rows.
pub const ROW_ADDRESS: &str = "_rowaddr";
/// Ids need not exist, so no table bounds how many are given.
const MOST_IDS: usize = 10_000_000;

/// The rows for which a condition holds; without one, all.
pub fn matching(
    table: &Table,
    condition: Option<&Condition>,
    cancel: &Cancel,
) -> lancet_table::Result<TableRows> {
    let mut scan = table.scan().columns([ROW_ADDRESS]);
    if let Some(condition) = condition {
        scan = scan.filter(condition.filter(&table.schema()).map_err(TableError::Invalid)?);
    }
    let mut found = Vec::new();
    let mut batches = scan.build()?;
    while let Some(batch) = batches.next_batch() {
        cancel.check()?;
        found.extend_from_slice(batch?.column(0).as_primitive::<UInt64Type>().values());
    }
    Ok(TableRows::Addresses(found))
}

/// The ids in a list.
pub fn ids(list: &RowList) -> Result<Vec<u64>> {
    let ids: Vec<u64> = list.within(u64::MAX)?.take(MOST_IDS + 1).collect();
    match ids.len() > MOST_IDS {
        true => Err(Error::Usage(format!("--row-ids takes at most {MOST_IDS} ids"))),
        false => Ok(ids),
    }
}
