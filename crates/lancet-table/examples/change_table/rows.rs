//! Changes of rows.

use std::fs::File;

use arrow_ipc::reader::FileReader;
use lancet_table::{CompactOptions, Table, TableRows};
use serde_json::{Value, json};

use crate::{Done, open, options, text, told};

/// The rows in the Arrow file that a command names.
fn rows(command: &Value, key: &str) -> Done<FileReader<File>> {
    Ok(FileReader::try_new(File::open(text(command, key)?)?, None)?)
}

/// `{"ids": [..]}`, `{"addresses": [..]}` or `{"numbers": [..]}`
fn which(command: &Value) -> Done<TableRows> {
    let numbers = |key: &str| -> Option<Vec<u64>> {
        command.get(key)?.as_array()?.iter().map(Value::as_u64).collect()
    };
    if let Some(ids) = numbers("ids") {
        return Ok(TableRows::Ids(ids));
    }
    if let Some(addresses) = numbers("addresses") {
        return Ok(TableRows::Addresses(addresses));
    }
    let numbers = numbers("numbers").ok_or("neither `ids`, `addresses` nor `numbers` are there")?;
    Ok(TableRows::Numbers(numbers))
}

pub fn create(command: &Value) -> Done<Value> {
    let (rows, options) = (rows(command, "rows")?, options(command)?);
    let table = Table::create_with(text(command, "table")?, rows, &options)?;
    Ok(json!({"version": table.version()}))
}

pub fn append(command: &Value) -> Done<Value> {
    let mut table = open(command)?;
    Ok(told(table.append_with(rows(command, "rows")?, &options(command)?)?))
}

pub fn overwrite(command: &Value) -> Done<Value> {
    let mut table = open(command)?;
    Ok(told(table.overwrite_with(rows(command, "rows")?, &options(command)?)?))
}

pub fn delete(command: &Value) -> Done<Value> {
    let mut table = open(command)?;
    Ok(told(table.delete_with(which(command)?, "", &options(command)?)?))
}

pub fn update(command: &Value) -> Done<Value> {
    let (mut table, values) = (open(command)?, rows(command, "rows")?);
    Ok(told(table.update_with(which(command)?, values, &options(command)?)?))
}

pub fn merge(command: &Value) -> Done<Value> {
    let (mut table, values, inserts) =
        (open(command)?, rows(command, "rows")?, rows(command, "inserts")?);
    Ok(told(table.merge_with(which(command)?, values, inserts, &options(command)?)?))
}

/// `{"target": 1000}`
pub fn compact(command: &Value) -> Done<Value> {
    let mut table = open(command)?;
    let target = command.get("target").and_then(Value::as_u64).unwrap_or(1 << 20);
    let plan = CompactOptions::default().with_target_rows(target);
    let done = table.compact(&plan, &options(command)?)?;
    Ok(
        json!({"version": table.version(), "removed": done.fragments_removed, "added": done.fragments_added}),
    )
}

/// Whether the latest version holds what it says.
pub fn verify(command: &Value) -> Done<Value> {
    let table = open(command)?;
    let found = table.verify(|_| ())?;
    let problems: Vec<String> =
        found.problems.iter().map(|problem| format!("{problem:?}")).collect();
    Ok(json!({"version": table.version(), "rows": table.num_rows()?, "problems": problems}))
}
