//! Formats by name, and by the bytes of a file.

use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use crate::format::Format;

const NAMES: &str = "lance, arrow, arrows, parquet, csv, tsv, json, jsonl";

/// A format as `--from` and `--to` name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormatName {
    /// The format.
    pub format: Format,
    /// Its name, which is also the ending of its files.
    pub ending: String,
}

impl FormatName {
    /// Reads a name.
    pub fn parse(text: &str) -> Result<Self, String> {
        let ending = text.trim().trim_start_matches('.').to_ascii_lowercase();
        let named = Format::from_path(Path::new(&format!("x.{ending}")));
        match named {
            Ok(format) => Ok(Self { format, ending }),
            Err(_) => Err(format!("`{text}` is no format; choose one of {NAMES}")),
        }
    }

    /// Tells the format of a file by its bytes; text other than JSON tells nothing.
    pub fn sniff(file: &mut (impl Read + Seek)) -> std::io::Result<Option<Self>> {
        let mut head = Vec::new();
        file.seek(SeekFrom::Start(0))?;
        file.take(HEAD_BYTES).read_to_end(&mut head)?;
        let size = file.seek(SeekFrom::End(0))?;
        file.seek(SeekFrom::Start(size.saturating_sub(4)))?;
        let mut tail = Vec::new();
        file.take(4).read_to_end(&mut tail)?;
        file.seek(SeekFrom::Start(0))?;
        Ok(ending_of(&head, &tail).and_then(|ending| Self::parse(ending).ok()))
    }
}

/// Enough for every magic number, and for the blanks before JSON.
const HEAD_BYTES: u64 = 1024;

fn ending_of(head: &[u8], tail: &[u8]) -> Option<&'static str> {
    match head {
        _ if tail == b"LANC" => Some("lance"),
        [b'A', b'R', b'R', b'O', b'W', b'1', ..] => Some("arrow"),
        [b'P', b'A', b'R', b'1', ..] => Some("parquet"),
        // What stands before each message of a stream.
        [0xff, 0xff, 0xff, 0xff, ..] => Some("arrows"),
        text => match text.trim_ascii_start().first() {
            Some(b'{') => Some("jsonl"),
            Some(b'[') => Some("json"),
            _ => None,
        },
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    #[test]
    fn formats_have_names() {
        assert_eq!(FormatName::parse("lance").unwrap().format, Format::Lance);
        assert_eq!(FormatName::parse(".CSV").unwrap().ending, "csv");
        assert_eq!(FormatName::parse("arrows").unwrap().format, Format::ArrowStream);
        let message = FormatName::parse("xlsx").unwrap_err();
        assert!(message.starts_with("`xlsx` is no format; choose one of lance, "), "{message}");
    }

    #[test]
    fn formats_are_told_by_their_bytes() {
        let sniffed = |bytes: &[u8]| FormatName::sniff(&mut Cursor::new(bytes)).unwrap();
        let ending = |bytes: &[u8]| sniffed(bytes).map(|name| name.ending);
        assert_eq!(ending(b"bytes of a file LANC").unwrap(), "lance");
        assert_eq!(ending(b"ARROW1\0\0").unwrap(), "arrow");
        assert_eq!(ending(b"PAR1...PAR1").unwrap(), "parquet");
        assert_eq!(ending(b"\xff\xff\xff\xff\x10").unwrap(), "arrows");
        assert_eq!(ending(b" \n{\"a\":1}").unwrap(), "jsonl");
        assert_eq!(ending(b"a,b\n1,2\n"), None);
        assert_eq!(ending(b""), None);
    }
}
