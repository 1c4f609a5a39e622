//! One bit of a copy is flipped: who notices?

use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_select::concat::concat_batches;
use lancet::{Corrupt, FileReader, ReadOptions};

use super::message;
use super::write::Written;
use crate::error::{Error, InFile, Result};

/// The column that is damaged.
pub const COLUMN: &str = "price";
const BIT: u8 = 1 << 4;
const COMPARED_ROWS: usize = 1_024;

/// What was damaged, and what came of it.
pub struct Damage {
    pub path: PathBuf,
    /// The byte with the flipped bit.
    pub byte: u64,
    /// What `verify` says first.
    pub problem: Corrupt,
    /// A read that compares checksums.
    pub checked: ReadBack,
    /// A read as it is by default.
    pub plain: ReadBack,
}

/// How a read of the damaged column ended.
#[derive(Debug)]
pub enum ReadBack {
    Error(String),
    /// So many rows differ from what was written.
    Rows {
        wrong: u64,
    },
}

/// Damages a copy and reads it in three ways.
pub fn damage(file: &Written, path: &Path) -> Result<Damage> {
    let mut bytes = std::fs::read(&file.path).in_file(&file.path)?;
    let place = place(&file.open()?).map_err(|error| error.about(&file.path))?;
    if let Some(byte) = usize::try_from(place).ok().and_then(|place| bytes.get_mut(place)) {
        *byte ^= BIT;
    }
    std::fs::write(path, &bytes).in_file(path)?;

    let verified = FileReader::open(path).and_then(|reader| reader.verify()).in_file(path)?;
    let unnoticed = || Error::new("`verify` did not notice the damage").about(path);
    let problem = verified.problems.into_iter().next().ok_or_else(unnoticed)?;
    let right = column(&file.path, false).in_file(&file.path)?;
    let read_back = |checked: bool| match column(path, checked) {
        Err(error) => ReadBack::Error(error.to_string()),
        Ok(read) => ReadBack::Rows { wrong: count_wrong(&read, &right) },
    };
    let (checked, plain) = (read_back(true), read_back(false));
    Ok(Damage { path: path.to_owned(), byte: place, problem, checked, plain })
}

/// The middle of the last buffer of the column's first page.
fn place(reader: &FileReader) -> Result<u64> {
    let report = reader.inspect().map_err(message)?;
    let column = report.columns.iter().find(|column| column.name == COLUMN);
    let buffer = column.and_then(|column| column.pages.first()?.buffers.last());
    let buffer = buffer.ok_or_else(|| Error::new(format!("no bytes of the column `{COLUMN}`")))?;
    Ok(buffer.position + buffer.bytes / 2)
}

/// The damaged column.
fn column(path: &Path, checked: bool) -> lancet::Result<RecordBatch> {
    let options = ReadOptions::default().with_verify_checksums(checked);
    let reader = FileReader::open_with(path, options)?;
    let batches = reader.scan().columns([COLUMN]).build()?;
    let schema = batches.schema();
    let batches = batches.collect::<Result<Vec<_>, _>>()?;
    Ok(concat_batches(&schema, &batches)?)
}

/// Rows that differ. Most are alike, so many are compared at once.
fn count_wrong(read: &RecordBatch, right: &RecordBatch) -> u64 {
    let part = |batch: &RecordBatch, start: usize, len: usize| {
        let end = batch.num_rows().min(start.saturating_add(len));
        batch.slice(start.min(end), end.saturating_sub(start))
    };
    let differ = |start: &usize, len| part(read, *start, len) != part(right, *start, len);
    let rows = read.num_rows().max(right.num_rows());
    let starts = (0..rows).step_by(COMPARED_ROWS).filter(|start| differ(start, COMPARED_ROWS));
    let rows = starts.flat_map(|start| start..rows.min(start + COMPARED_ROWS));
    rows.filter(|row| differ(row, 1)).count() as u64
}
