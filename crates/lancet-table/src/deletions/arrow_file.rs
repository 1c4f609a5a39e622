//! Deletion files of the kind Arrow: one record batch, one column `row_id` of UInt32 without nulls.
//!
//! ```text
//! "ARROW1" 0 0
//! messages: u32 -1, i32 length, flatbuffer, body
//! footer: flatbuffer
//! i32 length of the footer, "ARROW1"
//! ```
//!
//! A buffer of a compressed body begins with its uncompressed length, i64; -1 says that it is not compressed. What is
//! unpacked is never held as a whole: offsets go to a bitmap as they come, and one that comes twice is an error, so
//! that a few bytes cannot become many.

use std::io::Read;

use roaring::RoaringBitmap;

use super::flatbuffer::{Table, bytes_at, pair};
use crate::error::{Problem, ensure};

const MAGIC: &[u8; 6] = b"ARROW1";
const CONTINUATION: u32 = u32::MAX;
/// The kinds of messages and types, as Arrow numbers them.
const RECORD_BATCH: u8 = 3;
const INT: u8 = 2;
/// What is unpacked at a time.
const CHUNK_BYTES: usize = 16 << 10;

/// The deleted offsets in the bytes of a file.
pub(super) fn parse(file: &[u8], physical_rows: u64) -> Result<RoaringBitmap, Problem> {
    let footer = footer(file)?;
    let schema = footer.table(1)?.ok_or_else(|| Problem::corrupt("it has no schema"))?;
    check_schema(&schema)?;
    let dictionaries = footer.vector(2, BLOCK_BYTES)?;
    ensure!(dictionaries.len == 0, "it has dictionaries");
    let batches = footer.vector(3, BLOCK_BYTES)?;
    ensure!(batches.len == 1, "it has {} record batches instead of one", batches.len);
    let (batch, body) = message(file, batches.bytes(0)?)?;
    offsets(&batch, body, physical_rows)
}

fn footer(file: &[u8]) -> Result<Table<'_>, Problem> {
    let inner = file.strip_prefix(MAGIC).and_then(|rest| rest.strip_suffix(MAGIC));
    let Some((before, len)) = inner.and_then(|inner| inner.split_last_chunk()) else {
        return Err(Problem::corrupt(
            "it is not an Arrow file: it does not begin and end with `ARROW1`",
        ));
    };
    let len = usize::try_from(i32::from_le_bytes(*len)).ok();
    let start = len.and_then(|len| before.len().checked_sub(len));
    let footer = start.and_then(|start| before.get(start..));
    Table::root(footer.ok_or_else(|| Problem::corrupt("its footer does not fit into the file"))?)
}

fn check_schema(schema: &Table<'_>) -> Result<(), Problem> {
    let fields = schema.vector(1, 4)?;
    ensure!(fields.len == 1, "it has {} columns instead of one", fields.len);
    ensure!(schema.byte(0)? == 0, "its numbers are big-endian");
    let field = fields.table(0)?;
    let name = field.text(0)?;
    ensure!(name == b"row_id", "its column is `{}`, not `row_id`", name.escape_ascii());
    ensure!(field.byte(1)? == 0, "its column may hold nulls");
    ensure!(field.table(4)?.is_none(), "its column is a dictionary");
    let is_uint32 = match field.table(3)? {
        Some(int) if field.byte(2)? == INT => int.int32(0)? == 32 && int.byte(1)? == 0,
        _ => false,
    };
    ensure!(is_uint32, "its column is not of type UInt32");
    Ok(())
}

/// A block: where a message is (i64), the bytes of its metadata (i32, then 4 of padding), and of its body (i64).
const BLOCK_BYTES: usize = 24;

/// The record batch of a block, and its body.
fn message(file: &[u8], block: [u8; BLOCK_BYTES]) -> Result<(Table<'_>, &[u8]), Problem> {
    let outside = || Problem::corrupt("its record batch lies outside the file");
    let number = |at: usize| bytes_at(&block, at).map(i64::from_le_bytes);
    let metadata_len = i64::from(i32::from_le_bytes(bytes_at(&block, 8)?));
    let span = |start: i64, len: i64| -> Result<&[u8], Problem> {
        let start = usize::try_from(start).map_err(|_| outside())?;
        let len = usize::try_from(len).map_err(|_| outside())?;
        let end = start.checked_add(len).ok_or_else(outside)?;
        file.get(start..end).ok_or_else(outside)
    };
    let start = number(0)?;
    let metadata = span(start, metadata_len)?;
    let body = span(start.checked_add(metadata_len).ok_or_else(outside)?, number(16)?)?;
    // Files of old writers have no continuation mark.
    let skipped = if u32::from_le_bytes(bytes_at(metadata, 0)?) == CONTINUATION { 8 } else { 4 };
    let message = Table::root(metadata.get(skipped..).ok_or_else(outside)?)?;
    ensure!(message.byte(1)? == RECORD_BATCH, "its record batch is something else");
    let batch = message.table(2)?.ok_or_else(outside)?;
    Ok((batch, body))
}

fn offsets(batch: &Table<'_>, body: &[u8], physical_rows: u64) -> Result<RoaringBitmap, Problem> {
    let len = u64::try_from(batch.int64(0)?).unwrap_or(u64::MAX);
    ensure!(len <= physical_rows, "it deletes {len} of {physical_rows} rows");
    let nodes = batch.vector(1, 16)?;
    ensure!(nodes.len == 1, "its record batch has {} columns instead of one", nodes.len);
    let (values, nulls) = pair(nodes.bytes(0)?);
    ensure!(u64::try_from(values) == Ok(len), "its column has {values} values in {len} rows");
    ensure!(nulls == 0, "its column has {nulls} nulls");
    let buffers = batch.vector(2, 16)?;
    ensure!(buffers.len == 2, "its column has {} buffers instead of two", buffers.len);
    let (start, bytes) = pair(buffers.bytes(1)?);
    let start = usize::try_from(start).ok();
    let buffer = usize::try_from(bytes)
        .ok()
        .zip(start)
        .and_then(|(bytes, start)| body.get(start..start.checked_add(bytes)?));
    let buffer = buffer.ok_or_else(|| Problem::corrupt("its values lie outside the file"))?;
    let expected = len.saturating_mul(4);
    let Some(compression) = batch.table(3)? else { return collect(buffer, expected) };
    if len == 0 && buffer.is_empty() {
        return Ok(RoaringBitmap::new());
    }
    let Some((size, packed)) = buffer.split_first_chunk() else {
        return Err(Problem::corrupt("its values are too short for what they say of themselves"));
    };
    match i64::from_le_bytes(*size) {
        -1 => return collect(packed, expected),
        size => ensure!(
            u64::try_from(size) == Ok(expected),
            "its values have {size} bytes, but {expected} are needed"
        ),
    }
    match compression.byte(0)? {
        0 => lz4(packed, expected),
        1 => zstd(packed, expected),
        other => Err(Problem::unsupported(format!("it is compressed in the way {other}"))),
    }
}

#[cfg(feature = "lz4")]
fn lz4(packed: &[u8], expected: u64) -> Result<RoaringBitmap, Problem> {
    collect(lz4_flex::frame::FrameDecoder::new(packed), expected)
}

#[cfg(not(feature = "lz4"))]
fn lz4(_: &[u8], _: u64) -> Result<RoaringBitmap, Problem> {
    Err(Problem::unsupported("it is compressed with LZ4; build with the feature `lz4` to read it"))
}

#[cfg(feature = "zstd")]
fn zstd(packed: &[u8], expected: u64) -> Result<RoaringBitmap, Problem> {
    let decoder = zstd::Decoder::with_buffer(packed).and_then(|mut decoder| {
        // Frames may ask for windows of gigabytes; what is read here has no use for more than 8 MiB.
        decoder.window_log_max(23)?;
        Ok(decoder)
    });
    collect(decoder.map_err(unpacked)?, expected)
}

#[cfg(not(feature = "zstd"))]
fn zstd(_: &[u8], _: u64) -> Result<RoaringBitmap, Problem> {
    Err(Problem::unsupported(
        "it is compressed with Zstandard; build with the feature `zstd` to read it",
    ))
}

fn unpacked(error: std::io::Error) -> Problem {
    Problem::corrupt(format!("its values cannot be unpacked: {error}"))
}

/// The numbers in so many bytes; there may be padding behind them.
fn collect(values: impl Read, expected: u64) -> Result<RoaringBitmap, Problem> {
    let mut values = values.take(expected);
    let mut offsets = RoaringBitmap::new();
    let mut chunk = [0_u8; CHUNK_BYTES];
    let (mut kept, mut seen) = (0_usize, 0_u64);
    loop {
        let room = chunk.get_mut(kept..).unwrap_or_default();
        let read = values.read(room).map_err(unpacked)?;
        if read == 0 {
            break;
        }
        seen = seen.saturating_add(read as u64);
        let filled = kept.saturating_add(read).min(CHUNK_BYTES);
        let bytes = chunk.get(..filled).unwrap_or_default();
        let (numbers, rest) = bytes.as_chunks::<4>();
        for number in numbers {
            let offset = u32::from_le_bytes(*number);
            ensure!(offsets.insert(offset), "it deletes row {offset} twice");
        }
        kept = rest.len();
        chunk.copy_within(filled.saturating_sub(kept)..filled, 0);
    }
    ensure!(seen == expected, "its values have {seen} bytes, but {expected} are needed");
    Ok(offsets)
}
