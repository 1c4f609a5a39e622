//! Does one thing to a table, for comparisons with what other programs make of the same.
//!
//! ```text
//! maintain_table TABLE '{"do": "compact", "target": 1000}'
//! ```
//!
//! What it did is printed as JSON.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a tool for tests

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{ArrayRef, Int32Array, Int64Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use lancet_table::{At, CleanupOptions, CompactOptions, Table, TableOptions, TableWriteOptions};
use serde_json::{Value, json};

type Done<T> = Result<T, Box<dyn Error>>;

fn main() -> Done<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, command] = arguments.as_slice() else {
        return Err("usage: maintain_table TABLE JSON".into());
    };
    let command: Value = serde_json::from_str(command)?;
    let at = match (command["version"].as_u64(), command["of"].as_str()) {
        (Some(version), _) => At::Version(version),
        (None, Some(branch)) if command["do"] == "branch" => At::Branch(branch.into()),
        _ => At::Latest,
    };
    if command["do"] == "create" {
        let rows = command["rows"].as_str().ok_or("`rows` is missing")?;
        let rows = arrow_ipc::reader::FileReader::try_new(std::fs::File::open(rows)?, None)?;
        Table::create(folder, rows)?;
        println!("{{}}");
        return Ok(());
    }
    let options = TableOptions::default().with_any_base(true).with_version(at);
    let mut table = Table::open_with(folder, options)?;
    let mut answer = act(&mut table, &command)?;
    answer["version"] = json!(table.version());
    println!("{answer}");
    Ok(())
}

fn act(table: &mut Table, command: &Value) -> Done<Value> {
    let text = |key: &str| command[key].as_str().ok_or_else(|| format!("`{key}` is missing"));
    let options = TableWriteOptions::default();
    match text("do")? {
        "compact" => {
            let target = command["target"].as_u64().unwrap_or(1 << 20);
            let plan = CompactOptions::default().with_target_rows(target);
            let done = table.compact(&plan, &options)?;
            let lost: Vec<_> =
                done.indexes.iter().map(|lost| json!([lost.name, lost.rows])).collect();
            return Ok(json!({
                "fragments_removed": done.fragments_removed,
                "fragments_added": done.fragments_added,
                "rows": done.rows,
                "deleted_rows": done.deleted_rows,
                "indexes": lost,
            }));
        }
        "cleanup" => {
            let age = Duration::from_secs(command["older_than"].as_u64().unwrap_or(0));
            let plan = CleanupOptions::default().with_older_than(age);
            let dry_run = command["dry_run"].as_bool().unwrap_or(false);
            let done = table.cleanup(&plan.with_dry_run(dry_run))?;
            return Ok(json!({
                "versions": done.versions,
                "files": done.files,
                "bytes": done.bytes,
                "young": done.young_files,
            }));
        }
        "add_nulls" => {
            let bytes = from_hex(text("schema")?)?;
            let schema = arrow_ipc::convert::try_schema_from_ipc_buffer(&bytes)?;
            table.add_null_columns(&schema, &options)?;
        }
        "add_multiple" => {
            let (of, times) = (text("of")?, command["times"].as_i64().unwrap_or(1));
            let new = Arc::new(Schema::new(vec![Field::new(text("name")?, DataType::Int64, true)]));
            let values = |rows: &RecordBatch| {
                let array: Int64Array =
                    rows[of].as_primitive::<Int64Type>().unary(|n| n.wrapping_mul(times));
                Ok(RecordBatch::try_new(new.clone(), vec![Arc::new(array)])?)
            };
            table.add_columns(new.clone(), [of], values, &options)?;
        }
        "add_constant" => {
            let value = i32::try_from(command["value"].as_i64().unwrap_or(0))?;
            let field = Field::new(text("name")?, DataType::Int32, false);
            table.add_constant_column(field, Arc::new(Int32Array::from(vec![value])), &options)?;
        }
        "drop" => {
            let names = command["names"].as_array().ok_or("`names` is missing")?;
            let names: Vec<&str> = names.iter().filter_map(Value::as_str).collect();
            table.drop_columns(&names, &options)?;
        }
        "rename" => table.rename_column(text("name")?, text("to")?, &options)?,
        "widen" => {
            let widen = |array: &ArrayRef| {
                let numbers = array.as_primitive::<Int32Type>();
                let wide: Int64Array = numbers.iter().map(|n| n.map(i64::from)).collect();
                Ok(Arc::new(wide) as ArrayRef)
            };
            table.retype_column(text("name")?, &DataType::Int64, widen, &options)?;
        }
        "restore" => table.restore(&options)?,
        "tag" => table.create_tag(text("name")?)?,
        "retag" => table.move_tag(text("name")?)?,
        "untag" => table.delete_tag(text("name")?)?,
        "branch" => drop(table.create_branch(text("name")?)?),
        "delete_branch" => table.delete_branch(text("name")?)?,
        "clone" => drop(table.shallow_clone(text("to")?)?),
        other => return Err(format!("`{other}` is not known").into()),
    }
    Ok(json!({}))
}

fn from_hex(text: &str) -> Done<Vec<u8>> {
    let digits = text.as_bytes().chunks(2);
    digits.map(|pair| Ok(u8::from_str_radix(std::str::from_utf8(pair)?, 16)?)).collect()
}
