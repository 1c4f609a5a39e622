//! LZ4 and Zstandard over the output of another encoding.
//!
//! | scheme | one unit | the unit of no bytes |
//! |---|---|---|
//! | LZ4 | `u32` uncompressed size, one raw LZ4 block | `00 00 00 00 00` |
//! | Zstandard | `u64` uncompressed size, one frame | eight zeros, `28 b5 2f fd 20 00 01 00 00` |
//!
//! Old Zstandard units are a frame without the size before it. Units shorter than 8 bytes, and
//! those that start with the frame magic and have bit 4 of byte 4 clear (as every frame does), are
//! read that way; a unit without bytes yields none.
//!
//! Nothing is allocated for a size that the compressed bytes cannot yield or that the caller's
//! limit forbids.

use std::cell::RefCell;

use lz4_flex::block::{
    CompressTable, compress_into_with_table, decompress_into, get_maximum_output_size,
};
use zstd::zstd_safe::zstd_sys::ZSTD_EndDirective;
use zstd::zstd_safe::{self, CCtx, CParameter, DCtx, InBuffer, OutBuffer, ResetDirective};

use super::Scheme;
use crate::cursor::Cursor;
use crate::error::{Error, Result, ensure};

const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// The most output of a Zstandard block, and the fewest bytes a block takes.
const ZSTD_BLOCK: u64 = 128 * 1024;
const ZSTD_MIN_BLOCK_BYTES: u64 = 4;
/// The library's code for an output that is too small.
const NO_ROOM: usize = 70_usize.wrapping_neg();

// A context costs more to set up than a 4 KiB unit to compress; each thread keeps its own.
thread_local! {
    static ZSTD_ENCODER: RefCell<CCtx<'static>> = RefCell::new(CCtx::create());
    static ZSTD_DECODER: RefCell<DCtx<'static>> = RefCell::new(DCtx::create());
    static LZ4_TABLE: RefCell<CompressTable> = RefCell::new(CompressTable::large());
}

/// A unit taken apart.
struct Unit<'a> {
    /// What it decompresses to; `None` where neither unit nor frame says so.
    size: Option<u64>,
    /// No more than this can come out of the payload.
    max_size: u64,
    payload: &'a [u8],
}

impl<'a> Unit<'a> {
    fn parse(scheme: Scheme, unit: &'a [u8]) -> Result<Self> {
        let parsed = match scheme {
            Scheme::Lz4 => Self::parse_lz4(unit)?,
            Scheme::Zstd => Self::parse_zstd(unit)?,
        };
        let size = parsed.size.unwrap_or(0);
        ensure!(
            size <= parsed.max_size,
            "{} compressed bytes cannot hold the {size} bytes they are said to hold",
            parsed.payload.len()
        );
        Ok(parsed)
    }

    fn parse_lz4(unit: &'a [u8]) -> Result<Self> {
        let mut cursor = Cursor::new(unit);
        let size = u64::from(cursor.u32("uncompressed size of an LZ4 unit")?);
        let payload = cursor.rest();
        // A length byte stands for at most 255 bytes; the rest is for the token.
        let max_size = (payload.len() as u64).saturating_mul(255).saturating_add(32);
        Ok(Self { size: Some(size), max_size, payload })
    }

    fn parse_zstd(unit: &'a [u8]) -> Result<Self> {
        if unit.is_empty() {
            return Ok(Self { size: Some(0), max_size: 0, payload: unit });
        }
        let is_bare = unit.len() < 8
            || (unit.starts_with(&ZSTD_MAGIC) && unit.get(4).is_some_and(|byte| byte & 0x10 == 0));
        let mut cursor = Cursor::new(unit);
        let mut size = None;
        if !is_bare {
            size = Some(cursor.u64("uncompressed size of a Zstandard unit")?);
        }
        let payload = cursor.rest();
        let frame_bytes = zstd_safe::find_frame_compressed_size(payload).map_err(zstd_error)?;
        ensure!(
            frame_bytes == payload.len(),
            "a Zstandard frame of {frame_bytes} bytes stands in {} bytes",
            payload.len()
        );
        let frame_size = zstd_safe::get_frame_content_size(payload)
            .map_err(|_| Error::corrupt("the header of a Zstandard frame is broken"))?;
        if let Some((size, frame_size)) = size.zip(frame_size) {
            ensure!(
                size == frame_size,
                "a Zstandard unit is said to hold {size} bytes, its frame {frame_size}"
            );
        }
        let blocks = (payload.len() as u64).div_ceil(ZSTD_MIN_BLOCK_BYTES);
        let max_size = blocks.saturating_mul(ZSTD_BLOCK);
        Ok(Self { size: size.or(frame_size), max_size, payload })
    }
}

/// The number of bytes a unit decompresses to; `None` when only decompressing it can tell.
pub(crate) fn uncompressed_size(scheme: Scheme, unit: &[u8]) -> Result<Option<u64>> {
    Unit::parse(scheme, unit).map(|unit| unit.size)
}

/// Replaces `out` by the uncompressed bytes of a unit, at most `max_bytes`.
pub(crate) fn decompress(
    scheme: Scheme,
    unit: &[u8],
    max_bytes: u64,
    out: &mut Vec<u8>,
) -> Result<()> {
    let unit = Unit::parse(scheme, unit)?;
    let Some(size) = unit.size else { return decompress_unsized(&unit, max_bytes, out) };
    if size > max_bytes {
        return Err(too_large(size, max_bytes));
    }
    resize(out, size)?;
    let decompressed = match scheme {
        Scheme::Lz4 => decompress_into(unit.payload, out)
            .map_err(|error| Error::corrupt(format!("broken LZ4 block: {error}")))?,
        Scheme::Zstd if unit.payload.is_empty() => 0,
        Scheme::Zstd => decompress_frame(unit.payload, out).map_err(zstd_error)?,
    };
    ensure!(
        decompressed as u64 == size,
        "a unit decompresses to {decompressed} bytes, but is said to hold {size}"
    );
    Ok(())
}

/// Decompresses a bare frame that does not say its size: by trying, with more room each time.
fn decompress_unsized(unit: &Unit<'_>, max_bytes: u64, out: &mut Vec<u8>) -> Result<()> {
    let limit = unit.max_size.min(max_bytes);
    let mut room = (unit.payload.len() as u64).saturating_mul(8);
    loop {
        resize(out, room.min(limit))?;
        match decompress_frame(unit.payload, out) {
            Ok(decompressed) => {
                out.truncate(decompressed);
                return Ok(());
            }
            Err(code) if !is_out_of_room(code) => return Err(zstd_error(code)),
            Err(_) if room < limit => room = room.saturating_mul(4),
            Err(_) if limit == max_bytes => {
                return Err(too_large(max_bytes.saturating_add(1), max_bytes));
            }
            Err(code) => return Err(zstd_error(code)),
        }
    }
}

fn decompress_frame(frame: &[u8], out: &mut [u8]) -> std::result::Result<usize, usize> {
    ZSTD_DECODER.with_borrow_mut(|decoder| decoder.decompress(out, frame))
}

/// Makes `out` `size` bytes long, whatever they are: what is there already is not cleared.
fn resize(out: &mut Vec<u8>, size: u64) -> Result<()> {
    let size = usize::try_from(size).map_err(|_| too_large(size, usize::MAX as u64))?;
    out.resize(size, 0);
    Ok(())
}

fn too_large(needed: u64, limit: u64) -> Error {
    Error::limit("a compressed unit", needed, limit, "memory_limit")
}

fn zstd_error(code: usize) -> Error {
    Error::corrupt(format!("broken Zstandard frame: {}", zstd_safe::get_error_name(code)))
}

fn is_out_of_room(code: usize) -> bool {
    code == NO_ROOM
}

/// Appends `bytes` as one unit. `level` is for Zstandard only; `None` is its default.
pub(crate) fn compress(
    scheme: Scheme,
    level: Option<i32>,
    bytes: &[u8],
    out: &mut Vec<u8>,
) -> Result<()> {
    compress_parts(scheme, level, bytes, bytes.len(), 0, out)
}

/// Appends `bytes` as one unit whose first part is `first` bytes and the following ones `next`
/// bytes long (0: there is one more). Zstandard counts the bytes of each part by themselves: parts
/// of a different kind would blur the statistics of one another.
pub(crate) fn compress_parts(
    scheme: Scheme,
    level: Option<i32>,
    bytes: &[u8],
    first: usize,
    next: usize,
    out: &mut Vec<u8>,
) -> Result<()> {
    match scheme {
        Scheme::Lz4 => {
            let size = u32::try_from(bytes.len()).map_err(|_| {
                Error::invalid(format!("LZ4 cannot compress {} bytes at once", bytes.len()))
            })?;
            out.extend_from_slice(&size.to_le_bytes());
            append(out, get_maximum_output_size(bytes.len()), |room| {
                LZ4_TABLE
                    .with_borrow_mut(|table| compress_into_with_table(bytes, room, table))
                    .map_err(|error| Error::invalid(format!("LZ4: {error}")))
            })
        }
        Scheme::Zstd => {
            out.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
            // Every part ends a block, which costs a header.
            let parts = bytes.len().saturating_sub(first).checked_div(next).unwrap_or(1);
            let room = zstd_safe::compress_bound(bytes.len())
                .saturating_add(parts.saturating_add(2).saturating_mul(16));
            append(out, room, |room| {
                ZSTD_ENCODER
                    .with_borrow_mut(|encoder| {
                        encoder.set_parameter(CParameter::CompressionLevel(level.unwrap_or(0)))?;
                        if bytes.len() <= first {
                            encoder.compress2(room, bytes)
                        } else {
                            write_blocks(encoder, bytes, first, next, room)
                        }
                    })
                    .map_err(|code| {
                        Error::invalid(format!("Zstandard: {}", zstd_safe::get_error_name(code)))
                    })
            })
        }
    }
}

/// Writes one frame with a block boundary after each part; returns its size.
fn write_blocks(
    encoder: &mut CCtx<'_>,
    bytes: &[u8],
    first: usize,
    next: usize,
    room: &mut [u8],
) -> std::result::Result<usize, usize> {
    encoder.reset(ResetDirective::SessionOnly)?;
    encoder.set_pledged_src_size(Some(bytes.len() as u64))?;
    let mut output = OutBuffer::around(room);
    let mut rest = bytes;
    let mut size = first;
    while !rest.is_empty() {
        let (part, more) = rest.split_at_checked(size).unwrap_or((rest, &[]));
        let end = if more.is_empty() {
            ZSTD_EndDirective::ZSTD_e_end
        } else {
            ZSTD_EndDirective::ZSTD_e_flush
        };
        let mut input = InBuffer::around(part);
        let mut before = None;
        while encoder.compress_stream2(&mut output, &mut input, end)? > 0 {
            if before == Some(output.pos()) {
                return Err(NO_ROOM);
            }
            before = Some(output.pos());
        }
        rest = more;
        size = if next == 0 { rest.len() } else { next };
    }
    Ok(output.pos())
}

/// Lets `write` write at most `max_len` bytes behind `out`; it returns how many it wrote.
fn append(
    out: &mut Vec<u8>,
    max_len: usize,
    write: impl FnOnce(&mut [u8]) -> Result<usize>,
) -> Result<()> {
    let start = out.len();
    out.resize(start.saturating_add(max_len), 0);
    let written = write(out.get_mut(start..).unwrap_or_default())?;
    out.truncate(start.saturating_add(written));
    Ok(())
}

#[cfg(test)]
#[path = "general_tests.rs"]
mod tests;
