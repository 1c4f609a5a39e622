//! Record batches as text: CSV and JSON.
//!
//! Text is made batch by batch in memory and written by the caller, who can then tell a closed pipe from data that text
//! cannot hold. What text would change is written so that lancet reads it back:
//!
//! - CSV: nulls are empty, empty texts are `""`.
//! - JSON: `NaN`, `Infinity` and `-Infinity` are strings.
//! - Times of a zone with a name are written in UTC, with a `Z`.

mod csv;
mod floats;
mod json;

#[cfg(test)]
mod json_tests;

use std::io::Write;

use arrow_array::{Array, RecordBatch};
use arrow_schema::{ArrowError, DataType, Schema};

use crate::format::{Compression, Format};
use crate::show::OutOfRange;
use crate::{terminal, time_zones};

/// Turns batches into the text of a file.
#[derive(Debug)]
pub struct TextEncoder {
    format: Format,
    rows: u64,
    /// Whether a null of the only column was warned of.
    warned: bool,
}

impl TextEncoder {
    /// An encoder, and what the text begins with.
    pub fn new(format: Format, schema: &Schema) -> Result<(Self, Vec<u8>), String> {
        let start = match format {
            Format::Csv | Format::Tsv => csv::header(schema, delimiter(format))?,
            _ => Vec::new(),
        };
        for field in schema.fields() {
            if let Some(zone) = time_zones::moved_zone(field.data_type()) {
                warn(&format!("column `{}`: times of `{zone}` are written in UTC", field.name()));
            }
        }
        Ok((Self { format, rows: 0, warned: false }, start))
    }

    /// The text of a batch.
    pub fn encode(&mut self, batch: &RecordBatch) -> Result<Vec<u8>, String> {
        let batch = time_zones::portable(batch).map_err(|error| error.to_string())?;
        let text = match self.format {
            Format::Csv | Format::Tsv => {
                self.warn_of_null(&batch);
                csv::rows(&batch, delimiter(self.format), self.rows)?
            }
            Format::Json => self.items(&json_lines(&batch, self.rows)?),
            _ => json_lines(&batch, self.rows)?,
        };
        self.rows += batch.num_rows() as u64;
        Ok(text)
    }

    /// What the text ends with.
    pub fn end(&self) -> &'static [u8] {
        match (self.format, self.rows) {
            (Format::Json, 0) => b"[]\n",
            (Format::Json, _) => b"\n]\n",
            _ => b"",
        }
    }

    /// Lines as items of an array.
    fn items(&self, lines: &[u8]) -> Vec<u8> {
        let mut text = Vec::with_capacity(lines.len() + lines.len() / 32);
        let lines = lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        for (row, line) in (self.rows..).zip(lines) {
            text.extend_from_slice(if row == 0 { b"[\n" } else { b",\n" });
            text.extend_from_slice(line);
        }
        text
    }

    /// A line with nothing on it is no record, so a null in the only column has to have quotes.
    fn warn_of_null(&mut self, batch: &RecordBatch) {
        let [only] = batch.columns() else { return };
        let text =
            matches!(only.data_type(), DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
        let null = (0..only.len()).find(|row| only.is_null(*row));
        if let (true, false, Some(row)) = (text, self.warned, null) {
            self.warned = true;
            warn(&format!(
                "column `{}`, row {}: a null in the only column of a CSV file is read as an empty text",
                batch.schema().field(0).name(),
                self.rows + row as u64
            ));
        }
    }
}

fn warn(line: &str) {
    terminal::tell(&format!("warning: {line}"));
}

/// A text file that is being written.
pub struct TextFile<W: Write> {
    encoder: TextEncoder,
    out: Sink<W>,
}

enum Sink<W: Write> {
    Plain(W),
    Gzip(flate2::write::GzEncoder<W>),
    Zstd(zstd::Encoder<'static, W>),
}

impl<W: Write> TextFile<W> {
    /// Begins a file; `out` should have a buffer.
    pub fn new(
        out: W,
        format: Format,
        compression: Compression,
        schema: &Schema,
    ) -> Result<Self, String> {
        let (encoder, start) = TextEncoder::new(format, schema)?;
        let mut out = match compression {
            Compression::None => Sink::Plain(out),
            Compression::Gzip => {
                Sink::Gzip(flate2::write::GzEncoder::new(out, flate2::Compression::default()))
            }
            Compression::Zstd => Sink::Zstd(zstd::Encoder::new(out, 3).map_err(line)?),
        };
        out.write(&start)?;
        Ok(Self { encoder, out })
    }

    /// Appends rows.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<(), String> {
        self.out.write(&self.encoder.encode(batch)?)
    }

    /// Completes the text, and gives back where it went.
    pub fn finish(mut self) -> Result<W, String> {
        self.out.write(self.encoder.end())?;
        match self.out {
            Sink::Plain(out) => Ok(out),
            Sink::Gzip(encoder) => encoder.finish(),
            Sink::Zstd(encoder) => encoder.finish(),
        }
        .map_err(line)
    }
}

impl<W: Write> Sink<W> {
    fn write(&mut self, bytes: &[u8]) -> Result<(), String> {
        match self {
            Self::Plain(out) => out.write_all(bytes),
            Self::Gzip(encoder) => encoder.write_all(bytes),
            Self::Zstd(encoder) => encoder.write_all(bytes),
        }
        .map_err(line)
    }
}

fn line(error: std::io::Error) -> String {
    error.to_string()
}

fn delimiter(format: Format) -> u8 {
    if format == Format::Tsv { b'\t' } else { b',' }
}

/// The rows of a batch as JSON objects, one per line. Nulls are written, so that every line has every column.
/// `first_row` is what errors count from.
pub fn json_lines(batch: &RecordBatch, first_row: u64) -> Result<Vec<u8>, String> {
    json::lines(batch).map_err(|refused| refused.told(batch, first_row))
}

/// What cannot be written as text.
#[derive(Debug)]
struct Refused {
    /// The place of its column.
    column: usize,
    /// The row in its batch, if it is a single value.
    row: Option<usize>,
    error: ArrowError,
}

impl Refused {
    fn of_column(column: usize, error: ArrowError) -> Self {
        Self { column, row: None, error }
    }

    fn of_value(column: usize, row: usize, error: OutOfRange) -> Self {
        Self { column, row: Some(row), error: error.into() }
    }

    fn told(self, batch: &RecordBatch, first_row: u64) -> String {
        let schema = batch.schema();
        let (name, error) = (schema.field(self.column).name(), self.error);
        match self.row {
            None => format!("column `{name}` cannot be written as text: {error}"),
            Some(row) => format!(
                "column `{name}`, row {} of the output (counted from 0), cannot be written as text: {error}; leave \
                 the column out, or write Lance, Arrow or Parquet",
                first_row + row as u64
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::types::Float32Type;
    use arrow_array::{
        ArrayRef, BinaryArray, Float32Array, Float64Array, Int32Array, ListArray, StringArray,
        StructArray, TimestampSecondArray,
    };
    use arrow_schema::Field;

    use super::*;

    fn batch() -> RecordBatch {
        let numbers: ArrayRef = Arc::new(Int32Array::from(vec![Some(1), None]));
        let words: ArrayRef = Arc::new(StringArray::from(vec!["a,b", "c\"d"]));
        let bytes: ArrayRef = Arc::new(BinaryArray::from_vec(vec![b"\x00\xff", b"a"]));
        RecordBatch::try_from_iter([("n", numbers), ("w", words), ("b", bytes)]).unwrap()
    }

    fn text(format: Format, batch: &RecordBatch) -> String {
        let (mut encoder, mut text) = TextEncoder::new(format, &batch.schema()).unwrap();
        text.extend(encoder.encode(batch).unwrap());
        text.extend(encoder.encode(batch).unwrap());
        text.extend(encoder.end());
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn csv_has_one_header() {
        let rows = "1,\"a,b\",00ff\n,\"c\"\"d\",61\n";
        assert_eq!(text(Format::Csv, &batch()), format!("n,w,b\n{rows}{rows}"));
        assert!(text(Format::Tsv, &batch()).starts_with("n\tw\tb\n1\ta,b\t00ff\n"));
    }

    #[test]
    fn json_names_every_column() {
        let (a, b) = (r#"{"n":1,"w":"a,b","b":"00ff"}"#, r#"{"n":null,"w":"c\"d","b":"61"}"#);
        assert_eq!(text(Format::JsonLines, &batch()), format!("{a}\n{b}\n{a}\n{b}\n"));
        assert_eq!(text(Format::Json, &batch()), format!("[\n{a},\n{b},\n{a},\n{b}\n]\n"));
        assert_eq!(text(Format::Json, &batch().slice(0, 0)), "[]\n");
    }

    #[test]
    fn empty_texts_are_no_nulls() {
        let words: ArrayRef = Arc::new(StringArray::from(vec![Some(""), None]));
        let batch = RecordBatch::try_from_iter([("a", words.clone()), ("b", words)]).unwrap();
        assert!(text(Format::Csv, &batch).starts_with("a,b\n\"\",\"\"\n,\n"));
    }

    #[test]
    fn floats_that_are_no_numbers_keep_their_names() {
        let wide = Float64Array::from(vec![Some(0.1), Some(f64::NAN), None]);
        let list = Float32Array::from(vec![0.1, f32::INFINITY, f32::NEG_INFINITY]);
        let list = ListArray::from_iter_primitive::<Float32Type, _, _>(
            list.iter().map(|value| Some(vec![value])),
        );
        let columns = [("w", Arc::new(wide) as ArrayRef), ("l", Arc::new(list) as ArrayRef)];
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let expected = "{\"w\":0.1,\"l\":[0.1]}\n{\"w\":\"NaN\",\"l\":[\"Infinity\"]}\n\
                        {\"w\":null,\"l\":[\"-Infinity\"]}\n";
        assert!(text(Format::JsonLines, &batch).starts_with(expected));
    }

    #[test]
    fn csv_names_the_nested_column() {
        let nested: ArrayRef = Arc::new(StructArray::from(batch()));
        let batch = RecordBatch::try_from_iter([("deep", nested)]).unwrap();
        let message = TextEncoder::new(Format::Csv, &batch.schema()).unwrap_err();
        assert!(message.starts_with("CSV cannot hold the nested column `deep`"), "{message}");
    }

    #[test]
    fn times_of_any_zone_are_written() {
        for zone in ["UTC", "Europe/Zurich", "Nowhere"] {
            let times = TimestampSecondArray::from(vec![0]).with_timezone(zone);
            let nested: ArrayRef = Arc::new(StructArray::from(vec![(
                Arc::new(Field::new("t", times.data_type().clone(), true)),
                Arc::new(times.clone()) as ArrayRef,
            )]));
            let batch = RecordBatch::try_from_iter([("t", Arc::new(times) as ArrayRef)]).unwrap();
            assert!(text(Format::Csv, &batch).starts_with("t\n1970-01-01T00:00:00Z\n"));
            let batch = RecordBatch::try_from_iter([("s", nested)]).unwrap();
            let expected = "{\"s\":{\"t\":\"1970-01-01T00:00:00Z\"}}\n";
            assert!(text(Format::JsonLines, &batch).starts_with(expected), "{zone}");
        }
    }
}
