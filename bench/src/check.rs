//! Whether a contender reads what was written: every value of a scan and of a take, before
//! anything is measured.

use anyhow::{Context, Result, ensure};
use arrow_array::{RecordBatch, UInt64Array};
use arrow_cast::cast;
use arrow_select::take::take_record_batch;

use crate::contender::Reader;
use crate::table::Table;

/// Compares a full scan, the one-column scan, a take and one of a column with the table.
pub fn check(reader: &dyn Reader, table: &Table, rows: &[u64]) -> Result<()> {
    let whole = compare(&table.batch, |visit| reader.scan(None, Some(visit)));
    whole.context("a scan")?;
    let index = table.batch.schema().index_of(table.column)?;
    let column = table.batch.project(&[index])?;
    let column = compare(&column, |visit| reader.scan(Some(table.column), Some(visit)));
    column.context("a scan of one column")?;
    let taken = take_record_batch(&table.batch, &UInt64Array::from(rows.to_vec()))?;
    compare(&taken, |visit| reader.take(rows, None, Some(visit))).context("a take")?;
    let taken = taken.project(&[index])?;
    let column = compare(&taken, |visit| reader.take(rows, Some(table.column), Some(visit)));
    column.context("a take of one column")
}

type Visitor<'a> = dyn FnMut(RecordBatch) -> Result<()> + 'a;

/// Compares what is read with what is expected. Types may differ where the values are the same,
/// string views for strings say.
fn compare(
    expected: &RecordBatch,
    read: impl FnOnce(&mut Visitor<'_>) -> Result<usize>,
) -> Result<()> {
    let mut at = 0;
    let rows = read(&mut |batch: RecordBatch| {
        let rows = batch.num_rows();
        ensure!(at + rows <= expected.num_rows(), "more than {} rows", expected.num_rows());
        ensure!(batch.num_columns() == expected.num_columns(), "{} columns", batch.num_columns());
        let part = expected.slice(at, rows);
        for (index, (found, expected)) in batch.columns().iter().zip(part.columns()).enumerate() {
            let found = cast(found, expected.data_type())?;
            let name = part.schema().field(index).name().clone();
            ensure!(&found == expected, "column {name} differs in rows {at}..{}", at + rows);
        }
        at += rows;
        Ok(())
    })?;
    ensure!(at == expected.num_rows(), "{at} rows for {}", expected.num_rows());
    ensure!(rows == at, "{rows} rows counted, {at} read");
    Ok(())
}
