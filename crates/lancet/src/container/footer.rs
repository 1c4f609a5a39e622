//! The last 40 bytes of a file, from which everything else is found.
//!
//! | offset | type | field |
//! |---|---|---|
//! | 0 | u64 | start of the column metadata |
//! | 8 | u64 | start of the table of column metadata (16 bytes a column) |
//! | 16 | u64 | start of the table of global buffers (16 bytes a buffer) |
//! | 24 | u32 | number of global buffers, at least 1 (0 in a zone map) |
//! | 28 | u32 | number of columns |
//! | 32 | u16, u16 | version |
//! | 36 | 4 bytes | `LANC` |
//!
//! A parsed footer keeps: column metadata before column table; the column table ends where the
//! buffer table starts; the buffer table ends before the footer.

use crate::cursor::Cursor;
use crate::error::{Error, Locate, Result, ensure};
use crate::span::Span;
use crate::version::Version;

/// Size of the footer.
pub(crate) const FOOTER_BYTES: u64 = 40;
/// Size of an entry of either table.
pub(crate) const ENTRY_BYTES: u64 = 16;
const MAGIC: [u8; 4] = *b"LANC";

/// The footer of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Footer {
    pub(crate) column_meta_start: u64,
    pub(crate) cmo_start: u64,
    pub(crate) gbo_start: u64,
    pub(crate) num_global_buffers: u32,
    pub(crate) num_columns: u32,
    pub(crate) version: Version,
}

impl Footer {
    /// Reads the footer from the end of `tail`, the last bytes of a file of `file_bytes` bytes.
    pub(crate) fn parse(file_bytes: u64, tail: &[u8]) -> Result<Self> {
        let footer = Self::parse_inner(file_bytes, tail)?;
        let counted = || {
            let buffers = footer.num_global_buffers;
            ensure!(buffers >= 1, "the footer counts no global buffer, so there is no schema");
            Ok(())
        };
        counted().at(file_bytes.saturating_sub(FOOTER_BYTES))?;
        Ok(footer)
    }

    /// Reads the footer of a file inside a buffer, which may have no schema.
    pub(crate) fn parse_inner(file_bytes: u64, tail: &[u8]) -> Result<Self> {
        check_magic(file_bytes, tail)?;
        let footer = tail.last_chunk::<40>();
        let Some(footer) = footer.filter(|_| file_bytes >= FOOTER_BYTES) else {
            return Err(Error::corrupt(format!(
                "the file has {file_bytes} bytes, too few for the footer of {FOOTER_BYTES}"
            )));
        };
        let start = file_bytes.saturating_sub(FOOTER_BYTES);
        let mut cursor = Cursor::new(footer);
        let column_meta_start = cursor.u64("column metadata start")?;
        let cmo_start = cursor.u64("column table start")?;
        let gbo_start = cursor.u64("buffer table start")?;
        let num_global_buffers = cursor.u32("number of global buffers")?;
        let num_columns = cursor.u32("number of columns")?;
        let version =
            Version::from_footer(cursor.u16("major version")?, cursor.u16("minor version")?)?;
        let footer = Self {
            column_meta_start,
            cmo_start,
            gbo_start,
            num_global_buffers,
            num_columns,
            version,
        };
        footer.check(start).at(start)?;
        Ok(footer)
    }

    fn check(&self, footer_start: u64) -> Result<()> {
        let Self { column_meta_start, cmo_start, gbo_start, .. } = *self;
        let buffers = self.num_global_buffers;
        ensure!(
            table_end(gbo_start, buffers).is_some_and(|end| end <= footer_start),
            "the table of {buffers} global buffers at byte {gbo_start} runs into the footer at \
             byte {footer_start}"
        );
        let columns = self.num_columns;
        ensure!(
            table_end(cmo_start, columns) == Some(gbo_start),
            "the table of {columns} columns at byte {cmo_start} does not end where the table of \
             global buffers starts, at byte {gbo_start}"
        );
        ensure!(
            column_meta_start <= cmo_start,
            "the column metadata starts at byte {column_meta_start}, after the table of columns \
             at byte {cmo_start}"
        );
        Ok(())
    }

    /// Where the metadata of all columns is.
    pub(crate) fn column_metadata(&self) -> Span {
        Span::between(self.column_meta_start, self.cmo_start)
    }

    /// The table of columns.
    pub(crate) fn column_table(&self) -> Span {
        Span::between(self.cmo_start, self.gbo_start)
    }

    /// The table of columns and that of global buffers.
    pub(crate) fn both_tables(&self) -> [Span; 2] {
        [self.column_table(), Span::between(self.gbo_start, self.tables().end())]
    }

    /// Bytes of both tables, the one of the columns first.
    pub(crate) fn tables(&self) -> Span {
        let end = table_end(self.gbo_start, self.num_global_buffers).unwrap_or(self.gbo_start);
        Span::between(self.cmo_start, end)
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        self.encode_as(self.version.to_footer(), out);
    }

    /// The same with the numbers of the version given.
    pub(crate) fn encode_as(&self, (major, minor): (u16, u16), out: &mut Vec<u8>) {
        out.extend_from_slice(&self.column_meta_start.to_le_bytes());
        out.extend_from_slice(&self.cmo_start.to_le_bytes());
        out.extend_from_slice(&self.gbo_start.to_le_bytes());
        out.extend_from_slice(&self.num_global_buffers.to_le_bytes());
        out.extend_from_slice(&self.num_columns.to_le_bytes());
        out.extend_from_slice(&major.to_le_bytes());
        out.extend_from_slice(&minor.to_le_bytes());
        out.extend_from_slice(&MAGIC);
    }
}

fn table_end(start: u64, entries: u32) -> Option<u64> {
    start.checked_add(ENTRY_BYTES.checked_mul(u64::from(entries))?)
}

/// Tells files of another kind apart before anything else is looked at.
fn check_magic(file_bytes: u64, tail: &[u8]) -> Result<()> {
    ensure!(file_bytes > 0, "not a Lance file: it is empty");
    let Some(found) = tail.last_chunk::<4>() else {
        return Err(Error::corrupt(format!("not a Lance file: it has only {file_bytes} bytes")));
    };
    if *found == MAGIC {
        return Ok(());
    }
    let kind = match found {
        b"PAR1" => " (a Parquet file)",
        // The end of `ARROW1`.
        b"ROW1" => " (an Arrow IPC file)",
        [0, 0, 0, 0] => " (zeros: an interrupted copy?)",
        _ => "",
    };
    let [a, b, c, d] = found;
    Err(Error::corrupt(format!(
        "not a Lance file: it ends with {a:02X} {b:02X} {c:02X} {d:02X}{kind} instead of \
         4C 41 4E 43 (`LANC`)"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::span::span;

    /// The footer of the 338-byte example file.
    fn example() -> Footer {
        Footer {
            column_meta_start: 0x9d,
            cmo_start: 0x10a,
            gbo_start: 0x11a,
            num_global_buffers: 1,
            num_columns: 1,
            version: Version::V2_1,
        }
    }

    fn bytes(footer: &Footer) -> Vec<u8> {
        let mut out = Vec::new();
        footer.encode(&mut out);
        out
    }

    #[test]
    fn round_trip() {
        let encoded = bytes(&example());
        assert_eq!(encoded.len() as u64, FOOTER_BYTES);
        assert_eq!(encoded[32..], [2, 0, 1, 0, 0x4c, 0x41, 0x4e, 0x43]);
        assert_eq!(Footer::parse(338, &encoded).unwrap(), example());
        assert_eq!(example().tables(), span(0x10a..0x12a));
    }

    #[test]
    fn each_broken_rule_is_named() {
        type Change = fn(&mut Footer);
        let broken: [(Change, &str); 7] = [
            (|f| f.num_global_buffers = 0, "counts no global buffer"),
            (|f| f.num_global_buffers = 2, "runs into the footer at byte 298"),
            (|f| f.gbo_start = u64::MAX - 3, "runs into the footer"),
            (|f| f.num_columns = 2, "does not end where the table of global buffers starts"),
            (|f| f.num_columns = u32::MAX, "does not end where"),
            (|f| f.cmo_start = u64::MAX, "does not end where"),
            (|f| f.column_meta_start = 0x10b, "after the table of columns"),
        ];
        for (change, message) in broken {
            let mut footer = example();
            change(&mut footer);
            let error = Footer::parse(338, &bytes(&footer)).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
            assert!(error.contains("byte 298"), "{error}");
        }
    }

    #[test]
    fn other_files_are_named() {
        let error = |file: &[u8]| Footer::parse(file.len() as u64, file).unwrap_err().to_string();
        assert!(error(b"").contains("it is empty"));
        assert!(error(b"abc").contains("only 3 bytes"));
        assert!(error(b"LANC").contains("4 bytes, too few for the footer of 40"));
        assert!(error(&[1; 100]).contains("it ends with 01 01 01 01 instead of 4C 41 4E 43"));
        let parquet = error(b"........................................PAR1");
        assert!(parquet.contains("ends with 50 41 52 31 (a Parquet file)"), "{parquet}");
        assert!(!parquet.contains('\n'));
        assert!(error(b"abcdefgARROW1").contains("an Arrow IPC file"));
    }
}
