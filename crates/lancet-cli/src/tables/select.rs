//! The rows that a verb is about.

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_select::filter::filter_record_batch;
use lancet_table::columns::ROW_ADDRESS;
use lancet_table::{Error as TableError, Table, TableRows};

use super::clause::{Chosen, Where};
use crate::signals::Cancel;

/// The rows for which a condition holds, batch by batch, or all: their addresses, and columns that are asked for.
pub fn rows_where<'a>(
    table: &Table,
    condition: Option<&Where>,
    columns: &[String],
    cancel: &'a Cancel,
) -> lancet_table::Result<impl Iterator<Item = lancet_table::Result<RecordBatch>> + use<'a>> {
    let mut columns = columns.to_vec();
    columns.push(ROW_ADDRESS.into());
    let chosen = condition.map(|condition| condition.of(&table.schema())).transpose();
    let (filter, expression) = match chosen.map_err(TableError::Invalid)? {
        Some(Chosen::Filter(filter)) => (Some(filter), None),
        Some(Chosen::Expression(expression)) => {
            columns.extend_from_slice(expression.columns());
            (None, Some(expression))
        }
        None => (None, None),
    };
    let mut scan = table.scan().columns(columns);
    if let Some(filter) = filter {
        scan = scan.filter(filter);
    }
    let mut batches = scan.build()?;
    Ok(std::iter::from_fn(move || {
        let batch = batches.next_batch()?;
        Some(cancel.check().and(batch).and_then(|batch| match &expression {
            Some(expression) => Ok(filter_record_batch(&batch, &expression.holds(&batch)?)?),
            None => Ok(batch),
        }))
    }))
}

/// The addresses of the rows for which a condition holds.
pub fn matching(
    table: &Table,
    condition: &Where,
    cancel: &Cancel,
) -> lancet_table::Result<TableRows> {
    let mut found = Vec::new();
    for batch in rows_where(table, Some(condition), &[], cancel)? {
        found.extend_from_slice(addresses(&batch?)?);
    }
    Ok(TableRows::Addresses(found))
}

/// The addresses of rows.
fn addresses(rows: &RecordBatch) -> lancet_table::Result<&[u64]> {
    let column = rows.column_by_name(ROW_ADDRESS);
    let column = column.and_then(|column| column.as_primitive_opt::<UInt64Type>());
    let column = column.ok_or_else(|| TableError::Invalid("rows have no addresses".into()))?;
    Ok(column.values())
}
