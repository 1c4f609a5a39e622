//! Files of comma-separated values, whatever it is that separates them.
//!
//! An empty field is null; an empty field in quotes is an empty text.

mod records;
mod sniff;

use std::path::Path;
use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_schema::{DataType, Field, Schema, SchemaRef};

use super::kind::{Kind, Seen};
use super::leaf::{Cell, Leaf, Misfit};
use super::options::TextOptions;
use super::source::{self, Text};
use super::{BATCH_BYTES, Input, batch_rows, misfit_message, stream, words};
use crate::error::{Error, Result};
use crate::format::Format;
use records::{Record, Records};

/// How the fields of a file are written.
#[derive(Debug, Clone)]
struct Dialect {
    delimiter: u8,
    quote: u8,
    escape: Option<u8>,
    comment: Option<u8>,
    header: bool,
}

impl Default for Dialect {
    fn default() -> Self {
        Self { delimiter: b',', quote: b'"', escape: None, comment: None, header: true }
    }
}

/// What a file is read with.
struct Plan {
    dialect: Dialect,
    /// Fields that are null, whatever the type.
    null_values: Vec<String>,
    /// Records that the inference looks at.
    inferred_records: usize,
    /// By column, whether its type was given.
    given: Vec<bool>,
    /// Columns of numbers that no type holds exactly.
    unholdable: Vec<String>,
    schema: SchemaRef,
}

/// Opens a CSV file.
pub fn open(path: &Path, format: Format, options: &TextOptions, quiet: bool) -> Result<Input> {
    let (sample, whole) = source::sample(path)?;
    let dialect = sniff::dialect(&sample, whole, format, options);
    let about = |message: String| Error::new(message).about(path);
    let plan = Plan::new(source::open(path)?, dialect, options).map_err(about)?;
    if !quiet {
        plan.tell(path, format, options);
    }
    let schema = plan.schema.clone();
    let mut rows = Rows::open(source::open(path)?, plan).map_err(about)?;
    let path = path.to_owned();
    let batches = std::iter::from_fn(move || {
        rows.next_batch().map_err(|message| Error::new(message).about(&path)).transpose()
    });
    Ok(stream(schema, None, Box::new(batches)))
}

impl Plan {
    fn new(text: Text, dialect: Dialect, options: &TextOptions) -> Result<Self, String> {
        let null_values = options.null_values.clone().map_or_else(Vec::new, |values| values.0);
        let mut plan = Self {
            dialect,
            null_values,
            inferred_records: options.inferred_records(),
            given: Vec::new(),
            unholdable: Vec::new(),
            schema: Arc::new(Schema::empty()),
        };
        plan.infer(text, &options.given_types())?;
        Ok(plan)
    }

    /// The schema out of the first records.
    fn infer(&mut self, text: Text, given: &[(String, DataType)]) -> Result<(), String> {
        let mut records = Records::new(text, &self.dialect);
        let mut record = Record::default();
        let mut seen: Vec<Seen> = Vec::new();
        let mut names = Vec::new();
        let mut row = 0;
        while row < self.inferred_records.saturating_add(usize::from(self.dialect.header))
            && records.read(&mut record)?
        {
            if row == 0 {
                names = self.names(&record)?;
                seen = vec![Seen::default(); names.len()];
            }
            check_len(&record, names.len())?;
            if row > 0 || !self.dialect.header {
                for ((field, quoted), seen) in record.fields().zip(&mut seen) {
                    let text = text_of(field, &record)?;
                    if !text.is_empty() && !self.is_null(text, quoted) {
                        seen.see(Kind::of(text));
                    }
                }
            }
            row += 1;
        }
        let mut fields = Vec::with_capacity(names.len());
        for (name, seen) in names.iter().zip(&seen) {
            let chosen = given.iter().find(|(column, _)| column == name);
            self.given.push(chosen.is_some());
            if chosen.is_none() && seen.is_unholdable() {
                self.unholdable.push(name.clone());
            }
            let data_type = chosen.map_or_else(|| seen.data_type(), |(_, chosen)| chosen.clone());
            fields.push(Field::new(name, data_type, true));
        }
        if let Some((column, _)) = given.iter().find(|(column, _)| !names.contains(column)) {
            return Err(format!("no column `{column}`; there are: {}", names.join(", ")));
        }
        self.schema = Arc::new(Schema::new(fields));
        Ok(())
    }

    fn names(&self, first: &Record) -> Result<Vec<String>, String> {
        if !self.dialect.header {
            return Ok((1..=first.len()).map(|number| format!("column_{number}")).collect());
        }
        first.fields().map(|(field, _)| text_of(field, first).map(str::to_owned)).collect()
    }

    fn is_null(&self, text: &str, quoted: bool) -> bool {
        (text.is_empty() && !quoted) || self.null_values.iter().any(|null| null == text)
    }

    /// Says what was found, where it is not what everybody expects.
    fn tell(&self, path: &Path, format: Format, options: &TextOptions) {
        words::tell_unholdable(path, &self.unholdable);
        let expected = if format == Format::Tsv { b'\t' } else { b',' };
        let asked = options.delimiter.is_some() || self.dialect.delimiter == expected;
        if asked && (self.dialect.header || options.no_header) {
            return;
        }
        let delimiter = match self.dialect.delimiter {
            b'\t' => "tabs".to_owned(),
            other => format!("`{}`", char::from(other)),
        };
        let header = if self.dialect.header { "header" } else { "no header" };
        let columns = crate::units::counted(self.given.len() as u64, "column");
        words::tell(&format!(
            "{}: {delimiter} between fields, {header}, {columns}",
            path.display()
        ));
    }
}

/// The rows of a file, batch by batch.
struct Rows {
    plan: Plan,
    records: Records<Text>,
    record: Record,
    columns: Vec<Leaf>,
    /// Rows of earlier batches.
    done: u64,
}

impl Rows {
    fn open(text: Text, plan: Plan) -> Result<Self, String> {
        let mut records = Records::new(text, &plan.dialect);
        let mut record = Record::default();
        if plan.dialect.header {
            records.read(&mut record)?;
        }
        let fields = plan.schema.fields().iter().zip(&plan.given);
        let columns = fields.map(|(field, given)| Leaf::new(field.data_type(), *given)).collect();
        Ok(Self { plan, records, record, columns, done: 0 })
    }

    fn next_batch(&mut self) -> Result<Option<RecordBatch>, String> {
        let most = batch_rows(&self.plan.schema, 0);
        let mut lines: Vec<u64> = Vec::new();
        let mut bytes = 0;
        while lines.len() < most && bytes < BATCH_BYTES && self.records.read(&mut self.record)? {
            check_len(&self.record, self.columns.len())?;
            lines.push(self.record.line);
            bytes += self.record.bytes() as u64;
            self.push(lines.len() - 1).map_err(|misfit| self.message(misfit, &lines))?;
        }
        if lines.is_empty() {
            return Ok(None);
        }
        let mut arrays = Vec::with_capacity(self.columns.len());
        for at in 0..self.columns.len() {
            let finished = self.columns.get_mut(at).map(Leaf::finish);
            if let Some(finished) = finished {
                arrays.push(finished.map_err(|misfit| {
                    let column = self.plan.schema.field(at).name().clone();
                    self.message(Misfit { column, ..misfit }, &lines)
                })?);
            }
        }
        self.done += lines.len() as u64;
        let options = RecordBatchOptions::new().with_row_count(Some(lines.len()));
        let batch = RecordBatch::try_new_with_options(self.plan.schema.clone(), arrays, &options);
        batch.map(Some).map_err(|error| error.to_string())
    }

    fn push(&mut self, row: usize) -> Result<(), Misfit> {
        let fields = self.record.fields().zip(&mut self.columns).enumerate();
        for (at, ((field, quoted), column)) in fields {
            let named = |message: String, given: bool| Misfit {
                row,
                column: self.plan.schema.field(at).name().clone(),
                message,
                given,
            };
            let text = text_of(field, &self.record).map_err(|message| named(message, true))?;
            let no_text = text.is_empty() && !column.holds_text();
            if no_text || self.plan.is_null(text, quoted) {
                column.push_null(row);
            } else {
                column
                    .push(Cell::Field(text), row)
                    .map_err(|misfit| named(misfit.message, misfit.given))?;
            }
        }
        Ok(())
    }

    fn message(&self, misfit: Misfit, lines: &[u64]) -> String {
        let line = lines.get(misfit.row).copied().unwrap_or_default();
        let row = self.done + misfit.row as u64 + 1;
        misfit_message(&misfit, row, line, self.plan.inferred_records)
    }
}

fn check_len(record: &Record, columns: usize) -> Result<(), String> {
    if record.len() == columns {
        return Ok(());
    }
    Err(format!(
        "line {} has {}, but the first one has {}; see --delimiter, --quote and --comment",
        record.line,
        crate::units::counted(record.len() as u64, "field"),
        columns
    ))
}

fn text_of<'a>(field: &'a [u8], record: &Record) -> Result<&'a str, String> {
    std::str::from_utf8(field).map_err(|_| {
        format!(
            "line {} is not UTF-8: {}; convert the file first: iconv -f LATIN1 -t UTF-8 IN > OUT",
            record.line,
            super::leaf::shown(&String::from_utf8_lossy(field))
        )
    })
}
