//! Writes all rows of all versions of a table as Arrow files, for comparisons with other readers.
//!
//! ```text
//! dump_table TABLE FOLDER
//! ```
//!
//! Version 3 becomes `FOLDER/v3.arrow`: all fields, then the ids and addresses of the rows and, with stable row ids, their
//! versions. What takes, selections and filters give is compared with the scan here.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a tool for tests

use std::error::Error;
use std::fs::File;
use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{Array, ArrayRef, RecordBatch, UInt64Array};
use arrow_ipc::writer::FileWriter;
use lancet::{Filter, RowRanges};
use lancet_table::{At, Flags, Table, TableBatches};

type Done<T> = Result<T, Box<dyn Error>>;

fn main() -> Done<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [table, folder] = arguments.as_slice() else {
        return Err("usage: dump_table TABLE FOLDER".into());
    };
    let latest = Table::open(table)?;
    for version in latest.versions() {
        let table = latest.checkout(At::Version(*version))?;
        dump(&table, &Path::new(folder).join(format!("v{version}.arrow")))
            .map_err(|error| format!("version {version}: {error}"))?;
    }
    for tag in latest.tags()? {
        println!("tag {} {}", tag.name, latest.checkout(At::Tag(tag.name.clone()))?.version());
    }
    Ok(())
}

fn dump(table: &Table, path: &Path) -> Done<()> {
    let mut columns: Vec<String> =
        table.schema().fields().iter().map(|field| field.name().clone()).collect();
    columns.extend(["_rowid".to_owned(), "_rowaddr".to_owned()]);
    if table.manifest().reader_flags.contains(Flags::STABLE_ROW_IDS) {
        columns.push("_row_created_at_version".into());
        columns.push("_row_last_updated_at_version".into());
    }
    let rows = collect(table.scan().columns(columns.clone()).build()?)?;
    check(table, &columns, &rows)?;
    let mut writer = FileWriter::try_new(File::create(path)?, &rows.schema())?;
    writer.write(&rows)?;
    writer.finish()?;
    Ok(())
}

fn collect(batches: TableBatches) -> Done<RecordBatch> {
    let schema = batches.schema();
    let batches = batches.collect::<Result<Vec<_>, _>>()?;
    Ok(arrow_select::concat::concat_batches(&schema, &batches)?)
}

/// Every other way to read rows gives those of the scan.
fn check(table: &Table, columns: &[String], rows: &RecordBatch) -> Done<()> {
    let num_rows = rows.num_rows() as u64;
    if table.num_rows()? != num_rows {
        return Err(format!("{num_rows} rows, but {} are counted", table.num_rows()?).into());
    }
    let some: Vec<u64> =
        (0..num_rows.min(50)).map(|row| row.wrapping_mul(7919) % num_rows).collect();
    let wanted = taken(rows, &some)?;
    let numbers = |name: &str| wanted[name].as_primitive::<UInt64Type>().values().to_vec();
    let projection = table.project(columns.to_vec())?;
    same("take", &table.take(&some, &projection)?, &wanted)?;
    same("by address", &table.take_addresses(&numbers("_rowaddr"), &projection)?, &wanted)?;
    same("by id", &table.take_row_ids(&numbers("_rowid"), &projection)?, &wanted)?;
    let range = num_rows / 3..num_rows - num_rows / 4;
    let scan = table.scan().columns(&projection).batch_rows(11).threads(2);
    let got = collect(scan.select(RowRanges::from(range.clone())).build()?)?;
    same("range", &got, &taken(rows, &range.collect::<Vec<_>>())?)?;
    for name in columns.iter().filter(|name| rows[name.as_str()].null_count() > 0) {
        let column = &rows[name.as_str()];
        let null: Vec<u64> = (0..num_rows).filter(|row| column.is_null(*row as usize)).collect();
        let scan = table.scan().columns(&projection).filter(Filter::is_null(name.as_str()));
        same(&format!("null {name}"), &collect(scan.build()?)?, &taken(rows, &null)?)?;
    }
    Ok(())
}

fn taken(batch: &RecordBatch, rows: &[u64]) -> Done<RecordBatch> {
    let rows = UInt64Array::from(rows.to_vec());
    let take = |array: &ArrayRef| arrow_select::take::take(array, &rows, None);
    let columns = batch.columns().iter().map(take).collect::<Result<Vec<_>, _>>()?;
    Ok(RecordBatch::try_new(batch.schema(), columns)?)
}

fn same(what: &str, got: &RecordBatch, want: &RecordBatch) -> Done<()> {
    if got == want { Ok(()) } else { Err(format!("{what}: other rows than the scan").into()) }
}
