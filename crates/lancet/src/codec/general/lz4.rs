//! LZ4 blocks.

use std::cell::RefCell;

use lz4_flex::block::{
    CompressTable, compress_into_with_table, decompress_into, get_maximum_output_size,
};

use super::{Unit, append};
use crate::cursor::Cursor;
use crate::error::{Error, Result};

// A table costs more to set up than a 4 KiB unit to compress; each thread keeps its own.
thread_local! {
    static TABLE: RefCell<CompressTable> = RefCell::new(CompressTable::large());
}

pub(super) fn parse(unit: &[u8]) -> Result<Unit<'_>> {
    let mut cursor = Cursor::new(unit);
    let size = u64::from(cursor.u32("uncompressed size of an LZ4 unit")?);
    let payload = cursor.rest();
    // A length byte stands for at most 255 bytes; the rest is for the token.
    let max_size = (payload.len() as u64).saturating_mul(255).saturating_add(32);
    Ok(Unit { size: Some(size), max_size, payload })
}

pub(super) fn decompress(payload: &[u8], out: &mut [u8]) -> Result<usize> {
    decompress_into(payload, out)
        .map_err(|error| Error::corrupt(format!("broken LZ4 block: {error}")))
}

pub(super) fn compress(bytes: &[u8], out: &mut Vec<u8>) -> Result<()> {
    let size = u32::try_from(bytes.len()).map_err(|_| {
        Error::invalid(format!("LZ4 cannot compress {} bytes at once", bytes.len()))
    })?;
    out.extend_from_slice(&size.to_le_bytes());
    append(out, get_maximum_output_size(bytes.len()), |room| {
        TABLE
            .with_borrow_mut(|table| compress_into_with_table(bytes, room, table))
            .map_err(|error| Error::invalid(format!("LZ4: {error}")))
    })
}
