//! `lancet schema`: the fields of a file as a tree.

use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use arrow_schema::{DataType, Field, SchemaRef};
use lancet::ReadOptions;
use serde_json::{Map, Value, json};

use crate::error::{InFile, Result};
use crate::format::Format;
use crate::input::{Selection, TextOptions};
use crate::places::{self, Access, FormatName, InputFile, TableArgs};
use crate::{terminal, units};

const EXAMPLES: &str = "\
Examples:
  lancet schema orders.lance
  lancet schema orders.lance --json
  lancet schema orders.parquet
  lancet schema cities.lance/ --version 3     a table
  lancet schema 'part-*.lance' --json | jq '.[].rows'

JSON is one object for one file, and a list of them for several or for a pattern.";

/// Whose schema to show.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Files or tables to read: paths, patterns such as 'part-*.lance', URLs, - for standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Format of the files, if their endings do not tell
    #[arg(long, value_name = "FORMAT", value_parser = FormatName::parse)]
    from: Option<FormatName>,
    #[command(flatten)]
    access: Access,
    #[command(flatten)]
    text: TextOptions,
    #[command(flatten)]
    table: TableArgs,
}

/// What a file says about itself.
struct Described {
    format: &'static str,
    version: Option<String>,
    rows: Option<u64>,
    schema: SchemaRef,
}

/// Runs the command.
pub fn run(args: &Args, quiet: bool, out: &mut dyn Write) -> Result<()> {
    let files = places::expand(&args.files)?;
    args.access.check(files.paths.iter().map(PathBuf::as_path))?;
    let mut reports = Vec::new();
    for (number, path) in files.paths.iter().enumerate() {
        let described = args.describe(path, quiet)?;
        if args.json {
            reports.push(described.to_json(path));
            continue;
        }
        if number > 0 {
            writeln!(out)?;
        }
        described.write(path, out)?;
    }
    match reports.as_slice() {
        _ if !args.json => {}
        [report] if !files.several => writeln!(out, "{report:#}")?,
        _ => writeln!(out, "{:#}", Value::from(reports))?,
    }
    Ok(())
}

impl Args {
    fn describe(&self, path: &Path, quiet: bool) -> Result<Described> {
        let (from, access, options) = (self.from.as_ref(), &self.access, ReadOptions::default());
        let file = InputFile::or_table(path, from, access, &self.table, options)?
            .with_text(&self.text, quiet)?;
        let format = file.format().name();
        if let Some(input) = file.table() {
            let columns = input.table.project(input.columns(&[])).in_file(path)?;
            let rows = Some(input.table.num_rows().in_file(path)?);
            let version = Some(input.table.version().to_string());
            let (format, schema) = ("Lance table, version", columns.schema());
            return Ok(Described { format, version, rows, schema });
        }
        if file.format() == Format::Lance {
            let reader = file.reader()?;
            let version = Some(reader.version().to_string());
            let (schema, rows) = (reader.schema(), Some(reader.num_rows()));
            return Ok(Described { format, version, rows, schema });
        }
        let input = file.rows(&Selection::default())?;
        Ok(Described { format, version: None, rows: input.file_rows, schema: input.schema })
    }
}

impl Described {
    fn to_json(&self, path: &Path) -> Value {
        json!({
            "file": path.display().to_string(),
            "format": self.format.trim_end_matches(", version"),
            "version": self.version,
            "rows": self.rows,
            "metadata": metadata_json(self.schema.metadata()),
            "fields": self.schema.fields().iter().map(|f| field_json(f)).collect::<Vec<_>>(),
        })
    }

    fn write(&self, path: &Path, out: &mut dyn Write) -> Result<()> {
        let version = self.version.as_ref().map(|v| format!(" {v}")).unwrap_or_default();
        let rows = self.rows.map(|n| format!(", {}", units::rows(n))).unwrap_or_default();
        let (path, format) = (path.display(), self.format);
        terminal::line(out, &format!("{path}: {format}{version}{rows}"))?;
        for field in self.schema.fields() {
            write_field(field, 1, out)?;
        }
        if !self.schema.metadata().is_empty() {
            writeln!(out, "metadata")?;
            write_metadata(self.schema.metadata(), 1, out)?;
        }
        Ok(())
    }
}

fn write_field(field: &Field, depth: usize, out: &mut dyn Write) -> Result<()> {
    let null = if field.is_nullable() { "" } else { " not null" };
    let indent = "  ".repeat(depth);
    let (name, kind) = (field.name().escape_debug(), kind(field.data_type()));
    terminal::line(out, &format!("{indent}{name}: {kind}{null}"))?;
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
