//! Changes a table as it is told, for comparisons with other writers.
//!
//! ```text
//! change_table < COMMANDS
//! ```
//!
//! A command is a line of JSON: `{"do": "append", "table": FOLDER, "rows": "more.arrow"}`. The answer is a line, too: what the
//! change did, or `{"error": TEXT, "can_retry": BOOL}`. `"at"` names the version that is opened, `"options"` are those of
//! writing.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a tool for tests

mod rows;

use std::error::Error;
use std::io::{BufRead, Write};

use lancet_table::{At, Table, TableChange, TableOptions, TableWriteOptions};
use serde_json::{Value, json};

type Done<T> = Result<T, Box<dyn Error>>;

fn main() -> Done<()> {
    for line in std::io::stdin().lock().lines() {
        let command: Value = serde_json::from_str(&line?)?;
        let answer = match run(&command) {
            Ok(answer) => answer,
            Err(error) => refusal(error.as_ref()),
        };
        println!("{answer}");
        std::io::stdout().flush()?;
    }
    Ok(())
}

fn run(command: &Value) -> Done<Value> {
    match text(command, "do")? {
        "create" => rows::create(command),
        "append" => rows::append(command),
        "overwrite" => rows::overwrite(command),
        "delete" => rows::delete(command),
        "update" => rows::update(command),
        "merge" => rows::merge(command),
        "compact" => rows::compact(command),
        "verify" => rows::verify(command),
        other => Err(format!("`{other}` is not a command").into()),
    }
}

fn refusal(error: &(dyn Error + 'static)) -> Value {
    let can_retry = match error.downcast_ref::<lancet_table::Error>() {
        Some(lancet_table::Error::Conflict(conflict)) => conflict.can_retry,
        _ => false,
    };
    json!({"error": error.to_string(), "can_retry": can_retry})
}

/// The table of a command, at the version that it names.
pub fn open(command: &Value) -> Done<Table> {
    let options = match command.get("at").and_then(Value::as_u64) {
        Some(version) => TableOptions::default().with_version(At::Version(version)),
        None => TableOptions::default(),
    };
    Ok(Table::open_with(text(command, "table")?, options)?)
}

/// A word of a command.
pub fn text<'a>(command: &'a Value, key: &str) -> Done<&'a str> {
    command.get(key).and_then(Value::as_str).ok_or_else(|| format!("`{key}` is missing").into())
}

/// `{"version": "2.1", "stable": true, "max_rows": 7}`
pub fn options(command: &Value) -> Done<TableWriteOptions> {
    let mut options = TableWriteOptions::default();
    let Some(given) = command.get("options") else { return Ok(options) };
    if let Some(version) = given.get("version").and_then(Value::as_str) {
        options = options.with_storage_version(version.parse()?);
    }
    if let Some(stable) = given.get("stable").and_then(Value::as_bool) {
        options = options.with_stable_row_ids(stable);
    }
    if let Some(rows) = given.get("max_rows").and_then(Value::as_u64) {
        options = options.with_max_rows_per_fragment(rows);
    }
    Ok(options)
}

/// What a change did, as an answer.
pub fn told(change: TableChange) -> Value {
    json!({
        "version": change.version,
        "inserted": change.rows_inserted,
        "updated": change.rows_updated,
        "deleted": change.rows_deleted,
    })
}
