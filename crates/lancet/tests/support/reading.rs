//! Reads a file in every way there is and compares with the table it should hold.

use std::ops::Range;

use arrow_array::RecordBatch;
use lancet::{Batches, FileReader};

use super::{Check, Doing, Failure, Random, compare, select};

/// Checks everything that a reader of the file can answer.
pub fn everything(name: &str, reader: &FileReader, table: &RecordBatch) -> Check {
    let random = &mut Random::seeded(name);
    same("num_rows", reader.num_rows(), table.num_rows() as u64)?;
    compare::schemas(&reader.schema(), &table.schema())
        .map_err(|difference| Failure::Wrong(format!("schema: {difference}")))?;
    whole(reader, table)?;
    ranges(reader, table, random)?;
    takes(reader, table, random)?;
    projections(reader, table, random)
}

/// Fails unless a number is what it should be.
pub fn same<T: PartialEq + std::fmt::Display>(what: &str, got: T, want: T) -> Check {
    match got == want {
        true => Ok(()),
        false => Err(Failure::Wrong(format!("{what}: {got} instead of {want}"))),
    }
}

fn whole(reader: &FileReader, table: &RecordBatch) -> Check {
    let rows = table.num_rows();
    scanned("scan", reader.scan().build(), table, 8_192)?;
    for batch_rows in [7, 100] {
        // A file of many rows in tiny batches takes long and shows nothing new.
        if rows / batch_rows <= 400 {
            let scan = reader.scan().batch_rows(batch_rows).build();
            scanned(&format!("scan by {batch_rows} rows"), scan, table, batch_rows)?;
        }
    }
    Ok(())
}

fn ranges(reader: &FileReader, table: &RecordBatch, random: &mut Random) -> Check {
    let rows = table.num_rows() as u64;
    let mut ranges =
        vec![0..0, 0..rows.min(1), rows.saturating_sub(1)..rows, rows / 2..rows / 2, rows..rows];
    for _ in 0..6 {
        let start = random.below(rows);
        ranges.push(start..start + random.below(rows - start + 1));
    }
    for range in ranges {
        let batch_rows = 1 + random.below(1_500) as usize;
        let scan = reader.scan().rows(range.clone()).batch_rows(batch_rows).build();
        let what = format!("scan of rows {range:?} by {batch_rows}");
        scanned(&what, scan, &slice(table, &range), batch_rows)?;
    }
    Ok(())
}

fn takes(reader: &FileReader, table: &RecordBatch, random: &mut Random) -> Check {
    let rows = table.num_rows() as u64;
    let got = reader.take(&[]).doing(|| "take of nothing".into())?;
    equal("take of nothing", &got, &table.slice(0, 0))?;
    match reader.take(&[rows]) {
        Err(lancet::Error::Invalid(_)) => {}
        Err(error) => return Err(Failure::from_error("take after the end", &error)),
        Ok(_) => return Err(Failure::Wrong(format!("take of row {rows} of {rows} gives a row"))),
    }
    if rows == 0 {
        return Ok(());
    }
    let mut takes = vec![vec![0], vec![rows - 1], vec![rows - 1, 0, rows - 1, 0]];
    for count in [1, 3, 20, 200] {
        takes.push((0..count).map(|_| random.below(rows)).collect());
    }
    let mut ascending = takes[takes.len() - 1].clone();
    ascending.sort_unstable();
    takes.push(ascending);
    for take in takes {
        let what = || format!("take of {take:?}");
        equal(&what(), &reader.take(&take).doing(what)?, &select::take(table, &take))?;
    }
    Ok(())
}

fn projections(reader: &FileReader, table: &RecordBatch, random: &mut Random) -> Check {
    let rows = table.num_rows() as u64;
    for path in select::paths(&table.schema()) {
        let want = select::project(table, &path);
        let name = path.join(".");
        scanned(
            &format!("scan of column {name:?}"),
            reader.scan().columns([&name]).build(),
            &want,
            8_192,
        )?;

        let start = random.below(rows);
        let range = start..start + random.below(rows - start + 1);
        let scan = reader.scan().columns([&name]).rows(range.clone()).build();
        scanned(
            &format!("scan of column {name:?}, rows {range:?}"),
            scan,
            &slice(&want, &range),
            8_192,
        )?;

        let take: Vec<u64> = (0..rows.min(9)).map(|_| random.below(rows)).collect();
        let what = || format!("take of column {name:?}, rows {take:?}");
        let got = reader.take_columns(&take, [&name]).doing(what)?;
        equal(&what(), &got, &select::take(&want, &take))?;
    }
    let every_second: Vec<usize> = (0..table.num_columns()).step_by(2).collect();
    let want = select::project_columns(table, &every_second);
    let names: Vec<String> = want.schema().fields().iter().map(|f| f.name().clone()).collect();
    scanned("scan of every second column", reader.scan().columns(&names).build(), &want, 8_192)
}

fn slice(table: &RecordBatch, rows: &Range<u64>) -> RecordBatch {
    table.slice(rows.start as usize, (rows.end - rows.start) as usize)
}

/// Compares batch by batch; batches must hold 1 to `batch_rows` rows.
fn scanned(
    what: &str,
    batches: lancet::Result<Batches>,
    want: &RecordBatch,
    batch_rows: usize,
) -> Check {
    let batches = batches.doing(|| what.into())?;
    compare::schemas(&batches.schema(), &want.schema()).map_err(|difference| {
        Failure::Wrong(format!("{what}: schema of the scan: {difference}"))
    })?;
    let mut done = 0;
    for batch in batches {
        let batch =
            batch.map_err(lancet::Error::from).doing(|| format!("{what}, from row {done}"))?;
        let rows = batch.num_rows();
        if rows == 0 || rows > batch_rows || rows > want.num_rows() - done {
            let total = want.num_rows();
            return Err(Failure::Wrong(format!(
                "{what}: a batch of {rows} rows after {done} of {total}"
            )));
        }
        equal(&format!("{what}, from row {done}"), &batch, &want.slice(done, rows))?;
        done += rows;
    }
    same(&format!("{what}: rows"), done, want.num_rows())
}

fn equal(what: &str, got: &RecordBatch, want: &RecordBatch) -> Check {
    compare::batches(got, want)
        .map_err(|difference| Failure::Wrong(format!("{what}: {difference}")))
}
