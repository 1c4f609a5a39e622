//! `lancet schema`: the fields of a file as a tree.

use std::collections::HashMap;
use std::io::Write;
use std::path::PathBuf;

use arrow_schema::{DataType, Field};
use lancet::FileReader;
use serde_json::{Map, Value, json};

use crate::error::{InFile, Result};
use crate::format::{Format, check_is_file};
use crate::input::{self, TextOptions};
use crate::units;

const EXAMPLES: &str = "\
Examples:
  lancet schema orders.lance
  lancet schema orders.lance --json
  lancet schema orders.parquet";

/// Whose schema to show.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// File to read
    file: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    text: TextOptions,
}

/// Runs the command.
pub fn run(args: &Args, quiet: bool, out: &mut dyn Write) -> Result<()> {
    check_is_file(&args.file)?;
    let format = Format::from_path(&args.file)?;
    args.text.check(format)?;
    let (schema, rows, version) = if format == Format::Lance {
        let reader = FileReader::open(&args.file).in_file(&args.file)?;
        (reader.schema(), Some(reader.num_rows()), Some(reader.version().to_string()))
    } else {
        let input = input::open_input(&args.file, None, &args.text, quiet)?;
        (input.schema, input.file_rows, None)
    };

    if args.json {
        let report = json!({
            "file": args.file.display().to_string(),
            "format": format.name(),
            "version": version,
            "rows": rows,
            "metadata": metadata_json(schema.metadata()),
            "fields": schema.fields().iter().map(|f| field_json(f)).collect::<Vec<_>>(),
        });
        writeln!(out, "{report:#}")?;
        return Ok(());
    }

    let version = version.map(|version| format!(" {version}")).unwrap_or_default();
    let rows = rows.map(|n| format!(", {}", units::rows(n))).unwrap_or_default();
    writeln!(out, "{}: {}{version}{rows}", args.file.display(), format.name())?;
    for field in schema.fields() {
        write_field(field, 1, out)?;
    }
    if !schema.metadata().is_empty() {
        writeln!(out, "metadata")?;
        write_metadata(schema.metadata(), 1, out)?;
    }
    Ok(())
}

fn write_field(field: &Field, depth: usize, out: &mut dyn Write) -> Result<()> {
    let null = if field.is_nullable() { "" } else { " not null" };
    let indent = "  ".repeat(depth);
    let (name, kind) = (field.name().escape_debug(), kind(field.data_type()));
    writeln!(out, "{indent}{name}: {kind}{null}")?;
    write_metadata(field.metadata(), depth + 2, out)?;
    children(field.data_type()).iter().try_for_each(|child| write_field(child, depth + 1, out))
}

fn write_metadata(
    metadata: &HashMap<String, String>,
    depth: usize,
    out: &mut dyn Write,
) -> Result<()> {
    for (key, value) in sorted(metadata) {
        let indent = "  ".repeat(depth);
        writeln!(out, "{indent}{} = {}", key.escape_debug(), value.escape_debug())?;
    }
    Ok(())
}

fn field_json(field: &Field) -> Value {
    let children = children(field.data_type());
    json!({
        "name": field.name(),
        "type": kind(field.data_type()),
        "nullable": field.is_nullable(),
        "metadata": metadata_json(field.metadata()),
        "children": children.into_iter().map(field_json).collect::<Vec<_>>(),
    })
}

fn metadata_json(metadata: &HashMap<String, String>) -> Value {
    let entry = |(key, value): (&String, &String)| (key.clone(), Value::from(value.clone()));
    Value::Object(sorted(metadata).into_iter().map(entry).collect::<Map<_, _>>())
}

fn sorted(metadata: &HashMap<String, String>) -> Vec<(&String, &String)> {
    let mut entries: Vec<_> = metadata.iter().collect();
    entries.sort();
    entries
}

/// The type without its children, which stand below it in the tree.
fn kind(data_type: &DataType) -> String {
    match data_type {
        DataType::Struct(_) => "Struct".into(),
        DataType::List(_) => "List".into(),
        DataType::LargeList(_) => "LargeList".into(),
        DataType::FixedSizeList(_, len) => format!("FixedSizeList({len})"),
        DataType::Map(_, _) => "Map".into(),
        other => other.to_string(),
    }
}

fn children(data_type: &DataType) -> Vec<&Field> {
    match data_type {
        DataType::Struct(fields) => fields.iter().map(|f| f.as_ref()).collect(),
        DataType::List(field)
        | DataType::LargeList(field)
        | DataType::FixedSizeList(field, _)
        | DataType::Map(field, _) => vec![field.as_ref()],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn nested() -> Field {
        let item = Field::new("item", DataType::Float32, true);
        let vector = Field::new("v", DataType::FixedSizeList(Arc::new(item), 3), false);
        let metadata = HashMap::from([("unit".into(), "m\n".into()), ("a".into(), "b".into())]);
        Field::new("point", DataType::Struct(vec![vector].into()), true).with_metadata(metadata)
    }

    #[test]
    fn fields_are_a_tree() {
        let mut out = Vec::new();
        write_field(&nested(), 1, &mut out).unwrap();
        let expected = "  point: Struct\n      a = b\n      unit = m\\n\n    \
                        v: FixedSizeList(3) not null\n      item: Float32\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn json_has_the_same_tree() {
        let json = field_json(&nested());
        assert_eq!(json["metadata"]["unit"], "m\n");
        assert_eq!(json["children"][0]["nullable"], false);
        assert_eq!(json["children"][0]["children"][0]["type"], "Float32");
    }
}
