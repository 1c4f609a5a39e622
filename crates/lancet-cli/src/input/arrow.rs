//! Arrow IPC files and streams.
//!
//! The reader allocates what a message claims to be long, and takes numbers of the other byte order for its own. So
//! all messages are looked at first, without what they carry.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use arrow_ipc::reader::{FileReader, StreamReader, read_footer_length};
use arrow_ipc::{Endianness, Message, RecordBatch, root_as_footer, root_as_message};

use super::{Input, named, open_file, stream};
use crate::error::{Error, InFile, Result};

const MAGIC: &[u8] = b"ARROW1";
/// What a compressed buffer may always claim to be …
const PLAUSIBLE_BYTES: u64 = 1 << 30;
/// … and how many times its size beyond that.
const PLAUSIBLE_RATIO: u64 = 1_000;

/// Opens a file or a stream; the content tells which it is.
pub fn open(path: &Path) -> Result<Input> {
    let file = open_file(path)?;
    let len = file.metadata().in_file(path)?.len();
    if len == 0 {
        let what = "is neither an Arrow file nor a stream: it is empty, or a device";
        return Err(Error::new(what).about(path));
    }
    let mut walk = Walk { file, len, rows: 0 };
    if walk.is_file().in_file(path)? {
        walk.check_file().in_file(path)?;
        let rows = Some(walk.rows);
        let file = walk.rewound().in_file(path)?;
        let reader = FileReader::try_new_buffered(file, None).in_file(path)?;
        Ok(Input { rows, ..stream(reader.schema(), None, named(reader, path)) })
    } else {
        walk.check_stream().in_file(path)?;
        let rows = Some(walk.rows);
        let file = walk.rewound().in_file(path)?;
        let reader = StreamReader::try_new_buffered(file, None).in_file(path)?;
        Ok(Input { rows, ..stream(reader.schema(), None, named(reader, path)) })
    }
}

/// Fails if a file would be too much for a reader of Arrow.
#[cfg(feature = "sql")]
pub fn check(file: File) -> Result<(), String> {
    let len = file.metadata().map_err(|error| error.to_string())?.len();
    let mut walk = Walk { file, len, rows: 0 };
    match walk.is_file()? {
        true => walk.check_file(),
        false => walk.check_stream(),
    }
}

/// A file whose messages are looked at.
struct Walk {
    file: File,
    len: u64,
    /// Rows that the messages so far claim to have; nulls take no bytes.
    rows: u64,
}

impl Walk {
    /// Whether it is a file, not a stream.
    fn is_file(&mut self) -> Result<bool, String> {
        Ok(self.read(0, self.len.min(MAGIC.len() as u64))? == MAGIC)
    }

    fn rewound(mut self) -> std::io::Result<File> {
        self.file.seek(SeekFrom::Start(0))?;
        Ok(self.file)
    }

    /// Bytes of the file, if it has them.
    fn read(&mut self, start: u64, len: u64) -> Result<Vec<u8>, String> {
        self.check_has(start, len)?;
        let mut bytes = vec![0; usize::try_from(len).map_err(|error| error.to_string())?];
        let read =
            self.file.seek(SeekFrom::Start(start)).and_then(|_| self.file.read_exact(&mut bytes));
        read.map_err(|error| error.to_string())?;
        Ok(bytes)
    }

    fn check_has(&self, start: u64, len: u64) -> Result<(), String> {
        if start.checked_add(len).is_none_or(|end| end > self.len) {
            return Err(format!(
                "a message has {len} bytes from byte {start} on, but the file ends at {}; it is damaged or cut off",
                self.len
            ));
        }
        Ok(())
    }

    fn check_file(&mut self) -> Result<(), String> {
        let tail = self.read(self.len.saturating_sub(10), self.len.min(10))?;
        let tail = <[u8; 10]>::try_from(tail).map_err(|_| "is cut off".to_owned())?;
        let len = read_footer_length(tail).map_err(|error| error.to_string())? as u64;
        let footer = self.read(self.len.saturating_sub(10).saturating_sub(len), len)?;
        let footer =
            root_as_footer(&footer).map_err(|error| format!("the footer is damaged: {error}"))?;
        let blocks = footer.dictionaries().into_iter().flatten();
        for block in blocks.chain(footer.recordBatches().into_iter().flatten()) {
            let size =
                |n: i64| u64::try_from(n).map_err(|_| "a block of the footer has a negative size");
            let (start, body) = (size(block.offset())?, size(block.bodyLength())?);
            let metadata = size(block.metaDataLength().into())?;
            self.check_has(start, metadata.saturating_add(body))?;
            let message = self.read(start, metadata)?;
            let skip = if message.starts_with(&[0xFF; 4]) { 8 } else { 4 };
            self.check_message(message.get(skip..).unwrap_or_default(), start + metadata)?;
        }
        Ok(())
    }

    fn check_stream(&mut self) -> Result<(), String> {
        let mut at = 0;
        while at < self.len {
            let mut word = self.read(at, 4)?;
            at += 4;
            if word == [0xFF; 4] {
                word = self.read(at, 4)?;
                at += 4;
            }
            let metadata = word.try_into().map(i32::from_le_bytes).unwrap_or_default();
            let metadata = u64::try_from(metadata).map_err(
                |_| "is no Arrow stream, or a damaged one: a message has a negative size",
            )?;
            if metadata == 0 {
                break; // the end, as streams mark it
            }
            let message = self.read(at, metadata)?;
            at += metadata;
            at = self.check_message(&message, at)?;
        }
        Ok(())
    }

    /// Checks a message whose body begins at a byte; returns where it ends.
    fn check_message(&mut self, message: &[u8], body: u64) -> Result<u64, String> {
        let message = root_as_message(message).map_err(|error| {
            format!("is no Arrow data, or damaged: a message is broken: {error}")
        })?;
        if message.header_as_schema().is_some_and(|schema| schema.endianness() == Endianness::Big) {
            return Err(
                "is big-endian, which lancet does not read; write it again little-endian".into()
            );
        }
        let len = u64::try_from(message.bodyLength())
            .map_err(|_| "is damaged: a message has a negative size")?;
        self.check_has(body, len)?;
        let rows = message.header_as_record_batch().map_or(0, |batch| batch.length());
        self.rows = self.rows.saturating_add(u64::try_from(rows).unwrap_or(0));
        if let Some(batch) = record_batch(&message) {
            self.check_compressed(batch, body, len)?;
        }
        Ok(body + len)
    }

    /// A compressed buffer begins with the bytes that it will have, which the reader allocates.
    fn check_compressed(
        &mut self,
        batch: RecordBatch<'_>,
        body: u64,
        len: u64,
    ) -> Result<(), String> {
        if batch.compression().is_none() {
            return Ok(());
        }
        for buffer in batch.buffers().into_iter().flatten() {
            let damaged = || "is damaged: a buffer lies outside of its message".to_owned();
            let start = u64::try_from(buffer.offset()).map_err(|_| damaged())?;
            let size = u64::try_from(buffer.length()).map_err(|_| damaged())?;
            if start.checked_add(size).is_none_or(|end| end > len) {
                return Err(damaged());
            }
            if size < 8 {
                continue;
            }
            let claim = self.read(body + start, 8)?.try_into().map(i64::from_le_bytes);
            let claim = claim.ok().and_then(|claim| u64::try_from(claim).ok()).unwrap_or(0);
            if claim > PLAUSIBLE_BYTES.max(size.saturating_mul(PLAUSIBLE_RATIO)) {
                return Err(format!(
                    "is damaged: {size} compressed bytes claim to be {claim} decompressed"
                ));
            }
        }
        Ok(())
    }
}

/// The rows or dictionary values that a message carries.
fn record_batch<'a>(message: &Message<'a>) -> Option<RecordBatch<'a>> {
    message.header_as_record_batch().or_else(|| message.header_as_dictionary_batch()?.data())
}
