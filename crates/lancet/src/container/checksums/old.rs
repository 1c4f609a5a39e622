//! The checksums of older releases: of whole buffers, and of the metadata as a whole.
//!
//! | offset | type | what |
//! |---|---|---|
//! | 0 | 8 bytes | `LANCETX3` |
//! | 8 | u64 | number of entries, `n` |
//! | 16 | u64 | checksum of all bytes from the file descriptor to the end of the file |
//! | 24 | 24·n | for each buffer: u64 position, u64 size, u64 checksum; by position |
//! | 24 + 24·n | u64 | checksum of the bytes before |
//!
//! A file whose magic is damaged, or whose table does not lead here, is one without checksums.

use xxhash_rust::xxh3::xxh3_64;

use super::{Checksums, ENTRY_BYTES, parse_entries};
use crate::cursor::Cursor;
use crate::error::{Result, ensure};

pub(super) const MAGIC: &[u8; 8] = b"LANCETX3";

/// Reads the global buffer.
pub(super) fn parse(bytes: &[u8]) -> Result<Checksums> {
    let mut cursor = Cursor::new(bytes);
    cursor.take(8, "magic")?;
    let count = cursor.u64("number of checksums")?;
    let tail = cursor.u64("checksum of the metadata")?;
    let expected = count.checked_mul(ENTRY_BYTES).and_then(|n| n.checked_add(8));
    ensure!(
        u64::try_from(cursor.rest().len()).ok() == expected,
        "{count} checksums in {} bytes",
        bytes.len()
    );
    let buffers = parse_entries(&mut cursor, count)?;
    let covered = bytes.get(..cursor.position()).unwrap_or_default();
    let own = cursor.u64("checksum of the checksums")?;
    ensure!(own == xxh3_64(covered), "the checksums themselves have another checksum");
    Ok(Checksums { buffers, blocks: None, tail: Some(tail) })
}
