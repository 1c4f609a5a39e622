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
const FOOTER_BYTES: usize = 16;

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
