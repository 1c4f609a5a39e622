//! The forms that a Lance file may give a column: each is written, read and timed.

use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use lancet::{FileReader, FileWriter, Profile, ReadOptions, Version, WriteOptions, WriteSummary};

use super::memory::value_bytes;
use super::{Candidate, typical_time};
use crate::error::{Error, Result};

/// The name of the column in the files that are tried.
const NAME: &str = "c";
/// Rows that are taken one by one to learn what one costs.
const TAKES: usize = 33;

/// Options of a column, by their names in field metadata.
pub type Options = &'static [(&'static str, &'static str)];

const NO_DICTIONARY: (&str, &str) = ("dict-divisor", "1000000000");
const NO_RUNS: (&str, &str) = ("rle-threshold", "0");
const DICTIONARY: [(&str, &str); 2] = [("dict-divisor", "1"), ("dict-size-ratio", "1")];

/// Ways to write numbers.
const NUMBERS: [Options; 11] = [
    &[("compression", "none")],
    &[("general", "off"), NO_DICTIONARY, NO_RUNS],
    &[("general", "off"), NO_DICTIONARY, ("rle-threshold", "1")],
    &[("general", "off"), DICTIONARY[0], DICTIONARY[1]],
    &[("compression", "lz4"), ("bss", "off"), NO_DICTIONARY, NO_RUNS],
    &[("compression", "zstd"), ("bss", "off"), NO_DICTIONARY, NO_RUNS],
    &[("compression", "lz4"), ("bss", "on"), NO_DICTIONARY],
    &[("compression", "zstd"), ("bss", "on"), NO_DICTIONARY],
    &[("compression", "zstd"), ("bss", "off"), NO_DICTIONARY, ("rle-threshold", "1")],
    &[("compression", "lz4"), DICTIONARY[0], DICTIONARY[1]],
    &[("compression", "zstd"), DICTIONARY[0], DICTIONARY[1]],
];

/// Ways to write strings.
const STRINGS: [Options; 9] = [
    &[("compression", "none")],
    &[("compression", "fsst"), NO_DICTIONARY],
    &[("compression", "lz4"), NO_DICTIONARY],
    &[("compression", "zstd"), NO_DICTIONARY],
    &[("compression", "zstd"), NO_DICTIONARY, ("minichunk-size", "65536")],
    &[("general", "off"), DICTIONARY[0], DICTIONARY[1]],
    &[("compression", "zstd"), DICTIONARY[0], DICTIONARY[1]],
    &[("structural-encoding", "fullzip"), ("compression", "none")],
    &[("structural-encoding", "fullzip"), ("compression", "zstd")],
];

/// Ways to write everything else.
const OTHERS: [Options; 5] = [
    &[("compression", "none")],
    &[("general", "off")],
    &[("compression", "lz4")],
    &[("compression", "zstd")],
    &[("structural-encoding", "fullzip")],
];

/// A column to be tried.
#[derive(Debug)]
pub struct Trial {
    schema: SchemaRef,
    column: ArrayRef,
    version: Version,
}

/// A file of one column.
struct Tried {
    summary: WriteSummary,
    file: Vec<u8>,
    time: Duration,
}

impl Trial {
    pub fn new(field: &Field, column: ArrayRef, version: Version) -> Self {
        let field = Field::new(NAME, field.data_type().clone(), true);
        Self { schema: Arc::new(Schema::new(vec![field])), column, version }
    }

    /// What the writer takes by itself, first, then the other forms it knows, each once.
    pub fn candidates(&self, profile: Profile) -> Result<Vec<Candidate>> {
        let mut found: Vec<Candidate> = Vec::new();
        let ways: &[Options] = match self.schema.field(0).data_type() {
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => &STRINGS,
            DataType::Binary | DataType::LargeBinary | DataType::BinaryView => &STRINGS,
            other if other.primitive_width().is_some() => &NUMBERS,
            _ => &OTHERS,
        };
        for options in [&[][..]].into_iter().chain(ways.iter().copied()) {
            // Not every option fits every type.
            let Ok(tried) = self.write(self.column.len(), profile, options) else { continue };
            let form = form(&tried.summary);
            if found.iter().any(|known| known.form == form) {
                continue;
            }
            let (decode, row) = self.read(&tried)?;
            found.push(Candidate {
                form,
                options: Some(options),
                bytes: bytes(&tried.summary),
                encode: tried.time,
                decode,
                row,
            });
        }
        Ok(found)
    }

    /// Bytes that `file_rows` rows with these options would take in a file, all told.
    pub fn predict(&self, profile: Profile, options: Options, file_rows: u64) -> Result<u64> {
        let rows = self.column.len();
        let whole = self.write(rows, profile, options)?;
        let pages = whole.summary.num_pages.max(1);
        if rows as u64 >= file_rows || rows < 2 {
            return Ok(whole.file.len() as u64);
        }
        let beside = (whole.file.len() as u64).saturating_sub(bytes(&whole.summary)) / pages;
        let scale = file_rows as f64 / rows as f64;
        let column_bytes = value_bytes(&self.column);
        let page_bytes = WriteOptions::default().page_bytes() as f64;
        let file_pages = (column_bytes as f64 * scale / page_bytes).ceil().max(1.0);
        let values = if pages > 1 {
            bytes(&whole.summary) as f64 * scale
        } else {
            // What does not grow with the rows (a dictionary, a symbol table) comes once a page.
            let half = bytes(&self.write(rows / 2, profile, options)?.summary) as f64;
            let all = bytes(&whole.summary) as f64;
            let a_row = (all - half) / (rows - rows / 2) as f64;
            let fixed = (all - a_row * rows as f64).clamp(0.0, all);
            fixed * file_pages + a_row * file_rows as f64
        };
        Ok((values + beside as f64 * file_pages).max(0.0) as u64)
    }

    fn write(&self, rows: usize, profile: Profile, options: Options) -> Result<Tried> {
        let failed = |error: lancet::Error| Error::new(error.to_string());
        let mut write_options =
            WriteOptions::default().with_version(self.version).with_profile(profile);
        for (key, value) in options {
            write_options.column(NAME).set(key, value).map_err(failed)?;
        }
        let batch = RecordBatch::try_new(self.schema.clone(), vec![self.column.slice(0, rows)]);
        let batch = batch.map_err(|error| Error::new(error.to_string()))?;
        let start = Instant::now();
        let mut file = Vec::new();
        let mut writer =
            FileWriter::new(&mut file, self.schema.clone(), write_options).map_err(failed)?;
        writer.write(&batch).map_err(failed)?;
        let (summary, _) = writer.finish_into().map_err(failed)?;
        Ok(Tried { summary, file, time: start.elapsed() })
    }

    /// The time of a scan, and of a take of one row.
    fn read(&self, tried: &Tried) -> Result<(Duration, Duration)> {
        let failed = |error: lancet::Error| Error::new(error.to_string());
        let reader =
            FileReader::from_bytes(tried.file.clone(), ReadOptions::default()).map_err(failed)?;
        let scan = typical_time(3, |_| {
            let mut batches = reader.scan().threads(1).build().map_err(failed)?;
            batches.try_for_each(|batch| batch.map(drop).map_err(|error| failed(error.into())))
        })?;
        let rows = reader.num_rows();
        if rows == 0 {
            return Ok((scan, Duration::ZERO));
        }
        let row = typical_time(TAKES, |i| {
            // Steps of the golden ratio reach all parts of the column.
            let row = (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) % rows;
            reader.take(&[row]).map(drop).map_err(failed)
        })?;
        Ok((scan, row))
    }
}

/// The form of the first page of each column of the file.
fn form(summary: &WriteSummary) -> String {
    let columns = summary.columns.iter().filter_map(|column| column.pages.first());
    let forms: Vec<_> = columns.map(|page| format!("{}, {}", page.layout, page.encoding)).collect();
    forms.join("; ")
}

/// Bytes of all pages.
fn bytes(summary: &WriteSummary) -> u64 {
    summary.columns.iter().flat_map(|column| &column.pages).map(|page| page.bytes).sum()
}
