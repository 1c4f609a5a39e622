//! Text cut into records and fields.
//!
//! csv-core does the cutting; here is what it does not tell: which empty fields had quotes, on which line a record is,
//! and that a record is too long to be one.

use std::io::BufRead;

use csv_core::{ReadFieldResult, Reader, ReaderBuilder};

use super::Dialect;
use crate::input::source::MAX_RECORD_BYTES;

/// Most fields of a record.
const MAX_FIELDS: usize = 1 << 20;

/// One record.
#[derive(Debug, Default)]
pub struct Record {
    /// The line on which it begins, from 1.
    pub line: u64,
    data: Vec<u8>,
    /// Where each field ends in `data`, and whether it was empty in quotes.
    ends: Vec<(usize, bool)>,
}

impl Record {
    /// Number of fields.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Bytes of all fields.
    pub fn bytes(&self) -> usize {
        self.data.len()
    }

    /// The bytes of the fields, and whether they were empty in quotes.
    pub fn fields(&self) -> impl Iterator<Item = (&[u8], bool)> {
        let mut start = 0;
        self.ends.iter().map(move |(end, quoted)| {
            let field = self.data.get(start..*end).unwrap_or_default();
            start = *end;
            (field, *quoted)
        })
    }
}

/// The records of a text.
pub struct Records<R> {
    text: R,
    parser: Reader,
    quote: u8,
    /// Whether quotes inside of fields are doubled, not escaped: then a closed field has an even number of them.
    doubled: bool,
    /// Line ends that were read.
    newlines: u64,
    /// Where the parser puts the bytes of a field.
    output: Vec<u8>,
}

impl<R: BufRead> Records<R> {
    pub fn new(text: R, dialect: &Dialect) -> Self {
        let parser = ReaderBuilder::new()
            .delimiter(dialect.delimiter)
            .quote(dialect.quote)
            .escape(dialect.escape)
            .double_quote(dialect.escape.is_none())
            .comment(dialect.comment)
            .build();
        Self {
            text,
            parser,
            quote: dialect.quote,
            doubled: dialect.escape.is_none(),
            newlines: 0,
            output: vec![0; 1 << 12],
        }
    }

    /// Reads the next record; false at the end.
    pub fn read(&mut self, record: &mut Record) -> Result<bool, String> {
        record.data.clear();
        record.ends.clear();
        record.line = self.newlines + 1;
        let mut field_start = 0;
        let mut field = Quotes::default();
        loop {
            let input = self.text.fill_buf().map_err(|error| error.to_string())?;
            let (result, read, written) = self.parser.read_field(input, &mut self.output);
            let consumed = input.get(..read).unwrap_or_default();
            record.data.extend_from_slice(self.output.get(..written).unwrap_or_default());
            field.see(consumed, self.quote);
            let lines = consumed.iter().filter(|byte| **byte == b'\n').count() as u64;
            let ends_line = consumed.last() == Some(&b'\n');
            self.newlines += lines;
            self.text.consume(read);
            if record.data.len() > MAX_RECORD_BYTES || record.ends.len() > MAX_FIELDS {
                return Err(format!(
                    "the record at line {} is longer than {} MiB or {} fields; is a quote not closed?",
                    record.line,
                    MAX_RECORD_BYTES >> 20,
                    MAX_FIELDS
                ));
            }
            match result {
                ReadFieldResult::InputEmpty | ReadFieldResult::OutputFull => {}
                ReadFieldResult::End => return Ok(false),
                ReadFieldResult::Field { record_end } => {
                    let empty = record.data.len() == field_start;
                    record.ends.push((record.data.len(), empty && field.number > 0));
                    field_start = record.data.len();
                    let field = std::mem::take(&mut field);
                    if record_end {
                        let inside = record.data.iter().filter(|byte| **byte == b'\n').count();
                        let line = self.newlines + u64::from(!ends_line);
                        record.line = line.saturating_sub(inside as u64).max(1);
                        // At the end of the file, the parser closes what is open.
                        if read == 0 && self.doubled && field.is_open() {
                            let line = record.line;
                            return Err(format!(
                                "a quote of the record at line {line} is not closed"
                            ));
                        }
                        return Ok(true);
                    }
                }
            }
        }
    }
}

/// The quotes of one field.
#[derive(Debug, Default)]
struct Quotes {
    /// Whether the field begins with one, where it has begun.
    first: Option<bool>,
    number: usize,
}

impl Quotes {
    fn see(&mut self, bytes: &[u8], quote: u8) {
        if self.first.is_none() {
            let first = bytes.iter().find(|byte| !matches!(byte, b'\r' | b'\n'));
            self.first = first.map(|byte| *byte == quote);
        }
        self.number += bytes.iter().filter(|byte| **byte == quote).count();
    }

    fn is_open(&self) -> bool {
        self.first == Some(true) && !self.number.is_multiple_of(2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(text: &str) -> Vec<(u64, Vec<(String, bool)>)> {
        // One byte at a time: a boundary of a buffer may be anywhere.
        let text = std::io::BufReader::with_capacity(1, text.as_bytes());
        let mut records = Records::new(text, &Dialect::default());
        let mut record = Record::default();
        let mut found = Vec::new();
        while records.read(&mut record).unwrap() {
            let field = |(bytes, quoted): (&[u8], bool)| {
                (String::from_utf8(bytes.to_vec()).unwrap(), quoted)
            };
            found.push((record.line, record.fields().map(field).collect()));
        }
        found
    }

    #[test]
    fn quoted_empty_fields_are_told_from_empty_ones() {
        let found = records("a,\"\",,\"b\"\n\"\"\n,\n");
        let fields = |text: &[(&str, bool)]| -> Vec<(String, bool)> {
            text.iter().map(|(text, quoted)| ((*text).to_owned(), *quoted)).collect()
        };
        assert_eq!(found[0].1, fields(&[("a", false), ("", true), ("", false), ("b", false)]));
        assert_eq!(found[1].1, fields(&[("", true)]));
        assert_eq!(found[2].1, fields(&[("", false), ("", false)]));
    }

    #[test]
    fn quotes_have_to_be_closed() {
        let read = |text: &str| {
            let mut records = Records::new(text.as_bytes(), &Dialect::default());
            let mut record = Record::default();
            while records.read(&mut record)? {}
            Ok::<(), String>(())
        };
        for sound in ["\"a\"", "\"a \"\"b\"\"\"", "5\" pipe", "\"\"", "x,\"a\"\n", ""] {
            assert_eq!(read(sound), Ok(()), "{sound}");
        }
        for open in ["\"", "a\n\"b\nc,d\n", "x,\"a\"\"", "x,\"a\"\"\n"] {
            assert!(read(open).unwrap_err().ends_with("is not closed"), "{open}");
        }
    }

    #[test]
    fn records_know_their_lines() {
        let lines = |text: &str| records(text).iter().map(|(line, _)| *line).collect::<Vec<_>>();
        assert_eq!(lines("a\nb\nc"), [1, 2, 3]);
        assert_eq!(lines("a\r\nb\r\nc\r\n"), [1, 2, 3]);
        assert_eq!(lines("a\n\n\nb\n\"c\nd\"\ne\n"), [1, 4, 5, 7]);
    }
}
