//! What stands between the fields of a CSV file, and whether its first record names the columns.

use arrow_schema::DataType;

use super::Dialect;
use super::records::{Record, Records};
use crate::format::Format;
use crate::input::kind::{Kind, Seen};
use crate::input::options::TextOptions;

/// Records that are looked at.
const LOOKED_AT: usize = 200;
const CANDIDATES: [u8; 4] = [b',', b';', b'\t', b'|'];

/// Finds out what the options leave open, from the first bytes of a text.
pub fn dialect(sample: &[u8], whole: bool, format: Format, options: &TextOptions) -> Dialect {
    let mut dialect = Dialect {
        quote: options.quote.unwrap_or(b'"'),
        escape: options.escape,
        comment: options.comment,
        ..Dialect::default()
    };
    let last = if whole { None } else { sample.iter().rposition(|byte| *byte == b'\n') };
    let sample = last.and_then(|end| sample.get(..=end)).unwrap_or(sample);
    dialect.delimiter = match (options.delimiter, format) {
        (Some(given), _) => given,
        (None, Format::Tsv) => b'\t',
        (None, _) => delimiter(sample, &dialect, whole),
    };
    let records = records(sample, &dialect, whole);
    dialect.header = options.header || (!options.no_header && has_header(&records));
    dialect
}

/// The first records as text; the last one may be cut where the sample ends, so it does not count.
fn records(sample: &[u8], dialect: &Dialect, whole: bool) -> Vec<Vec<String>> {
    let mut records = Records::new(sample, dialect);
    let mut record = Record::default();
    let mut found = Vec::new();
    while found.len() < LOOKED_AT && records.read(&mut record).unwrap_or(false) {
        let text = |(field, _): (&[u8], bool)| String::from_utf8_lossy(field).into_owned();
        found.push(record.fields().map(text).collect());
    }
    if !whole && found.len() > 1 && found.len() < LOOKED_AT {
        found.pop();
    }
    found
}

/// The character that cuts all records into the same number of fields, the most if several do. Where none does, the one
/// that agrees with the first record most often, so that the error tells which record differs.
fn delimiter(sample: &[u8], dialect: &Dialect, whole: bool) -> u8 {
    let mut best = (b',', 0, 1);
    for delimiter in CANDIDATES {
        let records = records(sample, &Dialect { delimiter, ..dialect.clone() }, whole);
        let fields = records.first().map_or(0, Vec::len);
        let agree = records.iter().filter(|record| record.len() == fields).count();
        if fields < 2 {
            continue;
        }
        let all = agree == records.len();
        let score = if all { usize::MAX } else { agree };
        let decimal_commas = best.0 == b',' && all && records.iter().all(|r| has_decimal_commas(r));
        if (score, fields) > (best.1, best.2) || (delimiter == b';' && decimal_commas) {
            best = (delimiter, score, fields);
        }
    }
    best.0
}

/// Whether every comma is one of a number such as `1,5`: then commas do not separate.
fn has_decimal_commas(record: &[String]) -> bool {
    record.iter().filter(|field| field.contains(',')).all(|field| is_decimal_comma(field))
}

fn is_decimal_comma(field: &str) -> bool {
    let (whole, fraction) = field.split_once(',').unwrap_or_default();
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    digits(whole.strip_prefix('-').unwrap_or(whole)) && digits(fraction)
}

/// The first record is a row like the others if it has a number, a date or a boolean above such values, and no value
/// that does not fit to those below it. Words above words are taken for names.
fn has_header(records: &[Vec<String>]) -> bool {
    let Some((first, rest)) = records.split_first() else { return true };
    let mut values = 0;
    for (at, field) in first.iter().enumerate().filter(|(_, field)| !field.is_empty()) {
        let mut seen = Seen::default();
        let below = rest.iter().filter_map(|record| record.get(at));
        below.filter(|field| !field.is_empty()).for_each(|field| seen.see(kind(field)));
        let nothing = seen == Seen::default();
        let before = seen.data_type();
        seen.see(kind(field));
        let with = seen.data_type();
        values += usize::from(with != DataType::Utf8);
        if !nothing && (before == DataType::Utf8) != (with == DataType::Utf8) {
            return true; // a name above values
        }
    }
    values == 0
}

/// What a field is, with numbers such as `1,5` among the numbers.
fn kind(field: &str) -> Kind {
    if is_decimal_comma(field) { Kind::Float } else { Kind::of(field) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> (char, bool) {
        let dialect = dialect(text.as_bytes(), true, Format::Csv, &TextOptions::default());
        (char::from(dialect.delimiter), dialect.header)
    }

    #[test]
    fn delimiters() {
        assert_eq!(found("a,b\n1,2\n"), (',', true));
        assert_eq!(found("a;b;c\n1,5;2;x\n"), (';', true));
        assert_eq!(found("a\tb\n1\t2, or 3\n"), ('\t', true));
        assert_eq!(found("a|b\r\n1|2\r\n"), ('|', true));
        assert_eq!(found("name;note\nada;\"x, y\"\nbob;z\n"), (';', true));
        assert_eq!(found("1,5;2,5\n3,5;4,5\n"), (';', false));
        assert_eq!(found("word\nx\n"), (',', true));
        assert_eq!(found("a,b\n1,2\n1,2,3\n"), (',', true));
        assert_eq!(found(""), (',', true));
    }

    #[test]
    fn headers() {
        assert_eq!(found("1,ada\n2,bob\n"), (',', false));
        assert!(found("id,name\n").1);
        assert!(found("name,city\nada,Bern\n").1);
        assert!(!found("2024-01-01,x\n2024-01-02,y\n").1);
        assert!(found(",2023\nada,true\n").1);
        assert!(found("2023,a\nx,y\n").1);
        assert!(!found("5\n").1);
    }

    #[test]
    fn options_win() {
        let options = TextOptions { delimiter: Some(b'.'), header: true, ..TextOptions::default() };
        let dialect = dialect(b"1;2\n3;4\n", true, Format::Csv, &options);
        assert_eq!((dialect.delimiter, dialect.header), (b'.', true));
    }
}
