//! The text of a file: decompressed, without its byte order mark, and known to be text.

use std::fs::File;
use std::io::{BufRead, BufReader, Cursor, Read, Seek, SeekFrom};
use std::path::Path;

use flate2::read::MultiGzDecoder;

use crate::error::{Error, InFile, Result};

/// Most bytes of one record. Without a bound, a file without line ends would have to fit into memory.
pub const MAX_RECORD_BYTES: usize = 64 << 20;
/// Bytes that tell how a text is encoded.
const LOOKED_AT: u64 = 8 << 10;
/// Bytes that tell how its records are written.
const SAMPLE_BYTES: u64 = 64 << 10;

/// A text that is read from its beginning.
pub type Text = Box<dyn BufRead>;

/// Opens the text of a file.
pub fn open(path: &Path) -> Result<Text> {
    let mut text = decompressed(path)?;
    let mut start = Vec::new();
    Read::by_ref(&mut text).take(LOOKED_AT).read_to_end(&mut start).in_file(path)?;
    check_encoding(&start).map_err(|e| Error::new(e).about(path))?;
    if start.starts_with(b"\xEF\xBB\xBF") {
        start.drain(..3);
    }
    Ok(Box::new(BufReader::with_capacity(1 << 18, Cursor::new(start).chain(text))))
}

/// The first bytes of a text, and whether they are all of it.
pub fn sample(path: &Path) -> Result<(Vec<u8>, bool)> {
    let mut bytes = Vec::new();
    open(path)?.take(SAMPLE_BYTES + 1).read_to_end(&mut bytes).in_file(path)?;
    let whole = bytes.len() as u64 <= SAMPLE_BYTES;
    Ok((bytes, whole))
}

/// Compression is told by the content, so that standard input and odd names work too. Both decoders work on windows:
/// a small file that becomes a huge one takes time, not memory.
fn decompressed(path: &Path) -> Result<Box<dyn Read>> {
    let mut file = File::open(path).in_file(path)?;
    let mut magic = Vec::new();
    Read::by_ref(&mut file).take(4).read_to_end(&mut magic).in_file(path)?;
    file.seek(SeekFrom::Start(0)).in_file(path)?;
    Ok(if magic.starts_with(b"\x1F\x8B") {
        Box::new(MultiGzDecoder::new(BufReader::new(file)))
    } else if magic == b"\x28\xB5\x2F\xFD" {
        Box::new(zstd::Decoder::new(file).in_file(path)?)
    } else {
        Box::new(file)
    })
}

fn check_encoding(start: &[u8]) -> Result<(), String> {
    let utf16 = start.starts_with(b"\xFF\xFE") || start.starts_with(b"\xFE\xFF");
    let zeros = start.iter().filter(|byte| **byte == 0).count();
    // Every other byte of UTF-16 is zero where the text is English.
    if utf16 || (zeros > 0 && zeros * 3 >= start.len() && zeros < start.len()) {
        return Err("is UTF-16, and lancet reads UTF-8; convert it first: \
                    iconv -f UTF-16 -t UTF-8 IN > OUT"
            .into());
    }
    if zeros > 0 {
        return Err("has zero bytes at its beginning; this is not a text file".into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_text_is_read_as_text() {
        assert!(check_encoding("a,b\n1,ü\n".as_bytes()).is_ok());
        assert!(check_encoding(b"").is_ok());
        assert!(check_encoding(b"a\0b\0\n\0").unwrap_err().starts_with("is UTF-16"));
        assert!(check_encoding(b"\xFF\xFEa\0").unwrap_err().starts_with("is UTF-16"));
        assert!(check_encoding(&[0; 100]).unwrap_err().starts_with("has zero bytes"));
    }
}
