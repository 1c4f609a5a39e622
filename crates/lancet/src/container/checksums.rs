//! Checksums of a file: the last global buffer of files that lancet writes. Other readers skip it.
//!
//! | offset | type | what |
//! |---|---|---|
//! | 0 | 8 bytes | `LANCETX3`: checksums are XXH3 with 64 bits |
//! | 8 | u64 | number of entries, `n` |
//! | 16 | u64 | checksum of all bytes from the file descriptor to the end of the file |
//! | 24 | 24·n | for each buffer: u64 position, u64 size, u64 checksum; by position |
//! | 24 + 24·n | u64 | checksum of the bytes before |
//!
//! Every buffer that has bytes has an entry: those of pages, blobs and global buffers. Padding is
//! not covered; nobody looks at it. A file whose table does not lead here, or whose magic is
//! damaged, is one without checksums.

use xxhash_rust::xxh3::xxh3_64;

use crate::cursor::Cursor;
use crate::error::{Error, Locate, Result, ensure};
use crate::span::Span;

const MAGIC: &[u8; 8] = b"LANCETX3";
const HEADER_BYTES: u64 = 24;
const ENTRY_BYTES: u64 = 24;

/// The checksum of one buffer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BufferChecksum {
    pub(crate) span: Span,
    checksum: u64,
}

impl BufferChecksum {
    /// The checksum of the buffer that lies at `position`.
    pub(crate) fn of(position: u64, bytes: &[u8]) -> Self {
        let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        let span = Span::between(position, position.saturating_add(size));
        Self { span, checksum: xxh3_64(bytes) }
    }

    pub(crate) fn check(&self, bytes: &[u8]) -> Result<()> {
        let found = xxh3_64(bytes);
        ensure!(
            found == self.checksum,
            "the bytes {:?} of the file have the checksum {found:016x} instead of {:016x}",
            self.span,
            self.checksum
        );
        Ok(())
    }
}

/// The checksums of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Checksums {
    /// Of everything from the descriptor on.
    tail: u64,
    /// By position.
    pub(crate) buffers: Vec<BufferChecksum>,
}

/// Bytes of the checksums of `num_buffers` buffers.
pub(crate) fn encoded_bytes(num_buffers: usize) -> u64 {
    let entries = u64::try_from(num_buffers).unwrap_or(u64::MAX).saturating_mul(ENTRY_BYTES);
    entries.saturating_add(HEADER_BYTES).saturating_add(8)
}

/// The checksums of the buffers, and of `tail`: everything from the descriptor on.
pub(crate) fn encode(buffers: &[BufferChecksum], tail: &[u8]) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    let mut put = |number: u64| out.extend_from_slice(&number.to_le_bytes());
    put(u64::try_from(buffers.len()).unwrap_or(u64::MAX));
    put(xxh3_64(tail));
    for BufferChecksum { span, checksum } in buffers {
        put(span.start());
        put(span.len());
        put(*checksum);
    }
    let own = xxh3_64(&out);
    out.extend_from_slice(&own.to_le_bytes());
    out
}

impl Checksums {
    /// Reads a global buffer; `None` when it holds something else.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Option<Self>> {
        let mut cursor = Cursor::new(bytes);
        if cursor.take(8, "magic").ok() != Some(MAGIC) {
            return Ok(None);
        }
        Self::parse_entries(&mut cursor, bytes).map(Some)
    }

    fn parse_entries(cursor: &mut Cursor<'_>, bytes: &[u8]) -> Result<Self> {
        let count = cursor.u64("number of checksums")?;
        let tail = cursor.u64("checksum of the metadata")?;
        let expected = count.checked_mul(ENTRY_BYTES).and_then(|n| n.checked_add(8));
        ensure!(
            u64::try_from(cursor.rest().len()).ok() == expected,
            "{count} checksums in {} bytes",
            bytes.len()
        );
        let mut buffers: Vec<BufferChecksum> = Vec::new();
        for i in 0..count {
            let (start, size) = (cursor.u64("position")?, cursor.u64("size")?);
            let after = buffers.last().is_none_or(|last| last.span.end() <= start);
            let Some(span) = Span::at(start, size).filter(|_| after) else {
                let rule = format!("checksum {i} is for {size} bytes at byte {start}");
                return Err(Error::corrupt(rule));
            };
            let checksum = cursor.u64("checksum")?;
            buffers.push(BufferChecksum { span, checksum });
        }
        let covered = bytes.get(..cursor.position()).unwrap_or_default();
        let own = cursor.u64("checksum of the checksums")?;
        ensure!(own == xxh3_64(covered), "the checksums themselves have another checksum");
        Ok(Self { tail, buffers })
    }

    /// The checksum of exactly these bytes of the file, if there is one.
    pub(crate) fn of(&self, span: Span) -> Option<&BufferChecksum> {
        let at =
            self.buffers.binary_search_by_key(&span.start(), |buffer| buffer.span.start()).ok()?;
        self.buffers.get(at).filter(|buffer| buffer.span == span)
    }

    /// Checks bytes of the file, if they are a whole buffer.
    pub(crate) fn check(&self, span: Span, bytes: &[u8]) -> Result<()> {
        self.of(span).map_or(Ok(()), |buffer| buffer.check(bytes).at(span.start()))
    }

    /// Checks everything from the descriptor on.
    pub(crate) fn check_tail(&self, tail: &[u8]) -> Result<()> {
        ensure!(xxh3_64(tail) == self.tail, "the metadata of the file has another checksum");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::span::span;

    fn example() -> Vec<u8> {
        let buffers = [BufferChecksum::of(0, b"abc"), BufferChecksum::of(64, b"defg")];
        encode(&buffers, b"tail")
    }

    #[test]
    fn checksums_come_back() {
        let bytes = example();
        assert_eq!(bytes.len() as u64, encoded_bytes(2));
        let read = Checksums::parse(&bytes).unwrap().unwrap();
        read.check(span(64..68), b"defg").unwrap();
        let error = read.check(span(64..68), b"defh").unwrap_err().to_string();
        assert!(error.contains("byte 64: the bytes 64..68 of the file have the checksum"));
        // Parts of buffers are not covered.
        read.check(span(64..67), b"xyz").unwrap();
        read.check_tail(b"tail").unwrap();
        assert!(read.check_tail(b"toil").is_err());
        // The published value of the empty input: the hash is the one the head names.
        assert_eq!(xxh3_64(b""), 0x2d06_8005_38d3_94c2);
    }

    #[test]
    fn every_flip_is_noticed_but_for_the_magic() {
        let bytes = example();
        for bit in 0..bytes.len() * 8 {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            match Checksums::parse(&flipped) {
                Ok(found) => assert!(bit < 64 && found.is_none()),
                Err(_) => assert!(bit >= 64),
            }
        }
        for len in 8..bytes.len() {
            assert!(Checksums::parse(&bytes[..len]).is_err());
        }
    }
}
