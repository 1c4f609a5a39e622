//! The manifest file: where its message is.
//!
//! ```text
//! 0         other sections (indexes, transaction); the message says where
//! P         u32  N
//! P+4       N bytes: the manifest message
//! P+4+N     i64  P
//!           i16  major, i16 minor: always 0.2, never looked at
//!           "LANC"
//! ```

use crate::error::{Problem, ensure};

const MAGIC: &[u8; 4] = b"LANC";
/// A section begins with its length.
pub(crate) const LENGTH_BYTES: u64 = 4;
const FOOTER_BYTES: usize = 16;
/// Major 0, minor 2.
const FOOTER_VERSION: [u8; 4] = [0, 0, 2, 0];

/// The bytes of the manifest message.
pub(crate) fn message(file: &[u8]) -> Result<&[u8], Problem> {
    let Some((body, footer)) = file.split_last_chunk::<FOOTER_BYTES>() else {
        return Err(Problem::corrupt(format!(
            "a manifest ends with a footer of {FOOTER_BYTES} bytes, but the file has {}",
            file.len()
        )));
    };
    ensure!(footer.ends_with(MAGIC), "a manifest ends with `LANC`, this file does not");
    let position = footer.first_chunk().map(|bytes| i64::from_le_bytes(*bytes)).unwrap_or(-1);
    let section = usize::try_from(position).ok().and_then(|position| body.get(position..));
    let Some((len, message)) = section.and_then(|section| section.split_first_chunk()) else {
        return Err(Problem::corrupt(format!(
            "the footer says that the manifest message is at byte {position}, but the file has \
             {} bytes before its footer",
            body.len()
        )));
    };
    let len = u32::from_le_bytes(*len);
    ensure!(
        usize::try_from(len) == Ok(message.len()),
        "the manifest message is said to have {len} bytes, but {} lie between it and the footer",
        message.len()
    );
    Ok(message)
}

/// The bytes of a section, which stands before the message with its length.
pub(crate) fn section(file: &[u8], position: u64) -> Result<&[u8], Problem> {
    let outside = || Problem::corrupt(format!("the section at byte {position} is not in the file"));
    let rest = usize::try_from(position).ok().and_then(|position| file.get(position..));
    let (len, rest) = rest.and_then(|rest| rest.split_first_chunk()).ok_or_else(outside)?;
    let len = usize::try_from(u32::from_le_bytes(*len)).map_err(|_| outside())?;
    rest.get(..len).ok_or_else(outside)
}

/// A version file in the making: sections first, then the message, then the footer.
#[derive(Debug, Default)]
pub(crate) struct NewFile(Vec<u8>);

impl NewFile {
    /// Adds a section; tells where it is.
    pub(crate) fn add(&mut self, section: &[u8]) -> Result<u64, Problem> {
        let position = self.0.len() as u64;
        let Ok(len) = u32::try_from(section.len()) else {
            let what =
                format!("a section of {} bytes; version files have room for 2^32", section.len());
            return Err(Problem::Unsupported(what));
        };
        self.0.extend_from_slice(&len.to_le_bytes());
        self.0.extend_from_slice(section);
        Ok(position)
    }

    /// The bytes of the file, with the message of the manifest.
    pub(crate) fn finish(mut self, message: &[u8]) -> Result<Vec<u8>, Problem> {
        let position = self.add(message)?;
        self.0.extend_from_slice(&position.to_le_bytes());
        self.0.extend_from_slice(&FOOTER_VERSION);
        self.0.extend_from_slice(MAGIC);
        // Who commits the version keeps the bytes.
        self.0.shrink_to_fit();
        Ok(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(before: &[u8], len: u32, message: &[u8], position: i64, magic: &[u8]) -> Vec<u8> {
        let (len, position) = (len.to_le_bytes(), position.to_le_bytes());
        [before, &len, message, &position, &[0, 0, 2, 0], magic].concat()
    }

    #[test]
    fn the_message_is_found() {
        assert_eq!(message(&file(b"sections", 3, b"abc", 8, MAGIC)).unwrap(), b"abc");
        assert_eq!(message(&file(b"", 0, b"", 0, MAGIC)).unwrap(), b"");
    }

    #[test]
    fn every_broken_place_has_its_rule() {
        let rule = |file: &[u8]| match message(file) {
            Err(Problem::Corrupt(rule)) => rule,
            other => panic!("{other:?}"),
        };
        assert!(rule(b"").contains("but the file has 0"));
        assert!(rule(b"LANC").contains("but the file has 4"));
        assert!(rule(&file(b"", 3, b"abc", 0, b"LAND")).contains("ends with `LANC`"));
        for position in [-1, i64::MIN, i64::MAX, 4, 7, 1000] {
            let rule = rule(&file(b"", 3, b"abc", position, MAGIC));
            assert!(rule.contains(&format!("is at byte {position}, ")), "{rule}");
        }
        for len in [0, 2, 4, u32::MAX] {
            let rule = rule(&file(b"", len, b"abc", 0, MAGIC));
            assert!(rule.contains(&format!("have {len} bytes, but 3 lie")), "{rule}");
        }
    }
}
