//! The end of a file, read in as few rounds as possible.
//!
//! One read of the tail is enough for most files. When the tables start before it, the descriptor does, too: it ends where
//! the metadata of columns starts, which the footer tells, so that most of the time both come in a second round. The
//! metadata of columns is not needed to open a file, so a wide file costs only its tables and its descriptor.
//!
//! ```text
//! file     … descriptor │ metadata of columns │ tables ··┊ tables, footer │
//!       ├─── guess ─────┤                     ├─ rest ───┤├──── tail ──────┤
//! ```
//!
//! ```text
//! let mut tail = Tail::parse(file_bytes, span.start(), bytes)?;
//! loop {
//!     let spans = tail.missing(limit);
//!     if spans.is_empty() { break; }
//!     tail.supply(&spans, fetch(&spans))?;
//! }
//! let index = tail.into_index()?;
//! ```

use bytes::{Bytes, BytesMut};

use super::footer::{ENTRY_BYTES, FOOTER_BYTES, Footer};
use super::index::FileIndex;
use crate::cursor::Cursor;
use crate::error::{Error, Locate, Result, ensure};
use crate::span::Span;

/// Column metadata may be shared between columns; this often, over all columns.
const MAX_METADATA_SHARING: u64 = 16;

/// How long the descriptor of a file with tables as long as these may be: a field takes some 50 bytes, and its metadata.
const GUESSED_BYTES: u64 = 16 << 10;
const GUESSED_BYTES_OF_COLUMN: u64 = 64;

/// The span to read first: the last `guess` bytes, at least the footer.
pub(crate) fn tail_span(file_bytes: u64, guess: u64) -> Span {
    Span::between(file_bytes.saturating_sub(guess.max(FOOTER_BYTES)), file_bytes)
}

/// Bytes of a file and where they start.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    pub(crate) start: u64,
    pub(crate) bytes: Bytes,
}

/// Both tables, checked.
#[derive(Debug)]
struct Tables {
    global_buffers: Vec<Span>,
    columns: Vec<Span>,
    descriptor: Span,
}

/// What is known of a file from its end.
#[derive(Debug)]
pub(crate) struct Tail {
    file_bytes: u64,
    footer: Footer,
    /// The contiguous end of the file.
    end: Part,
    tables: Option<Tables>,
    /// What was read apart from the end: the descriptor, or a guess of where it is.
    descriptor: Option<Part>,
}

impl Tail {
    /// Takes the last bytes of the file, which start at `tail_start`.
    pub(crate) fn parse(file_bytes: u64, tail_start: u64, tail: Bytes) -> Result<Self> {
        if tail_start.checked_add(tail.len() as u64) != Some(file_bytes) {
            return Err(Error::invalid(format!(
                "{} bytes from byte {tail_start} on are not the end of a file of {file_bytes}",
                tail.len()
            )));
        }
        let footer = Footer::parse(file_bytes, &tail)?;
        let end = Part { start: tail_start, bytes: tail };
        let mut tail = Self { file_bytes, footer, end, tables: None, descriptor: None };
        tail.parse_tables()?;
        Ok(tail)
    }

    /// The next spans to read and [`supply`](Self::supply), none when the index can be built. No guess is made that
    /// would take them beyond `limit` bytes.
    pub(crate) fn missing(&self, limit: u64) -> Vec<Span> {
        let known = self.end.start;
        let Some(tables) = &self.tables else {
            let tables = Span::between(self.footer.tables().start(), known);
            return self.with_guess(tables, limit);
        };
        let span = tables.descriptor;
        if self.descriptor().is_some() {
            return Vec::new();
        }
        // The metadata of the columns lies between the descriptor and what is known. If it is
        // small, it comes along with the same read.
        let all = Span::between(span.start(), known);
        vec![if self.is_small(&all) || span.end() >= known { all } else { span }]
    }

    /// The rest of the tables, and where the descriptor must end.
    fn with_guess(&self, tables: Span, limit: u64) -> Vec<Span> {
        let end = self.footer.column_meta_start;
        let columns = u64::from(self.footer.num_columns);
        let guess = columns.saturating_mul(GUESSED_BYTES_OF_COLUMN).max(GUESSED_BYTES);
        let guess = Span::between(end.saturating_sub(guess), end);
        let all = guess.to(&tables);
        if self.is_small(&all) && all.len() <= limit {
            return vec![all];
        }
        let fits = guess.len().saturating_add(tables.len()) <= limit;
        if fits && !guess.is_empty() { vec![tables, guess] } else { vec![tables] }
    }

    /// Whether it is no more than what was read before.
    fn is_small(&self, span: &Span) -> bool {
        span.len() <= self.end.bytes.len() as u64
    }

    /// Takes the bytes of the spans that [`missing`](Self::missing) named.
    pub(crate) fn supply(&mut self, spans: &[Span], bytes: Vec<Bytes>) -> Result<()> {
        let is_whole = |(span, bytes): (&Span, &Bytes)| span.len() == bytes.len() as u64;
        if bytes.len() != spans.len() || !spans.iter().zip(&bytes).all(is_whole) {
            return Err(Error::invalid(format!(
                "other bytes were supplied than those of {spans:?}"
            )));
        }
        for (span, bytes) in spans.iter().zip(bytes) {
            if span.end() == self.end.start {
                let room = bytes.len().saturating_add(self.end.bytes.len());
                let mut joined = BytesMut::with_capacity(room);
                joined.extend_from_slice(&bytes);
                joined.extend_from_slice(&self.end.bytes);
                self.end = Part { start: span.start(), bytes: joined.freeze() };
            } else {
                self.descriptor = Some(Part { start: span.start(), bytes });
            }
        }
        self.parse_tables()
    }

    /// The serialized descriptor, once it was read.
    pub(crate) fn descriptor(&self) -> Option<Bytes> {
        let span = &self.tables.as_ref()?.descriptor;
        let apart = self.descriptor.as_ref().and_then(|part| span.cut(part.start, &part.bytes));
        apart.or_else(|| span.cut(self.end.start, &self.end.bytes))
    }

    /// The index of the file. Call when nothing is missing.
    pub(crate) fn into_index(self) -> Result<FileIndex> {
        let (Some(tables), Some(descriptor)) = (&self.tables, self.descriptor()) else {
            return Err(Error::invalid("the end of the file was not read completely"));
        };
        FileIndex::new(
            self.file_bytes,
            &self.footer,
            tables.global_buffers.clone(),
            tables.columns.clone(),
            &descriptor,
            self.end,
        )
    }

    fn parse_tables(&mut self) -> Result<()> {
        if self.tables.is_some() {
            return Ok(());
        }
        let span = self.footer.tables();
        let Some(bytes) = span.cut(self.end.start, &self.end.bytes) else { return Ok(()) };
        let mut cursor = Cursor::new(&bytes);
        let columns = column_table(&self.footer, &mut cursor).at(span.start())?;
        let global_buffers = self.buffer_table(&mut cursor).at(self.footer.gbo_start)?;
        let descriptor = global_buffers.first().copied().unwrap_or_default();
        self.tables = Some(Tables { global_buffers, columns, descriptor });
        Ok(())
    }

    fn buffer_table(&self, cursor: &mut Cursor<'_>) -> Result<Vec<Span>> {
        let end = self.file_bytes.saturating_sub(FOOTER_BYTES);
        let alignment = super::buffer_alignment(self.footer.version);
        let meta_start = self.footer.column_meta_start;
        entries(cursor, self.footer.num_global_buffers, self.footer.gbo_start, |i, span| {
            ensure!(
                span.end() <= end,
                "global buffer {i} lies at bytes {span:?}, beyond the footer at {end}"
            );
            ensure!(
                span.start().is_multiple_of(alignment),
                "global buffer {i} starts at byte {}, not at a multiple of {alignment}",
                span.start()
            );
            ensure!(
                i > 0 || span.end() <= meta_start,
                "the descriptor lies at bytes {span:?}, not before the column metadata at \
                 {meta_start}"
            );
            Ok(())
        })
    }
}

/// Where the metadata of each column is.
pub(super) fn column_table(footer: &Footer, cursor: &mut Cursor<'_>) -> Result<Vec<Span>> {
    let region = footer.column_metadata();
    let columns = entries(cursor, footer.num_columns, footer.cmo_start, |i, span| {
        ensure!(
            region.contains(&span),
            "the metadata of column {i} lies at bytes {span:?}, outside the column metadata \
             at {region:?}"
        );
        Ok(())
    })?;
    let (total, region_bytes) = (Span::total(&columns), region.len());
    ensure!(
        total <= region_bytes.saturating_mul(MAX_METADATA_SHARING),
        "the columns share their metadata so often that {region_bytes} bytes count as {total}"
    );
    Ok(columns)
}

/// Reads a table. Its bytes are present, so its size is justified.
fn entries(
    cursor: &mut Cursor<'_>,
    count: u32,
    table_start: u64,
    check: impl Fn(u32, Span) -> Result<()>,
) -> Result<Vec<Span>> {
    (0..count)
        .map(|i| {
            let entry = || {
                let position = cursor.u64("position")?;
                let size = cursor.u64("size")?;
                let Some(span) = Span::at(position, size) else {
                    return Err(Error::corrupt(format!(
                        "entry {i} has position {position} and size {size}, whose sum overflows"
                    )));
                };
                check(i, span)?;
                Ok(span)
            };
            let mut entry = entry;
            entry().at(table_start.saturating_add(u64::from(i).saturating_mul(ENTRY_BYTES)))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::container::write::{ALIGNMENT, encode_column, encode_tail, tests::example_file};
    use crate::proto::file::{Field, FileDescriptor, Schema};
    use crate::span::span;
    use crate::version::Version;

    /// Opens with a tail of `guess` bytes; returns the spans read in each round.
    fn open(file: &[u8], guess: u64) -> Result<(FileIndex, Vec<Vec<Span>>)> {
        open_within(file, guess, u64::MAX)
    }

    /// The same, with a limit.
    fn open_within(file: &[u8], guess: u64, limit: u64) -> Result<(FileIndex, Vec<Vec<Span>>)> {
        let file = Bytes::copy_from_slice(file);
        let bytes = |span: &Span| span.cut(0, &file).unwrap();
        let span = tail_span(file.len() as u64, guess);
        let mut tail = Tail::parse(file.len() as u64, span.start(), bytes(&span))?;
        let mut rounds = vec![vec![span]];
        loop {
            let spans = tail.missing(limit);
            if spans.is_empty() {
                return Ok((tail.into_index()?, rounds));
            }
            tail.supply(&spans, spans.iter().map(bytes).collect())?;
            rounds.push(spans);
        }
    }

    /// 1,000 columns without pages after 64 bytes of data.
    fn wide_file() -> Vec<u8> {
        let field = |id: i32| Field {
            name: format!("column_{id}"),
            id,
            parent_id: -1,
            logical_type: "int32".into(),
            ..Default::default()
        };
        let schema =
            Schema { fields: (0..1000).map(field).collect(), metadata: Default::default() };
        let descriptor = FileDescriptor { schema: Some(schema), length: 0 };
        let columns = vec![encode_column(&[], false, None); 1000];
        let mut file = vec![0; ALIGNMENT as usize];
        file.extend(
            encode_tail(Version::V2_2, &descriptor, &columns, &[span(0..7)], ALIGNMENT).unwrap(),
        );
        file
    }

    #[test]
    fn every_guess_opens_the_example() {
        let file = example_file();
        for guess in 0..400 {
            let (index, rounds) = open(&file, guess).unwrap();
            assert_eq!(index.schema.field(0).name(), "x");
            assert_eq!((index.version, index.num_rows), (Version::V2_1, 3));
            assert_eq!((index.data_end, index.file_bytes), (0x80, 338));
            assert_eq!(index.global_buffers, [span(0x80..0x9d)]);
            assert_eq!(index.columns, [span(0x9d..0x10a)]);
            assert!(rounds.len() <= 2, "{rounds:?}");
            // Nothing is read twice; what lies before the descriptor may come along.
            assert!(Span::total(rounds.iter().flatten()) <= 338, "{guess}: {rounds:?}");
        }
        assert_eq!(open(&file, 338).unwrap().1, [[span(0..338)]]);
        assert_eq!(open(&file, 338 - 0x80).unwrap().1.len(), 1);
    }

    #[test]
    fn a_wide_file_costs_its_tables_and_descriptor() {
        let file = wide_file();
        let (index, rounds) = open(&file, 4096).unwrap();
        assert_eq!(index.columns.len(), 1000);
        assert_eq!(index.global_buffers[1], span(0..7));
        let [metadata, tables] = [index.columns[0].start(), index.columns[999].end()];
        let rest = span(tables..file.len() as u64 - 4096);
        assert_eq!(rounds[1..], [[rest, span(metadata.saturating_sub(64_000)..metadata)]]);
        assert!(index.column_bytes(5).is_none());
        // Without a guess the descriptor comes once the tables tell where it is.
        let (_, rounds) = open_within(&file, 4096, rest.len() + 20_000).unwrap();
        assert_eq!(rounds[1..], [[rest], [index.global_buffers[0]]]);
        let (index, rounds) = open(&file, 65_536).unwrap();
        assert_eq!(rounds.len(), 2, "metadata that is small comes along");
        assert_eq!(index.column_bytes(5).unwrap(), encode_column(&[], false, None));
        assert!(index.column_bytes(1000).is_none());
    }

    #[test]
    fn a_descriptor_that_is_longer_than_the_guess_is_read_again() {
        let name = "n".repeat(100_000);
        let field = Field { name, parent_id: -1, logical_type: "int32".into(), ..Field::default() };
        let schema = Schema { fields: vec![field], metadata: Default::default() };
        let descriptor = FileDescriptor { schema: Some(schema), length: 0 };
        let columns = [encode_column(&[], false, None)];
        let file = encode_tail(Version::V2_2, &descriptor, &columns, &[], 0).unwrap();
        let (index, rounds) = open(&file, 40).unwrap();
        assert_eq!(rounds.len(), 3, "{rounds:?}");
        assert_eq!(rounds[2], [index.global_buffers[0]]);
        assert_eq!(index.schema.field(0).name().len(), 100_000);
    }

    /// Overwrites a number in the example and expects the rule to be named.
    #[track_caller]
    fn refuse(at: usize, value: u64, rule: &str) {
        let mut file = example_file();
        file[at..at + 8].copy_from_slice(&value.to_le_bytes());
        for guess in [40, 100, 338] {
            let error = open(&file, guess).unwrap_err();
            assert!(matches!(error, Error::Corrupt(_)), "{error}");
            assert!(error.to_string().contains(rule), "{error}");
        }
    }

    #[test]
    fn forged_tables_are_refused() {
        refuse(0x10a, 0x9c, "byte 266: the metadata of column 0 lies at bytes 156..265, outside");
        refuse(0x112, 0x6e, "outside the column metadata at 157..266");
        refuse(0x112, u64::MAX, "whose sum overflows");
        refuse(0x11a, 0x81, "byte 282: global buffer 0 starts at byte 129");
        refuse(0x11a, 0xc0, "not before the column metadata at 157");
        refuse(0x122, 0x1000, "beyond the footer at 298");
        refuse(0x122, u64::MAX, "whose sum overflows");
        refuse(0x122, 0x1c, "byte 128: the file descriptor does not decode");
        refuse(0x122, 0, "byte 128: the file descriptor has no schema");
        refuse(0x12a, 0x80, "not before the column metadata");
    }

    #[test]
    fn shared_metadata_is_bounded() {
        let mut file = wide_file();
        let (index, _) = open(&file, u64::MAX).unwrap();
        let table = index.columns[999].end() as usize;
        let region = Span::between(index.columns[0].start(), index.columns[999].end());
        let forge = |file: &mut Vec<u8>, columns: usize| {
            for column in 0..columns {
                let at = table + column * 16;
                file[at..at + 8].copy_from_slice(&region.start().to_le_bytes());
                file[at + 8..at + 16].copy_from_slice(&region.len().to_le_bytes());
            }
        };
        forge(&mut file, 15);
        assert!(open(&file, 4096).is_ok());
        forge(&mut file, 1000);
        let error = open(&file, 4096).unwrap_err().to_string();
        assert!(error.contains("share their metadata so often"), "{error}");
    }

    #[test]
    fn every_truncation_and_flip_is_an_error_or_a_file() {
        let file = example_file();
        for len in 0..file.len() {
            assert!(open(&file[..len], 64).is_err(), "{len}");
        }
        for bit in 0..file.len() * 8 {
            let mut flipped = file.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            let Ok((index, _)) = open(&flipped, 4096) else { continue };
            if let Some(bytes) = index.column_bytes(0) {
                let _ = crate::container::Column::parse(&bytes, &index, 0);
            }
        }
    }

    #[test]
    fn wrong_bytes_from_the_caller() {
        let file = Bytes::from(example_file());
        assert!(matches!(Tail::parse(338, 1, file.clone()), Err(Error::Invalid(_))));
        assert!(matches!(Tail::parse(338, u64::MAX, file.clone()), Err(Error::Invalid(_))));
        let mut tail = Tail::parse(338, 298, file.slice(298..)).unwrap();
        let spans = tail.missing(u64::MAX);
        let short = vec![file.slice(0..3); spans.len()];
        assert!(matches!(tail.supply(&spans, short), Err(Error::Invalid(_))));
        assert!(matches!(tail.supply(&spans, Vec::new()), Err(Error::Invalid(_))));
        assert!(matches!(tail.into_index(), Err(Error::Invalid(_))));
    }
}
