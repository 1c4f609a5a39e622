//! Checksums of a file: the last global buffer of files that lancet writes. Other readers skip it.
//!
//! | offset | type | what |
//! |---|---|---|
//! | 0 | 8 bytes | `LANCETX4` |
//! | 8 | 24·n | for each buffer: u64 position, u64 size, u64 checksum (XXH3); by position |
//! | | 4·b | for each block of the file before this buffer: the low 32 bits of its XXH3 |
//! | | 4·t | for each block of the file after it: the same |
//! | | 0 to 63 bytes | zeros, so that the whole is a multiple of 64 bytes |
//! | | u64 | position of this buffer in the file |
//! | | u64 | number of buffers, `n` |
//! | | u64 | checksum of all bytes of this buffer up to here |
//! | | 8 bytes | `LANCETX4` |
//!
//! Every buffer that has bytes has an entry: those of pages, blobs and global buffers. They tell which of
//! them is damaged. The checksums of [`blocks`] tell whether a read is, whatever it reads.
//!
//! The end of the buffer is found twice: it is the last global buffer, and right before the file descriptor.
//! Where only one of the two is so, the file is damaged. Files of older releases have [`old`] checksums.

pub(crate) mod blocks;
mod old;

use xxhash_rust::xxh3::xxh3_64;

use crate::cursor::Cursor;
use crate::error::{Error, Locate, Result, ensure};
use crate::span::Span;
use blocks::{BlockSums, BlockTable, SUM_BYTES, num_blocks};

const MAGIC: &[u8; 8] = b"LANCETX4";
const MAGIC_BYTES: u64 = 8;
const ENTRY_BYTES: u64 = 24;
/// Bytes of what stands at the end of the buffer.
const END_BYTES: u64 = 32;
/// The size of the buffer is a multiple of this.
const ALIGNMENT: u64 = super::write::ALIGNMENT;

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
            "the bytes {} of the file have the checksum {found:016x} instead of {:016x}",
            self.span,
            self.checksum
        );
        Ok(())
    }
}

/// The checksums of a new file as far as it is written.
#[derive(Debug, Default)]
pub(crate) struct NewChecksums {
    buffers: Vec<BufferChecksum>,
    blocks: BlockSums,
}

impl NewChecksums {
    /// A buffer with bytes begins at `position`. Its bytes are still to be [pushed](Self::push).
    pub(crate) fn add_buffer(&mut self, position: u64, bytes: &[u8]) {
        self.buffers.push(BufferChecksum::of(position, bytes));
    }

    /// The next bytes of the file, whatever they are.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.blocks.push(bytes);
    }

    /// How many bytes the checksums take of a file that has `start` bytes before them and `tail_bytes` after
    /// them.
    pub(crate) fn encoded_bytes(&self, start: u64, tail_bytes: u64) -> u64 {
        let num_buffers = u64::try_from(self.buffers.len()).unwrap_or(u64::MAX);
        let entries = num_buffers.saturating_mul(ENTRY_BYTES);
        let blocks = num_blocks(start).saturating_add(num_blocks(tail_bytes));
        let sums = blocks.saturating_mul(SUM_BYTES);
        let bytes =
            [MAGIC_BYTES, entries, sums, END_BYTES].into_iter().fold(0, u64::saturating_add);
        bytes.checked_next_multiple_of(ALIGNMENT).unwrap_or(u64::MAX)
    }

    /// The checksums of the file; they begin at `start`, and `tail` follows them to the end of the file.
    pub(crate) fn encode(self, start: u64, tail: &[u8]) -> Vec<u8> {
        let tail_bytes = u64::try_from(tail.len()).unwrap_or(u64::MAX);
        let size = usize::try_from(self.encoded_bytes(start, tail_bytes)).unwrap_or(usize::MAX);
        let mut out = MAGIC.to_vec();
        let put = |out: &mut Vec<u8>, number: u64| out.extend_from_slice(&number.to_le_bytes());
        let num_buffers = u64::try_from(self.buffers.len()).unwrap_or(u64::MAX);
        for BufferChecksum { span, checksum } in &self.buffers {
            put(&mut out, span.start());
            put(&mut out, span.len());
            put(&mut out, *checksum);
        }
        out.extend(self.blocks.finish());
        out.extend(BlockSums::of(tail));
        let end_bytes = usize::try_from(END_BYTES).unwrap_or(usize::MAX);
        out.resize(size.saturating_sub(end_bytes), 0);
        put(&mut out, start);
        put(&mut out, num_buffers);
        let own = xxh3_64(&out);
        put(&mut out, own);
        out.extend_from_slice(MAGIC);
        out
    }
}

/// Where the checksums of a file are, and of which kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChecksumPlace {
    /// Of buffers and blocks.
    Here { buffer: Span, num_buffers: u64, blocks: BlockTable },
    /// Of buffers only: a file of an older release.
    Old(Span),
}

/// What has to be read to find the checksums of a file: the head of its last global buffer (number 0 apart),
/// and what lies before its descriptor.
pub(crate) fn signs(last_buffer: Option<Span>, data_end: u64) -> [Span; 2] {
    let head = last_buffer.and_then(|span| span.part(0..MAGIC_BYTES.min(span.len())));
    [head.unwrap_or_default(), Span::between(data_end.saturating_sub(END_BYTES), data_end)]
}

impl ChecksumPlace {
    /// Where the checksums are, by the bytes of the [`signs`]; none if the file has none.
    pub(crate) fn find(
        last_buffer: Option<Span>,
        data_end: u64,
        file_bytes: u64,
        [head, end]: [&[u8]; 2],
    ) -> Result<Option<Self>> {
        let ends = end.len() as u64 == END_BYTES && end.ends_with(MAGIC);
        match last_buffer {
            Some(buffer) if head == MAGIC && ends => {
                Self::of_end(buffer, data_end, file_bytes, end).at(buffer.start()).map(Some)
            }
            Some(buffer) if head == old::MAGIC && !ends => Ok(Some(Self::Old(buffer))),
            _ if head == MAGIC || ends => {
                Err(Error::corrupt("the file has checksums, but where they are is damaged"))
                    .at(data_end)
            }
            _ => Ok(None),
        }
    }

    fn of_end(buffer: Span, data_end: u64, file_bytes: u64, end: &[u8]) -> Result<Self> {
        let mut cursor = Cursor::new(end);
        let (start, num_buffers) = (cursor.u64("position")?, cursor.u64("number of buffers")?);
        ensure!(
            start == buffer.start() && buffer.end() == data_end,
            "the checksums are at {start} up to {data_end}, but the last global buffer is at {buffer}"
        );
        let sums = num_buffers.checked_mul(ENTRY_BYTES).and_then(|n| n.checked_add(MAGIC_BYTES));
        let sums = sums.and_then(|n| n.checked_add(start));
        let data = Span::between(0, start);
        let blocks = Span::new(data_end, file_bytes)
            .zip(sums)
            .and_then(|(tail, sums)| BlockTable::new(data, tail, sums));
        let size = |blocks: &BlockTable| {
            let bytes = blocks.sums().end().checked_sub(start)?.checked_add(END_BYTES)?;
            bytes.checked_next_multiple_of(ALIGNMENT)
        };
        match blocks.filter(|blocks| size(blocks) == Some(buffer.len())) {
            Some(blocks) => Ok(Self::Here { buffer, num_buffers, blocks }),
            None => Err(Error::corrupt(format!(
                "{num_buffers} checksums of buffers, and those of blocks, in {} bytes",
                buffer.len()
            ))),
        }
    }

    /// Where all checksums are.
    pub(crate) fn buffer(&self) -> Span {
        match self {
            Self::Here { buffer, .. } | Self::Old(buffer) => *buffer,
        }
    }
}

/// All checksums of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Checksums {
    /// By position.
    pub(crate) buffers: Vec<BufferChecksum>,
    /// Those of the blocks, and what they are.
    pub(crate) blocks: Option<(BlockTable, Vec<u8>)>,
    /// Of everything from the descriptor on, in files without blocks.
    tail: Option<u64>,
}

impl Checksums {
    /// Reads the global buffer.
    pub(crate) fn parse(place: ChecksumPlace, bytes: &[u8]) -> Result<Self> {
        let ChecksumPlace::Here { num_buffers, blocks, .. } = place else {
            return old::parse(bytes);
        };
        // All but the last two entries.
        let at = bytes.len().saturating_sub(16);
        let (covered, end) = bytes.split_at_checked(at).unwrap_or_default();
        ensure!(
            Cursor::new(end).u64("checksum of the checksums")? == xxh3_64(covered),
            "the checksums themselves have another checksum"
        );
        let mut cursor = Cursor::new(covered);
        cursor.take(8, "magic")?;
        let buffers = parse_entries(&mut cursor, num_buffers)?;
        let sums = cursor.take(blocks.sums().memory_len(), "checksums of blocks")?.to_vec();
        Ok(Self { buffers, blocks: Some((blocks, sums)), tail: None })
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

    /// Checks everything from the descriptor on, in files without blocks.
    pub(crate) fn check_tail(&self, tail: &[u8]) -> Result<()> {
        ensure!(
            self.tail.is_none_or(|checksum| xxh3_64(tail) == checksum),
            "the metadata of the file has another checksum"
        );
        Ok(())
    }
}

/// Entries of buffers, each after the one before.
fn parse_entries(cursor: &mut Cursor<'_>, count: u64) -> Result<Vec<BufferChecksum>> {
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
    Ok(buffers)
}

#[cfg(test)]
mod tests;
