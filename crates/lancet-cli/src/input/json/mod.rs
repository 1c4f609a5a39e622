//! JSON objects as rows: one per line, in one array, or one after the other.

mod columns;
mod entries;
mod infer;
mod split;

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_schema::{DataType, Field, Fields, Schema, SchemaRef};

use super::leaf::Misfit;
use super::options::TextOptions;
use super::source::{self, Text};
use super::{BATCH_BYTES, Input, batch_rows, misfit_message, stream, words};
use crate::error::{Error, Result};
use columns::Struct;
use entries::Entries;
use split::Objects;

/// How deep values nest at most.
const MAX_NESTING: usize = 64;

/// The types that were given, by the path of the column.
type Given = HashMap<String, DataType>;

/// Opens a JSON file.
pub fn open(path: &Path, options: &TextOptions, quiet: bool) -> Result<Input> {
    let about = |message: String| Error::new(message).about(path);
    let given: Given = options.given_types().into_iter().collect();
    let inferred_records = options.inferred_records();
    let columns = infer::columns(source::open(path)?, inferred_records, &given).map_err(about)?;
    if !quiet {
        words::tell_unholdable(path, &columns.unholdable());
    }
    let fields = columns.fields();
    if let Some(missing) = given.keys().find(|column| !has(&fields, column)) {
        let names: Vec<_> = fields.iter().map(|field| field.name().as_str()).collect();
        return Err(about(format!("no column `{missing}`; there are: {}", names.join(", "))));
    }
    let fields = with_types(&fields, "", &given);
    let schema = Arc::new(Schema::new(fields.clone()));
    let mut rows = Rows {
        objects: Objects::new(source::open(path)?),
        columns: Struct::new(&fields, "", &given),
        schema: schema.clone(),
        inferred_records,
        done: 0,
    };
    let path = path.to_owned();
    let batches = std::iter::from_fn(move || {
        rows.next_batch().map_err(|message| Error::new(message).about(&path)).transpose()
    });
    Ok(stream(schema, None, Box::new(batches)))
}

/// A record whose values are not yet looked into.
fn parse(object: &[u8], record: u64, line: u64) -> Result<Entries<'_>, String> {
    serde_json::from_slice(object)
        .map_err(|error| format!("record {record} (line {line}) is not JSON: {error}"))
}

/// The path of a field.
fn join(path: &str, name: &str) -> String {
    match (path, name) {
        ("", only) | (only, "") => only.to_owned(),
        _ => format!("{path}.{name}"),
    }
}

/// Whether there is a column at that path.
fn has(fields: &Fields, path: &str) -> bool {
    fields.iter().any(|field| match (path.strip_prefix(field.name().as_str()), field.data_type()) {
        (Some(""), _) => true,
        (Some(rest), DataType::Struct(children)) => {
            rest.strip_prefix('.').is_some_and(|rest| has(children, rest))
        }
        _ => false,
    })
}

fn with_types(fields: &Fields, path: &str, given: &Given) -> Fields {
    let field = |field: &Arc<Field>| {
        let path = join(path, field.name());
        let data_type = match (given.get(&path), field.data_type()) {
            (Some(chosen), _) => chosen.clone(),
            (None, DataType::Struct(children)) => {
                DataType::Struct(with_types(children, &path, given))
            }
            (None, other) => other.clone(),
        };
        field.as_ref().clone().with_data_type(data_type)
    };
    fields.iter().map(field).collect()
}

/// The rows of a file, batch by batch.
struct Rows {
    objects: Objects<Text>,
    columns: Struct,
    schema: SchemaRef,
    inferred_records: usize,
    /// Rows of earlier batches.
    done: u64,
}

impl Rows {
    fn next_batch(&mut self) -> Result<Option<RecordBatch>, String> {
        let most = batch_rows(&self.schema, 0);
        let (mut lines, mut bytes, mut object) = (Vec::new(), 0, Vec::new());
        while lines.len() < most && bytes < BATCH_BYTES && self.objects.read(&mut object)? {
            bytes += object.len() as u64;
            lines.push(self.objects.line);
            let Entries(entries) = parse(&object, self.objects.records, self.objects.line)?;
            self.columns
                .push(&entries, lines.len() - 1)
                .map_err(|misfit| self.message(&misfit, &lines))?;
        }
        if lines.is_empty() {
            return Ok(None);
        }
        let arrays = self.columns.finish().map_err(|misfit| self.message(&misfit, &lines))?;
        self.columns.clear();
        self.done += lines.len() as u64;
        let options = RecordBatchOptions::new().with_row_count(Some(lines.len()));
        let batch = RecordBatch::try_new_with_options(self.schema.clone(), arrays, &options);
        batch.map(Some).map_err(|error| error.to_string())
    }

    fn message(&self, misfit: &Misfit, lines: &[u64]) -> String {
        let line = lines.get(misfit.row).copied().unwrap_or_default();
        let row = self.done + misfit.row as u64 + 1;
        misfit_message(misfit, row, line, self.inferred_records)
    }
}
