//! The index of a mini-block page: where each chunk lies and which rows and values it holds.

use std::ops::Range;

use bytes::Bytes;

use super::super::Page;
use super::layout::{DictionaryLayout, MiniBlockLayout};
use crate::codec::{self, Dictionary, Encoding, Scratch, ValueType};
use crate::container::early;
use crate::cursor::Cursor;
use crate::error::{Error, Locate, Result, ensure};
use crate::span::Span;

/// Where the chunks of a page lie and what they hold.
#[derive(Debug)]
pub(crate) struct MiniBlockIndex {
    /// One entry a chunk and one for the end of the page.
    pub(super) chunks: Vec<ChunkStart>,
    pub(super) dictionary: Option<Dictionary>,
}

/// Spans of the file, and the chunks that each holds.
pub(crate) type PlannedChunks = (Vec<Span>, Vec<Range<usize>>);

/// The start of a chunk: what lies before it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ChunkStart {
    /// Bytes before it in buffer 1.
    pub(super) offset: u64,
    /// Values before it.
    pub(super) value: u64,
    /// Rows that started before it.
    pub(super) started: u64,
    /// Rows that ended before it: one less than `started` when a row runs over the boundary.
    pub(super) ended: u64,
}

impl MiniBlockIndex {
    /// Parses the words, the dictionary and the repetition index.
    pub(crate) fn parse(
        page: &Page,
        layout: &MiniBlockLayout,
        values: &ValueType,
        buffers: &[Bytes],
        scratch: &mut Scratch,
    ) -> Result<Self> {
        let mut buffers = buffers.iter();
        let mut next = || buffers.next().ok_or_else(|| Error::corrupt("a buffer is missing"));
        let mut chunks = parse_words(next()?, layout).in_buffer(0)?;
        let dictionary = match &layout.dictionary {
            Some(dictionary) => {
                Some(parse_dictionary(next()?, dictionary, values, scratch).in_buffer(2)?)
            }
            None => None,
        };
        if layout.rep.is_some() {
            let buffer = if dictionary.is_some() { 3 } else { 2 };
            number_rows(&mut chunks, next()?).in_buffer(buffer)?;
        } else {
            for chunk in &mut chunks {
                chunk.started = chunk.value;
                chunk.ended = chunk.value;
            }
        }
        let end = chunks.last().copied().unwrap_or_default();
        let stored = page.buffers.get(1).map_or(0, Span::len);
        ensure!(end.offset == stored, "chunks of {} bytes in a buffer of {stored}", end.offset);
        ensure!(
            end.ended == page.num_rows,
            "chunks with {} rows in a page of {}",
            end.ended,
            page.num_rows
        );
        Ok(Self { chunks, dictionary })
    }

    /// The chunks that hold a range of rows, none of which lies before chunk `from`.
    fn chunks_of(&self, rows: &Range<u64>, from: usize) -> Range<usize> {
        // A row starts in the last chunk before which no more rows have started, and ends in the
        // last chunk before which no more rows have ended.
        let last_row = rows.end.saturating_sub(1);
        let first = self.first_chunk(from, |c| c.started > rows.start).saturating_sub(1);
        let end = self.first_chunk(first, |c| c.ended > last_row);
        first..end.min(self.chunks.len().saturating_sub(1))
    }

    /// The first chunk from `from` on that is past something. It is looked for in growing steps: rows
    /// come sorted, so that it is mostly near.
    fn first_chunk(&self, from: usize, is_past: impl Fn(&ChunkStart) -> bool) -> usize {
        let (mut low, mut step) = (from, 1_usize);
        while self.chunks.get(low.saturating_add(step)).is_some_and(|c| !is_past(c)) {
            low = low.saturating_add(step);
            step = step.saturating_mul(2);
        }
        let high = low.saturating_add(step).min(self.chunks.len());
        let near = self.chunks.get(low..high).unwrap_or_default();
        low.saturating_add(near.partition_point(|c| !is_past(c)))
    }

    /// The spans of the chunks that the rows need, neighbours together, and those chunks.
    pub(crate) fn plan(&self, page: &Page, rows: &[Range<u64>]) -> Result<PlannedChunks> {
        let mut runs: Vec<Range<usize>> = Vec::new();
        let mut from = 0;
        for range in rows {
            let chunks = self.chunks_of(range, from);
            from = chunks.start;
            match runs.last_mut() {
                Some(run) if chunks.start <= run.end => run.end = run.end.max(chunks.end),
                _ => runs.push(chunks),
            }
        }
        let buffer = page.buffers.get(1).ok_or_else(|| Error::corrupt("the chunks are missing"))?;
        let spans = runs.iter().map(|run| {
            let start = self.chunks.get(run.start).map_or(0, |c| c.offset);
            let end = self.chunks.get(run.end).map_or(u64::MAX, |c| c.offset);
            buffer.part_of_buffer(start..end)
        });
        Ok((spans.collect::<Result<_>>()?, runs))
    }

    pub(crate) fn size_bytes(&self) -> usize {
        let dictionary = self.dictionary.as_ref().map_or(0, |d| d.size_bytes());
        self.chunks.len().saturating_mul(size_of::<ChunkStart>()).saturating_add(dictionary)
    }
}

fn parse_words(words: &[u8], layout: &MiniBlockLayout) -> Result<Vec<ChunkStart>> {
    let width = if layout.large_chunks { 4 } else { 2 };
    ensure!(
        !words.is_empty() && words.len().is_multiple_of(width),
        "chunk words of {width} bytes in a buffer of {} bytes",
        words.len()
    );
    let num_chunks = words.len().checked_div(width).unwrap_or(0);
    let mut starts = Vec::with_capacity(num_chunks.saturating_add(1));
    let mut at = ChunkStart::default();
    let mut cursor = Cursor::new(words);
    for chunk in 0..num_chunks {
        starts.push(at);
        let word = if layout.large_chunks {
            cursor.u32("chunk word")?
        } else {
            u32::from(cursor.u16("chunk word")?)
        };
        let size = u64::from(word >> 4).saturating_add(1).saturating_mul(8);
        at.offset = at.offset.saturating_add(size);
        let log = word & 15;
        let left = layout.num_values.saturating_sub(at.value);
        if chunk.saturating_add(1) < num_chunks {
            ensure!(log > 0, "chunk {chunk} is not the last, but has no value count");
            ensure!(
                1 << log < left,
                "chunk {chunk} has {} values, where {left} are left",
                1 << log
            );
            at.value = at.value.saturating_add(1 << log);
        } else {
            ensure!(left > 0, "the last chunk has no values");
            ensure!(log == 0 || 1 << log == left, "the last chunk has {left} values, not 2^{log}");
            at.value = layout.num_values;
        }
    }
    starts.push(at);
    Ok(starts)
}

/// Fills in the rows from the repetition index.
fn number_rows(chunks: &mut [ChunkStart], index: &[u8]) -> Result<()> {
    let num_chunks = chunks.len().saturating_sub(1);
    ensure!(
        index.len() == num_chunks.saturating_mul(16),
        "a repetition index of {} bytes for {num_chunks} chunks",
        index.len()
    );
    let mut cursor = Cursor::new(index);
    let (mut started, mut ended) = (0_u64, 0_u64);
    for (i, chunk) in chunks.iter_mut().enumerate() {
        chunk.started = started;
        chunk.ended = ended;
        if i == num_chunks {
            break;
        }
        let ends = cursor.u64("rows that end in a chunk")?;
        let partial = cursor.u64("entries of an unfinished row")?;
        ensure!(
            partial == 0 || i.saturating_add(1) < num_chunks,
            "the last chunk leaves a row unfinished"
        );
        ensure!(
            ends > 0 || partial > 0 || started == ended,
            "chunk {i} neither ends nor continues the row that runs into it"
        );
        let next = ended.checked_add(ends);
        ensure!(next.is_some(), "more rows than can be counted");
        ended = next.unwrap_or(ended);
        started = ended.saturating_add(u64::from(partial > 0));
    }
    Ok(())
}

fn parse_dictionary(
    bytes: &[u8],
    layout: &DictionaryLayout,
    values: &ValueType,
    scratch: &mut Scratch,
) -> Result<Dictionary> {
    let num_items = usize::try_from(layout.num_items)
        .map_err(|_| Error::corrupt(format!("{} dictionary items", layout.num_items)))?;
    let encoding = &layout.encoding;
    let today = match encoding {
        Encoding::Variable { offset_bits } if layout.counted => {
            Some(uncounted(bytes, *offset_bits, layout.num_items)?)
        }
        _ => None,
    };
    let bytes = today.as_deref().unwrap_or(bytes);
    let items = codec::block::decode_block(encoding, bytes, num_items, values, scratch)?;
    Ok(Dictionary::new(items))
}

/// A block of strings of early 2.1 as one of today: only its first word differs.
fn uncounted(bytes: &[u8], offset_bits: u64, num_items: u64) -> Result<Vec<u8>> {
    let mut cursor = Cursor::new(bytes);
    let width_bits = offset_bits.to_le_bytes();
    let (count, width) = match offset_bits {
        32 => (u64::from(cursor.u32("number of strings")?), width_bits.get(..4)),
        _ => (cursor.u64("number of strings")?, Some(&width_bits[..])),
    };
    if count.to_le_bytes().first() == width_bits.first() && count != num_items {
        return Err(early::release_0_32());
    }
    ensure!(count == num_items, "a dictionary of {num_items} items counts {count}");
    Ok([width.unwrap_or_default(), cursor.rest()].concat())
}

#[cfg(test)]
#[path = "index_tests.rs"]
mod tests;
