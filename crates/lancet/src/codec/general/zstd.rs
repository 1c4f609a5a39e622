//! Zstandard frames.

use std::cell::RefCell;

use ::zstd::zstd_safe::zstd_sys::ZSTD_EndDirective;
use ::zstd::zstd_safe::{self, CCtx, CParameter, DCtx, InBuffer, OutBuffer, ResetDirective};

use super::{Unit, append, resize, too_large};
use crate::cursor::Cursor;
use crate::error::{Error, Result, ensure};

pub(super) const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// The most output of a block, and the fewest bytes a block takes.
const BLOCK: u64 = 128 * 1024;
const MIN_BLOCK_BYTES: u64 = 4;
/// The library's code for an output that is too small.
const NO_ROOM: usize = 70_usize.wrapping_neg();

// A context costs more to set up than a 4 KiB unit to compress; each thread keeps its own.
thread_local! {
    static ENCODER: RefCell<CCtx<'static>> = RefCell::new(CCtx::create());
    static DECODER: RefCell<DCtx<'static>> = RefCell::new(DCtx::create());
}

pub(super) fn parse(unit: &[u8]) -> Result<Unit<'_>> {
    if unit.is_empty() {
        return Ok(Unit { size: Some(0), max_size: 0, payload: unit });
    }
    let is_bare = unit.len() < 8
        || (unit.starts_with(&MAGIC) && unit.get(4).is_some_and(|byte| byte & 0x10 == 0));
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
    let blocks = (payload.len() as u64).div_ceil(MIN_BLOCK_BYTES);
    let max_size = blocks.saturating_mul(BLOCK);
    Ok(Unit { size: size.or(frame_size), max_size, payload })
}

pub(super) fn decompress(frame: &[u8], out: &mut [u8]) -> Result<usize> {
    decompress_frame(frame, out).map_err(zstd_error)
}

/// Decompresses a bare frame that does not say its size: by trying, with more room each time.
pub(super) fn decompress_unsized(unit: &Unit<'_>, max_bytes: u64, out: &mut Vec<u8>) -> Result<()> {
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
    DECODER.with_borrow_mut(|decoder| decoder.decompress(out, frame))
}

fn zstd_error(code: usize) -> Error {
    Error::corrupt(format!("broken Zstandard frame: {}", zstd_safe::get_error_name(code)))
}

fn is_out_of_room(code: usize) -> bool {
    code == NO_ROOM
}

/// Appends `bytes` in parts, each of which ends a block; see [`super::compress_parts`].
pub(super) fn compress_parts(
    level: Option<i32>,
    bytes: &[u8],
    first: usize,
    next: usize,
    out: &mut Vec<u8>,
) -> Result<()> {
    out.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
    // Every part ends a block, which costs a header.
    let parts = bytes.len().saturating_sub(first).checked_div(next).unwrap_or(1);
    let room = zstd_safe::compress_bound(bytes.len())
        .saturating_add(parts.saturating_add(2).saturating_mul(16));
    append(out, room, |room| {
        ENCODER
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
